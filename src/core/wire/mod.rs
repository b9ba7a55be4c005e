//! What a server says, field for field, in the neutral form that both dialects decode into.
//!
//! What it does: types for everything that enters the program from a server, and the decoders of
//! each dialect ([`v1`], [`v2`]). What it does not: keep anything, or judge. Decoding never fails: what is
//! not understood becomes [`EventKind::Unknown`] or [`EventKind::Malformed`], is counted and shown.

mod input;
mod message;
mod prompt;
mod session;
mod todo;
pub mod v1;
pub mod v2;

pub use input::{
    AsksRead, Body, DirectoryReport, DirectoryState, Endpoint, Event, EventKind, InboxRead, Input,
    LinkReport, LostCause, McpRead, ReadFailed, SessionList, SessionRead, StatusRead, TailRead,
    TodoRead,
};
pub use message::{
    EXCERPT_CHARS, Failure, Message, ModelRef, Part, PartBody, Prose, Role, Tokens, ToolOutput,
    ToolPart, ToolState,
};
pub use prompt::WholePrompt;
pub use session::{
    Ask, AskKind, Choice, Dialect, InboxItem, InboxKind, Question, Retry, SessionInfo, Status,
    ToolRef,
};
pub use todo::{MOST_TODOS, TodoItem, TodoStatus};
