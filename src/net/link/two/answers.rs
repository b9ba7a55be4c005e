//! What came of each read of a 2.x link.
//!
//! What it does: turn an answer into inputs, and note what it means for what is read next. What it
//! does not: read, or handle what failed (`trouble.rs`).

use super::read::{Answer, Asked, Read, Tail};
use super::{Stage, Two};
use crate::core::id::{Directory, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::v1::Decoded;
use crate::core::wire::{
    Ask, AskKind, Body, Endpoint, InboxRead, Message, Part, PartBody, SessionInfo, SessionList,
    SessionRead, Status, TailRead, ToolState,
};
use crate::net::client::{AllSessions, ClientError};
use crate::net::link::jobs::Done;
use crate::net::link::loss::Loss;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use tokio::time::Instant;

impl Two<'_> {
    /// Takes an answer. An error is the end of the connection.
    pub(super) fn answered(&mut self, done: Done<Read>) -> Result<(), Loss> {
        let at = done.asked_at;
        match (done.job, done.answer) {
            (Read::Sessions, Answer::Sessions(it)) => self.on_sessions(it, at),
            (Read::Active, Answer::Active(it)) => self.on_active(it, at),
            (Read::Asks(wanted), Answer::Asks(it)) => self.on_asks(&wanted, it, at),
            (Read::Row(id), Answer::Row(it)) => self.on_row(&id, it, at),
            (Read::Tail(id), Answer::Tail(it)) => self.on_tail(&id, it, at),
            (Read::Health, Answer::Health(it)) => self.on_health(it),
            (Read::Identity, Answer::Identity(it)) => self.on_identity(it),
            _ => Ok(()),
        }
    }

    fn on_sessions(
        &mut self,
        answer: Result<AllSessions, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let all = match answer {
            Ok(all) => all,
            Err(error) => return self.failed(Endpoint::Sessions, None, None, &error),
        };
        self.outlet
            .skipped("session row", all.rows.skipped, all.rows.why.as_deref());
        let before = self.directories();
        let rows = all.rows.items;
        let changed: Vec<SessionId> = rows
            .iter()
            .filter(|row| self.meet(row))
            .map(|row| row.id.clone())
            .collect();
        if all.complete {
            let named: HashSet<&SessionId> = rows.iter().map(|row| &row.id).collect();
            self.known
                .retain(|id, it| named.contains(id) || it.told_at >= Some(asked_at));
        }
        self.outlet.push(Body::Sessions(SessionList {
            rows,
            asked_at,
            complete: all.complete,
        }));
        if self.stage == Stage::Live {
            for id in &changed {
                self.known_mut(id).tail = None;
            }
            self.read_tails();
            self.tell_new(&before);
        }
        Ok(())
    }

    /// Directories that were not told of yet.
    pub(super) fn tell_new(&mut self, before: &BTreeSet<Directory>) {
        let now = self.outlet.now();
        for directory in self.directories() {
            if !before.contains(&directory) {
                self.tell_directory(directory, now);
                self.asks_due = Instant::now();
            }
        }
    }

    fn on_active(
        &mut self,
        answer: Result<Decoded<BTreeMap<SessionId, Status>>, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let read = match answer {
            Ok(read) => read,
            Err(error) => {
                self.ends(&error)?;
                self.active.failed = Some((error.status(), error.to_string()));
                self.tell_status();
                return Ok(());
            }
        };
        let mut entries = read.items;
        let active = &mut self.active;
        active.heard.retain(|_, at| *at >= asked_at);
        for id in active.heard.keys() {
            match active.entries.get(id) {
                Some(status) => entries.insert(id.clone(), status.clone()),
                None => entries.remove(id),
            };
        }
        let before = std::mem::replace(&mut active.entries, entries);
        let first = active.read.replace(asked_at).is_none();
        active.failed = None;
        self.tell_status();
        if self.stage != Stage::Lists {
            self.turned(&before);
            if first {
                self.ask_asks();
            }
        }
        Ok(())
    }

    /// Runs that began or ended without an event.
    fn turned(&mut self, before: &BTreeMap<SessionId, Status>) {
        let now = &self.active.entries;
        let began = now.keys().filter(|id| !before.contains_key(id));
        let ended = before.keys().filter(|id| !now.contains_key(id));
        let turned: Vec<SessionId> = began.chain(ended).cloned().collect();
        for id in turned {
            self.known_mut(&id).retry = None;
            self.want_row(&id);
            self.tail_soon(&id);
            self.asks_due = Instant::now();
        }
    }

    fn on_asks(
        &mut self,
        wanted: &[Directory],
        answer: Result<Vec<(Directory, Option<Asked>)>, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        match answer {
            Err(error) => {
                for directory in wanted {
                    self.failed(Endpoint::Permission, Some(directory), None, &error)?;
                    self.failed(Endpoint::Question, Some(directory), None, &error)?;
                }
            }
            Ok(all) => {
                for (directory, asked) in all {
                    self.on_location(&directory, asked, asked_at)?;
                }
            }
        }
        let busy = self.busy_directories();
        for directory in self.directories() {
            if wanted.contains(&directory) {
                continue;
            }
            if busy.contains(&directory) {
                // A run began there since: its asks are not known.
                self.asks_due = Instant::now();
            } else {
                self.tell_nothing_asked(&directory, asked_at);
            }
        }
        Ok(())
    }

    fn on_location(
        &mut self,
        directory: &Directory,
        asked: Option<Asked>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let Some(asked) = asked else {
            self.tell_nothing_asked(directory, asked_at);
            return Ok(());
        };
        let lists = [
            (AskKind::Permission, Endpoint::Permission, asked.permissions),
            (AskKind::Question, Endpoint::Question, asked.forms),
        ];
        for (kind, endpoint, list) in lists {
            match list {
                Ok(read) => self.on_list(directory, kind, read, asked_at),
                Err(error) => self.failed(endpoint, Some(directory), None, &error)?,
            }
        }
        Ok(())
    }

    fn on_list(
        &mut self,
        directory: &Directory,
        kind: AskKind,
        read: Decoded<Vec<Ask>>,
        asked_at: UnixMs,
    ) {
        self.outlet
            .skipped("ask", read.skipped, read.why.as_deref());
        for ask in &read.items {
            self.note_ask(ask);
            let known = self.known_mut(&ask.session);
            let (row, tail) = (known.directory.is_some(), known.tail.is_some());
            if !row {
                self.want_row(&ask.session);
            } else if !tail {
                self.want_tail(&ask.session);
            }
        }
        self.tell_asks(directory, kind, read.items, asked_at);
    }

    fn on_row(
        &mut self,
        id: &SessionId,
        answer: Result<SessionInfo, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let row = match answer {
            Ok(row) => row,
            Err(error) => return self.failed(Endpoint::Session, None, Some(id), &error),
        };
        let known = self.known_mut(id);
        let (stranger, unread) = (known.directory.is_none(), known.tail.is_none());
        let directory = row.directory.clone();
        self.meet(&row);
        self.outlet
            .push(Body::Session(Box::new(SessionRead { row, asked_at })));
        if stranger {
            let now = self.outlet.now();
            self.tell_directory(directory, now);
            self.asks_due = Instant::now();
        }
        if unread {
            self.want_tail(id);
        }
        Ok(())
    }

    fn on_tail(
        &mut self,
        id: &SessionId,
        answer: Result<Tail, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let mut tail = match answer {
            Ok(tail) => tail,
            Err(error) => {
                self.let_go(id);
                return self.failed(Endpoint::Messages, None, Some(id), &error);
            }
        };
        self.outlet
            .skipped("message", tail.skipped, tail.why.as_deref());
        self.complete(id, &mut tail);
        self.take_retry(id, &tail, asked_at);
        self.known_mut(id).tail = Some(asked_at);
        self.look_again(id, &tail.messages);
        self.outlet.push(Body::Tail(TailRead {
            session: id.clone(),
            asked_at,
            messages: tail.messages,
            whole: tail.whole,
            missing: tail.missing,
        }));
        self.outlet.push(Body::Inbox(InboxRead {
            session: id.clone(),
            asked_at,
            items: tail.inbox,
        }));
        if self.known_mut(id).status_heard <= Some(asked_at) {
            self.let_go(id);
        }
        Ok(())
    }

    /// What is open and does not run here may be worked on by another process on the same data, of
    /// which no event comes.
    fn look_again(&mut self, id: &SessionId, messages: &[Message]) {
        let runs = self.active.entries.contains_key(id);
        match self.known.get(id) {
            Some(known) if !runs && !known.archived => {
                let pace = &self.spec.pace;
                self.again.tail(id, known.updated, messages, pace);
            }
            _ => self.again.close(id),
        }
    }

    /// Adds to running calls what only events told.
    fn complete(&self, id: &SessionId, tail: &mut Tail) {
        let Some(known) = self.known.get(id) else {
            return;
        };
        let parts = tail.messages.iter_mut().flat_map(|m| &mut m.parts);
        for Part { body, .. } in parts {
            let PartBody::Tool(tool) = body else { continue };
            let seen = tool.call.as_ref().and_then(|it| known.progress.get(it));
            let Some(seen) = seen.filter(|_| tool.state == ToolState::Running) else {
                continue;
            };
            tool.child = tool.child.take().or_else(|| seen.child.clone());
            tool.output.present |= seen.begun;
        }
    }

    /// A retry that the newest answer names holds while its time is ahead: the step that follows is
    /// told by an event, and the answer does not tell whether it began.
    fn take_retry(&mut self, id: &SessionId, tail: &Tail, asked_at: UnixMs) {
        let now = self.server_now();
        let runs = self.active.entries.contains_key(id);
        let retry = tail.retry.clone().filter(|it| runs && it.next > Some(now));
        let known = self.known_mut(id);
        if known.status_heard >= Some(asked_at) || retry.is_none() || known.retry == retry {
            return;
        }
        known.retry = retry;
        if let Some(directory) = known.directory.clone() {
            let now = self.outlet.now();
            self.tell_directory(directory, now);
        }
    }
}
