//! What each event and each hour means for what is read next.
//!
//! What it does: notes directories and sessions that events name, and asks again gently. What it
//! does not: change events; they pass as they came, or are kept until the snapshot is done.

use super::inspect::is_askable;
use super::jobs::Job;
use super::snapshot::Stage;
use super::watch::Watch;
use crate::core::id::{Directory, SessionId};
use crate::core::wire::{Body, Event, EventKind, SessionInfo, Status, v1};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// A tail that failed is not tried again at once, however many events come.
const TAIL_HOLD: Duration = Duration::from_secs(5);

impl Watch<'_> {
    /// Takes an event: notes what it means for reading, and passes it on.
    pub(super) fn on_event(&mut self, data: &str, event: Event) {
        self.observe(data, &event);
        let disposed = match &event.kind {
            EventKind::Noise => return,
            EventKind::InstanceDisposed(it) => Some(it.clone()),
            _ => None,
        };
        let input = self.outlet.stamp(Body::Event(event));
        self.deliver(input);
        if let Some(directory) = disposed {
            self.disposed(&directory);
        }
    }

    fn deliver(&mut self, input: crate::core::wire::Input) {
        if self.stage == Stage::Live {
            self.outlet.push_input(input);
            return;
        }
        if self.kept.len() >= super::pending::LIMIT {
            self.kept.drop_events();
            self.outlet.overflowed = true;
        }
        self.kept.push(input);
    }

    fn observe(&mut self, data: &str, event: &Event) {
        if !matches!(event.kind, EventKind::Heartbeat) {
            self.last_event = Instant::now();
        }
        if !matches!(event.kind, EventKind::InstanceDisposed(_)) {
            self.see(event.directory.as_ref());
        }
        let place = event.directory.as_ref();
        match &event.kind {
            EventKind::SessionUpdated(row) => self.on_row_event(row),
            EventKind::SessionDeleted(id) => self.forget(id),
            EventKind::Status { session, status } => self.on_status_event(session, status, place),
            EventKind::MessageUpdated(it) => self.on_message(&it.session, place),
            EventKind::PartUpdated(it) => self.on_message(&it.session, place),
            EventKind::Delta { session, .. } | EventKind::PartRemoved { session, .. } => {
                self.on_message(session, place);
            }
            EventKind::MessageRemoved { session, .. } => self.want_tail_again(session, place),
            EventKind::Asked(ask) => self.note_asking(&ask.session, place),
            EventKind::Malformed { .. } => self.on_malformed(data, place),
            _ => {}
        }
    }

    /// An event of a directory is evidence that it is loaded.
    fn see(&mut self, directory: Option<&Directory>) {
        let Some(directory) = directory.filter(|it| is_askable(it)) else {
            return;
        };
        let key = self.roster.key(directory);
        let known = self.roster.places.get(&key);
        if known.is_some_and(|it| it.facts.seen) {
            return;
        }
        let (_, place) = self.roster.place(directory);
        place.facts.seen = true;
        place.facts.disposed = false;
        self.decide();
    }

    fn disposed(&mut self, directory: &Directory) {
        let turns = self.roster.disposed(directory);
        self.commanded.remove(directory);
        let key = self.roster.key(directory);
        for id in self.roster.sessions_of(&key) {
            if let Some(known) = self.roster.sessions.get_mut(&id) {
                (known.running, known.asking) = (false, false);
                self.later.remove(&id);
            }
        }
        self.report(turns);
    }

    fn on_row_event(&mut self, row: &SessionInfo) {
        let fresh = !self.roster.sessions.contains_key(&row.id);
        self.roster.row(row);
        if fresh {
            self.want_tail(&row.id, true);
        }
    }

    fn forget(&mut self, id: &SessionId) {
        self.roster.sessions.remove(id);
        self.later.remove(id);
    }

    fn on_status_event(&mut self, id: &SessionId, status: &Status, place: Option<&Directory>) {
        let idle = *status == Status::Idle;
        let known = self.meet(id, place);
        let was = std::mem::replace(&mut known.running, !idle);
        if !idle {
            self.want_tail_if_none(id);
        } else if was || self.lacks_tail(id) {
            self.settle(id);
        }
    }

    fn on_message(&mut self, id: &SessionId, place: Option<&Directory>) {
        self.meet(id, place);
        self.want_tail_if_none(id);
    }

    fn on_malformed(&mut self, data: &str, place: Option<&Directory>) {
        if let Some(id) = v1::session_hint(data) {
            self.want_tail_again(&id, place);
        }
    }

    /// A session that something was said about. Its directory is the one that said it, until its
    /// row comes.
    fn meet(&mut self, id: &SessionId, place: Option<&Directory>) -> &mut super::roster::Known {
        let known = self.roster.sessions.entry(id.clone()).or_default();
        if known.directory.is_none() {
            known.directory = place.cloned();
        }
        known
    }

    pub(super) fn note_asking(&mut self, id: &SessionId, place: Option<&Directory>) {
        self.meet(id, place).asking = true;
        self.want_tail_if_none(id);
        self.want_row(id);
    }

    /// Who is not idle in a place; who was and is not any more is read again.
    pub(super) fn note_running(&mut self, key: &Directory, entries: &BTreeMap<SessionId, Status>) {
        for id in self.roster.sessions_of(key) {
            let Some(known) = self.roster.sessions.get_mut(&id) else {
                continue;
            };
            if known.running && !entries.contains_key(&id) {
                known.running = false;
                self.settle(&id);
            }
        }
        for (id, status) in entries {
            if *status != Status::Idle {
                self.meet(id, Some(key)).running = true;
                self.want_tail_if_none(id);
                self.want_row(id);
            }
        }
        self.reread_blind(entries);
    }

    /// Without a stream only reading again shows what a run does.
    fn reread_blind(&mut self, entries: &BTreeMap<SessionId, Status>) {
        if self.has_stream || self.stage != Stage::Live {
            return;
        }
        for id in entries.keys() {
            self.want_tail_again(id, None);
        }
    }

    /// Rows of sessions that no list named. Before the lists came nothing is missing yet.
    fn want_row(&mut self, id: &SessionId) {
        let known = self.roster.sessions.get(id);
        if self.stage != Stage::Lists && known.is_some_and(|it| !it.row) {
            self.jobs.urgent(Job::Session(id.clone()));
        }
    }

    /// A tail a little later, when what ends with a turn has been written.
    fn settle(&mut self, id: &SessionId) {
        let at = Instant::now() + self.spec.pace.settle;
        self.later.insert(id.clone(), at);
    }

    fn lacks_tail(&self, id: &SessionId) -> bool {
        let known = self.roster.sessions.get(id);
        known.is_some_and(|it| it.tail.is_none())
    }

    fn want_tail_if_none(&mut self, id: &SessionId) {
        if self.lacks_tail(id) {
            self.want_tail(id, true);
        }
    }

    fn want_tail_again(&mut self, id: &SessionId, place: Option<&Directory>) {
        self.meet(id, place).tried = None;
        self.want_tail(id, true);
    }

    /// Reads a tail unless its directory must not be asked, or it was tried just now.
    pub(super) fn want_tail(&mut self, id: &SessionId, urgent: bool) {
        let Some(known) = self.roster.sessions.get(id) else {
            return;
        };
        let held = known.tried.is_some_and(|it| it.elapsed() < TAIL_HOLD);
        if held || !self.roster.may_read(known) {
            return;
        }
        if let Some(known) = self.roster.sessions.get_mut(id) {
            known.tried = Some(Instant::now());
        }
        if urgent {
            self.jobs.urgent(Job::Tail(id.clone()));
        } else {
            self.jobs.calm(Job::Tail(id.clone()));
        }
    }

    /// A person asked for this project.
    pub(super) fn load(&mut self, directory: &Directory) {
        self.commanded.insert(directory.clone());
        let (key, place) = self.roster.place(directory);
        place.facts.commanded = true;
        place.facts.disposed = false;
        self.decide();
        self.refresh_place(&key);
    }

    /// Status and asks now. A directory that is not asked yet is loaded by it.
    pub(super) fn refresh(&mut self, directory: &Directory) {
        let key = self.roster.key(directory);
        if self.is_asked(&key) {
            self.refresh_place(&key);
        } else {
            self.load(directory);
        }
    }

    fn refresh_place(&mut self, key: &Directory) {
        if self.is_asked(key) {
            self.ask_place(key, true);
        }
    }

    /// Row and tail of one session now. Starts its project.
    pub(super) fn read_session(&mut self, id: SessionId) {
        let directory = self.roster.sessions.get(&id);
        if let Some(directory) = directory.and_then(|it| it.directory.clone()) {
            let key = self.roster.key(&directory);
            if !self.is_asked(&key) {
                self.load(&directory);
            }
        }
        self.jobs.urgent(Job::Session(id.clone()));
        self.jobs.urgent(Job::Tail(id));
    }

    pub(super) fn check_health(&mut self) {
        self.jobs.urgent(Job::Health);
    }

    fn is_quiet(&self) -> bool {
        self.last_event.elapsed() >= self.spec.pace.quiet_after
    }

    pub(super) fn status_every(&self) -> Duration {
        let pace = &self.spec.pace;
        match (self.has_stream, self.is_quiet()) {
            (false, _) => pace.blind_status,
            (true, false) => pace.status,
            (true, true) => pace.status * 2,
        }
    }

    pub(super) fn asks_every(&self) -> Duration {
        let pace = &self.spec.pace;
        match (self.has_stream, self.is_quiet()) {
            (false, _) => pace.blind_asks,
            (true, false) => pace.asks,
            (true, true) => pace.asks * 2,
        }
    }

    /// When something is to be read next.
    pub(super) fn next_due(&self) -> Instant {
        let polled = self.stage == Stage::Live;
        let places = self.roster.places.values().filter(|it| polled && it.asked);
        let polls = places.flat_map(|it| [it.status_due, it.asks_due]);
        polls
            .chain(self.later.values().copied())
            .chain([self.outlet.beat_due()])
            .fold(self.lists_due, Instant::min)
    }

    /// Reads what is due.
    pub(super) fn on_time(&mut self) {
        let now = Instant::now();
        self.later_tails(now);
        if self.lists_due <= now {
            self.lists_due = now + self.spec.pace.lists;
            self.jobs.calm(Job::Sessions);
        }
        if self.stage != Stage::Live {
            return;
        }
        for key in self.asked_places() {
            let Some(place) = self.roster.places.get(&key) else {
                continue;
            };
            let (status, asks) = (place.status_due <= now, place.asks_due <= now);
            if status {
                self.ask_status(&key, false);
            }
            if asks {
                self.ask_asks(&key, false);
            }
        }
    }

    fn later_tails(&mut self, now: Instant) {
        let due: Vec<SessionId> = self
            .later
            .iter()
            .filter(|(_, at)| **at <= now)
            .map(|(id, _)| id.clone())
            .collect();
        for id in due {
            self.later.remove(&id);
            self.want_tail_again(&id, None);
        }
    }
}
