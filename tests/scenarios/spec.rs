//! What a scenario file may say. Times are offsets (`-12m`, `+15s`) from one base moment.

use ocwatch::core::judge::Limits;
use ocwatch::core::time::{Span, UnixMs};
use serde::Deserialize;
use std::collections::BTreeMap;

pub const BASE: UnixMs = UnixMs(1_795_977_332_003);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What happened, in a sentence.
    #[expect(dead_code, reason = "for the reader of the file")]
    pub about: String,
    /// The finding that it shows, …
    pub shows: Option<String>,
    /// … or those that it only looks like.
    #[serde(default)]
    pub looks_like: Vec<String>,
    #[serde(default = "version")]
    pub version: String,
    #[serde(default = "zero")]
    pub skew: String,
    #[serde(default = "zero")]
    pub first_look: String,
    /// Times at which the messages of every session are read again, and are what they were.
    #[serde(default)]
    pub reread: Vec<String>,
    #[serde(default)]
    pub directory: Vec<Dir>,
    pub session: Vec<Row>,
    #[serde(default)]
    pub event: Vec<Happening>,
    pub expect: Vec<Expect>,
    #[serde(default)]
    pub expect_server: Vec<ExpectServer>,
    /// It listens beyond this machine without a password.
    #[serde(default)]
    pub unsecured: bool,
    /// Its list of sessions was not read to the end.
    #[serde(default)]
    pub partial_list: bool,
    /// Limits of tools by their name, as configured.
    #[serde(default)]
    pub tool_limit: BTreeMap<String, String>,
}

impl Scenario {
    /// Those of the program, and what is configured here.
    pub fn limits(&self) -> Limits {
        let named = self.tool_limit.iter();
        Limits {
            tool_named: named
                .map(|(tool, text)| (tool.clone(), span(text)))
                .collect(),
            ..Limits::default()
        }
    }
}

