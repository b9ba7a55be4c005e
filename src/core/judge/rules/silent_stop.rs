//! `silent-stop`: the turn ended as if all were said, and the last answer says and does nothing.
//!
//! What looks the same: a rejected ask (`tool-calls`, or a last word that does not come), a `!shell` command and an abort during a
//! retry (no finish), a structured answer, a compaction's summary, an answer that ends in thought
//! after its text, one that consists of a file.

use super::{Rule, ended};
use crate::core::judge::say::{found, no};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::wire::{Message, Part, PartBody, ToolState};

/// Parts that the server keeps for itself; other kinds that we do not know may be an answer.
const BOOKKEEPING: [&str; 2] = ["patch", "snapshot"];

/// How the error of a tool call begins whose ask a person rejected (1.18.33).
const REFUSALS: [&str; 2] = ["The user rejected", "The user dismissed"];

pub(super) const RULE: Rule = Rule {
    id: "silent-stop",
    at_rest: true,
    watched: false,
    by_age: false,
    needs_messages: true,
    needs_whole: true,
    levels: "watch",
    meaning: "The turn ended normally, but the last answer holds neither text nor a tool call.",
    offers: &[Offer::Continue, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    let message = match ended::answer(facts, ActivityState::Done) {
        Ok(message) => message,
        Err(why) => return no(why),
    };
    if message.finish.as_deref() != Some("stop") {
        return no("the model did not end it: no finish stop");
    }
    if message.structured {
        return no("the answer is a structured value");
    }
    if message.summary {
        return no("a summary of the history");
    }
    if message.parts.iter().any(says_something) {
        return no("the answer holds text or a tool call");
    }
    if was_refused(facts, message) {
        return no("an ask of the step before was rejected: the model had nothing to add");
    }
    let text = "ended without a word and without a tool call".to_owned();
    found(Level::Watch, facts.activity.since, text)
        .with("message", &message.id)
        .with("finish", &message.finish)
        .with("parts", message.parts.len())
        .with_some("age_ms", facts.activity.since.map(|at| facts.now.since(at)))
        .yes()
}

/// A person rejected an ask of the step before (the words are those of 1.18.33).
fn was_refused(facts: &Facts, message: &Message) -> bool {
    let answers = facts.session.tail.messages.iter().rev();
    let mut before = answers.filter(|it| it.is_assistant() && it.id != message.id);
    let step = before.find(|it| it.parent == message.parent);
    let mut tools = step
        .into_iter()
        .flat_map(|it| &it.parts)
        .filter_map(Part::tool);
    tools.any(|tool| {
        let refused = |error: &String| REFUSALS.iter().any(|words| error.starts_with(words));
        tool.state == ToolState::Error && tool.error.as_ref().is_some_and(refused)
    })
}

fn says_something(part: &Part) -> bool {
    match &part.body {
        PartBody::Text(prose) => !prose.excerpt.trim().is_empty(),
        PartBody::Tool(_) => true,
        PartBody::Other(kind) => !BOOKKEEPING.contains(&kind.as_str()),
        _ => false,
    }
}
