//! One session: create, read, change, delete, fork, revert; and the status map.
//!
//! What it does: the traps around a run (409 for revert, a zombie after DELETE). What it does not: messages
//! and lists.

use super::super::date;
use super::super::ids::Ids;
use super::super::wire::{Info, Message, Status};
use super::super::world::{NewSession, Stored, World};
use super::place::Place;
use super::{Answer, Missing, ok};
use axum::body::Bytes;
use axum::extract::Path;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `POST /session`.
pub(crate) async fn create(place: Place, body: Bytes) -> Answer {
    #[derive(Deserialize, Default)]
    struct Wanted {
        title: Option<String>,
        #[serde(rename = "parentID")]
        parent: Option<String>,
        permission: Option<Value>,
    }
    let wanted: Wanted = if body.is_empty() {
        Wanted::default()
    } else {
        serde_json::from_slice(&body).map_err(|_| bad_body())?
    };
    place.boot().await;
    place.server.world(|w| {
        let created = w.now();
        let default = format!("New session - {}", date::iso(created));
        let id = w.create_session(NewSession {
            directory: place.directory.clone(),
            title: wanted.title.unwrap_or(default),
            parent: wanted.parent,
            permission: wanted.permission,
            agent: None,
            created,
        });
        row(w, &id)
    })
}

fn bad_body() -> Missing {
    Missing::Bad("Expected object\n  at []".to_owned(), "Body")
}

fn row(w: &World, id: &str) -> Answer {
    let stored = w.sessions.get(id);
    ok(&stored.ok_or_else(|| Missing::Session(id.to_owned()))?.info)
}

/// `GET /session/:id`.
pub(crate) async fn read(place: Place, Path(id): Path<String>) -> Answer {
    place.session(&id).await?;
    place.server.world(|w| row(w, &id))
}

/// `PATCH /session/:id`: title and `time.archived`.
pub(crate) async fn update(place: Place, Path(id): Path<String>, body: Bytes) -> Answer {
    let change: Value = serde_json::from_slice(&body).map_err(|_| bad_body())?;
    place.session(&id).await?;
    place.server.world(|w| {
        w.update_session(&id, |info| {
            if let Some(title) = change["title"].as_str() {
                title.clone_into(&mut info.title);
            }
            if let Some(archived) = change["time"]["archived"].as_i64() {
                info.time.archived = Some(archived);
            }
        });
        row(w, &id)
    })
}

/// `DELETE /session/:id`: works while it runs, and leaves its status behind.
pub(crate) async fn delete(place: Place, Path(id): Path<String>) -> Answer {
    place.session(&id).await?;
    place.server.world(|w| {
        let stored = w.sessions.get(&id);
        let info = stored
            .ok_or_else(|| Missing::Session(id.clone()))?
            .info
            .clone();
        let properties = json!({"sessionID": id, "info": info});
        w.emit_durable(&id, "session.deleted", &properties);
        w.sessions.remove(&id);
        if let Some(task) = w.live.runs.remove(&id).and_then(|run| run.task) {
            task.abort();
        }
        ok(true)
    })
}

/// `GET /session/:id/children`.
pub(crate) async fn children(place: Place, Path(id): Path<String>) -> Answer {
    place.session(&id).await?;
    let list: Vec<_> = place.server.world(|w| {
        let children = w.children(&id).into_iter();
        children.map(|s| s.info.clone()).collect()
    });
    ok(list)
}

/// `GET /session/:id/todo`.
pub(crate) async fn todo(place: Place, Path(id): Path<String>) -> Answer {
    place.session(&id).await?;
    let todos = place
        .server
        .world(|w| w.sessions.get(&id).map(|s| s.todos.clone()));
    ok(todos.unwrap_or_default())
}

/// `GET /session/status`: one directory's; idle sessions are absent.
pub(crate) async fn status(place: Place) -> Answer {
    place.boot().await;
    let map: BTreeMap<String, Status> = place.server.world(|w| {
        let all = w.live.statuses.iter();
        let here = all.filter(|(_, (directory, _))| *directory == place.directory);
        here.map(|(id, (_, status))| (id.clone(), status.clone()))
            .collect()
    });
    ok(map)
}

