//! What descendants mean for their ancestors: `subagent-stuck`, `subagent-needs-you`, their asks.
//!
//! Invariants: only a session's **own** findings are a cause, so a cause is counted once on each
//! ancestor; the walk up ends at a missing parent and at a cycle.

use crate::core::id::{SessionId, SessionKey};
use crate::core::judge::say::no;
use crate::core::judge::{Answer, Evidence, Finding, Level, Offer, Tried, Verdict, one};
use crate::core::store::{Reported, Store};
use crate::core::time::UnixMs;
use crate::core::wire::Ask;
use std::collections::BTreeMap;

/// Name and meaning of the findings made here, for the README.
pub const FAMILY_FINDINGS: [(&str, &str); 2] = [
    (
        STUCK,
        "A subagent below this session is stuck; the way to it is shown.",
    ),
    (
        NEEDS,
        "A subagent below this session needs you; the way to it is shown.",
    ),
];
const STUCK: &str = "subagent-stuck";
const NEEDS: &str = "subagent-needs-you";

/// What lies below one ancestor.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Below {
    causes: Vec<Cause>,
    asks: Vec<(SessionId, Vec<Ask>)>,
}

#[derive(Debug, Clone, PartialEq)]
struct Cause {
    level: Level,
    name: &'static str,
    since: Option<UnixMs>,
    /// Of the session concerned.
    title: String,
    /// Child of the ancestor first, the session concerned last.
    path: Vec<SessionId>,
}

/// Collects what lies below each ancestor, given the verdicts of sessions without their family.
pub(super) fn below<'a>(
    store: &Store,
    own: impl Iterator<Item = &'a Verdict>,
) -> BTreeMap<SessionKey, Below> {
    let mut all = BTreeMap::new();
    for verdict in own {
        if concerns_ancestors(verdict) {
            climb(store, verdict, &mut all);
        }
    }
    for below in all.values_mut() {
        below.sort();
    }
    all
}

/// A session's own verdict that its ancestors show as well.
pub(super) fn concerns_ancestors(own: &Verdict) -> bool {
    is_cause(own) || !own.asks.is_empty()
}

fn is_cause(verdict: &Verdict) -> bool {
    verdict.level >= Level::NeedsYou
}

fn climb(store: &Store, verdict: &Verdict, all: &mut BTreeMap<SessionKey, Below>) {
    let mut path = vec![verdict.key.session.clone()];
    let mut at = parent(store, &verdict.key);
    while let Some(key) = at.filter(|key| !path.contains(&key.session)) {
        let below = all.entry(key.clone()).or_default();
        let shows = is_cause(verdict) && !is_put_away(store, &key);
        if let Some(leading) = verdict.leading().filter(|_| shows) {
            below.causes.push(Cause {
                level: verdict.level,
                name: leading.name,
                since: leading.since,
                title: title(store, &verdict.key),
                path: path.iter().rev().cloned().collect(),
            });
        }
        if !verdict.asks.is_empty() {
            let asks = (verdict.key.session.clone(), verdict.asks.clone());
            below.asks.push(asks);
        }
        path.push(key.session.clone());
        at = parent(store, &key);
    }
}

/// Archived and not running: left out, whatever lies below.
fn is_put_away(store: &Store, key: &SessionKey) -> bool {
    store
        .session(key)
        .zip(store.server(key.server))
        .is_some_and(|(session, server)| {
            session.info.archived.is_some() && !server.reported(session).is_running()
        })
}

fn title(store: &Store, key: &SessionKey) -> String {
    let session = store.session(key);
    session.map_or_else(String::new, |session| session.info.title.clone())
}

/// The parent, if it is known.
pub(super) fn parent(store: &Store, key: &SessionKey) -> Option<SessionKey> {
    let parent = store.session(key)?.info.parent.clone()?;
    let key = SessionKey::new(key.server, parent);
    store.session(&key).map(|_| key)
}

impl Below {
    fn sort(&mut self) {
        self.causes
            .sort_by(|a, b| (a.since, &a.path).cmp(&(b.since, &b.path)));
        self.asks.sort_by(|a, b| a.0.cmp(&b.0));
    }

    fn finding(&self, name: &'static str, level: Level) -> Option<Finding> {
        let mut causes = self.causes.iter().filter(|cause| cause.level == level);
        let first = causes.next()?;
        let count = 1 + causes.count();
        let mut evidence = Evidence::new();
        let session = first.path.last().map(|id| id.as_str().to_owned());
        evidence.insert("session".into(), session.into());
        evidence.insert("finding".into(), first.name.into());
        evidence.insert("count".into(), count.into());
        Some(Finding {
            name,
            level,
            since: first.since,
            text: text(count, first),
            evidence,
            offers: offers(level),
            path: first.path.clone(),
        })
    }
}

/// How many, and the oldest by its finding and title (as the server has it).
fn text(count: usize, first: &Cause) -> String {
    let Cause { name, title, .. } = first;
    let how = if count == 1 { ":" } else { ", first" };
    format!("{count} below{how} {name} in \"{title}\"")
}

fn offers(level: Level) -> Vec<Offer> {
    match level {
        Level::NeedsYou => vec![Offer::Answer, Offer::Export],
        _ => vec![Offer::Export],
    }
}

/// Adds to an ancestor what lies below it. One that cannot be judged keeps its level; it only
/// lists the asks.
pub(super) fn join(verdict: &mut Verdict, below: &Below) {
    let asks = below.asks.iter().flat_map(|(_, asks)| asks.iter().cloned());
    verdict.asks.extend(asks);
    if !is_open_to(verdict) {
        return;
    }
    let found = [(STUCK, Level::Stuck), (NEEDS, Level::NeedsYou)];
    let found = found.into_iter();
    verdict
        .findings
        .extend(found.filter_map(|(name, level)| below.finding(name, level)));
    one::order(&mut verdict.findings);
    verdict.level = verdict
        .findings
        .first()
        .map_or(verdict.level, |first| first.level.max(verdict.level));
    let level = verdict.level;
    verdict.blind = verdict.blind.take().filter(|_| level == Level::Unknown);
    verdict.settling = verdict.settling.take().filter(|s| s.level > level);
}

/// The family's findings as rules, for `explain`, given a verdict that [`join`] has completed.
pub(super) fn tried(verdict: &Verdict) -> Vec<Tried> {
    let answer = |name: &str| {
        let finding = verdict.findings.iter().find(|found| found.name == name);
        match finding.cloned() {
            Some(finding) => Answer::Yes {
                finding,
                recheck: None,
            },
            None if !is_open_to(verdict) => no("its reported status is not current"),
            None => no("nothing below it is so"),
        }
    };
    let rules = FAMILY_FINDINGS.iter().map(|(rule, _)| *rule);
    rules
        .map(|rule| Tried {
            rule,
            answer: answer(rule),
        })
        .collect()
}

/// What can be judged at all.
fn is_open_to(verdict: &Verdict) -> bool {
    !matches!(verdict.reported, Reported::Unknown(_) | Reported::Other(_))
}
