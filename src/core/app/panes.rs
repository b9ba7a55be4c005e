//! The panes of the detail: which there are of a session, which one is shown, what moves in it.
//!
//! What it does: choose among the panes that have something to show, scroll, point. What it does
//! not: word them.

use crate::core::app::{App, Effect, Seek};
use crate::core::id::{PartId, SessionKey};
use crate::core::wire::Message;

/// A way to look at one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Pane {
    /// What is wrong with it and what helps, what is asked, the last turns, the rules.
    #[default]
    Story,
    /// What streams now.
    Live,
    /// Its changes of state.
    Log,
    /// The parts of its messages as they are.
    Parts,
    /// Its list of things to do.
    Todo,
    /// Tokens and cost, by turn.
    Usage,
}

impl Pane {
    /// In the order in which a key goes through them.
    pub const ALL: [Pane; 6] = [
        Pane::Story,
        Pane::Live,
        Pane::Log,
        Pane::Parts,
        Pane::Todo,
        Pane::Usage,
    ];

    /// Its name, in the rule above the detail.
    pub fn name(self) -> &'static str {
        match self {
            Pane::Story => "story",
            Pane::Live => "live",
            Pane::Log => "log",
            Pane::Parts => "parts",
            Pane::Todo => "todo",
            Pane::Usage => "usage",
        }
    }
}

impl App {
    /// The panes that have something to show of this session; the story always has.
    pub fn panes(&self, key: &SessionKey) -> Vec<Pane> {
        let panes = Pane::ALL.into_iter();
        panes.filter(|pane| self.has_pane(key, *pane)).collect()
    }

    fn has_pane(&self, key: &SessionKey, pane: Pane) -> bool {
        let Some(session) = self.store.session(key) else {
            return pane == Pane::Story;
        };
        let messages = &session.tail.messages;
        match pane {
            Pane::Story => true,
            Pane::Parts => !messages.is_empty(),
            Pane::Usage => messages.iter().any(Message::is_assistant),
            Pane::Live => self.has_live(key),
            Pane::Log => self.history.of(key).is_some(),
            Pane::Todo => session.todo.as_ref().is_some_and(|it| !it.items.is_empty()),
        }
    }

    /// The pane that is shown of this session: the chosen one, if it has anything to show.
    pub fn pane(&self, key: &SessionKey) -> Pane {
        if self.has_pane(key, self.ui.pane) {
            self.ui.pane
        } else {
            Pane::Story
        }
    }

    /// `Tab`: the next pane; opens the detail where it is not seen.
    pub(super) fn next_pane(&mut self) -> Vec<Effect> {
        let Some(key) = self.ui.selected.clone() else {
            return Vec::new();
        };
        self.ui.page = None;
        if !self.ui.sees_detail() {
            return self.open();
        }
        let panes = self.panes(&key);
        let shown = self.pane(&key);
        let place = panes.iter().position(|pane| *pane == shown).unwrap_or(0);
        let next = panes.get((place + 1) % panes.len().max(1));
        self.ui.pane = next.copied().unwrap_or_default();
        self.look_anew();
        Vec::new()
    }

    /// What is shown is another thing than before: it is looked at from its beginning.
    pub(super) fn look_anew(&mut self) {
        self.ui.detail_scroll = 0;
        self.ui.scrolled_back = false;
        self.ui.search = None;
        self.ui.part = None;
    }

    /// Moves in the open detail.
    pub(super) fn go_in_detail(&mut self, by: isize) {
        let last = self.ui.last_scroll;
        let key = self.ui.selected.clone();
        let from = match key.map(|key| self.pane(&key)) {
            Some(Pane::Parts) => return self.point(by),
            Some(Pane::Live) if !self.ui.scrolled_back => last,
            _ => self.ui.detail_scroll,
        };
        self.ui.detail_scroll = from.saturating_add_signed(by).min(last);
        self.ui.scrolled_back = self.ui.detail_scroll < last;
    }

    /// Points at another part.
    fn point(&mut self, by: isize) {
        let Some((_, session)) = self.selected() else {
            return;
        };
        let parts = session.tail.messages.iter().flat_map(|it| &it.parts);
        let parts: Vec<PartId> = parts.map(|part| part.id.clone()).collect();
        let last = parts.len().saturating_sub(1);
        let here = self.ui.part.as_ref();
        let here = here.and_then(|here| parts.iter().position(|id| id == here));
        let place = here.unwrap_or(last).saturating_add_signed(by).min(last);
        self.ui.part = parts.get(place).cloned();
        self.ui.seek = Some(Seek::Point);
    }

    /// `W`: long lines are wrapped, or cut.
    pub(super) fn toggle_wrap(&mut self) -> Vec<Effect> {
        self.ui.cut_lines = !self.ui.cut_lines;
        let words = if self.ui.cut_lines {
            "long lines are cut"
        } else {
            "long lines are wrapped"
        };
        self.tell(words)
    }
}
