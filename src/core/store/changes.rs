//! How one session takes in what was said of it. Called by [`super::apply`] only.

use super::apply::Stamp;
use super::{OutputClock, PendingAsk, Server, Session, StatusView, Tail, TodoList, Watch};
use crate::core::id::{AskId, Directory, Epoch, MessageId, PartId};
use crate::core::store::DirectoryView;
use crate::core::time::UnixMs;
use crate::core::wire::{
    Ask, DirectoryState, Message, Part, SessionInfo, Status, TailRead, TodoItem,
};
use std::collections::BTreeMap;

/// So many asks without a session are kept.
const MAX_STRAYS: usize = 256;
/// So many closed asks of a session are kept: a read that is under way lists fewer.
const MAX_CLOSED: usize = 64;

impl Server {
    /// The view of a directory, made on first mention (as asleep: not asked).
    pub(super) fn directory_mut(&mut self, directory: &Directory) -> &mut DirectoryView {
        self.directories
            .entry(directory.clone())
            .or_insert(DirectoryView {
                state: DirectoryState::Asleep,
                status_read: None,
                status_read_before: None,
                status_failed: None,
                permission_reads: [None; 2],
                question_reads: [None; 2],
                mcp: None,
                disposed_at: None,
            })
    }

    /// A session that was not known. If its status was already told, it is taken over.
    pub(super) fn adopt(&mut self, info: SessionInfo, event_at: Option<UnixMs>) {
        let id = info.id.clone();
        let mut session = Session::new(info, event_at);
        let stranger = self.strangers.remove(&id);
        if let Some(stranger) = stranger.filter(|it| it.epoch == self.epoch) {
            session.status.status = stranger.status;
            session.status.epoch = self.epoch;
            session.status.told_at = Some(stranger.seen_at);
            session.status.since = stranger.seen_at;
            session.watch.ran_here_at = Some(stranger.seen_at);
        }
        let asks = std::mem::take(&mut self.stray_asks);
        let (own, rest) = asks.into_iter().partition(|(_, p)| p.ask.session == id);
        let own: Vec<(Option<Directory>, PendingAsk)> = own;
        self.stray_asks = rest;
        session.asks = own.into_iter().map(|(_, pending)| pending).collect();
        self.sessions.insert(id, session);
    }

    /// Keeps an ask until the row of its session comes.
    pub(super) fn stray(
        &mut self,
        stamp: Stamp,
        home: Option<Directory>,
        ask: Ask,
        event_at: Option<UnixMs>,
    ) {
        self.stray_asks.retain(|(_, known)| known.ask.id != ask.id);
        if self.stray_asks.len() < MAX_STRAYS {
            let pending = PendingAsk {
                ask,
                seen_at: stamp.at,
                event_at,
                epoch: stamp.epoch,
            };
            self.stray_asks.push((home, pending));
        }
    }
}

impl DirectoryView {
    /// As [`Session::clock_jumped`]: what was read at a time that is still to come would win over
    /// everything that is heard until then.
    pub(super) fn clock_jumped(&mut self, at: UnixMs) {
        if let Some((_, asked)) = &mut self.status_read {
            *asked = (*asked).min(at);
        }
        if let Some((_, since)) = &mut self.status_failed {
            *since = (*since).min(at);
        }
        let reads = self.permission_reads.iter_mut();
        for time in reads.chain(&mut self.question_reads) {
            *time = time.map(|time| time.min(at));
        }
        self.disposed_at = self.disposed_at.map(|time| time.min(at));
    }
}

impl Session {
    fn new(info: SessionInfo, event_at: Option<UnixMs>) -> Self {
        Self {
            info,
            info_event_at: event_at,
            status: StatusView {
                status: Status::Idle,
                epoch: Epoch::default(),
                told_at: None,
                event_at: None,
                since: UnixMs::default(),
                seen_change: false,
            },
            tail: Tail::default(),
            asks: Vec::new(),
            closed_asks: Vec::new(),
            watch: Watch::default(),
            inbox: None,
            todo: None,
        }
    }

