//! Answers of reads: each replaces what was known in its scope, but for what an event said after
//! the read was asked.

use super::{Stamp, Touched};
use crate::core::id::{Directory, SessionId};
use crate::core::store::{Gap, Inbox, PendingAsk, Server, Session};
use crate::core::time::UnixMs;
use crate::core::wire::{
    Ask, AsksRead, DirectoryState, Endpoint, InboxRead, ReadFailed, SessionInfo, SessionList,
    SessionRead, Status, StatusRead, TailRead,
};
use std::collections::BTreeSet;

/// Something an event said at `event` is newer than a read asked at `asked`.
fn newer(event: Option<UnixMs>, asked: UnixMs) -> bool {
    event.is_some_and(|at| at >= asked)
}

pub(super) fn sessions(server: &mut Server, list: SessionList) -> Touched {
    let named: BTreeSet<SessionId> = list.rows.iter().map(|row| row.id.clone()).collect();
    for row in list.rows {
        take_row(server, row, list.asked_at);
    }
    if list.complete {
        server
            .sessions
            .retain(|id, known| named.contains(id) || newer(known.info_event_at, list.asked_at));
    }
    close_gap(server, Endpoint::Sessions, None);
    Touched::Server
}

/// One row heals no list that cannot be read.
pub(super) fn session(server: &mut Server, read: SessionRead) -> Touched {
    take_row(server, read.row, read.asked_at);
    close_gap(server, Endpoint::Session, None);
    Touched::Server
}

fn take_row(server: &mut Server, row: SessionInfo, asked_at: UnixMs) {
    match server.sessions.get_mut(&row.id) {
        Some(known) if newer(known.info_event_at, asked_at) => {}
        Some(known) => known.info = row,
        None => server.adopt(row, None),
    }
}

pub(super) fn status(server: &mut Server, stamp: Stamp, read: StatusRead) -> Touched {
    let view = server.directory_mut(&read.directory);
    let first = view.status_read.map(|(epoch, _)| epoch) != Some(stamp.epoch);
    let changed_state = view.state != DirectoryState::Loaded || view.status_failed.is_some();
    view.state = DirectoryState::Loaded;
    view.status_read = Some((stamp.epoch, read.asked_at));
    view.status_failed = None;
    close_gap(server, Endpoint::Status, Some(&read.directory));

    let mut touched = Vec::new();
    for (id, session) in &mut server.sessions {
        let told = read.entries.get(id);
        if told.is_none() && session.info.directory != read.directory {
            continue;
        }
        if newer(session.status.event_at, read.asked_at) {
            continue;
        }
        let status = told.cloned().unwrap_or(Status::Idle);
        if session.take_status(stamp, status, told.is_some(), false) {
            touched.push(id.clone());
        }
    }
    server
        .strangers
        .retain(|_, (home, _)| *home != read.directory);
    for (id, status) in read.entries {
        if !server.sessions.contains_key(&id) {
            server
                .strangers
                .insert(id, (read.directory.clone(), status));
        }
    }
    if first || changed_state {
        return Touched::Server;
    }
    Touched::Many(touched)
}

pub(super) fn asks(server: &mut Server, stamp: Stamp, read: &AsksRead) -> Touched {
    let endpoint = match read.kind {
        crate::core::wire::AskKind::Permission => Endpoint::Permission,
        crate::core::wire::AskKind::Question => Endpoint::Question,
    };
    let view = server.directory_mut(&read.directory);
    view.ask_reads = view.ask_reads.saturating_add(1);
    let first = view.ask_reads <= 2;
    let healed = close_gap(server, endpoint, Some(&read.directory));
    keep_strays(server, stamp, read);
    let mut touched = Vec::new();
    for (id, session) in &mut server.sessions {
        let here = session.info.directory == read.directory;
        let listed: Vec<&Ask> = read.asks.iter().filter(|ask| ask.session == *id).collect();
        if (here || !listed.is_empty()) && merge_asks(session, stamp, read, &listed) {
            touched.push(id.clone());
        }
    }
    // That the lists are known now matters to every session of the directory.
    if first || healed {
        return Touched::Server;
    }
    Touched::Many(touched)
}

