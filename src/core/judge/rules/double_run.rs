//! `double-run`: two runs work on one session at once. Either the server reports it busy and two
//! answers to one prompt are open, or two servers on the same data run it and two answers are open.
//!
//! What looks the same: what a crash left open (it answers an older prompt, or the present run was
//! seen to begin after it, or the server was restarted after it), the second or two for which a
//! server still says busy after its turn has ended while the other one begins.

use super::Rule;
use crate::core::judge::activity::{is_open, newest_time};
use crate::core::judge::agreement::has_ended;
use crate::core::judge::elsewhere::run_also_on;
use crate::core::judge::say::{found, no};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::Span;
use crate::core::wire::Message;

/// A clock difference that is taken as none.
const SAME_TIME: Span = Span::secs(2);

pub(super) const RULE: Rule = Rule {
    id: "double-run",
    at_rest: false,
    watched: false,
    by_age: false,
    needs_messages: true,
    needs_whole: false,
    levels: "stuck",
    meaning: "Two runs work on it at once: two answers to one prompt are open, or two servers run it and two answers are open.",
    offers: &[Offer::Abort, Offer::Export],
    check,
};

// depends on: the same session on other servers.
fn check(facts: &Facts) -> Answer {
    if !facts.reported.is_running() {
        return no("not reported running");
    }
    if has_ended(facts.activity.state) {
        return no("its last turn has ended here");
    }
    let also = run_also_on(facts);
    let Some((older, newer)) = rival(facts, !also.is_empty()) else {
        return no("no two answers are open that could both run");
    };
    if also.is_empty() && is_left_over(facts, older) {
        return no("the older open answer was left over when the present run began");
    }
    two_answers(facts, (older, newer), &also)
}

/// The newest open answer, and an older one that may run as well: one to the same prompt, or, where
/// another server runs it too, to any (each was sent its own). Each run writes an answer of its own,
/// so one server under two names shows only one.
fn rival<'a>(facts: &Facts<'a>, elsewhere: bool) -> Option<(&'a Message, &'a Message)> {
    let answers = facts.session.tail.messages.iter().rev();
    let mut open = answers.filter(|message| message.is_assistant() && is_open(message));
    let newer = open.next()?;
    // One with a finish is being closed while the next step begins.
    let mut same = open.filter(|older| {
        let same = older.parent.is_some() && older.parent == newer.parent;
        older.finish.is_none() && (same || elsewhere)
    });
    Some((same.next()?, newer))
}

/// The present run, or the server itself, was seen to begin after it.
fn is_left_over(facts: &Facts, older: &Message) -> bool {
    let status = &facts.session.status;
    let began = status.seen_change.then_some(status.since);
    let newest = newest_time(older) + SAME_TIME;
    let begins = [began, facts.server.refused_at].into_iter().flatten();
    begins.into_iter().any(|at| facts.at(at) > newest)
}

fn two_answers(facts: &Facts, (older, newer): (&Message, &Message), also: &[&str]) -> Answer {
    let here = facts.server.spec.name.as_str();
    let servers: Vec<&str> = std::iter::once(here).chain(also.iter().copied()).collect();
    let whence = match also {
        [] => String::new(),
        _ => format!(", it runs on {} at once", servers.join(" and on ")),
    };
    let text = format!(
        "two answers are open at once: {} and {}{whence}",
        older.id, newer.id
    );
    found(Level::Stuck, Some(newer.created), text)
        .with("message", &newer.id)
        .with("messages", [&older.id, &newer.id])
        .with_some("prompt", newer.parent.as_ref())
        .with("servers", servers)
        .with("age_ms", facts.now.since(newer.created))
        .yes()
}
