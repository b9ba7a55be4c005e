//! What an action would do, as data: steps with what each changes, no I/O.
//!
//! What it does: turn a wish ("abort this") into steps that the shell carries out and that a
//! dialog prints beforehand. What it does not: carry anything out, or decide that anything should
//! be done; nothing acts unless a person asked for it.

mod abort;
pub mod answer;
pub mod repair;
mod resend;
pub mod reset;
mod stop;
pub mod survey;

pub use abort::abort;
pub use resend::{CONTINUE, Draft, Refused, Resend, answered_last, draft, resend};

use crate::core::id::{AskId, Directory, MessageId, PartId, SessionId, SessionKey};
use crate::core::judge::{Level, Verdict};
use crate::core::store::{ReadOnly, Server, Session, Store};
use crate::core::wire::{AskKind, Dialect, ModelRef};
use std::collections::{BTreeMap, BTreeSet};

/// What a person can ask for, by the name that rows, log and audit give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionName {
    /// Stop what runs.
    Abort,
    /// Climb the ladder until it settles.
    Reset,
    /// Answer or reject what is asked.
    Answer,
    /// Send a prompt again, or tell it to go on.
    Resend,
    /// Write it to a file.
    Export,
}

impl ActionName {
    /// The word: `abort`, `reset`, `answer`, `resend`, `export`.
    pub fn word(self) -> &'static str {
        match self {
            ActionName::Abort => "abort",
            ActionName::Reset => "reset",
            ActionName::Answer => "answer",
            ActionName::Resend => "resend",
            ActionName::Export => "export",
        }
    }
}

impl std::fmt::Display for ActionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// Why nothing may be changed on this session's server: it is only read, by the person's own wish or
/// because its API is that of OpenCode 2.x. Asked before anything is planned, shown or sent.
pub fn refused(store: &Store, key: &SessionKey) -> Option<String> {
    if let Some(why) = unexportable(store, key) {
        return Some(why.to_owned());
    }
    let spec = &store.server(key.server)?.spec;
    let place = spec.read_only?.place();
    Some(format!("{} is read only ({place})", spec.name))
}

/// Why nothing can be exported from this session's server either. That it is only read is no reason:
/// an export changes nothing there.
pub fn unexportable(store: &Store, key: &SessionKey) -> Option<&'static str> {
    let server = store.server(key.server)?;
    let dialect = server.dialect;
    if server.spec.read_only == Some(ReadOnly::Replay) {
        return Some("this is a replay: there is no server to ask");
    }
    let why = "its server is an OpenCode 2.x: ocwatch shows it, but does not act on it or export from it yet";
    (dialect == Some(Dialect::V2)).then_some(why)
}

/// What a plan begins with where nothing needs to be done.
pub const HEALTHY: &str = "nothing is wrong with it as far as can be seen: it is working right now";

/// It runs, and nothing is found or suspected: ending that is most likely a slip of the hand.
pub fn is_healthy(verdict: &Verdict) -> bool {
    verdict.level == Level::Ok && verdict.reported.is_running() && verdict.settling.is_none()
}

