//! The one kind of thing that enters the store: an [`Input`] from a link, a recording or the demo.
//!
//! What it does: say what was received, from whom, in which connection, when. What it does not:
//! interpret. `at` is the watcher's clock; every other time inside is the server's.

use crate::core::id::{AskId, Directory, Epoch, MessageId, PartId, ServerId, SessionId};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{
    Ask, AskKind, Dialect, Failure, InboxItem, Message, Part, SessionInfo, Status, TodoItem,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that was received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// From which server.
    pub server: ServerId,
    /// In which connection.
    pub epoch: Epoch,
    /// When it was received; watcher's clock.
    pub at: UnixMs,
    /// What.
    pub body: Body,
}

/// Kinds of input. The `asked_at` of reads is the watcher's clock just before the request was
/// sent: what an event said after that moment is newer than the read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// The connection itself.
    Link(LinkReport),
    /// Rows of a session list.
    Sessions(SessionList),
    /// `GET /session/:id`: one row. Says nothing about the list.
    Session(Box<SessionRead>),
    /// A read of this session answered 404.
    SessionGone(SessionId),
    /// `GET /session/status` of one directory: replaces what was known there.
    Status(StatusRead),
    /// `GET /permission` or `/question` of one directory: replaces what was known there.
    Asks(AsksRead),
    /// `GET /mcp` of one directory: replaces what was known there.
    Mcp(McpRead),
    /// The newest messages of one session: replaces what was known of it.
    Tail(TailRead),
    /// Whether a directory is asked.
    Directory(DirectoryReport),
    /// A read failed.
    Failed(ReadFailed),
    /// An abort of this session was sent by this program. Not what the server says, but what makes
    /// its saying telling: `abort-ignored` counts from here.
    AbortSent(SessionId),
    /// The watcher's clock jumped (its machine slept, or the time was set): spans that reach over
    /// this moment cannot be trusted.
    ClockJumped,
    /// An event of the stream.
    Event(Event),
    /// What waits to go into one session (2.x): replaces what was known of it.
    Inbox(InboxRead),
    /// What an agent means to do in one session: replaces what was known of it.
    Todo(TodoRead),
}

/// What a link says of itself. The first input of each epoch is `Connecting`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LinkReport {
    /// A new connection begins (a new epoch). Attempts count from 1 since it was last live.
    Connecting {
        /// Which attempt.
        attempt: u32,
    },
    /// It is an OpenCode server.
    Identified {
        /// Its API.
        dialect: Dialect,
        /// `1.18.33`, where told.
        version: Option<String>,
        /// Its clock minus ours, from the `Date` header (1 s resolution), where told.
        skew: Option<Span>,
        /// It listens on a non-loopback address and needs no password.
        unsecured: bool,
    },
    /// Stream open, snapshot applied, kept events replayed: from here nothing is missed.
    Live,
    /// The connection is gone or could not be made.
    Lost {
        /// Why.
        cause: LostCause,
        /// One clear line, no credentials: fits after "home (http://…): ".
        text: String,
        /// When the next attempt is planned; watcher's clock.
        retry_at: UnixMs,
    },
    /// So many requests were sent to it since this program began.
    Asked(u64),
    /// The whole snapshot was asked again without a new connection (a gap was suspected).
    Resynced,
}

/// Kinds of loss, each a `state` of interface schema `ocwatch.status/1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LostCause {
    /// Nothing listens there, no route, or the stream ended.
    Unreachable,
    /// Nobody listens at the port: the process is gone (so a later answer is a restart).
    Refused,
    /// The socket is open, but health does not answer and heartbeats stopped.
    Wedged,
    /// 401.
    Unauthorized,
    /// Answers, but is not OpenCode.
    NotOpencode,
}

/// Rows of a session list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionList {
    /// The rows.
    pub rows: Vec<SessionInfo>,
    /// Before the first request.
    pub asked_at: UnixMs,
    /// All pages of all projects: what is not in it does not exist any more.
    pub complete: bool,
}

/// One row, read for itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRead {
    /// The row.
    pub row: SessionInfo,
    /// Before the request.
    pub asked_at: UnixMs,
}

/// A read of the run state of one directory. A session that is absent is idle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatusRead {
    /// Of which directory.
    pub directory: Directory,
    /// Before the request.
    pub asked_at: UnixMs,
    /// Who is not idle.
    pub entries: BTreeMap<SessionId, Status>,
}

/// A read of the pending asks of one directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AsksRead {
    /// Of which directory.
    pub directory: Directory,
    /// Which list.
    pub kind: AskKind,
    /// Before the request.
    pub asked_at: UnixMs,
    /// All that are pending.
    pub asks: Vec<Ask>,
}

/// A read of the MCP servers of one directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpRead {
    /// Of which directory.
    pub directory: Directory,
    /// Their names, as configured.
    pub servers: Vec<String>,
}

/// The newest messages of a session, ascending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TailRead {
    /// Whose.
    pub session: SessionId,
    /// Before the request.
    pub asked_at: UnixMs,
    /// Ascending by creation, with parts.
    pub messages: Vec<Message>,
    /// It begins with the session's first message, and nothing of it was left out.
    pub whole: bool,
    /// How many messages and parts of the newest answer, or after it, could not be read: what is not
    /// among `messages` may be one of them.
    pub missing: usize,
}