/// Asks of sessions that are in no list yet wait for their row.
fn keep_strays(server: &mut Server, stamp: Stamp, read: &AsksRead) {
    server.stray_asks.retain(|(home, pending)| {
        home.as_ref() != Some(&read.directory)
            || pending.ask.kind != read.kind
            || newer(pending.event_at, read.asked_at)
    });
    for ask in &read.asks {
        if !server.sessions.contains_key(&ask.session) {
            server.stray(stamp, Some(read.directory.clone()), ask.clone(), None);
        }
    }
}

/// Replaces the asks of one kind of one session. Says whether anything changed.
fn merge_asks(session: &mut Session, stamp: Stamp, read: &AsksRead, listed: &[&Ask]) -> bool {
    let before = session.asks.clone();
    session.closed_asks.retain(|(_, at)| *at >= read.asked_at);
    session.asks.retain(|pending| {
        pending.ask.kind != read.kind
            || newer(pending.event_at, read.asked_at)
            || listed.iter().any(|ask| ask.id == pending.ask.id)
    });
    for ask in listed {
        if session.closed_asks.iter().any(|(id, _)| *id == ask.id) {
            continue;
        }
        session.see_ask(stamp, (*ask).clone(), None);
    }
    let gone: Vec<&PendingAsk> = before
        .iter()
        .filter(|old| !session.asks.iter().any(|new| new.ask.id == old.ask.id))
        .collect();
    for pending in gone {
        if let Some(tool) = &pending.ask.tool {
            session.watch.released.insert(tool.call.clone(), stamp.at);
        }
    }
    session.asks != before
}

pub(super) fn tail(server: &mut Server, stamp: Stamp, read: TailRead) -> Touched {
    let Some(session) = server.sessions.get_mut(&read.session) else {
        return Touched::Nothing;
    };
    session.take_tail(stamp, read.asked_at, read.messages, read.whole);
    Touched::One(read.session)
}

pub(super) fn failed(server: &mut Server, stamp: Stamp, failed: ReadFailed) -> Touched {
    if let (Endpoint::Messages, Some(id)) = (failed.endpoint, &failed.session) {
        if let Some(session) = server.sessions.get_mut(id) {
            session.tail.failed = Some(failed.text);
        }
        return Touched::One(id.clone());
    }
    if let (Endpoint::Status, Some(directory)) = (failed.endpoint, &failed.directory) {
        let view = server.directory_mut(directory);
        // Since the last good read: an event after that is newer than what was last read.
        let since = view.status_failed.as_ref().map_or(stamp.at, |(_, at)| *at);
        view.status_failed = Some((failed.text.clone(), since));
        if view.state == DirectoryState::Asleep {
            view.state = DirectoryState::Loaded;
        }
    }
    let known = server
        .gaps
        .iter_mut()
        .find(|gap| gap.endpoint == failed.endpoint && gap.directory == failed.directory);
    match known {
        Some(gap) => {
            gap.status = failed.status;
            gap.text = failed.text;
        }
        None => server.gaps.push(Gap {
            endpoint: failed.endpoint,
            directory: failed.directory,
            status: failed.status,
            text: failed.text,
            since: stamp.at,
        }),
    }
    Touched::Server
}

pub(super) fn inbox(server: &mut Server, stamp: Stamp, read: InboxRead) -> Touched {
    let Some(session) = server.sessions.get_mut(&read.session) else {
        return Touched::Nothing;
    };
    let newer = |known: &Inbox| known.epoch == stamp.epoch && known.read_at > read.asked_at;
    if session.inbox.as_ref().is_some_and(newer) {
        return Touched::Nothing;
    }
    session.inbox = Some(Inbox {
        read_at: read.asked_at,
        epoch: stamp.epoch,
        items: read.items,
    });
    Touched::One(read.session)
}

/// Says whether there was one.
fn close_gap(server: &mut Server, endpoint: Endpoint, directory: Option<&Directory>) -> bool {
    let before = server.gaps.len();
    server
        .gaps
        .retain(|gap| gap.endpoint != endpoint || gap.directory.as_ref() != directory);
    server.gaps.len() != before
}
