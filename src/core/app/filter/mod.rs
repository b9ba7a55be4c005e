//! The filter line: typed, it narrows the rows at once.
//!
//! What it does: take keys, keep what was typed before, complete. [`query`] is the language, [`field`]
//! its table, [`facts`] compares. What it does not: draw, or lay rows out.

mod complete;
mod facts;
mod field;
mod query;
mod token;

pub(super) use facts::Facts;
pub use facts::age;
pub use field::FIELDS;
pub(super) use field::ZOMBIE;
pub use query::Query;

use crate::core::app::history::History;
use crate::core::app::keymap::Key;
use crate::core::app::{App, Effect, TextLine};
use complete::Offered;

/// The filter line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// What was typed; matched without regard to case.
    pub text: String,
    /// The cursor, in characters, while it is edited.
    pub cursor: Option<usize>,
    /// What was typed before.
    pub history: History,
    /// What Tab goes through, and which of it stands in the line.
    completing: Option<(Offered, usize)>,
}

impl Filter {
    /// A filter from the command line.
    pub fn new(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// What it means.
    pub fn query(&self) -> Query {
        Query::parse(&self.text)
    }

    fn put(&mut self, line: TextLine) {
        self.text = line.text;
        self.cursor = Some(line.cursor);
    }

    fn edit(&mut self, edit: impl FnOnce(&mut TextLine)) {
        let text = std::mem::take(&mut self.text);
        let cursor = self.cursor.unwrap_or(0);
        let mut line = TextLine { text, cursor };
        edit(&mut line);
        self.put(line);
        self.history.leave();
    }

    fn recall(&mut self, line: Option<String>) {
        if let Some(line) = line {
            self.put(TextLine::new(line));
        }
    }
}

impl App {
    pub(super) fn open_filter(&mut self) -> Vec<Effect> {
        self.ui.filter.cursor = Some(self.ui.filter.text.chars().count());
        self.ui.page = None;
        self.ui.detail_open = false;
        Vec::new()
    }

    /// A filter that was typed elsewhere, whole.
    pub(super) fn set_filter(&mut self, text: &str) -> Vec<Effect> {
        self.open_filter();
        self.ui.filter.put(TextLine::new(text));
        self.type_filter(Key::Enter)
    }

    pub(super) fn type_filter(&mut self, key: Key) -> Vec<Effect> {
        if key != Key::Tab {
            self.ui.filter.completing = None;
        }
        let mut effects = Vec::new();
        let filter = &mut self.ui.filter;
        match key {
            Key::Enter => {
                filter.cursor = None;
                let text = filter.text.clone();
                if filter.history.add(&text) {
                    effects.push(self.keep_for_later());
                }
                self.ui.notice = self.ui.filter.query().wrong.into_iter().next();
            }
            Key::Esc => {
                filter.cursor = None;
                filter.text.clear();
                filter.history.leave();
            }
            Key::Up => {
                let earlier = filter.history.earlier(&filter.text);
                filter.recall(earlier);
            }
            Key::Down => {
                let later = filter.history.later();
                filter.recall(later);
            }
            Key::Tab => self.complete_filter(),
            _ => filter.edit(|line| {
                line.key(key);
            }),
        }
        self.refresh_rows();
        effects
    }

    /// Pasted text goes into the line.
    pub(super) fn paste_filter(&mut self, text: &str) {
        self.ui.filter.completing = None;
        self.ui.filter.edit(|line| line.paste(text));
        self.refresh_rows();
    }

    /// Puts the first that may stand at the cursor, then with each Tab the next.
    fn complete_filter(&mut self) {
        let (offered, place) = match self.ui.filter.completing.take() {
            Some((offered, place)) => (offered, place + 1),
            None => (self.offered(), 0),
        };
        let Some(word) = offered.words.get(place % offered.words.len().max(1)) else {
            return;
        };
        let filter = &mut self.ui.filter;
        let chars: Vec<char> = filter.text.chars().collect();
        let [from, to] = [offered.from, offered.to].map(|at| at.min(chars.len()));
        let mut text: String = chars[..from].iter().collect();
        text.push_str(word);
        let cursor = text.chars().count();
        text.extend(&chars[to..]);
        filter.put(TextLine { text, cursor });
        // The next Tab replaces what stands there now.
        let only = offered.words.len() == 1;
        let offered = Offered {
            to: cursor,
            ..offered
        };
        filter.completing = (!only).then_some((offered, place));
    }
}
