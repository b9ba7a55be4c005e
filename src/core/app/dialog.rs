//! Keys while a dialog is open, and keys that mean the same wherever they are pressed.

use crate::core::app::keymap::{Action, Key};
use crate::core::app::{App, DialogState, Effect};
use crate::core::time::UnixMs;

/// Lines by which a page key scrolls a dialog, at any size.
const DIALOG_PAGE: isize = 5;

impl App {
    pub(super) fn answer_dialog(&mut self, key: Key, now: UnixMs) -> Vec<Effect> {
        if let Some(effects) = self.leaving(key).filter(|_| key.is_chord()) {
            return effects;
        }
        if let Some(DialogState::Resend(_)) = self.ui.dialog {
            return self.resend_key(key, now);
        }
        match key {
            Key::Enter | Key::Char('y') if self.has_unread_plan() => {
                self.scroll_dialog(DIALOG_PAGE)
            }
            Key::Enter | Key::Char('y') => self.confirm(now),
            Key::Esc | Key::Char('q' | 'n') => {
                self.ui.dialog = None;
                Vec::new()
            }
            key => self.move_dialog(key),
        }
    }

    /// Lines of a reset's plan are still below what is shown: it is not agreed to unread.
    pub fn has_unread_plan(&self) -> bool {
        let resets = matches!(self.ui.dialog, Some(DialogState::Reset(_)));
        resets && self.ui.dialog_scroll < self.ui.last_scroll
    }

    /// What a key does wherever it is pressed, also over a dialog or form: leave, stop, draw again.
    pub(super) fn leaving(&self, key: Key) -> Option<Vec<Effect>> {
        match self.keymap.action(key)? {
            Action::Quit => Some(vec![Effect::Quit]),
            Action::Suspend => Some(vec![Effect::Suspend]),
            Action::Redraw => Some(vec![Effect::Redraw]),
            _ => None,
        }
    }

    /// A key that has no meaning of its own in a dialog: it moves in its text, or leaves.
    pub(super) fn move_dialog(&mut self, key: Key) -> Vec<Effect> {
        if let Some(effects) = self.leaving(key) {
            return effects;
        }
        match self.keymap.arrow(key) {
            Key::Down => self.scroll_dialog(1),
            Key::Up => self.scroll_dialog(-1),
            Key::PageDown => self.scroll_dialog(DIALOG_PAGE),
            Key::PageUp => self.scroll_dialog(-DIALOG_PAGE),
            Key::Home => self.scroll_dialog(isize::MIN),
            Key::End => self.scroll_dialog(isize::MAX),
            _ => Vec::new(),
        }
    }

    pub(super) fn scroll_dialog(&mut self, by: isize) -> Vec<Effect> {
        let scroll = self.ui.dialog_scroll.saturating_add_signed(by);
        self.ui.dialog_scroll = scroll.min(self.ui.last_scroll);
        Vec::new()
    }
}
