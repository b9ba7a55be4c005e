//! What `check` tells: one line that plugins of Nagios, status lines and prompts can show, or one
//! document (schema `ocwatch.check/1`), and how grave it is.
//!
//! What it does: count sessions and findings of servers by level, name the gravest. What it does
//! not: count what is not known: asleep projects, and what still settles. Invariant: the line is one
//! line, and `|` stands in it once, before the numbers.

use crate::core::app::App;
use crate::core::id::SessionKey;
use crate::core::judge::{Finding, Level, Verdict};
use crate::core::present::{Line, words};
use crate::core::present::{Piece, Tone, clean};
use crate::core::time::UnixMs;
use serde_json::{Value, json};

/// Characters of a title, of what was found, of why a server could not be read.
const LONG: [usize; 3] = [32, 60, 80];

/// How grave it is: the exit codes of `check`, which are those of Nagios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gravity {
    /// 0: nothing to do.
    Ok,
    /// 1: something is `watch`.
    Warning,
    /// 2: something is `needs-you` or `stuck`.
    Critical,
    /// 3: a server could not be read, and nothing that could be read is critical.
    Unknown,
}

impl Gravity {
    /// The word of Nagios.
    pub fn word(self) -> &'static str {
        match self {
            Gravity::Ok => "OK",
            Gravity::Warning => "WARNING",
            Gravity::Critical => "CRITICAL",
            Gravity::Unknown => "UNKNOWN",
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// How grave it is.
    pub gravity: Gravity,
    /// Sessions and findings of servers by level: stuck, needs-you, watch.
    counts: [usize; 3],
    /// Sessions that are known.
    sessions: usize,
    /// Those of them that run.
    running: usize,
    /// Servers that could not be read, each with its reason.
    unread: Vec<String>,
    /// The gravest, if anything is.
    leading: Option<Leading>,
}

#[derive(Debug, Clone, PartialEq)]
struct Leading {
    level: Level,
    server: String,
    session: Option<(SessionKey, String)>,
    finding: &'static str,
    text: String,
}

/// Looks at everything that is known. `fail_on`: what is below this level is not counted. `unread`:
/// a line for each server that could not be read.
pub fn check(app: &App, fail_on: Level, unread: Vec<String>) -> Check {
    let mut found: Vec<Leading> = Vec::new();
    let (mut sessions, mut running) = (0, 0);
    for (key, verdict) in &app.judgement().verdicts {
        let Some(row) = app.store.session(key) else {
            continue;
        };
        if !verdict.is_listed(row) || app.is_asleep(key) {
            continue;
        }
        sessions += usize::from(verdict.level > Level::Unknown);
        running += usize::from(verdict.reported.is_running());
        let finding = verdict.leading().filter(|it| it.level >= fail_on);
        found.extend(finding.map(|it| of_session(app, verdict, it)));
    }
    found.extend(of_servers(app, fail_on));
    let count = |level| found.iter().filter(|it| it.level == level).count();
    let counts = [Level::Stuck, Level::NeedsYou, Level::Watch].map(count);
    let gravity = match counts {
        [0, 0, _] if !unread.is_empty() => Gravity::Unknown,
        [0, 0, 0] => Gravity::Ok,
        [0, 0, _] => Gravity::Warning,
        _ => Gravity::Critical,
    };
    // Where it is, before those that only tell of it; sessions before servers.
    let leading = found.into_iter().rev().max_by_key(|it| {
        let itself = !it.finding.starts_with("subagent-");
        (it.level, itself, it.session.is_some())
    });
    Check {
        gravity,
        counts,
        sessions,
        running,
        unread,
        leading,
    }
}

fn of_session(app: &App, verdict: &Verdict, finding: &Finding) -> Leading {
    let key = verdict.key.clone();
    let title = app.store.session(&key).map(|it| it.info.title.as_str());
    let title = words::title(&key.session, title.unwrap_or_default());
    Leading {
        level: finding.level,
        server: server_name(app, &key),
        session: Some((key, title)),
        finding: finding.name,
        text: finding.text.clone(),
    }
}

fn server_name(app: &App, key: &SessionKey) -> String {
    let server = app.store.server(key.server);
    server.map_or_else(String::new, |it| it.spec.name.clone())
}

/// One that could not be read is not counted twice.
fn of_servers(app: &App, fail_on: Level) -> impl Iterator<Item = Leading> + '_ {
    let servers = app.judgement().servers.iter();
    let read = servers.filter_map(|verdict| {
        let server = app.store.server(verdict.server)?;
        Some((verdict, server)).filter(|(_, it)| it.is_reachable())
    });
    read.flat_map(move |(verdict, server)| {
        let counted = verdict
            .findings
            .iter()
            .filter(move |it| it.level >= fail_on);
        counted.map(move |finding| Leading {
            level: finding.level,
            server: server.spec.name.clone(),
            session: None,
            finding: finding.name,
            text: finding.text.clone(),
        })
    })
}

