//! What both waiting findings share: which asks hold a session up.
//!
//! An ask whose part has ended, or whose session is idle, is a ghost and holds nothing up.

use crate::core::judge::facts::Facts;
use crate::core::judge::held::{Held, held_by};
use crate::core::judge::say::{found, no};
use crate::core::judge::{Answer, Level};
use crate::core::store::PendingAsk;
use crate::core::time::UnixMs;
use crate::core::wire::{AskKind, Part};

pub(super) fn check(facts: &Facts, kind: AskKind) -> Answer {
    let mut asks = facts.asks().filter(|pending| pending.ask.kind == kind);
    let Some(first) = asks.next() else {
        return no("nothing of that kind is asked");
    };
    if !facts.reported.is_running() {
        return no("asked, but it is not reported running");
    }
    let mut held =
        std::iter::once(first)
            .chain(asks)
            .filter_map(|pending| match held_by(facts, pending) {
                Held::Live(part) => Some((pending, Some(part))),
                Held::Unseen => Some((pending, None)),
                Held::Ended { .. } => None,
            });
    match held.next() {
        Some(first) => waiting(facts, first, held.count()),
        None => no("asked, but the tool call that asked has ended"),
    }
}

/// Something is asked that holds this session up, whichever kind it is.
pub(super) fn is_held_up(facts: &Facts) -> bool {
    let mut asks = facts.asks();
    asks.any(|pending| !matches!(held_by(facts, pending), Held::Ended { .. }))
}

fn waiting(facts: &Facts, first: (&PendingAsk, Option<&Part>), more: usize) -> Answer {
    let (pending, part) = first;
    let since = since(facts, pending, part);
    let text = match pending.ask.kind {
        AskKind::Permission => pending.ask.text(),
        AskKind::Question => format!("\"{}\"", pending.ask.text()),
    };
    let text = match more {
        0 => text,
        more => format!("{text} (and {more} more)"),
    };
    let tool = pending.ask.tool.as_ref();
    found(Level::NeedsYou, Some(since), text)
        .with("ask", &pending.ask.id)
        .with_some("message", tool.map(|tool| &tool.message))
        .with_some("call", tool.map(|tool| &tool.call))
        .with_some("part", part.map(|part| &part.id))
        .with("age_ms", facts.now.since(since))
        .yes()
}

/// When it was asked: as heard, else when its tool was started (an ask follows at once).
fn since(facts: &Facts, pending: &PendingAsk, part: Option<&Part>) -> UnixMs {
    let start = part
        .and_then(|part| part.tool())
        .and_then(|tool| tool.start);
    match (pending.event_at, start) {
        (Some(heard), _) => facts.at(heard),
        (None, Some(start)) => start,
        (None, None) => facts.at(pending.seen_at),
    }
}
