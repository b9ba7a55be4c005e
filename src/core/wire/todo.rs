//! A session's list of things to do, as its agent keeps it.

use serde::{Deserialize, Serialize};

/// So many entries of a list are kept.
pub const MOST_TODOS: usize = 200;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// What; cut to [`super::EXCERPT_CHARS`].
    pub content: String,
    /// How it stands.
    pub status: TodoStatus,
    /// `high`, `medium`, `low`; as it came.
    pub priority: String,
}

/// How a thing to do stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
    /// A status that we do not know.
    Other(String),
}
