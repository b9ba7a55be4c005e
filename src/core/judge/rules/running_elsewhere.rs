//! `running-elsewhere`: reported idle here, but its messages change between two reads although no
//! event told of it: another OpenCode on the same data works on it (a plain TUI has no port), or
//! another of the servers that are watched says that it does. That is healthy, so the level is
//! `ok`; it is named, because nothing can be stopped from here, and so that nobody takes it for
//! `interrupted` or `unanswered-prompt`.
//!
//! What looks the same: a read that overtook the event of a run of this server (it reports the run
//! a moment later), a turn that has ended there, a change that is older than two minutes.

use super::Rule;
use crate::core::judge::elsewhere::{run_also_on, unheard_until};
use crate::core::judge::say::{found, no};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};

/// Ends of a step after which the loop goes on (1.18.33).
const GOES_ON: [&str; 2] = ["tool-calls", "unknown"];

pub(super) const RULE: Rule = Rule {
    id: "running-elsewhere",
    at_rest: false,
    watched: true,
    by_age: false,
    needs_messages: true,
    needs_whole: false,
    levels: "ok",
    meaning: "Another OpenCode on the same data works on it; it cannot be stopped from here.",
    offers: &[Offer::Wait, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    if !goes_on(facts) {
        return no("its last turn has ended");
    }
    let also = run_also_on(facts);
    if !also.is_empty() {
        return on_another_server(facts, &also);
    }
    let Some(until) = unheard_until(facts) else {
        return no("it was not seen to change without an event in the last 2 min");
    };
    let text = "another OpenCode on this data works on it; it cannot be stopped from here";
    let seen = until - facts.limits.elsewhere;
    found(Level::Ok, Some(seen), text.to_owned())
        .with_some("message", facts.activity.message.as_ref())
        .with("changed", seen)
        .with("age_ms", facts.now.since(seen))
        .with("limit_ms", facts.limits.elsewhere)
        .recheck(until)
        .yes()
}

// depends on: the same session on other servers.
fn on_another_server(facts: &Facts, also: &[&str]) -> Answer {
    let text = format!(
        "it runs on {}, and can be stopped there",
        also.join(" and ")
    );
    found(Level::Ok, facts.activity.since, text)
        .with_some("message", facts.activity.message.as_ref())
        .with("servers", also)
        .yes()
}

/// Its messages show a turn that has not ended. `ended-early` and `done` are words for a session in
/// which nothing runs: where another process runs it, a step may just have ended.
fn goes_on(facts: &Facts) -> bool {
    let state = facts.activity.state;
    let finish = facts
        .message()
        .and_then(|message| message.finish.as_deref());
    state.is_working()
        || state == ActivityState::Unanswered
        || finish.is_some_and(|finish| GOES_ON.contains(&finish))
}
