//! Reset: the ladder that ends a stuck state, one rung at a time, each from a fresh survey.
//!
//! What it does: say which rung is [`next`], what it will do and lose, and what else it hits; and name
//! the whole [`ladder`] beforehand. What it does not: climb. Invariants: no part is set while anything
//! of the family runs; rungs that hit more than the session need a consent of their own; nothing
//! here removes a message or a part.

mod ladder;
mod next;
mod rungs;

pub use ladder::{Ladder, ladder};
pub use next::{Next, next};
pub use rungs::ALSO_ENDS;

use super::survey::{Survey, Surveyed};
use super::{Settle, Step, is_healthy};
use crate::core::id::{Directory, MessageId, SessionId, SessionKey};
use crate::core::judge::{Finding, Level, Verdict};
use crate::core::store::Store;
use crate::core::time::Span;
use crate::core::wire::Ask;
use std::collections::BTreeSet;

/// A rung, from the gentlest up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RungName {
    /// Reject what is asked, or abort, children included.
    Stop,
    /// When idle: dismiss ghosts, set tool parts that never ended to error.
    Repair,
    /// Take back a pending revert.
    Unrevert,
    /// End the project's instance, every run in it included.
    Dispose,
    /// Go on in a copy that ends before the broken turn.
    Fork,
}

/// What a person must have agreed to by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Consent {
    /// Other runs of the project end.
    Dispose,
    /// A new session is made.
    Fork,
    /// It may run in another OpenCode on this data, whose result would be lost.
    Elsewhere,
}

impl Consent {
    /// The word for `--allow`: `dispose`, `fork`, `elsewhere`.
    pub fn word(self) -> &'static str {
        match self {
            Consent::Dispose => "dispose",
            Consent::Fork => "fork",
            Consent::Elsewhere => "elsewhere",
        }
    }
}

/// What was known of the session when the reset was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Cause {
    /// It, or what lies below it, is seen running in another process: hands off.
    pub elsewhere: bool,
    /// Whose open answer is certain to be written by nobody. Any other that is idle here may be
    /// written by another OpenCode on this data.
    pub certain: BTreeSet<SessionId>,
    /// The provider refuses its history.
    pub poisoned: bool,
    /// A revert is what was found, nothing else.
    pub reverted: bool,
    /// It runs, and nothing is wrong with it.
    pub healthy: bool,
}

/// What the verdicts of a session and of those below it mean for a reset.
pub fn cause<'a>(verdict: &'a Verdict, below: impl Iterator<Item = &'a Verdict>) -> Cause {
    let family: Vec<&Verdict> = std::iter::once(verdict).chain(below).collect();
    let certain = family.iter().filter(|it| {
        let cut_off = found(it, "interrupted").is_some_and(|it| it.level == Level::Stuck);
        let ended = !it.activity.state.is_working();
        ended || (cut_off && it.settling.is_none())
    });
    Cause {
        elsewhere: family
            .iter()
            .any(|it| found(it, "running-elsewhere").is_some()),
        certain: certain.map(|it| it.key.session.clone()).collect(),
        poisoned: found(verdict, "poisoned-history").is_some(),
        reverted: verdict
            .leading()
            .is_some_and(|it| it.name == "revert-pending"),
        healthy: is_healthy(verdict),
    }
}

fn found<'a>(verdict: &'a Verdict, name: &str) -> Option<&'a Finding> {
    verdict.findings.iter().find(|it| it.name == name)
}

/// What a person saw when agreeing: if it is so no longer, the agreement was to something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Premise {
    /// Something of the family ran.
    pub runs: bool,
    /// The newest prompt.
    pub newest: Option<MessageId>,
}

impl Premise {
    /// By this survey.
    pub fn of(survey: &Survey) -> Self {
        let root = survey.root();
        let mut prompts = root.into_iter().flat_map(|it| it.trail.iter().rev());
        let newest = prompts.find(|it| it.is_user());
        Self {
            runs: survey.runs(),
            newest: newest.map(|it| it.id.clone()),
        }
    }

