//! `ghost-ask`: an ask is still listed, and nothing waits for its answer: an abort leaves it behind.
//!
//! So it is when its tool call has ended, or when its session is reported idle. Answering changes
//! nothing; rejecting takes it off the list. What looks the same: an ask that has only just come
//! (its run may not be reported yet), one whose part is live in a session that is busy again, and
//! one that was listed before a restart: nobody has said that it still is.

use super::Rule;
use crate::core::judge::held::{Held, held_by};
use crate::core::judge::say::{found, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::store::PendingAsk;
use crate::core::time::UnixMs;
use crate::core::wire::{AskKind, Part};

pub(super) const RULE: Rule = Rule {
    id: "ghost-ask",
    at_rest: true,
    watched: false,
    by_age: true,
    needs_messages: false,
    needs_whole: false,
    levels: "watch",
    meaning: "An ask is still listed, but nothing waits for its answer any more.",
    offers: &[Offer::Dismiss, Offer::Export],
    check,
};

/// An ask that nothing waits for.
struct Ghost<'a> {
    pending: &'a PendingAsk,
    part: Option<&'a Part>,
    /// Since when nothing waits.
    since: UnixMs,
    /// From when that is sure.
    at: UnixMs,
}

fn check(facts: &Facts) -> Answer {
    let epoch = facts.server.epoch;
    let mut listed = facts.asks().filter(|it| it.epoch == epoch).peekable();
    if listed.peek().is_none() {
        return no("nothing is listed as asked");
    }
    let mut ghosts: Vec<Ghost> = listed.filter_map(|it| ghost(facts, it)).collect();
    ghosts.sort_by_key(|ghost| ghost.at);
    match ghosts.first() {
        None => no("what is asked holds it up"),
        Some(first) if facts.now < first.at => settles(
            Level::Watch,
            first.at,
            "the ask may be about to go, or its run to be reported",
        ),
        Some(first) => left_behind(facts, first, &ghosts),
    }
}

/// By the times of its tool call, or by the idle report; whichever is sure first.
fn ghost<'a>(facts: &Facts<'a>, pending: &'a PendingAsk) -> Option<Ghost<'a>> {
    let (part, ended) = match held_by(facts, pending) {
        Held::Ended { at, part } => (part, Some(at)),
        Held::Live(part) => (Some(part), None),
        Held::Unseen => (None, None),
    };
    let idle = facts.is_idle().then(|| {
        let seen = facts.at(pending.seen_at);
        seen.max(facts.at(facts.session.status.since))
    });
    let sure = [
        ended.map(|at| at + facts.limits.ghost_ask),
        idle.map(|at| at + facts.limits.ghost_ask_idle),
    ];
    Some(Ghost {
        pending,
        part,
        since: ended.or(idle)?,
        at: sure.into_iter().flatten().min()?,
    })
}

fn left_behind(facts: &Facts, first: &Ghost, ghosts: &[Ghost]) -> Answer {
    let (due, to_come) = ghosts.split_at(ghosts.partition_point(|it| it.at <= facts.now));
    let ask = &first.pending.ask;
    let what = match ask.kind {
        AskKind::Permission => ask.text(),
        AskKind::Question => format!("\"{}\"", ask.text()),
    };
    let many = match due.len() {
        1 => "an ask is still listed that nothing waits for".to_owned(),
        all => format!("{all} asks are still listed that nothing waits for, first"),
    };
    let tool = ask.tool.as_ref();
    let text = format!("{many}: {what}");
    let found = found(Level::Watch, Some(first.since), text)
        .with("ask", &ask.id)
        .with("kind", ask.kind)
        .with_some("message", tool.map(|tool| &tool.message))
        .with_some("call", tool.map(|tool| &tool.call))
        .with_some("part", first.part.map(|part| &part.id))
        .with("reported", facts.reported.word())
        .with("age_ms", facts.now.since(first.since));
    match to_come.first() {
        Some(next) => found.recheck(next.at),
        None => found,
    }
    .yes()
}