    /// Clocks of our own watching start again in a new epoch: what happened in the gap is unknown.
    pub(super) fn enter(&mut self, epoch: Epoch) {
        if self.watch.epoch == epoch {
            return;
        }
        self.watch.epoch = epoch;
        self.restart_clocks();
    }

    /// Spans that our own watching measures are not known any more.
    fn restart_clocks(&mut self) {
        self.watch.progress_at = None;
        self.watch.parts.clear();
    }

    /// The watcher's clock jumped: nothing that it measured may lie in the future.
    pub(super) fn clock_jumped(&mut self, at: UnixMs) {
        self.restart_clocks();
        self.tail.clock_jumped(at);
        self.status.since = self.status.since.min(at);
        let watch = &mut self.watch;
        let times = [
            &mut self.info_event_at,
            &mut self.status.told_at,
            &mut self.status.event_at,
            &mut watch.ran_here_at,
            &mut watch.unheard_at,
            &mut watch.abort_sent_at,
        ];
        for time in times {
            *time = time.map(|time| time.min(at));
        }
        if let Some(todo) = &mut self.todo {
            todo.at = todo.at.min(at);
        }
        if let Some(error) = &mut watch.error {
            error.at = error.at.min(at);
        }
        for time in watch.released.values_mut() {
            *time = (*time).min(at);
        }
        for ask in &mut self.asks {
            ask.seen_at = ask.seen_at.min(at);
            ask.event_at = ask.event_at.map(|time| time.min(at));
        }
        for (_, time) in &mut self.closed_asks {
            *time = (*time).min(at);
        }
    }

    /// Takes a status. `named`: said of this session by name, not by absence. Says whether anything
    /// that can be seen changed.
    pub(super) fn take_status(
        &mut self,
        stamp: Stamp,
        status: Status,
        named: bool,
        event: bool,
    ) -> bool {
        self.enter(stamp.epoch);
        let known = self.status.epoch == stamp.epoch;
        let same = std::mem::discriminant(&self.status.status) == std::mem::discriminant(&status);
        let first = named && self.status.told_at.is_none();
        let changed = !known || first || self.status.status != status;
        if !(known && same) {
            self.status.since = stamp.at;
            self.status.seen_change = known;
        }
        match status {
            Status::Busy | Status::Retry(_) => self.watch.ran_here_at = Some(stamp.at),
            Status::Idle => self.watch.abort_sent_at = None,
            Status::Other(_) => {}
        }
        self.status.status = status;
        self.status.epoch = stamp.epoch;
        if named {
            self.status.told_at = Some(stamp.at);
        }
        if event {
            self.status.event_at = Some(stamp.at);
        }
        changed
    }

    pub(super) fn see_ask(&mut self, stamp: Stamp, ask: Ask, event_at: Option<UnixMs>) {
        match self.asks.iter_mut().find(|known| known.ask.id == ask.id) {
            Some(known) => {
                known.epoch = stamp.epoch;
                known.ask = ask;
            }
            None => self.asks.push(PendingAsk {
                ask,
                seen_at: stamp.at,
                event_at,
                epoch: stamp.epoch,
            }),
        }
    }

    pub(super) fn close_ask(&mut self, stamp: Stamp, ask: &AskId) {
        if let Some(place) = self.asks.iter().position(|known| known.ask.id == *ask) {
            let closed = self.asks.remove(place);
            if let Some(tool) = closed.ask.tool {
                self.watch.released.insert(tool.call, stamp.at);
            }
        }
        if self.closed_asks.len() >= MAX_CLOSED {
            self.closed_asks.remove(0);
        }
        self.closed_asks.push((ask.clone(), stamp.at));
    }

