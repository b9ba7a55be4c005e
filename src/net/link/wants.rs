//! What is wanted, and when: rows, tails, what a person asks for, what is due again.
//!
//! What it does: turns a wish into a read unless it must not be asked or was tried just now; asks
//! again gently. What it does not: know why something is wanted.

use super::jobs::{Job, Jobs};
use super::roster::Roster;
use super::snapshot::Stage;
use super::watch::Watch;
use crate::core::id::{Directory, SessionId};
use crate::core::judge::may_be_mcp;
use crate::core::wire::{AskKind, Message, Part};
use std::time::Duration;
use tokio::time::Instant;

/// A read that failed is not tried again at once, however many events come.
const HOLD: Duration = Duration::from_secs(5);

impl Watch<'_> {
    /// Rows of sessions that no list named. Before the lists came nothing is missing yet. The
    /// directory goes with the question: one that was deleted must not start another project.
    pub(super) fn want_row(&mut self, id: &SessionId) {
        let Some(known) = self.roster.sessions.get(id) else {
            return;
        };
        let held = known.row_tried.is_some_and(|it| it.elapsed() < HOLD);
        let asked = self.roster.may_read(known) && self.stage != Stage::Lists;
        if known.row || known.gone || held || !asked {
            return;
        }
        let ask = self.roster.home(known);
        if let Some(known) = self.roster.sessions.get_mut(id) {
            known.row_tried = Some(Instant::now());
        }
        self.jobs.urgent(Job::Session(id.clone(), ask));
    }

    /// A tail a little later, when what ends with a turn has been written.
    pub(super) fn settle(&mut self, id: &SessionId) {
        let at = Instant::now() + self.spec.pace.settle;
        self.later.insert(id.clone(), at);
    }

    pub(super) fn lacks_tail(&self, id: &SessionId) -> bool {
        let known = self.roster.sessions.get(id);
        known.is_some_and(|it| it.tail.is_none())
    }

    pub(super) fn want_tail_if_none(&mut self, id: &SessionId) {
        if self.lacks_tail(id) {
            self.want_tail(id, true);
        }
    }

    pub(super) fn want_tail_again(&mut self, id: &SessionId, place: Option<&Directory>) {
        self.meet(id, place).tried = None;
        self.want_tail(id, true);
    }

    /// Reads a tail unless its directory must not be asked, or it was tried just now. A session
    /// without a row is nothing to the consumer: its row is read first.
    pub(super) fn want_tail(&mut self, id: &SessionId, urgent: bool) {
        let Some(known) = self.roster.sessions.get(id) else {
            return;
        };
        if !known.row {
            self.want_row(id);
            return;
        }
        let held = known.tried.is_some_and(|it| it.elapsed() < HOLD);
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
        let known = self.roster.sessions.get(&id);
        let ask = known.and_then(|it| self.roster.home(it));
        self.jobs.urgent(Job::Session(id.clone(), ask));
        self.jobs.urgent(Job::Tail(id));
    }

    pub(super) fn check_health(&mut self) {
        self.jobs.urgent(Job::Health);
    }

    /// By how much everything is asked less often: a server that was quiet for long.
    fn slower(&self) -> u32 {
        let quiet = self.last_event.elapsed() >= self.spec.pace.quiet_after;
        if quiet { 2 } else { 1 }
    }

    pub(super) fn status_every(&self) -> Duration {
        let pace = &self.spec.pace;
        if self.has_stream {
            pace.status * self.slower()
        } else {
            pace.blind_status
        }
    }

    pub(super) fn asks_every(&self) -> Duration {
        let pace = &self.spec.pace;
        if self.has_stream {
            pace.asks * self.slower()
        } else {
            pace.blind_asks
        }
    }

    fn lists_every(&self) -> Duration {
        self.spec.pace.lists * self.slower()
    }

    /// When something is to be read next.
    pub(super) fn next_due(&self) -> Instant {
        let polled = self.stage == Stage::Live;
        let places = self.roster.places.values().filter(|it| polled && it.asked);
        let polls = places.flat_map(|it| [it.status_due, it.asks_due]);
        polls
            .chain(self.later.values().copied())
            .chain(self.again.due())
            .chain([self.outlet.beat_due()])
            .fold(self.lists_due, Instant::min)
    }

    /// Reads what is due.
    pub(super) fn on_time(&mut self) {
        let now = Instant::now();
        self.later_tails(now);
        self.second_looks(now);
        if self.lists_due <= now {
            self.lists_due = now + self.lists_every();
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

    /// What a tail shows that another look may tell more of.
    pub(super) fn look_again(&mut self, id: &SessionId, messages: &[Message]) {
        let pace = &self.spec.pace;
        let answer = messages.iter().rev().find(|it| it.is_assistant());
        for part in answer.into_iter().flat_map(|it| &it.parts) {
            self.again.part(part, pace);
            want_mcp(&mut self.roster, &mut self.jobs, part);
        }
        match self.roster.sessions.get(id) {
            Some(known) if !known.running && !known.archived => {
                self.again.tail(id, known.updated, messages, pace);
            }
            _ => self.again.close(id),
        }
    }

    /// The list of a question that runs and that no list has named; the messages of a session that
    /// somebody else may be working on.
    fn second_looks(&mut self, now: Instant) {
        for (session, call) in self.again.questions(now) {
            let known = self.roster.sessions.get(&session);
            let home = known.and_then(|it| it.directory.as_ref());
            let Some(key) = home.map(|it| self.roster.key(it)) else {
                continue;
            };
            let listed = self.roster.is_asked_question(&key, &session, call.as_ref());
            if self.is_asked(&key) && !listed {
                let ask = self.roster.to_ask(&key);
                self.jobs.urgent(Job::Asks(key, ask, AskKind::Question));
            }
        }
        if let Some(id) = self.again.open(now, &self.spec.pace) {
            let known = self.roster.sessions.get(&id);
            let may = known.is_some_and(|it| !it.running && self.roster.may_read(it));
            if may {
                self.jobs.calm(Job::Tail(id));
            } else {
                self.again.close(&id);
            }
        }
    }
}

/// A tool runs that may be of an MCP server: which servers its directory has is asked once. Never
/// before: the question starts them, but where such a tool runs they are started.
pub(super) fn want_mcp(roster: &mut Roster, jobs: &mut Jobs, part: &Part) {
    let live = part
        .tool()
        .filter(|it| it.is_live() && may_be_mcp(&it.tool));
    let known = live.and_then(|_| roster.sessions.get(&part.session));
    let Some(home) = known.and_then(|it| it.directory.clone()) else {
        return;
    };
    let key = roster.key(&home);
    let ask = roster.to_ask(&key);
    if let Some(place) = roster
        .places
        .get_mut(&key)
        .filter(|it| it.asked && !it.mcp_asked)
    {
        place.mcp_asked = true;
        jobs.urgent(Job::Mcp(key, ask));
    }
}
