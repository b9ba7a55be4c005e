//! Frames of `GET /global/event` (and `GET /event`).
//!
//! What it does: decode one frame's data; tell kinds by a look at the first bytes. What it does
//! not: fail. Durable events come twice, the second time as `sync`: those are noise.

use super::lenient::field;
use super::literal::{Literal, excerpt};
use super::message::{self, WireFailure};
use super::{ask, part, session, todo};
use crate::core::id::{AskId, Directory, MessageId, PartId, SessionId};
use crate::core::wire::{AskKind, Event, EventKind, Failure, Status};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Stands at the end of a frame that was cut because it was larger than the cap. A raw NUL never
/// stands in JSON.
pub const OVERSIZED: char = '\0';

/// Kinds that are never looked at: the doubles of durable events, and whole-file diffs.
const DROPPED: [&str; 2] = ["sync", "session.diff"];

/// Known, and of no interest here.
const NOISE: [&str; 25] = [
    "sync",
    "session.diff",
    "session.compacted",
    "plugin.added",
    "catalog.updated",
    "project.updated",
    "project.directories.updated",
    "integration.updated",
    "integration.connection.updated",
    "reference.updated",
    "models-dev.refreshed",
    "global.disposed",
    "command.executed",
    "file.edited",
    "file.watcher.updated",
    "lsp.updated",
    "lsp.client.diagnostics",
    "mcp.tools.changed",
    "mcp.browser.open.failed",
    "vcs.branch.updated",
    "installation.updated",
    "installation.update-available",
    "server.instance.created",
    "permission.updated",
    "ide.installed",
];

/// Families that are known and of no interest: the preview API's own turns, terminals, the
/// server's own interface.
const NOISE_FAMILIES: [&str; 7] = [
    "session.next.",
    "pty.",
    "tui.",
    "workspace.",
    "worktree.",
    "permission.v2.",
    "question.v2.",
];

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    directory: Option<&'a RawValue>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    properties: Option<&'a RawValue>,
}

/// Whether a frame of this kind is dropped before it is read.
pub fn is_dropped(kind: &str) -> bool {
    DROPPED.contains(&kind)
}

/// The kind of a frame, told by its first bytes: `{"directory":…,"payload":{"id":…,"type":"KIND"`.
/// None when the bytes do not reach so far, or the frame is of another shape. An unescaped quote
/// ends every JSON string, so text inside a string is never taken for a key.
pub fn event_kind(head: &str) -> Option<&str> {
    let payload = match head.find("\"payload\":{") {
        Some(at) => &head[at + "\"payload\":{".len()..],
        None => head.trim_start().strip_prefix('{')?,
    };
    let rest = match payload.strip_prefix("\"id\":\"") {
        Some(id) => id.split_once("\",")?.1,
        None => payload,
    };
    let kind = rest.strip_prefix("\"type\":\"")?;
    Some(&kind[..kind.find('"')?])
}

/// The session that a frame is about, as far as its first bytes tell: what to read again when the
/// rest was cut.
pub fn session_hint(data: &str) -> Option<SessionId> {
    let rest = data.split_once("\"sessionID\":\"")?.1;
    let id = &rest[..rest.find('"')?];
    id.starts_with("ses").then(|| SessionId::from(id))
}

/// The envelope's directory of a frame whose rest was cut.
fn directory_hint(data: &str) -> Option<Directory> {
    let rest = data.strip_prefix("{\"directory\":")?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    values.next()?.ok().map(Directory::from)
}

/// Decodes the data of one frame.
pub fn decode_event(data: &str) -> Event {
    if data.ends_with(OVERSIZED) {
        let why = "larger than the cap, cut";
        return malformed(directory_hint(data), event_kind(data), &why);
    }
    let frame: Frame = match serde_json::from_str(data) {
        Ok(frame) => frame,
        Err(error) => return malformed(None, event_kind(data), &error),
    };
    let directory = frame
        .directory
        .and_then(text)
        .map(|it| Directory::from(&*it));
    let payload = match frame.payload.map(|raw| serde_json::from_str(raw.get())) {
        None => frame,
        Some(Ok(payload)) => payload,
        Some(Err(error)) => return malformed(directory, None, &error),
    };
    let Some(kind) = payload.kind.and_then(text) else {
        return malformed(directory, None, &"no type");
    };
    let properties = payload.properties.map_or("{}", RawValue::get);
    match decode_kind(&kind, properties) {
        Ok(kind) => Event { directory, kind },
        Err(error) => malformed(directory, Some(&kind), &error),
    }
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text>(raw.get()).ok().map(|it| it.0)
}

fn malformed(directory: Option<Directory>, kind: Option<&str>, why: &dyn ToString) -> Event {
    Event {
        directory,
        kind: EventKind::Malformed {
            kind: kind.map(excerpt),
            why: excerpt(&why.to_string()),
        },
    }
}

