//! What follows from what we were told: activity, findings, level; each with its evidence.
//!
//! What it does: pure functions from a [`crate::core::store::Store`] and a time to a [`Verdict`].
//! What it does not: act, remember (but for a cache), or look at anything outside the store.

mod activity;
mod agreement;
mod blind;
mod bonds;
mod cache;
mod elsewhere;
mod explain;
mod facts;
mod family;
mod held;
mod limit_table;
mod limits;
mod one;
mod rest;
mod rules;
mod say;
mod server;
mod tools;
mod verdict;

pub use cache::Judge;
pub use elsewhere::told_by;
pub use explain::{explain, explain_verdict};
pub use facts::Facts;
pub use family::FAMILY_FINDINGS;
pub use held::{holds_up, is_left_behind, standing_asks};
pub use limit_table::{AFTER_TIMEOUT, LIMITS, LimitRow, Slot};
pub use limits::{Limits, Stages, ToolLimit};
pub use rules::{RULES, Rule};
use server::interrupted_of;
pub use server::{SERVER_FINDINGS, judge_server};
pub use tools::{ToolKind, may_be_mcp};
pub use verdict::{
    Activity, ActivityState, Agreement, Answer, Evidence, Explanation, Finding, Level, Offer,
    ServerVerdict, Settling, Tried, Verdict,
};

use crate::core::id::SessionKey;
use crate::core::store::Store;
use crate::core::time::UnixMs;
use family::Family;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that follows from a store at one time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement {
    /// Of every session, roll-up included.
    pub verdicts: BTreeMap<SessionKey, Verdict>,
    /// Of every server, in the order they were named.
    pub servers: Vec<ServerVerdict>,
    /// When time alone may change something next; watcher's clock.
    pub recheck: Option<UnixMs>,
}

/// Judges one session by itself, without what its descendants add. `now` is the watcher's clock.
pub fn judge(store: &Store, key: &SessionKey, now: UnixMs, limits: &Limits) -> Option<Verdict> {
    let facts = Facts::new(store, key, now, limits)?;
    Some(one::judge(&facts, None))
}

/// Judges everything from scratch. `now` is the watcher's clock.
pub fn judge_all(store: &Store, now: UnixMs, limits: &Limits) -> Judgement {
    let mut verdicts = BTreeMap::new();
    let mut recheck: Option<UnixMs> = None;
    for (id, server) in store.servers() {
        for session in server.sessions.values() {
            let facts = Facts::of(store, (id, server), session, now, limits);
            let verdict = one::judge(&facts, None);
            let due = verdict.recheck.map(|at| at - server.skew);
            recheck = recheck.into_iter().chain(due).min();
            verdicts.insert(verdict.key.clone(), verdict);
        }
    }
    roll_up(store, &mut verdicts);
    let servers = store.servers();
    let servers = servers.map(|(id, s)| judge_server(id, s, &interrupted_of(id, &verdicts)));
    let servers = servers.collect();
    Judgement {
        verdicts,
        servers,
        recheck,
    }
}

/// Adds to every verdict what lies below its session.
fn roll_up(store: &Store, verdicts: &mut BTreeMap<SessionKey, Verdict>) {
    let mut family = Family::default();
    let mut ancestors = BTreeSet::new();
    for (key, own) in &*verdicts {
        family.tell(store, key, Some(own), &mut ancestors);
    }
    for key in &ancestors {
        if let Some((verdict, below)) = verdicts.get_mut(key).zip(family.below(key)) {
            family::join(store, verdict, below);
        }
    }
}
