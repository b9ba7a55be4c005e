//! A line of text that is being typed: the filter, a message, an answer.
//!
//! What it does: keep text and cursor, and take keys. What it does not: know what Enter and Esc mean.

use super::keymap::Key;

/// Text and cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextLine {
    /// What was typed.
    pub text: String,
    /// Before which character the cursor stands; at most the number of characters.
    pub cursor: usize,
}

impl TextLine {
    /// With the cursor behind the text.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let cursor = text.chars().count();
        Self { text, cursor }
    }

    /// Takes a key; `false` if it means nothing to a line of text.
    pub fn key(&mut self, key: Key) -> bool {
        let mut text: Vec<char> = self.text.chars().collect();
        let at = self.cursor.min(text.len());
        self.cursor = match key {
            Key::Char(c) => {
                text.insert(at, c);
                at + 1
            }
            Key::Backspace => {
                let before = at.saturating_sub(1);
                text.drain(before..at);
                before
            }
            Key::Delete => {
                text.drain(at..(at + 1).min(text.len()));
                at
            }
            Key::Ctrl('u') => {
                text.drain(..at);
                0
            }
            Key::Left => at.saturating_sub(1),
            Key::Right => (at + 1).min(text.len()),
            Key::Home => 0,
            Key::End => text.len(),
            _ => return false,
        };
        self.text = text.into_iter().collect();
        true
    }

    /// Takes pasted text: what is typed on one line has no control characters, and a line break
    /// becomes a space, so that no words grow together.
    pub fn paste(&mut self, text: &str) {
        let text = text.trim_end_matches(['\n', '\r']).replace("\r\n", "\n");
        let flat = text.chars().map(|c| match c {
            '\n' | '\r' | '\t' => ' ',
            c => c,
        });
        for c in flat.filter(|c| !c.is_control()) {
            self.key(Key::Char(c));
        }
    }
}
