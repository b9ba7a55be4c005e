//! Answers of reads: each replaces what was known in its scope, but for what an event said after
//! the read was asked.

use super::{Stamp, Touched, one_and_perhaps_server};
use crate::core::id::{Directory, SessionId};
use crate::core::store::{Gap, Inbox, PendingAsk, Server, Session, Stranger};
use crate::core::time::UnixMs;
use crate::core::wire::{
    Ask, AskKind, AsksRead, DirectoryState, Endpoint, InboxRead, McpRead, Part, ReadFailed,
    SessionInfo, SessionList, SessionRead, Status, StatusRead, TailRead,
};
use std::collections::{BTreeMap, BTreeSet};

/// Something an event said at `event` is newer than a read asked at `asked`.
fn newer(event: Option<UnixMs>, asked: UnixMs) -> bool {
    event.is_some_and(|at| at >= asked)
}

pub(super) fn sessions(server: &mut Server, stamp: Stamp, list: SessionList) -> Touched {
    let named: BTreeSet<SessionId> = list.rows.iter().map(|row| row.id.clone()).collect();
    for row in list.rows {
        take_row(server, row, list.asked_at);
    }
    if list.complete {
        server.listed_all = Some(stamp.epoch);
        server
            .sessions
            .retain(|id, known| named.contains(id) || newer(known.info_event_at, list.asked_at));
        close_gap(server, Endpoint::AllSessions, None);
    }
    close_gap(server, Endpoint::Sessions, None);
    Touched::Server
}

/// One row heals no list that cannot be read.
pub(super) fn session(server: &mut Server, read: SessionRead) -> Touched {
    let id = read.row.id.clone();
    let stranger = server.strangers.contains_key(&id);
    take_row(server, read.row, read.asked_at);
    let healed = close_gap(server, Endpoint::Session, None);
    one_and_perhaps_server(id, stranger || healed)
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
    let strangers = read.entries.into_iter();
    let strangers = strangers
        .filter(|(id, status)| *status != Status::Idle && !server.sessions.contains_key(id));
    let strangers: Vec<_> = strangers.collect();
    let moved = keep_strangers(server, stamp, &read.directory, strangers);
    if first || changed_state || moved {
        return Touched::Server;
    }
    Touched::Many(touched)
}

/// Replaces who runs in a directory and is in no list. Says whether anything is said anew.
fn keep_strangers(
    server: &mut Server,
    stamp: Stamp,
    home: &Directory,
    named: Vec<(SessionId, Status)>,
) -> bool {
    let here = |stranger: &Stranger| stranger.directory == *home;
    let before = server.strangers.values().filter(|it| here(it)).count();
    let named: BTreeMap<SessionId, Status> = named.into_iter().collect();
    let mut moved = before != named.len();
    server
        .strangers
        .retain(|id, stranger| !here(stranger) || named.contains_key(id));
    for (id, status) in named {
        if let Some(known) = server.strangers.get_mut(&id) {
            moved |= known.status != status || known.epoch != stamp.epoch;
            known.status = status;
            known.epoch = stamp.epoch;
            continue;
        }
        let stranger = Stranger {
            directory: home.clone(),
            status,
            seen_at: stamp.at,
            epoch: stamp.epoch,
            gone: false,
        };
        server.strangers.insert(id, stranger);
        moved = true;
    }
    moved
}

pub(super) fn asks(server: &mut Server, stamp: Stamp, read: &AsksRead) -> Touched {
    let endpoint = match read.kind {
        AskKind::Permission => Endpoint::Permission,
        AskKind::Question => Endpoint::Question,
    };
    let view = server.directory_mut(&read.directory);
    let reads = match read.kind {
        AskKind::Permission => &mut view.permission_reads,
        AskKind::Question => &mut view.question_reads,
    };
    // That a second read says the same matters to asks that were lost.
    let first = reads[1].is_none();
    *reads = [Some(read.asked_at), reads[0]];
    let healed = close_gap(server, endpoint, Some(&read.directory));
    keep_strays(server, stamp, read);
    let mut touched = Vec::new();
    for (id, session) in &mut server.sessions {
        let here = session.info.directory == read.directory;
        let listed: Vec<&Ask> = read.asks.iter().filter(|ask| ask.session == *id).collect();
        let concerns = here || !listed.is_empty();
        let changed = concerns && merge_asks(session, stamp, read, &listed);
        if changed || (here && has_open_question(session, read.kind)) {
            touched.push(id.clone());
        }
    }
    // That the lists are known now matters to every session of the directory.
    if first || healed {
        return Touched::Server;
    }
    Touched::Many(touched)
}

/// It has a question whose ask this list should name: that it does not is telling as well.
fn has_open_question(session: &Session, kind: AskKind) -> bool {
    let tools = session.tail.live_parts().filter_map(Part::tool);
    kind == AskKind::Question && { tools }.any(|tool| tool.tool == "question")
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

/// Which tools are of MCP servers matters to every session of the directory.
pub(super) fn mcp(server: &mut Server, read: McpRead) -> Touched {
    let view = server.directory_mut(&read.directory);
    if view.mcp.as_ref() == Some(&read.servers) {
        return Touched::Nothing;
    }
    view.mcp = Some(read.servers);
    Touched::Server
}

pub(super) fn tail(server: &mut Server, stamp: Stamp, read: TailRead) -> Touched {
    let Some(session) = server.sessions.get_mut(&read.session) else {
        return Touched::Nothing;
    };
    let id = read.session.clone();
    session.take_tail(stamp, read);
    Touched::One(id)
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
