//! Frames of `GET /api/event`.
//!
//! What it does: decode one frame into what the store takes at once (who runs, what is asked, text
//! that comes), and say what it makes stale. What it does not: fail, or carry messages: 2.x tells
//! of them in small steps, so a tail is read again instead. Envelope: `{id, created, type,
//! location?, data}`; no frame is repeated, and gaps in `durable.seq` are normal.

use super::ask;
use super::content::part_id;
use super::message::WireError2;
use crate::core::id::{AskId, CallId, Directory, MessageId, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::v1::lenient::{Number, field, ms};
use crate::core::wire::v1::literal::{Literal, excerpt};
use crate::core::wire::v1::message::WireModel;
use crate::core::wire::v1::{OVERSIZED, session_hint};
use crate::core::wire::{
    Ask, Event, EventKind, Failure, ModelRef, Retry, SessionInfo, Status, Tokens,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Known, and of no interest here.
const NOISE: [&str; 18] = [
    "agent.updated",
    "command.updated",
    "integration.updated",
    "model.updated",
    "plugin.updated",
    "project.updated",
    "provider.updated",
    "reference.updated",
    "session.instructions.updated",
    "session.usage.updated",
    "shell.created",
    "shell.deleted",
    "shell.exited",
    "skill.updated",
    "vcs.branch.updated",
    "websearch.updated",
    "worktree.resolved",
    "server.heartbeat",
];

/// Steps of a turn and of the inbox: known, and worth a look at the tail.
const STEPS: [&str; 9] = [
    "session.text.",
    "session.reasoning.",
    "session.tool.",
    "session.step.",
    "session.inbox.",
    "session.compaction.",
    "session.shell.",
    "session.retry.",
    "session.execution.",
];

/// What a frame says.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// For the store.
    pub event: Event,
    /// What must be read again.
    pub touch: Touch,
}

/// What a frame makes stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// Nothing that is kept.
    Nothing,
    /// The row of a session.
    Row(SessionId),
    /// The messages and the inbox of a session.
    Tail(SessionId),
    /// A run of a session began or ended: its row, messages and inbox; at an end its asks are gone.
    Run(SessionId),
    /// A running call told of itself what no body holds.
    Progress {
        /// Whose call.
        session: SessionId,
        /// Which.
        call: CallId,
        /// The child that it runs.
        child: Option<SessionId>,
        /// Its command was started, so it waits for no permission (any more).
        begun: bool,
    },
    /// A call ended: what it asked is gone, for which 2.x has no event after an interrupt.
    Call {
        /// Whose.
        session: SessionId,
        /// Which.
        call: CallId,
    },
    /// A location was shut down.
    Location,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, deserialize_with = "field")]
    created: Option<Number>,
    #[serde(default, deserialize_with = "field")]
    location: Option<Location>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Location {
    directory: Directory,
}

/// Decodes the data of one frame.
pub fn decode_event(data: &str) -> Heard {
    if data.ends_with(OVERSIZED) {
        return malformed(data, None, None, &"larger than the cap, cut");
    }
    let frame: Frame = match serde_json::from_str(data) {
        Ok(frame) => frame,
        Err(error) => return malformed(data, None, None, &error),
    };
    // That a location was shut down is no evidence that it is loaded.
    let here = frame.location.filter(|_| frame.kind != "location.shutdown");
    let directory = here.map(|it| it.directory);
    let body = frame.data.map_or("{}", RawValue::get);
    let created = frame.created.map(ms).unwrap_or_default();
    match decode_kind(&frame.kind, body, created) {
        Ok((kind, touch)) => Heard {
            event: Event { directory, kind },
            touch,
        },
        Err(error) => malformed(data, directory, Some(&frame.kind), &error),
    }
}

