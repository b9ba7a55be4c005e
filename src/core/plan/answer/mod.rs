//! Answers: which ask is meant, and what an answer to it does.
//!
//! What it does: find the asks of a session and of what lies below it, pick one, and turn a
//! [`Wish`] into a plan of one step, or say in words why not. What it does not: send it, or judge
//! by time alone: an ask whose session is idle or whose call has ended is taken as a ghost at once,
//! and whoever sends looks again first.

mod choose;
mod lost;
mod refusal;

pub use choose::Given;
pub use lost::{LostQuestion, lost};
pub use refusal::Refusal;

use super::{ActionName, Plan, Settle, Step, descendants};
use crate::core::id::{AskId, Directory, SessionKey};
use crate::core::judge::is_left_behind;
use crate::core::store::{Gap, PendingAsk, Reported, Server, Session, Store};
use crate::core::time::UnixMs;
use crate::core::wire::{Ask, AskKind, Endpoint};

/// What a person says to an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Grant the permission this once.
    Once,
    /// Grant it from now on, for its `always` patterns.
    Always,
    /// No. To a permission with words, the agent goes on and hears them.
    Reject(Option<String>),
    /// Answer questions, as typed on a command line.
    Choose(Vec<Given>),
    /// Answer questions: the final labels and texts, a list for each.
    Answers(Vec<Vec<String>>),
    /// Take an ask off the list that nobody waits for.
    Dismiss,
}

/// A pending ask with all that an answer to it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// The session that asks.
    pub key: SessionKey,
    /// Its title.
    pub title: String,
    /// Its directory: a reply through another one is 404.
    pub directory: Directory,
    /// It is somebody's subagent.
    pub is_child: bool,
    /// What is asked.
    pub ask: Ask,
    /// Nobody waits for the answer.
    pub ghost: bool,
    /// Its session is reported idle.
    pub idle: bool,
    /// First seen; watcher's clock.
    pub seen_at: UnixMs,
    /// How many other permissions of the same session are pending.
    pub others: usize,
}

/// The asks of a session and of all below it, its own first, each session's oldest first.
pub fn waiting(store: &Store, key: &SessionKey) -> Vec<Waiting> {
    let Some(server) = store.server(key.server) else {
        return Vec::new();
    };
    let Some(session) = server.sessions.get(&key.session) else {
        return Vec::new();
    };
    let all = std::iter::once(session).chain(descendants(server, &key.session));
    all.flat_map(|session| of(server, session, key)).collect()
}

fn of(server: &Server, session: &Session, from: &SessionKey) -> Vec<Waiting> {
    let mut pending: Vec<&PendingAsk> = server.pending(session).collect();
    pending.sort_by(|a, b| a.ask.id.cmp(&b.ask.id));
    let is_permission = |it: &&&PendingAsk| it.ask.kind == AskKind::Permission;
    let permissions = pending.iter().filter(is_permission).count();
    let one = |it: &&PendingAsk| Waiting {
        key: SessionKey::new(from.server, session.info.id.clone()),
        title: session.info.title.clone(),
        directory: session.info.directory.clone(),
        is_child: session.info.parent.is_some(),
        ask: it.ask.clone(),
        ghost: is_left_behind(server, session, it),
        idle: matches!(server.reported(session), Reported::Idle),
        seen_at: it.seen_at,
        others: match it.ask.kind {
            AskKind::Permission => permissions - 1,
            AskKind::Question => 0,
        },
    };
    pending.iter().map(one).collect()
}

/// That nothing is asked, or that it could not be read whether.
pub fn nothing(store: &Store, key: &SessionKey) -> Refusal {
    let unread = || {
        let server = store.server(key.server)?;
        let directory = &server.sessions.get(&key.session)?.info.directory;
        let gap = server.gaps.iter().find(|gap| {
            matches!(gap.endpoint, Endpoint::Permission | Endpoint::Question)
                && gap.directory.as_ref().is_none_or(|it| it == directory)
        })?;
        Some(Refusal::Unread(gap.text.clone()))
    };
    unread().unwrap_or(Refusal::Nothing)
}

