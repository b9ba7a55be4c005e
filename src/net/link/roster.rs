//! What a link remembers of a server to know what to read: places and sessions.
//!
//! What it does: join names of one folder to one place, keep the facts that the inspect policy
//! decides on, and who needs a tail. What it does not: keep what was said; that is the store's.

use super::inspect::{Choice, Facts, Policy};
use crate::core::id::{CallId, Directory, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::{DirectoryState, Input, SessionInfo};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tokio::time::Instant;

/// One folder under all of its names.
#[derive(Debug)]
pub(super) struct Place {
    /// Names that sessions, events or the server use.
    pub(super) names: BTreeSet<Directory>,
    /// For the policy.
    pub(super) facts: Facts,
    /// How it stands.
    state: Option<DirectoryState>,
    /// What was last reported of each name.
    reported: BTreeMap<Directory, DirectoryState>,
    /// It is polled.
    pub(super) asked: bool,
    /// Where it really is is known, as far as it can be.
    looked_up: bool,
    /// Questions that its last list or an event since named: whose, and of which call.
    pub(super) questions: BTreeSet<(SessionId, Option<CallId>)>,
    /// Its MCP servers were asked for.
    pub(super) mcp_asked: bool,
    /// When its status is due.
    pub(super) status_due: Instant,
    /// When its asks are due.
    pub(super) asks_due: Instant,
}

/// What matters of a session here.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each with its own source"
)]
pub(super) struct Known {
    /// Its directory, as its row or an event names it.
    pub(super) directory: Option<Directory>,
    /// Its row came.
    pub(super) row: bool,
    /// From its row.
    pub(super) updated: UnixMs,
    /// From its row.
    pub(super) archived: bool,
    /// Reported busy or retrying.
    pub(super) running: bool,
    /// An ask of it was listed.
    pub(super) asking: bool,
    /// A tail came, asked for at this time (watcher's clock).
    pub(super) tail: Option<UnixMs>,
    /// When a tail was last wanted, to not hammer one that fails.
    pub(super) tried: Option<Instant>,
    /// Likewise its row.
    pub(super) row_tried: Option<Instant>,
    /// It was deleted, or a read of it answered 404.
    pub(super) gone: bool,
    /// An error of it that was heard before its row came.
    pub(super) held: Option<Input>,
}

/// Places by their real name, and sessions.
#[derive(Debug, Default)]
pub(super) struct Roster {
    pub(super) places: BTreeMap<Directory, Place>,
    pub(super) sessions: HashMap<SessionId, Known>,
    /// Names must be looked up on this machine before the policy decides on them.
    look_up: bool,
    /// Names whose real name is another one.
    aliases: HashMap<Directory, Directory>,
    /// Names of rows that were not looked up yet.
    unresolved: BTreeSet<Directory>,
}

/// A change of what is reported of a directory, under one of its names.
pub(super) type Turn = (Directory, DirectoryState);

impl Roster {
    /// Empty. `look_up`: the server is on this machine.
    pub(super) fn new(look_up: bool) -> Self {
        Self {
            look_up,
            ..Self::default()
        }
    }

    /// The place of a name; made when there is none.
    pub(super) fn place(&mut self, name: &Directory) -> (Directory, &mut Place) {
        let key = self.key(name);
        let place = self
            .places
            .entry(key.clone())
            .or_insert_with(|| Place::new(key.clone()));
        place.names.insert(name.clone());
        (key, place)
    }

    /// The real name of a name.
    pub(super) fn key(&self, name: &Directory) -> Directory {
        self.aliases.get(name).unwrap_or(name).clone()
    }

    /// Takes a row. True when it is new, or changed since its tail was read.
    pub(super) fn row(&mut self, row: &SessionInfo) -> bool {
        let known = self.sessions.entry(row.id.clone()).or_default();
        let news = !known.row || row.updated > known.updated;
        (known.row, known.gone) = (true, false);
        known.updated = row.updated;
        known.archived = row.archived.is_some();
        known.directory = Some(row.directory.clone());
        let key = self.key(&row.directory);
        let look_up = self.look_up;
        if look_up && !self.places.get(&key).is_some_and(|it| it.looked_up) {
            self.unresolved.insert(row.directory.clone());
        }
        let (_, place) = self.place(&row.directory);
        place.looked_up |= !look_up;
        place.facts.newest = place.facts.newest.max(Some(row.updated));
        news
    }

