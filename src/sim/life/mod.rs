//! Turns that live: a prompt comes in, a run plays its steps, asks and subagents are waited for.
//!
//! What it does: the loop of a run (status, messages, queued prompts, the end), with the events of the
//! real server in its order. What it does not: the single steps (`model`, `tools`) or the ways to stop
//! (`stop`). Invariant: a run that was stopped, or whose server died, changes nothing any more.

mod model;
pub(crate) mod parts;
mod prompt;
pub(crate) mod stop;
mod tools;

pub(crate) use model::delta;
pub(crate) use prompt::{Prompt, submit, user as user_info};

use super::script::{Step, from_prompt};
use super::server::Server;
use super::wire::{
    AssistantInfo, Author, Body, Diffs, ErrorInfo, Info, Message, ModelRef, Part, SNAPSHOT, Status,
    Tokens,
};
use super::world::{Outcome, World, no_changes};
use serde_json::json;
use std::sync::Arc;
use tokio::time::sleep;

/// A run of one session: what it answers and which message is open.
pub(crate) struct Turn {
    pub(crate) server: Arc<Server>,
    pub(crate) session: String,
    pub(crate) directory: String,
    /// Of the run; a run with another number has taken over if they differ.
    pub(crate) number: u64,
    /// The user message being answered.
    pub(crate) user: String,
    pub(crate) agent: String,
    pub(crate) model: ModelRef,
    /// The open assistant message.
    pub(crate) open: Option<String>,
    /// The last text, which a parent gets as result.
    pub(crate) text: String,
    /// Tokens written into the open message.
    pub(crate) written: u64,
}

/// What comes after a step.
pub(crate) enum Flow {
    /// The next step.
    Go,
    /// The turn ends: a person said no.
    Rejected,
    /// The turn ends with an error.
    Failed(ErrorInfo),
}

/// Starts the task of a run that [`World::start_run`] has entered.
pub(crate) fn launch(turn: Turn, steps: Vec<Step>, resume: bool) {
    let (server, session, number) = (turn.server.clone(), turn.session.clone(), turn.number);
    let task = server.clone().spawn(run(turn, steps, resume));
    server.world(|w| {
        if let Some(run) = w.live.runs.get_mut(&session)
            && run.number == number
        {
            run.task = task;
        }
    });
}

async fn run(mut turn: Turn, mut steps: Vec<Step>, mut resume: bool) {
    if !resume {
        sleep(turn.server.config.start_delay).await;
        let session = turn.session.clone();
        turn.act(|w| w.set_status(&session, Status::Busy)).await;
    }
    loop {
        match turn.play(steps, resume).await {
            Flow::Go => {}
            Flow::Rejected => return turn.finish(Outcome::Rejected).await,
            Flow::Failed(error) => return stop::fail(turn, error).await,
        }
        resume = false;
        match turn.next_prompt().await {
            Some(next) => steps = next,
            None => break,
        }
    }
    let text = std::mem::take(&mut turn.text);
    turn.finish(Outcome::Done(text)).await;
}

impl Turn {
    /// Changes the world, unless this run is over: then it never returns.
    pub(crate) async fn act<R>(&self, change: impl FnOnce(&mut World) -> R) -> R {
        let result = self.server.world(|w| {
            let run = w.live.runs.get(&self.session);
            let current = run.is_some_and(|run| run.number == self.number);
            current.then(|| change(w))
        });
        match result {
            Some(result) => result,
            None => std::future::pending().await,
        }
    }

    async fn play(&mut self, mut steps: Vec<Step>, resume: bool) -> Flow {
        let mut index = 0;
        let mut after_tool = false;
        while let Some(step) = steps.get(index).cloned() {
            let resumed = resume && index == 0;
            index += 1;
            self.prepare(&step).await;
            match self.step(&step, resumed).await {
                Flow::Go => {}
                Flow::Rejected => {
                    self.close("tool-calls").await;
                    return Flow::Rejected;
                }
                failed @ Flow::Failed(_) => return failed,
            }
            after_tool = step.is_tool();
            if after_tool {
                self.close("tool-calls").await;
                if let Some(next) = self.next_prompt().await {
                    steps = next;
                    index = 0;
                }
            }
        }
        if after_tool {
            self.open_step().await;
            self.say("tool finished").await;
        }
        self.close("stop").await;
        Flow::Go
    }

    /// Opens the message that a step needs.
    async fn prepare(&mut self, step: &Step) {
        match step {
            Step::Wait(_) | Step::Hold => {}
            Step::Retry(_) | Step::Stall(_) | Step::Fail(_) => self.open_message().await,
            Step::Text(_) | Step::Think(_) => self.open_step().await,
            Step::Bash(_) | Step::Tool(_) | Step::Question(_) | Step::Task(_) => {
                self.open_step().await;
            }
        }
    }

    async fn step(&mut self, step: &Step, resumed: bool) -> Flow {
        match step {
            Step::Text(text) => self.stream(text, false, resumed).await,
            Step::Think(text) => self.stream(text, true, resumed).await,
            Step::Bash(bash) => self.bash(bash, resumed).await,
            Step::Tool(tool) => self.tool(tool, resumed).await,
            Step::Question(question) => self.question(question, resumed).await,
            Step::Task(task) => self.task(task, resumed).await,
            Step::Retry(retry) => self.retry(retry).await,
            Step::Fail(fail) => model::failure(fail),
            Step::Wait(dur) | Step::Stall(dur) => self.pause(dur.duration()).await,
            Step::Hold => std::future::pending().await,
        }
    }

