//! One session as we know it: its row, its reported status, its asks, and what our own watching
//! has seen ([`Watch`]). Times in [`Watch`], [`StatusView`] and [`PendingAsk`] are the watcher's.

use crate::core::id::{CallId, Epoch, PartId};
use crate::core::store::Tail;
use crate::core::time::UnixMs;
use crate::core::wire::{Ask, Failure, InboxItem, InboxKind, Retry, SessionInfo, Status, TodoItem};
use std::collections::BTreeMap;

/// What the server says of a session (patterns: "reported").
#[derive(Debug, Clone, PartialEq)]
pub enum Reported {
    /// Absent from a successful read of its directory.
    Idle,
    /// Named busy.
    Busy,
    /// Named retrying.
    Retry(Retry),
    /// Not known, with the reason. Never shown as idle.
    Unknown(Why),
    /// A type that we do not know.
    Other(String),
}

/// Why a reported status is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Its directory is asleep: asking would start the project.
    NotAsked,
    /// Its directory's folder no longer exists.
    DirectoryGone,
    /// This connection has not read it yet.
    NotReadYet,
    /// The read failed, with these words.
    ReadFailed(String),
    /// The server is away, with these words.
    ServerLost(String),
}

impl Why {
    /// `reason` of interface schema `ocwatch.status/1`.
    pub fn reason(&self) -> &'static str {
        match self {
            Why::NotAsked | Why::NotReadYet => "not-asked",
            Why::DirectoryGone => "directory-gone",
            Why::ReadFailed(_) | Why::ServerLost(_) => "read-failed",
        }
    }
}

impl Reported {
    /// Anything but unknown.
    pub fn is_known(&self) -> bool {
        !matches!(self, Reported::Unknown(_))
    }
    /// Busy or retrying: a turn is in the server's hands.
    pub fn is_running(&self) -> bool {
        matches!(self, Reported::Busy | Reported::Retry(_))
    }
    /// One word: `idle busy retry unknown`, or the unknown type's own name.
    pub fn word(&self) -> &str {
        match self {
            Reported::Idle => "idle",
            Reported::Busy => "busy",
            Reported::Retry(_) => "retry",
            Reported::Unknown(_) => "unknown",
            Reported::Other(name) => name,
        }
    }
}

/// The reported status with its history, as far as we saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusView {
    /// What was last said.
    pub status: Status,
    /// In which epoch.
    pub epoch: Epoch,
    /// When it was last said of this session by name (an event, or an entry of a read); `None` if
    /// it was only ever absent.
    pub told_at: Option<UnixMs>,
    /// When an event last said it: wins over reads asked before.
    pub event_at: Option<UnixMs>,
    /// Since when this type holds, as far as we saw. After a reconnect: the first read.
    pub since: UnixMs,
    /// We saw the change to it; else it was so when we first looked.
    pub seen_change: bool,
}

impl StatusView {
    pub(super) fn reported(&self) -> Reported {
        match &self.status {
            Status::Idle => Reported::Idle,
            Status::Busy => Reported::Busy,
            Status::Retry(retry) => Reported::Retry(retry.clone()),
            Status::Other(name) => Reported::Other(name.clone()),
        }
    }
}

/// A pending ask and when we first saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingAsk {
    /// The ask.
    pub ask: Ask,
    /// First seen; watcher's clock.
    pub seen_at: UnixMs,
    /// When an event opened it: wins over reads asked before.
    pub event_at: Option<UnixMs>,
    /// Seen in which epoch last.
    pub epoch: Epoch,
}

/// A `session.error` that we heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenError {
    /// When; watcher's clock.
    pub at: UnixMs,
    /// What. The first of a burst is kept: it is the readable one.
    pub failure: Failure,
}

/// When a live part last changed, as far as we saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputClock {
    /// First seen live; watcher's clock.
    pub first_seen: UnixMs,
    /// Last change of its state or content that we saw; `None`: no change seen since the first look.
    pub changed_at: Option<UnixMs>,
    /// First seen with an output (bash: it has begun); watcher's clock. Only where we saw it without before.
    pub output_began: Option<UnixMs>,
}

/// What our own watching adds (findings marked W rest on it). Watcher's clock.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Watch {
    /// Newest sign of progress: a delta, a part or message event, content that differs from the last read.
    pub progress_at: Option<UnixMs>,
    /// Last time this server itself said that it runs here (busy, retry), in any epoch.
    pub ran_here_at: Option<UnixMs>,
    /// When a read last showed its messages changed although no event of it had come: another
    /// process on the same data works on it.
    pub unheard_at: Option<UnixMs>,
    /// When this program sent an abort that no idle report has followed yet.
    pub abort_sent_at: Option<UnixMs>,
    /// The first error of the last burst heard.
    pub error: Option<SeenError>,
    /// Clocks of the parts of the last message that are live.
    pub parts: BTreeMap<PartId, OutputClock>,
    /// When the ask of a call was answered: its limit counts from here.
    pub released: BTreeMap<CallId, UnixMs>,
    /// The epoch in which the fields above were last fed. Older than the server's: "unknown since".
    pub epoch: Epoch,
}

/// What waits to go into a session, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbox {
    /// When the last successful read was asked; watcher's clock.
    pub read_at: UnixMs,
    /// In which epoch.
    pub epoch: Epoch,
    /// In the server's order.
    pub items: Vec<InboxItem>,
}

/// Its list of things to do, as it was last told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoList {
    /// When an event brought it or the read was asked; watcher's clock.
    pub at: UnixMs,
    /// In the server's order.
    pub items: Vec<TodoItem>,
}

/// One session.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its row.
    pub info: SessionInfo,
    /// When an event last brought the row: wins over lists asked before.
    pub info_event_at: Option<UnixMs>,
    /// What the server reports of it; read it through [`crate::core::store::Server::reported`].
    pub status: StatusView,
    /// Its newest messages.
    pub tail: Tail,
    /// What it waits for; own asks only.
    pub asks: Vec<PendingAsk>,
    /// Asks that were closed by an event, so that an older read does not bring them back.
    pub closed_asks: Vec<(crate::core::id::AskId, UnixMs)>,
    /// What our watching saw.
    pub watch: Watch,
    /// What waits to go in (2.x); `None`: never read, as with every 1.x.
    pub inbox: Option<Inbox>,
    /// Its list of things to do; `None`: never told.
    pub todo: Option<TodoList>,
}

impl Session {
    /// Prompts that wait to go in (2.x), in the server's order. Notes are none: they want no answer.
    pub fn waiting_prompts(&self) -> impl Iterator<Item = &InboxItem> {
        let items = self.inbox.iter().flat_map(|inbox| &inbox.items);
        items.filter(|item| item.kind == InboxKind::Prompt)
    }
}