    /// Takes the folder of a project that no session is known of.
    pub(super) fn project(&mut self, name: &Directory) {
        let look_up = self.look_up;
        let (_, place) = self.place(name);
        place.looked_up |= !look_up;
        if !place.looked_up {
            self.unresolved.insert(name.clone());
        }
    }

    /// It does not exist any more. What runs in it all the same is kept in mind: it must not be
    /// read again and again.
    pub(super) fn gone(&mut self, id: &SessionId) {
        if let Some(known) = self.sessions.get_mut(id) {
            (known.gone, known.row, known.held) = (true, false, None);
        }
    }

    /// Names to look up on this machine.
    pub(super) fn take_unresolved(&mut self) -> Vec<Directory> {
        std::mem::take(&mut self.unresolved).into_iter().collect()
    }

    /// Joins a name to its real name, or notes that its folder is missing.
    pub(super) fn resolve(&mut self, name: &Directory, real: Option<Directory>) {
        let (_, place) = self.place(name);
        place.looked_up = true;
        let Some(real) = real else {
            place.facts.missing = true;
            return;
        };
        if real == *name || self.aliases.contains_key(name) {
            return;
        }
        self.aliases.insert(name.clone(), real);
        let Some(moved) = self.places.remove(name) else {
            return;
        };
        let (_, place) = self.place(name);
        place.looked_up = true;
        place.facts.newest = place.facts.newest.max(moved.facts.newest);
        place.facts.seen |= moved.facts.seen;
        place.facts.cwd |= moved.facts.cwd;
        place.facts.commanded |= moved.facts.commanded;
        place.names.extend(moved.names);
    }

    /// A complete list came: whatever it does not name is asked for when it is named again.
    pub(super) fn only(&mut self, listed: &HashSet<SessionId>) {
        for (id, known) in &mut self.sessions {
            if known.row && !listed.contains(id) {
                (known.row, known.tail) = (false, None);
            }
        }
    }

    /// What `?directory=` must say for a place: nothing for the server's cwd.
    pub(super) fn to_ask(&self, key: &Directory) -> Option<Directory> {
        let cwd = self.places.get(key).is_some_and(|it| it.facts.cwd);
        (!cwd).then(|| key.clone())
    }

    /// What `?directory=` must say for a session: nothing for the server's cwd.
    pub(super) fn home(&self, session: &Known) -> Option<Directory> {
        let key = session.directory.as_ref().map(|it| self.key(it));
        key.and_then(|key| self.to_ask(&key))
    }

    /// Decides on every place. Returns those to begin asking, and what to report.
    pub(super) fn decide(&mut self, policy: &Policy, now: UnixMs) -> (Vec<Directory>, Vec<Turn>) {
        let (mut begin, mut turns) = (Vec::new(), Vec::new());
        for (key, place) in &mut self.places {
            let facts = &place.facts;
            let evident = facts.seen || facts.cwd || facts.commanded;
            if !place.looked_up && !evident {
                continue;
            }
            match policy.choose(key, place.facts, now) {
                Choice::Ask if !place.asked => {
                    place.asked = true;
                    begin.push(key.clone());
                    if place.facts.seen {
                        place.turn(DirectoryState::Loaded, &mut turns);
                    }
                }
                // Once asked it is loaded: it stays so until it is disposed.
                _ if place.asked => place.report(&mut turns),
                Choice::Ask => {}
                Choice::Asleep => place.turn(DirectoryState::Asleep, &mut turns),
                Choice::Gone => place.turn(DirectoryState::Gone, &mut turns),
            }
        }
        (begin, turns)
    }

    /// It answered a read, or an event of it came.
    pub(super) fn loaded(&mut self, key: &Directory) -> Vec<Turn> {
        let mut turns = Vec::new();
        if let Some(place) = self.places.get_mut(key) {
            place.turn(DirectoryState::Loaded, &mut turns);
        }
        turns
    }

