//! What an OpenCode 1.18 server says, as types that serialize to its exact JSON.
//!
//! What it does: name the fields of sessions, messages, parts, statuses and asks (recorded from a
//! 1.18.33 server). What it does not: keep state or behave. Times are Unix milliseconds of the server's clock.
//! Invariant: an absent optional field is left out, never `null`.

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

/// `{providerID, modelID}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRef {
    /// Provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// Model.
    #[serde(rename = "modelID")]
    pub model_id: String,
}

/// When a message was made and (assistant only) completed.
#[derive(Debug, Clone, Serialize)]
pub struct MessageTime {
    /// Milliseconds.
    pub created: i64,
    /// Absent while open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed: Option<i64>,
}

/// An error as stored in a message and sent in `session.error`.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorInfo {
    /// `MessageAbortedError`, `APIError`, `UnknownError`, …
    pub name: String,
    /// `{message, …}`.
    pub data: Value,
}

impl ErrorInfo {
    /// What an abort leaves.
    pub fn aborted() -> Self {
        Self {
            name: "MessageAbortedError".to_owned(),
            data: serde_json::json!({"message": "Aborted"}),
        }
    }
    /// Something without a kind of its own, such as a model that is not there.
    pub fn unknown(message: &str) -> Self {
        Self {
            name: "UnknownError".to_owned(),
            data: serde_json::json!({ "message": message }),
        }
    }
    /// A provider's refusal.
    pub fn api(message: &str, status: u16, retryable: bool) -> Self {
        Self {
            name: "APIError".to_owned(),
            data: serde_json::json!({"message": message, "statusCode": status, "isRetryable": retryable}),
        }
    }
}

/// `{diffs: []}` of a user message.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Diffs {
    /// Never filled here.
    pub diffs: Vec<Value>,
}

/// A user message's `info`.
#[derive(Debug, Clone, Serialize)]
pub struct UserInfo {
    /// `msg_…`.
    pub id: String,
    /// Its session.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// `user`.
    pub role: &'static str,
    /// Only `created`.
    pub time: MessageTime,
    /// Set once the first answer began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Diffs>,
    /// Who shall answer.
    pub agent: String,
    /// With which model.
    pub model: ModelRef,
}

/// `{cwd, root}`.
#[derive(Debug, Clone, Serialize)]
pub struct Paths {
    /// Directory of the session.
    pub cwd: String,
    /// Worktree.
    pub root: String,
}

/// An assistant message's `info`.
#[derive(Debug, Clone, Serialize)]
pub struct AssistantInfo {
    /// `msg_…`.
    pub id: String,
    /// Its session.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// `assistant`.
    pub role: &'static str,
    /// `completed` is absent while open.
    pub time: MessageTime,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// The user message it answers.
    #[serde(rename = "parentID")]
    pub parent_id: String,
    /// Model.
    #[serde(rename = "modelID")]
    pub model_id: String,
    /// Provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// Agent name, or `compaction`.
    pub mode: String,
    /// Agent name.
    pub agent: String,
    /// Where it works.
    pub path: Paths,
    /// `true` in a compaction's message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<bool>,
    /// US dollars.
    pub cost: f64,
    /// Zero until finished.
    pub tokens: Tokens,
    /// `stop`, `tool-calls`, `length`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
}

/// `info` of either role.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Info {
    /// Written by a person, or for them.
    User(Box<UserInfo>),
    /// Written by the model.
    Assistant(Box<AssistantInfo>),
}

impl Info {
    /// `msg_…`.
    pub fn id(&self) -> &str {
        match self {
            Self::User(user) => &user.id,
            Self::Assistant(assistant) => &assistant.id,
        }
    }
    /// `time.created`.
    pub fn created(&self) -> i64 {
        match self {
            Self::User(user) => user.time.created,
            Self::Assistant(assistant) => assistant.time.created,
        }
    }
}

/// `{info, parts}`.
#[derive(Debug, Clone, Serialize)]
pub struct Message {
    /// Who, when, how it ended.
    pub info: Info,
    /// In order of their ids.
    pub parts: Vec<Part>,
}

/// `{start, end?}`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PartTime {
    /// Milliseconds.
    pub start: i64,
    /// Absent while open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
}

/// `{start, end}`, both needed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct EndedTime {
    /// Milliseconds.
    pub start: i64,
    /// Milliseconds.
    pub end: i64,
}

/// A part of a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Part {
    /// `prt_…`.
    pub id: String,
    /// Its session.
    #[serde(rename = "sessionID")]
    pub session_id: String,
    /// Its message.
    #[serde(rename = "messageID")]
    pub message_id: String,
    /// The rest, by `type`.
    #[serde(flatten)]
    pub body: Body,
}

/// What a part holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Body {
    /// Text of either role; `text` is empty while it streams.
    Text {
        /// Empty until the part ended.
        text: String,
        /// Written by the program, not by the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        synthetic: Option<bool>,
        /// Absent in user messages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time: Option<PartTime>,
    },
    /// Reasoning that the provider shows.
    Reasoning {
        /// Empty until the part ended.
        text: String,
        /// When it streamed.
        time: PartTime,
    },
    /// A call of a tool.
    Tool {
        /// Given by the model.
        #[serde(rename = "callID")]
        call_id: String,
        /// `bash`, `task`, `question`, …
        tool: String,
        /// How far it is.
        state: ToolState,
    },
    /// A step of the loop begins.
    StepStart {
        /// Tree id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<String>,
    },
    /// A step ended.
    StepFinish {
        /// The message's `finish`.
        reason: String,
        /// Tree id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<String>,
        /// US dollars.
        cost: f64,
        /// Of this step.
        tokens: Tokens,
    },
    /// The history is to be compacted.
    Compaction {
        /// Not asked for by a person.
        auto: bool,
    },
}

/// State of a tool part.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum ToolState {
    /// Arguments are still streaming.
    Pending {
        /// `{}`.
        input: Object,
        /// Empty.
        raw: String,
    },
    /// At work, or waiting for a person.
    Running {
        /// Arguments.
        input: Object,
        /// Of a task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Bash output so far, a task's child session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
        /// Only `start`.
        time: PartTime,
    },
    /// Ended well.
    Completed {
        /// Arguments.
        input: Object,
        /// What the model reads.
        output: String,
        /// For people.
        title: String,
        /// Bash output again.
        metadata: Object,
        /// Both ends.
        time: EndedTime,
    },
    /// Ended badly.
    Error {
        /// Arguments.
        input: Object,
        /// What the model reads.
        error: String,
        /// `interrupted: true` after an abort.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
        /// Both ends.
        time: EndedTime,
    },
}

impl ToolState {
    /// Neither completed nor in error.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Pending { .. } | Self::Running { .. })
    }
    /// Arguments, whatever the state.
    pub fn input(&self) -> &Object {
        match self {
            Self::Pending { input, .. }
            | Self::Running { input, .. }
            | Self::Completed { input, .. }
            | Self::Error { input, .. } => input,
        }
    }
    /// When it started, if it has.
    pub fn start(&self) -> Option<i64> {
        match self {
            Self::Pending { .. } => None,
            Self::Running { time, .. } => Some(time.start),
            Self::Completed { time, .. } | Self::Error { time, .. } => Some(time.start),
        }
    }
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