/// One thing to do on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Reject a pending ask: ends its turn cleanly and leaves no ghost.
    Reject {
        /// Which list it is in.
        kind: AskKind,
        /// Which ask.
        ask: AskId,
        /// Whose.
        session: SessionId,
        /// The session's directory: a reply through another one is 404.
        directory: Directory,
        /// Of a permission: with words the agent goes on and hears them, without the turn ends.
        message: Option<String>,
    },
    /// Grant a permission.
    Allow {
        /// Which ask.
        ask: AskId,
        /// Whose.
        session: SessionId,
        /// The session's directory.
        directory: Directory,
        /// From now on for its `always` patterns; else this once.
        always: bool,
    },
    /// Answer a question.
    Reply {
        /// Which ask.
        ask: AskId,
        /// Whose.
        session: SessionId,
        /// The session's directory.
        directory: Directory,
        /// One list of labels or free texts per question; an empty one is "Unanswered".
        answers: Vec<Vec<String>>,
    },
    /// Set a part that is open for ever to a valid error state: PATCH of the whole part. Never while busy.
    Repair {
        /// Whose.
        session: SessionId,
        /// The session's directory.
        directory: Directory,
        /// In which message.
        message: MessageId,
        /// Which part.
        part: PartId,
    },
    /// End the project's instance: every run of that directory is aborted.
    Dispose {
        /// Which.
        directory: Directory,
    },
    /// A copy without the messages from `before` on.
    Fork {
        /// Of which session.
        session: SessionId,
        /// The first message that is left out; none: all are copied.
        before: Option<MessageId>,
    },
    /// Take back a pending revert.
    Unrevert {
        /// Of which session.
        session: SessionId,
    },
    /// Send a prompt. A 204 guarantees nothing: only the message read back proves it.
    Prompt {
        /// To which session.
        session: SessionId,
        /// What.
        text: String,
        /// To which agent; none: the server's default one, whatever the session had.
        agent: Option<String>,
        /// With which model; none: the session's own.
        model: Option<ModelRef>,
        /// The newest message when it was planned: once there is a newer one, nothing is sent.
        after: Option<MessageId>,
    },
    /// `POST /session/:id/abort`. Always answers `true`; only reading again proves anything.
    Abort {
        /// Whose turn.
        session: SessionId,
        /// The session's directory.
        directory: Directory,
    },
}

impl Step {
    /// The directory that it is about, where it names one.
    pub fn directory(&self) -> Option<&Directory> {
        match self {
            Step::Reject { directory, .. }
            | Step::Allow { directory, .. }
            | Step::Reply { directory, .. }
            | Step::Repair { directory, .. }
            | Step::Dispose { directory }
            | Step::Abort { directory, .. } => Some(directory),
            Step::Fork { .. } | Step::Unrevert { .. } | Step::Prompt { .. } => None,
        }
    }
}

/// A session that must have settled afterwards: absent from status **and** its last answer completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle {
    /// Which.
    pub session: SessionId,
    /// Where to ask for its status.
    pub directory: Directory,
}

/// A planned action on one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What was asked for.
    pub action: ActionName,
    /// Whose.
    pub key: SessionKey,
    /// Its title, for the dialog's heading.
    pub title: String,
    /// In this order.
    pub steps: Vec<Step>,
    /// Who must have settled for it to be called done.
    pub settle: Vec<Settle>,
    /// What will be done and lost, a line each; shown before.
    pub lines: Vec<String>,
    /// The newest prompt of the session when it was planned, if it had been read: what is agreed to later
    /// is about that.
    pub newest: Option<MessageId>,
    /// Nothing was running when it was planned: so nothing may change, and "no effect" is told soon.
    pub idle_before: bool,
}

/// All descendants, nearest first; a cycle ends where it began.
pub fn descendants<'a>(server: &'a Server, root: &'a SessionId) -> Vec<&'a Session> {
    let mut below: BTreeMap<&SessionId, Vec<&Session>> = BTreeMap::new();
    for one in server.sessions.values() {
        if let Some(parent) = &one.info.parent {
            below.entry(parent).or_default().push(one);
        }
    }
    for children in below.values_mut() {
        children.sort_by(|a, b| a.info.id.cmp(&b.info.id));
    }
    let mut seen = BTreeSet::from([root]);
    let mut found: Vec<&Session> = Vec::new();
    let mut next = 0;
    let mut at = root;
    loop {
        for child in below.get(at).into_iter().flatten() {
            if seen.insert(&child.info.id) {
                found.push(child);
            }
        }
        match found.get(next) {
            Some(row) => at = &row.info.id,
            None => return found,
        }
        next += 1;
    }
}

impl Plan {
    /// Whether a newer plan of the same is about another prompt: what was agreed to is over. Where no
    /// message had been read when it was planned, nobody can say so.
    pub fn is_overtaken_by(&self, newer: &Plan) -> bool {
        self.newest.is_some() && self.newest != newer.newest
    }

    /// Says first that what is to be ended seems to be well.
    #[must_use]
    pub fn mindful(mut self, verdict: Option<&Verdict>) -> Self {
        if verdict.is_some_and(is_healthy) {
            self.lines.insert(0, HEALTHY.to_owned());
        }
        self
    }
}
