//! Reset: the ladder that ends a stuck state, one rung at a time, each from a fresh survey.
//!
//! What it does: say which rung is next, what it will do and lose, and what else it hits; and name
//! the whole ladder beforehand. What it does not: climb. Invariants: no part is set while anything
//! of the family runs; rungs that hit more than the session need a consent of their own; nothing
//! here removes a message or a part.

use super::stop::{Kin, reject, stop};
use super::survey::{BrokenPart, Survey, Surveyed};
use super::{Settle, Step};
use crate::core::id::{Directory, MessageId, SessionId, SessionKey};
use crate::core::judge::{Level, Verdict};
use crate::core::store::Store;
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Ask, AskKind, Message};
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
pub struct Cause {
    /// It is seen running in another process: hands off.
    pub elsewhere: bool,
    /// It is idle here with an open answer, but whether another process runs it is not certain.
    pub uncertain: bool,
    /// The provider refuses its history.
    pub poisoned: bool,
    /// A revert is what was found, nothing else.
    pub reverted: bool,
}

/// What a verdict means for a reset.
pub fn cause(verdict: &Verdict) -> Cause {
    let found = |name: &str| verdict.findings.iter().find(|it| it.name == name);
    let interrupted = found("interrupted");
    let settles = verdict.settling.as_ref();
    Cause {
        elsewhere: found("running-elsewhere").is_some(),
        uncertain: interrupted.is_some_and(|it| it.level < Level::Stuck)
            || settles.is_some_and(|it| it.name == "interrupted"),
        poisoned: found("poisoned-history").is_some(),
        reverted: verdict
            .leading()
            .is_some_and(|it| it.name == "revert-pending"),
    }
}

/// Whom to survey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The session.
    pub session: SessionId,
    /// Its directory, as it was known: a deleted session is looked for there.
    pub directory: Directory,
    /// Its title, as it was known.
    pub title: String,
    /// Subagents that are known, at any depth.
    pub known_below: Vec<SessionId>,
}