    async fn pause(&self, time: std::time::Duration) -> Flow {
        sleep(time).await;
        Flow::Go
    }

    /// An assistant message without parts, unless one is open.
    async fn open_message(&mut self) {
        if self.open.is_none() {
            let id = self.act(|w| open_message(w, self)).await;
            self.open = Some(id);
            self.written = 0;
        }
    }

    /// An open message whose step has begun.
    async fn open_step(&mut self) {
        self.open_message().await;
        let Some(message) = self.open.clone() else {
            return;
        };
        self.act(|w| {
            let empty = |m: &Message| m.parts.is_empty();
            if w.message(&self.session, &message).is_some_and(empty) {
                let snapshot = Some(SNAPSHOT.to_owned());
                let part = self.part(w, &message, Body::StepStart { snapshot });
                w.put_part(&part);
            }
        })
        .await;
    }

    fn author(&self) -> Author<'_> {
        Author {
            session: &self.session,
            user: &self.user,
            agent: &self.agent,
            model: &self.model,
            directory: &self.directory,
        }
    }

    /// A new part of a message.
    pub(crate) fn part(&self, world: &mut World, message: &str, body: Body) -> Part {
        let now = world.now();
        Part {
            id: world.ids.ascending("prt", now),
            session_id: self.session.clone(),
            message_id: message.to_owned(),
            body,
        }
    }

    /// Ends the open message: step-finish, finish, completed, busy again.
    async fn close(&mut self, finish: &str) {
        let Some(message) = self.open.take() else {
            return;
        };
        let tokens = tokens(100, self.written.max(10));
        self.act(|w| {
            let body = Body::StepFinish {
                reason: finish.to_owned(),
                snapshot: Some(SNAPSHOT.to_owned()),
                cost: 0.0,
                tokens: tokens.clone(),
            };
            let part = self.part(w, &message, body);
            w.put_part(&part);
            w.update_message(&self.session, &message, |info| {
                if let Info::Assistant(info) = info {
                    info.finish = Some(finish.to_owned());
                    info.tokens = tokens.clone();
                }
            });
            complete(w, &self.session, &message, None);
            add_tokens(w, &self.session, &tokens);
            w.set_status(&self.session, Status::Busy);
        })
        .await;
    }

    /// The steps of the newest prompt that came meanwhile; this turn answers it from now on.
    async fn next_prompt(&mut self) -> Option<Vec<Step>> {
        let (id, steps) = self.act(|w| queued(w, &self.session, &self.user)).await?;
        self.user = id;
        Some(steps)
    }

    /// The end of a run that went well.
    async fn finish(self, outcome: Outcome) {
        self.act(|w| {
            w.live.runs.remove(&self.session);
            report(w, &self.session, outcome);
            w.set_idle(&self.session);
            let now = w.now().0;
            w.update_session(&self.session, |info| info.time.updated = now);
            summarize(w, &self.session, &self.user);
        })
        .await;
    }
}

/// Tokens of a finished message.
pub(crate) fn tokens(input: u64, output: u64) -> Tokens {
    Tokens {
        total: Some(input + output),
        input,
        output,
        ..Tokens::default()
    }
}

fn add_tokens(world: &mut World, session: &str, tokens: &Tokens) {
    if let Some(stored) = world.sessions.get_mut(session) {
        stored.info.tokens.input += tokens.input;
        stored.info.tokens.output += tokens.output;
    }
}

/// Sets `time.completed`, and an error if there is one.
pub(crate) fn complete(w: &mut World, session: &str, message: &str, error: Option<ErrorInfo>) {
    let now = w.now().0;
    w.update_message(session, message, |info| {
        if let Info::Assistant(info) = info {
            info.time.completed = Some(now);
            info.error = error;
        }
    });
}

/// Tells a waiting parent how its child ended.
pub(crate) fn report(world: &mut World, session: &str, outcome: Outcome) {
    let stored = world.sessions.get(session);
    if stored.is_some_and(|s| s.info.parent_id.is_some()) {
        world.live.outcomes.insert(session.to_owned(), outcome);
    }
}

/// The noise around the beginning and the end of a turn.
fn summarize(world: &mut World, session: &str, user: &str) {
    if let Some(directory) = world.directory(session) {
        let properties = json!({"sessionID": session, "diff": []});
        world.emit(&directory, "session.diff", &properties);
    }
    world.update_message(session, user, |info| {
        if let Info::User(info) = info {
            info.summary = Some(Diffs::default());
        }
    });
}

fn open_message(world: &mut World, turn: &Turn) -> String {
    let now = world.now();
    let id = world.ids.ascending("msg", now);
    let info = AssistantInfo::open(id.clone(), turn.author(), now.0);
    let info = Info::Assistant(Box::new(info));
    world.add_message(&turn.session, info);
    world.update_session(&turn.session, |info| info.summary = Some(no_changes()));
    summarize(world, &turn.session, &turn.user);
    world.set_status(&turn.session, Status::Busy);
    id
}

fn queued(world: &mut World, session: &str, answered: &str) -> Option<(String, Vec<Step>)> {
    let stored = world.sessions.get(session)?;
    let newest = stored
        .messages
        .iter()
        .rev()
        .find(|m| matches!(m.info, Info::User(_)))?;
    let id = newest.info.id().to_owned();
    if id == answered {
        return None;
    }
    let text = newest.parts.iter().find_map(|part| match &part.body {
        Body::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let steps = from_prompt(text.unwrap_or_default());
    Some((id.clone(), world.live.scripts.remove(&id).unwrap_or(steps)))
}
