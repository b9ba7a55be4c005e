//! `lost-ask`: the model asked, its question runs, and the server does not know of it: nobody can
//! answer it, and it waits for ever.
//!
//! Sure only when the list was read twice since it began, each time without it. What looks the
//! same: a question that has only just begun, one that is listed, one that was answered a moment
//! ago, a list that was read once or that cannot be read.

use super::Rule;
use crate::core::judge::held::holds_up;
use crate::core::judge::say::{Found, ago, found, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Message, Part, ToolPart, ToolState};
use serde_json::Value;

/// A list that was asked for so soon after the question began need not name it yet.
const TOO_SOON: Span = Span::secs(1);
/// By when the list is read a second time, as a rule.
const SECOND_READ: Span = Span::secs(5);
/// By when it is read a second time, if it ever is.
const LATE_READ: Span = Span::mins(2);

pub(super) const RULE: Rule = Rule {
    id: "lost-ask",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "stuck",
    meaning: "The model asked you something, but the server lost the question: it cannot be answered.",
    offers: &[Offer::Abort, Offer::Export],
    check,
};

/// A running question that no ask stands for.
struct Unlisted<'a> {
    message: &'a Message,
    part: &'a Part,
    tool: &'a ToolPart,
    /// Since when it should be listed: it was started, or an ask of it went.
    begun: UnixMs,
}

fn check(facts: &Facts) -> Answer {
    if !facts.is_busy() {
        return no("not reported busy");
    }
    let Some(message) = facts.open_answer() else {
        return no("no answer is open");
    };
    let mut parts = message.parts.iter();
    let Some(question) = parts.find_map(|part| unlisted(facts, message, part)) else {
        return no("no question runs that is not listed");
    };
    let reads = reads_since(facts, question.begun + TOO_SOON);
    let sure = question.begun + facts.limits.lost_ask;
    match reads.as_slice() {
        [] => no("the list of questions was not read since it began"),
        [once] => read_once(facts.now, *once, sure),
        _ if facts.now < sure => settles(Level::Stuck, sure, "the question has only just begun"),
        _ => lost(facts, &question).yes(),
    }
}

fn unlisted<'a>(facts: &Facts, message: &'a Message, part: &'a Part) -> Option<Unlisted<'a>> {
    let tool = part.tool().filter(|tool| tool.tool == "question")?;
    let start = tool.start.filter(|_| tool.state == ToolState::Running)?;
    if facts
        .asks()
        .any(|it| it.ask.tool.is_none() || holds_up(it, message, part))
    {
        return None;
    }
    let released = &facts.session.watch.released;
    let gone = tool.call.as_ref().and_then(|call| released.get(call));
    Some(Unlisted {
        message,
        part,
        tool,
        begun: gone.map_or(start, |at| facts.at(*at).max(start)),
    })
}

/// When the list was asked for with success since `then`; newest first, server's clock.
fn reads_since(facts: &Facts, then: UnixMs) -> Vec<UnixMs> {
    let view = facts.server.directories.get(&facts.session.info.directory);
    let reads = view.into_iter().flat_map(|view| view.question_reads);
    let reads = reads.flatten().map(|at| facts.at(at));
    reads.filter(|at| *at >= then).collect()
}

/// What the second read says decides, and no time but that of the read.
fn read_once(now: UnixMs, read: UnixMs, sure: UnixMs) -> Answer {
    let soon = (read + SECOND_READ).max(sure);
    let late = read + LATE_READ;
    let why = "it is not listed; a second read of the list decides";
    if now < soon {
        settles(Level::Stuck, soon, why)
    } else if now < late {
        settles(Level::Stuck, late, why)
    } else {
        no("not listed, but the list was read only once since")
    }
}

fn lost(facts: &Facts, question: &Unlisted) -> Found {
    let age = ago(facts.now, question.begun);
    let asked = question.tool.questions.as_ref();
    let words = asked.and_then(|asked| asked[0]["question"].as_str());
    let what = match words {
        Some(words) => format!("\"{words}\""),
        None => "a question".to_owned(),
    };
    let age_words = &age.words;
    let text = format!("asked {age_words} ago, but the server has lost it: {what}");
    found(Level::Stuck, Some(question.begun), text)
        .with("message", &question.message.id)
        .with("part", &question.part.id)
        .with_some("question", words)
        .with_some("options", asked.map(options))
        .with("age_ms", facts.now.since(question.begun))
        .with("limit_ms", facts.limits.lost_ask)
        .recheck(age.until)
}

/// What may be chosen: a list of labels for each question.
fn options(asked: &Value) -> Vec<Vec<&str>> {
    asked
        .as_array()
        .into_iter()
        .flatten()
        .map(|question| {
            let options = question["options"].as_array().into_iter().flatten();
            options.filter_map(|it| it["label"].as_str()).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_read_is_waited_on_in_two_steps() {
        let at = |seconds: i64| UnixMs(seconds * 1000);
        let settles_at = |now, sure| match read_once(at(now), at(100), at(sure)) {
            Answer::Settles { at, .. } => Some(at),
            _ => None,
        };
        assert_eq!(settles_at(104, 60), Some(at(105)));
        assert_eq!(settles_at(104, 109), Some(at(109)));
        assert_eq!(settles_at(105, 60), Some(at(220)));
        assert_eq!(settles_at(220, 60), None);
    }
}
