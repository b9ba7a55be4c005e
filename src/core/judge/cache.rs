//! A judgement that is kept up to date: only what changed, or is due, is judged again.
//!
//! Invariant: after [`Judge::update`] the judgement equals [`super::judge_all`] at that time, but
//! for ages inside evidence, which are those of the last look. A session's own verdict rests on
//! its server, itself, its parent (does it run here) and its descendants (do they ask, how long may
//! they run), on the same session of other servers, where a list of permissions is broken on all
//! that run there, and where a project was disposed on those aborted by it; so those are judged
//! again with it.

use crate::core::id::{Epoch, ServerId, SessionId, SessionKey};
use crate::core::judge::family::{self, Below};
use crate::core::judge::rules::{aborted_at, is_broken};
use crate::core::judge::server::interrupted_of;
use crate::core::judge::{Facts, Judgement, Limits, Verdict, judge_server, one};
use crate::core::store::{Change, Server, Store};
use crate::core::time::UnixMs;
use crate::core::wire::Endpoint;
use std::collections::{BTreeMap, BTreeSet};

/// Keeps a [`Judgement`].
#[derive(Debug, Clone, Default)]
pub struct Judge {
    limits: Limits,
    now: UnixMs,
    epochs: BTreeMap<ServerId, Epoch>,
    own: BTreeMap<SessionKey, Verdict>,
    /// Causes and asks: the sessions whose own verdict concerns their ancestors.
    concerning: BTreeSet<SessionKey>,
    below: BTreeMap<SessionKey, Below>,
    parents: BTreeMap<SessionKey, SessionId>,
    children: BTreeMap<SessionKey, BTreeSet<SessionId>>,
    /// Sessions that the disposal of their directory aborted.
    disposed: BTreeSet<SessionKey>,
    /// By when, in the watcher's clock.
    due: BTreeSet<(UnixMs, SessionKey)>,
    due_at: BTreeMap<SessionKey, UnixMs>,
    judgement: Judgement,
}

impl Judge {
    /// With these thresholds, and nothing judged yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The thresholds.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// As of the last update.
    pub fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    /// Judges again what the changes touch and what is due. `now` is the watcher's clock; if it
    /// goes back, everything is judged again.
    pub fn update(&mut self, store: &Store, changes: &[Change], now: UnixMs) -> &Judgement {
        let back = now < self.now;
        self.now = now;
        let mut dirty = self.take_due();
        for (id, server) in store.servers() {
            let known = self.epochs.insert(id, server.epoch);
            let whole = |change: &Change| *change == Change::Server(id);
            if back || known != Some(server.epoch) || changes.iter().any(whole) {
                self.whole_server(store, id, &mut dirty);
            }
        }
        for change in changes {
            if let Change::Sessions(id, sessions) = change {
                let keys = sessions.iter().map(|s| SessionKey::new(*id, s.clone()));
                keys.for_each(|key| self.with_family(store, key, &mut dirty));
            }
        }
        self.with_twins(store, &mut dirty);
        self.with_rivals(store, &mut dirty);
        self.with_disposed(store, &mut dirty);
        self.judge(store, dirty);
        &self.judgement
    }

    fn take_due(&mut self) -> BTreeSet<SessionKey> {
        let mut keys = BTreeSet::new();
        while let Some((at, key)) = self.due.pop_first() {
            if at > self.now {
                self.due.insert((at, key));
                break;
            }
            keys.insert(key);
        }
        keys
    }

    fn whole_server(&self, store: &Store, id: ServerId, dirty: &mut BTreeSet<SessionKey>) {
        if let Some(server) = store.server(id) {
            let keys = server.sessions.keys();
            dirty.extend(keys.map(|session| SessionKey::new(id, session.clone())));
        }
        let known = self.own.keys().filter(|key| key.server == id);
        dirty.extend(known.cloned());
    }

    /// A session, all of its ancestors and its children.
    fn with_family(&self, store: &Store, key: SessionKey, dirty: &mut BTreeSet<SessionKey>) {
        if let Some(children) = self.children.get(&key) {
            let children = children.iter().cloned();
            dirty.extend(children.map(|child| SessionKey::new(key.server, child)));
        }
        let mut at = Some(key);
        let mut seen = BTreeSet::new();
        while let Some(key) = at.filter(|key| !seen.contains(key)) {
            at = family::parent(store, &key);
            seen.insert(key);
        }
        dirty.append(&mut seen);
    }

