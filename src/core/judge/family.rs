//! What descendants mean for their ancestors: `subagent-stuck`, `subagent-needs-you`, their asks.
//!
//! What it does: keep, for each ancestor, what lies below it ([`Family`]), and join that to its
//! verdict. What it does not: judge a session. Invariants: only a session's **own** findings are a
//! cause, so a cause is counted once on each ancestor; the walk up ends at a missing parent and at
//! a cycle.

use crate::core::id::{SessionId, SessionKey};
use crate::core::judge::say::no;
use crate::core::judge::{Answer, Evidence, Finding, Level, Offer, Tried, Verdict, one};
use crate::core::store::{Reported, Store};
use crate::core::time::UnixMs;
use crate::core::wire::Ask;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// What lies below every ancestor. A change of one session costs as much as it has ancestors.
#[derive(Debug, Clone, Default)]
pub(super) struct Family {
    below: HashMap<SessionKey, Below>,
    /// Which ancestors show a session, so that they can be freed of it.
    shown_by: HashMap<SessionKey, Vec<SessionKey>>,
}

/// What lies below one ancestor, by the session concerned.
#[derive(Debug, Clone, Default)]
pub(super) struct Below(BTreeMap<SessionId, Concern>);

/// What one session means for one ancestor.
#[derive(Debug, Clone)]
struct Concern {
    cause: Option<Cause>,
    asks: Vec<Ask>,
}

#[derive(Debug, Clone)]
struct Cause {
    level: Level,
    name: &'static str,
    since: Option<UnixMs>,
    /// Of the session concerned.
    title: String,
    /// Child of the ancestor first, the session concerned last.
    path: Vec<SessionId>,
}

impl Family {
    /// What a session's own verdict means for its ancestors, in place of what it meant before.
    /// `None`: it is gone. The ancestors that showed it or show it now are added to `touched`.
    pub(super) fn tell(
        &mut self,
        store: &Store,
        key: &SessionKey,
        own: Option<&Verdict>,
        touched: &mut BTreeSet<SessionKey>,
    ) {
        for ancestor in self.shown_by.remove(key).unwrap_or_default() {
            if let Some(below) = self.below.get_mut(&ancestor) {
                below.0.remove(&key.session);
                if below.0.is_empty() {
                    self.below.remove(&ancestor);
                }
            }
            touched.insert(ancestor);
        }
        let Some(own) = own.filter(|own| concerns_ancestors(own)) else {
            return;
        };
        let above = above(store, key);
        for (n, ancestor) in above.iter().enumerate() {
            let way = above[..n].iter().rev().chain([key]);
            let concern = Concern {
                cause: cause(store, own, way),
                asks: own.asks.clone(),
            };
            let below = self.below.entry(ancestor.clone()).or_default();
            below.0.insert(key.session.clone(), concern);
        }
        touched.extend(above.iter().cloned());
        self.shown_by.insert(key.clone(), above);
    }

    /// What lies below a session, if anything does.
    pub(super) fn below(&self, key: &SessionKey) -> Option<&Below> {
        self.below.get(key)
    }

    /// The sessions below this one that it shows.
    pub(super) fn concerned(&self, key: &SessionKey) -> impl Iterator<Item = SessionKey> {
        let server = key.server;
        let below = self.below.get(key).into_iter();
        below.flat_map(move |below| {
            let ids = below.0.keys();
            ids.map(move |id| SessionKey::new(server, id.clone()))
        })
    }
}

/// A session's own verdict that its ancestors show as well.
fn concerns_ancestors(own: &Verdict) -> bool {
    is_cause(own) || !own.asks.is_empty()
}

fn is_cause(verdict: &Verdict) -> bool {
    verdict.level >= Level::NeedsYou
}

fn cause<'a>(
    store: &Store,
    own: &Verdict,
    way: impl Iterator<Item = &'a SessionKey>,
) -> Option<Cause> {
    let leading = own.leading().filter(|_| is_cause(own))?;
    Some(Cause {
        level: own.level,
        name: leading.name,
        since: leading.since,
        title: title(store, &own.key),
        path: way.map(|key| key.session.clone()).collect(),
    })
}

/// The known ancestors of a session, its parent first.
pub(super) fn above(store: &Store, key: &SessionKey) -> Vec<SessionKey> {
    let mut above: Vec<SessionKey> = Vec::new();
    let sessions = store.server(key.server).map(|server| &server.sessions);
    let find = |id: &SessionId| sessions.and_then(|sessions| sessions.get(id));
    let mut at = find(&key.session);
    while let Some(id) = at.and_then(|session| session.info.parent.as_ref()) {
        let known = above.iter().chain([key]);
        at = find(id).filter(|_| !known.map(|key| &key.session).any(|known| known == id));
        if at.is_some() {
            above.push(SessionKey::new(key.server, id.clone()));
        }
    }
    above
}

/// Archived and not running: left out, whatever lies below.
fn is_put_away(store: &Store, verdict: &Verdict) -> bool {
    let session = store.session(&verdict.key);
    session.is_some_and(|it| it.info.archived.is_some()) && !verdict.reported.is_running()
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
    fn finding(&self, name: &'static str, level: Level) -> Option<Finding> {
        let causes = self.0.values().filter_map(|concern| concern.cause.as_ref());
        let causes = causes.filter(|cause| cause.level == level);
        let count = causes.clone().count();
        let first = causes.min_by(|a, b| (a.since, &a.path).cmp(&(b.since, &b.path)))?;
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

/// Adds to an ancestor's own verdict what lies below it. One that cannot be judged, or is put away,
/// keeps its level; it only lists the asks.
pub(super) fn join(store: &Store, verdict: &mut Verdict, below: &Below) {
    let asks = below.0.values().flat_map(|concern| &concern.asks);
    verdict.asks.extend(asks.cloned());
    if !is_open_to(verdict) || is_put_away(store, verdict) {
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