/// What must follow about a server itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectServer {
    #[serde(default = "zero")]
    pub at: String,
    #[serde(default)]
    pub server: u16,
    pub state: Option<String>,
    /// Names in order; the leading one first.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Each is contained in the leading finding's text.
    #[serde(default)]
    pub text: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dir {
    pub path: String,
    #[serde(default)]
    pub state: String,
    /// The list of asks that cannot be read: `permission` or `question`; `unread`: neither was asked for.
    pub gap: Option<String>,
    #[serde(default = "bad_request")]
    pub gap_status: u16,
    /// Its MCP servers, where they are told.
    pub mcp: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one word of a scenario file"
)]
pub struct Row {
    /// Which server tells it: two can tell of one session.
    #[serde(default)]
    pub server: u16,
    pub id: String,
    pub title: Option<String>,
    pub parent: Option<String>,
    #[serde(default = "home")]
    pub directory: String,
    #[serde(default = "long_ago")]
    pub created: String,
    pub updated: Option<String>,
    pub archived: Option<String>,
    #[serde(default)]
    pub reverted: bool,
    /// It is in no session list; only the run state names it.
    #[serde(default)]
    pub unlisted: bool,
    /// It is in the list of the first connection only.
    #[serde(default)]
    pub forgotten: bool,
    #[serde(default = "idle")]
    pub status: String,
    pub retry: Option<RetryRow>,
    #[serde(default)]
    pub unread: bool,
    /// Its messages were read, but not from the first one on.
    #[serde(default)]
    pub partial: bool,
    /// So many of its messages and parts could not be read, from its newest answer on.
    #[serde(default)]
    pub missing: usize,
    #[serde(default)]
    pub message: Vec<MessageRow>,
    #[serde(default)]
    pub ask: Vec<AskRow>,
    /// What waits to go in (2.x).
    #[serde(default)]
    pub inbox: Vec<InboxRow>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct InboxRow {
    pub id: String,
    /// `user`, or another kind, which wants no answer.
    #[serde(default = "user")]
    pub kind: String,
    pub at: String,
    #[serde(default)]
    pub text: String,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct RetryRow {
    pub attempt: u32,
    /// Absent: the server does not say when.
    pub next: Option<String>,
    #[serde(default)]
    pub message: String,
    /// What a person must do first.
    pub action: Option<String>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct MessageRow {
    pub id: String,
    pub from: String,
    pub at: String,
    pub parent: Option<String>,
    pub completed: Option<String>,
    pub finish: Option<String>,
    pub error: Option<ErrorRow>,
    #[serde(default)]
    pub summary: bool,
    #[serde(default)]
    pub structured: bool,
    #[serde(default)]
    pub parts: Vec<PartRow>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct ErrorRow {
    pub name: String,
    #[serde(default)]
    pub message: String,
    pub status: Option<u16>,
}

#[derive(Deserialize, Clone, Default)]
#[serde(deny_unknown_fields, default)]
pub struct PartRow {
    pub id: Option<String>,
    pub text: Option<String>,
    pub synthetic: bool,
    pub reasoning: Option<String>,
    pub step: Option<String>,
    pub tool: Option<String>,
    pub state: String,
    pub start: Option<String>,
    pub end: Option<String>,
    pub call: Option<String>,
    pub subject: String,
    pub timeout: Option<String>,
    pub keys: Vec<String>,
    pub output: Option<String>,
    /// What the tool was called with, as far as sameness goes.
    pub input: String,
    /// A task that works on in the background.
    pub background: bool,
    /// A request to compact.
    pub compaction: bool,
    /// What a question asks, …
    pub question: Option<String>,
    /// … and what may be chosen.
    pub options: Vec<String>,
    /// A kind of part that has no fields here: `file`, `patch`, …
    pub kind: Option<String>,
    pub child: Option<String>,
    pub error: Option<String>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct AskRow {
    pub id: String,
    pub kind: String,
    /// Message and call.
    pub tool: Option<(String, String)>,
    #[serde(default)]
    pub permission: Option<String>,
    #[serde(default)]
    pub patterns: Vec<String>,
    pub question: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happening {
    pub at: String,
    #[serde(default)]
    pub server: u16,
    pub session: Option<String>,
    pub status: Option<String>,
    pub retry: Option<RetryRow>,
    pub message: Option<MessageRow>,
    /// Of this message (with `part`).
    pub of: Option<String>,
    pub part: Option<PartRow>,
    pub delta: Option<String>,
    pub error: Option<ErrorRow>,
    pub ask: Option<AskRow>,
    pub closed: Option<String>,
    pub lost: Option<String>,
    /// Its row is gone: `deleted` (an event) or `404` (an answer).
    pub gone: Option<String>,
    /// This program sends an abort.
    #[serde(default)]
    pub abort_sent: bool,
    /// The watcher's clock jumps.
    #[serde(default)]
    pub clock_jumped: bool,
    /// The instance of this directory is disposed.
    pub disposed: Option<String>,
    /// Its messages are read again, and are these.
    pub read: Option<Vec<MessageRow>>,
    /// A list of asks is read again: `permission` or `question`, of the session's directory, …
    pub asks_read: Option<String>,
    /// … and these are pending.
    #[serde(default)]
    pub asks: Vec<AskRow>,
    /// A new connection: who is not idle now.
    pub reconnected: Option<BTreeMap<String, String>>,
    /// The inbox was read again.
    pub inbox: Option<Vec<InboxRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    #[serde(default = "zero")]
    pub at: String,
    #[serde(default)]
    pub server: u16,
    pub session: String,
    pub reported: Option<String>,
    pub activity: Option<String>,
    /// What it is about (`none`: nothing is told), …
    pub detail: Option<String>,
    /// … and words of why it is so.
    pub why: Option<String>,
    pub level: String,
    pub agree: Option<bool>,
    /// It stands in lists and counts.
    pub listed: Option<bool>,
    /// Names in order; the leading one first.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Name of what it is about to be called.
    pub settling: Option<String>,
    /// Level of that, …
    pub settling_level: Option<String>,
    /// … and until when it settles.
    pub settles_at: Option<String>,
    /// Of the leading finding.
    pub offers: Option<Vec<String>>,
    /// Each is contained in the leading finding's text.
    #[serde(default)]
    pub text: Vec<String>,
    /// None of these is.
    #[serde(default)]
    pub unsaid: Vec<String>,
    /// Facts of the leading finding.
    #[serde(default)]
    pub evidence: BTreeMap<String, serde_json::Value>,
    /// Of the leading finding.
    pub path: Option<Vec<String>>,
    /// Contained in what is said of an unknown level.
    pub blind: Option<String>,
    /// Contained in the word about a session without a finding; `none`: there is no word.
    pub note: Option<String>,
    /// Rules that do not apply, with words of their reason.
    #[serde(default)]
    pub no: BTreeMap<String, String>,
    pub asks: Option<usize>,
    pub queued: Option<u32>,
}

fn version() -> String {
    "1.18.33".into()
}
fn zero() -> String {
    "0s".into()
}
fn bad_request() -> u16 {
    400
}
fn home() -> String {
    "/srv/app".into()
}
fn long_ago() -> String {
    "-400d".into()
}
fn user() -> String {
    "user".into()
}
fn idle() -> String {
    "idle".into()
}

/// `-1h30m`, `+500ms`, `3d`.
pub fn span(text: &str) -> Span {
    let (sign, rest) = match text.split_at_checked(1) {
        Some(("-", rest)) => (-1, rest),
        Some(("+", rest)) => (1, rest),
        _ => (1, text),
    };
    let mut total = 0;
    let mut rest = rest;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).expect("a unit");
        let number: i64 = rest[..digits].parse().expect("a number");
        let after = &rest[digits..];
        let unit = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        total += number
            * match &after[..unit] {
                "ms" => 1,
                "s" => 1_000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                unit => panic!("unknown unit {unit}"),
            };
        rest = &after[unit..];
    }
    Span(sign * total)
}

/// Watcher's time.
pub fn at(text: &str) -> UnixMs {
    BASE + span(text)
}
