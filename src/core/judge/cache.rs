//! A judgement that is kept up to date: only what changed, or is due, is judged again.
//!
//! What it does: collect who is judged again (`bonds.rs` says on whom a change tells), judge them,
//! hand what that means up to their ancestors (`family.rs`). What it does not: know any rule.
//! Invariant: after [`Judge::update`] the judgement equals [`super::judge_all`] at that time, but
//! for ages inside evidence, which are those of the last look. A change of one session never costs
//! a walk over all of them.

use crate::core::id::{Epoch, ServerId, SessionId, SessionKey};
use crate::core::judge::bonds::{self, Bonds};
use crate::core::judge::family::{self, Family};
use crate::core::judge::server::is_listed;
use crate::core::judge::{Facts, Judgement, Limits, Verdict, judge_server, one};
use crate::core::store::{Change, Store};
use crate::core::time::UnixMs;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Keeps a [`Judgement`].
#[derive(Debug, Clone, Default)]
pub struct Judge {
    limits: Limits,
    now: UnixMs,
    epochs: BTreeMap<ServerId, Epoch>,
    bonds: Bonds,
    family: Family,
    /// The sessions that their servers list, and when each last ran, which their servers look at.
    listed: BTreeMap<SessionKey, Option<UnixMs>>,
    due: Due,
    judgement: Judgement,
    judged: BTreeSet<SessionKey>,
}

/// One update under way.
#[derive(Debug, Default)]
struct Round {
    /// To be judged.
    sessions: BTreeSet<SessionKey>,
    /// Servers to be judged.
    servers: BTreeSet<ServerId>,
    /// To be judged too, once the others are: somebody joined or left their club, or they may have
    /// other ancestors now.
    later: BTreeSet<SessionKey>,
    /// Verdicts without what lies below; `None`: it is gone.
    judged: BTreeMap<SessionKey, Option<Verdict>>,
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

    /// The sessions that the last update looked at: no other verdict changed by it. Some may be gone.
    pub fn judged(&self) -> &BTreeSet<SessionKey> {
        &self.judged
    }

    /// Judges again what the changes touch and what is due. `now` is the watcher's clock; if it
    /// goes back, everything is judged again.
    pub fn update(&mut self, store: &Store, changes: &[Change], now: UnixMs) -> &Judgement {
        let back = now < self.now;
        self.now = now;
        let mut round = Round {
            sessions: self.due.take(now),
            ..Round::default()
        };
        for (id, server) in store.servers() {
            let known = self.epochs.insert(id, server.epoch);
            if back || known != Some(server.epoch) || changes.contains(&Change::Server(id)) {
                self.whole_server(store, id, &mut round);
            }
        }
        for change in changes {
            self.take(store, change, &mut round);
        }
        self.judge(store, round);
        &self.judgement
    }

    fn take(&self, store: &Store, change: &Change, round: &mut Round) {
        if let Change::Itself(id, _) = change {
            round.servers.insert(*id);
        }
        match change {
            // Whole servers are taken already, each once.
            Change::Nothing | Change::Stale(_) | Change::Server(_) => {}
            Change::Progress(id, session) => {
                let key = SessionKey::new(*id, session.clone());
                self.bonds.progressed(store, key, &mut round.sessions);
            }
            Change::Itself(id, sessions) | Change::Sessions(id, sessions) => {
                for session in sessions {
                    let key = SessionKey::new(*id, session.clone());
                    self.bonds.changed(store, key, &mut round.sessions);
                }
            }
        }
    }

    /// Every session of a server that is known or was, and itself.
    fn whole_server(&self, store: &Store, id: ServerId, round: &mut Round) {
        round.servers.insert(id);
        let verdicts = self.judgement.verdicts.range(first_of(id)..);
        let known = verdicts.map(|(key, _)| key);
        let known = known.take_while(|key| key.server == id).cloned();
        let server = store.server(id).into_iter();
        let sessions = server.flat_map(|server| server.sessions.keys());
        let sessions = sessions.map(|session| SessionKey::new(id, session.clone()));
        for key in known.chain(sessions) {
            round.sessions.extend(bonds::twins(store, &key));
            round.sessions.insert(key);
        }
    }

