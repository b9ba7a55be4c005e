//! `abort-ignored`: this program sent an abort, and the session is still reported running. What
//! looks the same: an abort that takes a second to settle, one that has ended the turn (an idle
//! report takes it off the store), a new run that was prompted since, an abort from before a gap
//! in our watching: whether it went idle in that gap is not known.
//!
//! It stands beside whatever made a person abort (`hung-tool`, `stale-busy`, …): that says what is
//! wrong, this says that the first remedy was tried and failed.

use super::Rule;
use crate::core::id::SessionId;
use crate::core::judge::say::{ago, found, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::Message;

/// A clock difference that is taken as none.
const SAME_TIME: Span = Span::secs(2);

pub(super) const RULE: Rule = Rule {
    id: "abort-ignored",
    at_rest: false,
    watched: true,
    by_age: true,
    needs_messages: false,
    needs_whole: false,
    levels: "stuck",
    meaning: "It is still reported running although this program has aborted it.",
    offers: &[Offer::Abort, Offer::Dispose, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.reported.is_running() {
        return no("not reported running");
    }
    let Some(sent) = facts.session.watch.abort_sent_at else {
        return no("no abort of ours is open");
    };
    let sent = facts.at(sent);
    if facts.watched_since().is_none_or(|since| sent < since) {
        return no("silence not watched: there was a gap since the abort");
    }
    if prompt(facts).is_some_and(|prompt| prompt.created > sent + SAME_TIME) {
        return no("a prompt that is newer than the abort runs");
    }
    let at = sent + facts.limits.abort_ignored;
    if facts.now < at {
        return settles(Level::Stuck, at, "the abort was sent just now");
    }
    ignored(facts, sent)
}

/// The prompt that the deciding message answers, or is.
fn prompt<'a>(facts: &Facts<'a>) -> Option<&'a Message> {
    let message = facts.message()?;
    match &message.parent {
        Some(parent) => facts.session.tail.message(parent),
        None => Some(message).filter(|message| message.is_user()),
    }
}

fn ignored(facts: &Facts, sent: UnixMs) -> Answer {
    let age = ago(facts.now, sent);
    let reported = facts.reported.word();
    let children = running_children(facts);
    let below = match children.len() {
        0 => String::new(),
        1 => ", as is 1 subagent".to_owned(),
        many => format!(", as are {many} subagents"),
    };
    let text = format!(
        "aborted {} ago, still reported {reported}{below}",
        age.words
    );
    found(Level::Stuck, Some(sent), text)
        .with("sent", sent)
        .with("reported", reported)
        .with("children", children)
        .with("age_ms", facts.now.since(sent))
        .with("limit_ms", facts.limits.abort_ignored)
        .recheck(age.until)
        .yes()
}

/// Its children that are reported running: they are to be aborted first.
// depends on: the reported status of its children.
fn running_children(facts: &Facts) -> Vec<SessionId> {
    let children = facts.server.children(&facts.session.info.id);
    let running = children.filter(|child| facts.server.reported(child).is_running());
    let mut ids: Vec<SessionId> = running.map(|child| child.info.id.clone()).collect();
    ids.sort();
    ids
}
