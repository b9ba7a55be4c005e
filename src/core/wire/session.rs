//! Sessions, their reported status, and the asks (permissions and questions) that they wait for.
//!
//! Types only. Field meanings are those of OpenCode's API (measured on 1.18.33).

use crate::core::id::{AskId, CallId, Directory, MessageId, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::{ModelRef, Tokens};
use serde::{Deserialize, Serialize};

/// Which API a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// OpenCode 1.x: `/session`, `/session/status`, `/global/event`.
    V1,
    /// OpenCode 2.x: `/api/*`. Read, not yet acted on.
    V2,
}

/// A row of a session list. Times are the server's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// Given by the model or the user; data, may hold anything.
    pub title: String,
    /// The instance it belongs to.
    pub directory: Directory,
    /// Set on subagents.
    pub parent: Option<SessionId>,
    /// Absent until the first prompt.
    pub agent: Option<String>,
    /// Absent until the first prompt.
    pub model: Option<ModelRef>,
    /// Creation.
    pub created: UnixMs,
    /// Moves at a prompt and at a turn's end; not by a PATCH of a part.
    pub updated: UnixMs,
    /// When it was archived, if it is.
    pub archived: Option<UnixMs>,
    /// `session.revert` is set: later messages are hidden from the model.
    pub reverted: bool,
    /// US dollars so far.
    pub cost: f64,
    /// Tokens so far.
    pub tokens: Tokens,
}

/// What the server reports. Absence from a successful read of the right directory means idle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Status {
    /// Nothing runs.
    Idle,
    /// A turn runs, or waits for a person.
    Busy,
    /// The provider failed; the server will try again.
    Retry(Retry),
    /// A type that we do not know; its name.
    Other(String),
}

/// A retry that the server has planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// Counts from 1.
    pub attempt: u32,
    /// The provider's words.
    pub message: String,
    /// When the server will try again; server's clock. `None`: it does not say so in numbers.
    pub next: Option<UnixMs>,
    /// Present when a person must act first (login, quota).
    pub action: Option<String>,
}

/// What kind of answer a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskKind {
    /// May this tool run?
    Permission,
    /// The model's own question.
    Question,
}

/// How much of a diff is kept of an ask, in bytes.
pub const DIFF_KEPT: usize = 16 * 1024;

/// A pending permission or question. In the server's memory only: lost at a restart, and left
/// behind by an abort (a ghost).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// `per_…` or `que_…`.
    pub id: AskId,
    /// The session that waits.
    pub session: SessionId,
    /// Permission or question.
    pub kind: AskKind,
    /// The tool call that it holds up.
    pub tool: Option<ToolRef>,
    /// For permissions: `bash`, `edit`, `external_directory`, …
    pub permission: Option<String>,
    /// For permissions: what exactly.
    pub patterns: Vec<String>,
    /// For permissions: what "always" would allow.
    pub always: Vec<String>,
    /// For a permission of bash: the command as it would run (`metadata.command`); its patterns are
    /// the single commands that were found in it.
    pub command: Option<String>,
    /// For a permission to edit: what would change (`metadata.diff`), at most [`DIFF_KEPT`] bytes.
    pub diff: Option<String>,
    /// For questions.
    pub questions: Vec<Question>,
}

impl Ask {
    /// One line that says what is asked: `bash rm -r build`, or the question's text.
    pub fn text(&self) -> String {
        match self.kind {
            AskKind::Permission => {
                let what = self.permission.as_deref().unwrap_or("permission");
                match (&self.command, self.patterns.is_empty()) {
                    (Some(command), _) => format!("{what} {command}"),
                    (None, true) => what.to_owned(),
                    // Not by blanks: two patterns are not one command.
                    (None, false) => format!("{what} {}", self.patterns.join(", ")),
                }
            }
            AskKind::Question => match self.questions.as_slice() {
                [] => "a question".to_owned(),
                [one] => one.question.clone(),
                [first, rest @ ..] => format!("{} (and {} more)", first.question, rest.len()),
            },
        }
    }
}

/// Names the tool part that an ask belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRef {
    /// The assistant message.
    pub message: MessageId,
    /// The call inside it.
    pub call: CallId,
}

/// One question of a question ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The full text.
    pub question: String,
    /// A short label.
    pub header: String,
    /// What may be chosen; free text is accepted as well.
    pub options: Vec<Choice>,
    /// More than one may be chosen.
    pub multiple: bool,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What the reply carries.
    pub label: String,
    /// Said beside it.
    pub description: String,
}

/// Something that waits to go into a session (2.x `inbox`): not among its messages yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxItem {
    /// The id that its message will have.
    pub id: MessageId,
    /// What it is.
    pub kind: InboxKind,
    /// When it was put there; server's clock.
    pub created: UnixMs,
    /// Its text, cut to [`crate::core::wire::EXCERPT_CHARS`]; empty where it has none.
    pub text: String,
}

/// What waits in an inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum InboxKind {
    /// A prompt of a person: it wants an answer.
    Prompt,
    /// `synthetic` (a note of the server, as after a `!shell`), `compaction`, `move`, or a kind that
    /// we do not know: its name. A note wants no answer of its own.
    Other(String),
}
