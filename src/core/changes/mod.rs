//! What `watch` and the history tell: each change of a verdict, once.
//!
//! What it does: compare what was told last with what is judged now. What it does not: word it, or
//! keep anything but the last state of each session and server.
//!
//! **What counts as a change** of a session: its level, its leading finding, its reported type, the
//! state of its activity, or the name of what it settles to. Of a server: its state, or which findings
//! it has. Ages, texts, evidence, asks and a session's further findings change without a word.
//!
//! A person is not told at once what may be a loss that shows, or a return: that sessions cannot be
//! read, or that one is about to be called again what it was called before. It waits for [`HOLD`].
//!
//! Invariants: nothing is told of a server that is being connected to, nor of its sessions, so what
//! is told first is what was read, never what was not read yet; a server stands before its sessions.

mod state;

pub use state::{ServerState, SessionState, Standing, State};

use crate::core::id::{ServerId, SessionId, SessionKey};
use crate::core::judge::{Judgement, Level, ServerVerdict, Verdict};
use crate::core::store::{LinkState, Reported, Server, Session, Store, Why};
use crate::core::time::{Span, UnixMs};
use std::collections::{BTreeMap, BTreeSet};

/// A server that hangs is known to be lost after two waits for an answer of 5 s each; what was found
/// before a loss is found again within a few seconds after it.
const HOLD: Span = Span::secs(12);

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// When it was noticed; watcher's clock.
    pub at: UnixMs,
    /// Of which server.
    pub server: ServerId,
    /// Which session; `None`: the server itself.
    pub session: Option<(SessionId, Title)>,
    /// What was told before; `None`: nothing.
    pub from: Option<State>,
    /// What is so now; `None`: it is gone.
    pub to: Option<State>,
    /// Of a server: what was found of it before.
    pub before: Vec<&'static str>,
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
    /// The restart of each that was told last, with what it cut off; watcher's clock.
    restarts: BTreeMap<ServerId, UnixMs>,
    /// When the first of the changes that are held back is to be told; watcher's clock.
    held: Option<UnixMs>,
    /// Whose these are.
    holding: BTreeSet<SessionKey>,
}

/// The last known state of a session.
#[derive(Debug, Clone)]
struct Told {
    state: SessionState,
    title: Title,
    /// Some state of it was told, not only remembered.
    aloud: bool,
    /// Since when it cannot be read without a word about it; watcher's clock.
    unread_since: Option<UnixMs>,
}

impl Told {
    /// Until when a person is not told of this verdict.
    fn hold(&mut self, scene: &Scene, verdict: &Verdict) -> Option<UnixMs> {
        let status_unread = matches!(verdict.reported, Reported::Unknown(Why::ReadFailed(_)));
        let unread = status_unread || (verdict.level == Level::Unknown && verdict.blind.is_some());
        let since = if unread {
            Some(*self.unread_since.get_or_insert(scene.now))
        } else {
            self.unread_since = None;
            let settling = verdict.settling.as_ref().map(|it| it.name);
            let again = settling.is_some() && settling == self.state.finding;
            scene.server.live_since.filter(|_| again)
        };
        since.map(|at| at + HOLD).filter(|until| *until > scene.now)
    }
}

impl Changes {
    /// Nothing was told yet.
    pub fn new(audience: Audience) -> Self {
        Self {
            audience,
            servers: BTreeMap::new(),
            sessions: BTreeMap::new(),
            restarts: BTreeMap::new(),
            held: None,
            holding: BTreeSet::new(),
        }
    }

    /// When there may be something to tell although nothing happened; watcher's clock.
    pub fn due(&self) -> Option<UnixMs> {
        self.held
    }

    /// Everything that changed since the last call. `now` is the watcher's clock.
    pub fn next(&mut self, store: &Store, judgement: &Judgement, now: UnixMs) -> Vec<Change> {
        self.look(store, judgement, None, now)
    }

    /// The same, where only these sessions were judged since the last call.
    pub fn next_of(
        &mut self,
        store: &Store,
        judgement: &Judgement,
        judged: &BTreeSet<SessionKey>,
        now: UnixMs,
    ) -> Vec<Change> {
        let mut keys = std::mem::take(&mut self.holding);
        keys.extend(judged.iter().cloned());
        self.look(store, judgement, Some(&keys), now)
    }