/// What waits to go into a session, read with its messages (2.x).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxRead {
    /// Whose.
    pub session: SessionId,
    /// Before the request.
    pub asked_at: UnixMs,
    /// In the server's order.
    pub items: Vec<InboxItem>,
}

/// A session's list of things to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoRead {
    /// Whose.
    pub session: SessionId,
    /// Before the request.
    pub asked_at: UnixMs,
    /// In the server's order.
    pub items: Vec<TodoItem>,
}

/// Whether a directory may be asked (policy `inspect`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryReport {
    /// Which.
    pub directory: Directory,
    /// How it stands.
    pub state: DirectoryState,
}

/// How a directory stands with this server process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DirectoryState {
    /// Seen on the event stream, the server's cwd, or answered a read of ours.
    Loaded,
    /// Not asked: asking would start the project.
    Asleep,
    /// On a loopback server: the folder no longer exists; never asked.
    Gone,
}

/// What was asked for when a read failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Endpoint {
    /// A session list.
    Sessions,
    /// A list of the sessions of all projects, where there is one of a single directory.
    AllSessions,
    /// `/session/status`.
    Status,
    /// `/permission`.
    Permission,
    /// `/question`.
    Question,
    /// `/session/:id/message`.
    Messages,
    /// `/session/:id`.
    Session,
    /// `/global/event`.
    Events,
    /// `/path`: the server's cwd.
    Path,
}

impl Endpoint {
    /// The path in the API of a server, as shown in evidence. 1.x where that is not known.
    pub fn path_in(self, dialect: Option<Dialect>) -> &'static str {
        match dialect {
            Some(Dialect::V2) => self.path_v2(),
            _ => self.path(),
        }
    }
    fn path_v2(self) -> &'static str {
        match self {
            Endpoint::Sessions | Endpoint::AllSessions => "/api/session",
            Endpoint::Status => "/api/session/active",
            Endpoint::Permission => "/api/permission/request",
            Endpoint::Question => "/api/form",
            Endpoint::Messages => "/api/session/:id/message",
            Endpoint::Session => "/api/session/:id",
            Endpoint::Events => "/api/event",
            // 2.x has no such question; its servers are never asked it.
            Endpoint::Path => "/path",
        }
    }
    /// The path in 1.x.
    pub fn path(self) -> &'static str {
        match self {
            Endpoint::Sessions | Endpoint::AllSessions => "/experimental/session",
            Endpoint::Status => "/session/status",
            Endpoint::Permission => "/permission",
            Endpoint::Question => "/question",
            Endpoint::Messages => "/session/:id/message",
            Endpoint::Session => "/session/:id",
            Endpoint::Events => "/global/event",
            Endpoint::Path => "/path",
        }
    }
}

/// A read that gave nothing usable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFailed {
    /// What was asked.
    pub endpoint: Endpoint,
    /// Of which directory.
    pub directory: Option<Directory>,
    /// Of which session.
    pub session: Option<SessionId>,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Why, one line, no credentials.
    pub text: String,
}

/// An event of the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The envelope's directory: evidence that it is loaded.
    pub directory: Option<Directory>,
    /// What happened.
    pub kind: EventKind,
}

/// Events that matter here; the rest is noise, unknown or malformed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum EventKind {
    /// First frame of a stream.
    Connected,
    /// Every 10 s; a sign of life of the server, not of a session.
    Heartbeat,
    /// `session.created`, `session.updated`.
    SessionUpdated(Box<SessionInfo>),
    /// `session.deleted`.
    SessionDeleted(SessionId),
    /// `session.status`, `session.idle`.
    Status {
        /// Whose.
        session: SessionId,
        /// What.
        status: Status,
    },
    /// `session.error`: in no list and not repeated; only who listens sees it.
    SessionError {
        /// Whose; may be absent.
        session: Option<SessionId>,
        /// What.
        failure: Failure,
    },
    /// `message.updated`; carries no parts.
    MessageUpdated(Box<Message>),
    /// `message.removed`.
    MessageRemoved {
        /// Whose.
        session: SessionId,
        /// Which.
        message: MessageId,
    },
    /// `message.part.updated`: the whole part.
    PartUpdated(Box<Part>),
    /// `message.part.removed`.
    PartRemoved {
        /// Whose.
        session: SessionId,
        /// In which message.
        message: MessageId,
        /// Which.
        part: PartId,
    },
    /// `message.part.delta`: one per token.
    Delta {
        /// Whose.
        session: SessionId,
        /// In which message.
        message: MessageId,
        /// In which part.
        part: PartId,
        /// The new text, cut to an excerpt's length.
        text: String,
    },
    /// `permission.asked`, `question.asked`.
    Asked(Box<Ask>),
    /// `permission.replied`, `question.replied`, `question.rejected`.
    AskClosed {
        /// Whose.
        session: SessionId,
        /// Which.
        ask: AskId,
    },
    /// `todo.updated`: the whole list.
    Todo {
        /// Whose.
        session: SessionId,
        /// In the server's order.
        items: Vec<TodoItem>,
    },
    /// `server.instance.disposed`: that directory is unloaded, its runs aborted.
    InstanceDisposed(Directory),
    /// Known and of no interest.
    Noise,
    /// A type that we do not know.
    Unknown {
        /// Its name.
        kind: String,
    },
    /// A known type, or a frame, that does not decode.
    Malformed {
        /// Its name, where it could be read.
        kind: Option<String>,
        /// Why.
        why: String,
    },
}