/// This very ask, if it is still pending.
pub fn find(store: &Store, key: &SessionKey, ask: &AskId) -> Option<Waiting> {
    let server = store.server(key.server)?;
    let own = of(server, server.sessions.get(&key.session)?, key);
    own.into_iter().find(|it| it.ask.id == *ask)
}

/// The ask that is meant: the one that is named by its id or the beginning of it, else the only one
/// (for [`Wish::Dismiss`] the only ghost, for anything else the only live one).
pub fn pick(
    store: &Store,
    key: &SessionKey,
    ask: Option<&str>,
    wish: &Wish,
) -> Result<Waiting, Refusal> {
    if store.session(key).is_none() {
        return Err(Refusal::Gone);
    }
    let all = waiting(store, key);
    let none = match (all.as_slice(), lost(store, key)) {
        ([], lost) if lost.is_empty() => nothing(store, key),
        ([], lost) => Refusal::Lost(lost),
        (_, _) if *wish == Wish::Dismiss => Refusal::Alive,
        (_, _) => Refusal::Ghost,
    };
    let Some(named) = ask else {
        let dismiss = *wish == Wish::Dismiss;
        return only(all.into_iter().filter(|it| it.ghost == dismiss), none);
    };
    if let Some(exact) = all.iter().find(|it| it.ask.id.as_str() == named) {
        return Ok(exact.clone());
    }
    let fits = |it: &Waiting| !named.is_empty() && it.ask.id.as_str().starts_with(named);
    let unknown = Refusal::NoSuch(named.to_owned());
    only(all.into_iter().filter(fits), unknown)
        .or_else(|why| unreadable(store, key, named).ok_or(why))
}

/// A permission that is named by its whole id where one of them breaks the list of its project: an
/// event told it to somebody, and a reply by id works all the same.
fn unreadable(store: &Store, key: &SessionKey, named: &str) -> Option<Waiting> {
    let server = store.server(key.server)?;
    let session = server.sessions.get(&key.session)?;
    let directory = &session.info.directory;
    let is_broken = |gap: &Gap| {
        gap.endpoint == Endpoint::Permission
            && gap.status == Some(400)
            && gap.directory.as_ref().is_none_or(|it| it == directory)
    };
    let can = named.starts_with("per_") && server.gaps.iter().any(is_broken);
    can.then(|| Waiting {
        key: key.clone(),
        title: session.info.title.clone(),
        directory: directory.clone(),
        is_child: session.info.parent.is_some(),
        ask: Ask {
            id: named.into(),
            session: key.session.clone(),
            kind: AskKind::Permission,
            tool: None,
            permission: Some("a permission that cannot be read".to_owned()),
            patterns: Vec::new(),
            always: Vec::new(),
            command: None,
            diff: None,
            questions: Vec::new(),
        },
        ghost: false,
        idle: false,
        seen_at: UnixMs::default(),
        others: 0,
    })
}

fn only(found: impl Iterator<Item = Waiting>, none: Refusal) -> Result<Waiting, Refusal> {
    let mut found: Vec<Waiting> = found.collect();
    match (found.pop(), found.is_empty()) {
        (None, _) => Err(none),
        (Some(one), true) => Ok(one),
        (Some(last), false) => {
            found.push(last);
            Err(Refusal::Several(found))
        }
    }
}

/// What the wish does to this ask.
pub fn answer(waiting: &Waiting, wish: &Wish) -> Result<Plan, Refusal> {
    let permission = waiting.ask.kind == AskKind::Permission;
    match wish {
        Wish::Dismiss if waiting.ghost => return Ok(dismiss(waiting)),
        Wish::Dismiss => return Err(Refusal::Alive),
        _ if waiting.ghost => return Err(Refusal::Ghost),
        _ => {}
    }
    match wish {
        Wish::Once | Wish::Always if permission => Ok(allow(waiting, *wish == Wish::Always)),
        Wish::Reject(message) if permission => Ok(reject(waiting, message.clone())),
        Wish::Reject(None) => Ok(reject(waiting, None)),
        Wish::Choose(given) if !permission => {
            let answers = choose::answers(&waiting.ask.questions, given);
            Ok(reply(waiting, answers.map_err(Refusal::Wrong)?))
        }
        Wish::Answers(answers) if !permission => Ok(reply(waiting, answers.clone())),
        Wish::Reject(Some(_)) => Err(Refusal::Kind(
            "a question takes no words with a rejection: only a permission does",
        )),
        _ if permission => Err(Refusal::Kind(
            "it asks for a permission: it can be granted or rejected, not answered",
        )),
        _ => Err(Refusal::Kind(
            "it asks a question: it can be answered or rejected, not granted",
        )),
    }
}

