//! What every rule looks at: one session, its server and a time, with the questions that several
//! rules ask.
//!
//! Invariant: all times that leave here are the server's; the watcher's are translated by [`Facts::at`].

use crate::core::id::{ServerId, SessionKey};
use crate::core::judge::activity::{self, is_open, newest_time};
use crate::core::judge::held::standing_asks;
use crate::core::judge::held::{Held, held_by};
use crate::core::judge::limits::Limits;
use crate::core::judge::{Activity, blind};
use crate::core::store::{PendingAsk, Reported, Server, Session, Store};
use crate::core::time::UnixMs;
use crate::core::wire::{AskKind, Message, Part, ToolPart};
use std::borrow::Cow;

/// The facts of one session at one time.
pub struct Facts<'a> {
    /// Everything, for what other servers say of the same session.
    pub store: &'a Store,
    /// Whose server.
    pub server_id: ServerId,
    /// The server.
    pub server: &'a Server,
    /// The session.
    pub session: &'a Session,
    /// Now; server's clock.
    pub now: UnixMs,
    /// The thresholds.
    pub limits: &'a Limits,
    /// What the server says.
    pub reported: Reported,
    /// What messages show.
    pub activity: Activity,
    /// Why they show it.
    pub why: Cow<'static, str>,
}

impl<'a> Facts<'a> {
    /// Looks at a session, if it is known. `now` is the watcher's clock.
    pub fn new(
        store: &'a Store,
        key: &SessionKey,
        now: UnixMs,
        limits: &'a Limits,
    ) -> Option<Self> {
        let server = store.server(key.server)?;
        let session = store.session(key)?;
        Some(Self::of(store, (key.server, server), session, now, limits))
    }

    /// Looks at a session of a server. `now` is the watcher's clock.
    pub(super) fn of(
        store: &'a Store,
        (server_id, server): (ServerId, &'a Server),
        session: &'a Session,
        now: UnixMs,
        limits: &'a Limits,
    ) -> Self {
        let (activity, why) = activity::derive(server, session);
        Self {
            store,
            server_id,
            server,
            session,
            now: server.server_time(now),
            limits,
            reported: server.reported(session),
            activity,
            why,
        }
    }

    /// The same look at another session of this server.
    pub(super) fn beside(&self, session: &'a Session) -> Facts<'a> {
        let (activity, why) = activity::derive(self.server, session);
        Facts {
            session,
            reported: self.server.reported(session),
            activity,
            why,
            ..*self
        }
    }

    /// A watcher's time in the server's clock.
    pub fn at(&self, watcher: UnixMs) -> UnixMs {
        self.server.server_time(watcher)
    }

    /// Reported idle.
    pub fn is_idle(&self) -> bool {
        matches!(self.reported, Reported::Idle)
    }

    /// Reported busy (not retrying).
    pub fn is_busy(&self) -> bool {
        matches!(self.reported, Reported::Busy)
    }

    /// The messages that we hold are those that the server has: read in this connection, or
    /// nothing was sent or ended since they were read.
    pub fn knows_messages(&self) -> bool {
        let tail = &self.session.tail;
        let unchanged = |read_at| self.session.info.updated <= self.at(read_at);
        tail.failed.is_none()
            && tail
                .read_at
                .is_some_and(|read_at| tail.epoch == self.server.epoch || unchanged(read_at))
    }

    /// How many messages and parts of the newest answer, or after it, could not be read: what is
    /// not seen may be one of them, so nothing may be claimed from its not being there.
    pub fn missing(&self) -> usize {
        self.session.tail.missing
    }

    /// The asks of this kind can be read in its directory, and were, in this connection.
    pub fn knows_asks(&self, kind: AskKind) -> bool {
        let view = self.server.directories.get(&self.session.info.directory);
        view.is_some_and(|view| view.has_read(kind)) && blind::gap(self, kind).is_none()
    }

    /// Since when our own watching of this server has no gap: silence before it is not known.
    /// `None`: it is not followed.
    pub fn watched_since(&self) -> Option<UnixMs> {
        let live = self.server.live_since?;
        Some(self.at(live.max(self.server.jumped_at.unwrap_or(live))))
    }

    /// Until when ages are not trusted because a clock jumped, if that is still to come.
    pub fn trusted_at(&self) -> Option<UnixMs> {
        let at = self.at(self.server.jumped_at?) + self.limits.after_jump;
        Some(at).filter(|at| self.now < *at)
    }

    /// The same facts, if nothing comes, at a later time of the server's clock.
    pub(super) fn as_of(&self, now: UnixMs) -> Self {
        Self {
            now,
            reported: self.reported.clone(),
            activity: self.activity.clone(),
            why: self.why.clone(),
            ..*self
        }
    }

    /// The newest sign of progress: times that a message names, and what we saw change.
    pub fn progress_of(&self, message: &Message) -> UnixMs {
        let named = newest_time(message);
        let seen = self.session.watch.progress_at;
        seen.map_or(named, |at| self.at(at).max(named))
    }

    /// An ask of this call was answered: further ones would have been heard as well.
    pub fn was_released(&self, tool: &ToolPart) -> bool {
        was_released(self.session, tool)
    }

    /// The message that decides the activity.
    pub fn message(&self) -> Option<&'a Message> {
        self.session.tail.message(self.activity.message.as_ref()?)
    }

    /// The open answer that decides the activity.
    pub fn open_answer(&self) -> Option<&'a Message> {
        let working = self.activity.state.is_working();
        self.message().filter(|m| working && is_open(m))
    }

