//! Who is judged again when something changes: the one place that says on what a judgement rests
//! besides its own session.
//!
//! | what changed | judged again with it | because |
//! |---|---|---|
//! | anything of a session | all above it | a task waits with its child's asks, may run as long as its child does, and takes its result |
//! | but progress alone | its children | they run where their parent runs, and are orphans when it has ended or is gone |
//! | but progress alone | the same session on other servers | what one runs, or saw go on, is not interrupted on the others; two may run it at once |
//! | it joins or leaves a [`Club`] | the other members | they count each other |
//! | whether, or as what, its server lists it | its server's verdict | `restarted` lists what was cut off |
//!
//! What lies below an ancestor is joined to it by `family.rs`; that is no bond: its own verdict
//! does not rest on it. Time alone crosses no bond: a verdict names its own recheck.
//!
//! A new rule that looks at other sessions: parents, children and twins are here. Any other group
//! is a [`Club`]: one variant, and in [`clubs`] the rule's own test of who is meant.
//! `tests/properties.rs` finds what was forgotten.

use crate::core::id::{Directory, ServerId, SessionId, SessionKey};
use crate::core::judge::facts::Facts;
use crate::core::judge::rules::{aborted_at, is_broken, may_be_meant};
use crate::core::judge::{blind, family};
use crate::core::store::Store;
use crate::core::time::UnixMs;
use crate::core::wire::AskKind;
use std::collections::{BTreeSet, HashMap};

/// Sessions that look at each other without being of one family.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Club {
    /// One of them may have the ask that breaks its project's list: `possible-permission` says how
    /// many there are.
    MayBeMeant(ServerId, Directory),
    /// Aborted by the disposal of their directory: `mass-abort` looks who was so within a second.
    Disposed(ServerId, Directory),
}

/// A club, and the time that its members compare, if they do.
type Membership = (Club, Option<UnixMs>);

/// The clubs that a session is in.
fn clubs(facts: &Facts) -> Vec<Membership> {
    let mut clubs = Vec::new();
    let directory = || facts.session.info.directory.clone();
    let broken = blind::gap(facts, AskKind::Permission).is_some_and(is_broken);
    if broken && may_be_meant(facts.server, facts.session) {
        clubs.push((Club::MayBeMeant(facts.server_id, directory()), None));
    }
    let aborted = aborted_at(facts.server, facts.session, facts.limits);
    if aborted.is_some() {
        clubs.push((Club::Disposed(facts.server_id, directory()), aborted));
    }
    clubs
}

/// Who is tied to whom, as of the last judgement.
#[derive(Debug, Clone, Default)]
pub(super) struct Bonds {
    ties: HashMap<SessionKey, Ties>,
    /// By parent, known or not.
    children: HashMap<SessionKey, BTreeSet<SessionId>>,
    members: HashMap<Club, BTreeSet<SessionKey>>,
}

/// The ties of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ties {
    parent: Option<SessionId>,
    clubs: Vec<Membership>,
}

impl Bonds {
    /// Adds a session that changed, and whoever looks at it.
    pub(super) fn changed(&self, store: &Store, key: SessionKey, again: &mut BTreeSet<SessionKey>) {
        again.extend(self.children(&key));
        again.extend(twins(store, &key));
        self.progressed(store, key, again);
    }

    /// Adds a session that made progress, and whoever looks at that: those above it, also above
    /// where it was until now.
    pub(super) fn progressed(
        &self,
        store: &Store,
        key: SessionKey,
        again: &mut BTreeSet<SessionKey>,
    ) {
        let above = family::above(store, &key);
        let now = above.first().map(|parent| &parent.session);
        let before = self.ties.get(&key).and_then(|ties| ties.parent.as_ref());
        if let Some(before) = before.filter(|before| Some(*before) != now) {
            let before = SessionKey::new(key.server, before.clone());
            again.extend(family::above(store, &before));
            again.insert(before);
        }
        again.extend(above);
        again.insert(key);
    }

    /// The sessions that name this one as their parent.
    pub(super) fn children(&self, key: &SessionKey) -> impl Iterator<Item = SessionKey> {
        let server = key.server;
        let ids = self.children.get(key).into_iter().flatten();
        ids.map(move |id| SessionKey::new(server, id.clone()))
    }

    /// Ties a session anew; `None`: it is gone. Says whether its place in the tree is another, and
    /// adds to `fellows` the members of the clubs that it joined or left.
    pub(super) fn tie(
        &mut self,
        key: &SessionKey,
        facts: Option<&Facts>,
        fellows: &mut BTreeSet<SessionKey>,
    ) -> bool {
        let new = facts.map(|facts| Ties {
            parent: facts.session.info.parent.clone(),
            clubs: clubs(facts),
        });
        if self.ties.get(key) == new.as_ref() {
            return false;
        }
        let old = match new.clone() {
            Some(new) => self.ties.insert(key.clone(), new),
            None => self.ties.remove(key),
        };
        self.join(key, clubs_of(old.as_ref()), clubs_of(new.as_ref()), fellows);
        let moved = old.as_ref().map(|it| &it.parent) != new.as_ref().map(|it| &it.parent);
        if moved {
            let parent = |ties: Option<Ties>| ties.and_then(|it| it.parent);
            self.adopt(key, parent(old), parent(new));
        }
        moved
    }

    fn join(
        &mut self,
        key: &SessionKey,
        old: &[Membership],
        new: &[Membership],
        fellows: &mut BTreeSet<SessionKey>,
    ) {
        for (club, _) in old.iter().filter(|one| !new.contains(one)) {
            if let Some(members) = self.members.get_mut(club) {
                members.remove(key);
                fellows.extend(members.iter().cloned());
                if members.is_empty() {
                    self.members.remove(club);
                }
            }
        }
        for (club, _) in new.iter().filter(|one| !old.contains(one)) {
            let members = self.members.entry(club.clone()).or_default();
            fellows.extend(members.iter().cloned());
            members.insert(key.clone());
        }
    }

    fn adopt(&mut self, key: &SessionKey, old: Option<SessionId>, new: Option<SessionId>) {
        let of = |parent| SessionKey::new(key.server, parent);
        if let Some(old) = old.map(of)
            && let Some(children) = self.children.get_mut(&old)
        {
            children.remove(&key.session);
            if children.is_empty() {
                self.children.remove(&old);
            }
        }
        if let Some(new) = new.map(of) {
            let children = self.children.entry(new).or_default();
            children.insert(key.session.clone());
        }
    }
}

fn clubs_of(ties: Option<&Ties>) -> &[Membership] {
    ties.map_or(&[], |ties| &ties.clubs)
}

/// The same session on other servers: two processes on one data folder tell of the same sessions.
pub(super) fn twins(store: &Store, key: &SessionKey) -> impl Iterator<Item = SessionKey> {
    let others = store.servers().filter(|(id, _)| *id != key.server);
    let theirs = others.filter(|(_, server)| server.sessions.contains_key(&key.session));
    theirs.map(|(id, _)| SessionKey::new(id, key.session.clone()))
}
