//! What an OpenCode 1.18 server says, as types that serialize to its exact JSON.
//!
//! What it does: name the fields of sessions, messages, parts, statuses and asks (recorded from a
//! 1.18.33 server). What it does not: keep state or behave. Times are Unix milliseconds of the server's clock.
//! Invariant: an absent optional field is left out, never `null`.

mod message;

pub use message::*;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON object of any shape: tool inputs and metadata.
pub type Object = Map<String, Value>;

/// The tree of an empty repository, which step parts name as their snapshot.
pub(crate) const SNAPSHOT: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Token counts of a message or a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Only in finished messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens of hidden reasoning.
    pub reasoning: u64,
    /// Tokens taken from or put into the provider's cache.
    pub cache: Cache,
}

/// Cached tokens.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Cache {
    /// Read from the cache.
    pub read: u64,
    /// Written to it.
    pub write: u64,
}

/// `{created, updated, archived?}` of a session, milliseconds.
#[derive(Debug, Clone, Serialize)]
pub struct SessionTime {
    /// When it was made.
    pub created: i64,
    /// Moves at a prompt and at the turn's end.
    pub updated: i64,
    /// Set when it was archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<i64>,
}

/// The model as a session names it.
#[derive(Debug, Clone, Serialize)]
pub struct SessionModel {
    /// Model id.
    pub id: String,
    /// Provider id.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// Always `default` here.
    pub variant: &'static str,
}

/// Lines changed by a session.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Changes {
    /// Lines added.
    pub additions: u64,
    /// Lines removed.
    pub deletions: u64,
    /// Files touched.
    pub files: u64,
}

/// A row of `GET /session`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// `ses_…`, descending.
    pub id: String,
    /// Two words.
    pub slug: String,
    /// Root commit of the repository.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// Absolute.
    pub directory: String,
    /// Below the worktree; empty here.
    pub path: String,
    /// Of a subagent's session.
    #[serde(rename = "parentID", skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// After the first answer began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Changes>,
    /// US dollars.
    pub cost: f64,
    /// Sum over the session.
    pub tokens: Tokens,
    /// For people.
    pub title: String,
    /// After the first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// After the first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<SessionModel>,
    /// Of the server that made it.
    pub version: String,
    /// Milliseconds.
    pub time: SessionTime,
    /// Rules given at creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<Value>,
    /// `{messageID}`: later messages are hidden and fall with the next prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revert: Option<Value>,
}

/// A value of the status map. Idle sessions are absent from the map; `idle` occurs in events only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Status {
    /// Nothing runs.
    Idle,
    /// A turn, a shell command, or waiting for a person.
    Busy,
    /// Waits for its next try.
    Retry {
        /// From 1.
        attempt: u32,
        /// The provider's words.
        message: String,
        /// Milliseconds: when the next try starts.
        next: i64,
        /// What a person could do: `{reason, provider, title, message, label, link?}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Value>,
    },
}

/// Which call an ask belongs to.
#[derive(Debug, Clone, Serialize)]
pub struct AskTool {
    /// Message of the tool part.
    #[serde(rename = "messageID")]
    pub message_id: String,
    /// Call of the tool part.
    #[serde(rename = "callID")]
    pub call_id: String,
}

/// An option of a question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Choice {
    /// What is answered.
    pub label: String,
    /// What it means.
    #[serde(default)]
    pub description: String,
}

/// One question of a question request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Question {
    /// The sentence.
    pub question: String,
    /// One word.
    pub header: String,
    /// What may be chosen.
    pub options: Vec<Choice>,
    /// Several answers allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiple: Option<bool>,
}

/// An entry of `GET /question`.
#[derive(Debug, Clone, Serialize)]
pub struct QuestionAsk {
    /// `que_…`.
    pub id: String,
    /// Who asks.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// What is asked.
    pub questions: Vec<Question>,
    /// Which tool part waits.
    pub tool: AskTool,
}

/// An entry of `GET /permission`.
#[derive(Debug, Clone, Serialize)]
pub struct PermissionAsk {
    /// `per_…`.
    pub id: String,
    /// Who asks.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// `bash`, `edit`, `external_directory`, …
    pub permission: String,
    /// What exactly.
    pub patterns: Vec<String>,
    /// `{command}` and the like.
    pub metadata: Object,
    /// What `always` would allow.
    pub always: Vec<String>,
    /// Which tool part waits.
    pub tool: AskTool,
}

/// An entry of `GET /session/:id/todo`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress`, `completed`, `cancelled`.
    pub status: String,
    /// `high`, `medium`, `low`.
    pub priority: String,
}
