//! What came of each read.
//!
//! What it does: turns an answer into inputs, for every name of a directory, and notes what it
//! means for what is read next. What it does not: give up over a failing read; it is reported by
//! name. Only a server that is gone ends the connection.

use super::jobs::{Answer, Done, Folders, Job};
use super::loss::Loss;
use super::roster::Roster;
use super::snapshot::Stage;
use super::watch::Watch;
use crate::core::id::{Directory, SessionId};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::v1::{Decoded, Health};
use crate::core::wire::{
    Ask, AskKind, AsksRead, Body, Endpoint, LostCause, McpRead, ReadFailed, SessionInfo,
    SessionList, SessionRead, Status, StatusRead, TailRead,
};
use crate::net::client::{AllSessions, ClientError, Identity};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// A tail that could not be read is tried again after so long.
const TAIL_AGAIN: Duration = Duration::from_secs(30);

impl Watch<'_> {
    /// Takes an answer. An error is the end of the connection.
    pub(super) fn answered(&mut self, done: Done) -> Result<(), Loss> {
        let Done {
            job,
            asked_at,
            answer,
        } = done;
        match (job, answer) {
            (Job::Path, Answer::Path(it)) => self.on_path(it),
            (Job::Sessions, Answer::Sessions(it)) => {
                self.on_sessions(it, asked_at)?;
                self.stand_in();
                Ok(())
            }
            (Job::SessionsOf(..), Answer::Sessions(it)) => self.on_sessions(it, asked_at),
            (Job::Projects, Answer::Projects(it)) => self.on_projects(it),
            (Job::Folders(_), Answer::Folders(it)) => {
                self.on_folders(it);
                Ok(())
            }
            (Job::Status(key, _), Answer::Status(it)) => self.on_status(&key, it, asked_at),
            (Job::Asks(key, _, kind), Answer::Asks(it)) => self.on_asks(&key, kind, it, asked_at),
            (Job::Mcp(key, _), Answer::Mcp(it)) => self.on_mcp(&key, it),
            (Job::Tail(id), Answer::Tail(it)) => self.on_tail(id, it, asked_at),
            (Job::Todo(id), Answer::Todo(it)) => self.on_todo(id, it, asked_at),
            (Job::Session(id, _), Answer::Session(it)) => self.on_row(&id, it, asked_at),
            (Job::Health, Answer::Health(it)) => self.on_health(it),
            (Job::Identity, Answer::Identity(it)) => self.on_identity(it),
            _ => Ok(()),
        }
    }

    fn on_path(&mut self, answer: Result<Directory, ClientError>) -> Result<(), Loss> {
        match answer {
            Ok(directory) => {
                self.roster.place(&directory).1.facts.cwd = true;
                Ok(())
            }
            Err(error) => self.failed(Endpoint::Path, None, None, &error),
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
        self.lists_all = all.everywhere;
        self.take_rows(all.rows.items, asked_at, all.complete);
        self.look_up();
        Ok(())
    }

    /// Places that were named go on: to where they really are, or to the policy.
    pub(super) fn look_up(&mut self) {
        let names = self.roster.take_unresolved();
        if !names.is_empty() {
            self.jobs.urgent(Job::Folders(names));
        } else if self.stage == Stage::Live {
            self.decide();
        }
    }

    /// Rows go to the roster and out; those that changed unseen get a tail.
    fn take_rows(&mut self, rows: Vec<SessionInfo>, asked_at: UnixMs, complete: bool) {
        let mut changed = Vec::new();
        let met = |roster: &Roster, id| roster.sessions.get(id).is_some_and(|it| !it.row);
        let mut first = Vec::new();
        if complete {
            let listed = rows.iter().map(|row| row.id.clone()).collect();
            self.roster.only(&listed);
        }
        for row in &rows {
            if met(&self.roster, &row.id) {
                first.push(row.id.clone());
            }
            if self.roster.row(row) {
                changed.push(row.id.clone());
            }
        }
        self.outlet.push(Body::Sessions(SessionList {
            rows,
            asked_at,
            complete,
        }));
        for id in &first {
            self.row_came(id);
        }
        if self.stage == Stage::Live {
            for id in &changed {
                if let Some(known) = self.roster.sessions.get_mut(id) {
                    known.tail = None;
                }
            }
            self.read_tails(changed);
        }
    }

    fn on_folders(&mut self, folders: Folders) {
        for (name, real) in folders {
            if self.spec.directories.contains(&name) {
                self.policy.only.extend(real.clone());
            }
            self.roster.resolve(&name, real);
        }
        if self.stage == Stage::Live {
            self.decide();
        }
    }

    fn on_status(
        &mut self,
        key: &Directory,
        answer: Result<Decoded<BTreeMap<SessionId, Status>>, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let read = match answer {
            Ok(read) => read,
            Err(error) => return self.failed(Endpoint::Status, Some(key), None, &error),
        };
        if !self.is_asked(key) {
            return Ok(()); // it was disposed since
        }
        self.outlet
            .skipped("session status", read.skipped, read.why.as_deref());
        self.now_loaded(key);
        for directory in self.names(key) {
            self.outlet.push(Body::Status(StatusRead {
                directory,
                asked_at,
                entries: read.items.clone(),
            }));
        }
        self.note_running(key, &read.items);
        Ok(())
    }

    fn on_asks(
        &mut self,
        key: &Directory,
        kind: AskKind,
        answer: Result<Decoded<Vec<Ask>>, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let endpoint = match kind {
            AskKind::Permission => Endpoint::Permission,
            AskKind::Question => Endpoint::Question,
        };
        let read = match answer {
            Ok(read) => read,
            Err(error) => return self.failed(endpoint, Some(key), None, &error),
        };
        if !self.is_asked(key) {
            return Ok(());
        }
        self.outlet
            .skipped("ask", read.skipped, read.why.as_deref());
        for directory in self.names(key) {
            self.outlet.push(Body::Asks(AsksRead {
                directory,
                kind,
                asked_at,
                asks: read.items.clone(),
            }));
        }
        if kind == AskKind::Question
            && let Some(place) = self.roster.places.get_mut(key)
        {
            place.questions.clear();
        }
        for ask in &read.items {
            self.note_asking(ask, Some(key));
        }
        Ok(())
    }

    /// That it cannot be read is no gap: then every tool that may be of an MCP server is taken as
    /// one.
    fn on_mcp(
        &mut self,
        key: &Directory,
        answer: Result<Vec<String>, ClientError>,
    ) -> Result<(), Loss> {
        let servers = match answer {
            Ok(servers) => servers,
            Err(why) if matches!(why, ClientError::Refused | ClientError::Unauthorized) => {
                return Err(why.into());
            }
            Err(why) => {
                tracing::debug!(directory = %key, %why, "MCP servers are not told");
                return Ok(());
            }
        };
        for directory in self.names(key) {
            let servers = servers.clone();
            self.outlet.push(Body::Mcp(McpRead { directory, servers }));
        }
        Ok(())
    }

    fn on_tail(
        &mut self,
        id: SessionId,
        answer: Result<super::tail::Tail, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let tail = match answer {
            Ok(tail) => tail,
            Err(error) => return self.failed(Endpoint::Messages, None, Some(&id), &error),
        };
        self.outlet
            .skipped("message", tail.skipped, tail.why.as_deref());
        if let Some(known) = self.roster.sessions.get_mut(&id) {
            known.tail = Some(asked_at);
        }
        self.look_again(&id, &tail.messages);
        self.outlet.push(Body::Tail(TailRead {
            session: id,
            asked_at,
            messages: tail.messages,
            whole: tail.whole,
            missing: tail.missing,
        }));
        Ok(())
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
        let first = !self.roster.sessions.get(id).is_some_and(|it| it.row);
        self.roster.row(&row);
        let read = SessionRead { row, asked_at };
        self.outlet.push(Body::Session(Box::new(read)));
        if first {
            self.row_came(id);
            self.want_tail(id, true);
        }
        Ok(())
    }

    /// A read that failed is said by name; one that shows that the server is gone ends it all.
    pub(super) fn failed(
        &mut self,
        endpoint: Endpoint,
        place: Option<&Directory>,
        session: Option<&SessionId>,
        error: &ClientError,
    ) -> Result<(), Loss> {
        if matches!(error, ClientError::Refused | ClientError::Unauthorized) {
            return Err(error.clone().into());
        }
        // Where there is a stream, it tells that the server is gone.
        let is_telling = error.is_late() || (!self.has_stream && error.is_loss());
        if is_telling && !self.suspect {
            self.suspect = true;
            self.check_health();
        }
        if let Some(id) = session.filter(|_| error.is_not_found()) {
            self.roster.gone(id);
            self.outlet.push(Body::SessionGone(id.clone()));
            return Ok(());
        }
        if let (Endpoint::Messages, Some(id)) = (endpoint, session) {
            self.later.insert(id.clone(), Instant::now() + TAIL_AGAIN);
        }
        let names = place.map_or_else(|| vec![None], |it| some_each(self.names(it)));
        for directory in names {
            self.outlet.push(Body::Failed(ReadFailed {
                endpoint,
                directory,
                session: session.cloned(),
                status: error.status(),
                text: error.to_string(),
            }));
        }
        Ok(())
    }

    /// Health was asked because the stream is silent or ended too soon, or because a read was not
    /// answered in time.
    fn on_health(&mut self, answer: Result<Health, ClientError>) -> Result<(), Loss> {
        if let Some(ending) = self.cut_short.take() {
            return match answer {
                Err(error) if !error.is_missing() => Err(error.into()),
                _ => {
                    self.go_blind(&ending);
                    Ok(())
                }
            };
        }
        let suspect = std::mem::take(&mut self.suspect);
        if !self.silent {
            return match answer {
                Err(error) if suspect && error.is_late() => Err(Loss::new(
                    LostCause::Wedged,
                    "reads are not answered, and health does not answer either",
                )),
                Err(error) if !self.has_stream && error.is_loss() => Err(error.into()),
                _ => Ok(()),
            };
        }
        self.silent = false;
        match answer {
            Err(error) if error.is_late() => Err(Loss::new(
                LostCause::Wedged,
                "heartbeats stopped and health does not answer",
            )),
            Err(error) if !error.is_missing() => Err(error.into()),
            // The server lives. Where heartbeats had come, it is the stream that is dead.
            _ if self.heartbeats => Err(Loss::new(
                LostCause::Unreachable,
                "the event stream went silent although the server answers",
            )),
            _ => Ok(()),
        }
    }

    /// Our clock jumped: with the server's clock known anew, everything is read again, so that the
    /// times of reads and events are of one clock. Who does not answer may have gone meanwhile.
    fn on_identity(&mut self, answer: Result<Identity, ClientError>) -> Result<(), Loss> {
        let identity = answer?;
        self.skew = identity.skew.unwrap_or(Span::ZERO);
        self.outlet.identified(&identity);
        self.resync();
        Ok(())
    }

    fn now_loaded(&mut self, key: &Directory) {
        let turns = self.roster.loaded(key);
        if turns.is_empty() {
            return;
        }
        self.report(turns);
        if !self.lists_all {
            let job = Job::SessionsOf(key.clone(), self.roster.to_ask(key));
            self.jobs.urgent(job);
        }
        if self.stage == Stage::Live {
            let sessions = self.roster.sessions_of(key);
            self.read_tails(sessions);
        }
    }

    /// All names of a place.
    fn names(&self, key: &Directory) -> Vec<Directory> {
        match self.roster.places.get(key) {
            Some(place) => place.names.iter().cloned().collect(),
            None => vec![key.clone()],
        }
    }
}

fn some_each(names: Vec<Directory>) -> Vec<Option<Directory>> {
    names.into_iter().map(Some).collect()
}
