//! `will-resume` (2.x): a run was stopped by a declined ask or a shutdown. Its turn was not closed,
//! so it is still claimed, and goes on by itself when OpenCode next starts as a service
//! (`serve --service`). A plain `serve` does not resume it, and which of both a server is, its API
//! does not tell. What looks the same: a run that a person interrupted (its turn is closed), one
//! that went on already, a subagent (it stays as it is), any abort in 1.x, also in a session that
//! was migrated from it, and the moment between the end of an answer and that of its turn. Measured
//! on 2.0.14: a shutdown during a command leaves an answer without an error, finish tool-calls.

use super::Rule;
use crate::core::judge::elsewhere::knows_better;
use crate::core::judge::say::{ago, found, no, settles};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::time::UnixMs;
use crate::core::wire::v2::CLOSED;
use crate::core::wire::{Dialect, Message, Part, PartBody, Role, ToolState};

pub(super) const RULE: Rule = Rule {
    id: "will-resume",
    at_rest: true,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "watch",
    meaning: "A declined ask or a shutdown stopped it; it goes on by itself when OpenCode next starts as a service (OpenCode 2.x).",
    offers: &[Offer::Resend, Offer::Wait, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if facts.server.dialect != Some(Dialect::V2) {
        return no("only OpenCode 2.x resumes a run");
    }
    if !facts.is_idle() {
        return no("not reported idle");
    }
    let stopped = [ActivityState::Aborted, ActivityState::EndedEarly];
    if !stopped.contains(&facts.activity.state) {
        return no("the last answer was not stopped");
    }
    let Some(answer) = facts.message().filter(|m| m.completed.is_some()) else {
        return no("the last answer is open");
    };
    if !is_native(answer) {
        return no("its last answer was migrated from OpenCode 1.x");
    }
    if facts.session.info.parent.is_some() {
        return no("a subagent is not resumed by itself");
    }
    if is_closed(facts, answer) {
        return no("its turn was closed");
    }
    if let Some(why) = knows_better(facts, answer) {
        return no(why);
    }
    let ended = facts.activity.since.unwrap_or(answer.created);
    let at = quiet_since(facts, ended) + facts.limits.interrupted;
    if facts.now < at {
        return settles(Level::Watch, at, "its turn may be about to be closed");
    }
    claimed(facts, answer, ended)
}

/// 2.x marks the end of each stream; answers of 1.x have no such mark after their migration.
fn is_native(answer: &Message) -> bool {
    let mut parts = answer.parts.iter();
    parts.any(|part| matches!(part.body, PartBody::StepFinish(_)))
}

/// An `idle` message after the answer: the claim is released.
fn is_closed(facts: &Facts, answer: &Message) -> bool {
    let later = facts.session.tail.messages.iter().rev();
    let mut later = later.take_while(|m| m.id != answer.id);
    later.any(|m| matches!(&m.role, Role::Other(kind) if kind == CLOSED))
}

fn quiet_since(facts: &Facts, ended: UnixMs) -> UnixMs {
    let status = &facts.session.status;
    let idle = status.seen_change.then(|| facts.at(status.since));
    idle.map_or(ended, |idle| idle.max(ended))
}

fn claimed(facts: &Facts, answer: &Message, ended: UnixMs) -> Answer {
    let age = ago(facts.now, ended);
    let text = format!(
        "stopped {} ago and still claimed: goes on when OpenCode next starts as a service",
        age.words
    );
    found(Level::Watch, Some(ended), text)
        .with("message", &answer.id)
        .with_some("error", why(answer))
        .with("age_ms", facts.now.since(ended))
        .recheck(age.until)
        .yes()
}

/// The words of the call that was stopped, else of the answer.
fn why(answer: &Message) -> Option<&String> {
    let tools = answer.parts.iter().rev().filter_map(Part::tool);
    let mut failed = tools.filter(|tool| tool.state == ToolState::Error);
    let call = failed.find_map(|tool| tool.error.as_ref());
    call.or_else(|| answer.error.as_ref().map(|error| &error.message))
}
