//! How the end of a wait is told: a line for people, a document (schema `ocwatch.wait/1`) for
//! scripts.

use crate::core::id::SessionKey;
use crate::core::judge::Verdict;
use crate::core::present::{Line, Piece, Tone, clean};
use crate::core::store::Store;
use crate::core::time::UnixMs;
use crate::core::wait::{End, Outcome};
use serde_json::{Value, json};

/// For scripts. Fields are only added within a schema number. `at` is the watcher's clock. `end` is
/// none when time was over; `outcome` is its word then.
pub fn wait_json(
    store: &Store,
    key: &SessionKey,
    verdict: Option<&Verdict>,
    (outcome, end): (&str, Option<&End>),
    now: UnixMs,
) -> Value {
    let session = store.session(key);
    json!({
        "schema": "ocwatch.wait/1",
        "at": now,
        "server": store.server(key.server).map(|it| &it.spec.name),
        "id": key.session,
        "title": session.map(|it| &it.info.title),
        "outcome": outcome,
        "reached": end.is_some_and(|it| it.reached),
        "finding": end.and_then(|it| it.finding),
        "reported": verdict.map(|it| it.reported.word()),
        "activity": verdict.map(|it| it.activity.state),
        "text": text(verdict, end, now),
    })
}

/// For people: where, how it ended, why.
pub fn wait_line(
    store: &Store,
    key: &SessionKey,
    verdict: Option<&Verdict>,
    (outcome, end): (&str, Option<&End>),
    now: UnixMs,
) -> Line {
    let server = store.server(key.server);
    let server = server.map_or("?", |it| it.spec.name.as_str());
    let name = clean(&format!("{server}/{}", key.session));
    let text = clean(&text(verdict, end, now));
    vec![
        Piece::new(format!("{name}: "), Tone::Plain),
        Piece::new(outcome, tone(end)),
        Piece::new(format!(": {text}"), Tone::Plain),
    ]
}

fn tone(end: Option<&End>) -> Tone {
    match end.map(|it| it.outcome) {
        Some(Outcome::Done | Outcome::Empty) => Tone::Working,
        Some(Outcome::NeedsYou) => Tone::NeedsYou,
        Some(Outcome::Stuck | Outcome::Failed) => Tone::Stuck,
        Some(Outcome::Aborted | Outcome::Gone | Outcome::Lost) | None => Tone::Watch,
    }
}

/// Why it ended, or what it still does.
fn text(verdict: Option<&Verdict>, end: Option<&End>, now: UnixMs) -> String {
    if let Some(end) = end {
        return match (end.finding, end.text.as_str()) {
            (Some(name), "") => name.to_owned(),
            (Some(name), text) => format!("{text} ({name})"),
            (None, text) => text.to_owned(),
        };
    }
    let Some(verdict) = verdict else {
        return "nothing is known of it".to_owned();
    };
    let (reported, activity) = (verdict.reported.word(), &verdict.activity);
    let mut text = format!("still {reported}, {}", activity.state.word());
    if let Some(since) = activity.since {
        text.extend([" for ", &now.since(since).words()]);
    }
    if let Some(detail) = &activity.detail {
        text.extend([": ", detail]);
    }
    text
}
