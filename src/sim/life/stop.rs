//! How a run is stopped from outside, or ends with an error: early and double idle.
//!
//! What it does: `session.error`, idle, then, a moment later, the parts, the message and idle again; an
//! abort during a retry ends without any of the first. What it does not: remove asks; an abort leaves
//! them listed (ghosts). Invariant: nothing that is not running here is changed: after a crash an abort
//! has no effect on messages and parts.

use super::super::server::Server;
use super::super::wire::{Body, EndedTime, ErrorInfo, Info, Message, Part, Status, ToolState};
use super::super::world::{Outcome, World};
use super::model::{end_text, open_text};
use super::parts::{change_open, child_of, fail_part, object};
use super::{Turn, complete, report};
use serde_json::json;
use std::sync::Arc;
use tokio::time::sleep;

const ABORTED_BASH: &str = "<shell_metadata>\nUser aborted the command\n</shell_metadata>";

/// A run that was stopped and whose message is still to be ended.
pub(crate) struct Stopped {
    session: String,
    message: Option<String>,
    error: Option<ErrorInfo>,
    outcome: Outcome,
}

/// Stops the run of a session and of its subagents; the answer is always `true`. `directory` is where the
/// events of an unknown session go.
pub(crate) fn abort(server: &Arc<Server>, session: &str, directory: &str) {
    let stopped = server.world(|w| begin(w, session, directory));
    let later = server.clone();
    server.spawn(async move { settle_later(&later, stopped).await });
}

/// Stops every run of a directory and waits until all is settled.
pub(crate) async fn abort_directory(server: &Arc<Server>, directory: &str) {
    let stopped = server.world(|w| {
        w.live.permissions.retain(|p| p.directory != directory);
        w.live.questions.retain(|q| q.directory != directory);
        let here = |session: &String| w.directory(session).as_deref() == Some(directory);
        let running: Vec<_> = w.live.runs.keys().filter(|s| here(s)).cloned().collect();
        let stopped = running
            .iter()
            .flat_map(|s| begin(w, s, directory))
            .collect();
        w.live.statuses.retain(|_, (place, _)| place != directory);
        stopped
    });
    settle_later(server, stopped).await;
}

async fn settle_later(server: &Arc<Server>, stopped: Vec<Stopped>) {
    if stopped.is_empty() {
        return;
    }
    sleep(server.config.settle).await;
    server.world(|w| stopped.into_iter().for_each(|s| settle(w, s)));
}

fn begin(w: &mut World, session: &str, directory: &str) -> Vec<Stopped> {
    let Some(run) = w.live.runs.remove(session) else {
        idle_only(w, session, directory);
        return Vec::new();
    };
    if let Some(task) = run.task {
        task.abort();
    }
    let open = open_message(w, session).cloned();
    let children = open
        .iter()
        .flat_map(|m| m.parts.iter().filter_map(child_of));
    let children: Vec<_> = children.collect();
    let mut stopped: Vec<_> = Vec::new();
    for child in children {
        if w.live.runs.contains_key(&child) {
            stopped.extend(begin(w, &child, directory));
        }
    }
    let status = w.live.statuses.get(session).map(|(_, status)| status);
    let retrying = matches!(status, Some(Status::Retry { .. }));
    if !retrying {
        w.session_error(session, &ErrorInfo::aborted());
        w.set_idle(session);
    }
    stopped.push(Stopped {
        session: session.to_owned(),
        message: open.map(|m| m.info.id().to_owned()),
        error: (!retrying).then(ErrorInfo::aborted),
        outcome: Outcome::Aborted,
    });
    stopped
}

/// Nothing runs: idle events all the same, for ids that do not exist too. The run of a deleted session is
/// forgotten only through its old directory.
fn idle_only(w: &mut World, session: &str, directory: &str) {
    let zombie = w.live.statuses.get(session);
    let here = zombie.is_some_and(|(place, _)| place == directory);
    if w.directory(session).is_some() || here {
        w.set_idle(session);
    } else {
        let properties = json!({"sessionID": session, "status": Status::Idle});
        w.emit(directory, "session.status", &properties);
        w.emit(directory, "session.idle", &json!({"sessionID": session}));
    }
}

fn open_message<'a>(w: &'a World, session: &str) -> Option<&'a Message> {
    let last = w
        .sessions
        .get(session)?
        .messages
        .iter()
        .rfind(|m| is_answer(m))?;
    let open = matches!(&last.info, Info::Assistant(info) if info.time.completed.is_none());
    open.then_some(last)
}

fn is_answer(message: &Message) -> bool {
    matches!(message.info, Info::Assistant(_))
}

/// The second half: parts, message, idle again.
fn settle(w: &mut World, stopped: Stopped) {
    let session = &stopped.session;
    let message = stopped.message.as_deref();
    if let Some(found) = message.and_then(|message| w.message(session, message)) {
        for part in found.parts.clone() {
            end_part(w, &part);
        }
    }
    if let Some(message) = message {
        complete(w, session, message, stopped.error);
    }
    report(w, session, stopped.outcome);
    if !w.live.runs.contains_key(session) {
        w.set_idle(session);
    }
    let now = w.now().0;
    w.update_session(session, |info| info.time.updated = now);
}

fn end_part(w: &mut World, part: &Part) {
    match &part.body {
        Body::Tool { tool, state, .. } if state.is_open() => end_tool(w, part, tool, state),
        _ if open_text(part).is_some() => end_text(w, part),
        _ => {}
    }
}

fn end_tool(w: &mut World, part: &Part, tool: &str, state: &ToolState) {
    let began = match state {
        ToolState::Running { metadata, .. } => metadata.as_ref().and_then(|m| m.get("output")),
        _ => None,
    };
    let Some(output) = began.filter(|_| tool == "bash") else {
        let metadata = object([("interrupted", json!(true))]);
        return fail_part(w, part, "Tool execution aborted".to_owned(), Some(metadata));
    };
    let text = output.as_str().filter(|text| !text.is_empty());
    let output = format!("{}\n\n{ABORTED_BASH}", text.unwrap_or("(no output)"));
    let end = w.now().0;
    change_open(w, part, |input, start| ToolState::Completed {
        title: input
            .get("command")
            .and_then(|c| c.as_str())
            .unwrap_or_default()
            .to_owned(),
        metadata: object([
            ("output", json!(output)),
            ("exit", json!(null)),
            ("truncated", json!(false)),
        ]),
        input,
        output,
        time: EndedTime { start, end },
    });
}

/// A run ends itself with an error: the same two halves.
pub(super) async fn fail(turn: Turn, error: ErrorInfo) {
    let session = turn.session.clone();
    let outcome = Outcome::Failed(
        error.data["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    );
    let stopped = turn
        .act(|w| {
            w.live.runs.remove(&session);
            w.session_error(&session, &error);
            w.set_idle(&session);
            Stopped {
                session: session.clone(),
                message: turn.open.clone(),
                error: Some(error),
                outcome,
            }
        })
        .await;
    settle_later(&turn.server, vec![stopped]).await;
}
