//! `lost-subagent-result`: a subagent is done, and its parent does not take up the result. Either
//! the parent is busy and its task part still says running, or the task went to the background
//! (part completed with `state="running"`) and the synthetic prompt that brings its result back
//! did not come (1.18.33; the text of such a prompt begins `<task ` and names the child).
//!
//! What looks the same: a child between two steps (it is busy), one that ended just now, a task
//! that resumes an older session and has just begun, a result that came (also one whose child was
//! prompted by itself later), a child that is not known or not read.

use super::Rule;
use crate::core::judge::agreement::has_ended;
use crate::core::judge::say::{ago, found, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::UnixMs;
use crate::core::wire::{Message, Part, PartBody, ToolPart, ToolState};

/// How the synthetic prompt begins that brings a background task's result (1.18.33).
const RESULT: &str = "<task ";

pub(super) const RULE: Rule = Rule {
    id: "lost-subagent-result",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "stuck",
    meaning: "Its subagent has ended, yet it does not take up the result.",
    offers: &[Offer::Abort, Offer::Continue, Offer::Export],
    check,
};

/// A task whose child has ended without the parent taking note.
struct Lost<'a> {
    message: &'a Message,
    part: &'a Part,
    child: Facts<'a>,
    background: bool,
    /// When the child ended.
    ended: UnixMs,
    /// When it counts as lost.
    at: UnixMs,
}

// depends on: the reported status and messages of its children.
fn check(facts: &Facts) -> Answer {
    let messages = facts.session.tail.messages.iter();
    let parts = messages.flat_map(|message| message.parts.iter().map(move |part| (message, part)));
    let lost = parts.filter_map(|(message, part)| lost(facts, message, part));
    let Some(lost) = lost.min_by_key(|lost| lost.at) else {
        return no("no task of it is left whose child is known to have ended");
    };
    if facts.now < lost.at {
        return settles(Level::Stuck, lost.at, "its subagent has just ended");
    }
    say(facts, &lost)
}

fn lost<'a>(facts: &Facts<'a>, message: &'a Message, part: &'a Part) -> Option<Lost<'a>> {
    let tool = part.tool()?;
    if !(waits(facts, message, tool) || tool.background) {
        return None;
    }
    let child = facts.beside(facts.child_of(part)?);
    if !(child.is_idle() && child.knows_messages() && has_ended(child.activity.state)) {
        return None;
    }
    let ended = child.activity.since?;
    // A result that could not be read may be among what is missing.
    let told = || facts.missing() > 0 || is_told(facts, message, &child, ended);
    if tool.background && told() {
        return None;
    }
    let status = &child.session.status;
    let idle = status.seen_change.then(|| facts.at(status.since));
    let begun = tool.start.unwrap_or(message.created);
    let at = ended.max(idle.unwrap_or(ended)).max(begun) + facts.limits.lost_subagent_result;
    Some(Lost {
        message,
        part,
        child,
        background: tool.background,
        ended,
        at,
    })
}

/// It holds up a turn that the server reports as running.
fn waits(facts: &Facts, message: &Message, tool: &ToolPart) -> bool {
    let open = facts
        .open_answer()
        .is_some_and(|open| open.id == message.id);
    facts.is_busy() && open && tool.state == ToolState::Running
}

/// A synthetic prompt after the task's message brought the result: it names the child, or came
/// after the child's end and is not that of another task.
fn is_told(facts: &Facts, message: &Message, child: &Facts, ended: UnixMs) -> bool {
    let id = child.session.info.id.as_str();
    let mut later = facts.session.tail.messages.iter();
    later.find(|it| it.id == message.id);
    let brings = |prompt: &Message, part: &Part| match &part.body {
        PartBody::Text(text) if text.synthetic => {
            let other = text.excerpt.starts_with(RESULT);
            text.excerpt.contains(id) || (prompt.created >= ended && !other)
        }
        _ => false,
    };
    later.any(|prompt| prompt.parts.iter().any(|part| brings(prompt, part)))
}

fn say(facts: &Facts, lost: &Lost) -> Answer {
    let age = ago(facts.now, lost.ended);
    let title = &lost.child.session.info.title;
    let how = if lost.background {
        "its result never came"
    } else {
        "its task still says running"
    };
    let text = format!("subagent \"{title}\" ended {} ago, {how}", age.words);
    found(Level::Stuck, Some(lost.ended), text)
        .with("message", &lost.message.id)
        .with("part", &lost.part.id)
        .with("child", &lost.child.session.info.id)
        .with("child_activity", lost.child.activity.state)
        .with("background", lost.background)
        .with("age_ms", facts.now.since(lost.ended))
        .with("limit_ms", facts.limits.lost_subagent_result)
        .recheck(age.until)
        .yes()
}
