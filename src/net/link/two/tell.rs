//! What is told of who runs and of what is asked, directory by directory, and what is read first.
//!
//! What it does: turn a read of the whole process into reads of each directory, which is what the
//! store knows. What it does not: say idle of anybody while `active` was not read.

use super::read::Read;
use super::{Stage, Two};
use crate::core::id::{Directory, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::{Ask, AskKind, AsksRead, Body, Endpoint, ReadFailed, Status, StatusRead};
use crate::net::link::inspect::within;
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::Instant;

impl Two<'_> {
    /// Of every directory that a session names, as far as the user wants it.
    pub(super) fn directories(&self) -> BTreeSet<Directory> {
        let named = self.known.values().filter_map(|it| it.directory.clone());
        named.filter(|it| self.admits(it)).collect()
    }

    /// Who runs, to every directory.
    pub(super) fn tell_status(&mut self) {
        let asked_at = self.active.read.unwrap_or_default();
        for directory in self.directories() {
            self.tell_directory(directory, asked_at);
        }
    }

    /// Who runs in one directory, as of `asked_at`.
    pub(super) fn tell_directory(&mut self, directory: Directory, asked_at: UnixMs) {
        if self.stage == Stage::Lists || !self.admits(&directory) {
            return;
        }
        if let Some((status, text)) = self.active.failed.clone() {
            self.outlet.push(Body::Failed(ReadFailed {
                endpoint: Endpoint::Status,
                directory: Some(directory),
                session: None,
                status,
                text,
            }));
            return;
        }
        if self.active.read.is_none() {
            return;
        }
        let entries = self.entries_of(&directory);
        self.outlet.push(Body::Status(StatusRead {
            directory,
            asked_at,
            entries,
        }));
    }

    fn entries_of(&self, directory: &Directory) -> BTreeMap<SessionId, Status> {
        let here = |id: &SessionId| {
            let known = self.known.get(id)?;
            (known.directory.as_ref() == Some(directory)).then_some(known)
        };
        let entries = self.active.entries.iter();
        let told = entries.filter_map(|(id, status)| {
            let retry = here(id)?.retry.clone();
            let status = match (status, retry) {
                (Status::Busy, Some(retry)) => Status::Retry(retry),
                _ => status.clone(),
            };
            Some((id.clone(), status))
        });
        told.collect()
    }

    /// Where somebody runs: only there anything can be asked.
    pub(super) fn busy_directories(&self) -> BTreeSet<Directory> {
        let running = self.active.entries.keys();
        let known = running.filter_map(|id| self.known.get(id));
        known
            .filter_map(|it| it.directory.clone())
            .filter(|it| self.admits(it))
            .collect()
    }

    /// Asks where somebody runs. It is known that nothing is asked elsewhere.
    pub(super) fn ask_asks(&mut self) {
        self.asks_due = Instant::now() + self.asks_every();
        if self.stage == Stage::Lists || self.active.read.is_none() {
            return;
        }
        let wanted = self.busy_directories().into_iter().collect();
        self.jobs.urgent(Read::Asks(wanted));
    }

    pub(super) fn tell_asks(
        &mut self,
        directory: &Directory,
        kind: AskKind,
        asks: Vec<Ask>,
        asked_at: UnixMs,
    ) {
        self.outlet.push(Body::Asks(AsksRead {
            directory: directory.clone(),
            kind,
            asked_at,
            asks,
        }));
    }

    pub(super) fn tell_nothing_asked(&mut self, directory: &Directory, asked_at: UnixMs) {
        for kind in [AskKind::Permission, AskKind::Question] {
            self.tell_asks(directory, kind, Vec::new(), asked_at);
        }
    }

    /// Reads the tails of those that deserve one: who runs or asks first, then the newest.
    pub(super) fn read_tails(&mut self) {
        let now = self.server_now();
        let window = self.spec.pace.tail_window;
        let mut wanted: Vec<(bool, UnixMs, SessionId)> = Vec::new();
        for (id, known) in &self.known {
            let Some(directory) = known.directory.as_ref() else {
                continue;
            };
            let pressing = self.active.entries.contains_key(id) || !known.asks.is_empty();
            let fresh = !known.archived && within(known.updated, window, now);
            if (pressing || fresh) && known.tail.is_none() && self.admits(directory) {
                wanted.push((!pressing, UnixMs(-known.updated.0), id.clone()));
            }
        }
        wanted.sort();
        for (_, _, id) in wanted {
            self.jobs.calm(Read::Tail(id));
        }
        let strangers: Vec<SessionId> = self
            .active
            .entries
            .keys()
            .filter(|id| self.known.get(id).is_none_or(|it| it.directory.is_none()))
            .cloned()
            .collect();
        for id in strangers {
            self.want_row(&id);
        }
    }
}
