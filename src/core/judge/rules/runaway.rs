//! `runaway`: a run that goes round in circles: answer after answer to one prompt that ends nothing,
//! or the same call with the same output over and over.
//!
//! OpenCode goes on after an answer of finish `unknown` without any bound (1.18.33), and with some
//! providers after `stop`. It also goes on after an answer with a tool call, whatever its finish:
//! that is ordinary work, so such answers do not count. What else looks the same: a loop that polls
//! (its input or output changes), answers to several prompts, summaries.

use super::Rule;
use crate::core::judge::agreement::has_ended;
use crate::core::judge::say::{found, no, tool_words};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::wire::{Message, Part, ToolPart, ToolState};

pub(super) const RULE: Rule = Rule {
    id: "runaway",
    at_rest: false,
    watched: false,
    by_age: false,
    needs_messages: true,
    needs_whole: false,
    levels: "stuck; watch from the fifth of the same call in a row",
    meaning: "It repeats itself and gets nowhere: abort it, and do not go on with the same model.",
    offers: &[Offer::Abort, Offer::Export, Offer::Reset],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.reported.is_running() {
        return no("not reported running");
    }
    if facts.activity.state == ActivityState::Unanswered {
        return no("a newer prompt is about to be answered");
    }
    let answers = answers(facts);
    let Some(last) = answers.last() else {
        return no("no answer to a prompt is known");
    };
    let limits = facts.limits;
    let endless = [
        ("unknown", limits.runaway_unknown),
        ("stop", limits.runaway_stop),
    ];
    let mut endless = endless.into_iter();
    let endless = endless.find_map(|(finish, limit)| endless_answers(&answers, finish, limit));
    match endless {
        Some(endless) => endless.say(facts, last),
        None => repeats(facts, &answers),
    }
}

/// It runs away beyond doubt.
pub(super) fn is_stuck(facts: &Facts) -> bool {
    matches!(check(facts), Answer::Yes { finding, .. } if finding.level == Level::Stuck)
}

/// The answers to the prompt that the newest answer is for, oldest first.
fn answers<'a>(facts: &Facts<'a>) -> Vec<&'a Message> {
    let tail = &facts.session.tail;
    let parent = tail.last_assistant().and_then(|m| m.parent.as_ref());
    let Some(parent) = parent else {
        return Vec::new();
    };
    let messages = tail.messages.iter();
    messages
        .filter(|m| !m.summary && m.parent.as_ref() == Some(parent))
        .collect()
}

/// Completed answers that should have been the last one.
struct Endless<'a> {
    finish: &'static str,
    limit: u32,
    answers: Vec<&'a Message>,
}

fn endless_answers<'a>(
    answers: &[&'a Message],
    finish: &'static str,
    limit: u32,
) -> Option<Endless<'a>> {
    let ends = |m: &&Message| m.completed.is_some() && m.finish.as_deref() == Some(finish);
    let works = |m: &Message| m.parts.iter().any(|part| part.tool().is_some());
    let answers = answers.iter().copied().filter(|m| ends(m) && !works(m));
    let answers: Vec<_> = answers.collect();
    let enough = u32::try_from(answers.len()).is_ok_and(|n| n >= limit);
    enough.then_some(Endless {
        finish,
        limit,
        answers,
    })
}

impl Endless<'_> {
    fn say(&self, facts: &Facts, last: &Message) -> Answer {
        let count = self.answers.len();
        let text = format!(
            "{count} answers to one prompt ended with \"{}\", and it goes on",
            self.finish
        );
        let since = self.answers.first().map(|m| m.created);
        found(Level::Stuck, since, text)
            .with("message", &last.id)
            .with_some("parent", last.parent.as_ref())
            .with("finish", self.finish)
            .with("answers", count)
            .with("limit", self.limit)
            .with_some("age_ms", since.map(|at| facts.now.since(at)))
            .yes()
    }
}

fn repeats(facts: &Facts, answers: &[&Message]) -> Answer {
    if has_ended(facts.activity.state) {
        return no("its turn has ended");
    }
    let calls: Vec<Call> = answers.iter().flat_map(|m| calls_of(m)).collect();
    let ended = calls.iter().rev().filter(|(_, _, tool)| !tool.is_live());
    let Some(newest) = ended.clone().next() else {
        return no("no call of this turn has ended");
    };
    let live = calls
        .iter()
        .filter(|(_, _, tool)| tool.state == ToolState::Running);
    if live
        .into_iter()
        .any(|call| !is_asked_alike(call.2, newest.2))
    {
        return no("it does something else now");
    }
    let row: Vec<_> = ended
        .take_while(|call| is_alike(call.2, newest.2))
        .collect();
    let count = u32::try_from(row.len()).unwrap_or(u32::MAX);
    let (level, limit) = match count {
        n if n >= facts.limits.runaway_same_stuck => {
            (Level::Stuck, facts.limits.runaway_same_stuck)
        }
        n if n >= facts.limits.runaway_same_watch => {
            (Level::Watch, facts.limits.runaway_same_watch)
        }
        _ => return no("its calls or their outputs change"),
    };
    say_repeats(facts, level, limit, &row)
}

/// A call, with its message and part.
type Call<'a> = (&'a Message, &'a Part, &'a ToolPart);

fn calls_of(message: &Message) -> impl Iterator<Item = Call<'_>> {
    let parts = message.parts.iter();
    parts.filter_map(move |part| Some((message, part, part.tool()?)))
}

fn is_asked_alike(a: &ToolPart, b: &ToolPart) -> bool {
    a.tool == b.tool && a.input_digest == b.input_digest
}

fn is_alike(a: &ToolPart, b: &ToolPart) -> bool {
    is_asked_alike(a, b) && a.state == b.state && a.output == b.output && a.error == b.error
}

/// `row`: newest first.
fn say_repeats(facts: &Facts, level: Level, limit: u32, row: &[&Call]) -> Answer {
    let (Some((message, part, tool)), Some((first, _, oldest))) = (row.first(), row.last()) else {
        return no("its calls or their outputs change");
    };
    let what = tool_words(&tool.tool, &tool.subject);
    let count = row.len();
    let since = oldest.start.unwrap_or(first.created);
    let text = format!("{what}: the same call with the same output {count} times in a row");
    found(level, Some(since), text)
        .with("message", &message.id)
        .with("part", &part.id)
        .with("tool", &tool.tool)
        .with("command", what)
        .with("times", count)
        .with("limit", limit)
        .with("age_ms", facts.now.since(since))
        .yes()
}