    fn judge(&mut self, store: &Store, mut round: Round) {
        let sessions = std::mem::take(&mut round.sessions);
        self.judge_each(store, sessions, &mut round);
        let later = std::mem::take(&mut round.later);
        self.judge_each(store, later, &mut round);
        let mut ancestors = BTreeSet::new();
        for (key, own) in &round.judged {
            self.family.tell(store, key, own.as_ref(), &mut ancestors);
        }
        // Their own verdicts are not kept: what is shown has what lay below them in it.
        self.judge_each(store, ancestors, &mut round);
        self.judged = round.judged.keys().cloned().collect();
        for (key, own) in std::mem::take(&mut round.judged) {
            self.show(store, key, own, &mut round.servers);
        }
        self.judge_servers(store, &round.servers);
        self.judgement.recheck = self.due.first();
    }

    /// Judges sessions by themselves, those that are not yet judged.
    fn judge_each(&mut self, store: &Store, keys: BTreeSet<SessionKey>, round: &mut Round) {
        for key in keys {
            if !round.judged.contains_key(&key) {
                let own = self.judge_one(store, &key, round);
                round.judged.insert(key, own);
            }
        }
    }

    fn judge_one(&mut self, store: &Store, key: &SessionKey, round: &mut Round) -> Option<Verdict> {
        let facts = Facts::new(store, key, self.now, &self.limits);
        if self.bonds.tie(key, facts.as_ref(), &mut round.later) {
            for top in self.bonds.children(key).chain([key.clone()]) {
                round.later.extend(self.family.concerned(&top));
                round.later.insert(top);
            }
        }
        let verdict = facts.as_ref().map(|facts| one::judge(facts, None));
        let skew = facts.map(|facts| facts.server.skew).unwrap_or_default();
        let recheck = verdict.as_ref().and_then(|verdict| verdict.recheck);
        self.due.set(key, recheck.map(|at| at - skew));
        verdict
    }

    /// Joins what lies below a session to its own verdict; that is its place in the judgement.
    fn show(
        &mut self,
        store: &Store,
        key: SessionKey,
        mut own: Option<Verdict>,
        servers: &mut BTreeSet<ServerId>,
    ) {
        if let Some((verdict, below)) = own.as_mut().zip(self.family.below(&key)) {
            family::join(store, verdict, below);
        }
        let listed = own.as_ref().filter(|own| is_listed(own));
        let ran = listed.and_then(|_| Some(store.session(&key)?.watch.ran_here_at));
        let before = match ran {
            Some(ran) => self.listed.insert(key.clone(), ran),
            None => self.listed.remove(&key),
        };
        if before != ran {
            servers.insert(key.server);
        }
        match own {
            Some(verdict) => self.judgement.verdicts.insert(key, verdict),
            None => self.judgement.verdicts.remove(&key),
        };
    }

    /// Servers are never forgotten, so their places are those of the store.
    fn judge_servers(&mut self, store: &Store, again: &BTreeSet<ServerId>) {
        for (place, (id, server)) in store.servers().enumerate() {
            let known = self.judgement.servers.get_mut(place);
            if known.is_some() && !again.contains(&id) {
                continue;
            }
            let listed = self.listed.range(first_of(id)..).map(|(key, _)| key);
            let listed = listed.take_while(|key| key.server == id);
            let listed: Vec<SessionId> = listed.map(|key| key.session.clone()).collect();
            let verdict = judge_server(id, server, &listed);
            match known {
                Some(known) => *known = verdict,
                None => self.judgement.servers.push(verdict),
            }
        }
    }
}

/// No key of a server comes before this one.
fn first_of(server: ServerId) -> SessionKey {
    SessionKey::new(server, SessionId::from(""))
}

/// When which session is to be judged again, in the watcher's clock.
#[derive(Debug, Clone, Default)]
struct Due {
    sorted: BTreeSet<(UnixMs, SessionKey)>,
    at: HashMap<SessionKey, UnixMs>,
}

impl Due {
    fn first(&self) -> Option<UnixMs> {
        self.sorted.first().map(|(at, _)| *at)
    }

    fn set(&mut self, key: &SessionKey, at: Option<UnixMs>) {
        let old = match at {
            Some(at) => self.at.insert(key.clone(), at),
            None => self.at.remove(key),
        };
        if old == at {
            return;
        }
        if let Some(old) = old {
            self.sorted.remove(&(old, key.clone()));
        }
        if let Some(at) = at {
            self.sorted.insert((at, key.clone()));
        }
    }

    /// The sessions that are due. They stay so until they are judged again.
    fn take(&self, now: UnixMs) -> BTreeSet<SessionKey> {
        let due = self.sorted.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, key)| key.clone()).collect()
    }
}
