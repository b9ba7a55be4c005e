//! `stalled-arguments`: the model writes the arguments of a tool call and does not get to their end.
//! OpenCode tells nothing of them while they grow: no text, no time, no event.
//!
//! What looks the same: a large file that is being written (so three minutes are given), a tool
//! that already runs, a call that has only just begun in an old answer.

use super::Rule;
use super::silence::{Silence, excuse, still_since};
use crate::core::judge::say::no;
use crate::core::judge::{ActivityState, Answer, Facts, Offer};
use crate::core::wire::{Message, Part};

pub(super) const RULE: Rule = Rule {
    id: "stalled-arguments",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: true,
    levels: "watch from 3 min; stuck from 10 min",
    meaning: "The model writes the arguments of a tool call and does not end them; after an abort, ask for smaller pieces.",
    offers: &[Offer::Abort, Offer::Export, Offer::Reset],
    check,
};

fn check(facts: &Facts) -> Answer {
    if let Some(why) = excuse(facts) {
        return no(why);
    }
    if facts.activity.state != ActivityState::WritingArguments {
        return no("no arguments are being written");
    }
    let Some((message, part)) = facts.message().zip(facts.part()) else {
        return no("no part decides");
    };
    let silence = Silence {
        since: still_since(facts, message),
        stages: facts.limits.stalled_arguments,
    };
    match silence.not_yet(facts, "its arguments are not slow yet") {
        Some(answer) => answer,
        None => stalled(facts, (message, part), &silence),
    }
}

fn stalled(facts: &Facts, (message, part): (&Message, &Part), silence: &Silence) -> Answer {
    let tool = facts.activity.tool.as_deref().unwrap_or("a tool");
    let age = silence.words(facts);
    let text = format!("the arguments of {tool} have not ended for {age}");
    silence
        .found(facts, text)
        .with("message", &message.id)
        .with("part", &part.id)
        .with("tool", tool)
        .yes()
}
