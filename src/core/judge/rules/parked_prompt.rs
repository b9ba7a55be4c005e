//! `parked-prompt` (2.x): nothing runs, and a prompt waits in the inbox. An interrupt leaves what
//! was queued there, and a prompt that was sent with `resume: false` waits for ever; both go in with
//! the next prompt only. What looks the same: a prompt that was sent this second, one that is queued
//! behind a run, a note of the server (after a `!shell`; it wants no answer), one that another
//! watched server on the same data runs.

use super::Rule;
use crate::core::judge::elsewhere::knows_better;
use crate::core::judge::say::{ago, found, no, settles};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::UnixMs;
use crate::core::wire::InboxItem;

pub(super) const RULE: Rule = Rule {
    id: "parked-prompt",
    at_rest: true,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "watch",
    meaning: "Nothing runs, and your prompt waits in the inbox until the next one (OpenCode 2.x).",
    offers: &[Offer::Run, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    let inbox = facts.session.inbox.as_ref();
    if inbox.is_none_or(|inbox| inbox.epoch != facts.server.epoch) {
        return no("no inbox was read in this connection");
    }
    let prompts: Vec<&InboxItem> = facts.session.waiting_prompts().collect();
    let Some(first) = prompts.iter().min_by_key(|it| (it.created, &it.id)) else {
        return no("no prompt waits to go in");
    };
    let last = facts.session.tail.last();
    if let Some(why) = last.and_then(|message| knows_better(facts, message)) {
        return no(why);
    }
    let at = quiet_since(facts, first) + facts.limits.unanswered;
    if facts.now < at {
        return settles(Level::Watch, at, "it may be about to go in");
    }
    parked(facts, first, prompts.len())
}

/// Its sending, or the idle report that we saw begin after it.
fn quiet_since(facts: &Facts, prompt: &InboxItem) -> UnixMs {
    let status = &facts.session.status;
    let idle = status.seen_change.then(|| facts.at(status.since));
    idle.map_or(prompt.created, |idle| idle.max(prompt.created))
}

fn parked(facts: &Facts, first: &InboxItem, count: usize) -> Answer {
    let age = ago(facts.now, first.created);
    let more = match count - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "\"{}\"{more}, sent {} ago, waits for the next prompt",
        first.text, age.words
    );
    found(Level::Watch, Some(first.created), text)
        .with("prompt", &first.id)
        .with("count", count)
        .with("age_ms", facts.now.since(first.created))
        .recheck(age.until)
        .yes()
}