fn malformed(
    data: &str,
    directory: Option<Directory>,
    kind: Option<&str>,
    why: &dyn ToString,
) -> Heard {
    let kind = EventKind::Malformed {
        kind: kind.map(excerpt),
        why: excerpt(&why.to_string()),
    };
    Heard {
        event: Event { directory, kind },
        touch: session_hint(data).map_or(Touch::Nothing, Touch::Run),
    }
}

type Told = Result<(EventKind, Touch), serde_json::Error>;

fn decode_kind(kind: &str, json: &str, created: UnixMs) -> Told {
    match kind {
        "server.connected" => Ok((EventKind::Connected, Touch::Nothing)),
        "location.shutdown" => Ok((EventKind::Noise, Touch::Location)),
        "session.created" => session_created(json, created),
        "session.deleted" => {
            let session = ids(json)?.session;
            Ok((EventKind::SessionDeleted(session), Touch::Nothing))
        }
        "session.renamed" => Ok((EventKind::Noise, Touch::Row(ids(json)?.session))),
        "session.execution.started" => run(json, Status::Busy),
        "session.execution.succeeded"
        | "session.execution.failed"
        | "session.execution.interrupted" => run(json, Status::Idle),
        "session.retry.scheduled" => retry_scheduled(json),
        "session.step.started" => {
            let session = ids(json)?.session;
            let touch = Touch::Tail(session.clone());
            // It ends the wait for a retry, if there was one.
            let status = Status::Busy;
            Ok((EventKind::Status { session, status }, touch))
        }
        "session.text.delta" => delta(json, "text"),
        "session.reasoning.delta" => delta(json, "reasoning"),
        "session.compaction.delta" => compaction_delta(json),
        "session.tool.progress" => progress(json),
        "session.tool.success" | "session.tool.failed" => call_ended(json),
        "permission.asked" => Ok(asked(ask::permission(json)?)),
        "form.created" => form_created(json),
        "permission.replied" | "form.replied" | "form.cancelled" => closed(json),
        _ => other(kind, json),
    }
}

fn other(kind: &str, json: &str) -> Told {
    if NOISE.contains(&kind) {
        return Ok((EventKind::Noise, Touch::Nothing));
    }
    if STEPS.iter().any(|it| kind.starts_with(it)) {
        return Ok((EventKind::Noise, Touch::Tail(ids(json)?.session)));
    }
    // Something happened to a session that we have no words for: all of it is looked at again.
    let touch = ids(json).map_or(Touch::Nothing, |it| Touch::Run(it.session));
    let kind = excerpt(kind);
    Ok((EventKind::Unknown { kind }, touch))
}

#[derive(Deserialize)]
struct Ids {
    #[serde(rename = "sessionID")]
    session: SessionId,
}

fn ids(json: &str) -> Result<Ids, serde_json::Error> {
    serde_json::from_str(json)
}

fn run(json: &str, status: Status) -> Told {
    let session = ids(json)?.session;
    let touch = Touch::Run(session.clone());
    Ok((EventKind::Status { session, status }, touch))
}

/// A new session: all of its row that the event tells. Its costs are 0.
fn session_created(json: &str, created: UnixMs) -> Told {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(rename = "sessionID")]
        session: SessionId,
        location: Location,
        #[serde(rename = "parentID", default, deserialize_with = "field")]
        parent: Option<SessionId>,
        #[serde(default, deserialize_with = "field")]
        title: Option<String>,
        #[serde(default, deserialize_with = "field")]
        agent: Option<String>,
        #[serde(default, deserialize_with = "field")]
        model: Option<WireModel>,
    }
    let wire: Wire = serde_json::from_str(json)?;
    let touch = Touch::Row(wire.session.clone());
    let info = SessionInfo {
        id: wire.session,
        title: wire.title.unwrap_or_default(),
        directory: wire.location.directory,
        parent: wire.parent,
        agent: wire.agent,
        model: wire.model.map(ModelRef::from),
        created,
        updated: created,
        archived: None,
        reverted: false,
        cost: 0.0,
        tokens: Tokens::default(),
    };
    Ok((EventKind::SessionUpdated(Box::new(info)), touch))
}

