//! Moving about: the selection, the open page or detail, and the folds of the tree.

use crate::core::app::{App, Effect, VisibleRow};
use crate::core::id::SessionKey;

impl App {
    /// A screenful of what has the keys, less one line to hold on to.
    pub(super) fn page_step(&self) -> isize {
        isize::from(i16::try_from(self.ui.page_rows.max(2) - 1).unwrap_or(20))
    }

    /// Moves whatever has the keys: a page, the open detail, or the selection.
    pub(super) fn go(&mut self, by: isize) -> Vec<Effect> {
        if let Some((_, scroll)) = &mut self.ui.page {
            *scroll = scroll.saturating_add_signed(by).min(self.ui.last_scroll);
        } else if self.ui.detail_open {
            self.go_in_detail(by);
        } else {
            self.select(by);
        }
        Vec::new()
    }

    pub(super) fn select(&mut self, by: isize) {
        let last = self.rows.len().saturating_sub(1);
        let place = self.selected_place().unwrap_or(0);
        let place = place.saturating_add_signed(by).min(last);
        self.ui.selected = self.rows.get(place).map(|row| row.key.clone());
        self.look_anew();
        self.keep_visible();
    }

    pub(super) fn fold(&mut self) -> Vec<Effect> {
        let Some(key) = self.ui.selected.clone() else {
            return Vec::new();
        };
        let has_children = self.rows.iter().any(|row| self.is_child(row, &key));
        if has_children && self.ui.folded.insert(key.clone()) {
            self.refresh_rows();
            return Vec::new();
        }
        let parent = self.store.session(&key).and_then(|s| s.info.parent.clone());
        if let Some(parent) = parent {
            let parent = SessionKey::new(key.server, parent);
            if self.rows.iter().any(|row| row.key == parent) {
                self.ui.selected = Some(parent);
                self.look_anew();
                self.keep_visible();
            }
        }
        Vec::new()
    }

    fn is_child(&self, row: &VisibleRow, of: &SessionKey) -> bool {
        let session = self.store.session(&row.key);
        row.key.server == of.server
            && session.is_some_and(|s| s.info.parent.as_ref() == Some(&of.session))
    }

    pub(super) fn unfold(&mut self) -> Vec<Effect> {
        if let Some(key) = &self.ui.selected
            && self.ui.folded.remove(key)
        {
            self.refresh_rows();
        }
        Vec::new()
    }
}
