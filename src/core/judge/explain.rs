//! Everything that led to a verdict: the facts as they were, every rule and its answer.

use crate::core::id::SessionKey;
use crate::core::judge::facts::Facts;
use crate::core::judge::{Explanation, Limits, Verdict, family, judge_all, one};
use crate::core::store::{Reported, Store};
use crate::core::time::UnixMs;

/// Explains a session, roll-up included, from nothing but the store. `now` is the watcher's clock.
pub fn explain(
    store: &Store,
    key: &SessionKey,
    now: UnixMs,
    limits: &Limits,
) -> Option<Explanation> {
    let joined = judge_all(store, now, limits).verdicts.remove(key)?;
    explain_verdict(store, joined, now, limits)
}

/// Explains a verdict that is up to date, as a kept [`super::Judge`] has it: the other sessions are
/// not judged again.
pub fn explain_verdict(
    store: &Store,
    verdict: Verdict,
    now: UnixMs,
    limits: &Limits,
) -> Option<Explanation> {
    let facts = Facts::new(store, &verdict.key, now, limits)?;
    let mut tried = Vec::new();
    one::judge(&facts, Some(&mut tried));
    tried.extend(family::tried(&verdict));
    let mut rows = list(store, &facts);
    if let Some(why) = &verdict.blind {
        rows.insert(0, ("unknown because".to_owned(), why.to_string()));
    }
    Some(Explanation {
        verdict,
        activity_why: facts.why.clone(),
        tried,
        facts: rows,
    })
}

fn list(store: &Store, facts: &Facts) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    row("reported", reported(facts));
    for (name, value) in status_rows(facts) {
        row(name, value);
    }
    for (name, value) in message_rows(facts) {
        row(name, value);
    }
    for pending in &facts.session.asks {
        row("ask", format!("{} {}", pending.ask.id, pending.ask.text()));
    }
    for (name, value) in watch_rows(facts) {
        row(name, value);
    }
    let key = SessionKey::new(facts.server_id, facts.session.info.id.clone());
    if let Some(parent) = family::parent(store, &key) {
        row("parent", parent.session.to_string());
    }
    rows
}

fn reported(facts: &Facts) -> String {
    match &facts.reported {
        Reported::Unknown(why) => format!("unknown: {}", why.reason()),
        Reported::Retry(retry) => format!("retry, attempt {}: {}", retry.attempt, retry.message),
        other => other.word().to_owned(),
    }
}

fn age(facts: &Facts, watcher: UnixMs) -> String {
    format!("{} ago", facts.now.since(facts.at(watcher)))
}

fn reported_since(facts: &Facts) -> String {
    let status = &facts.session.status;
    if status.since == UnixMs::default() {
        return "not told yet".to_owned();
    }
    let change = if status.seen_change {
        "the change was seen"
    } else {
        "so since first looked at"
    };
    format!("{}, {change}", age(facts, status.since))
}

fn status_rows(facts: &Facts) -> Vec<(&'static str, String)> {
    let status = &facts.session.status;
    let mut rows = vec![("reported since", reported_since(facts))];
    if let Some(told) = status.told_at {
        rows.push(("last named", age(facts, told)));
    }
    rows.push(("last changed", {
        format!("{} ago", facts.now.since(facts.last_changed()))
    }));
    rows.push(("skew", format!("{} ms", facts.server.skew.as_ms())));
    rows
}

fn message_rows(facts: &Facts) -> Vec<(&'static str, String)> {
    let tail = &facts.session.tail;
    let read = match (tail.read_at, &tail.failed) {
        (_, Some(text)) => format!("failed: {text}"),
        (None, None) => "never".to_owned(),
        (Some(at), None) => age(facts, at),
    };
    let mut rows = vec![
        ("messages read", read),
        ("messages known", tail.messages.len().to_string()),
    ];
    if let Some(answer) = tail.last_assistant() {
        let end = match (&answer.completed, &answer.finish) {
            (None, _) => "open".to_owned(),
            (Some(at), None) => format!("completed {} ago", facts.now.since(*at)),
            (Some(at), Some(finish)) => {
                format!("completed {} ago, finish {finish}", facts.now.since(*at))
            }
        };
        rows.push(("last answer", format!("{} {end}", answer.id)));
    }
    if let Some(inbox) = &facts.session.inbox {
        let prompts = facts.session.waiting_prompts().count();
        let notes = inbox.items.len() - prompts;
        rows.push(("inbox", format!("{prompts} prompts, {notes} notes")));
    }
    for part in tail.live_parts() {
        let what = part.tool().map_or("text", |tool| tool.tool.as_str());
        rows.push(("live part", format!("{} {what}", part.id)));
    }
    rows
}

fn disposed_at(facts: &Facts) -> Option<UnixMs> {
    let home = &facts.session.info.directory;
    facts.server.directories.get(home)?.disposed_at
}

fn watch_rows(facts: &Facts) -> Vec<(&'static str, String)> {
    let watch = &facts.session.watch;
    let seen = [
        ("last progress seen", watch.progress_at),
        ("last seen running here", watch.ran_here_at),
        ("last changed without an event", watch.unheard_at),
        ("abort sent from here", watch.abort_sent_at),
        ("its project disposed", disposed_at(facts)),
        ("server last found closed", facts.server.refused_at),
    ];
    let mut rows: Vec<_> = seen
        .into_iter()
        .filter_map(|(name, at)| Some((name, age(facts, at?))))
        .collect();
    if let Some(error) = &watch.error {
        let when = age(facts, error.at);
        let text = format!("{}: {}, {when}", error.failure.name, error.failure.message);
        rows.push(("last error heard", text));
    }
    rows
}
