//! The state of one simulated server: what a database keeps and what only memory keeps.
//!
//! What it does: hold sessions and messages (durable) beside instances, statuses, asks and runs (lost
//! by a crash), and send the event that belongs to each change. What it does not: decide when something
//! changes (see `life`), or answer requests (see `routes`).
//! Invariants: idle sessions are absent from `live.statuses`; every change of a message or part goes
//! through a method that also sends its event.

mod messages;

use crate::core::time::{Clock, UnixMs};
use crate::sim::events::{Event, Hub};
use crate::sim::guard::{Noticed, violation};
use crate::sim::ids::{Ids, project_id, slug};
use crate::sim::script::Step;
use crate::sim::seed::Cycle;
use crate::sim::wire::{
    Changes, Message, ModelRef, PermissionAsk, QuestionAsk, SessionInfo, SessionModel, SessionTime,
    Status, Todo, Tokens,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tokio::task::AbortHandle;

/// A demo runs for hours.
const REQUESTS_KEPT: usize = 20_000;

/// A session with all that is stored of it.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) info: SessionInfo,
    /// Ascending.
    pub(crate) messages: Vec<Message>,
    pub(crate) todos: Vec<Todo>,
    /// Of its next durable event.
    pub(crate) seq: u64,
}

/// How a run ended, for a parent that waits.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Done(String),
    Rejected,
    Aborted,
    Failed(String),
}

/// What a person said to an ask.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Allowed,
    Rejected(Option<String>),
    Answers(Vec<Vec<String>>),
    Dismissed,
}

/// A turn that is going on.
#[derive(Debug)]
pub(crate) struct Run {
    /// Distinguishes this run of a session from the ones before.
    pub(crate) number: u64,
    /// Set once its task is started.
    pub(crate) task: Option<AbortHandle>,
}

/// A pending permission with what the wire does not say.
#[derive(Debug, Clone)]
pub(crate) struct Permission {
    pub(crate) directory: String,
    pub(crate) ask: PermissionAsk,
    /// Makes `GET /permission` of its directory answer 400.
    pub(crate) unreadable: bool,
}

/// A pending question.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) directory: String,
    pub(crate) ask: QuestionAsk,
}

/// What a crash loses.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub(crate) instances: BTreeSet<String>,
    /// Session id to its directory and status; outlives a deleted session (zombie run).
    pub(crate) statuses: BTreeMap<String, (String, Status)>,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) questions: Vec<Pending>,
    pub(crate) replies: HashMap<String, Reply>,
    pub(crate) runs: HashMap<String, Run>,
    pub(crate) outcomes: HashMap<String, Outcome>,
    /// Text streamed so far, by part; not visible to a GET.
    pub(crate) tails: HashMap<String, String>,
    /// Steps given for a user message, instead of its directives.
    pub(crate) scripts: HashMap<String, Vec<Step>>,
    /// `(directory, pattern)` allowed for good.
    pub(crate) always: HashSet<(String, String)>,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// By the server's clock.
    pub at: UnixMs,
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query, as sent.
    pub path: String,
    /// What was sent with it; empty for most.
    pub body: String,
}

/// One server's state.
pub(crate) struct World {
    pub(crate) clock: Clock,
    pub(crate) version: String,
    pub(crate) ids: Ids,
    pub(crate) sessions: BTreeMap<String, Stored>,
    pub(crate) models: Vec<ModelRef>,
    pub(crate) agents: Vec<String>,
    pub(crate) mcp: BTreeMap<String, Value>,
    pub(crate) live: Live,
    pub(crate) hub: Hub,
    pub(crate) requests: Vec<Request>,
    /// Requests that must never be sent.
    pub(crate) noticed: Noticed,
    pub(crate) booted: Vec<String>,
    /// Sessions with turns that come again, and how.
    pub(crate) cycles: Vec<(String, Cycle)>,
    /// So many next requests are never answered.
    pub(crate) stall: u32,
    runs: u64,
}