impl Check {
    /// One line: the word, what is the matter with the gravest named, then the numbers.
    pub fn line(&self) -> Line {
        let tone = match self.gravity {
            Gravity::Ok => Tone::Working,
            Gravity::Warning => Tone::Watch,
            Gravity::Critical => Tone::Stuck,
            Gravity::Unknown => Tone::Dim,
        };
        let text = self.text().replace('|', "/");
        let [stuck, needs_you, watch] = self.counts;
        let numbers = format!(
            " | stuck={stuck} needs_you={needs_you} watch={watch} running={} sessions={} unread={}",
            self.running,
            self.sessions,
            self.unread.len()
        );
        vec![
            Piece::new(format!("OCWATCH {}", self.gravity.word()), tone),
            Piece::new(format!(": {}", clean(&text)), Tone::Plain),
            Piece::new(numbers, Tone::Dim),
        ]
    }

    /// Without the numbers.
    fn text(&self) -> String {
        let mut said: Vec<String> = Vec::new();
        let counted = self.counts.iter().zip(["stuck", "needs you", "watch"]);
        said.extend(counted.filter(|(n, _)| **n > 0).map(|(n, word)| {
            let word = if *n > 1 && word == "needs you" {
                "need you"
            } else {
                word
            };
            format!("{n} {word}")
        }));
        let mut text = said.join(", ");
        if let Some(leading) = &self.leading {
            text.extend([": ", &leading.words()]);
        }
        if !self.unread.is_empty() {
            let first = self.unread.iter().take(1);
            let first: String = first.map(|it| cut(it, LONG[2])).collect();
            let more = self.unread.len() - 1;
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let join = if text.is_empty() { "" } else { "; " };
            text.extend([join, "not read: ", &first, &more]);
        }
        if text.is_empty() {
            let (plural, n) = (if self.sessions == 1 { "" } else { "s" }, self.sessions);
            text = format!("{n} session{plural}, {} running", self.running);
        }
        text
    }

    /// The document. `now` is the watcher's clock, `exit` the code that the program ends with.
    pub fn json(&self, exit: u8, now: UnixMs) -> Value {
        let [stuck, needs_you, watch] = self.counts;
        let leading = self.leading.as_ref().map(|it| {
            let session = it.session.as_ref();
            json!({
                "level": it.level,
                "server": it.server,
                "id": session.map(|(key, _)| &key.session),
                "title": session.map(|(_, title)| title),
                "finding": it.finding,
                "text": it.text,
            })
        });
        json!({
            "schema": "ocwatch.check/1",
            "at": now,
            "status": self.gravity.word().to_lowercase(),
            "exit": exit,
            "counts": {"stuck": stuck, "needs-you": needs_you, "watch": watch},
            "sessions": self.sessions,
            "running": self.running,
            "unread": self.unread,
            "leading": leading,
        })
    }
}

impl Leading {
    /// `home/Fix the build: hung-tool: bash has run 12 min, …`.
    fn words(&self) -> String {
        let mut name = self.server.clone();
        if let Some((_, title)) = &self.session {
            name.extend(["/", &cut(title, LONG[0])]);
        }
        format!("{name}: {}: {}", self.finding, cut(&self.text, LONG[1]))
    }
}

/// The first characters.
fn cut(text: &str, most: usize) -> String {
    let mut kept: String = text.chars().take(most).collect();
    if text.chars().nth(most).is_some() {
        kept.push_str("...");
    }
    kept
}
