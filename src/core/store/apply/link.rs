//! What a link says of itself.

use super::{Stamp, Touched};
use crate::core::id::Epoch;
use crate::core::store::{LinkState, Server};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Endpoint, LinkReport, LostCause};

/// Clocks that differ by less are taken as equal: the `Date` header has whole seconds.
const SKEW_NOISE: Span = Span::secs(2);

/// A server's clock that moved by more against ours has jumped.
const JUMP: Span = Span::secs(30);

/// A new connection: nothing is erased, everything becomes "of an older epoch".
pub(super) fn begin_epoch(server: &mut Server, epoch: Epoch) {
    server.epoch = epoch;
    if let Some(at) = server.heard_at {
        followed(server, at);
    }
    server.live_since = None;
    server.gaps.clear();
    for view in server.directories.values_mut() {
        let asked = view.status_read.map(|(_, asked)| asked);
        view.status_read_before = view.status_read_before.max(asked);
        view.status_failed = None;
        view.permission_reads = [None; 2];
        view.question_reads = [None; 2];
    }
}

pub(super) fn report(server: &mut Server, stamp: Stamp, report: LinkReport) -> Touched {
    match report {
        LinkReport::Connecting { attempt } => connecting(server, stamp, attempt),
        LinkReport::Identified { .. } => identified(server, stamp, report),
        LinkReport::Live => live(server, stamp),
        LinkReport::Lost { .. } => lost(server, stamp, report),
        LinkReport::Resynced => server.heard_at = Some(stamp.at),
        LinkReport::Asked(requests) => {
            server.requests = requests;
            return Touched::Nothing;
        }
    }
    Touched::Server
}

/// A further attempt does not make a lost server look any better until it has answered.
fn connecting(server: &mut Server, stamp: Stamp, attempt: u32) {
    if let LinkState::Lost { retry_at, .. } = &mut server.link {
        *retry_at = stamp.at;
        return;
    }
    server.link = LinkState::Connecting { attempt };
    server.link_since.get_or_insert(stamp.at);
}

fn identified(server: &mut Server, stamp: Stamp, report: LinkReport) {
    let LinkReport::Identified {
        dialect,
        version,
        skew,
        unsecured,
    } = report
    else {
        return;
    };
    server.dialect = Some(dialect);
    server.version = version;
    server.unsecured = unsecured;
    let old = server.skew;
    server.skew = match skew {
        Some(skew) if skew.as_ms().abs() > SKEW_NOISE.as_ms() => skew,
        _ => Span::ZERO,
    };
    if server.lived && (server.skew - old).as_ms().abs() > JUMP.as_ms() {
        server.jumped_at = Some(stamp.at);
    }
    server.heard_at = Some(stamp.at);
    // A live one was only asked again.
    if matches!(server.link, LinkState::Lost { .. }) {
        server.link = LinkState::Connecting { attempt: 1 };
        server.link_since = Some(stamp.at);
    }
}

fn live(server: &mut Server, stamp: Stamp) {
    if server.link != LinkState::Live {
        server.link = LinkState::Live;
        server.link_since = Some(stamp.at);
        server.connects += 1;
    }
    // One that only hung is the same process.
    if server.lived && server.closed {
        server.restarted_at = Some(stamp.at);
    }
    server.closed = false;
    server.lived = true;
    server.live_since.get_or_insert(stamp.at);
    server.heard_at = Some(stamp.at);
}

/// What our own watching measured starts again: spans over this moment are not known.
pub(super) fn clock_jumped(server: &mut Server, stamp: Stamp) -> Touched {
    server.jumped_at = Some(stamp.at);
    server.followed_before = None;
    let times = [
        &mut server.refused_at,
        &mut server.live_since,
        &mut server.restarted_at,
    ];
    let disposals = server.directories.values_mut();
    let disposals = disposals.map(|view| &mut view.disposed_at);
    for time in times.into_iter().chain(disposals) {
        *time = time.map(|time| time.min(stamp.at));
    }
    for stranger in server.strangers.values_mut() {
        stranger.seen_at = stranger.seen_at.min(stamp.at);
    }
    for view in server.directories.values_mut() {
        view.clock_jumped(stamp.at);
    }
    for session in server.sessions.values_mut() {
        session.clock_jumped(stamp.at);
    }
    Touched::Server
}

/// What is followed ends at this time. Where no stream is there, nothing was heard.
fn followed(server: &mut Server, until: UnixMs) {
    let deaf = server.gaps.iter().any(|it| it.endpoint == Endpoint::Events);
    if let Some(since) = server.live_since.filter(|_| !deaf) {
        server.followed_before = Some((since, until));
    }
}

fn lost(server: &mut Server, stamp: Stamp, report: LinkReport) {
    let LinkReport::Lost {
        cause,
        text,
        retry_at,
    } = report
    else {
        return;
    };
    if !matches!(server.link, LinkState::Lost { .. }) {
        server.link_since = Some(stamp.at);
        server.losses += 1;
    }
    if cause == LostCause::Refused {
        server.refused_at = Some(stamp.at);
        server.closed = true;
    }
    followed(server, stamp.at);
    server.live_since = None;
    server.link = LinkState::Lost {
        cause,
        text,
        retry_at,
    };
}
