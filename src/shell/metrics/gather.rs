//! What there is to tell of everything that is known at one moment.
//!
//! What it does: turn a store and its judgement into samples, a pure function of them and of `now`.
//! What it does not: read, judge or write. Invariant: of a server that cannot be read nothing is told
//! that would make it look at rest: its sessions are unknown, its asks and ages absent.

use super::encode::Samples;
use super::table as metric;
use super::tally::Tally;
use crate::core::id::{ServerId, SessionKey};
use crate::core::judge::{Judgement, Level, SERVER_FINDINGS, ServerVerdict, Verdict};
use crate::core::store::{Server, Store};
use crate::core::time::UnixMs;
use crate::core::wire::{Dialect, DirectoryState};
use crate::net::client::Client;
use crate::shell::snapshot::unread_line;
use std::cmp::Reverse;

/// Sessions that are told by their ids, at most.
pub const MOST_IDS: usize = 100;

/// The states of a server, in the words of `status --json`.
pub const STATES: [&str; 7] = [
    "live",
    "connecting",
    "unreachable",
    "wedged",
    "unauthorized",
    "not-opencode",
    "degraded",
];

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Everything known.
    pub store: &'a Store,
    /// The servers' clients, in the same order; they count what is sent.
    pub clients: &'a [Client],
    /// What follows from it.
    pub judgement: &'a Judgement,
    /// The watcher's clock.
    pub now: UnixMs,
    /// When this program started; the same clock.
    pub started: UnixMs,
    /// Sessions that need a person are told by their ids.
    pub ids: bool,
}

/// All samples but those of the audit log.
pub fn gather(view: &View) -> Samples {
    let mut samples = Samples::default();
    let servers: Vec<(ServerId, &Server)> = view.store.servers().collect();
    let names = names(&servers);
    for ((id, server), name) in servers.iter().zip(&names) {
        let verdict = view.judgement.servers.iter().find(|it| it.server == *id);
        tell_server(&mut samples, name, server);
        tell_verdict(&mut samples, name, verdict);
        let client = view.clients.get(usize::from(id.0));
        for (about, many) in client.into_iter().flat_map(|it| it.sent().counts()) {
            samples.count(&metric::REQUESTS, &[name, about], many);
        }
        let mut tally = Tally::default();
        for (verdict, session) in sessions(view, *id, server) {
            tally.add(server, session, verdict);
        }
        let is_read = unread_line(server).is_none();
        tally.tell(
            &mut samples,
            name,
            is_read.then(|| server.server_time(view.now)),
        );
    }
    if view.ids {
        tell_ids(&mut samples, view, &names);
    }
    samples.count(&metric::BUILD, &[env!("CARGO_PKG_VERSION")], 1);
    samples.seconds(&metric::START, &[], view.started.0);
    samples
}

/// As `status` lists them.
fn sessions<'a>(
    view: &View<'a>,
    id: ServerId,
    server: &'a Server,
) -> impl Iterator<Item = (&'a Verdict, &'a crate::core::store::Session)> {
    let first = SessionKey::new(id, "".into());
    let verdicts = view.judgement.verdicts.range(first..);
    let here = verdicts.take_while(move |(key, _)| key.server == id);
    let known = here.filter_map(|(key, it)| Some((it, server.sessions.get(&key.session)?)));
    known.filter(|(verdict, session)| verdict.is_listed(session))
}

