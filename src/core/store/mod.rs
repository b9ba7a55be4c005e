//! What we were told: the only mutable knowledge of the program.
//!
//! What it does: [`Store::apply`] is the only way in; it is idempotent, never goes back in time
//! (an event newer than a read's request wins over that read) and drops inputs of older epochs,
//! counting them. What it does not: judge. Nothing is erased when a link is lost; it only becomes
//! old, which [`Server::reported`] tells.

mod apply;
mod changes;
mod server;
mod session;
mod tail;

pub use server::{DirectoryView, Gap, LinkState, ReadOnly, Server, ServerSpec, Stranger};
pub use session::{
    Inbox, OutputClock, PendingAsk, Reported, SeenError, Session, StatusView, TodoList, Watch, Why,
};
pub use tail::Tail;

use crate::core::id::{ServerId, SessionId, SessionKey};

/// Everything known of all servers.
#[derive(Debug, Clone, Default)]
pub struct Store {
    servers: Vec<Server>,
}

/// What an input changed, so that only that is judged again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing that anyone could see.
    Nothing,
    /// These sessions of this server; some may be new, gone, or elsewhere in the tree.
    Sessions(ServerId, Vec<SessionId>),
    /// Only clocks of this session, and its live text: it made progress, as with each token.
    Progress(ServerId, SessionId),
    /// The server itself, and only these of its sessions, if any.
    Itself(ServerId, Vec<SessionId>),
    /// Possibly every session of this server, and the server itself.
    Server(ServerId),
    /// The input was of an older epoch and was dropped.
    Stale(ServerId),
}

impl Store {
    /// An empty store for these servers; [`ServerId`] is the place in the list.
    pub fn new(specs: Vec<ServerSpec>) -> Self {
        let servers = specs.into_iter().map(Server::new).collect();
        Self { servers }
    }
    /// One server.
    pub fn server(&self, id: ServerId) -> Option<&Server> {
        self.servers.get(usize::from(id.0))
    }
    /// All servers, in the order they were named.
    pub fn servers(&self) -> impl Iterator<Item = (ServerId, &Server)> {
        self.servers
            .iter()
            .enumerate()
            .map(|(n, server)| (ServerId(u16::try_from(n).unwrap_or(u16::MAX)), server))
    }
    /// One session.
    pub fn session(&self, key: &SessionKey) -> Option<&Session> {
        self.server(key.server)?.sessions.get(&key.session)
    }
    /// Every session of every server.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionKey, &Session)> {
        self.servers().flat_map(|(id, server)| {
            server
                .sessions
                .iter()
                .map(move |(session, row)| (SessionKey::new(id, session.clone()), row))
        })
    }
}
