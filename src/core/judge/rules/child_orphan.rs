//! `child-orphan`: a subagent runs, or its answer is open, and nobody waits for it: its parent has
//! ended, or is gone (in no complete list of the sessions).
//!
//! What looks the same: a background subagent (its task part says so), a parent that runs or
//! waits, one that was cut off together with it (one incident, told at the root), the first seconds
//! after the parent's end, a child that was prompted by itself after its task, a parent of which
//! nothing current is known. A child that is cut off itself has both names: `interrupted` says that
//! it does not run, this says that continuing it brings nobody its result.

use super::Rule;
use crate::core::judge::agreement::has_ended;
use crate::core::judge::say::{ago, found, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::store::{Session, Tail};
use crate::core::time::UnixMs;
use crate::core::wire::{Part, ToolPart};

pub(super) const RULE: Rule = Rule {
    id: "child-orphan",
    at_rest: true,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "watch",
    meaning: "A subagent runs or is left open, but its parent has ended or is gone.",
    offers: &[Offer::Abort, Offer::Export],
    check,
};

/// How the parent left it.
struct Left {
    words: &'static str,
    /// When the parent ended; where that is not known, when the child was prompted.
    since: UnixMs,
    /// When the child counts as left.
    from: UnixMs,
}

// depends on: the reported status and messages of its parent.
fn check(facts: &Facts) -> Answer {
    let Some(parent) = &facts.session.info.parent else {
        return no("it has no parent");
    };
    if !facts.reported.is_running() && facts.open_answer().is_none() {
        return no("nothing runs or is open in it");
    }
    let left = match facts.server.sessions.get(parent) {
        Some(parent) => left_by(facts, parent),
        None if facts.server.is_gone(parent) => Ok(gone(facts)),
        None => Err("its parent is not known"),
    };
    match left {
        Ok(left) => orphan(facts, &left),
        Err(why) => no(why),
    }
}

fn gone(facts: &Facts) -> Left {
    let since = prompted(facts);
    Left {
        words: "its parent no longer exists",
        since,
        from: since,
    }
}

/// When its present turn was asked for.
fn prompted(facts: &Facts) -> UnixMs {
    let prompt = facts.session.tail.last_user();
    prompt.map_or(facts.session.info.created, |prompt| prompt.created)
}

fn left_by(facts: &Facts, parent: &Session) -> Result<Left, &'static str> {
    let up = facts.beside(parent);
    if !up.is_idle() {
        return Err("its parent is not reported idle");
    }
    if !up.knows_messages() {
        return Err("the messages of its parent are not current");
    }
    if up.open_answer().is_some() {
        return Err("its parent was cut off with it");
    }
    let ended = up.activity.since.filter(|_| has_ended(up.activity.state));
    let ended = ended.ok_or("its parent has not ended")?;
    let task = task_of(facts, &parent.tail);
    if task.is_none() && !parent.tail.whole {
        return Err("the task that started it is not among the messages known");
    }
    if task.is_some_and(|task| task.background) {
        return Err("it works in the background");
    }
    let over = task.and_then(|task| task.end).unwrap_or(ended);
    if prompted(facts) >= over {
        return Err("it was prompted by itself after its task");
    }
    let status = &parent.status;
    let idle = status.seen_change.then(|| facts.at(status.since));
    Ok(Left {
        words: "its parent has ended",
        since: ended,
        from: ended.max(idle.unwrap_or(ended)),
    })
}

/// The newest task of the parent that runs, or ran, this session.
fn task_of<'a>(facts: &Facts, parent: &'a Tail) -> Option<&'a ToolPart> {
    let parts = parent
        .messages
        .iter()
        .rev()
        .flat_map(|m| m.parts.iter().rev());
    let mut tools = parts.filter_map(Part::tool);
    tools.find(|tool| tool.child.as_ref() == Some(&facts.session.info.id))
}

fn orphan(facts: &Facts, left: &Left) -> Answer {
    let at = left.from + facts.limits.child_orphan;
    if facts.now < at {
        return settles(Level::Watch, at, "its parent has only just let go of it");
    }
    let age = ago(facts.now, left.since);
    let how = if facts.reported.is_running() {
        "still runs"
    } else {
        "left open"
    };
    let text = format!("{how}, {}; since {}", left.words, age.words);
    found(Level::Watch, Some(left.since), text)
        .with_some("message", facts.activity.message.as_ref())
        .with_some("parent", facts.session.info.parent.as_ref())
        .with("age_ms", facts.now.since(left.since))
        .with("limit_ms", facts.limits.child_orphan)
        .recheck(age.until)
        .yes()
}
