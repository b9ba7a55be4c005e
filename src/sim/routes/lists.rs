//! Lists over sessions, and what the server says of itself.
//!
//! What it does: the three session lists with their different limits, orders and cursors, and what
//! each of them leaves out. What it does not: look into messages.
//! Invariant: `/global/health`, `/doc` and `/api/session` load no instance.

use super::super::server::Server;
use super::super::wire::SessionInfo;
use super::super::world::{Stored, World};
use super::place::{Place, normal};
use super::{Answer, Missing, ok};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::HeaderValue;
use axum::response::IntoResponse;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// `GET /global/health`.
pub(crate) async fn health(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(json!({"healthy": true, "version": server.config.version}))
}

/// `GET /doc`: enough to tell what it is; its own version is always 1.0.0.
pub(crate) fn document() -> Value {
    json!({
        "openapi": "3.1.1",
        "info": {"title": "opencode", "description": "opencode api", "version": "1.0.0"},
        "paths": {},
    })
}

/// `GET /path`.
pub(crate) async fn path(place: Place) -> Answer {
    place.boot().await;
    ok(json!({
        "home": "/home/dev",
        "state": "/home/dev/.local/state/opencode",
        "config": "/home/dev/.config/opencode",
        "worktree": place.directory,
        "directory": place.directory,
    }))
}

/// `GET /project`.
pub(crate) async fn projects(place: Place) -> Answer {
    place.boot().await;
    let list: Vec<_> = place.server.world(|w| {
        let of_sessions = w.sessions.values().map(|s| s.info.directory.clone());
        let directories: BTreeSet<_> = of_sessions.chain([place.directory.clone()]).collect();
        directories
            .iter()
            .map(|directory| w.project(directory))
            .collect()
    });
    ok(list)
}

/// `GET /mcp`.
pub(crate) async fn mcp(place: Place) -> Answer {
    place.boot().await;
    ok(place.server.world(|w| w.mcp.clone()))
}

/// `GET /config/providers`: the models that a prompt can name.
pub(crate) async fn providers(place: Place) -> Answer {
    place.boot().await;
    let models = place.server.world(|w| w.models.clone());
    let mut providers: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for model in models {
        let entry = providers.entry(model.provider_id).or_default();
        let id = model.model_id;
        entry.insert(id.clone(), json!({"id": id, "name": id}));
    }
    let each = providers.into_iter();
    let each = each.map(|(id, models)| json!({"id": id, "name": id, "models": models}));
    ok(json!({"providers": each.collect::<Vec<_>>(), "default": {}}))
}

/// `GET /session`: one directory, newest change first, 100 unless told; archived included.
pub(crate) async fn sessions(place: Place) -> Answer {
    let limit = place.count("limit")?.unwrap_or(100);
    place.boot().await;
    let rows = place.server.world(|w| {
        let mut rows = rows(w, |s| s.info.directory == place.directory);
        rows.sort_by_key(|info| std::cmp::Reverse(info.time.updated));
        rows
    });
    let roots = place.query("roots") == Some("true");
    let wanted = rows
        .into_iter()
        .filter(|info| !roots || info.parent_id.is_none());
    ok(wanted.take(limit).collect::<Vec<_>>())
}

fn rows(w: &World, wanted: impl Fn(&Stored) -> bool) -> Vec<SessionInfo> {
    let wanted = w.sessions.values().filter(|s| wanted(s));
    wanted.map(|s| s.info.clone()).collect()
}

/// `GET /experimental/session`: all projects, newest change first, 100 unless told, without archived ones.
/// The cursor is a time: rows of the same millisecond at a page's edge are skipped.
pub(crate) async fn experimental_sessions(place: Place) -> Answer {
    let limit = place.count("limit")?.unwrap_or(100);
    let cursor = place
        .count("cursor")?
        .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    let archived = place.query("archived") == Some("true");
    let directory = place.query("directory").map(normal);
    place.boot().await;
    let mut rows = place.server.world(|w| {
        rows(w, |s| {
            (archived || s.info.time.archived.is_none())
                && directory.as_ref().is_none_or(|d| *d == s.info.directory)
                && cursor.is_none_or(|ms| s.info.time.updated < ms)
        })
    });
    rows.sort_by_key(|info| std::cmp::Reverse(info.time.updated));
    let more = rows.len() > limit;
    rows.truncate(limit);
    let mut headers = HeaderMap::new();
    if let Some(last) = rows.last().filter(|_| more) {
        headers.insert("x-next-cursor", HeaderValue::from(last.time.updated));
    }
    let body: Vec<_> = rows.iter().map(with_project).collect();
    Ok((headers, Json(body)).into_response())
}

fn with_project(info: &SessionInfo) -> Value {
    let project = json!({"id": info.project_id, "worktree": info.directory});
    let mut row = json!(info);
    row["project"] = project;
    row
}

