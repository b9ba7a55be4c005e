//! What each event means for what is read next.
//!
//! What it does: notes directories and sessions that events name, and says what of them is wanted.
//! What it does not: change events; they pass as they came, or are kept until the snapshot is done.

use super::inspect::is_askable;
use super::snapshot::Stage;
use super::wants::want_mcp;
use super::watch::Watch;
use crate::core::id::{Directory, SessionId};
use crate::core::wire::{
    Ask, AskKind, Body, Event, EventKind, Input, Part, SessionInfo, Status, v1,
};
use std::collections::BTreeMap;
use tokio::time::Instant;

impl Watch<'_> {
    /// Takes an event: notes what it means for reading, and passes it on.
    pub(super) fn on_event(&mut self, data: &str, event: Event) {
        let first = self.first_row(&event.kind);
        self.observe(data, &event);
        let disposed = match &event.kind {
            EventKind::Noise => return,
            EventKind::InstanceDisposed(it) => Some(it.clone()),
            _ => None,
        };
        let input = self.outlet.stamp(Body::Event(event));
        let Some(input) = self.hold_error(input) else {
            return;
        };
        self.deliver(input);
        if let Some(directory) = disposed {
            self.disposed(&directory);
        }
        if let Some(id) = first {
            self.row_came(&id);
        }
    }

    /// Whose row comes for the first time although something was said of it before.
    fn first_row(&self, kind: &EventKind) -> Option<SessionId> {
        let EventKind::SessionUpdated(row) = kind else {
            return None;
        };
        let known = self.roster.sessions.get(&row.id);
        known.filter(|it| !it.row).map(|_| row.id.clone())
    }

    /// An error is in no list and comes once: it waits for the row of its session.
    fn hold_error(&mut self, input: Input) -> Option<Input> {
        if let Body::Event(event) = &input.body
            && let EventKind::SessionError { session, .. } = &event.kind
            && let Some(id) = session
            && let Some(known) = self.roster.sessions.get_mut(id)
            && self.stage == Stage::Live
            && !(known.row || known.gone)
        {
            known.held.get_or_insert(input);
            return None;
        }
        Some(input)
    }

    /// What was said of a session before its row came was lost on the way; it is made good.
    pub(super) fn row_came(&mut self, id: &SessionId) {
        let Some(known) = self.roster.sessions.get_mut(id) else {
            return;
        };
        let running = known.running;
        let home = known.directory.clone();
        if let Some(error) = known.held.take() {
            self.outlet.push_input(error);
        }
        let key = home.map(|it| self.roster.key(&it));
        if let Some(key) = key.filter(|key| running && self.is_asked(key)) {
            self.ask_status(&key, true);
        }
    }

    fn deliver(&mut self, input: Input) {
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
            EventKind::PartUpdated(it) => self.on_part(it, place),
            EventKind::Delta { session, .. } | EventKind::PartRemoved { session, .. } => {
                self.on_message(session, place);
            }
            EventKind::MessageRemoved { session, .. } => self.want_tail_again(session, place),
            EventKind::Asked(ask) => self.note_asking(ask, place),
            EventKind::SessionError { session, .. } => self.on_error(session.as_ref(), place),
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
        let known = self.roster.sessions.get(&row.id);
        let fresh = !known.is_some_and(|it| it.row);
        self.roster.row(row);
        if fresh {
            self.want_tail(&row.id, true);
        }
    }

    /// What runs on in a deleted session is a zombie: it must not be taken for a new one.
    fn forget(&mut self, id: &SessionId) {
        self.later.remove(id);
        self.again.close(id);
        if self.roster.sessions.get(id).is_some_and(|it| it.running) {
            self.roster.gone(id);
        } else {
            self.roster.sessions.remove(id);
        }
    }

    /// Whatever failed, its messages tell what became of the prompt; they may never have been read.
    fn on_error(&mut self, id: Option<&SessionId>, place: Option<&Directory>) {
        if let Some(id) = id {
            self.meet(id, place);
            self.want_tail_if_none(id);
            self.settle(id);
        }
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

    fn on_part(&mut self, part: &Part, place: Option<&Directory>) {
        self.again.part(part, &self.spec.pace);
        self.on_message(&part.session, place);
        want_mcp(&mut self.roster, &mut self.jobs, part);
    }

    fn on_malformed(&mut self, data: &str, place: Option<&Directory>) {
        if let Some(id) = v1::session_hint(data) {
            self.want_tail_again(&id, place);
        }
    }

    /// A session that something was said about. Its directory is the one that said it, until its
    /// row comes.
    pub(super) fn meet(
        &mut self,
        id: &SessionId,
        place: Option<&Directory>,
    ) -> &mut super::roster::Known {
        let known = self.roster.sessions.entry(id.clone()).or_default();
        if known.directory.is_none() {
            known.directory = place.cloned();
        }
        known
    }

    pub(super) fn note_asking(&mut self, ask: &Ask, place: Option<&Directory>) {
        let known = self.meet(&ask.session, place);
        known.asking = true;
        let home = known.directory.clone();
        let key = home.map(|it| self.roster.key(&it));
        if ask.kind == AskKind::Question
            && let Some(key) = key
            && let Some(place) = self.roster.places.get_mut(&key)
        {
            let call = ask.tool.as_ref().map(|it| it.call.clone());
            place.questions.insert((ask.session.clone(), call));
        }
        self.want_tail_if_none(&ask.session);
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
            if self.roster.sessions.get(&id).is_some_and(|it| it.gone) && !entries.contains_key(&id)
            {
                self.roster.sessions.remove(&id);
            }
        }
        for (id, status) in entries {
            if *status == Status::Idle {
                continue;
            }
            let known = self.meet(id, Some(key));
            known.running = true;
            if known.gone {
                self.outlet.push(Body::SessionGone(id.clone()));
            } else {
                self.want_tail_if_none(id);
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
}