    /// Why what is seen now is another state of things than what was agreed to.
    pub fn broken_by(&self, now: &Survey) -> Option<&'static str> {
        if now.root().is_some_and(|it| it.gone) {
            return None;
        }
        let seen = Premise::of(now);
        if seen.newest != self.newest {
            return Some("a new prompt came since it was looked at, so nothing more is done");
        }
        (seen.runs && !self.runs)
            .then_some("it runs again since it was looked at, so nothing more is done")
    }
}

/// Whom to survey.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The session.
    pub session: SessionId,
    /// Its directory, as it was known: a deleted session is looked for there.
    pub directory: Directory,
    /// Its title, as it was known.
    pub title: String,
    /// Subagents that are known, at any depth.
    pub known_below: Vec<SessionId>,
    /// What they were heard to ask: counts where the list of asks cannot be read (one permission that
    /// the server cannot put into JSON spoils the list of its whole directory).
    pub known_asks: Vec<Ask>,
}

/// As the store knows it; also a deleted session that still runs. `None`: no such session.
pub fn subject(store: &Store, key: &SessionKey) -> Option<Subject> {
    let server = store.server(key.server)?;
    if let Some(session) = server.sessions.get(&key.session) {
        let below = super::descendants(server, &key.session);
        return Some(Subject {
            session: key.session.clone(),
            directory: session.info.directory.clone(),
            title: session.info.title.clone(),
            known_below: below.iter().map(|it| it.info.id.clone()).collect(),
            known_asks: std::iter::once(session)
                .chain(below)
                .flat_map(|it| server.pending(it).map(|it| it.ask.clone()))
                .collect(),
        });
    }
    let zombie = server.strangers.get(&key.session)?;
    Some(Subject {
        session: key.session.clone(),
        directory: zombie.directory.clone(),
        title: format!("deleted session {}", key.session),
        known_below: Vec::new(),
        known_asks: Vec::new(),
    })
}

/// What is to be reset, and what may be done for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResetOrder {
    /// Which session.
    pub key: SessionKey,
    /// Its title.
    pub title: String,
    /// What was known of it.
    pub cause: Cause,
    /// What was agreed to.
    pub allowed: BTreeSet<Consent>,
    /// What was climbed before and did not help.
    pub tried: Tried,
    /// What was seen when it was agreed to; none: what is seen at the start.
    pub premise: Option<Premise>,
    /// The server's clock minus the watcher's.
    pub skew: Span,
}

/// One rung, ready to be climbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rung {
    /// Which.
    pub name: RungName,
    /// In this order.
    pub steps: Vec<Step>,
    /// Who must have settled afterwards.
    pub settle: Vec<Settle>,
    /// What it does and loses, a line each.
    pub lines: Vec<String>,
    /// What must have been agreed to.
    pub needs: Option<Consent>,
}

/// What was climbed so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tried {
    /// The rungs, in their order.
    pub rungs: Vec<RungName>,
    /// Who was stopped: absent from status proves nothing of them, their answer must be completed.
    pub stopped: BTreeSet<SessionId>,
}

impl Tried {
    /// One more rung.
    pub fn add(&mut self, rung: &Rung) {
        self.rungs.push(rung.name);
        let ran = rung.settle.iter().map(|it| it.session.clone());
        self.stopped.extend(ran);
    }

    /// Nothing yet.
    pub fn is_empty(&self) -> bool {
        self.rungs.is_empty()
    }

    /// Its run was told to end and its answer was not completed: whatever status says, it may
    /// still be in the server's hands (seen with tools that block the server's own threads, and
    /// right after a dispose, which empties the status before the runs have ended).
    fn hangs(&self, row: &Surveyed) -> bool {
        self.stopped.contains(&row.session) && !row.gone && row.has_open_answer()
    }
}
