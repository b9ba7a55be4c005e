//! `never-started`: an error was heard and no message was stored for it: a prompt that the server
//! took and dropped (an unknown agent). Nothing else ever tells of it, so only who listened knows.
//!
//! What looks the same: the error of a run (its answer carries it), an abort, an error for which a
//! prompt was stored (`unanswered-prompt`), one that a newer message has overtaken.

use super::Rule;
use crate::core::judge::activity::newest_time;
use crate::core::judge::say::{found, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::UnixMs;
use crate::core::wire::{Failure, Message};

pub(super) const RULE: Rule = Rule {
    id: "never-started",
    at_rest: true,
    watched: true,
    by_age: true,
    needs_messages: true,
    needs_whole: true,
    levels: "stuck",
    meaning: "A prompt was refused with an error, and nothing of it was stored.",
    offers: &[Offer::Resend, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    let Some(seen) = &facts.session.watch.error else {
        return no("no error was heard while it was watched");
    };
    let (at, failure) = (facts.at(seen.at), &seen.failure);
    if failure.is_abort() {
        return no("what was heard is an abort");
    }
    if let Some(why) = is_explained(facts, at, failure) {
        return no(why);
    }
    let sure = at + facts.limits.never_started;
    if facts.now < sure {
        return settles(Level::Stuck, sure, "a message may still come for the error");
    }
    found(Level::Stuck, Some(at), words(failure))
        .with("error", &failure.name)
        .with("said", &failure.message)
        .with_some("newest", facts.session.tail.last().map(|last| &last.id))
        .with("age_ms", facts.now.since(at))
        .yes()
}

/// What else the error belongs to.
fn is_explained(facts: &Facts, at: UnixMs, failure: &Failure) -> Option<&'static str> {
    let tail = &facts.session.tail;
    let last = tail.last();
    if last.is_some_and(Message::is_user) {
        return Some("a prompt was stored: unanswered-prompt");
    }
    if last.is_some_and(|last| newest_time(last) >= at) {
        return Some("a newer message is there");
    }
    let told = tail.last_assistant().and_then(|last| last.error.as_ref());
    if told == Some(failure) {
        return Some("the last answer carries this error");
    }
    came_in_a_run(facts, at).then_some("the error ended a run that was reported")
}

/// It ran when the error was heard, or has run since. The idle report follows the error.
fn came_in_a_run(facts: &Facts, at: UnixMs) -> bool {
    let status = &facts.session.status;
    let Some(ran) = facts.session.watch.ran_here_at else {
        return false;
    };
    let ended_after = status.seen_change && facts.at(status.since) >= at;
    facts.at(ran) >= at || ended_after
}

fn words(failure: &Failure) -> String {
    let Failure { name, message, .. } = failure;
    if message.is_empty() {
        return name.clone();
    }
    format!("{name}: {message}")
}
