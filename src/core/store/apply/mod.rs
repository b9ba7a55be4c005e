//! The only way in: [`Store::apply`].
//!
//! What it does: sort an input by its kind and hand it to the function that takes it. Rules that
//! hold for all of them: inputs of older epochs are counted and dropped; a newer epoch begins by
//! forgetting nothing; what an event said after a read was asked wins over that read, and an event
//! that was received before a read was asked is already in it.

mod events;
mod link;
mod reads;

use crate::core::id::{Epoch, SessionId};
use crate::core::store::{Change, Server, Store, Stranger};
use crate::core::time::UnixMs;
use crate::core::wire::{Body, DirectoryReport, DirectoryState, Input, Status, TodoItem};

/// Where and when an input belongs: handed to every function below.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    /// The connection.
    pub(super) epoch: Epoch,
    /// When it was received; watcher's clock.
    pub(super) at: UnixMs,
}

/// What a function changed, before the server's id is joined to it.
pub(super) enum Touched {
    Nothing,
    One(SessionId),
    Progress(SessionId),
    /// What is said of the server itself, and these sessions.
    Itself(Vec<SessionId>),
    Many(Vec<SessionId>),
    Server,
}

impl Store {
    /// Takes one input. Idempotent but for counters; never an error, never back in time.
    pub fn apply(&mut self, input: Input) -> Change {
        let id = input.server;
        let Some(server) = self.servers.get_mut(usize::from(id.0)) else {
            return Change::Nothing;
        };
        if input.epoch < server.epoch {
            server.stale_inputs += 1;
            return Change::Stale(id);
        }
        if input.epoch > server.epoch {
            link::begin_epoch(server, input.epoch);
        }
        let stamp = Stamp {
            epoch: input.epoch,
            at: input.at,
        };
        match take(server, stamp, input.body) {
            Touched::Nothing => Change::Nothing,
            Touched::One(session) => Change::Sessions(id, vec![session]),
            Touched::Progress(session) => Change::Progress(id, session),
            Touched::Itself(sessions) => Change::Itself(id, sessions),
            Touched::Many(sessions) if sessions.is_empty() => Change::Nothing,
            Touched::Many(sessions) => Change::Sessions(id, sessions),
            Touched::Server => Change::Server(id),
        }
    }
}

fn take(server: &mut Server, stamp: Stamp, body: Body) -> Touched {
    match body {
        Body::Link(report) => link::report(server, stamp, report),
        Body::Sessions(list) => reads::sessions(server, stamp, list),
        Body::Session(read) => reads::session(server, *read),
        Body::SessionGone(session) => remove(server, stamp, &session),
        Body::Status(read) => reads::status(server, stamp, read),
        Body::Asks(read) => reads::asks(server, stamp, &read),
        Body::Mcp(read) => reads::mcp(server, read),
        Body::Tail(read) => reads::tail(server, stamp, read),
        Body::Directory(report) => directory(server, &report),
        Body::Failed(failed) => reads::failed(server, stamp, failed),
        Body::AbortSent(session) => abort_sent(server, stamp, session),
        Body::ClockJumped => link::clock_jumped(server, stamp),
        Body::Event(event) => events::event(server, stamp, event),
        Body::Inbox(read) => reads::inbox(server, stamp, read),
        Body::Todo(read) => todo(server, &read.session, read.asked_at, read.items),
    }
}

/// A session is gone. Its children stay and become orphans; what still runs in it is a zombie.
pub(super) fn remove(server: &mut Server, stamp: Stamp, id: &SessionId) -> Touched {
    if let Some(session) = server.sessions.remove(id) {
        let status = session.status;
        let running = matches!(status.status, Status::Busy | Status::Retry(_));
        if running && status.epoch == stamp.epoch {
            let stranger = Stranger {
                directory: session.info.directory,
                status: status.status,
                seen_at: stamp.at,
                epoch: stamp.epoch,
                gone: true,
            };
            server.strangers.insert(id.clone(), stranger);
        }
        return one_and_perhaps_server(id.clone(), running);
    }
    match server.strangers.get_mut(id) {
        Some(stranger) => {
            stranger.gone = true;
            Touched::Itself(Vec::new())
        }
        None => Touched::Nothing,
    }
}

/// One session; with the server, where what is said of the server itself changed too.
pub(super) fn one_and_perhaps_server(session: SessionId, server: bool) -> Touched {
    if server {
        Touched::Itself(vec![session])
    } else {
        Touched::One(session)
    }
}

/// A list of things to do, said at this time; nothing is judged by it.
pub(super) fn todo(
    server: &mut Server,
    id: &SessionId,
    at: UnixMs,
    items: Vec<TodoItem>,
) -> Touched {
    let session = server.sessions.get_mut(id);
    if session.is_some_and(|session| session.take_todo(at, items)) {
        Touched::Progress(id.clone())
    } else {
        Touched::Nothing
    }
}

fn abort_sent(server: &mut Server, stamp: Stamp, id: SessionId) -> Touched {
    let Some(session) = server.sessions.get_mut(&id) else {
        return Touched::Nothing;
    };
    session.watch.abort_sent_at = Some(stamp.at);
    Touched::One(id)
}

fn directory(server: &mut Server, report: &DirectoryReport) -> Touched {
    let view = server.directory_mut(&report.directory);
    if view.state == report.state {
        return Touched::Nothing;
    }
    view.state = report.state;
    if report.state != DirectoryState::Loaded {
        view.status_read = None;
        view.status_failed = None;
    }
    Touched::Server
}
