//! How a session that is waited for stands at one moment, without a memory.
//!
//! What it does: tell a run from an end, and an end from what only looks like one. What it does
//! not: say whether that is enough for whoever waits.

use super::Outcome;
use crate::core::id::SessionKey;
use crate::core::judge::{ActivityState, Facts, Level, Limits, Verdict};
use crate::core::store::{LinkState, Reported, Server, Session, Store, Why};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Failure, Message};

/// So far two clocks that are taken as one may differ.
const CLOCKS: Span = Span::secs(2);
/// What must settle before a turn that looks ended has ended: it is about to go on, or was refused.
const UNDER_WAY: [&str; 3] = ["lost-subagent-result", "never-started", "parked-prompt"];

/// How it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// It cannot be read, and why.
    Blind(String),
    /// It was deleted.
    Gone,
    /// A turn runs, here or below it.
    Runs,
    /// Nothing is reported to run, and its turn is neither begun nor ended.
    Open,
    /// Nothing runs, and how it ended.
    Ends(Outcome, String),
    /// The same, but no rule explains it.
    Odd(Outcome, String),
}

/// At what is looked.
pub(super) struct Look<'a> {
    pub(super) store: &'a Store,
    pub(super) key: &'a SessionKey,
    pub(super) verdict: Option<&'a Verdict>,
    pub(super) limits: &'a Limits,
    /// The watcher's clock.
    pub(super) now: UnixMs,
    /// The server's clock is this machine's.
    pub(super) same_clock: bool,
}

pub(super) fn state(look: &Look) -> State {
    let (store, key) = (look.store, look.key);
    let Some(server) = store.server(key.server) else {
        return State::Gone;
    };
    if let Some(why) = no_link(server) {
        return State::Blind(why);
    }
    let facts = Facts::new(store, key, look.now, look.limits);
    let Some((facts, verdict)) = facts.zip(look.verdict) else {
        return State::Gone;
    };
    match &facts.reported {
        Reported::Unknown(why) => State::Blind(unknown(why)),
        Reported::Busy | Reported::Retry(_) | Reported::Other(_) => State::Runs,
        Reported::Idle if runs_elsewhere(store, key) || runs_below(server, facts.session) => {
            State::Runs
        }
        Reported::Idle => idle(&facts, verdict, look.same_clock),
    }
}

fn no_link(server: &Server) -> Option<String> {
    match &server.link {
        LinkState::Live => None,
        LinkState::Connecting { .. } => Some("its server is not read yet".to_owned()),
        LinkState::Lost { text, .. } => Some(text.clone()),
    }
}

fn unknown(why: &Why) -> String {
    match why {
        Why::NotAsked => "its project is asleep".to_owned(),
        Why::DirectoryGone => "the folder of its project no longer exists".to_owned(),
        Why::NotReadYet => "its status is not read yet".to_owned(),
        Why::ReadFailed(text) | Why::ServerLost(text) => text.clone(),
    }
}

/// Another watched server on the same data runs it.
fn runs_elsewhere(store: &Store, key: &SessionKey) -> bool {
    let others = store.servers().filter(|(id, _)| *id != key.server);
    { others }.any(|(_, server)| {
        let twin = server.sessions.get(&key.session);
        twin.is_some_and(|it| server.reported(it).is_running())
    })
}

/// A subagent of it, at any depth: one in the background goes on when its parent has ended, and
/// then wakes it.
fn runs_below(server: &Server, session: &Session) -> bool {
    let mut below = vec![session];
    // Parents come before their children, so a walk ends; a circle in the data must not.
    let mut left = server.sessions.len();
    while let Some(parent) = below.pop() {
        for child in server.children(&parent.info.id) {
            if server.reported(child).is_running() {
                return true;
            }
            if left == 0 {
                return false;
            }
            left -= 1;
            below.push(child);
        }
    }
    false
}

