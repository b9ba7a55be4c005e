//! Messages and their parts, field for field.
//!
//! What it does: user and assistant messages, parts by `type`, tool states by `status`. What it does not:
//! check more than the presence of fields. Invariant: a tool part in `completed` or `error` has both times.

use super::{Object, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// Who writes an assistant message, and to what.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// Session.
    pub session: &'a str,
    /// The user message that is answered.
    pub user: &'a str,
    /// Agent.
    pub agent: &'a str,
    /// Model.
    pub model: &'a ModelRef,
    /// Where it works.
    pub directory: &'a str,
}

impl AssistantInfo {
    /// As a message begins: open, nothing counted.
    pub fn open(id: String, by: Author<'_>, created: i64) -> Self {
        Self {
            id,
            session_id: by.session.to_owned(),
            role: "assistant",
            time: MessageTime {
                created,
                completed: None,
            },
            error: None,
            parent_id: by.user.to_owned(),
            model_id: by.model.model_id.clone(),
            provider_id: by.model.provider_id.clone(),
            mode: by.agent.to_owned(),
            agent: by.agent.to_owned(),
            path: Paths {
                cwd: by.directory.to_owned(),
                root: by.directory.to_owned(),
            },
            summary: None,
            cost: 0.0,
            tokens: Tokens::default(),
            finish: None,
        }
    }
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
