//! `retry-overdue`: a planned attempt did not begin. What looks the same: clocks that differ
//! (times are judged by the server's own clock, and ten seconds are given).

use super::Rule;
use crate::core::judge::say::{ago, found, later, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::store::Reported;

pub(super) const RULE: Rule = Rule {
    id: "retry-overdue",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: false,
    needs_whole: false,
    levels: "stuck",
    meaning: "The time of the planned retry has passed and nothing was tried.",
    offers: &[Offer::Abort, Offer::Export, Offer::Reset],
    check,
};

fn check(facts: &Facts) -> Answer {
    let Reported::Retry(retry) = &facts.reported else {
        return no("not reported retrying");
    };
    let Some(next) = retry.next else {
        return no("the server does not say when it tries again");
    };
    let overdue = next + facts.limits.retry_grace;
    if facts.now < next {
        return later(next, "the next attempt lies ahead");
    }
    if facts.now < overdue {
        return settles(Level::Stuck, overdue, "the next attempt is due");
    }
    let age = ago(facts.now, next);
    let text = format!("attempt {} was due {} ago", retry.attempt, age.words);
    found(Level::Stuck, Some(next), text)
        .with("attempt", retry.attempt)
        .with("next", next)
        .with("said", &retry.message)
        .with("age_ms", facts.now.since(next))
        .recheck(age.until)
        .yes()
}