fn idle(facts: &Facts, verdict: &Verdict, same_clock: bool) -> State {
    if !facts.knows_messages() {
        let failed = facts.session.tail.failed.clone();
        return State::Blind(failed.unwrap_or_else(|| "its messages are not read yet".to_owned()));
    }
    let settling = verdict.settling.as_ref().map(|it| it.name);
    if settling.is_some_and(|name| UNDER_WAY.contains(&name)) {
        return State::Open;
    }
    let found = |name: &str| verdict.findings.iter().find(|it| it.name == name);
    if let Some(refused) = found("never-started") {
        return State::Ends(Outcome::Failed, refused.text.clone());
    }
    if let Some(left) = UNDER_WAY.iter().find_map(|name| found(name)) {
        return State::Ends(Outcome::Stuck, left.text.clone());
    }
    if facts.session.waiting_prompts().next().is_some() {
        return State::Open;
    }
    by_activity(facts, verdict, same_clock)
}

fn by_activity(facts: &Facts, verdict: &Verdict, same_clock: bool) -> State {
    let detail = || facts.activity.detail.clone().unwrap_or_default();
    match facts.activity.state {
        ActivityState::Done => State::Ends(Outcome::Done, "finished".to_owned()),
        ActivityState::Failed => State::Ends(Outcome::Failed, detail()),
        ActivityState::Aborted => State::Ends(Outcome::Aborted, "aborted".to_owned()),
        ActivityState::EndedEarly => ended_early(facts),
        ActivityState::Empty => {
            State::Ends(Outcome::Empty, "no prompt was ever sent to it".to_owned())
        }
        ActivityState::Unread => State::Open,
        ActivityState::Unanswered => match refusal(facts, same_clock) {
            Some(error) => State::Ends(Outcome::Failed, words(error)),
            None => unended(
                facts,
                verdict,
                "nothing works on an answer to its newest prompt",
            ),
        },
        _ => unended(
            facts,
            verdict,
            "its last answer is open, and nothing works on it",
        ),
    }
}

/// Cut off, or at work in an OpenCode that is not watched: that is no end.
pub(super) fn may_run_elsewhere(verdict: &Verdict) -> bool {
    let leading = verdict.leading();
    leading.is_some_and(|it| it.name == "interrupted" && it.level < Level::Stuck)
}

/// Nothing runs although something is open: what the rules say of it, if they do.
fn unended(facts: &Facts, verdict: &Verdict, otherwise: &str) -> State {
    if verdict.settling.is_some() {
        return State::Open;
    }
    if facts.open_answer().is_some_and(|open| facts.is_copy(open)) {
        let text = "copied by a fork: no turn of its own has run yet";
        return State::Ends(Outcome::Empty, text.to_owned());
    }
    match verdict.leading() {
        _ if may_run_elsewhere(verdict) => State::Open,
        Some(finding) if finding.level >= Level::Watch || finding.name == "unanswered-prompt" => {
            State::Ends(Outcome::Stuck, finding.text.clone())
        }
        // A rule will look again: it may run in an OpenCode that is not watched.
        _ if verdict.recheck.is_some() => State::Open,
        _ => State::Odd(Outcome::Stuck, otherwise.to_owned()),
    }
}

/// An error that was heard surely since the newest prompt, which has no answer; an abort is none.
fn refusal<'a>(facts: &Facts<'a>, same_clock: bool) -> Option<&'a Failure> {
    let prompt = facts.message()?;
    let seen = facts.session.watch.error.as_ref()?;
    let exact = same_clock && facts.server.skew == Span::ZERO;
    let doubt = if exact { Span::ZERO } else { CLOCKS };
    let after = facts.at(seen.at) >= prompt.created + doubt;
    Some(&seen.failure).filter(|failure| after && !failure.is_abort())
}

fn words(failure: &Failure) -> String {
    let Failure { name, message, .. } = failure;
    if message.is_empty() {
        return name.clone();
    }
    format!("{name}: {message}")
}

/// A rejected ask ends a turn with a tool call: a person stopped it.
fn ended_early(facts: &Facts) -> State {
    match facts.message().and_then(finish) {
        Some("tool-calls") => {
            let text = "ended after a tool call, as a rejected ask ends it";
            State::Ends(Outcome::Aborted, text.to_owned())
        }
        Some(finish) => {
            let text = format!("the model stopped before the end: {finish}");
            State::Ends(Outcome::Failed, text)
        }
        None => {
            let text = "it ended before the answer was finished";
            State::Ends(Outcome::Failed, text.to_owned())
        }
    }
}

fn finish(message: &Message) -> Option<&str> {
    message.finish.as_deref()
}
