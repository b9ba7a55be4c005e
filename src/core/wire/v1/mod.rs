//! OpenCode 1.x on the wire: bodies of `GET` answers and frames of the event stream, decoded into
//! the neutral form.
//!
//! What it does: decode with one hostile or unknown row never costing the others. What it does
//! not: keep texts longer than an excerpt (see [`literal`]), or judge. Events never fail to decode:
//! they become `Unknown` or `Malformed`. Field names are those of OpenCode 1.1 to 1.18, measured.

mod ask;
mod event;
pub(super) mod lenient;
pub mod literal;
pub(super) mod message;
mod part;
mod probe;
mod prompt;
pub(super) mod session;
mod todo;

pub use ask::{decode_permissions, decode_questions, questions};
pub use event::{OVERSIZED, decode_event, event_kind, is_dropped, session_hint};
pub use message::{MessageRows, decode_messages};
pub use probe::{
    Health, decode_health, decode_info, decode_mcp, decode_path, decode_problem, decode_projects,
};
pub use prompt::{decode_models, decode_prompt};
pub use session::{
    SessionPage, decode_api_sessions, decode_session, decode_sessions, decode_status,
};
pub use todo::decode_todo;

pub(super) use part::{digest, subject};
use serde_json::value::RawValue;

/// Why a whole body gives nothing. Rows inside a good body never cause it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Not UTF-8.
    #[error("the body is not UTF-8")]
    Encoding,
    /// Not JSON, or JSON of another shape.
    #[error("the body is not {expected}: {why}")]
    Shape {
        /// What was expected.
        expected: &'static str,
        /// The parser's words.
        why: String,
    },
}

/// Rows that could be read, and how many could not.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded<T> {
    /// In the server's order.
    pub items: T,
    /// Rows (or parts of rows) left out because they do not decode.
    pub skipped: usize,
    /// The first reason for leaving one out.
    pub why: Option<String>,
}

impl<T: Default> Decoded<T> {
    pub(super) fn new() -> Self {
        Self {
            items: T::default(),
            skipped: 0,
            why: None,
        }
    }
}

impl<T> Decoded<T> {
    pub(super) fn skip(&mut self, why: &dyn ToString) {
        self.skipped += 1;
        if self.why.is_none() {
            self.why = Some(why.to_string());
        }
    }
    pub(super) fn absorb<U>(&mut self, other: Decoded<U>) -> U {
        self.skipped += other.skipped;
        if self.why.is_none() {
            self.why = other.why;
        }
        other.items
    }
}

pub(super) fn text_of(body: &[u8]) -> Result<&str, WireError> {
    std::str::from_utf8(body).map_err(|_| WireError::Encoding)
}

pub(super) fn shape(expected: &'static str) -> impl Fn(serde_json::Error) -> WireError {
    move |error| WireError::Shape {
        expected,
        why: error.to_string(),
    }
}

/// The rows of a JSON array, each still raw.
fn rows<'a>(body: &'a [u8], expected: &'static str) -> Result<Vec<&'a RawValue>, WireError> {
    serde_json::from_str(text_of(body)?).map_err(shape(expected))
}

/// Decodes each row by `one`; what fails is counted.
pub(super) fn each<'a, T>(
    rows: Vec<&'a RawValue>,
    mut one: impl FnMut(&'a str) -> Result<T, serde_json::Error>,
) -> Decoded<Vec<T>> {
    let mut out = Decoded::<Vec<T>>::new();
    for row in rows {
        match one(row.get()) {
            Ok(item) => out.items.push(item),
            Err(error) => out.skip(&error),
        }
    }
    out
}
