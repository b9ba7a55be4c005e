//! `mass-abort`: several sessions of one project were aborted at the same moment, because its
//! instance was disposed (`server.instance.disposed`, which ends every run of the directory; so
//! does a write of the configuration). It names the cause of what else looks like a person's abort.
//!
//! What looks the same: a person who stopped all of them, a single one, aborts at other times, a
//! disposal of another project, one that was not heard: without the event nothing is claimed.

use super::Rule;
use crate::core::id::SessionId;
use crate::core::judge::activity::is_content;
use crate::core::judge::limits::Limits;
use crate::core::judge::say::{found, no};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::store::{Server, Session};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::Message;

/// A clock difference that is taken as none.
const SAME_TIME: Span = Span::secs(2);

pub(super) const RULE: Rule = Rule {
    id: "mass-abort",
    at_rest: true,
    watched: true,
    by_age: false,
    needs_messages: true,
    needs_whole: false,
    levels: "watch",
    meaning: "It was aborted together with others because its project's instance was disposed.",
    offers: &[Offer::Continue, Offer::Export],
    check,
};

// depends on: the messages of the other sessions of its directory.
fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    if facts.activity.state != ActivityState::Aborted {
        return no("its last answer was not aborted");
    }
    let Some(disposed) = disposed_at(facts.server, facts.session) else {
        return no("its project was not heard to be disposed");
    };
    let near = |end: &UnixMs| is_near(*end, disposed, facts.limits);
    let Some(ended) = facts.activity.since.filter(near) else {
        return no("it was not aborted by the disposal of its project");
    };
    let with = together(facts, ended);
    let enough = usize::try_from(facts.limits.mass_abort_sessions).unwrap_or(usize::MAX);
    if with.len() < enough {
        return no("too few sessions of its project were aborted with it");
    }
    let text = format!(
        "aborted with {} others when its project's instance was disposed",
        with.len() - 1
    );
    found(Level::Watch, Some(ended), text)
        .with_some("message", facts.activity.message.as_ref())
        .with("sessions", with)
        .with("directory", &facts.session.info.directory)
        .with("disposed", disposed)
        .with("limit_ms", facts.limits.mass_abort)
        .with("age_ms", facts.now.since(ended))
        .yes()
}

/// When the instance of its directory was last heard to be disposed; server's clock.
fn disposed_at(server: &Server, session: &Session) -> Option<UnixMs> {
    let view = server.directories.get(&session.info.directory)?;
    Some(server.server_time(view.disposed_at?))
}

/// The end is told by the server's clock, the disposal by ours.
fn is_near(end: UnixMs, disposed: UnixMs, limits: &Limits) -> bool {
    apart(end, disposed) <= limits.mass_abort + SAME_TIME
}

fn apart(a: UnixMs, b: UnixMs) -> Span {
    a.since(b).max(b.since(a))
}

/// When an answer of this session was aborted by the disposal of its directory, if one was; also
/// when it has gone on since.
pub(in crate::core::judge) fn aborted_at(
    server: &Server,
    session: &Session,
    limits: &Limits,
) -> Option<UnixMs> {
    let disposed = disposed_at(server, session)?;
    let answers = session.tail.messages.iter();
    let mut ends = answers
        .filter(|m| was_aborted(m))
        .filter_map(|m| m.completed);
    ends.find(|end| is_near(*end, disposed, limits))
}

/// An abort ended this answer: it carries the error, or has no finish, error and parts (an abort
/// during a retry, OpenCode 1.18.33).
fn was_aborted(answer: &Message) -> bool {
    if let Some(error) = &answer.error {
        return error.is_abort();
    }
    let ended = answer.completed.is_some() && answer.finish.is_none();
    answer.is_assistant() && ended && !answer.parts.iter().any(is_content)
}

/// The largest set of sessions of its directory, this one among them, that were aborted within the
/// limit of each other. In the order of their ids.
fn together(facts: &Facts, ended: UnixMs) -> Vec<SessionId> {
    let home = &facts.session.info.directory;
    let here = facts.server.sessions.values();
    let here = here.filter(|session| session.info.directory == *home);
    let ends = here.filter_map(|session| {
        let end = aborted_at(facts.server, session, facts.limits)?;
        Some((end, session.info.id.clone()))
    });
    let ends: Vec<(UnixMs, SessionId)> = ends.collect();
    let width = facts.limits.mass_abort;
    let within = |from: UnixMs| {
        let set = ends
            .iter()
            .filter(move |(end, _)| *end >= from && *end <= from + width);
        let mut ids: Vec<SessionId> = set.map(|(_, id)| id.clone()).collect();
        ids.sort();
        ids
    };
    let starts = ends.iter().map(|(end, _)| *end);
    let starts = starts.filter(|from| *from <= ended && ended <= *from + width);
    let sets = starts.map(|from| (from, within(from)));
    sets.max_by_key(|(from, set)| (set.len(), *from))
        .map(|(_, set)| set)
        .unwrap_or_default()
}