/// `{attempt, at, error}`: `attempt` is the number of the one to come, so the first retry is 2.
#[derive(Deserialize)]
pub(super) struct WireRetry {
    attempt: Number,
    at: Number,
    #[serde(default, deserialize_with = "field")]
    error: Option<WireError2>,
}

/// In the neutral form the first retry is 1, as in 1.x.
pub(super) fn retry(wire: WireRetry) -> Retry {
    let attempt = wire.attempt.count().saturating_sub(1).max(1);
    let failure = wire.error.map(Failure::from);
    Retry {
        attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
        message: failure.map_or_else(String::new, |it| it.message),
        next: Some(ms(wire.at)),
        action: None,
    }
}

fn retry_scheduled(json: &str) -> Told {
    let session = ids(json)?.session;
    let wire: WireRetry = serde_json::from_str(json)?;
    let touch = Touch::Tail(session.clone());
    let status = Status::Retry(retry(wire));
    Ok((EventKind::Status { session, status }, touch))
}

fn delta(json: &str, kind: &str) -> Told {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(rename = "assistantMessageID")]
        message: MessageId,
        #[serde(default, deserialize_with = "field")]
        ordinal: Option<Number>,
        #[serde(borrow, default)]
        delta: Option<&'a RawValue>,
    }
    let wire: Wire = serde_json::from_str(json)?;
    let ordinal = wire.ordinal.map_or(0, Number::count);
    let kind = EventKind::Delta {
        part: part_id(&wire.message, &format!("{kind}:{ordinal}")),
        session: wire.session,
        message: wire.message,
        text: Literal::of(wire.delta).unwrap_or_default().excerpt,
    };
    Ok((kind, Touch::Nothing))
}

/// `{sessionID, text}`: it names no message, but is progress of the session.
fn compaction_delta(json: &str) -> Told {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(borrow, default)]
        text: Option<&'a RawValue>,
    }
    let wire: Wire = serde_json::from_str(json)?;
    let message = MessageId::from("compaction");
    let kind = EventKind::Delta {
        part: part_id(&message, "text:0"),
        session: wire.session,
        message,
        text: Literal::of(wire.text).unwrap_or_default().excerpt,
    };
    Ok((kind, Touch::Nothing))
}

#[derive(Deserialize)]
struct WireCall {
    #[serde(rename = "sessionID")]
    session: SessionId,
    id: CallId,
    #[serde(default, deserialize_with = "field")]
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(rename = "sessionID", default, deserialize_with = "field")]
    child: Option<SessionId>,
    #[serde(rename = "shellID", default, deserialize_with = "field")]
    shell: Option<String>,
}

fn progress(json: &str) -> Told {
    let wire: WireCall = serde_json::from_str(json)?;
    let metadata = wire.metadata;
    let touch = Touch::Progress {
        session: wire.session,
        call: wire.id,
        begun: metadata.as_ref().is_some_and(|it| it.shell.is_some()),
        child: metadata.and_then(|it| it.child),
    };
    Ok((EventKind::Noise, touch))
}

fn call_ended(json: &str) -> Told {
    let wire: WireCall = serde_json::from_str(json)?;
    let touch = Touch::Call {
        session: wire.session,
        call: wire.id,
    };
    Ok((EventKind::Noise, touch))
}

fn asked(ask: Ask) -> (EventKind, Touch) {
    (EventKind::Asked(Box::new(ask)), Touch::Nothing)
}

fn form_created(json: &str) -> Told {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow)]
        form: &'a RawValue,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(asked(ask::form(wire.form.get())?))
}

fn closed(json: &str) -> Told {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(rename = "requestID", alias = "id")]
        ask: AskId,
    }
    let wire: Wire = serde_json::from_str(json)?;
    let kind = EventKind::AskClosed {
        session: wire.session,
        ask: wire.ask,
    };
    Ok((kind, Touch::Nothing))
}
