//! Events of the stream. An event that was received before a read was asked is already in that
//! read and is not applied again over it.

use super::{Stamp, Touched, one_and_perhaps_server, remove, todo};
use crate::core::id::{AskId, Directory, SessionId};
use crate::core::store::{SeenError, Server, Session};
use crate::core::time::Span;
use crate::core::wire::{Ask, DirectoryState, Event, EventKind, Failure, SessionInfo, Status};

/// Errors come in bursts: the first is the readable one, the second a stack trace.
const ERROR_BURST: Span = Span::secs(5);

pub(super) fn event(server: &mut Server, stamp: Stamp, event: Event) -> Touched {
    server.events += 1;
    server.heard_at = Some(stamp.at);
    let woke = event
        .directory
        .as_ref()
        .is_some_and(|directory| wake(server, directory, &event.kind));
    let touched = kind(server, stamp, event.kind);
    if woke { Touched::Server } else { touched }
}

/// An event that names a directory proves that it is loaded.
fn wake(server: &mut Server, directory: &Directory, kind: &EventKind) -> bool {
    if matches!(kind, EventKind::InstanceDisposed(_)) {
        return false;
    }
    let view = server.directory_mut(directory);
    let was = view.state;
    view.state = DirectoryState::Loaded;
    was != DirectoryState::Loaded
}

fn kind(server: &mut Server, stamp: Stamp, kind: EventKind) -> Touched {
    match kind {
        EventKind::Connected | EventKind::Heartbeat | EventKind::Noise => Touched::Nothing,
        EventKind::SessionUpdated(info) => row(server, stamp, *info),
        EventKind::SessionDeleted(session) => remove(server, stamp, &session),
        EventKind::Status { session, status } => said(server, stamp, session, status),
        EventKind::SessionError { session, failure } => error(server, stamp, session, failure),
        EventKind::MessageUpdated(message) => {
            on_tail(server, stamp, message.session.clone(), |s| {
                s.message_event(stamp, *message);
            })
        }
        EventKind::MessageRemoved { session, message } => {
            on_tail(server, stamp, session, |s| s.message_gone(stamp, &message))
        }
        EventKind::PartUpdated(part) => on_tail(server, stamp, part.session.clone(), |s| {
            s.part_event(stamp, *part);
        }),
        EventKind::PartRemoved {
            session,
            message,
            part,
        } => on_tail(server, stamp, session, |s| {
            s.part_gone(stamp, &message, &part);
        }),
        EventKind::Delta {
            session,
            part,
            text,
            ..
        } => match on_tail(server, stamp, session, |s| s.delta(stamp, &part, &text)) {
            Touched::One(session) => Touched::Progress(session),
            touched => touched,
        },
        EventKind::Asked(ask) => asked(server, stamp, *ask),
        EventKind::AskClosed { session, ask } => closed(server, stamp, session, &ask),
        EventKind::Todo { session, items } => todo(server, &session, stamp.at, items),
        EventKind::InstanceDisposed(directory) => disposed(server, stamp, &directory),
        EventKind::Unknown { .. } => {
            server.unknown_events += 1;
            Touched::Itself(Vec::new())
        }
        EventKind::Malformed { .. } => {
            server.malformed_events += 1;
            Touched::Itself(Vec::new())
        }
    }
}

fn row(server: &mut Server, stamp: Stamp, info: SessionInfo) -> Touched {
    let id = info.id.clone();
    if let Some(known) = server.sessions.get_mut(&id) {
        known.info = info;
        known.info_event_at = Some(stamp.at);
        return Touched::One(id);
    }
    let stranger = server.strangers.contains_key(&id);
    server.adopt(info, Some(stamp.at));
    one_and_perhaps_server(id, stranger)
}

fn said(server: &mut Server, stamp: Stamp, id: SessionId, status: Status) -> Touched {
    let asked = server.sessions.get(&id).and_then(|session| {
        let view = server.directories.get(&session.info.directory)?;
        view.status_read
            .filter(|(epoch, _)| *epoch == stamp.epoch)
            .map(|(_, asked)| asked)
    });
    let Some(session) = server.sessions.get_mut(&id) else {
        return said_of_stranger(server, stamp, &id, status);
    };
    if asked.is_some_and(|asked| stamp.at < asked) {
        return Touched::Nothing;
    }
    session.take_status(stamp, status, true, true);
    Touched::One(id)
}

/// A run that is in no list ends, or goes on.
fn said_of_stranger(server: &mut Server, stamp: Stamp, id: &SessionId, status: Status) -> Touched {
    let Some(stranger) = server.strangers.get_mut(id) else {
        return Touched::Nothing;
    };
    if status == Status::Idle {
        server.strangers.remove(id);
    } else {
        stranger.status = status;
        stranger.epoch = stamp.epoch;
    }
    Touched::Itself(Vec::new())
}

fn error(
    server: &mut Server,
    stamp: Stamp,
    session: Option<SessionId>,
    failure: Failure,
) -> Touched {
    let Some((id, row)) = session
        .and_then(|id| server.sessions.get_key_value(&id))
        .map(|(id, _)| id.clone())
        .and_then(|id| {
            let row = server.sessions.get_mut(&id)?;
            Some((id, row))
        })
    else {
        return Touched::Nothing;
    };
    let burst = row
        .watch
        .error
        .as_ref()
        .is_some_and(|seen| stamp.at.since(seen.at) < ERROR_BURST && !seen.failure.is_abort());
    if !burst {
        row.watch.error = Some(SeenError {
            at: stamp.at,
            failure,
        });
    }
    Touched::One(id)
}

fn on_tail(
    server: &mut Server,
    stamp: Stamp,
    id: SessionId,
    change: impl FnOnce(&mut Session),
) -> Touched {
    let Some(session) = server.sessions.get_mut(&id) else {
        return Touched::Nothing;
    };
    if session.tail.read_at.is_some_and(|asked| stamp.at < asked) {
        return Touched::Nothing;
    }
    session.enter(stamp.epoch);
    change(session);
    Touched::One(id)
}

fn asked(server: &mut Server, stamp: Stamp, ask: Ask) -> Touched {
    let id = ask.session.clone();
    let Some(session) = server.sessions.get_mut(&id) else {
        server.stray(stamp, None, ask, Some(stamp.at));
        return Touched::Nothing;
    };
    if session
        .closed_asks
        .iter()
        .any(|(closed, _)| *closed == ask.id)
    {
        return Touched::Nothing;
    }
    session.see_ask(stamp, ask, Some(stamp.at));
    Touched::One(id)
}

fn closed(server: &mut Server, stamp: Stamp, id: SessionId, ask: &AskId) -> Touched {
    server.stray_asks.retain(|(_, known)| known.ask.id != *ask);
    let Some(session) = server.sessions.get_mut(&id) else {
        return Touched::Nothing;
    };
    session.close_ask(stamp, ask);
    Touched::One(id)
}

fn disposed(server: &mut Server, stamp: Stamp, directory: &Directory) -> Touched {
    let view = server.directory_mut(directory);
    view.disposed_at = Some(stamp.at);
    view.state = DirectoryState::Asleep;
    view.status_read = None;
    for session in server.sessions.values_mut() {
        if session.info.directory == *directory {
            session.asks.clear();
        }
    }
    Touched::Server
}
