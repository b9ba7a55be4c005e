//! What lies over the table hides the row: a key that acts on a row must not reach it unseen.

use crate::core::app::keymap::Action;
use crate::core::app::{App, PageKind};

impl App {
    /// Why this action does nothing now: a page covers the row that it would act on. A page of that
    /// row itself shows whom it is about.
    pub(super) fn covered(&self, action: Action) -> Option<String> {
        let (page, _) = self.ui.page.as_ref()?;
        let selected = self.ui.selected.as_ref()?;
        let about = match page {
            PageKind::Explain(key) => Some(key),
            PageKind::Part(part) => Some(&part.key),
            PageKind::Help | PageKind::History | PageKind::Servers => None,
        };
        if about == Some(selected) || !is_about_a_row(action) {
            return None;
        }
        let back = self.key_of(Action::Back);
        Some(format!("the row lies under this page: {back} closes it"))
    }
}

/// It acts on the selected row, or on those that are marked.
fn is_about_a_row(action: Action) -> bool {
    let at_hand = matches!(
        action,
        Action::Export
            | Action::Load
            | Action::Attach
            | Action::Snooze
            | Action::CopyId
            | Action::CopyAttach
            | Action::CopyExport
    );
    at_hand || action.changes()
}
