//! Makes the past: seeds become sessions, messages and parts with times in the past.
//!
//! What it does: fill the world as if the turns had happened, list the asks of open steps, mark what is
//! reported busy. What it does not: start runs; it gives back what has to be continued.
//! Invariant: no time lies in the future, and times ascend inside a session.

mod body;

use self::body::{Left, asks};
use super::life::parts::list_ask;
use super::life::user_info;
use super::script::Step;
use super::seed::{End, Kind, SessionSeed, StepSeed, TurnSeed};
use super::wire::{
    AssistantInfo, Author, Body, Diffs, EndedTime, ErrorInfo, Info, ModelRef, Part, SNAPSHOT,
    Status, Tokens,
};
use super::world::{NewSession, World, model, no_changes, session_model};
use crate::core::time::{Span, UnixMs};
use serde_json::json;
use std::collections::HashMap;

/// Keys of a scenario and the sessions they became.
pub(crate) type Keys = HashMap<String, String>;

/// A turn that goes on from an open message.
pub(crate) struct Resume {
    pub(crate) session: String,
    pub(crate) directory: String,
    pub(crate) user: String,
    pub(crate) open: Option<String>,
    pub(crate) agent: String,
    pub(crate) model: ModelRef,
    pub(crate) steps: Vec<Step>,
}

/// Makes the session without its turns.
pub(crate) fn create(w: &mut World, seed: &SessionSeed, keys: &Keys) -> String {
    let now = w.now();
    let first = seed
        .turns
        .first()
        .map_or(60_000, |turn| turn.age.ms() + 2000);
    let age = seed.created.map_or(first, super::script::Dur::ms);
    let parent = seed.parent.as_ref();
    let parent = parent.map(|key| keys.get(key).unwrap_or(key).clone());
    let id = w.create_session(NewSession {
        directory: seed.directory.clone(),
        title: seed.title.clone(),
        permission: parent
            .is_some()
            .then(|| json!([{"permission": "task", "pattern": "*", "action": "deny"}])),
        parent,
        agent: None,
        created: now - Span(age),
    });
    if let Some(stored) = w.sessions.get_mut(&id) {
        stored.todos.clone_from(&seed.todos);
    }
    id
}

/// Fills a session with its turns; gives what goes on, if something does.
pub(crate) fn fill(w: &mut World, id: &str, seed: &SessionSeed, keys: &Keys) -> Option<Resume> {
    let (provider, name) = seed
        .model
        .split_once('/')
        .unwrap_or(("scripted", &seed.model));
    let mut writer = Writer {
        session: id.to_owned(),
        directory: seed.directory.clone(),
        agent: seed.agent.clone(),
        model: model(provider, name),
        user: String::new(),
        open: None,
        kind: Kind::Prompt,
        at: w.now(),
        output: 0,
    };
    learn(w, &writer);
    for turn in &seed.turns {
        writer.turn(w, turn, keys);
    }
    settle_row(w, &writer, seed);
    if seed.busy || seed.then.is_some() {
        w.live.instances.insert(seed.directory.clone());
        w.set_status(id, Status::Busy);
    }
    let then = seed.then.clone()?;
    let open = seed.turns.iter().rfind(|turn| turn.end == End::Open)?;
    let last = open.steps.last().filter(|step| step.open);
    let resumed = last.map(|step| step.step.clone());
    Some(Resume {
        session: writer.session,
        directory: writer.directory,
        user: writer.user,
        open: writer.open,
        agent: writer.agent,
        model: writer.model,
        steps: resumed.into_iter().chain(then).collect(),
    })
}

/// Models and agents of seeds exist.
fn learn(w: &mut World, writer: &Writer) {
    if !w.models.contains(&writer.model) {
        w.models.push(writer.model.clone());
    }
    if !w.agents.contains(&writer.agent) {
        w.agents.push(writer.agent.clone());
    }
}

fn settle_row(w: &mut World, writer: &Writer, seed: &SessionSeed) {
    w.update_session(&writer.session, |info| {
        if seed.turns.is_empty() {
            return;
        }
        info.agent = Some(writer.agent.clone());
        info.model = Some(session_model(&writer.model));
        info.summary = Some(no_changes());
        info.tokens = Tokens {
            input: 100 * seed.turns.len() as u64,
            output: writer.output,
            ..Tokens::default()
        };
        info.time.updated = writer.at.0;
        info.time.archived = seed.archived.then_some(writer.at.0);
    });
}

fn said(text: &str, synthetic: Option<bool>) -> Body {
    Body::Text {
        text: text.to_owned(),
        synthetic,
        time: None,
    }
}

struct Writer {
    session: String,
    directory: String,
    agent: String,
    model: ModelRef,
    user: String,
    open: Option<String>,
    kind: Kind,
    /// How far the past is written.
    at: UnixMs,
    output: u64,
}

