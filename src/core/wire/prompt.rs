//! A prompt as a whole: what has to be shown, and can be sent again.
//!
//! What it does: hold the text that a person typed, uncut, and name what else the prompt had. What it
//! does not: keep files, or stand in the store, whose messages hold excerpts only.

/// A user message, whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WholePrompt {
    /// What a person typed; parts of their own are lines of their own.
    pub text: String,
    /// What cannot be sent as text, in words: `file diagram.png`, `agent explore`.
    pub others: Vec<String>,
    /// The server made it (a `!shell` command, the result of a background task): nobody typed it.
    pub synthetic: bool,
}
