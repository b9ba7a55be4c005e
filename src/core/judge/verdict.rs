//! The words of a judgement. Types and their order; how they come about is told by the rules.

use crate::core::id::{MessageId, PartId, ServerId, SessionId, SessionKey};
use crate::core::store::{Reported, Session};
use crate::core::time::UnixMs;
use crate::core::wire::Ask;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// How much a session needs a person. `Unknown` stands apart: never shown as ok or idle; it sorts
/// lowest only so that `max` over known levels works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing is known that could be judged.
    Unknown,
    /// Nothing to do.
    Ok,
    /// Worth a look.
    Watch,
    /// Waits for an answer or a decision.
    NeedsYou,
    /// Will not go on by itself.
    Stuck,
}

impl Level {
    /// The word in JSON and on screen.
    pub fn word(self) -> &'static str {
        match self {
            Level::Unknown => "unknown",
            Level::Ok => "ok",
            Level::Watch => "watch",
            Level::NeedsYou => "needs-you",
            Level::Stuck => "stuck",
        }
    }
}

/// What messages and parts show (patterns: "activity").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivityState {
    /// Nothing known.
    Unread,
    /// No messages.
    Empty,
    /// An open answer without parts.
    Starting,
    /// Text or reasoning is open.
    Streaming,
    /// A tool call's arguments are being written.
    WritingArguments,
    /// A tool runs.
    RunningTool,
    /// A task runs in a child session.
    Subagent,
    /// A live part waits for an answer.
    Asking,
    /// An open summary.
    Compacting,
    /// All parts ended, the loop goes on.
    BetweenSteps,
    /// The newest message is the user's.
    Unanswered,
    /// The last answer carries an error.
    Failed,
    /// The last answer was aborted.
    Aborted,
    /// Ended before its natural end.
    EndedEarly,
    /// Ended.
    Done,
}

impl ActivityState {
    /// Every state, in the order of the documentation.
    pub const ALL: [ActivityState; 15] = [
        ActivityState::Unread,
        ActivityState::Empty,
        ActivityState::Starting,
        ActivityState::Streaming,
        ActivityState::WritingArguments,
        ActivityState::RunningTool,
        ActivityState::Subagent,
        ActivityState::Asking,
        ActivityState::Compacting,
        ActivityState::BetweenSteps,
        ActivityState::Unanswered,
        ActivityState::Failed,
        ActivityState::Aborted,
        ActivityState::EndedEarly,
        ActivityState::Done,
    ];

    /// The word in JSON and documentation.
    pub fn word(self) -> &'static str {
        match self {
            ActivityState::Unread => "unread",
            ActivityState::Empty => "empty",
            ActivityState::Starting => "starting",
            ActivityState::Streaming => "streaming",
            ActivityState::WritingArguments => "writing-arguments",
            ActivityState::RunningTool => "running-tool",
            ActivityState::Subagent => "subagent",
            ActivityState::Asking => "asking",
            ActivityState::Compacting => "compacting",
            ActivityState::BetweenSteps => "between-steps",
            ActivityState::Unanswered => "unanswered",
            ActivityState::Failed => "failed",
            ActivityState::Aborted => "aborted",
            ActivityState::EndedEarly => "ended-early",
            ActivityState::Done => "done",
        }
    }

    /// One sentence for the README's table of status words.
    pub fn meaning(self) -> &'static str {
        match self {
            ActivityState::Unread => "nothing was read of it",
            ActivityState::Empty => "no messages yet",
            ActivityState::Starting => "an answer was begun, nothing in it yet",
            ActivityState::Streaming => "text or reasoning is being written",
            ActivityState::WritingArguments => "the model writes the arguments of a tool call",
            ActivityState::RunningTool => "a tool runs",
            ActivityState::Subagent => "a task runs in a child session",
            ActivityState::Asking => "it waits for a permission or an answer",
            ActivityState::Compacting => "a summary of the history is being written",
            ActivityState::BetweenSteps => "a step ended, the next has not begun",
            ActivityState::Unanswered => "the newest message is a prompt without an answer",
            ActivityState::Failed => "the last answer ended with an error",
            ActivityState::Aborted => "the last answer was aborted",
            ActivityState::EndedEarly => "it ended before the answer was finished",
            ActivityState::Done => "the last answer is finished",
        }
    }

    /// A turn that has not ended, as its messages show it.
    pub fn is_working(self) -> bool {
        matches!(
            self,
            ActivityState::Starting
                | ActivityState::Streaming
                | ActivityState::WritingArguments
                | ActivityState::RunningTool
                | ActivityState::Subagent
                | ActivityState::Asking
                | ActivityState::Compacting
                | ActivityState::BetweenSteps
        )
    }
}

/// The derived activity with the facts it rests on. Times are the server's.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// Which.
    pub state: ActivityState,
    /// Since when, where told.
    pub since: Option<UnixMs>,
    /// The message that decides.
    pub message: Option<MessageId>,
    /// The part that decides.
    pub part: Option<PartId>,
    /// The tool's name.
    pub tool: Option<String>,
    /// One line: the command, the file, the child's id, the error.
    pub detail: Option<String>,
    /// User messages newer than an open answer.
    pub queued_prompts: u32,
}

/// Whether the report and the activity can both be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// They agree.
    Agree,
    /// They contradict each other.
    Disagree,
    /// One of them is not known.
    Unknown,
}