    fn look(
        &mut self,
        store: &Store,
        judgement: &Judgement,
        only: Option<&BTreeSet<SessionKey>>,
        now: UnixMs,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        self.held = None;
        self.holding.clear();
        for (id, server) in store.servers() {
            if matches!(server.link, LinkState::Connecting { .. }) {
                continue;
            }
            let scene = Scene { id, server, now };
            let verdict = judgement.servers.iter().find(|it| it.server == id);
            changes.extend(verdict.and_then(|it| self.server(&scene, it)));
            let told = self.audience == Audience::Script || server.is_reachable();
            match only.filter(|_| told) {
                Some(keys) => self.some_of(&scene, judgement, keys, &mut changes),
                None if told => self.all_of(&scene, judgement, &mut changes),
                None => {}
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
        let is_told = self.is_told(scene.server, verdict);
        let same =
            |from: &ServerState| from.state == state.state && from.findings == state.findings;
        if is_told && self.audience == Audience::Person && from.as_ref().is_some_and(same) {
            return None; // the sessions that a restart cut off are found again, or went on
        }
        let old = |name: &&'static str| *name != "restarted" || is_told;
        let before = from.iter().flat_map(|from| &from.findings).copied();
        Some(Change {
            before: before.filter(old).collect(),
            from: from.map(State::Server),
            to: Some(State::Server(state)),
            ..scene.blank()
        })
    }

    /// Whether it was told before that this server was restarted; else it is from now on, as soon as
    /// it says that something was cut off.
    fn is_told(&mut self, server: &Server, verdict: &ServerVerdict) -> bool {
        let restart = server.restarted_at;
        let told = self.restarts.get(&verdict.server).copied();
        let mut worth = verdict.findings.iter().filter(|f| f.level > Level::Ok);
        if let Some(at) = restart.filter(|_| worth.any(|f| f.name == "restarted")) {
            self.restarts.insert(verdict.server, at);
        }
        restart.is_some() && told == restart
    }

    fn all_of(&mut self, scene: &Scene, judgement: &Judgement, into: &mut Vec<Change>) {
        let (first, next) = bounds(scene.id);
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

    fn some_of(
        &mut self,
        scene: &Scene,
        judgement: &Judgement,
        keys: &BTreeSet<SessionKey>,
        into: &mut Vec<Change>,
    ) {
        let (first, next) = bounds(scene.id);
        for key in keys.range(first..next) {
            let session = scene.server.sessions.get(&key.session);
            into.extend(match (session, judgement.verdicts.get(key)) {
                (Some(session), Some(verdict)) => self.session(scene, session, verdict),
                (None, _) => self.gone(scene, key),
                (Some(_), None) => None,
            });
        }
    }

    fn session(&mut self, scene: &Scene, session: &Session, verdict: &Verdict) -> Option<Change> {
        let mut told = self.sessions.get_mut(&verdict.key);
        if let Some(told) = told.as_mut().filter(|told| told.state.is_of(verdict)) {
            told.unread_since = None;
            return None;
        }
        let hold = told.filter(|_| self.audience == Audience::Person);
        if let Some(until) = hold.and_then(|told| told.hold(scene, verdict)) {
            self.held = Some(self.held.map_or(until, |at| at.min(until)));
            self.holding.insert(verdict.key.clone());
            return None;
        }
        let told = self.sessions.get(&verdict.key);
        let state = SessionState::of(verdict);
        let known = told.is_some_and(|told| told.aloud);
        let aloud = known || self.audience == Audience::Script || !state.is_quiet();
        let new = Told {
            state: state.clone(),
            title: session.info.title.clone(),
            aloud,
            unread_since: None,
        };
        let from = self.sessions.insert(verdict.key.clone(), new);
        aloud.then(|| Change {
            session: Some((session.info.id.clone(), session.info.title.clone())),
            from: from.map(|told| State::Session(told.state)),
            to: Some(State::Session(state)),
            ..scene.blank()
        })
    }

    fn gone(&mut self, scene: &Scene, key: &SessionKey) -> Option<Change> {
        let told = self.sessions.remove(key)?;
        told.aloud.then(|| Change {
            session: Some((key.session.clone(), told.title)),
            from: Some(State::Session(told.state)),
            ..scene.blank()
        })
    }
}

/// Where and when something changed.
struct Scene<'a> {
    id: ServerId,
    server: &'a Server,
    now: UnixMs,
}

impl Scene<'_> {
    fn blank(&self) -> Change {
        Change {
            at: self.now,
            server: self.id,
            session: None,
            from: None,
            to: None,
            before: Vec::new(),
        }
    }
}

/// The least key of a server, and that of the next one.
fn bounds(server: ServerId) -> (SessionKey, SessionKey) {
    let least = |server: u16| SessionKey::new(ServerId(server), SessionId::from(""));
    (least(server.0), least(server.0.saturating_add(1)))
}
