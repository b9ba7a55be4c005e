//! `retrying`: the provider failed and the server has planned another attempt. That is healthy for
//! a while; from the fifth attempt, or after ten minutes without a break, it needs a person. One
//! that lies far ahead, or wants something done first, has its own name: `retry-far`.

use super::Rule;
use super::retry_far::is_far;
use crate::core::judge::say::{ahead, found, no};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::store::Reported;
use crate::core::time::UnixMs;
use crate::core::wire::Retry;

pub(super) const RULE: Rule = Rule {
    id: "retrying",
    at_rest: false,
    watched: false,
    by_age: false,
    needs_messages: false,
    needs_whole: false,
    levels: "watch; needs-you from attempt 5 or after 10 min",
    meaning: "The provider failed; the server will try again at the time shown.",
    offers: &[Offer::Wait, Offer::Abort, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    let Reported::Retry(retry) = &facts.reported else {
        return no("not reported retrying");
    };
    let limits = facts.limits;
    let overdue = retry.next.map(|next| next + limits.retry_grace);
    if overdue.is_some_and(|at| facts.now >= at) {
        return no("its time has passed: retry-overdue");
    }
    if is_far(facts, retry) {
        return no("it needs a person: retry-far");
    }
    let since = since(facts);
    let patience = since + limits.retry_patience;
    let tired =
        retry.attempt >= limits.retry_attempts || facts.now >= patience || was_far(facts, retry);
    let level = if tired { Level::NeedsYou } else { Level::Watch };
    let (text, changes) = words(facts.now, retry);
    let found = found(level, Some(since), text)
        .with("attempt", retry.attempt)
        .with_some("next", retry.next)
        .with("said", &retry.message)
        .with("age_ms", facts.now.since(since))
        .recheck(overdue)
        .recheck(changes);
    if tired {
        found
    } else {
        found.recheck(patience)
    }
    .yes()
}

/// What lay far ahead when it was planned has not become better by coming near.
fn was_far(facts: &Facts, retry: &Retry) -> bool {
    let planned = facts.at(facts.session.status.since);
    retry.next > Some(planned + facts.limits.retry_far)
}

/// Since when it fails. All attempts at a step write into one answer, and between two of them the
/// server says busy for a moment: so an open answer with nothing in it tells it better than the
/// report does, also to who has just begun to look.
pub(super) fn since(facts: &Facts) -> UnixMs {
    let reported = facts.at(facts.session.status.since);
    match facts.message() {
        Some(answer) if facts.activity.state == ActivityState::Starting => {
            answer.created.min(reported)
        }
        _ => reported,
    }
}

fn words(now: UnixMs, retry: &Retry) -> (String, Option<UnixMs>) {
    let (attempt, said) = (retry.attempt, &retry.message);
    let Some(next) = retry.next else {
        return (
            format!("attempt {attempt} is to come, it is not said when: {said}"),
            None,
        );
    };
    if now >= next {
        return (format!("attempt {attempt} is due: {said}"), None);
    }
    let left = ahead(now, next);
    let text = format!("next try in {}: {said}", left.words);
    (text, Some(left.until))
}
