//! `silent-stream`: text or reasoning is open and nothing comes any more, as we watched ourselves:
//! a read shows open text empty, so who has just begun to look knows nothing of it.
//!
//! What looks the same: reasoning that the provider hides, a slow local model (a public case went
//! on by itself after 29 minutes), an answer whose tool still runs or whose arguments are written,
//! an ask, a retry. OpenCode gives up on a silent stream by itself after 300 s and tries again
//! (measured on 1.18.33), so before that an abort is not offered. An open summary is told by
//! `compaction-slow` first; here only once it surely is dead.

use super::Rule;
use super::silence::{Silence, excuse, still_since};
use crate::core::judge::say::{later, no};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer, Stages};
use crate::core::time::Span;
use crate::core::wire::{Message, PartBody};

/// After so long without a piece of the answer the server itself tries again.
const SERVER_RETRY: Span = Span::secs(300);

/// While the server may still help itself.
const WAIT: &[Offer] = &[Offer::Wait, Offer::Export];
/// When it did not.
const UNSURE: &[Offer] = &[Offer::Wait, Offer::Abort, Offer::Export];
/// When nothing will come any more.
const DEAD: &[Offer] = &[Offer::Abort, Offer::Export, Offer::Reset];

/// Said of a stream that may have been silent for long before we began to watch it.
pub(in crate::core::judge) const NOT_WATCHED: &str =
    "silence not watched: it may have lasted since before the first look";

pub(super) const RULE: Rule = Rule {
    id: "silent-stream",
    at_rest: false,
    watched: true,
    by_age: true,
    needs_messages: true,
    needs_whole: true,
    levels: "watch from 3 min of watched silence; stuck from 10 min",
    meaning: "An answer is being written, but nothing has come for a while; the server tries again by itself after 5 min.",
    offers: &[Offer::Wait, Offer::Abort, Offer::Export, Offer::Reset],
    check,
};

pub(super) fn check(facts: &Facts) -> Answer {
    if let Some(why) = excuse(facts) {
        return no(why);
    }
    let Some(message) = facts.open_answer().filter(|_| is_writing(facts)) else {
        return no("no text or reasoning is open");
    };
    let Some(watched) = facts.watched_since() else {
        return no("silence not watched: its events are not followed");
    };
    let still = still_since(facts, message);
    let stages = stages(facts, message);
    let unwatched = still + stages.watch;
    if still < watched && facts.now < unwatched {
        return later(unwatched, "not silent for long");
    }
    let why = if still < watched {
        NOT_WATCHED
    } else {
        "not silent for long"
    };
    let silence = Silence {
        since: still.max(watched),
        stages,
    };
    match silence.not_yet(facts, why) {
        Some(answer) => answer,
        None => silent(facts, message, &silence),
    }
}

fn is_writing(facts: &Facts) -> bool {
    let state = facts.activity.state;
    matches!(state, ActivityState::Streaming | ActivityState::Compacting)
}

/// A summary is only judged when it is dead.
fn stages(facts: &Facts, message: &Message) -> Stages {
    let stages = facts.limits.silent_stream;
    if message.summary {
        return Stages::of(stages.stuck, stages.stuck);
    }
    stages
}

fn silent(facts: &Facts, message: &Message, silence: &Silence) -> Answer {
    let retry_at = silence.since + SERVER_RETRY;
    let helps_itself = facts.now < retry_at;
    let hint = if helps_itself {
        "; the server tries again by itself after 5 min"
    } else {
        ""
    };
    let what = what(facts, message);
    let text = format!("{what} has been silent for {}{hint}", silence.words(facts));
    let found = silence
        .found(facts, text)
        .with("message", &message.id)
        .with_some("part", facts.activity.part.as_ref());
    if helps_itself {
        found.offer(WAIT).recheck(retry_at).yes()
    } else if silence.level(facts) == Level::Stuck {
        found.offer(DEAD).yes()
    } else {
        found.offer(UNSURE).yes()
    }
}

fn what(facts: &Facts, message: &Message) -> &'static str {
    match facts.part().map(|part| &part.body) {
        _ if message.summary => "the summary",
        Some(PartBody::Reasoning(_)) => "its reasoning",
        _ => "its text",
    }
}
