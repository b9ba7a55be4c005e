//! The filter line: typed, it narrows the rows at once.

use crate::core::app::keymap::Key;
use crate::core::app::{App, Effect, TextLine};

impl App {
    pub(super) fn open_filter(&mut self) -> Vec<Effect> {
        self.ui.filter.cursor = Some(self.ui.filter.text.chars().count());
        self.ui.page = None;
        self.ui.detail_open = false;
        Vec::new()
    }

    /// A filter that was typed elsewhere, whole.
    pub(super) fn set_filter(&mut self, text: &str) {
        self.open_filter();
        self.ui.filter.cursor = None;
        text.clone_into(&mut self.ui.filter.text);
        self.refresh_rows();
    }

    pub(super) fn type_filter(&mut self, key: Key) -> Vec<Effect> {
        let filter = &mut self.ui.filter;
        let mut line = TextLine {
            text: std::mem::take(&mut filter.text),
            cursor: filter.cursor.unwrap_or(0),
        };
        let cursor = match key {
            Key::Enter => None,
            Key::Esc => {
                line.text.clear();
                None
            }
            _ => {
                line.key(key);
                Some(line.cursor)
            }
        };
        filter.cursor = cursor;
        filter.text = line.text;
        self.refresh_rows();
        Vec::new()
    }
}