    /// The same sessions on other servers: what one runs, the others do not call interrupted.
    fn with_twins(&self, store: &Store, dirty: &mut BTreeSet<SessionKey>) {
        let servers: Vec<ServerId> = store.servers().map(|(id, _)| id).collect();
        if servers.len() < 2 {
            return;
        }
        let twins = dirty.iter().flat_map(|key| {
            let others = servers.iter().filter(|id| **id != key.server);
            others.map(|id| SessionKey::new(*id, key.session.clone()))
        });
        let known: Vec<_> = twins.filter(|key| self.own.contains_key(key)).collect();
        dirty.extend(known);
    }

    /// Where a list of permissions is broken, how many sessions may be meant concerns each of them.
    fn with_rivals(&self, store: &Store, dirty: &mut BTreeSet<SessionKey>) {
        let servers: BTreeSet<ServerId> = dirty.iter().map(|key| key.server).collect();
        let broken = |server: &Server| {
            let mut gaps = server.gaps.iter();
            gaps.any(|gap| gap.endpoint == Endpoint::Permission && is_broken(gap))
        };
        for id in servers {
            if store.server(id).is_some_and(broken) {
                let own = self.own.iter().filter(|(key, _)| key.server == id);
                let running = own.filter(|(_, verdict)| verdict.reported.is_running());
                dirty.extend(running.map(|(key, _)| key.clone()));
            }
        }
    }

    /// How many sessions a disposal aborted concerns each of them.
    fn with_disposed(&mut self, store: &Store, dirty: &mut BTreeSet<SessionKey>) {
        let mut moved = BTreeSet::new();
        for key in dirty.iter() {
            let known = store.server(key.server).zip(store.session(key));
            let is = known.and_then(|(server, it)| aborted_at(server, it, &self.limits));
            let concerned = match is {
                Some(_) => {
                    self.disposed.insert(key.clone());
                    true
                }
                None => self.disposed.remove(key),
            };
            if concerned {
                moved.insert(key.server);
            }
        }
        let others = self.disposed.iter();
        dirty.extend(others.filter(|key| moved.contains(&key.server)).cloned());
    }

    fn judge(&mut self, store: &Store, dirty: BTreeSet<SessionKey>) {
        for key in &dirty {
            self.judge_one(store, key);
        }
        let concerning = self.concerning.iter().filter_map(|key| self.own.get(key));
        let below = family::below(store, concerning);
        let old = std::mem::replace(&mut self.below, below);
        let moved = old.keys().chain(self.below.keys());
        let moved = moved.filter(|key| old.get(key) != self.below.get(key));
        let touched: BTreeSet<SessionKey> = moved.cloned().chain(dirty).collect();
        for key in touched {
            self.join(key);
        }
        let verdicts = &self.judgement.verdicts;
        let servers = store.servers();
        let servers = servers.map(|(id, s)| judge_server(id, s, &interrupted_of(id, verdicts)));
        self.judgement.servers = servers.collect();
        self.judgement.recheck = self.due.first().map(|(at, _)| *at);
    }

    fn judge_one(&mut self, store: &Store, key: &SessionKey) {
        self.own.remove(key);
        if let Some(at) = self.due_at.remove(key) {
            self.due.remove(&(at, key.clone()));
        }
        self.concerning.remove(key);
        let Some(facts) = Facts::new(store, key, self.now, &self.limits) else {
            self.link(key, None);
            return;
        };
        let (server, session) = (facts.server, facts.session);
        let verdict = one::judge(&facts, None);
        if let Some(at) = verdict.recheck.map(|at| at - server.skew) {
            self.due.insert((at, key.clone()));
            self.due_at.insert(key.clone(), at);
        }
        if family::concerns_ancestors(&verdict) {
            self.concerning.insert(key.clone());
        }
        self.link(key, session.info.parent.clone());
        self.own.insert(key.clone(), verdict);
    }

    fn join(&mut self, key: SessionKey) {
        let Some(own) = self.own.get(&key) else {
            self.judgement.verdicts.remove(&key);
            return;
        };
        let mut verdict = own.clone();
        if let Some(below) = self.below.get(&key) {
            family::join(&mut verdict, below);
        }
        self.judgement.verdicts.insert(key, verdict);
    }

    /// Remembers who is whose child.
    fn link(&mut self, key: &SessionKey, parent: Option<SessionId>) {
        let old = match &parent {
            Some(parent) => self.parents.insert(key.clone(), parent.clone()),
            None => self.parents.remove(key),
        };
        if old == parent {
            return;
        }
        let of = |parent| SessionKey::new(key.server, parent);
        if let Some(children) = old.and_then(|old| self.children.get_mut(&of(old))) {
            children.remove(&key.session);
        }
        if let Some(parent) = parent {
            let children = self.children.entry(of(parent)).or_default();
            children.insert(key.session.clone());
        }
    }
}