    /// The part that decides the activity.
    pub fn part(&self) -> Option<&'a Part> {
        let id = self.activity.part.as_ref()?;
        self.message()?.parts.iter().find(|part| part.id == *id)
    }

    /// The session that a task part runs, if it is one of its children.
    pub fn child_of(&self, part: &Part) -> Option<&'a Session> {
        child_of(self.server, self.session, part)
    }

    /// Asks that stand, oldest first.
    pub fn asks(&self) -> impl Iterator<Item = &'a PendingAsk> + use<'a> {
        standing_asks(self.server, self.session).into_iter()
    }

    /// An ask is pending here (a ghost is not), or in the child of a task that runs here.
    pub fn is_asking(&self) -> bool {
        let below = |part: &Part| self.child_of(part).is_some_and(|c| !c.asks.is_empty());
        let mut own = self.session.asks.iter();
        own.any(|pending| !matches!(held_by(self, pending), Held::Ended { .. }))
            || self.session.tail.live_parts().any(below)
    }

    /// When its content last changed: the row, its messages and their parts.
    pub fn last_changed(&self) -> UnixMs {
        last_changed(self.session)
    }

    /// A copy made by a fork: the message is older than its session, so it never ran in it.
    pub fn is_copy(&self, message: &Message) -> bool {
        message.created < self.session.info.created
    }

    /// Its parent is reported running by this server, so it runs here as well.
    pub fn parent_runs_here(&self) -> bool {
        let parent = self.session.info.parent.as_ref();
        parent
            .and_then(|id| self.server.sessions.get(id))
            .is_some_and(|parent| self.server.reported(parent).is_running())
    }
}

/// The session that a task part of `session` runs.
pub fn child_of<'a>(server: &'a Server, session: &Session, part: &Part) -> Option<&'a Session> {
    let child = server.sessions.get(part.tool()?.child.as_ref()?)?;
    Some(child).filter(|child| child.info.parent.as_ref() == Some(&session.info.id))
}

/// An ask of this call was seen to be answered.
pub fn was_released(session: &Session, tool: &ToolPart) -> bool {
    let call = tool.call.as_ref();
    call.is_some_and(|call| session.watch.released.contains_key(call))
}

/// When a session's content last changed: its row, its newest messages and their parts.
pub fn last_changed(session: &Session) -> UnixMs {
    let tail = session.tail.messages.iter().rev().take(2);
    tail.map(newest_time)
        .fold(session.info.updated, UnixMs::max)
}