/// What a person can do about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offer {
    /// Answer the ask.
    Answer,
    /// Stop the turn.
    Abort,
    /// Write it to a file.
    Export,
    /// Climb the ladder until it settles.
    Reset,
    /// Send the prompt again.
    Resend,
    /// Leave it; it may go on by itself.
    Wait,
    /// Tell it to go on.
    Continue,
    /// Take a stale ask off the list.
    Dismiss,
    /// Go on in a copy that ends before the broken turn.
    Fork,
    /// Take back a pending revert.
    Unrevert,
    /// End the project's instance, with every run in it.
    Dispose,
    /// Have what waits in the inbox go in now.
    Run,
}

impl Offer {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Offer::Answer => "answer",
            Offer::Abort => "abort",
            Offer::Export => "export",
            Offer::Reset => "reset",
            Offer::Resend => "resend",
            Offer::Wait => "wait",
            Offer::Continue => "continue",
            Offer::Dismiss => "dismiss",
            Offer::Fork => "fork",
            Offer::Unrevert => "unrevert",
            Offer::Dispose => "dispose",
            Offer::Run => "run",
        }
    }
}

/// Ids, states and ages that a finding rests on; enough to check it by hand.
pub type Evidence = Map<String, Value>;

/// A named reason why a person should look.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule's id: `stale-busy`, …
    pub name: &'static str,
    /// Its level, after decay.
    pub level: Level,
    /// Since when it is so; server's clock.
    pub since: Option<UnixMs>,
    /// A sentence for a person.
    pub text: String,
    /// What it rests on.
    pub evidence: Evidence,
    /// What can be done.
    pub offers: Vec<Offer>,
    /// Of `subagent-*`: the way down to the cause, child first.
    pub path: Vec<SessionId>,
}

/// What a session will be called if nothing happens, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settling {
    /// The rule's id.
    pub name: &'static str,
    /// The level it would have.
    pub level: Level,
    /// When; server's clock.
    pub at: UnixMs,
}

/// What a rule says of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Does not apply, and why.
    No(Cow<'static, str>),
    /// Does not apply, but may by time alone at `at`. Unlike [`Answer::Settles`] nothing is suspected yet.
    Later {
        /// When to ask again; server's clock.
        at: UnixMs,
        /// Why it does not apply now.
        why: Cow<'static, str>,
    },
    /// Cannot say before `at` (server's clock); until then the session shows what it would become.
    Settles {
        /// The level it would have.
        level: Level,
        /// When to ask again.
        at: UnixMs,
        /// What is waited for.
        why: Cow<'static, str>,
    },
    /// Applies. `recheck` is when its level or text can next change by time alone.
    Yes {
        /// What was found.
        finding: Finding,
        /// When to ask again; server's clock.
        recheck: Option<UnixMs>,
    },
}

/// One rule that was tried, for `explain`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// The rule's id.
    pub rule: &'static str,
    /// Its answer.
    pub answer: Answer,
}

/// The judgement of one session. Times are the server's.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whose.
    pub key: SessionKey,
    /// The level: that of the leading finding, `Ok` without one, `Unknown` when it cannot be judged.
    pub level: Level,
    /// What the server says.
    pub reported: Reported,
    /// What messages and parts show.
    pub activity: Activity,
    /// Whether the two can both be true.
    pub agreement: Agreement,
    /// Leading one first: most severe, then oldest.
    pub findings: Vec<Finding>,
    /// What it is about to be called.
    pub settling: Option<Settling>,
    /// Pending asks: its own, then those of its descendants.
    pub asks: Vec<Ask>,
    /// Why the level is unknown although the report is known: what cannot be seen. `None` at any
    /// other level, and where [`Reported::Unknown`] tells it.
    pub blind: Option<Cow<'static, str>>,
    /// A word about a session without a finding: why report and activity disagree although nothing
    /// is wrong (a fork's copy), or what could not be watched. `None` where a finding, or what it
    /// settles to, tells more.
    pub note: Option<Cow<'static, str>>,
    /// When it can next change by time alone; server's clock.
    pub recheck: Option<UnixMs>,
    /// Another server on the same data tells of the session instead (see [`super::told_by`]).
    pub told_by: Option<ServerId>,
}

impl Verdict {
    /// Whether its session belongs on lists and into counts: where another server tells of it, not
    /// here; an archived one only while it runs, asks, or has a finding that counts.
    pub fn is_listed(&self, session: &Session) -> bool {
        self.told_by.is_none() && self.is_current(session)
    }

    fn is_current(&self, session: &Session) -> bool {
        session.info.archived.is_none()
            || self.reported.is_running()
            || !self.asks.is_empty()
            || self.level > Level::Ok
    }

    /// The leading finding.
    pub fn leading(&self) -> Option<&Finding> {
        self.findings.first()
    }
}

/// The judgement of one server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerVerdict {
    /// Which.
    pub server: ServerId,
    /// `state` of interface schema `ocwatch.status/1`: `live connecting unreachable wedged
    /// unauthorized not-opencode degraded`.
    pub state: &'static str,
    /// Its findings, leading first.
    pub findings: Vec<Finding>,
    /// The error of a lost link, one line.
    pub error: Option<String>,
}

/// Everything that `explain` tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the activity is what it is, one line.
    pub activity_why: Cow<'static, str>,
    /// Every rule, in the table's order, then what lies below (`subagent-*`), with its answer.
    pub tried: Vec<Tried>,
    /// The raw facts: name and value, in reading order.
    pub facts: Vec<(String, String)>,
}
