//! A key as the app knows it. What a key does stands in [`super::keymap`].

use std::fmt;
use thiserror::Error;

/// A key press, free of any terminal library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A character, with shift already applied.
    Char(char),
    /// Control and a lower-case letter.
    Ctrl(char),
    /// Return.
    Enter,
    /// Escape.
    Esc,
    /// Tabulator.
    Tab,
    /// Tabulator with shift.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// A function key, from 1 to 12.
    F(u8),
}

/// Why a word is no key that can be bound. Fits after the word in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoKey {
    /// With Alt.
    #[error("cannot be bound: terminals send Alt in too many ways")]
    Alt,
    /// Some terminals stop and go on by it.
    #[error("cannot be bound: terminals keep it for themselves (flow control)")]
    Kept,
    /// A terminal sends the same for another key.
    #[error("cannot be bound: a terminal sends {0} for it")]
    Same(Key),
    /// No key has that name.
    #[error(
        "is no key: a character, space, Enter, Tab, Shift-Tab, Esc, Backspace, Delete, Up, Down, Left, \
         Right, PgUp, PgDn, Home, End, Ctrl-A to Ctrl-Z or F1 to F12"
    )]
    Unknown,
}

/// Keys that have a name of their own.
const NAMED: [Key; 15] = [
    Key::Char(' '),
    Key::Enter,
    Key::Esc,
    Key::Tab,
    Key::BackTab,
    Key::Backspace,
    Key::Delete,
    Key::Up,
    Key::Down,
    Key::Left,
    Key::Right,
    Key::PageUp,
    Key::PageDown,
    Key::Home,
    Key::End,
];

impl Key {
    /// The key of that name, as it is shown: `a`, `A`, `space`, `PgDn`, `Ctrl-D`, `F1`. A character
    /// is as it is typed; the case of other names does not matter.
    ///
    /// # Errors
    /// [`NoKey`], for what cannot be bound.
    pub fn parse(name: &str) -> Result<Key, NoKey> {
        let mut chars = name.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return if c.is_control() {
                Err(NoKey::Unknown)
            } else {
                Ok(Key::Char(c))
            };
        }
        let lower = name.to_ascii_lowercase();
        if lower.starts_with("alt-") || lower.starts_with("alt+") || lower.starts_with("m-") {
            return Err(NoKey::Alt);
        }
        if let Some(letter) = lower.strip_prefix("ctrl-") {
            return Key::control(letter);
        }
        let function = lower.strip_prefix('f').and_then(|it| it.parse().ok());
        if let Some(number @ 1..=12) = function {
            return Ok(Key::F(number));
        }
        let is_it = |key: &Key| key.to_string().eq_ignore_ascii_case(name);
        NAMED.into_iter().find(is_it).ok_or(NoKey::Unknown)
    }

    /// Whether it means nothing to a text, a form or a dialog, so that what it does everywhere it does
    /// there as well.
    pub fn is_chord(self) -> bool {
        matches!(self, Key::Ctrl(_) | Key::F(_))
    }

    fn control(letter: &str) -> Result<Key, NoKey> {
        let mut chars = letter.chars();
        match (chars.next(), chars.next()) {
            (Some('s' | 'q'), None) => Err(NoKey::Kept),
            (Some('i'), None) => Err(NoKey::Same(Key::Tab)),
            (Some('m' | 'j'), None) => Err(NoKey::Same(Key::Enter)),
            (Some('h'), None) => Err(NoKey::Same(Key::Backspace)),
            (Some(c @ 'a'..='z'), None) => Ok(Key::Ctrl(c)),
            _ => Err(NoKey::Unknown),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Char(' ') => f.write_str("space"),
            Key::Char(c) => write!(f, "{c}"),
            Key::Ctrl(c) => write!(f, "Ctrl-{}", c.to_ascii_uppercase()),
            Key::BackTab => f.write_str("Shift-Tab"),
            Key::F(number) => write!(f, "F{number}"),
            Key::PageUp => f.write_str("PgUp"),
            Key::PageDown => f.write_str("PgDn"),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_by_the_name_that_is_shown() {
        let control = ('a'..='z').map(Key::Ctrl);
        let refused = |key: &Key| matches!(key, Key::Ctrl('s' | 'q' | 'i' | 'm' | 'j' | 'h'));
        let chars = ('!'..='~').map(Key::Char);
        let all = NAMED.into_iter().chain((1..=12).map(Key::F)).chain(chars);
        for key in all.chain(control) {
            let read = Key::parse(&key.to_string());
            assert_eq!(read.is_err(), refused(&key), "{key}");
            assert!(read.is_err() || read == Ok(key), "{key}");
        }
        assert_eq!(Key::parse("pgdn"), Ok(Key::PageDown));
        assert_eq!(Key::parse("ctrl-d"), Ok(Key::Ctrl('d')));
    }

    #[test]
    fn what_a_terminal_cannot_send_or_keeps_is_no_key() {
        for (name, why) in [
            ("", NoKey::Unknown),
            ("\u{1b}", NoKey::Unknown),
            ("aa", NoKey::Unknown),
            ("F13", NoKey::Unknown),
            ("Ctrl-1", NoKey::Unknown),
            ("Alt-a", NoKey::Alt),
            ("Ctrl-S", NoKey::Kept),
            ("ctrl-q", NoKey::Kept),
            ("Ctrl-I", NoKey::Same(Key::Tab)),
        ] {
            assert_eq!(Key::parse(name), Err(why), "{name:?}");
        }
    }
}
