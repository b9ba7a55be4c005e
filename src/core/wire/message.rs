//! Messages and their parts, reduced to structure, sizes and times.
//!
//! What it does: hold what judging and the timeline need. What it does not: hold a transcript;
//! texts are cut to an excerpt ([`EXCERPT_CHARS`]), outputs to their size and digest, so that the
//! memory of a session is bounded however large its tool outputs are.

use crate::core::id::{CallId, MessageId, PartId, SessionId};
use crate::core::time::UnixMs;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest excerpt kept of any text, in characters.
pub const EXCERPT_CHARS: usize = 240;

/// Who wrote a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A prompt (also a synthetic one: `!shell`, background task results).
    User,
    /// The model.
    Assistant,
    /// A role that we do not know.
    Other(String),
}

/// Token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Sent to the model.
    pub input: u64,
    /// Received from it.
    pub output: u64,
}

/// `provider/model`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRef {
    /// Provider id.
    pub provider: String,
    /// Model id.
    pub model: String,
}

impl ModelRef {
    /// Reads `provider/model`; the model's name may hold more slashes.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model) = text.trim().split_once('/')?;
        let both = !provider.is_empty() && !model.is_empty();
        both.then(|| Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
        })
    }
}

impl std::fmt::Display for ModelRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// An error that a message or a `session.error` event carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// `MessageAbortedError`, `APIError`, `ProviderAuthError`, `UnknownError`, …; in 2.x `aborted`,
    /// `provider.auth`, `tool.execution`, `unknown`, …
    pub name: String,
    /// Its words, cut to [`EXCERPT_CHARS`].
    pub message: String,
    /// HTTP status of the provider, where given.
    pub status_code: Option<u16>,
}

impl Failure {
    /// An abort by a person is not a failure. `aborted` is the name in 2.x.
    pub fn is_abort(&self) -> bool {
        matches!(self.name.as_str(), "MessageAbortedError" | "aborted")
    }
}

/// One message. Order by `created`, then by id. Times are the server's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Its session.
    pub session: SessionId,
    /// Who wrote it.
    pub role: Role,
    /// Of an assistant message: the user message that it answers.
    pub parent: Option<MessageId>,
    /// Creation.
    pub created: UnixMs,
    /// End; absent while open (user messages never have it).
    pub completed: Option<UnixMs>,
    /// `stop`, `length`, `tool-calls`, `unknown`, `content-filter`, `other`, `error`; as it came.
    pub finish: Option<String>,
    /// Set on a failed or aborted answer.
    pub error: Option<Failure>,
    /// A compaction's summary.
    pub summary: bool,
    /// The answer is a structured value (`info.structured`), not text.
    pub structured: bool,
    /// Agent's name.
    pub agent: Option<String>,
    /// Which model.
    pub model: Option<ModelRef>,
    /// US dollars.
    pub cost: f64,
    /// Tokens of this message.
    pub tokens: Tokens,
    /// In the server's order. Empty in a `message.updated` event, which carries none.
    pub parts: Vec<Part>,
}

impl Message {
    /// An assistant message that was never completed.
    pub fn is_open(&self) -> bool {
        self.role == Role::Assistant && self.completed.is_none()
    }
    /// The user's (or a synthetic) prompt.
    pub fn is_user(&self) -> bool {
        self.role == Role::User
    }
    /// The model's answer.
    pub fn is_assistant(&self) -> bool {
        self.role == Role::Assistant
    }
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its id.
    pub id: PartId,
    /// Its session.
    pub session: SessionId,
    /// Its message.
    pub message: MessageId,
    /// What it is.
    pub body: PartBody,
}

/// Kinds of parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PartBody {
    /// Answer or prompt text.
    Text(Prose),
    /// Hidden thought.
    Reasoning(Prose),
    /// A tool call.
    Tool(Box<ToolPart>),
    /// A step begins.
    StepStart,
    /// A step ended, with its reason.
    StepFinish(String),
    /// A request to compact.
    Compaction,
    /// A subtask prompt (`agent`, `subtask` parts).
    Subtask,
    /// Note of a provider retry.
    Retry,
    /// `file`, `patch`, `snapshot` and kinds that we do not know: the kind's name.
    Other(String),
}

/// Text or reasoning. While it streams, a read shows it empty; only deltas grow.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prose {
    /// The first [`EXCERPT_CHARS`] characters.
    pub excerpt: String,
    /// Length of the whole text.
    pub bytes: usize,
    /// Made by the server, not typed (`!shell`, reminders, background results).
    pub synthetic: bool,
    /// Begin; absent on prompts.
    pub start: Option<UnixMs>,
    /// End; `start` without `end` is an open part.
    pub end: Option<UnixMs>,
}

/// State of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolState {
    /// The model still writes the arguments; no times yet.
    Pending,
    /// It runs, or waits for a permission or an answer.
    Running,
    /// Ended well (also an aborted bash).
    Completed,
    /// Ended with an error.
    Error,
    /// A state that we do not know.
    Other(String),
}

/// A tool call. Times are the server's; `start` is set before a permission is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolPart {
    /// Links to an ask.
    pub call: Option<CallId>,
    /// `bash`, `task`, `question`, `<server>_<tool>`, …
    pub tool: String,
    /// Where it stands.
    pub state: ToolState,
    /// One line of what it was called with: the command, the file, the URL; cut to [`EXCERPT_CHARS`].
    pub subject: String,
    /// Bash: `input.timeout` in ms, where given.
    pub timeout_ms: Option<i64>,
    /// Names of the keys of `input`; tells a `!shell` (`command` only) from a model's bash.
    pub input_keys: Vec<String>,
    /// A hash of the whole `input`: the same call again has the same, however its keys are ordered.
    pub input_digest: u64,
    /// Question tool: its questions as they stand in `state.input`, for asks that were lost.
    pub questions: Option<Value>,
    /// Running or final output.
    pub output: ToolOutput,
    /// Task tool: the child session (`metadata.sessionId`).
    pub child: Option<SessionId>,
    /// `metadata.interrupted`.
    pub interrupted: bool,
    /// Task tool: completed with `<task … state="running">`, the child works in the background.
    pub background: bool,
    /// Words of an error state.
    pub error: Option<String>,
    /// When it was started.
    pub start: Option<UnixMs>,
    /// When it ended.
    pub end: Option<UnixMs>,
}

impl ToolPart {
    /// Pending or running.
    pub fn is_live(&self) -> bool {
        matches!(self.state, ToolState::Pending | ToolState::Running)
    }
}

/// What is known of a tool's output without keeping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolOutput {
    /// The key `metadata.output` (or `output`) exists at all. On 1.14 and newer a running bash
    /// without it has not begun.
    pub present: bool,
    /// Bytes; of a running bash at most its last 30,000 characters.
    pub bytes: usize,
    /// A hash of the content: a full window changes without growing.
    pub digest: u64,
}

impl Part {
    /// Not ended: open prose, or a pending or running tool.
    pub fn is_live(&self) -> bool {
        match &self.body {
            PartBody::Text(prose) | PartBody::Reasoning(prose) => {
                prose.start.is_some() && prose.end.is_none()
            }
            PartBody::Tool(tool) => tool.is_live(),
            _ => false,
        }
    }
    /// The tool call, if it is one.
    pub fn tool(&self) -> Option<&ToolPart> {
        match &self.body {
            PartBody::Tool(tool) => Some(tool),
            _ => None,
        }
    }
}
