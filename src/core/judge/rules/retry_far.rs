//! `retry-far`: the next attempt lies more than ten minutes ahead, or a person must do something
//! first (log in, pay): waiting alone does not help. What looks the same: an attempt that is near,
//! clocks that differ (times are judged by the server's own), an attempt whose time has passed.

use super::Rule;
use super::retrying::since;
use crate::core::judge::say::{ahead, found, no};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::store::Reported;
use crate::core::time::UnixMs;
use crate::core::wire::Retry;

pub(super) const RULE: Rule = Rule {
    id: "retry-far",
    at_rest: false,
    watched: false,
    by_age: false,
    needs_messages: false,
    needs_whole: false,
    levels: "needs-you",
    meaning: "The next attempt lies far ahead, or the provider wants something done first.",
    offers: &[Offer::Abort, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    let Reported::Retry(retry) = &facts.reported else {
        return no("not reported retrying");
    };
    if !is_far(facts, retry) {
        return no("the next attempt is near, and nothing must be done first");
    }
    let overdue = retry.next.map(|next| next + facts.limits.retry_grace);
    if overdue.is_some_and(|at| facts.now >= at) {
        return no("its time has passed: retry-overdue");
    }
    let since = since(facts);
    let (text, changes) = words(facts.now, retry);
    let found = found(Level::NeedsYou, Some(since), text)
        .with("attempt", retry.attempt)
        .with_some("next", retry.next)
        .with("said", &retry.message)
        .with_some("action", retry.action.as_ref())
        .with("limit_ms", facts.limits.retry_far)
        .with("age_ms", facts.now.since(since))
        .recheck(overdue)
        .recheck(changes);
    match retry.action {
        Some(_) => found,
        None => found.recheck(near_at(facts, retry)),
    }
    .yes()
}

/// Whether it needs a person, however many attempts there were.
pub(super) fn is_far(facts: &Facts, retry: &Retry) -> bool {
    retry.action.is_some() || near_at(facts, retry).is_some_and(|at| facts.now < at)
}

/// From when its next attempt is near, where it is known when that is.
fn near_at(facts: &Facts, retry: &Retry) -> Option<UnixMs> {
    Some(retry.next? - facts.limits.retry_far)
}

/// What must be done, if anything, else what the provider said.
fn words(now: UnixMs, retry: &Retry) -> (String, Option<UnixMs>) {
    let said = match &retry.action {
        Some(action) if !action.is_empty() => action,
        _ => &retry.message,
    };
    let attempt = retry.attempt;
    let Some(next) = retry.next else {
        return (format!("attempt {attempt} is to come: {said}"), None);
    };
    if now >= next {
        return (format!("attempt {attempt} is due: {said}"), None);
    }
    let left = ahead(now, next);
    (
        format!("next try in {}: {said}", left.words),
        Some(left.until),
    )
}
