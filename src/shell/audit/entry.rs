//! What is written of an action: its two lines.
//!
//! Invariants: every text is cleaned and bounded; the two lines of an action have its id, and each
//! names the session, so that one without the other can still be read.

use super::SCHEMA;
use crate::core::app::{App, Outcome};
use crate::core::id::{SessionId, SessionKey};
use crate::core::judge::Verdict;
use crate::core::plan::reset::{ResetOrder, Subject};
use crate::core::plan::{Plan, Step};
use crate::core::present::clean;
use crate::core::time::{Span, UnixMs};
use serde::Serialize;
use serde_json::{Value, json};

/// Characters of a name or a title.
const NAME: usize = 200;
/// Characters of a line of a plan, and of a text that is sent: enough to know it again.
const LINE: usize = 200;
/// Lines of a plan.
const LINES: usize = 100;
/// Characters of an outcome.
const TEXT: usize = 1000;

/// What a session was before or after an action, in the words of `status --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// What its server said.
    pub reported: String,
    /// What its messages and parts showed.
    pub activity: String,
    /// Its level.
    pub level: String,
    /// Its leading finding.
    pub finding: Option<String>,
}

impl Standing {
    /// By this verdict.
    pub fn of(verdict: &Verdict) -> Self {
        Self {
            reported: clean(verdict.reported.word()),
            activity: verdict.activity.state.word().to_owned(),
            level: verdict.level.word().to_owned(),
            finding: verdict.leading().map(|it| it.name.to_string()),
        }
    }
}

/// An action that is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its server's name.
    pub server: String,
    /// Its server's URL, without credentials.
    pub url: String,
    /// On which session.
    pub session: SessionId,
    /// What it is called.
    pub title: String,
    /// `abort`, `reset`, `answer`, `resend` …
    pub action: &'static str,
    /// What will be done and lost, a line each: as it was shown.
    pub plan: Vec<String>,
    /// A text that is sent: a prompt, an answer.
    pub sent: Option<String>,
    /// How the session stood.
    pub before: Option<Standing>,
}

impl Entry {
    /// An action on this session, as the app knows it now.
    pub fn new(app: &App, key: &SessionKey, action: &'static str, plan: &[String]) -> Self {
        let spec = app.store.server(key.server).map(|server| &server.spec);
        let session = app.store.session(key);
        Self {
            server: spec.map(|it| it.name.clone()).unwrap_or_default(),
            url: spec.map(|it| it.url.clone()).unwrap_or_default(),
            session: key.session.clone(),
            title: session.map(|it| it.info.title.clone()).unwrap_or_default(),
            action,
            plan: plan.to_vec(),
            sent: None,
            before: app.verdict(key).map(Standing::of),
        }
    }

    /// A reset: its plan is found rung by rung, so what is agreed to beforehand is recorded.
    pub fn of_reset(app: &App, subject: &Subject, order: &ResetOrder) -> Self {
        let allowed = order.allowed.iter().map(|it| it.word());
        let plan = allowed.map(|it| format!("allowed: {it}"));
        Self {
            title: subject.title.clone(),
            ..Self::new(app, &order.key, "reset", &plan.collect::<Vec<_>>())
        }
    }

    /// A plan, with the text that it sends, if any.
    pub fn of(app: &App, plan: &Plan) -> Self {
        let entry = Self::new(app, &plan.key, plan.action.word(), &plan.lines);
        let sent = plan.steps.iter().find_map(|step| match step {
            Step::Prompt { text, .. }
            | Step::Reject {
                message: Some(text),
                ..
            } => Some(text.clone()),
            Step::Reply { answers, .. } => Some(answers.concat().join(", ")),
            _ => None,
        });
        Self {
            title: plan.title.clone(),
            sent,
            ..entry
        }
    }
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// What became of it.
    pub outcome: Outcome,
    /// How the session stands, if it was read again.
    pub after: Option<Standing>,
}

pub(super) fn begin_line(id: &str, at: UnixMs, entry: &Entry) -> Value {
    let mut line = common(id, at, "begin", entry);
    let shown = entry.plan.iter().take(LINES);
    let plan: Vec<String> = shown.map(|it| bounded(it, LINE)).collect();
    line["url"] = json!(bounded(&entry.url, NAME));
    line["title"] = json!(bounded(&entry.title, NAME));
    line["plan"] = json!(plan);
    line["before"] = json!(entry.before);
    if let Some(sent) = &entry.sent {
        line["sent"] = json!(bounded(sent, LINE));
    }
    line
}

pub(super) fn end_line(id: &str, at: UnixMs, took: Span, entry: &Entry, ending: &Ending) -> Value {
    let (outcome, text) = words(&ending.outcome);
    let mut line = common(id, at, "end", entry);
    line["outcome"] = json!(outcome);
    line["text"] = json!(bounded(text, TEXT));
    line["after"] = json!(ending.after);
    line["took_ms"] = json!(took.as_ms().max(0));
    line
}

fn common(id: &str, at: UnixMs, phase: &str, entry: &Entry) -> Value {
    json!({
        "schema": SCHEMA,
        "id": id,
        "at": at,
        "phase": phase,
        "server": bounded(&entry.server, NAME),
        "session": bounded(entry.session.as_str(), NAME),
        "action": entry.action,
    })
}

fn words(outcome: &Outcome) -> (&'static str, &str) {
    match outcome {
        Outcome::Done(text) => ("done", text),
        Outcome::NoEffect(text) => ("no-effect", text),
        Outcome::Failed(text) => ("failed", text),
    }
}

/// One safe line of at most so many characters.
fn bounded(text: &str, most: usize) -> String {
    let cut: String = text.chars().take(most).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    clean(&cut) + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_or_a_person_wrote_is_cleaned_and_bounded() {
        let entry = Entry {
            server: "home".to_owned(),
            url: "http://h:1".to_owned(),
            session: SessionId::from("ses_\u{1b}[2J"),
            title: "\u{202e}".repeat(300),
            action: "resend",
            plan: vec!["a\nb".to_owned(); 300],
            sent: Some("ü".repeat(300)),
            before: None,
        };
        let line = begin_line("1", UnixMs(2), &entry);
        assert_eq!(line["session"], "ses_␛[2J");
        assert_eq!(line["title"], "�".repeat(200) + "…");
        assert_eq!(line["plan"].as_array().map(Vec::len), Some(100));
        assert_eq!(line["plan"][0], "a b");
        assert_eq!(line["sent"], "ü".repeat(200) + "…");
    }
}
