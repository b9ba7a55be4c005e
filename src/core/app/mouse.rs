//! The mouse: what a click and the wheel do with what lies under the pointer.
//!
//! What it does: select, open, sort, switch panes, scroll; a hint of the footer does what its key does,
//! by the same way. What it does not: know where anything is drawn; `tui` does. Invariants: a click acts
//! on a session by a hint only; nothing that lies under a dialog, a form or a page is reached; a row is
//! meant by its session, wherever it went since it was drawn.

use crate::core::app::keymap::{Action, Key};
use crate::core::app::reply::Reply;
use crate::core::app::{App, Column, Effect, Pane};
use crate::core::id::SessionKey;
use crate::core::time::UnixMs;

/// Lines of a text by which the wheel moves.
const LINES: isize = 3;

/// What lies under the pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The row of a session.
    Row(SessionKey),
    /// The table where no row is.
    Table,
    /// The heading of a column; of none: that of the marks, what needs attention.
    Heading(Option<Column>),
    /// What a key does.
    Hint(Action),
    /// The name of a pane of the detail.
    Pane(&'static str),
    /// The detail.
    Detail,
    /// A dialog, form or page, or what it covers.
    Over,
}

impl App {
    /// A click; `again`: the second of two at one place.
    pub(super) fn click(&mut self, target: &Target, again: bool, now: UnixMs) -> Vec<Effect> {
        self.pointed(now);
        let is_covered = self.ui.dialog.is_some() || self.ui.reply.is_some() || self.is_typing();
        let is_hint = matches!(target, Target::Hint(_));
        if is_covered || (self.ui.page.is_some() && !is_hint) {
            return Vec::new();
        }
        self.ui.dialog_scroll = 0;
        match target {
            Target::Hint(action) => {
                let key = self.keymap.keys(*action).first();
                self.act(*action, key.copied().unwrap_or(Key::Enter), now)
            }
            Target::Row(key) => self.click_row(key, again),
            Target::Heading(column) => self.sort_by_or_reverse(*column),
            Target::Pane(name) => self.show_pane(name),
            Target::Detail if !self.ui.detail_open => self.open(),
            Target::Table | Target::Detail | Target::Over => Vec::new(),
        }
    }

    /// The wheel moves what is open, else what is under the pointer.
    pub(super) fn wheel(&mut self, target: &Target, down: bool, now: UnixMs) -> Vec<Effect> {
        self.pointed(now);
        let by = if down { 1 } else { -1 };
        if self.ui.dialog.is_some() {
            return self.scroll_dialog(by * LINES);
        }
        if self.ui.reply.is_some() {
            return self.scroll_reply(by);
        }
        if self.ui.page.is_some() {
            return self.go(by * LINES);
        }
        match target {
            Target::Row(_) | Target::Table | Target::Heading(_) => self.select(by),
            Target::Detail if !self.ui.detail_open => return self.open(),
            Target::Detail => self.scroll_detail(by),
            Target::Hint(_) | Target::Pane(_) | Target::Over => {}
        }
        Vec::new()
    }

    /// `m`: the mouse is taken, or left to the terminal.
    pub(super) fn toggle_mouse(&mut self) -> Vec<Effect> {
        self.ui.mouse = !self.ui.mouse;
        let words = if self.ui.mouse {
            "the mouse selects and scrolls here".to_owned()
        } else {
            let key = self.key_of(Action::Mouse);
            format!(
                "the mouse is left to the terminal, so that text can be selected; {key} takes it back"
            )
        };
        drop(self.tell(&words));
        vec![Effect::Mouse(self.ui.mouse)]
    }

    /// A hand on the mouse is as one on the keys, but never types.
    fn pointed(&mut self, now: UnixMs) {
        self.ui.refused_at = None;
        self.touched(now);
    }

    /// The first click selects, the next opens.
    fn click_row(&mut self, key: &SessionKey, again: bool) -> Vec<Effect> {
        if again || self.ui.selected.as_ref() == Some(key) {
            return if self.ui.detail_open {
                Vec::new()
            } else {
                self.open()
            };
        }
        if self.rows.iter().any(|row| row.key == *key) {
            self.ui.selected = Some(key.clone());
            self.ui.moved = true;
            self.look_anew();
            self.keep_visible();
        }
        Vec::new()
    }

    fn show_pane(&mut self, name: &str) -> Vec<Effect> {
        if let Some(pane) = Pane::ALL.into_iter().find(|pane| pane.name() == name) {
            self.ui.pane = pane;
            self.look_anew();
        }
        Vec::new()
    }

    fn scroll_detail(&mut self, by: isize) {
        let pane = self.ui.selected.as_ref().map(|key| self.pane(key));
        let lines = if pane == Some(Pane::Parts) { 1 } else { LINES };
        self.go_in_detail(by * lines);
    }

    /// A form is scrolled back from its end; in a list the pointer moves.
    fn scroll_reply(&mut self, by: isize) -> Vec<Effect> {
        let last_scroll = self.ui.last_scroll;
        match &mut self.ui.reply {
            Some(Reply::To(bound)) => {
                let scroll = bound.scroll.min(last_scroll);
                bound.scroll = scroll.saturating_add_signed(-by * LINES).min(last_scroll);
            }
            Some(Reply::Pick(pick)) => {
                let last = pick.asks.len().saturating_sub(1);
                pick.at = pick.at.saturating_add_signed(by).min(last);
            }
            None => {}
        }
        Vec::new()
    }
}
