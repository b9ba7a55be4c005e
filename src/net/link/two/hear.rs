//! What each event means: for the store at once, and for what is read again.
//!
//! What it does: pass events on, keep the little that no body holds, and schedule reads. What it
//! does not: read at once: steps of a turn come in bursts, and one read serves them all.

use super::read::Read;
use super::{Known, Progress, Stage, Two};
use crate::core::id::{CallId, SessionId};
use crate::core::wire::v2::{self, Heard, Touch};
use crate::core::wire::{Ask, Body, Event, EventKind, Status};
use crate::net::link::pending;
use std::time::Duration;
use tokio::time::Instant;

/// From the first event that touches a tail to its reading.
const GATHER: Duration = Duration::from_millis(300);
/// The end of a run is not held back longer than this for the reading of its tail.
const HOLD: Duration = Duration::from_secs(1);

impl Two<'_> {
    /// Takes the data of a frame.
    pub(super) fn hear(&mut self, data: &str) {
        let Heard { event, touch } = v2::decode_event(data);
        self.last_event = Instant::now();
        let before = match &event.kind {
            EventKind::SessionUpdated(_) => Some(self.directories()),
            _ => None,
        };
        self.observe(&event.kind);
        match run_of(&event.kind) {
            Some((session, ended)) => {
                self.let_go(&session);
                if ended && self.stage == Stage::Live {
                    self.hold(session.clone(), event);
                } else {
                    self.deliver(event);
                }
                if ended {
                    self.close_asks(&session, |_| true);
                }
            }
            None => self.deliver(event),
        }
        if let Some(before) = before {
            self.tell_new(&before);
        }
        self.touched(touch);
    }

    /// The end of a run is told together with what the run left: with its last answer still open
    /// it would look cut off. Not for long: who is idle must be told even if nothing can be read.
    fn hold(&mut self, session: SessionId, event: Event) {
        let until = Instant::now() + HOLD;
        self.held.insert(session, (event, until));
    }

    /// Tells what was held of a session, if anything.
    pub(super) fn let_go(&mut self, session: &SessionId) {
        if let Some((event, _)) = self.held.remove(session) {
            self.deliver(event);
        }
    }

    pub(super) fn let_go_due(&mut self, now: Instant) {
        let due = self.held.iter().filter(|(_, (_, until))| *until <= now);
        let due: Vec<SessionId> = due.map(|(id, _)| id.clone()).collect();
        for id in due {
            self.let_go(&id);
        }
    }

    fn deliver(&mut self, event: Event) {
        if event.kind == EventKind::Noise {
            return;
        }
        let input = self.outlet.stamp(Body::Event(event));
        if self.stage == Stage::Live {
            self.outlet.push_input(input);
            return;
        }
        if self.kept.len() >= pending::LIMIT {
            self.kept.drop_events();
            self.outlet.overflowed = true;
        }
        self.kept.push(input);
    }

    fn observe(&mut self, kind: &EventKind) {
        match kind {
            EventKind::SessionUpdated(row) => {
                self.meet(row);
                let now = self.outlet.now();
                self.known_mut(&row.id).told_at = Some(now);
            }
            EventKind::SessionDeleted(id) => self.forget(id),
            EventKind::Status { session, status } => self.on_status(session, status),
            EventKind::Asked(ask) => self.note_ask(ask),
            EventKind::AskClosed { session, ask } => {
                self.known_mut(session).asks.remove(ask);
            }
            _ => {}
        }
    }

    pub(super) fn known_mut(&mut self, id: &SessionId) -> &mut Known {
        self.known.entry(id.clone()).or_default()
    }

    pub(super) fn note_ask(&mut self, ask: &Ask) {
        let call = ask.tool.as_ref().map(|it| it.call.clone());
        let known = self.known_mut(&ask.session);
        known.asks.insert(ask.id.clone(), (ask.kind, call));
    }

    fn on_status(&mut self, id: &SessionId, status: &Status) {
        let now = self.outlet.now();
        let retry = match status {
            Status::Retry(retry) => Some(retry.clone()),
            _ => None,
        };
        let known = self.known_mut(id);
        known.retry = retry;
        known.status_heard = Some(now);
        if *status == Status::Idle {
            known.progress.clear();
            self.active.entries.remove(id);
        } else {
            self.active.entries.insert(id.clone(), Status::Busy);
            self.again.close(id);
        }
        self.active.heard.insert(id.clone(), now);
    }

    /// 2.x has no event for a permission that an interrupt ended.
    fn close_asks(&mut self, id: &SessionId, of: impl Fn(Option<&CallId>) -> bool) {
        let Some(known) = self.known.get_mut(id) else {
            return;
        };
        let mut gone = Vec::new();
        known.asks.retain(|ask, (_, call)| {
            let ends = of(call.as_ref());
            if ends {
                gone.push(ask.clone());
            }
            !ends
        });
        for ask in gone {
            let session = id.clone();
            self.deliver(Event {
                directory: None,
                kind: EventKind::AskClosed { session, ask },
            });
        }
    }

    fn touched(&mut self, touch: Touch) {
        match touch {
            Touch::Nothing => {}
            Touch::Row(id) => self.want_row(&id),
            Touch::Tail(id) => self.tail_soon(&id),
            Touch::Run(id) => {
                self.want_row(&id);
                self.tail_of_run(&id);
            }
            Touch::Progress {
                session,
                call,
                child,
                begun,
            } => {
                let progress = &mut self.known_mut(&session).progress;
                let seen: &mut Progress = progress.entry(call).or_default();
                seen.child = child.or(seen.child.take());
                seen.begun |= begun;
                self.tail_soon(&session);
            }
            Touch::Call { session, call } => {
                self.close_asks(&session, |it| it == Some(&call));
                self.tail_soon(&session);
            }
            Touch::Location => {
                self.active_due = Instant::now();
                self.asks_due = self.active_due;
            }
        }
    }

    /// Before the lists came nothing is missing yet.
    pub(super) fn want_row(&mut self, id: &SessionId) {
        if self.stage != Stage::Lists {
            self.jobs.urgent(Read::Row(id.clone()));
        }
    }

    /// What a run left is written when its end is told: until it is read, its answer looks cut off.
    fn tail_of_run(&mut self, id: &SessionId) {
        if self.stage == Stage::Lists || self.active.entries.contains_key(id) {
            self.tail_soon(id);
        } else {
            self.later.remove(id);
            self.want_tail(id);
        }
    }

    pub(super) fn tail_soon(&mut self, id: &SessionId) {
        self.tail_in(id, GATHER);
    }

    pub(super) fn tail_in(&mut self, id: &SessionId, wait: Duration) {
        let at = Instant::now() + wait;
        self.later.entry(id.clone()).or_insert(at);
    }

    pub(super) fn later_tails(&mut self, now: Instant) {
        let due = self.later.iter().filter(|(_, at)| **at <= now);
        let due: Vec<SessionId> = due.map(|(id, _)| id.clone()).collect();
        for id in due {
            self.later.remove(&id);
            self.want_tail(&id);
        }
    }

    /// A tail means nothing to the store before the row is there.
    pub(super) fn want_tail(&mut self, id: &SessionId) {
        let directory = self.known.get(id).and_then(|it| it.directory.as_ref());
        match directory {
            None => self.want_row(id),
            Some(directory) if !self.admits(directory) => {}
            Some(_) => self.jobs.urgent(Read::Tail(id.clone())),
        }
    }
}

/// Whose run an event tells of, and whether it ended.
fn run_of(kind: &EventKind) -> Option<(SessionId, bool)> {
    match kind {
        EventKind::Status { session, status } => Some((session.clone(), *status == Status::Idle)),
        EventKind::SessionDeleted(session) => Some((session.clone(), false)),
        _ => None,
    }
}
