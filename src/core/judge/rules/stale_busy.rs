//! `stale-busy`: the turn is over and the server still reports it busy. What looks the same: the
//! one or two seconds after a turn, a queued prompt about to start (the newest message is then the
//! user's), a step that ended with tool calls (the loop goes on), one of the ends of a `runaway`.

use super::{Rule, runaway};
use crate::core::judge::agreement::has_ended;
use crate::core::judge::say::{Found, ago, found, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::UnixMs;
use crate::core::wire::Message;

pub(super) const RULE: Rule = Rule {
    id: "stale-busy",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: true,
    levels: "stuck",
    meaning: "The last answer is finished, yet the server still reports the session busy.",
    offers: &[Offer::Abort, Offer::Export, Offer::Reset],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_busy() {
        return no("not reported busy");
    }
    if !has_ended(facts.activity.state) {
        return no("its last turn has not ended");
    }
    if runaway::is_stuck(facts) {
        return no("it goes on after every end: runaway");
    }
    let Some((message, ended)) = facts
        .message()
        .and_then(|m| Some((m, facts.activity.since?)))
    else {
        return no("no message decides");
    };
    let at = quiet_since(facts, ended) + facts.limits.stale_busy;
    if facts.now < at {
        return settles(Level::Stuck, at, "the turn has just ended");
    }
    stale(facts, message, ended).yes()
}

/// The newest of: the end, a beginning of the report that we saw (or that the messages are older
/// than), progress.
fn quiet_since(facts: &Facts, ended: UnixMs) -> UnixMs {
    let status = &facts.session.status;
    let older = facts
        .session
        .tail
        .read_at
        .is_none_or(|at| at < status.since);
    let begun = (status.seen_change || older).then_some(status.since);
    let progress = facts.session.watch.progress_at;
    let seen = [begun, progress].into_iter().flatten();
    seen.map(|at| facts.at(at)).fold(ended, UnixMs::max)
}

fn stale(facts: &Facts, message: &Message, ended: UnixMs) -> Found {
    let age = ago(facts.now, ended);
    let how = facts.activity.state.word();
    let text = match facts.activity.state {
        crate::core::judge::ActivityState::Done => {
            format!("finished {} ago, still reported busy", age.words)
        }
        _ => format!("{how} {} ago, still reported busy", age.words),
    };
    found(Level::Stuck, Some(ended), text)
        .with("message", &message.id)
        .with("completed", ended)
        .with_some("finish", message.finish.as_ref())
        .with("age_ms", facts.now.since(ended))
        .recheck(age.until)
}