fn decode_kind(kind: &str, properties: &str) -> Result<EventKind, serde_json::Error> {
    match kind {
        "server.connected" => Ok(EventKind::Connected),
        "server.heartbeat" => Ok(EventKind::Heartbeat),
        "server.instance.disposed" => disposed(properties),
        "session.created" | "session.updated" => session_updated(properties),
        "session.deleted" => session_deleted(properties),
        "session.status" => status(properties),
        "session.idle" => idle(properties),
        "session.error" => session_error(properties),
        "message.updated" => message_updated(properties),
        "message.removed" => message_removed(properties),
        "message.part.updated" => part_updated(properties),
        "message.part.removed" => part_removed(properties),
        "message.part.delta" => delta(properties),
        "permission.asked" => asked(properties, AskKind::Permission),
        "question.asked" => asked(properties, AskKind::Question),
        "todo.updated" => todo_updated(properties),
        "permission.replied" | "question.replied" | "question.rejected" => closed(properties),
        _ => Ok(uninteresting(kind)),
    }
}

fn uninteresting(kind: &str) -> EventKind {
    if NOISE.contains(&kind) || NOISE_FAMILIES.iter().any(|it| kind.starts_with(it)) {
        EventKind::Noise
    } else {
        EventKind::Unknown {
            kind: excerpt(kind),
        }
    }
}

/// Properties of all the small events; each takes what it needs.
#[derive(Deserialize)]
struct Ids {
    #[serde(rename = "sessionID")]
    session: SessionId,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow)]
    info: &'a RawValue,
}

fn disposed(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire {
        directory: Directory,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(EventKind::InstanceDisposed(wire.directory))
}

fn session_updated(json: &str) -> Result<EventKind, serde_json::Error> {
    let wire: Info = serde_json::from_str(json)?;
    let info = session::decode_info(wire.info.get())?;
    Ok(EventKind::SessionUpdated(Box::new(info)))
}

fn session_deleted(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire {
        id: SessionId,
    }
    if let Ok(ids) = serde_json::from_str::<Ids>(json) {
        return Ok(EventKind::SessionDeleted(ids.session));
    }
    let wire: Info = serde_json::from_str(json)?;
    let info: Wire = serde_json::from_str(wire.info.get())?;
    Ok(EventKind::SessionDeleted(info.id))
}

fn status(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(borrow)]
        status: &'a RawValue,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(EventKind::Status {
        session: wire.session,
        status: session::status(wire.status.get())?,
    })
}

fn idle(json: &str) -> Result<EventKind, serde_json::Error> {
    let wire: Ids = serde_json::from_str(json)?;
    Ok(EventKind::Status {
        session: wire.session,
        status: Status::Idle,
    })
}

fn session_error(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(rename = "sessionID", default)]
        session: Option<SessionId>,
        error: WireFailure,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(EventKind::SessionError {
        session: wire.session,
        failure: Failure::from(wire.error),
    })
}

/// Who sends it may name the session in `info`, beside it, or in both places.
fn message_updated(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(rename = "sessionID", default, deserialize_with = "field")]
        session: Option<SessionId>,
        #[serde(borrow)]
        info: &'a RawValue,
    }
    let wire: Wire = serde_json::from_str(json)?;
    let info = message::decode_info(wire.info.get(), wire.session)?;
    Ok(EventKind::MessageUpdated(Box::new(info)))
}

fn message_removed(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(rename = "messageID")]
        message: MessageId,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(EventKind::MessageRemoved {
        session: wire.session,
        message: wire.message,
    })
}

fn part_updated(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(rename = "sessionID", default, deserialize_with = "field")]
        session: Option<SessionId>,
        #[serde(borrow)]
        part: &'a RawValue,
    }
    let wire: Wire = serde_json::from_str(json)?;
    let part = part::decode_alone(wire.part.get(), wire.session)?;
    Ok(EventKind::PartUpdated(Box::new(part)))
}

fn part_removed(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(rename = "messageID")]
        message: MessageId,
        #[serde(rename = "partID")]
        part: PartId,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(EventKind::PartRemoved {
        session: wire.session,
        message: wire.message,
        part: wire.part,
    })
}

fn delta(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(rename = "messageID")]
        message: MessageId,
        #[serde(rename = "partID")]
        part: PartId,
        #[serde(borrow, default)]
        delta: Option<&'a RawValue>,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(EventKind::Delta {
        session: wire.session,
        message: wire.message,
        part: wire.part,
        text: Literal::of(wire.delta).unwrap_or_default().excerpt,
    })
}

fn todo_updated(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(borrow)]
        todos: Vec<&'a RawValue>,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(EventKind::Todo {
        session: wire.session,
        items: todo::items(wire.todos).items,
    })
}

fn asked(json: &str, kind: AskKind) -> Result<EventKind, serde_json::Error> {
    Ok(EventKind::Asked(Box::new(ask::decode(json, kind)?)))
}

fn closed(json: &str) -> Result<EventKind, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(rename = "sessionID")]
        session: SessionId,
        #[serde(rename = "requestID", alias = "permissionID")]
        ask: AskId,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(EventKind::AskClosed {
        session: wire.session,
        ask: wire.ask,
    })
}
