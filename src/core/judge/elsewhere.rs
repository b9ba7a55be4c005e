//! The same session on other servers: two processes on one data folder tell of the same sessions,
//! and only the one that runs a session reports it running or sends its events.
//!
//! Ids are random, so the same id is the same session.

use crate::core::id::{ServerId, SessionKey};
use crate::core::judge::activity::{self, is_open};
use crate::core::judge::agreement::has_ended;
use crate::core::judge::facts::Facts;
use crate::core::store::{Reported, Server, Session, Store};
use crate::core::time::UnixMs;
use crate::core::wire::Message;
use std::borrow::Cow;
use std::cmp::Reverse;

/// Why nothing is missed in a session that [`unheard_until`] tells of.
pub(super) const RUNS_ELSEWHERE: &str = "it runs elsewhere: it changes without this server";

/// Why another server knows better about a message that looks left alone here: it runs the session
/// now, or has seen it go on.
pub(super) fn knows_better(facts: &Facts, message: &Message) -> Option<Cow<'static, str>> {
    others(facts).find_map(|(server, session)| {
        let name = &server.spec.name;
        if server.reported(session).is_running() {
            return Some(format!("it runs on {name}").into());
        }
        has_gone_on(session, message).then(|| format!("{name} has seen it go on").into())
    })
}

/// Names of the other servers that run a turn of this session now, as far as they show it.
pub(super) fn run_also_on<'a>(facts: &Facts<'a>) -> Vec<&'a str> {
    let running = others(facts).filter(|(server, session)| {
        let activity = activity::derive(server, session).0;
        server.reported(session).is_running() && !has_ended(activity.state)
    });
    running
        .map(|(server, _)| server.spec.name.as_str())
        .collect()
}

/// Until when its messages count as another process's work: they changed between two reads with no
/// event of it, and this server has not run it since. Server's clock.
pub(super) fn unheard_until(facts: &Facts) -> Option<UnixMs> {
    let watch = &facts.session.watch;
    let seen = watch
        .unheard_at
        .filter(|at| watch.ran_here_at < Some(*at))?;
    let until = facts.at(seen) + facts.limits.elsewhere;
    Some(until).filter(|until| facts.now < *until)
}

fn others<'a>(facts: &Facts<'a>) -> impl Iterator<Item = (&'a Server, &'a Session)> {
    let id = &facts.session.info.id;
    let here = facts.server_id;
    let servers = facts.store.servers().filter(move |(id, _)| *id != here);
    servers.filter_map(|(_, server)| Some((server, server.sessions.get(id)?)))
}

/// What a server can tell of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// Nothing that is so now.
    Unknown,
    /// That it does not run there.
    Idle,
    /// It runs or asks there.
    Runs,
}

fn claim(server: &Server, session: &Session) -> Claim {
    match server.reported(session) {
        Reported::Idle if session.asks.is_empty() => Claim::Idle,
        Reported::Unknown(_) => Claim::Unknown,
        _ => Claim::Runs,
    }
}

/// The server that tells of this session instead of the one in the key: where two processes work on
/// one data folder, or one server is watched under two names, a session is shown once. Who runs it
/// or asks tells of it, else who last ran it. None: the key's own. What may still run on a server
/// that cannot be read is not passed over.
///
/// Ids are kept by an import into other data; so the directory and the time of creation must be the
/// same as well.
pub fn told_by(store: &Store, key: &SessionKey) -> Option<ServerId> {
    let (server, session) = (store.server(key.server)?, store.session(key)?);
    let own = claim(server, session);
    let ran = session.watch.ran_here_at;
    if own == Claim::Runs || (own == Claim::Unknown && ran.is_some()) {
        return None;
    }
    let others = store.servers().filter(|(id, _)| *id != key.server);
    let twins = others.filter_map(|(id, other)| {
        let twin = other.sessions.get(&key.session)?;
        let (one, two) = (&session.info, &twin.info);
        let same = one.directory == two.directory && one.created == two.created;
        let better = (claim(other, twin), twin.watch.ran_here_at, Reverse(id));
        (same && better > (own, ran, Reverse(key.server))).then_some(better)
    });
    twins.max().map(|(.., Reverse(id))| id)
}

/// The message has ended there, or a newer one follows it.
fn has_gone_on(there: &Session, message: &Message) -> bool {
    let Some(known) = there.tail.message(&message.id) else {
        return false;
    };
    let ended = is_open(message) && !is_open(known) && known.is_assistant();
    let newer = |last: &Message| last.is_assistant() && last.id != message.id;
    ended || there.tail.last().is_some_and(newer)
}
