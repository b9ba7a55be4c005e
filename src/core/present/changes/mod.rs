//! What `watch` tells: each change of a verdict, once.
//!
//! What it does: compare what was told last with what is judged now. What it does not: print, or
//! keep anything but the last state of each session and server.
//!
//! **What counts as a change** of a session: its level, its leading finding, its reported type, the
//! state of its activity, or the name of what it settles to. Of a server: its state, or which findings
//! it has. Ages, texts, evidence, asks and a session's further findings change without a word.
//!
//! Invariants: nothing is told of a server that is being connected to, nor of its sessions, so what
//! is told first is what was read, never what was not read yet; a server stands before its sessions.

mod form;
mod state;

pub use form::{change_json, change_line};
pub use state::{ServerState, SessionState, State};

use crate::core::id::{ServerId, SessionId, SessionKey};
use crate::core::judge::{Judgement, ServerVerdict, Verdict};
use crate::core::present::{Mark, header, rows, words};
use crate::core::store::{LinkState, Server, Session, Store};
use crate::core::time::UnixMs;
use std::collections::BTreeMap;

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// When it was noticed; watcher's clock.
    pub at: UnixMs,
    /// Name of the server.
    pub server: String,
    /// Which session; `None`: the server itself.
    pub session: Option<(SessionId, Title)>,
    /// What was told before; `None`: nothing.
    pub from: Option<State>,
    /// What is so now; `None`: it is gone.
    pub to: Option<State>,
    /// Why, one clean line for a person; may be empty.
    pub text: String,
    /// The mark of what is so now.
    pub mark: Mark,
}

/// A session's title as the server gave it, not cleaned; may be empty.
pub type Title = String;

/// For whom changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Every session is told when it is first known, and each becomes unknown with its server: who
    /// keeps the last line of each id knows what is known.
    Script,
    /// A session that is at rest or unknown is not told until it is anything else; that a server is
    /// away is told once, and of its sessions only what is different when it is back.
    Person,
}

/// Remembers what was told.
#[derive(Debug, Clone)]
pub struct Changes {
    audience: Audience,
    servers: BTreeMap<ServerId, ServerState>,
    sessions: BTreeMap<SessionKey, Told>,
}

/// The last known state of a session.
#[derive(Debug, Clone)]
struct Told {
    state: SessionState,
    title: Title,
    /// Some state of it was told, not only remembered.
    aloud: bool,
}

impl Changes {
    /// Nothing was told yet.
    pub fn new(audience: Audience) -> Self {
        Self {
            audience,
            servers: BTreeMap::new(),
            sessions: BTreeMap::new(),
        }
    }

    /// Everything that changed since the last call. `now` is the watcher's clock.
    pub fn next(&mut self, store: &Store, judgement: &Judgement, now: UnixMs) -> Vec<Change> {
        let mut changes = Vec::new();
        for (id, server) in store.servers() {
            if matches!(server.link, LinkState::Connecting { .. }) {
                continue;
            }
            let scene = Scene { server, now };
            let verdict = judgement.servers.iter().find(|it| it.server == id);
            changes.extend(verdict.and_then(|it| self.server(&scene, it)));
            if self.audience == Audience::Script || server.is_reachable() {
                self.sessions_of(id, &scene, judgement, &mut changes);
            }
        }
        changes
    }

    fn server(&mut self, scene: &Scene, verdict: &ServerVerdict) -> Option<Change> {
        let state = ServerState::of(verdict);
        let from = self.servers.insert(verdict.server, state.clone());
        if from.as_ref() == Some(&state) {
            return None;
        }
        let before = from.as_ref().map_or(&[][..], |from| &from.findings);
        Some(Change {
            text: header::told(scene.server, verdict, before),
            mark: header::mark(scene.server, verdict),
            from: from.map(State::Server),
            to: Some(State::Server(state)),
            ..scene.blank()
        })
    }

    fn sessions_of(
        &mut self,
        id: ServerId,
        scene: &Scene,
        judgement: &Judgement,
        into: &mut Vec<Change>,
    ) {
        let (first, next) = (start(id.0), start(id.0.saturating_add(1)));
        let verdicts = judgement.verdicts.range(first.clone()..next.clone());
        let sessions = &scene.server.sessions;
        for (key, verdict) in verdicts {
            if let Some(session) = sessions.get(&key.session) {
                into.extend(self.session(scene, session, verdict));
            }
        }
        let known = self.sessions.range(first..next);
        let gone = known.filter(|(key, _)| !sessions.contains_key(&key.session));
        let gone: Vec<SessionKey> = gone.map(|(key, _)| key.clone()).collect();
        into.extend(gone.iter().filter_map(|key| self.gone(scene, key)));
    }

    fn session(&mut self, scene: &Scene, session: &Session, verdict: &Verdict) -> Option<Change> {
        let told = self.sessions.get_mut(&verdict.key);
        if told.as_ref().is_some_and(|told| told.state.is_of(verdict)) {
            return None;
        }
        let state = SessionState::of(verdict);
        let known = told.as_ref().is_some_and(|told| told.aloud);
        let aloud = known || self.audience == Audience::Script || !state.is_quiet();
        let new = Told {
            state: state.clone(),
            title: session.info.title.clone(),
            aloud,
        };
        let from = self.sessions.insert(verdict.key.clone(), new);
        aloud.then(|| Change {
            session: Some((session.info.id.clone(), session.info.title.clone())),
            from: from.map(|told| State::Session(told.state)),
            to: Some(State::Session(state)),
            text: rows::why(verdict, scene.server, scene.now).0,
            mark: words::mark(verdict),
            ..scene.blank()
        })
    }

    fn gone(&mut self, scene: &Scene, key: &SessionKey) -> Option<Change> {
        let told = self.sessions.remove(key)?;
        told.aloud.then(|| Change {
            session: Some((key.session.clone(), told.title)),
            from: Some(State::Session(told.state)),
            text: "the server no longer lists it".to_owned(),
            ..scene.blank()
        })
    }
}

/// Where and when something changed.
struct Scene<'a> {
    server: &'a Server,
    now: UnixMs,
}

impl Scene<'_> {
    fn blank(&self) -> Change {
        Change {
            at: self.now,
            server: self.server.spec.name.clone(),
            session: None,
            from: None,
            to: None,
            text: String::new(),
            mark: Mark::Unknown,
        }
    }
}

/// The least key of a server.
fn start(server: u16) -> SessionKey {
    SessionKey::new(ServerId(server), SessionId::from(""))
}
