//! Messages and parts of a session: pages, single ones, repair.
//!
//! What it does: the newest N, ascending inside the page, with cursors in the headers; PATCH of a whole
//! part with the real server's checks. What it does not: show text that still streams.
//! Invariant: a page never repeats a message of the page before.

use super::super::wire::{Message, Part};
use super::place::Place;
use super::sessions::still;
use super::{Answer, Missing, ok};
use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::IntoResponse;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// The oldest message of a page.
#[derive(Serialize, Deserialize)]
struct Cursor {
    id: String,
    time: i64,
}

impl Cursor {
    fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }
    fn decode(text: &str) -> Option<Self> {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }
    fn is_after(&self, message: &Message) -> bool {
        (message.info.created(), message.info.id()) < (self.time, self.id.as_str())
    }
}

/// `GET /session/:id/message`.
pub(crate) async fn list(place: Place, Path(id): Path<String>) -> Answer {
    let limit = place.count("limit")?.filter(|limit| *limit > 0);
    let before = place.query("before").map(Cursor::decode);
    let before = match (before, limit) {
        (Some(None), _) | (Some(_), None) => return Err(Missing::Cursor),
        (before, _) => before.flatten(),
    };
    place.session(&id).await?;
    let (page, more) = place.server.world(|w| {
        let all = w.sessions.get(&id).map_or(&[][..], |s| &s.messages);
        let older = |m: &&Message| before.as_ref().is_none_or(|b| b.is_after(m));
        let mut page: Vec<_> = all.iter().filter(older).cloned().collect();
        page.sort_by(|a, b| key(a).cmp(&key(b)));
        let cut = page.len().saturating_sub(limit.unwrap_or(page.len()));
        (page.split_off(cut), cut > 0)
    });
    let headers = if more {
        links(&place, &id, limit, &page)
    } else {
        HeaderMap::new()
    };
    Ok((headers, Json(page)).into_response())
}

fn key(message: &Message) -> (i64, &str) {
    (message.info.created(), message.info.id())
}

fn links(place: &Place, session: &str, limit: Option<usize>, page: &[Message]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let Some(oldest) = page.first() else {
        return headers;
    };
    let cursor = Cursor {
        id: oldest.info.id().to_owned(),
        time: oldest.info.created(),
    };
    let cursor = cursor.encode();
    let (host, limit) = (&place.host, limit.unwrap_or(0));
    let link = format!(
        "<http://{host}/session/{session}/message?limit={limit}&before={cursor}>; rel=\"next\""
    );
    let exposed = HeaderValue::from_static("Link, X-Next-Cursor");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    for (name, value) in [("link", link), ("x-next-cursor", cursor)] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    headers
}

/// `GET /session/:id/message/:message`.
pub(crate) async fn read(place: Place, Path((id, message)): Path<(String, String)>) -> Answer {
    place.session(&id).await?;
    let found = place.server.world(|w| w.message(&id, &message).cloned());
    ok(found.ok_or(Missing::Thing(message))?)
}

/// `DELETE /session/:id/message/:message`; 409 while busy.
pub(crate) async fn delete(place: Place, Path((id, message)): Path<(String, String)>) -> Answer {
    place.session(&id).await?;
    place.server.world(|w| {
        still(w, &id)?;
        if w.remove_message(&id, &message) {
            ok(true)
        } else {
            Err(Missing::Thing(message))
        }
    })
}

type PartPath = Path<(String, String, String)>;

/// `DELETE …/part/:part`; also while busy.
pub(crate) async fn delete_part(place: Place, Path((id, message, part)): PartPath) -> Answer {
    place.session(&id).await?;
    let removed = place.server.world(|w| w.remove_part(&id, &message, &part));
    if removed {
        ok(true)
    } else {
        Err(Missing::Thing(part))
    }
}

/// `PATCH …/part/:part`: the whole part, checked; also while busy.
pub(crate) async fn patch_part(
    place: Place,
    Path((id, message, part)): PartPath,
    body: Bytes,
) -> Answer {
    let new: Part = serde_json::from_slice(&body).map_err(|error| bad_part(&error.to_string()))?;
    if new.id != part || new.message_id != message || new.session_id != id {
        let text = "Part id, message id and session id must be those of the path\n  at [\"id\"]";
        return Err(Missing::Bad(text.to_owned(), "Body"));
    }
    place.session(&id).await?;
    place.server.world(|w| {
        let found = w.message(&id, &message).is_some();
        if !found {
            return Err(Missing::Thing(message));
        }
        w.put_part(&new);
        ok(new)
    })
}

/// Names the missing key, as the real server does.
fn bad_part(error: &str) -> Missing {
    let key = error
        .split('`')
        .nth(1)
        .filter(|_| error.starts_with("missing field"));
    let in_state = [
        "input", "error", "time", "output", "title", "metadata", "status",
    ];
    let text = match key {
        Some(key) if in_state.contains(&key) => {
            format!("Missing key\n  at [\"state\"][\"{key}\"]")
        }
        Some(key @ ("start" | "end")) => {
            format!("Missing key\n  at [\"state\"][\"time\"][\"{key}\"]")
        }
        Some(key) => format!("Missing key\n  at [\"{key}\"]"),
        None => format!("{error}\n  at []"),
    };
    Missing::Bad(text, "Body")
}
