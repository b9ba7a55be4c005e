//! `cut-short`: the model was stopped before its answer was complete: by the length limit, a filter,
//! an error of its own. What looks the same: a rejected ask (`tool-calls`), an answer that carries
//! an error (`failed`), a fork of such a session.

use super::{Rule, ended};
use crate::core::judge::say::{found, no};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};

pub(super) const RULE: Rule = Rule {
    id: "cut-short",
    at_rest: true,
    watched: false,
    by_age: false,
    needs_messages: true,
    needs_whole: false,
    levels: "watch",
    meaning: "The last answer ended before it was complete: length limit, filter or an error.",
    offers: &[Offer::Continue, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    let message = match ended::answer(facts, ActivityState::EndedEarly) {
        Ok(message) => message,
        Err(why) => return no(why),
    };
    let finish = message.finish.as_deref().unwrap_or_default();
    let text = match finish {
        "length" => "the answer reached the length limit",
        "content-filter" => "the provider's filter stopped the answer",
        "error" => "the model stopped with an error",
        _ => return no("it was not cut short: a rejected ask ends so, or repaired parts"),
    };
    found(Level::Watch, facts.activity.since, text.to_owned())
        .with("message", &message.id)
        .with("finish", finish)
        .with_some("age_ms", facts.activity.since.map(|at| facts.now.since(at)))
        .yes()
}
