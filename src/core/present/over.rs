//! What lies over the screen, as plain data: dialogs, forms, the command line; and what keys do there.

use super::Line;
use crate::core::app::keymap::Action;

/// A question before an action, or an action's plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialog {
    /// Names the action and the session.
    pub title: String,
    /// What will be done, a line each; wrapped by the view.
    pub lines: Vec<String>,
    /// First wrapped line shown, where not all fit.
    pub scroll: usize,
    /// The key hints at its foot: `Enter do it · Esc leave it`.
    pub foot: String,
}

/// A form: texts to read, options to point at, a line to type into.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Names the action and the session.
    pub title: String,
    /// From top to bottom; wrapped by the view, but for the line that is typed into.
    pub lines: Vec<FormLine>,
    /// What the keys do, the most needed first.
    pub foot: Vec<Hint>,
    /// Lines by which it is scrolled back from what is pointed at.
    pub scroll: usize,
}

/// A line of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormLine {
    /// Before the text: `> (*) 1 `; the text wraps under itself.
    pub mark: String,
    /// The text.
    pub text: Line,
    /// It is pointed at.
    pub focus: bool,
    /// It is typed into, with the cursor before this character of the text.
    pub cursor: Option<usize>,
}

/// A key and what it does, for the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// `a`.
    pub key: String,
    /// `abort`.
    pub words: String,
    /// The action of the key table; `None`: a key of a dialog or form.
    pub action: Option<Action>,
}

impl Hint {
    /// A key of a dialog or form.
    pub fn new(key: impl Into<String>, words: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            words: words.into(),
            action: None,
        }
    }

    /// A key of the table.
    pub fn of(action: Action, key: impl Into<String>, words: impl Into<String>) -> Self {
        Self {
            action: Some(action),
            ..Self::new(key, words)
        }
    }
}

/// The command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// What stands there.
    pub text: String,
    /// Cursor, in characters.
    pub cursor: usize,
    /// What it may become.
    pub offered: Vec<Offered>,
    /// Which of it `Tab` put there.
    pub chosen: Option<usize>,
    /// Why it was not run.
    pub wrong: Option<String>,
}

/// What a command may become.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offered {
    /// The word.
    pub word: String,
    /// The keys that do the same: `q Esc`.
    pub keys: String,
    /// What it does.
    pub help: String,
    /// It does not apply now.
    pub dim: bool,
}
