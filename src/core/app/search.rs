//! `/` inside a page or the open detail: a text is looked for in what is shown there.
//!
//! What it does: take the text, count from hit to hit. What it does not: find; which lines there are
//! is known where they are worded, so a hit is a number here, counted around.

use crate::core::app::keymap::{Action, Key};
use crate::core::app::panes::Pane;
use crate::core::app::{App, Effect, TextLine};

/// A text that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search {
    /// What was typed; matched without regard to case.
    pub line: TextLine,
    /// It is being typed.
    pub typing: bool,
    /// Which of the lines with it is looked at: 0 the first, -1 the last; counts around.
    pub hit: isize,
}

/// What has to come in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seek {
    /// The hit that is looked at.
    Hit,
    /// The line that is pointed at.
    Point,
}

impl App {
    /// `/`: in what has the keys.
    pub(super) fn filter_or_search(&mut self) -> Vec<Effect> {
        if self.ui.page.is_none() && !self.ui.detail_open {
            return self.open_filter();
        }
        self.ui.search = Some(Search {
            typing: true,
            hit: self.first_hit(),
            ..Search::default()
        });
        Vec::new()
    }

    /// Where a new text is looked at first: what follows its end is read from there.
    fn first_hit(&self) -> isize {
        let key = self.ui.selected.as_ref();
        let is_live = key.is_some_and(|key| self.pane(key) == Pane::Live);
        if self.ui.page.is_none() && is_live {
            -1
        } else {
            0
        }
    }

    /// A key while the text is typed.
    pub(super) fn type_search(&mut self, key: Key) -> Vec<Effect> {
        let hit = self.first_hit();
        let Some(search) = &mut self.ui.search else {
            return Vec::new();
        };
        match key {
            Key::Esc => self.ui.search = None,
            Key::Enter if search.line.text.is_empty() => self.ui.search = None,
            Key::Enter => search.typing = false,
            _ => {
                if search.line.key(key) {
                    search.hit = hit;
                    self.ui.seek = Some(Seek::Hit);
                }
            }
        }
        Vec::new()
    }

    pub(super) fn is_searching(&self) -> bool {
        self.ui.search.as_ref().is_some_and(|it| it.typing)
    }

    pub(super) fn paste_search(&mut self, text: &str) {
        if let Some(search) = &mut self.ui.search {
            search.line.paste(text);
            self.ui.seek = Some(Seek::Hit);
        }
    }

    /// The screen shows what was sought from this line on.
    pub(super) fn found_at(&mut self, first: usize) {
        if let Some((_, scroll)) = &mut self.ui.page {
            *scroll = first;
        } else if self.ui.detail_open {
            self.ui.detail_scroll = first;
            self.ui.scrolled_back = first < self.ui.last_scroll;
        }
    }

    /// `n`, `N`.
    pub(super) fn next_hit(&mut self, by: isize) -> Vec<Effect> {
        let Some(search) = &mut self.ui.search else {
            let key = self.key_of(Action::Filter);
            return self.tell(&format!(
                "nothing is looked for: {key} in a page or in the open detail does"
            ));
        };
        search.hit = search.hit.saturating_add(by);
        self.ui.seek = Some(Seek::Hit);
        Vec::new()
    }
}