/// A name of its own for each server: no two series may have the same labels.
fn names(servers: &[(ServerId, &Server)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(servers.len());
    for (_, server) in servers {
        let spec = &server.spec;
        let full = || format!("{} ({})", spec.name, spec.url);
        let taken = |it: &String| names.contains(it);
        let name = Some(spec.name.clone()).filter(|it| !taken(it));
        let name = name.or_else(|| Some(full()).filter(|it| !taken(it)));
        names.push(name.unwrap_or_else(|| format!("{} {}", full(), names.len())));
    }
    names
}

fn tell_server(samples: &mut Samples, name: &str, server: &Server) {
    let one = &[name][..];
    let is_read = unread_line(server).is_none();
    samples.count(&metric::SERVER_UP, one, u64::from(is_read));
    for (state, word) in [
        (DirectoryState::Loaded, "loaded"),
        (DirectoryState::Asleep, "asleep"),
        (DirectoryState::Gone, "gone"),
    ] {
        let here = server.directories.values().filter(|it| it.state == state);
        let many = number(here.count());
        samples.count(&metric::SERVER_DIRECTORIES, &[name, word], many);
    }
    if let Some(at) = server.heard_at {
        samples.seconds(&metric::SERVER_HEARD, one, at.0);
    }
    samples.seconds(&metric::SERVER_SKEW, one, server.skew.as_ms());
    samples.count(&metric::SERVER_CONNECTS, one, server.connects);
    samples.count(&metric::SERVER_LOSSES, one, server.losses);
    samples.count(&metric::EVENTS, one, server.events);
    samples.count(&metric::EVENTS_UNKNOWN, one, server.unknown_events);
    samples.count(&metric::EVENTS_MALFORMED, one, server.malformed_events);
    let version = server.version.as_deref().unwrap_or_default();
    let dialect = match server.dialect {
        Some(Dialect::V1) => "v1",
        Some(Dialect::V2) => "v2",
        None => "",
    };
    let labels = [name, server.spec.url.as_str(), version, dialect];
    samples.count(&metric::SERVER_INFO, &labels, 1);
}

fn tell_verdict(samples: &mut Samples, name: &str, verdict: Option<&ServerVerdict>) {
    let state = verdict.map_or("connecting", |it| it.state);
    // A word that is new in the judge is not lost.
    let more = Some(state).filter(|it| !STATES.contains(it));
    for word in STATES.into_iter().chain(more) {
        let is = u64::from(word == state);
        samples.count(&metric::SERVER_STATE, &[name, word], is);
    }
    let findings = verdict.map_or(&[][..], |it| it.findings.as_slice());
    for (finding, _, _) in SERVER_FINDINGS {
        let many = findings.iter().filter(|it| it.name == finding).count();
        samples.count(&metric::SERVER_FINDINGS, &[name, finding], number(many));
    }
}

/// Those that need a person themselves, not those that only tell of one below them.
fn tell_ids(samples: &mut Samples, view: &View, names: &[String]) {
    let mut all = Vec::new();
    for ((id, server), name) in view.store.servers().zip(names) {
        let now = server.server_time(view.now);
        for (verdict, _) in sessions(view, id, server) {
            let leading = verdict.leading().filter(|it| it.path.is_empty());
            if let Some(finding) = leading.filter(|it| it.level >= Level::NeedsYou) {
                let age = finding.since.map_or(0, |since| now.since(since).as_ms());
                all.push((
                    Reverse(finding.level),
                    Reverse(age),
                    name,
                    verdict,
                    finding.name,
                ));
            }
        }
    }
    all.sort_by_key(|(level, age, ..)| (*level, *age));
    for (Reverse(level), Reverse(age), name, verdict, finding) in all.into_iter().take(MOST_IDS) {
        let id = verdict.key.session.as_str();
        let labels = [name.as_str(), id, level.word(), finding];
        samples.seconds(&metric::SESSION_ATTENTION, &labels, age);
    }
}

pub(super) fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::store::ServerSpec;

    /// Two series with the same labels are a scrape that Prometheus refuses.
    #[test]
    fn servers_of_one_name_are_told_apart() {
        let spec = |name: &str, url: &str| ServerSpec {
            name: name.to_owned(),
            url: url.to_owned(),
            ..ServerSpec::default()
        };
        let store = Store::new(vec![
            spec("a", "http://h:1"),
            spec("b", "http://h:2"),
            spec("a", "http://h:3"),
            spec("a", "http://h:3"),
        ]);
        let servers: Vec<_> = store.servers().collect();
        let names = names(&servers);
        assert_eq!(names, ["a", "b", "a (http://h:3)", "a (http://h:3) 3"]);
    }
}