    /// It was disposed: it must not be asked again without a new reason.
    pub(super) fn disposed(&mut self, name: &Directory) -> Vec<Turn> {
        let mut turns = Vec::new();
        let (_, place) = self.place(name);
        place.asked = false;
        place.facts.seen = false;
        place.facts.commanded = false;
        place.facts.disposed = true;
        place.turn(DirectoryState::Asleep, &mut turns);
        turns
    }

    /// Whether a session's directory may be asked.
    pub(super) fn may_read(&self, session: &Known) -> bool {
        let key = session.directory.as_ref().map(|it| self.key(it));
        key.and_then(|it| self.places.get(&it))
            .is_some_and(|it| it.asked)
    }

    /// Whether a question of this call is known to be asked in a place. One that names no call may
    /// be of any.
    pub(super) fn is_asked_question(
        &self,
        key: &Directory,
        session: &SessionId,
        call: Option<&CallId>,
    ) -> bool {
        let place = self.places.get(key);
        place.is_some_and(|place| {
            let mut questions = place.questions.iter();
            questions.any(|(of, known)| {
                let same = known.as_ref().is_none_or(|known| Some(known) == call);
                of == session && same
            })
        })
    }

    /// Sessions that something was said of, but no list named.
    pub(super) fn rowless(&self) -> Vec<SessionId> {
        let sessions = self.sessions.iter();
        sessions
            .filter(|(_, known)| !known.row)
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// Ids of the sessions of a place.
    pub(super) fn sessions_of(&self, key: &Directory) -> Vec<SessionId> {
        let of = |known: &Known| known.directory.as_ref().map(|it| self.key(it));
        self.sessions
            .iter()
            .filter(|(_, known)| of(known).as_ref() == Some(key))
            .map(|(id, _)| id.clone())
            .collect()
    }
}

impl Place {
    fn new(name: Directory) -> Self {
        let now = Instant::now();
        Self {
            names: BTreeSet::from([name]),
            facts: Facts::default(),
            state: None,
            reported: BTreeMap::new(),
            asked: false,
            looked_up: false,
            mcp_asked: false,
            questions: BTreeSet::new(),
            status_due: now,
            asks_due: now,
        }
    }

    fn turn(&mut self, state: DirectoryState, turns: &mut Vec<Turn>) {
        self.state = Some(state);
        self.report(turns);
    }

    /// What is not yet reported of each name.
    fn report(&mut self, turns: &mut Vec<Turn>) {
        let Some(state) = self.state else { return };
        for name in &self.names {
            if self.reported.insert(name.clone(), state) != Some(state) {
                turns.push((name.clone(), state));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::link::spec::Inspect;

    fn row(id: &str, directory: &str) -> SessionInfo {
        let json = format!(
            r#"{{"id":"{id}","directory":"{directory}","time":{{"created":1,"updated":5}}}}"#
        );
        crate::core::wire::v1::decode_session(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_folder_is_asked_once_whatever_its_names() {
        let mut roster = Roster {
            look_up: true,
            ..Roster::default()
        };
        roster.row(&row("ses_1", "/link"));
        roster.row(&row("ses_2", "/real"));
        roster.row(&row("ses_3", "/lost"));
        let policy = Policy {
            inspect: Inspect::All,
            only: Vec::new(),
        };
        assert_eq!(
            roster.decide(&policy, UnixMs(10)),
            (vec![], vec![]),
            "nothing before it is looked up"
        );
        for name in roster.take_unresolved() {
            let real = match name.as_str() {
                "/lost" => None,
                _ => Some(Directory::from("/real")),
            };
            roster.resolve(&name, real);
        }
        let (begin, turns) = roster.decide(&policy, UnixMs(10));
        assert_eq!(begin, [Directory::from("/real")]);
        assert_eq!(turns, [(Directory::from("/lost"), DirectoryState::Gone)]);
        let names: Vec<&str> = roster.places[&begin[0]]
            .names
            .iter()
            .map(Directory::as_str)
            .collect();
        assert_eq!(names, ["/link", "/real"]);
        assert_eq!(roster.sessions_of(&begin[0]).len(), 2);
        assert_eq!(
            roster.decide(&policy, UnixMs(10)),
            (vec![], vec![]),
            "nothing twice"
        );
    }
}