/// As the store knows it; also a deleted session that still runs. `None`: no such session.
pub fn subject(store: &Store, key: &SessionKey) -> Option<Subject> {
    let server = store.server(key.server)?;
    if let Some(session) = server.sessions.get(&key.session) {
        let below = super::abort::descendants(server, &key.session);
        return Some(Subject {
            session: key.session.clone(),
            directory: session.info.directory.clone(),
            title: session.info.title.clone(),
            known_below: below.iter().map(|it| it.info.id.clone()).collect(),
        });
    }
    let zombie = server.strangers.get(&key.session)?;
    Some(Subject {
        session: key.session.clone(),
        directory: zombie.directory.clone(),
        title: format!("deleted session {}", key.session),
        known_below: Vec::new(),
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
    /// Rungs that were climbed before and did not help.
    pub tried: Vec<RungName>,
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

/// What follows from a survey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing (more) is wrong, in words.
    Well(String),
    /// This rung is next.
    Climb(Rung),
    /// Nothing more can be done, in words.
    Stuck(String),
}

/// The next rung for what a survey shows, after those that were tried.
pub fn next(survey: &Survey, cause: &Cause, tried: &[RungName], now: UnixMs) -> Next {
    let Some(root) = survey.root() else {
        return Next::Stuck("nothing of it could be read".to_owned());
    };
    if cause.elsewhere {
        let why = "it runs in another OpenCode on this data: stop it there";
        return Next::Stuck(why.to_owned());
    }
    let untried = |name: RungName| !tried.contains(&name);
    if survey.runs() {
        return if untried(RungName::Stop) {
            Next::Climb(stop_rung(survey))
        } else if untried(RungName::Dispose) {
            Next::Climb(dispose_rung(survey))
        } else {
            Next::Stuck("it still runs after all that can be done".to_owned())
        };
    }
    if root.gone {
        return Next::Well(
            "the session does not exist any more, and nothing of it runs".to_owned(),
        );
    }
    let asks = survey.rows.iter().any(|row| !row.asks.is_empty());
    let broken = survey.rows.iter().any(|row| !row.broken.is_empty());
    if (asks || broken) && untried(RungName::Repair) {
        return Next::Climb(repair_rung(survey, cause, now));
    }
    if asks && untried(RungName::Dispose) {
        return Next::Climb(dispose_rung(survey));
    }
    if (broken || cause.poisoned) && untried(RungName::Fork) {
        return Next::Climb(fork_rung(root, cause));
    }
    if asks || broken {
        return Next::Stuck("what is open cannot be closed".to_owned());
    }
    if root.reverted && cause.reverted && tried.is_empty() {
        return Next::Climb(unrevert_rung(root));
    }
    Next::Well(well(root))
}

/// In words why the next prompt will do.
fn well(root: &Surveyed) -> String {
    let unreadable = root.asks_unread.as_ref();
    let mut words = "the next prompt continues".to_owned();
    if root.reverted {
        words.push_str(" (and deletes what its pending revert hides)");
    }
    if let Some(why) = unreadable {
        words.push_str(&format!("; what it asks could not be read: {why}"));
    }
    words
}

fn stop_rung(survey: &Survey) -> Rung {
    let mut kin: Vec<Kin> = survey.rows.iter().map(kin).collect();
    if let Some(root) = kin.first_mut() {
        root.is_child = false;
    }
    let asks = |id: &SessionId| -> Vec<&Ask> {
        let row = survey.rows.iter().find(|it| it.session == *id);
        row.map_or_else(Vec::new, |row| row.asks.iter().collect())
    };
    let said = survey.root().map(own_turn).unwrap_or_default();
    let stop = stop(&kin, &asks, said);
    let mut lines = stop.lines;
    if let Some(queued) = survey.root().map(Surveyed::waiting_prompts)
        && queued > 0
        && survey.root().is_some_and(Surveyed::has_open_answer)
    {
        lines.push(format!(
            "{queued} queued prompt(s) will be stranded: they stay unanswered until the next prompt"
        ));
    }
    Rung {
        name: RungName::Stop,
        steps: stop.steps,
        settle: stop.settle,
        lines,
        needs: None,
    }
}

fn own_turn(root: &Surveyed) -> String {
    if root.running.is_none() {
        return "nothing of its own runs".to_owned();
    }
    if root.gone {
        return "stop what still runs although the session was deleted".to_owned();
    }
    let live = root.answer().filter(|it| it.is_open());
    let tool = live.and_then(|it| {
        it.parts
            .iter()
            .filter_map(|part| part.tool())
            .find(|t| t.is_live())
    });
    match tool {
        Some(tool) => format!("stop the turn; {} {} is ended", tool.tool, tool.subject),
        None => "stop the turn; what was not yet written is lost".to_owned(),
    }
}

fn kin(row: &Surveyed) -> Kin<'_> {
    Kin {
        session: &row.session,
        directory: &row.directory,
        title: &row.title,
        runs: row.running.is_some(),
        is_child: true,
    }
}

fn repair_rung(survey: &Survey, cause: &Cause, now: UnixMs) -> Rung {
    let mut rung = Rung {
        name: RungName::Repair,
        steps: Vec::new(),
        settle: Vec::new(),
        lines: Vec::new(),
        needs: None,
    };
    for (place, row) in survey.rows.iter().enumerate() {
        let whose = match place {
            0 => String::new(),
            _ => format!(" of its subagent \"{}\"", row.title),
        };
        let kin = kin(row);
        rung.steps
            .extend(row.asks.iter().map(|ask| reject(&kin, ask)));
        for ask in &row.asks {
            let what = ask.text();
            rung.lines.push(format!(
                "dismiss an ask{whose} that nothing waits for: {what}"
            ));
        }
        for part in &row.broken {
            rung.lines.push(format!(
                "mark a tool part{whose} as aborted ({})",
                told(part, now)
            ));
            rung.steps.push(Step::Repair {
                session: row.session.clone(),
                directory: row.directory.clone(),
                message: part.message.clone(),
                part: part.part.clone(),
            });
        }
    }
    let of_shell = survey.rows.iter().flat_map(|row| &row.broken);
    if of_shell.clone().any(|part| part.tool == "bash") {
        let line = "the command may still run on the host; ocwatch cannot end it";
        rung.lines.push(line.to_owned());
    }
    if of_shell.count() > 0 && cause.uncertain {
        let line =
            "it may run in another OpenCode on this data: if so, what its tool gives is lost";
        rung.lines.push(line.to_owned());
        rung.needs = Some(Consent::Elsewhere);
    }
    rung
}

fn told(part: &BrokenPart, now: UnixMs) -> String {
    let mut words = format!("{} {}", part.tool, part.subject)
        .trim_end()
        .to_owned();
    match part.start {
        Some(start) => words.push_str(&format!(", running since {}", now.since(start).words())),
        None => words.push_str(", its arguments were never finished"),
    }
    words
}

fn dispose_rung(survey: &Survey) -> Rung {
    let mut directories: Vec<_> = survey
        .rows
        .iter()
        .filter(|row| row.running.is_some() || !row.asks.is_empty())
        .map(|row| row.directory.clone())
        .collect();
    directories.sort();
    directories.dedup();
    let mut lines = Vec::new();
    for directory in &directories {
        lines.push(format!(
            "dispose the project {directory}: every run of it is aborted"
        ));
    }
    for other in survey
        .neighbours
        .iter()
        .filter(|it| directories.contains(&it.directory))
    {
        let title = other
            .title
            .as_deref()
            .map_or_else(String::new, |it| format!(" \"{it}\""));
        lines.push(format!("this ends also {}{title}", other.session));
    }
    let settle = survey.rows.iter().filter(|row| row.running.is_some());
    Rung {
        name: RungName::Dispose,
        settle: settle
            .map(|row| Settle {
                session: row.session.clone(),
                directory: row.directory.clone(),
            })
            .collect(),
        steps: directories
            .into_iter()
            .map(|directory| Step::Dispose { directory })
            .collect(),
        lines,
        needs: Some(Consent::Dispose),
    }
}

fn fork_rung(root: &Surveyed, cause: &Cause) -> Rung {
    let before = fork_point(root, cause);
    let what = match &before {
        Some(message) => format!("fork: a new session with everything before {message}"),
        None => "fork: a new session with everything".to_owned(),
    };
    Rung {
        name: RungName::Fork,
        steps: vec![Step::Fork {
            session: root.session.clone(),
            before,
        }],
        settle: Vec::new(),
        lines: vec![
            what,
            "this session stays as it is; go on in the new one".to_owned(),
        ],
        needs: Some(Consent::Fork),
    }
}

/// The prompt of the turn that broke; of a poisoned history the first of the turns that were refused.
fn fork_point(root: &Surveyed, cause: &Cause) -> Option<MessageId> {
    let prompt_of = |answer: &Message| {
        let parent = answer.parent.clone()?;
        let known = root.trail.iter().find(|it| it.id == parent);
        known.map(|it| it.id.clone())
    };
    if cause.poisoned {
        let answers = root.trail.iter().rev().filter(|it| it.is_assistant());
        let refused = answers.take_while(|it| {
            let code = it.error.as_ref().and_then(|it| it.status_code);
            code.is_some_and(|code| (400..500).contains(&code))
        });
        return refused.filter_map(prompt_of).last();
    }
    let broken = root.broken.first()?;
    let holder = root.trail.iter().find(|it| it.id == broken.message);
    holder
        .and_then(prompt_of)
        .or_else(|| Some(broken.message.clone()))
}

fn unrevert_rung(root: &Surveyed) -> Rung {
    Rung {
        name: RungName::Unrevert,
        steps: vec![Step::Unrevert {
            session: root.session.clone(),
        }],
        settle: Vec::new(),
        lines: vec![
            "take back the pending revert: the model sees the hidden messages again".to_owned(),
        ],
        needs: None,
    }
}

/// What will be done, from a survey: the dialog and `--dry-run` print it. Numbered by who shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    /// Its first rung, or why there is none.
    pub first: Next,
    /// All of it in words.
    pub lines: Vec<String>,
}

