//! `stalled-start`: busy, and an answer has nothing in it yet, or the prompt has none at all.
//!
//! What looks the same: a provider whose first byte is slow (so it is only watched at first), a
//! prompt queued behind a running answer, an attempt after a retry (it writes into the same, older
//! message), an open summary (`compaction-slow`).

use super::Rule;
use super::silence::{Silence, excuse, still_since};
use crate::core::judge::say::no;
use crate::core::judge::{ActivityState, Answer, Facts, Offer};
use crate::core::wire::Message;

pub(super) const RULE: Rule = Rule {
    id: "stalled-start",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: true,
    levels: "watch from 60 s; stuck from 10 min",
    meaning: "The server works on a prompt, but nothing of the answer has come yet.",
    offers: &[Offer::Abort, Offer::Export, Offer::Reset],
    check,
};

fn check(facts: &Facts) -> Answer {
    if let Some(why) = excuse(facts) {
        return no(why);
    }
    let state = facts.activity.state;
    let begins = matches!(state, ActivityState::Starting | ActivityState::Unanswered);
    let Some(message) = facts.message().filter(|_| begins) else {
        return no("neither a blank answer nor a prompt without one decides");
    };
    let silence = Silence {
        since: still_since(facts, message),
        stages: facts.limits.stalled_start,
    };
    match silence.not_yet(facts, "it has only just begun") {
        Some(answer) => answer,
        None => stalled(facts, message, &silence),
    }
}

/// Each attempt has its first minute, but all attempts together make it stuck: one that the server
/// begins anew every five minutes would never be.
fn stalled(facts: &Facts, message: &Message, attempt: &Silence) -> Answer {
    let silence = Silence {
        since: message.created,
        stages: attempt.stages,
    };
    let what = if message.is_user() {
        "no answer to the prompt was begun"
    } else {
        "the answer was begun and has nothing in it"
    };
    let text = format!("{what} for {}", silence.words(facts));
    silence
        .found(facts, text)
        .with("message", &message.id)
        .with("activity", facts.activity.state)
        .with("age_ms", facts.now.since(message.created))
        .yes()
}
