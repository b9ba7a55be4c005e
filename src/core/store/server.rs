//! One server as we know it: its link, its directories, its sessions, its gaps.
//!
//! Holds what was told; derives only the question that everything else asks: what does the server
//! report of a session, as far as this connection knows ([`Server::reported`]).

use crate::core::id::{Directory, Epoch, SessionId};
use crate::core::store::{PendingAsk, Reported, Session, Why};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{AskKind, Dialect, DirectoryState, Endpoint, LostCause, Status};
use std::collections::{BTreeMap, HashMap};

/// What is known of a server before anything was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerSpec {
    /// Shown everywhere: from the configuration, else `host:port`.
    pub name: String,
    /// Base URL without credentials.
    pub url: String,
    /// Nothing may be changed on it, because of this.
    pub read_only: Option<ReadOnly>,
}

/// Where it is said that a server is only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    /// `--read-only`.
    Option,
    /// `read_only = true`.
    Configuration,
    /// It is not there: what it said is replayed.
    Replay,
}

impl ReadOnly {
    /// Where to look for it.
    pub fn place(self) -> &'static str {
        match self {
            ReadOnly::Option => "--read-only",
            ReadOnly::Configuration => "read_only in the configuration",
            ReadOnly::Replay => "this is a replay",
        }
    }
}

/// How the link stands.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkState {
    /// Nothing tried yet, or a connection is being made, or its snapshot read.
    Connecting {
        /// Attempts since it was last live, from 1; 0 before the first.
        attempt: u32,
    },
    /// Stream open, snapshot applied.
    Live,
    /// Gone; with the reason and the next try (watcher's clock).
    Lost {
        /// Why.
        cause: LostCause,
        /// One line.
        text: String,
        /// Next attempt.
        retry_at: UnixMs,
    },
}

/// A read that keeps failing: the server is `degraded` there, and goes on with the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What fails.
    pub endpoint: Endpoint,
    /// In which directory, where it is per directory.
    pub directory: Option<Directory>,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Why.
    pub text: String,
    /// Since when; watcher's clock.
    pub since: UnixMs,
}

/// One directory of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectoryView {
    /// May it be asked, was it.
    pub state: DirectoryState,
    /// The last successful status read: its epoch and when it was asked.
    pub status_read: Option<(Epoch, UnixMs)>,
    /// When an older connection last asked for the status with success; watcher's clock. What it
    /// did not name did not run in the process of then.
    pub status_read_before: Option<UnixMs>,
    /// The last status read failed, with these words, at this time (watcher's clock).
    pub status_failed: Option<(String, UnixMs)>,
    /// When `/permission` was last asked with success in this epoch; newest first; watcher's clock.
    pub permission_reads: [Option<UnixMs>; 2],
    /// Likewise of `/question` (a lost ask needs two).
    pub question_reads: [Option<UnixMs>; 2],
    /// The names of its MCP servers, as configured; `None`: not told.
    pub mcp: Option<Vec<String>>,
    /// When its instance was last disposed (`server.instance.disposed`); watcher's clock.
    pub disposed_at: Option<UnixMs>,
}

impl DirectoryView {
    /// When the list of this kind was asked with success in this epoch: the last two times, newest first.
    pub fn ask_reads(&self, kind: AskKind) -> [Option<UnixMs>; 2] {
        match kind {
            AskKind::Permission => self.permission_reads,
            AskKind::Question => self.question_reads,
        }
    }

    /// The list of this kind was read in this epoch.
    pub fn has_read(&self, kind: AskKind) -> bool {
        self.ask_reads(kind)[0].is_some()
    }
}

/// Reported running, but in no list.
#[derive(Debug, Clone, PartialEq)]
pub struct Stranger {
    /// Which directory's run state names it.
    pub directory: Directory,
    /// What is reported.
    pub status: Status,
    /// First named so; watcher's clock.
    pub seen_at: UnixMs,
    /// Last named so in which epoch: an older one says nothing of now.
    pub epoch: Epoch,
    /// It was deleted, or a read of it answered 404: a zombie, not a session too new for the list.
    pub gone: bool,
}