impl Writer {
    fn turn(&mut self, w: &mut World, turn: &TurnSeed, keys: &Keys) {
        let now = w.now();
        self.at = now - Span(turn.age.ms());
        self.kind = turn.kind;
        let user = self.prompt(w, &turn.prompt);
        if turn.end == End::Unanswered {
            return;
        }
        (self.user, self.open) = (user, None);
        self.advance(now, 60);
        self.message(w);
        if turn.end == End::Blank {
            return self.end(w, &turn.end);
        }
        for (index, seed) in turn.steps.iter().enumerate() {
            if self.open.is_none() {
                self.advance(now, 20);
                self.message(w);
            }
            self.step(w, seed, keys, now);
            let last = index + 1 == turn.steps.len();
            if seed.step.is_tool() && !seed.open && !last {
                self.end(w, &End::ToolCalls);
            }
        }
        self.end(w, &turn.end);
    }

    fn advance(&mut self, now: UnixMs, ms: i64) {
        self.at = (self.at + Span(ms)).min(now);
    }

    fn prompt(&mut self, w: &mut World, text: &str) -> String {
        let id = w.ids.ascending("msg", self.at);
        let (agent, model) = (self.agent.clone(), self.model.clone());
        let mut info = user_info(id.clone(), &self.session, agent, model, self.at.0);
        info.summary = Some(Diffs::default());
        w.add_message(&self.session, Info::User(Box::new(info)));
        let body = match self.kind {
            Kind::Prompt => said(text, None),
            Kind::Shell => said("The following tool was executed by the user", Some(true)),
            Kind::Compaction => Body::Compaction { auto: true },
        };
        self.put(w, &id, body);
        id
    }

    fn message(&mut self, w: &mut World) {
        let id = w.ids.ascending("msg", self.at);
        let by = Author {
            session: &self.session,
            user: &self.user,
            agent: &self.agent,
            model: &self.model,
            directory: &self.directory,
        };
        let mut info = AssistantInfo::open(id.clone(), by, self.at.0);
        if self.kind == Kind::Compaction {
            info.summary = Some(true);
            "compaction".clone_into(&mut info.mode);
            "compaction".clone_into(&mut info.agent);
        }
        w.add_message(&self.session, Info::Assistant(Box::new(info)));
        self.open = Some(id);
    }

    fn put(&self, w: &mut World, message: &str, body: Body) -> Part {
        let part = Part {
            id: w.ids.ascending("prt", self.at),
            session_id: self.session.clone(),
            message_id: message.to_owned(),
            body,
        };
        w.put_part(&part);
        part
    }

    fn end(&mut self, w: &mut World, end: &End) {
        let finish = match end {
            End::Open => return,
            End::Stop => Some("stop").filter(|_| self.kind != Kind::Shell),
            End::ToolCalls => Some("tool-calls"),
            End::Length => Some("length"),
            End::Unknown => Some("unknown"),
            End::ContentFilter => Some("content-filter"),
            End::Aborted | End::Blank | End::Unanswered | End::Error(_) => None,
        };
        let error = match end {
            End::Aborted => Some(ErrorInfo::aborted()),
            End::Error(fail) => Some(fail.status.map_or_else(
                || ErrorInfo::unknown(&fail.message),
                |status| ErrorInfo::api(&fail.message, status, false),
            )),
            _ => None,
        };
        let Some(message) = self.open.take() else {
            return;
        };
        let tokens = super::life::tokens(100, 10);
        if let Some(reason) = finish {
            self.output += 10;
            let step = Body::StepFinish {
                reason: reason.to_owned(),
                snapshot: Some(SNAPSHOT.to_owned()),
                cost: 0.0,
                tokens: tokens.clone(),
            };
            self.put(w, &message, step);
        }
        let completed = self.at.0;
        w.update_message(&self.session, &message, |info| {
            if let Info::Assistant(info) = info {
                info.time.completed = Some(completed);
                info.finish = finish.map(str::to_owned);
                info.error = error;
                if finish.is_some() {
                    info.tokens = tokens;
                }
            }
        });
    }

    fn step(&mut self, w: &mut World, seed: &StepSeed, keys: &Keys, now: UnixMs) {
        let Some(message) = self.open.clone() else {
            return;
        };
        let started = w
            .message(&self.session, &message)
            .is_some_and(|m| !m.parts.is_empty());
        let silent = matches!(
            seed.step,
            Step::Retry(_) | Step::Stall(_) | Step::Fail(_) | Step::Wait(_) | Step::Hold
        );
        if !started && !silent {
            let snapshot = Some(SNAPSHOT.to_owned());
            self.put(w, &message, Body::StepStart { snapshot });
        }
        let start = self.at.0;
        self.advance(now, seed.took.ms());
        let end = self.at.0;
        let span = EndedTime { start, end };
        // Ids and order follow the start of a part, not its end.
        self.at = UnixMs(start);
        let left = Left {
            seed,
            span,
            session: &self.session,
            model: &self.model,
            keys,
        };
        if let Some(body) = left.body(w) {
            let part = self.put(w, &message, body);
            if seed.ghost || (seed.open && asks(&seed.step)) {
                list_ask(w, &part, &self.directory, &seed.step);
            }
        }
        self.at = UnixMs(end);
    }
}
