//! What became of sessions while we watched: their changes of state, and their last hour.
//!
//! What it does: keep what [`Changes`] finds, as it is told to a person. What it does not: word it,
//! or decide what a change is. Bounded: a session that never changed has nothing here; of each other
//! one its newest changes and one hour, and fewer changes of each the more of them there are.

use crate::core::app::App;
use crate::core::changes::{Audience, Change, Changes, SessionState, Standing, State};
use crate::core::id::{ServerId, SessionId, SessionKey};
use crate::core::judge::Judge;
use crate::core::store::Store;
use crate::core::time::UnixMs;
use std::collections::{BTreeMap, VecDeque};

/// Minutes of the strip.
pub const MINUTES: usize = 60;
/// Changes of all sessions that are kept for the page of all.
const RECENT: usize = 500;
/// Changes kept in all; divided among the sessions that have any.
const MOST: usize = 50_000;
/// Of one session, at least and at most.
const OF_ONE: [usize; 2] = [10, 200];
/// Losses and returns kept of one server.
const OF_SERVER: usize = 200;
const MINUTE: i64 = 60_000;

/// A state that a session came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When it was noticed; watcher's clock.
    pub at: UnixMs,
    /// What; `None`: it was no longer listed.
    pub to: Option<SessionState>,
}

/// What became of one session.
#[derive(Debug, Clone)]
pub struct Past {
    /// What it was before the first of the entries; `None`: not known.
    pub before: Option<SessionState>,
    /// Oldest first.
    pub entries: VecDeque<Entry>,
    /// The minute of the last cell.
    minute: i64,
    /// The worst of each minute, the last is that of the last change.
    cells: [Option<Standing>; MINUTES],
    /// What it is since the last change.
    now: Option<Standing>,
}

/// Everything that became of all sessions.
#[derive(Debug, Clone)]
pub struct Pasts {
    changes: Changes,
    sessions: BTreeMap<SessionKey, Past>,
    /// When each server was lost and came back: whether it was read from then on.
    read: BTreeMap<ServerId, VecDeque<(UnixMs, bool)>>,
    /// The newest changes of all sessions and servers, oldest first.
    pub recent: VecDeque<Change>,
}

impl Default for Pasts {
    fn default() -> Self {
        Self {
            changes: Changes::new(Audience::Person),
            sessions: BTreeMap::new(),
            read: BTreeMap::new(),
            recent: VecDeque::new(),
        }
    }
}

impl Pasts {
    /// When there may be something to keep although nothing happened; watcher's clock.
    pub fn due(&self) -> Option<UnixMs> {
        self.changes.due()
    }

    /// Takes in what the last judgement changed.
    pub(super) fn take(&mut self, store: &Store, judge: &Judge, now: UnixMs) {
        let (judgement, judged) = (judge.judgement(), judge.judged());
        let found = self.changes.next_of(store, judgement, judged, now);
        for change in found {
            self.note(&change);
            if self.recent.len() >= RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(change);
        }
    }

    fn note(&mut self, change: &Change) {
        match (&change.session, &change.to) {
            (None, Some(State::Server(server))) => {
                let is_read = matches!(server.state, "live" | "degraded");
                let spans = self.read.entry(change.server).or_default();
                if spans.back().is_none_or(|(_, read)| *read != is_read) {
                    spans.push_back((change.at, is_read));
                }
                if spans.len() > OF_SERVER {
                    spans.pop_front();
                }
            }
            (Some((id, _)), to) => self.note_session(change, id, session(to.as_ref())),
            (None, _) => {}
        }
    }

    fn note_session(&mut self, change: &Change, id: &SessionId, to: Option<SessionState>) {
        let [least, most] = OF_ONE;
        let keep = (MOST / (self.sessions.len() + 1)).clamp(least, most);
        let key = SessionKey::new(change.server, id.clone());
        let since = self.watched_since(change.server).unwrap_or(change.at);
        let past = self.sessions.entry(key).or_insert_with(|| {
            let before = session(change.from.as_ref());
            Past::new(since, before)
        });
        past.come_to(change.at, to, keep);
    }

    fn watched_since(&self, server: ServerId) -> Option<UnixMs> {
        self.read.get(&server)?.front().map(|(at, _)| *at)
    }

    /// What became of one session; `None`: nothing did.
    pub fn of(&self, key: &SessionKey) -> Option<&Past> {
        self.sessions.get(key)
    }

    /// The worst of each of the last [`MINUTES`], oldest first; `None` where it was not watched.
    /// `standing`: what it is now.
    pub fn hour(
        &self,
        key: &SessionKey,
        standing: Standing,
        now: UnixMs,
    ) -> [Option<Standing>; MINUTES] {
        let last = now.0.div_euclid(MINUTE);
        let past = self.sessions.get(key);
        let mut cells = [None; MINUTES];
        for (cell, back) in cells.iter_mut().rev().zip(0..) {
            let minute = last - back;
            if self.is_watched(key.server, minute) {
                *cell = match past {
                    Some(past) => past.in_minute(minute),
                    None => Some(standing),
                };
            }
        }
        cells
    }

    /// Whether this server was read at any time of this minute.
    fn is_watched(&self, server: ServerId, minute: i64) -> bool {
        let (from, to) = (UnixMs(minute * MINUTE), UnixMs((minute + 1) * MINUTE));
        let mut read = false;
        for (at, is_read) in self.read.get(&server).into_iter().flatten() {
            if *at >= to {
                break;
            }
            read = *is_read || (read && *at >= from);
        }
        read
    }
}

fn session(state: Option<&State>) -> Option<SessionState> {
    match state {
        Some(State::Session(state)) => Some(state.clone()),
        _ => None,
    }
}

impl Past {
    fn new(since: UnixMs, before: Option<SessionState>) -> Self {
        Self {
            minute: since.0.div_euclid(MINUTE),
            cells: [None; MINUTES],
            now: before.as_ref().map(SessionState::standing),
            before,
            entries: VecDeque::new(),
        }
    }

    fn come_to(&mut self, at: UnixMs, to: Option<SessionState>, keep: usize) {
        self.go_on(at.0.div_euclid(MINUTE));
        self.now = to.as_ref().map(SessionState::standing);
        if let Some(cell) = self.cells.last_mut() {
            *cell = (*cell).max(self.now);
        }
        while self.entries.len() >= keep {
            self.before = self.entries.pop_front().and_then(|entry| entry.to);
        }
        self.entries.push_back(Entry { at, to });
    }

    /// The same state until this minute.
    fn go_on(&mut self, minute: i64) {
        if let Some(cell) = self.cells.last_mut() {
            *cell = (*cell).max(self.now);
        }
        let gone = usize::try_from(minute - self.minute)
            .unwrap_or(0)
            .min(MINUTES);
        self.cells.rotate_left(gone);
        for cell in self.cells.iter_mut().rev().take(gone) {
            *cell = self.now;
        }
        self.minute = self.minute.max(minute);
    }

    fn in_minute(&self, minute: i64) -> Option<Standing> {
        let Ok(back) = usize::try_from(self.minute - minute) else {
            return self.now;
        };
        let place = (MINUTES - 1).checked_sub(back)?;
        self.cells.get(place).copied().flatten()
    }
}

impl App {
    /// Takes what the last judgement changed into the history.
    pub(super) fn remember(&mut self, now: UnixMs) {
        self.history.take(&self.store, &self.judge, now);
    }
}
