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
