//! Sessions with a past: what scenario files and tests say, before it becomes messages.
//!
//! What it does: types for a scenario (read from TOML) and a small builder for tests; all times are ages.
//! What it does not: make messages (see `history`). Invariant: unknown keys are errors, so that a typing
//! mistake in a scenario is seen.

use super::script::{Dur, FailStep, Step};
use super::wire::Todo;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A server with its sessions and what happens later.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// For the list of servers.
    pub name: String,
    /// Of the simulated server.
    pub version: String,
    /// Its working directory, whose instance is the default one.
    pub cwd: String,
    /// `GET /mcp`.
    #[serde(default)]
    pub mcp: BTreeMap<String, Value>,
    /// What it holds at the start.
    #[serde(default, rename = "session")]
    pub sessions: Vec<SessionSeed>,
    /// What happens to it.
    #[serde(default)]
    pub later: Vec<Later>,
}

impl Scenario {
    /// Reads a scenario file.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

/// Something that happens once, some time after the start.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Later {
    /// Since the start.
    pub after: Dur,
    /// The process dies and is away for this long; without it a prompt is sent.
    #[serde(default)]
    pub crash: Option<Dur>,
    /// Key of the session that gets the prompt.
    #[serde(default)]
    pub session: String,
    /// Its text.
    #[serde(default)]
    pub prompt: String,
    /// What the turn does.
    #[serde(default)]
    pub steps: Vec<Step>,
}

/// Turns that come again and again.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cycle {
    /// Between the end of a turn and the next prompt.
    pub pause: Dur,
    /// One after the other, then from the start.
    pub prompts: Vec<CyclePrompt>,
}

/// A prompt of a cycle.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CyclePrompt {
    /// Its text.
    pub prompt: String,
    /// What the turn does.
    pub steps: Vec<Step>,
}

/// A session at the start.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSeed {
    /// Name inside the scenario.
    #[serde(default)]
    pub key: String,
    /// For people.
    pub title: String,
    /// Absolute.
    pub directory: String,
    /// Age; a little more than that of the first turn where absent.
    #[serde(default)]
    pub created: Option<Dur>,
    /// `build` unless told.
    #[serde(default = "build")]
    pub agent: String,
    /// `provider/model`.
    #[serde(default = "scripted")]
    pub model: String,
    /// Key (or id) of the session whose subagent this is.
    #[serde(default)]
    pub parent: Option<String>,
    /// Archived when last changed.
    #[serde(default)]
    pub archived: bool,
    /// Reported busy although nothing runs.
    #[serde(default)]
    pub busy: bool,
    /// Its open turn really runs, with these steps after the open one.
    #[serde(default)]
    pub then: Option<Vec<Step>>,
    /// `GET …/todo`.
    #[serde(default)]
    pub todos: Vec<Todo>,
    /// Its past.
    #[serde(default, rename = "turn")]
    pub turns: Vec<TurnSeed>,
    /// New turns, for ever.
    #[serde(default)]
    pub cycle: Option<Cycle>,
}

fn build() -> String {
    "build".to_owned()
}

fn scripted() -> String {
    "scripted/scripted".to_owned()
}

/// How a turn of the past ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Finish stop, completed.
    #[default]
    Stop,
    /// Finish tool-calls, completed, and no next message.
    ToolCalls,
    /// Finish length.
    Length,
    /// Finish unknown: the loop would go on.
    Unknown,
    /// Finish content-filter.
    ContentFilter,
    /// Not ended: the last message is open.
    Open,
    /// By a person: `MessageAbortedError`.
    Aborted,
    /// By a person during a retry: completed, no finish, no error, no parts.
    Blank,
    /// Never answered.
    Unanswered,
    /// With an error.
    Error(FailStep),
}

/// Who or what began a turn of the past.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A person's prompt.
    #[default]
    Prompt,
    /// The history was compacted: `summary: true`, mode `compaction`.
    Compaction,
    /// A person's `!command`: a synthetic text, and completed without a finish.
    Shell,
}

/// A turn of the past.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnSeed {
    /// How long ago the prompt came.
    pub age: Dur,
    /// Its text; of prompts only.
    #[serde(default)]
    pub prompt: String,
    /// Who or what began it.
    #[serde(default)]
    pub kind: Kind,
    /// What was done.
    #[serde(default, rename = "step")]
    pub steps: Vec<StepSeed>,
    /// How it ended.
    #[serde(default)]
    pub end: End,
}

/// A step of the past.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSeed {
    /// How long it took.
    #[serde(default = "three_seconds")]
    pub took: Dur,
    /// Its part has not ended.
    #[serde(default)]
    pub open: bool,
    /// Lines of output that a bash had written.
    #[serde(default)]
    pub shown: Vec<String>,
    /// Its ask is listed although its part ended.
    #[serde(default)]
    pub ghost: bool,
    /// What it was.
    #[serde(rename = "do")]
    pub step: Step,
}

fn three_seconds() -> Dur {
    Dur(3000)
}

impl StepSeed {
    /// A step that ended after `took_ms` milliseconds.
    pub fn done(step: Step, took_ms: u64) -> Self {
        Self {
            took: Dur(took_ms),
            open: false,
            shown: Vec::new(),
            ghost: false,
            step,
        }
    }

    /// A step whose part is open.
    pub fn open(step: Step) -> Self {
        Self {
            open: true,
            ..Self::done(step, 0)
        }
    }
}

impl TurnSeed {
    /// A turn that was asked for `age_ms` milliseconds ago.
    pub fn new(age_ms: u64, prompt: impl Into<String>, steps: Vec<StepSeed>, end: End) -> Self {
        Self {
            age: Dur(age_ms),
            prompt: prompt.into(),
            kind: Kind::Prompt,
            steps,
            end,
        }
    }

    /// As a compaction or a shell command.
    #[must_use]
    pub fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }
}

impl SessionSeed {
    /// An empty session, a minute old.
    pub fn new(title: impl Into<String>, directory: impl Into<String>) -> Self {
        Self {
            key: String::new(),
            title: title.into(),
            directory: directory.into(),
            created: None,
            agent: build(),
            model: scripted(),
            parent: None,
            archived: false,
            busy: false,
            then: None,
            todos: Vec::new(),
            turns: Vec::new(),
            cycle: None,
        }
    }

    /// With an age of its own, milliseconds.
    #[must_use]
    pub fn aged(mut self, ms: u64) -> Self {
        self.created = Some(Dur(ms));
        self
    }

    /// With one more turn.
    #[must_use]
    pub fn turn(mut self, turn: TurnSeed) -> Self {
        self.turns.push(turn);
        self
    }

    /// As a subagent's session.
    #[must_use]
    pub fn child_of(mut self, parent: impl Into<String>) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// Reported busy although nothing runs.
    #[must_use]
    pub fn busy(mut self) -> Self {
        self.busy = true;
        self
    }

    /// Its open turn really runs, with these steps after the open one.
    #[must_use]
    pub fn running(mut self, then: Vec<Step>) -> Self {
        self.then = Some(then);
        self
    }

    /// Archived.
    #[must_use]
    pub fn archived(mut self) -> Self {
        self.archived = true;
        self
    }
}