/// Where a new session belongs.
#[derive(Debug, Default)]
pub(crate) struct NewSession {
    pub(crate) directory: String,
    pub(crate) title: String,
    pub(crate) parent: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) permission: Option<Value>,
    pub(crate) created: UnixMs,
}

impl World {
    /// An empty server.
    pub(crate) fn new(clock: Clock, cwd: &str, version: String) -> Self {
        let seed = cwd.bytes().fold(7, |sum: u64, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        Self {
            clock,
            version,
            ids: Ids::new(seed),
            sessions: BTreeMap::new(),
            models: vec![model("scripted", "scripted")],
            agents: ["build", "plan", "general", "explore"]
                .map(str::to_owned)
                .into(),
            mcp: BTreeMap::new(),
            live: Live::default(),
            hub: Hub::default(),
            requests: Vec::new(),
            noticed: Noticed::default(),
            booted: Vec::new(),
            cycles: Vec::new(),
            stall: 0,
            runs: 0,
        }
    }

    /// The server's clock.
    pub(crate) fn now(&self) -> UnixMs {
        (self.clock)()
    }

    /// Directory of a session, if it exists.
    pub(crate) fn directory(&self, session: &str) -> Option<String> {
        self.sessions.get(session).map(|s| s.info.directory.clone())
    }

    /// Sends an event that is not kept: statuses, asks, deltas.
    pub(crate) fn emit(&mut self, directory: &str, kind: &str, properties: &impl Serialize) {
        self.send(directory, kind, properties, None);
    }

    /// Sends a durable event of a session, which comes with its `sync` double.
    pub(crate) fn emit_durable(&mut self, session: &str, kind: &str, properties: &impl Serialize) {
        let Some(stored) = self.sessions.get_mut(session) else {
            return;
        };
        let seq = stored.seq;
        stored.seq += 1;
        let directory = stored.info.directory.clone();
        self.send(&directory, kind, properties, Some((session, seq)));
    }

    fn send(
        &mut self,
        directory: &str,
        kind: &str,
        properties: &impl Serialize,
        durable: Option<(&str, u64)>,
    ) {
        let id = self.ids.ascending("evt", (self.clock)());
        let Ok(properties) = serde_json::to_string(properties) else {
            return;
        };
        self.hub.send(&Event {
            id: &id,
            kind,
            properties: &properties,
            place: Some((directory, &project_id(directory))),
            durable,
        });
    }

    /// Loads the instance of a directory; `true` if it was not loaded.
    pub(crate) fn boot(&mut self, directory: &str) -> bool {
        if !self.live.instances.insert(directory.to_owned()) {
            return false;
        }
        self.booted.push(directory.to_owned());
        for plugin in 0..45 {
            let properties = json!({"id": format!("core/plugin-{plugin}")});
            self.emit(directory, "plugin.added", &properties);
        }
        for noise in [
            "catalog.updated",
            "integration.updated",
            "reference.updated",
        ] {
            self.emit(directory, noise, &json!({}));
        }
        let project = self.project(directory);
        self.emit(directory, "project.updated", &project);
        true
    }

    /// An entry of `GET /project`.
    pub(crate) fn project(&self, directory: &str) -> Value {
        let of_it = self
            .sessions
            .values()
            .filter(|s| s.info.directory == directory);
        let created = of_it.map(|s| s.info.time.created).min();
        let now = self.now().0;
        json!({
            "id": project_id(directory),
            "worktree": directory,
            "vcs": "git",
            "time": {"created": created.unwrap_or(now), "updated": now},
            "sandboxes": [],
        })
    }

    /// Sets a status and says so. Idle removes it from the map.
    pub(crate) fn set_status(&mut self, session: &str, status: Status) {
        let known = self.live.statuses.get(session).map(|(dir, _)| dir.clone());
        let Some(directory) = self.directory(session).or(known) else {
            return;
        };
        let properties = json!({"sessionID": session, "status": status});
        if status == Status::Idle {
            self.live.statuses.remove(session);
        } else {
            let entry = (directory.clone(), status);
            self.live.statuses.insert(session.to_owned(), entry);
        }
        self.emit(&directory, "session.status", &properties);
    }

    /// `session.status` idle, then `session.idle`.
    pub(crate) fn set_idle(&mut self, session: &str) {
        let known = self.live.statuses.get(session).map(|(dir, _)| dir.clone());
        let directory = self.directory(session).or(known);
        self.set_status(session, Status::Idle);
        if let Some(directory) = directory {
            self.emit(&directory, "session.idle", &json!({"sessionID": session}));
        }
    }

    /// `session.error`, which is in no list and in no log.
    pub(crate) fn session_error(&mut self, session: &str, error: &impl Serialize) {
        if let Some(directory) = self.directory(session) {
            let properties = json!({"sessionID": session, "error": error});
            self.emit(&directory, "session.error", &properties);
        }
    }

    /// Makes a session and says so.
    pub(crate) fn create_session(&mut self, new: NewSession) -> String {
        let id = self.ids.session(new.created);
        let info = SessionInfo {
            id: id.clone(),
            slug: slug(&mut self.ids),
            project_id: project_id(&new.directory),
            directory: new.directory,
            path: String::new(),
            parent_id: new.parent,
            summary: None,
            cost: 0.0,
            tokens: Tokens::default(),
            title: new.title,
            agent: new.agent,
            model: None,
            version: self.version.clone(),
            time: SessionTime {
                created: new.created.0,
                updated: new.created.0,
                archived: None,
            },
            permission: new.permission,
            revert: None,
        };
        let stored = Stored {
            info: info.clone(),
            messages: Vec::new(),
            todos: Vec::new(),
            seq: 0,
        };
        self.sessions.insert(id.clone(), stored);
        let properties = json!({"sessionID": id, "info": info});
        self.emit_durable(&id, "session.created", &properties);
        id
    }

    /// Changes a session's row and says so.
    pub(crate) fn update_session(&mut self, session: &str, change: impl FnOnce(&mut SessionInfo)) {
        let Some(stored) = self.sessions.get_mut(session) else {
            return;
        };
        change(&mut stored.info);
        let properties = json!({"sessionID": session, "info": stored.info});
        self.emit_durable(session, "session.updated", &properties);
    }

    /// Enters a run for a session and gives its number.
    pub(crate) fn start_run(&mut self, session: &str) -> u64 {
        self.runs += 1;
        let number = self.runs;
        let run = Run { number, task: None };
        self.live.runs.insert(session.to_owned(), run);
        number
    }

    /// Sessions below this one.
    pub(crate) fn children(&self, session: &str) -> Vec<&Stored> {
        let is_child = |s: &&Stored| s.info.parent_id.as_deref() == Some(session);
        self.sessions.values().filter(is_child).collect()
    }

    /// Notes a request; the oldest are forgotten past [`REQUESTS_KEPT`].
    pub(crate) fn note(&mut self, request: Request) {
        let violation = violation(self, &request.method, &request.path);
        self.noticed.requests.extend(violation);
        if self.requests.len() >= REQUESTS_KEPT {
            self.requests.drain(..REQUESTS_KEPT / 2);
        }
        self.requests.push(request);
    }

    /// `true` for the first requests after a start, as often as configured.
    pub(crate) fn take_stall(&mut self) -> bool {
        let stalled = self.stall > 0;
        self.stall = self.stall.saturating_sub(1);
        stalled
    }

    /// Loses what only memory holds.
    pub(crate) fn crash(&mut self) {
        self.live = Live::default();
        self.hub.close_all();
    }
}

/// `{providerID, modelID}`.
pub(crate) fn model(provider: &str, id: &str) -> ModelRef {
    ModelRef {
        provider_id: provider.to_owned(),
        model_id: id.to_owned(),
    }
}

/// A session's form of a model.
pub(crate) fn session_model(model: &ModelRef) -> SessionModel {
    SessionModel {
        id: model.model_id.clone(),
        provider_id: model.provider_id.clone(),
        variant: "default",
    }
}

/// `summary` of a session after its first answer began.
pub(crate) fn no_changes() -> Changes {
    Changes::default()
}
