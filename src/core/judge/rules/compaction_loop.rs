//! `compaction-loop`: summary after summary, and no answer between them: what is left of the
//! history does not fit, so it is summarised again.
//!
//! What looks the same: one long compaction (`compaction-slow`), summaries with work between them,
//! summaries that failed or were aborted, those that a fork copied.

use super::Rule;
use crate::core::judge::say::{found, no};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::wire::{Message, PartBody};

/// Nothing runs that could be aborted.
const AT_REST: &[Offer] = &[Offer::Export, Offer::Fork];

pub(super) const RULE: Rule = Rule {
    id: "compaction-loop",
    at_rest: true,
    watched: false,
    by_age: false,
    needs_messages: true,
    needs_whole: false,
    levels: "stuck",
    meaning: "The history was summarised three times without an answer between.",
    offers: &[Offer::Abort, Offer::Export, Offer::Fork],
    check,
};

fn check(facts: &Facts) -> Answer {
    let row = summaries(facts);
    let (Some(last), Some(first)) = (row.first(), row.last()) else {
        return no("its last answer is not a summary");
    };
    if !loops(facts) {
        return no("too few summaries in a row");
    }
    let count = row.len();
    let text = format!("summarised {count} times without an answer between");
    let found = found(Level::Stuck, Some(first.created), text)
        .with("message", &last.id)
        .with("first", &first.id)
        .with("summaries", count)
        .with("limit", facts.limits.compaction_loop)
        .with("age_ms", facts.now.since(first.created));
    if facts.reported.is_running() {
        found.yes()
    } else {
        found.offer(AT_REST).yes()
    }
}

/// It compacts over and over.
pub(super) fn loops(facts: &Facts) -> bool {
    u32::try_from(summaries(facts).len()).is_ok_and(|n| n >= facts.limits.compaction_loop)
}

/// The newest summaries with no normal answer after them or between, newest first.
fn summaries<'a>(facts: &Facts<'a>) -> Vec<&'a Message> {
    let messages = facts.session.tail.messages.iter().rev();
    messages
        .filter(|m| m.is_assistant() && m.error.is_none())
        .take_while(|m| !facts.is_copy(m) && !is_normal(m))
        .filter(|m| m.summary)
        .collect()
}

/// An answer that says or does something.
fn is_normal(message: &Message) -> bool {
    let content = |body: &PartBody| {
        matches!(
            body,
            PartBody::Text(_) | PartBody::Reasoning(_) | PartBody::Tool(_)
        )
    };
    !message.summary && message.parts.iter().any(|part| content(&part.body))
}
