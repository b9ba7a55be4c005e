//! What a link says of itself.

use super::{Stamp, Touched};
use crate::core::id::Epoch;
use crate::core::store::{LinkState, Server};
use crate::core::time::Span;
use crate::core::wire::{LinkReport, LostCause};

/// Clocks that differ by less are taken as equal: the `Date` header has whole seconds.
const SKEW_NOISE: Span = Span::secs(2);

/// A new connection: nothing is erased, everything becomes "of an older epoch".
pub(super) fn begin_epoch(server: &mut Server, epoch: Epoch) {
    server.epoch = epoch;
    server.live_since = None;
    server.gaps.clear();
    for view in server.directories.values_mut() {
        view.status_failed = None;
        view.ask_reads = 0;
    }
}

pub(super) fn report(server: &mut Server, stamp: Stamp, report: LinkReport) -> Touched {
    match report {
        LinkReport::Connecting { attempt } => connecting(server, stamp, attempt),
        LinkReport::Identified { .. } => identified(server, stamp, report),
        LinkReport::Live => live(server, stamp),
        LinkReport::Lost { .. } => lost(server, stamp, report),
        LinkReport::Resynced => server.heard_at = Some(stamp.at),
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
    server.skew = match skew {
        Some(skew) if skew.as_ms().abs() > SKEW_NOISE.as_ms() => skew,
        _ => Span::ZERO,
    };
    server.heard_at = Some(stamp.at);
    if !matches!(server.link, LinkState::Connecting { .. }) {
        server.link = LinkState::Connecting { attempt: 1 };
        server.link_since = Some(stamp.at);
    }
}

fn live(server: &mut Server, stamp: Stamp) {
    if server.link != LinkState::Live {
        server.link = LinkState::Live;
        server.link_since = Some(stamp.at);
    }
    server.live_since.get_or_insert(stamp.at);
    server.heard_at = Some(stamp.at);
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
    }
    if cause == LostCause::Refused {
        server.refused_at = Some(stamp.at);
    }
    server.live_since = None;
    server.link = LinkState::Lost {
        cause,
        text,
        retry_at,
    };
}