impl Ladder {
    /// There is something to do.
    pub fn climbs(&self) -> bool {
        matches!(self.first, Next::Climb(_))
    }

    /// What Enter agrees to: what the first rung needs, said in its lines.
    pub fn needs(&self) -> Option<Consent> {
        match &self.first {
            Next::Climb(rung) => rung.needs,
            _ => None,
        }
    }
}

/// The whole ladder in words. `export`: where the export goes, as shown.
pub fn ladder(survey: &Survey, order: &ResetOrder, export: &str, now: UnixMs) -> Ladder {
    let first = next(survey, &order.cause, &order.tried, now);
    let mut lines = Vec::new();
    let rung = match &first {
        Next::Well(why) => {
            lines.push(format!("nothing to repair: {why}"));
            return Ladder { first, lines };
        }
        Next::Stuck(why) => {
            lines.push(why.clone());
            return Ladder { first, lines };
        }
        Next::Climb(rung) => rung,
    };
    let messages: usize = survey.saved().map(|row| row.roll.len()).sum();
    match survey.saved().count() {
        0 => {}
        1 => lines.push(format!("export {messages} messages to {export}")),
        many => lines.push(format!(
            "export {many} sessions, {messages} messages, to {export}"
        )),
    }
    if rung.name > RungName::Stop && !survey.runs() {
        lines.push("nothing runs: no abort needed".to_owned());
    }
    lines.extend(rung.lines.iter().cloned());
    if rung.name == RungName::Stop {
        lines.push("then set tool parts that are still open to error, and dismiss asks that are still listed".to_owned());
    }
    lines.push("check: nothing runs, nothing open, no ask listed, no message lost".to_owned());
    let asks = survey.rows.iter().flat_map(|row| &row.asks);
    if rung.name == RungName::Stop || asks.clone().any(|ask| ask.kind == AskKind::Permission) {
        lines.push("if that does not settle within 10 s: R again offers to dispose the project (it asks first)".to_owned());
    }
    Ladder { first, lines }
}