/// An end of a page of `/api/session`.
#[derive(Debug)]
struct Anchor {
    id: String,
    time: i64,
    previous: bool,
}

impl Anchor {
    fn of(info: &SessionInfo, direction: &str) -> String {
        let anchor = json!({"anchor": {
            "id": info.id, "time": info.time.created, "direction": direction,
        }});
        URL_SAFE_NO_PAD.encode(anchor.to_string())
    }
    fn decode(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let anchor = value.get("anchor")?;
        Some(Self {
            id: anchor.get("id")?.as_str()?.to_owned(),
            time: anchor.get("time")?.as_i64()?,
            previous: anchor.get("direction")? == "previous",
        })
    }
    fn wants(&self, info: &SessionInfo) -> bool {
        let (row, edge) = ((info.time.created, &info.id), (self.time, &self.id));
        if self.previous {
            row > edge
        } else {
            row < edge
        }
    }
}

/// `GET /api/session`: all projects, newest first, 50 unless told, archived included; loads nothing.
pub(crate) async fn api_sessions(place: Place) -> Answer {
    let limit = place.count("limit")?.unwrap_or(50).max(1);
    let anchor = match place.query("cursor") {
        Some(text) => Some(Anchor::decode(text).ok_or(Missing::ApiCursor)?),
        None => None,
    };
    let mut rows = place.server.world(|w| {
        rows(w, |s| {
            anchor.as_ref().is_none_or(|anchor| anchor.wants(&s.info))
        })
    });
    rows.sort_by(|a, b| (b.time.created, &b.id).cmp(&(a.time.created, &a.id)));
    if anchor.is_some_and(|anchor| anchor.previous) {
        rows = rows.split_off(rows.len().saturating_sub(limit));
    }
    rows.truncate(limit);
    let mut cursor = Map::new();
    if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
        cursor.insert("previous".to_owned(), json!(Anchor::of(first, "previous")));
        cursor.insert("next".to_owned(), json!(Anchor::of(last, "next")));
    }
    let data: Vec<_> = rows.iter().map(preview).collect();
    ok(json!({"data": data, "cursor": cursor}))
}

/// A row in the preview's shape.
fn preview(info: &SessionInfo) -> Value {
    let mut row = json!({
        "id": info.id,
        "projectID": info.project_id,
        "cost": info.cost,
        "tokens": info.tokens,
        "time": info.time,
        "title": info.title,
        "location": {"directory": info.directory},
    });
    let optional = [
        ("parentID", json!(info.parent_id)),
        ("agent", json!(info.agent)),
        ("model", json!(info.model)),
        ("revert", json!(info.revert)),
    ];
    for (key, value) in optional.into_iter().filter(|(_, value)| !value.is_null()) {
        row[key] = value;
    }
    row
}

/// `POST /sync/history`: the full history of every session that is not named, of the others what is
/// newer than the number given. The history is made up from the present state: one event per session,
/// message and part.
pub(crate) async fn history(place: Place, body: Bytes) -> Answer {
    let known: Map<String, Value> = serde_json::from_slice(&body)
        .map_err(|_| Missing::Bad("Expected object\n  at []".to_owned(), "Body"))?;
    if let Some((id, _)) = known.iter().find(|(_, seq)| seq.as_u64().is_none()) {
        let text = format!("Expected a value greater than or equal to 0\n  at [\"{id}\"]");
        return Err(Missing::Bad(text, "Body"));
    }
    place.boot().await;
    let events: Vec<Value> = place.server.world(|w| {
        let all = w.sessions.values().flat_map(|stored| {
            let after = known.get(&stored.info.id).and_then(Value::as_u64);
            let events = durable_events(stored).into_iter().enumerate();
            let newer = move |seq: usize| after.is_none_or(|after| seq as u64 > after);
            events
                .filter(move |(seq, _)| newer(*seq))
                .map(|(seq, mut event)| {
                    event["seq"] = json!(seq);
                    event
                })
        });
        all.collect()
    });
    ok(events)
}

fn durable_events(stored: &Stored) -> Vec<Value> {
    let session = &stored.info.id;
    let event = |about: &str, kind: &str, data: Value| {
        let tail = about.split_once('_').map_or(about, |(_, tail)| tail);
        json!({"id": format!("evt_{tail}"), "aggregate_id": session, "type": kind, "data": data})
    };
    let data = json!({"sessionID": session, "info": stored.info});
    let mut events = vec![event(session, "session.created.1", data)];
    for message in &stored.messages {
        let data = json!({"sessionID": session, "info": message.info});
        events.push(event(message.info.id(), "message.updated.1", data));
        for part in &message.parts {
            let data = json!({"sessionID": session, "part": part, "time": message.info.created()});
            events.push(event(&part.id, "message.part.updated.1", data));
        }
    }
    events
}
