//! `stalled-between-steps`: busy, everything in the last answer has ended, and nothing follows.
//!
//! What looks the same: a snapshot of the files or a compaction about to start, a part that ended
//! just now, a task that was sent to the background, and an answer whose stream is still open
//! (neither `finish` nor the end of its step is told): the model may think, or write arguments that
//! its provider sends in one piece. That one is given the time of `stalled-arguments`.

use super::silence::{Silence, excuse, still_since};
use super::{Rule, runaway};
use crate::core::judge::say::no;
use crate::core::judge::{ActivityState, Answer, Facts, Offer};
use crate::core::wire::{Message, PartBody};

pub(super) const RULE: Rule = Rule {
    id: "stalled-between-steps",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: true,
    levels: "watch from 30 s; stuck from 2 min",
    meaning: "A step has ended, and the next one does not begin.",
    offers: &[Offer::Abort, Offer::Continue, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if let Some(why) = excuse(facts) {
        return no(why);
    }
    if facts.activity.state != ActivityState::BetweenSteps {
        return no("not between two steps");
    }
    let Some(message) = facts.message() else {
        return no("no message decides");
    };
    if runaway::is_stuck(facts) {
        return no("its steps lead nowhere: runaway");
    }
    let ended = has_ended(message);
    let silence = Silence {
        since: still_since(facts, message),
        stages: if ended {
            facts.limits.stalled_between_steps
        } else {
            facts.limits.stalled_arguments
        },
    };
    match silence.not_yet(facts, "its last part has only just ended") {
        Some(answer) => answer,
        None => stalled(facts, message, &silence, ended),
    }
}

/// The model has said its last word in this step. (A completed answer between two steps has a finish.)
fn has_ended(message: &Message) -> bool {
    let mut parts = message.parts.iter();
    let step = parts.any(|part| matches!(part.body, PartBody::StepFinish(_)));
    message.finish.is_some() || step
}

fn stalled(facts: &Facts, message: &Message, silence: &Silence, ended: bool) -> Answer {
    let what = if ended {
        "the step ended and the next has not begun"
    } else {
        "the answer is open and nothing was added to it"
    };
    let text = format!("{what} for {}", silence.words(facts));
    silence
        .found(facts, text)
        .with("message", &message.id)
        .with_some("completed", message.completed)
        .with_some("finish", message.finish.as_ref())
        .yes()
}