#[derive(Deserialize, Default)]
struct MessageRef {
    #[serde(rename = "messageID")]
    message: Option<String>,
}

/// `POST /session/:id/fork`: a copy without the messages from `messageID` on; running parts are copied too.
pub(crate) async fn fork(place: Place, Path(id): Path<String>, body: Bytes) -> Answer {
    let until: MessageRef = serde_json::from_slice(&body).unwrap_or_default();
    place.session(&id).await?;
    place.server.world(|w| {
        let source = w.sessions.get(&id).cloned();
        let source = source.ok_or_else(|| Missing::Session(id.clone()))?;
        let fork = copy(w, &source, until.message.as_deref());
        row(w, &fork)
    })
}

fn copy(w: &mut World, source: &Stored, until: Option<&str>) -> String {
    let stem = format!("{} (fork #", source.info.title);
    let taken = w
        .sessions
        .values()
        .filter(|s| s.info.title.starts_with(&stem));
    let number = taken.count() + 1;
    let created = w.now();
    let id = w.create_session(NewSession {
        directory: source.info.directory.clone(),
        title: format!("{stem}{number})"),
        agent: source.info.agent.clone(),
        created,
        ..NewSession::default()
    });
    w.update_session(&id, |info| info.model.clone_from(&source.info.model));
    let kept = source
        .messages
        .iter()
        .take_while(|m| Some(m.info.id()) != until);
    let mut renamed = BTreeMap::new();
    for message in kept {
        copy_message(w, &id, message, &mut renamed);
    }
    id
}

fn copy_message(
    w: &mut World,
    session: &str,
    message: &Message,
    renamed: &mut BTreeMap<String, String>,
) {
    let now = w.now();
    let id = w.ids.ascending("msg", now);
    renamed.insert(message.info.id().to_owned(), id.clone());
    let mut info = message.info.clone();
    match &mut info {
        Info::User(info) => {
            info.id.clone_from(&id);
            session.clone_into(&mut info.session_id);
        }
        Info::Assistant(info) => {
            info.id.clone_from(&id);
            session.clone_into(&mut info.session_id);
            if let Some(parent) = renamed.get(&info.parent_id) {
                info.parent_id.clone_from(parent);
            }
        }
    }
    w.add_message(session, info);
    for part in &message.parts {
        let mut part = part.clone();
        part.id = new_part(&mut w.ids, now);
        session.clone_into(&mut part.session_id);
        part.message_id.clone_from(&id);
        w.put_part(&part);
    }
}

fn new_part(ids: &mut Ids, now: crate::core::time::UnixMs) -> String {
    ids.ascending("prt", now)
}

/// `POST /session/:id/revert`; 409 while busy.
pub(crate) async fn revert(place: Place, Path(id): Path<String>, body: Bytes) -> Answer {
    let wanted: MessageRef = serde_json::from_slice(&body).unwrap_or_default();
    let message = wanted
        .message
        .ok_or_else(|| Missing::Bad("Missing key\n  at [\"messageID\"]".to_owned(), "Body"))?;
    place.session(&id).await?;
    place.server.world(|w| {
        still(w, &id)?;
        w.update_session(&id, |info| {
            info.revert = Some(json!({"messageID": message}));
        });
        row(w, &id)
    })
}

/// `POST /session/:id/unrevert`; 409 while busy.
pub(crate) async fn unrevert(place: Place, Path(id): Path<String>) -> Answer {
    place.session(&id).await?;
    place.server.world(|w| {
        still(w, &id)?;
        w.update_session(&id, |info| info.revert = None);
        row(w, &id)
    })
}

/// 409 while the session is busy.
pub(crate) fn still(w: &World, session: &str) -> Result<(), Missing> {
    if w.live.statuses.contains_key(session) {
        return Err(Missing::Busy(session.to_owned()));
    }
    Ok(())
}