fn allow(waiting: &Waiting, always: bool) -> Plan {
    let ask = &waiting.ask;
    let mut lines = Vec::new();
    if always {
        lines.push(format!("allow now, and from now on: {}", ask.text()));
        match ask.always.as_slice() {
            [] => lines.push("it names no patterns: no more than this is allowed".to_owned()),
            patterns => lines.extend(patterns.iter().map(|it| format!("always: {it}"))),
        }
    } else {
        lines.push(format!("allow once: {}", ask.text()));
    }
    let step = Step::Allow {
        ask: ask.id.clone(),
        session: waiting.key.session.clone(),
        directory: waiting.directory.clone(),
        always,
    };
    plan(waiting, step, lines, false)
}

fn reject(waiting: &Waiting, message: Option<String>) -> Plan {
    let what = waiting.ask.text();
    let ends = message.is_none();
    let mut lines = vec![match &message {
        Some(words) => format!("reject \"{what}\": the agent goes on and hears \"{words}\""),
        None => format!("reject \"{what}\": the turn ends"),
    }];
    lines.extend(also(waiting, ends));
    plan(waiting, rejection(waiting, message), lines, ends)
}

/// What a rejection does besides; `ends`: it ends the turn.
pub fn also(waiting: &Waiting, ends: bool) -> Vec<String> {
    let parent = "its parent goes on without it; abort the parent to end all";
    let parent = (ends && waiting.is_child).then(|| parent.to_owned());
    parent.into_iter().chain(others(waiting)).collect()
}

fn dismiss(waiting: &Waiting) -> Plan {
    let what = waiting.ask.text();
    let mut lines = vec![format!(
        "take \"{what}\" off the list: nobody waits for it any more, nothing runs on or ends"
    )];
    lines.extend(others(waiting));
    plan(waiting, rejection(waiting, None), lines, false)
}

/// The server rejects all permissions of a session together, ghosts or not.
fn others(waiting: &Waiting) -> Option<String> {
    match waiting.others {
        0 => None,
        1 => Some("1 other permission of this session is rejected with it".to_owned()),
        more => Some(format!(
            "{more} other permissions of this session are rejected with it"
        )),
    }
}

fn rejection(waiting: &Waiting, message: Option<String>) -> Step {
    Step::Reject {
        kind: waiting.ask.kind,
        ask: waiting.ask.id.clone(),
        session: waiting.key.session.clone(),
        directory: waiting.directory.clone(),
        message,
    }
}

fn reply(waiting: &Waiting, answers: Vec<Vec<String>>) -> Plan {
    let questions = &waiting.ask.questions;
    let mut lines = Vec::new();
    for (place, given) in answers.iter().enumerate() {
        let question = questions.get(place).map_or("", |it| it.question.as_str());
        let given = match given.as_slice() {
            [] => "left unanswered".to_owned(),
            some => some.join(", "),
        };
        lines.push(format!("answer \"{question}\": {given}"));
    }
    let step = Step::Reply {
        ask: waiting.ask.id.clone(),
        session: waiting.key.session.clone(),
        directory: waiting.directory.clone(),
        answers,
    };
    plan(waiting, step, lines, false)
}

/// `ends`: the turn must have ended afterwards.
fn plan(waiting: &Waiting, step: Step, mut lines: Vec<String>, ends: bool) -> Plan {
    lines.push("check: it must no longer be listed".to_owned());
    let settle = Settle {
        session: waiting.key.session.clone(),
        directory: waiting.directory.clone(),
    };
    Plan {
        action: ActionName::Answer,
        key: waiting.key.clone(),
        title: waiting.title.clone(),
        steps: vec![step],
        settle: ends.then_some(settle).into_iter().collect(),
        lines,
        newest: None,
        idle_before: waiting.ghost && waiting.idle,
    }
}