    pub(super) fn take_tail(&mut self, stamp: Stamp, read: TailRead) {
        self.enter(stamp.epoch);
        let before: BTreeMap<PartId, Part> = self.live_map();
        let newest = self.tail.last().map(|m| m.id.clone());
        let was_read = self.tail.is_read();
        let unheard = self.may_run_unheard(stamp.epoch);
        self.tail.merge_read(read, stamp.epoch);
        let grown = was_read && newest != self.tail.last().map(|m| m.id.clone());
        if grown {
            self.watch.progress_at = Some(stamp.at);
        }
        let moved = self.refresh_clocks(stamp.at, &before, None);
        if unheard && (grown || moved) {
            self.watch.unheard_at = Some(stamp.at);
        }
    }

    /// Idle here and no event since it was last read in this epoch: what changes is another's work.
    fn may_run_unheard(&self, epoch: Epoch) -> bool {
        let read = self.tail.is_read() && self.tail.epoch == epoch;
        let idle = self.status.epoch == epoch && self.status.status == Status::Idle;
        read && idle && !self.tail.is_touched()
    }

    pub(super) fn message_event(&mut self, stamp: Stamp, message: Message) {
        let before = self.live_map();
        if self.tail.put_message(stamp.at, message) {
            self.watch.progress_at = Some(stamp.at);
        }
        self.refresh_clocks(stamp.at, &before, None);
    }

    /// Says whether the list is another one. An older one than what is known is not taken.
    pub(super) fn take_todo(&mut self, at: UnixMs, items: Vec<TodoItem>) -> bool {
        let known = self.todo.as_ref();
        if known.is_some_and(|known| known.at > at) {
            return false;
        }
        let changed = known.is_none_or(|known| known.items != items);
        self.todo = Some(TodoList { at, items });
        changed
    }

    pub(super) fn message_gone(&mut self, stamp: Stamp, message: &MessageId) {
        self.tail.drop_message(stamp.at, message);
    }

    pub(super) fn part_event(&mut self, stamp: Stamp, part: Part) {
        let before = self.live_map();
        let id = part.id.clone();
        self.watch.progress_at = Some(stamp.at);
        self.tail.put_part(stamp.at, part);
        self.refresh_clocks(stamp.at, &before, Some(&id));
    }

    pub(super) fn part_gone(&mut self, stamp: Stamp, message: &MessageId, part: &PartId) {
        self.watch.progress_at = Some(stamp.at);
        self.tail.drop_part(stamp.at, message, part);
        self.watch.parts.remove(part);
    }

    pub(super) fn delta(&mut self, stamp: Stamp, part: &PartId, text: &str) {
        self.watch.progress_at = Some(stamp.at);
        self.tail.hear(part, text);
        if let Some(clock) = self.watch.parts.get_mut(part) {
            clock.changed_at = Some(stamp.at);
        }
    }

    fn live_map(&self) -> BTreeMap<PartId, Part> {
        let live = self.tail.live_parts();
        live.map(|part| (part.id.clone(), part.clone())).collect()
    }

    /// Brings the clocks of live parts up to date: a change of content is progress, its mere
    /// repetition is not. Says whether the content of one changed.
    fn refresh_clocks(
        &mut self,
        at: UnixMs,
        before: &BTreeMap<PartId, Part>,
        event: Option<&PartId>,
    ) -> bool {
        let mut moved = false;
        let mut clocks = BTreeMap::new();
        for part in self.tail.live_parts() {
            let old = before.get(&part.id);
            let known = self.watch.parts.get(&part.id).copied();
            let mut clock = known.unwrap_or(OutputClock {
                first_seen: at,
                changed_at: event.filter(|id| **id == part.id).map(|_| at),
                output_began: None,
            });
            if old.is_some_and(|old| old.body != part.body) {
                clock.changed_at = Some(at);
                self.watch.progress_at = Some(at);
                moved = true;
            }
            let silent = |p: &Part| p.tool().is_some_and(|tool| !tool.output.present);
            if old.is_some_and(silent) && !silent(part) {
                clock.output_began = Some(at);
            }
            clocks.insert(part.id.clone(), clock);
        }
        // A part that is not live any more has changed as well: it ended.
        if before.keys().any(|id| !clocks.contains_key(id)) {
            self.watch.progress_at = Some(at);
            moved = true;
        }
        self.watch.parts = clocks;
        moved
    }
}