/// One server.
#[derive(Debug, Clone)]
pub struct Server {
    /// Name and address.
    pub spec: ServerSpec,
    /// The connection that counts.
    pub epoch: Epoch,
    /// How the link stands.
    pub link: LinkState,
    /// Since when it stands so; watcher's clock. `None` before anything happened.
    pub link_since: Option<UnixMs>,
    /// Its API, once known.
    pub dialect: Option<Dialect>,
    /// Its version, once told.
    pub version: Option<String>,
    /// Its clock minus ours. Differences under 2 s are taken as 0: the `Date` header has whole seconds.
    pub skew: Span,
    /// Non-loopback and without a password.
    pub unsecured: bool,
    /// The watcher's clock, or the skew, last jumped: spans over this moment cannot be trusted.
    pub jumped_at: Option<UnixMs>,
    /// It was live at some time.
    pub lived: bool,
    /// A new process answers since then where an older one had been live; watcher's clock.
    pub restarted_at: Option<UnixMs>,
    /// When its port was last found closed (so what answers after it is a new process); watcher's clock.
    pub refused_at: Option<UnixMs>,
    /// Its port was found closed since it was last live.
    pub closed: bool,
    /// When the stream of this epoch began to be followed without a gap; watcher's clock.
    pub live_since: Option<UnixMs>,
    /// From when to when the stream of the last older connection was followed without a gap: what
    /// began to run in the process of then was heard. Watcher's clock.
    pub followed_before: Option<(UnixMs, UnixMs)>,
    /// Last frame of any kind; watcher's clock.
    pub heard_at: Option<UnixMs>,
    /// Directories of its sessions.
    pub directories: BTreeMap<Directory, DirectoryView>,
    /// In which epoch a complete list of all projects was last read: who is not known then does not exist.
    pub listed_all: Option<Epoch>,
    /// Sessions by id.
    pub sessions: HashMap<SessionId, Session>,
    /// Reported running, but in no list (yet).
    pub strangers: BTreeMap<SessionId, Stranger>,
    /// Asks of sessions that are in no list (yet), with the directory that told them.
    pub stray_asks: Vec<(Option<Directory>, PendingAsk)>,
    /// What cannot be read.
    pub gaps: Vec<Gap>,
    /// Requests that it was sent since this program began, as far as told.
    pub requests: u64,
    /// Events that were taken in, of any kind; deltas that were folded on the way count once.
    pub events: u64,
    /// How often it became live.
    pub connects: u64,
    /// How often it was lost after it had been live or was being connected to; further attempts that
    /// fail do not count.
    pub losses: u64,
    /// Events of a kind that we do not know.
    pub unknown_events: u64,
    /// Events that did not decode.
    pub malformed_events: u64,
    /// Inputs of older epochs that were dropped.
    pub stale_inputs: u64,
}

impl Server {
    pub(super) fn new(spec: ServerSpec) -> Self {
        Self {
            spec,
            epoch: Epoch::default(),
            link: LinkState::Connecting { attempt: 0 },
            link_since: None,
            dialect: None,
            version: None,
            skew: Span::ZERO,
            unsecured: false,
            requests: 0,
            jumped_at: None,
            lived: false,
            restarted_at: None,
            refused_at: None,
            closed: false,
            live_since: None,
            followed_before: None,
            heard_at: None,
            directories: BTreeMap::new(),
            listed_all: None,
            sessions: HashMap::new(),
            strangers: BTreeMap::new(),
            stray_asks: Vec::new(),
            gaps: Vec::new(),
            events: 0,
            connects: 0,
            losses: 0,
            unknown_events: 0,
            malformed_events: 0,
            stale_inputs: 0,
        }
    }

    /// The server's clock, given ours.
    pub fn server_time(&self, watcher: UnixMs) -> UnixMs {
        watcher + self.skew
    }

    /// The link is not lost: what this epoch read is what is so now.
    pub fn is_reachable(&self) -> bool {
        !matches!(self.link, LinkState::Lost { .. })
    }

    /// What the server reports of a session: idle only after a **successful read of the right
    /// directory in this epoch** that did not name it. Never idle by default.
    pub fn reported(&self, session: &Session) -> Reported {
        if let LinkState::Lost { text, .. } = &self.link {
            return Reported::Unknown(Why::ServerLost(text.clone()));
        }
        let told_now = session.status.epoch == self.epoch && session.status.told_at.is_some();
        let view = self.directories.get(&session.info.directory);
        let failed = view.and_then(|view| view.status_failed.as_ref());
        if let Some((text, _)) = failed.filter(|(_, at)| session.status.event_at < Some(*at)) {
            return Reported::Unknown(Why::ReadFailed(text.clone()));
        }
        if told_now {
            return session.status.reported();
        }
        match view.map(|view| (view.state, view.status_read)) {
            Some((DirectoryState::Gone, _)) => Reported::Unknown(Why::DirectoryGone),
            Some((DirectoryState::Asleep, _)) => Reported::Unknown(Why::NotAsked),
            Some((_, Some((epoch, _)))) if epoch == self.epoch => Reported::Idle,
            _ => Reported::Unknown(Why::NotReadYet),
        }
    }

    /// Asks of a session that were seen in this connection: a restart forgets the older ones.
    pub fn pending<'a>(&self, session: &'a Session) -> impl Iterator<Item = &'a PendingAsk> {
        let epoch = self.epoch;
        session.asks.iter().filter(move |ask| ask.epoch == epoch)
    }

    /// A session that is in no complete list of this epoch, nor came since: it does not exist (any more).
    pub fn is_gone(&self, session: &SessionId) -> bool {
        self.listed_all == Some(self.epoch) && !self.sessions.contains_key(session)
    }

    /// Sessions that name this one as their parent.
    pub fn children<'a>(&'a self, parent: &'a SessionId) -> impl Iterator<Item = &'a Session> {
        self.sessions
            .values()
            .filter(move |row| row.info.parent.as_ref() == Some(parent))
    }
}
