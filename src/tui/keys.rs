//! From the terminal library's key events to [`Key`]. What a key does is the key table's affair.

use crate::core::app::keymap::Key;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Modifiers that make a key one we do not know: no binding uses them, and `Alt-a` must not abort.
const FOREIGN: KeyModifiers = KeyModifiers::ALT
    .union(KeyModifiers::SUPER)
    .union(KeyModifiers::HYPER)
    .union(KeyModifiers::META);

/// The key that was pressed or repeats; `None` for releases, for keys we do not know and for
/// keys with Alt or Super.
pub fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release || event.modifiers.intersects(FOREIGN) {
        return None;
    }
    match event.code {
        KeyCode::Char(c) => character(c, event.modifiers),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Esc),
        KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => Some(Key::BackTab),
        KeyCode::Tab => Some(Key::Tab),
        KeyCode::BackTab => Some(Key::BackTab),
        KeyCode::F(number @ 1..=12) => Some(Key::F(number)),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Delete => Some(Key::Delete),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        KeyCode::Left => Some(Key::Left),
        KeyCode::Right => Some(Key::Right),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown => Some(Key::PageDown),
        KeyCode::Home => Some(Key::Home),
        KeyCode::End => Some(Key::End),
        _ => None,
    }
}

fn character(c: char, modifiers: KeyModifiers) -> Option<Key> {
    if modifiers.contains(KeyModifiers::CONTROL) {
        let lower = c.to_ascii_lowercase();
        return lower.is_ascii_lowercase().then_some(Key::Ctrl(lower));
    }
    if modifiers.contains(KeyModifiers::SHIFT) {
        return Some(Key::Char(c.to_ascii_uppercase()));
    }
    Some(Key::Char(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
        key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn shift_is_applied_and_control_is_lower_case() {
        let none = KeyModifiers::NONE;
        assert_eq!(with(KeyCode::Char('a'), none), Some(Key::Char('a')));
        assert_eq!(
            with(KeyCode::Char('r'), KeyModifiers::SHIFT),
            Some(Key::Char('R'))
        );
        assert_eq!(
            with(KeyCode::Char('!'), KeyModifiers::SHIFT),
            Some(Key::Char('!'))
        );
        assert_eq!(
            with(
                KeyCode::Char('D'),
                KeyModifiers::CONTROL | KeyModifiers::SHIFT
            ),
            Some(Key::Ctrl('d'))
        );
        assert_eq!(with(KeyCode::PageDown, none), Some(Key::PageDown));
    }

    #[test]
    fn foreign_keys_and_releases_do_nothing() {
        assert_eq!(with(KeyCode::Char('a'), KeyModifiers::ALT), None);
        assert_eq!(with(KeyCode::Char('a'), KeyModifiers::SUPER), None);
        assert_eq!(with(KeyCode::Char('1'), KeyModifiers::CONTROL), None);
        assert_eq!(with(KeyCode::F(13), KeyModifiers::NONE), None);
        let mut event = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        event.kind = KeyEventKind::Repeat;
        assert_eq!(key(event), Some(Key::Enter));
        event.kind = KeyEventKind::Release;
        assert_eq!(key(event), None);
    }
}
