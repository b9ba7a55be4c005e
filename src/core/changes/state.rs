//! The states between which changes are told: the few words of a verdict that do not age.

use crate::core::judge::{ActivityState, Level, ServerVerdict, Verdict};
use serde::Serialize;

/// A state of a session or of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum State {
    /// Of a session.
    Session(SessionState),
    /// Of a server.
    Server(ServerState),
}

/// What counts as a change of a session is a difference between two of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionState {
    /// The level.
    pub level: Level,
    /// Name of the leading finding, as in `status`: also of one that has decayed to `ok`.
    pub finding: Option<&'static str>,
    /// `reported.type`: `idle busy retry unknown`, or the name of a type that we do not know.
    pub reported: String,
    /// The state of the activity.
    pub activity: ActivityState,
    /// Name of what it is about to be called.
    pub settling: Option<&'static str>,
}

/// What the mark of a session says of it, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// Not known.
    Unknown,
    /// Ok and at rest.
    Rest,
    /// Ok and working.
    Working,
    /// About to become something.
    Settling,
    /// Watch.
    Watch,
    /// Needs a person.
    NeedsYou,
    /// Stuck.
    Stuck,
}

impl Standing {
    /// How this one stands. Not by its messages alone: a fork's copied tool is open for ever and runs
    /// nowhere.
    pub fn of(verdict: &Verdict) -> Self {
        let runs = verdict.reported.is_running();
        Self::made_of(verdict.level, verdict.settling.is_some(), runs)
    }

    fn made_of(level: Level, settles: bool, runs: bool) -> Self {
        match level {
            Level::Stuck => Self::Stuck,
            Level::NeedsYou => Self::NeedsYou,
            Level::Watch => Self::Watch,
            Level::Unknown => Self::Unknown,
            Level::Ok if settles => Self::Settling,
            Level::Ok if runs => Self::Working,
            Level::Ok => Self::Rest,
        }
    }
}

impl SessionState {
    pub(super) fn of(verdict: &Verdict) -> Self {
        Self {
            level: verdict.level,
            finding: leading(verdict),
            reported: verdict.reported.word().to_owned(),
            activity: verdict.activity.state,
            settling: settling(verdict),
        }
    }

    /// Whether the verdict is still this state: [`SessionState::of`] without making one.
    pub(super) fn is_of(&self, verdict: &Verdict) -> bool {
        self.level == verdict.level
            && self.finding == leading(verdict)
            && self.reported == verdict.reported.word()
            && self.activity == verdict.activity.state
            && self.settling == settling(verdict)
    }

    /// How it stands, in one word of the marks.
    pub fn standing(&self) -> Standing {
        let runs = matches!(self.reported.as_str(), "busy" | "retry");
        Standing::made_of(self.level, self.settling.is_some(), runs)
    }

    /// At rest or unknown: nothing that a person would be told of by itself.
    pub(super) fn is_quiet(&self) -> bool {
        let at_rest = self.reported == "idle" && self.settling.is_none();
        match self.level {
            Level::Unknown => true,
            Level::Ok => at_rest,
            Level::Watch | Level::NeedsYou | Level::Stuck => false,
        }
    }
}

fn leading(verdict: &Verdict) -> Option<&'static str> {
    verdict.leading().map(|finding| finding.name)
}

fn settling(verdict: &Verdict) -> Option<&'static str> {
    verdict.settling.as_ref().map(|it| it.name)
}

/// What counts as a change of a server is a difference between two of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerState {
    /// That of its leading finding, `ok` without one.
    pub level: Level,
    /// Name of its leading finding.
    pub finding: Option<&'static str>,
    /// Names of all of its findings, each once, leading first.
    pub findings: Vec<&'static str>,
    /// As in `status`: `live unreachable wedged unauthorized not-opencode degraded`.
    pub state: &'static str,
}

impl ServerState {
    pub(super) fn of(verdict: &ServerVerdict) -> Self {
        let leading = verdict.findings.first();
        let mut findings: Vec<&'static str> = Vec::new();
        for finding in &verdict.findings {
            if !findings.contains(&finding.name) {
                findings.push(finding.name);
            }
        }
        Self {
            level: leading.map_or(Level::Ok, |finding| finding.level),
            finding: leading.map(|finding| finding.name),
            findings,
            state: verdict.state,
        }
    }
}
