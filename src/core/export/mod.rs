//! What an export does to what a server said: nothing, redact it, or make it readable.
//!
//! What it does: [`sanitize`] replaces what is private as `opencode export --sanitize`
//! does; [`Markdown`] turns a session into a text for people, a message at a time; [`names`] gives
//! files names that stay where they are put. What it does not: read, write, or hold more than one
//! message.

mod fields;
pub mod index;
mod markdown;
pub mod names;
pub mod sanitize;

pub use fields::Fields;
pub use markdown::Markdown;

/// How a session is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// What `opencode export` prints and `opencode import` takes.
    #[default]
    Json,
    /// For people.
    Markdown,
}

impl Format {
    /// Ends the names of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Markdown => "md",
        }
    }
}
