//! Reading everything that the policy wants, in an order.
//!
//! What it does: lists, then directories (status and asks), then tails, most urgent first; then
//! the kept events, then `Live`. What it does not: stop at a failing read.

use super::inspect::within;
use super::jobs::Job;
use super::roster::Turn;
use super::watch::Watch;
use crate::core::id::{Directory, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::{AskKind, Body, DirectoryReport, EventKind, Input, LinkReport};
use tokio::time::Instant;

/// How far the snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The cwd, the session list, and where its folders are.
    Lists,
    /// Status and asks of each directory that may be asked.
    Directories,
    /// The newest messages.
    Tails,
    /// All is read: events pass at once.
    Live,
}

impl Watch<'_> {
    /// Asks for the first things.
    pub(super) fn begin(&mut self) {
        for directory in self.commanded.clone() {
            self.roster.place(&directory).1.facts.commanded = true;
        }
        if self.spec.local_folders && !self.spec.directories.is_empty() {
            self.jobs
                .urgent(Job::Folders(self.spec.directories.clone()));
        }
        self.jobs.urgent(Job::Path);
        self.jobs.urgent(Job::Sessions);
    }

    /// The consumer lost the thread: read everything again.
    pub(super) fn resync(&mut self) {
        self.outlet.overflowed = false;
        self.stage = Stage::Lists;
        for known in self.roster.sessions.values_mut() {
            known.tail = None;
            known.tried = None;
            known.row_tried = None;
        }
        for (key, place) in &mut self.roster.places {
            if place.asked {
                let now = Instant::now();
                (place.status_due, place.asks_due) = (now, now);
                tracing::debug!(directory = %key, "asked again");
            }
        }
        self.begin();
    }

    /// Goes to the next stage when nothing waits or runs.
    pub(super) fn advance(&mut self) {
        while self.stage != Stage::Live && self.jobs.is_idle() {
            match self.stage {
                Stage::Lists => self.enter_directories(),
                Stage::Directories => self.enter_tails(),
                Stage::Tails => self.enter_live(),
                Stage::Live => {}
            }
            self.jobs.start();
        }
    }

    fn enter_directories(&mut self) {
        self.stage = Stage::Directories;
        self.decide();
        for id in self.roster.rowless() {
            self.want_row(&id);
        }
        let now = Instant::now();
        for key in self.asked_places() {
            let due = |it: &super::roster::Place| it.status_due <= now;
            if self.roster.places.get(&key).is_some_and(due) {
                self.ask_place(&key, false);
            }
        }
    }

    fn enter_tails(&mut self) {
        self.stage = Stage::Tails;
        let sessions = self.roster.sessions.keys().cloned().collect();
        self.read_tails(sessions);
    }

    fn enter_live(&mut self) {
        self.stage = Stage::Live;
        let mut rows = Vec::new();
        while let Some(input) = self.kept.pop() {
            rows.extend(row_of(&input));
            self.outlet.push_input(input);
        }
        self.read_again(rows);
        let again = std::mem::replace(&mut self.lived, true);
        if again {
            self.outlet.report(LinkReport::Resynced);
        } else {
            self.outlet.report(LinkReport::Live);
            self.look_once_more();
        }
    }

    /// Tails of sessions whose rows only come now: what was read of them before came to nothing.
    fn read_again(&mut self, rows: Vec<SessionId>) {
        for id in rows {
            if let Some(known) = self.roster.sessions.get_mut(&id) {
                (known.tail, known.tried) = (None, None);
            }
            self.want_tail(&id, true);
        }
    }

    /// What was lost before the server handed events on is read.
    fn look_once_more(&mut self) {
        if !self.has_stream {
            return;
        }
        let soon = Instant::now() + self.spec.pace.after_live;
        self.lists_due = self.lists_due.min(soon);
        for place in self.roster.places.values_mut() {
            place.status_due = place.status_due.min(soon);
            place.asks_due = place.asks_due.min(soon);
        }
    }

    pub(super) fn is_asked(&self, key: &Directory) -> bool {
        self.roster.places.get(key).is_some_and(|it| it.asked)
    }

    pub(super) fn asked_places(&self) -> Vec<Directory> {
        let places = self.roster.places.iter();
        places
            .filter(|(_, it)| it.asked)
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Lets the policy decide and begins asking what it wants.
    pub(super) fn decide(&mut self) {
        let now = self.server_now();
        let (begin, turns) = self.roster.decide(&self.policy, now);
        self.report(turns);
        for key in begin {
            self.ask_place(&key, false);
            if self.stage == Stage::Live {
                let sessions = self.roster.sessions_of(&key);
                self.read_tails(sessions);
            }
        }
    }

    pub(super) fn report(&mut self, turns: Vec<Turn>) {
        for (directory, state) in turns {
            self.outlet
                .push(Body::Directory(DirectoryReport { directory, state }));
        }
    }

    /// Reads status and asks of a place.
    pub(super) fn ask_place(&mut self, key: &Directory, urgent: bool) {
        self.ask_status(key, urgent);
        self.ask_asks(key, urgent);
    }

    pub(super) fn ask_status(&mut self, key: &Directory, urgent: bool) {
        let job = Job::Status(key.clone(), self.roster.to_ask(key));
        self.schedule(job, urgent);
        let due = Instant::now() + self.status_every();
        if let Some(place) = self.roster.places.get_mut(key) {
            place.status_due = due;
        }
    }

    pub(super) fn ask_asks(&mut self, key: &Directory, urgent: bool) {
        for kind in [AskKind::Question, AskKind::Permission] {
            let job = Job::Asks(key.clone(), self.roster.to_ask(key), kind);
            self.schedule(job, urgent);
        }
        let due = Instant::now() + self.asks_every();
        if let Some(place) = self.roster.places.get_mut(key) {
            place.asks_due = due;
        }
    }

    fn schedule(&mut self, job: Job, urgent: bool) {
        if urgent {
            self.jobs.urgent(job);
        } else {
            self.jobs.calm(job);
        }
    }

    /// Reads the tails of those that deserve one: busy and asking first, then the newest.
    pub(super) fn read_tails(&mut self, sessions: Vec<SessionId>) {
        let now = self.server_now();
        let window = self.spec.pace.tail_window;
        let mut wanted: Vec<(bool, UnixMs, SessionId)> = Vec::new();
        for id in sessions {
            let Some(known) = self.roster.sessions.get(&id) else {
                continue;
            };
            let pressing = known.running || known.asking;
            let fresh = !known.archived && within(known.updated, window, now);
            if (pressing || fresh) && known.tail.is_none() && self.roster.may_read(known) {
                wanted.push((!pressing, UnixMs(-known.updated.0), id));
            }
        }
        wanted.sort();
        for (_, _, id) in wanted {
            self.want_tail(&id, false);
        }
    }
}

/// The session whose row an event brings.
fn row_of(input: &Input) -> Option<SessionId> {
    match &input.body {
        Body::Event(event) => match &event.kind {
            EventKind::SessionUpdated(row) => Some(row.id.clone()),
            _ => None,
        },
        _ => None,
    }
}
