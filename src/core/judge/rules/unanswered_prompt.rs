//! `unanswered-prompt`: idle, and the newest message is a prompt that nobody answered. What looks
//! the same: a note that wants no answer (`noReply`; it cannot be told apart, so this is `watch`),
//! a fork that ends on a prompt, a session with `revert` set, a prompt that an abort left behind,
//! one that another watched server on the same data is answering, or an OpenCode that is not
//! watched (`running-elsewhere`).
//! An error that was heard since the prompt makes it certain.

use super::Rule;
use crate::core::judge::elsewhere::{RUNS_ELSEWHERE, knows_better, unheard_until};
use crate::core::judge::say::{ago, found, later, no, settles};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Failure, Message};

/// A clock difference that is taken as none.
const SAME_TIME: Span = Span::secs(2);

pub(super) const RULE: Rule = Rule {
    id: "unanswered-prompt",
    at_rest: true,
    watched: true,
    by_age: true,
    needs_messages: true,
    needs_whole: true,
    levels: "watch; stuck when an error was heard since the prompt",
    meaning: "The newest message is your prompt, and nothing works on an answer.",
    offers: &[Offer::Resend, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    if facts.activity.state != ActivityState::Unanswered {
        return no("the newest message is not an unanswered prompt");
    }
    let Some(prompt) = facts.message() else {
        return no("no message decides");
    };
    if facts.session.info.reverted {
        return no("a revert is pending: later messages are hidden");
    }
    if facts.is_copy(prompt) {
        return no("copied by a fork: it was never sent in this session");
    }
    if let Some(why) = knows_better(facts, prompt) {
        return no(why);
    }
    if let Some(until) = unheard_until(facts) {
        return later(until, RUNS_ELSEWHERE);
    }
    let error = error(facts, prompt);
    let level = match error {
        Some(_) => Level::Stuck,
        None => Level::Watch,
    };
    let at = quiet_since(facts, prompt) + facts.limits.unanswered;
    if facts.now < at {
        return settles(level, at, "the prompt is young");
    }
    unanswered(facts, prompt, level, error)
}

/// The prompt itself, the end of the answer during which it was sent, or the idle report that we
/// saw begin after it.
fn quiet_since(facts: &Facts, prompt: &Message) -> UnixMs {
    let status = &facts.session.status;
    let idle = status.seen_change.then(|| facts.at(status.since));
    let answer = facts.session.tail.last_assistant();
    let ended = answer.and_then(|answer| answer.completed);
    let later = [idle, ended].into_iter().flatten();
    later.fold(prompt.created, UnixMs::max)
}

/// An error that was heard at or after the prompt; an abort is none.
fn error<'a>(facts: &Facts<'a>, prompt: &Message) -> Option<&'a Failure> {
    let seen = facts.session.watch.error.as_ref()?;
    let after = facts.at(seen.at) + SAME_TIME >= prompt.created;
    Some(&seen.failure).filter(|failure| after && !failure.is_abort())
}

/// An abort ended the turn during which it was sent.
fn is_stranded(facts: &Facts, prompt: &Message) -> bool {
    let answers = facts.session.tail.messages.iter().rev();
    let last = answers.filter(|m| m.is_assistant()).take(1);
    last.into_iter().any(|m| {
        let aborted = m.error.as_ref().is_some_and(Failure::is_abort);
        aborted && m.completed.is_some_and(|end| prompt.created <= end)
    })
}

fn unanswered(facts: &Facts, prompt: &Message, level: Level, error: Option<&Failure>) -> Answer {
    let age = ago(facts.now, prompt.created);
    let stranded = is_stranded(facts, prompt);
    let text = match error {
        Some(error) => format!("{}: {}", error.name, error.message),
        None if stranded => format!("left behind by an abort, {} ago", age.words),
        None => format!(
            "sent {} ago, no answer was begun (a note that wants none looks the same)",
            age.words
        ),
    };
    found(level, Some(prompt.created), text)
        .with("message", &prompt.id)
        .with("age_ms", facts.now.since(prompt.created))
        .with("stranded", stranded)
        .with_some("error", error.map(|error| &error.name))
        .recheck(age.until)
        .yes()
}
