//! Sessions and their reported status.
//!
//! What it does: decode rows of `/session`, `/experimental/session` and `/api/session` (the same
//! rows in another wrapping) and `GET /session/status`. What it does not: decide what is missing;
//! a session absent from a status is idle, and says so nowhere.

use super::lenient::{Number, Pairs, Times, field, ms};
use super::literal::excerpt;
use super::message::{WireModel, WireTokens};
use super::{Decoded, WireError, each, rows, shape, text_of};
use crate::core::id::{Directory, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::{ModelRef, Retry, SessionInfo, Status, Tokens};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct WireSession<'a> {
    id: SessionId,
    #[serde(default, deserialize_with = "field")]
    title: Option<String>,
    #[serde(default, deserialize_with = "field")]
    directory: Option<Directory>,
    #[serde(default, deserialize_with = "field")]
    location: Option<WireLocation>,
    #[serde(rename = "parentID", default, deserialize_with = "field")]
    parent: Option<SessionId>,
    #[serde(default, deserialize_with = "field")]
    agent: Option<String>,
    #[serde(default, deserialize_with = "field")]
    model: Option<WireModel>,
    time: Times,
    #[serde(borrow, default)]
    revert: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "field")]
    cost: Option<Number>,
    #[serde(default, deserialize_with = "field")]
    tokens: Option<WireTokens>,
}

#[derive(Deserialize)]
struct WireLocation {
    directory: Directory,
}

/// One row of a list, the body of `GET /session/:id`, or the `info` of a session event.
pub(in crate::core::wire) fn decode_info(json: &str) -> Result<SessionInfo, serde_json::Error> {
    let wire: WireSession = serde_json::from_str(json)?;
    let directory = wire.directory.or(wire.location.map(|it| it.directory));
    let created = wire.time.created.map_or(UnixMs(0), ms);
    Ok(SessionInfo {
        id: wire.id,
        title: wire.title.unwrap_or_default(),
        directory: directory.ok_or_else(|| serde_json::Error::custom("no directory"))?,
        parent: wire.parent,
        agent: wire.agent,
        model: wire.model.map(ModelRef::from),
        created,
        updated: wire.time.updated.map_or(created, ms),
        archived: wire.time.archived.map(ms).filter(|at| at.0 > 0),
        reverted: wire.revert.is_some_and(|raw| raw.get() != "null"),
        cost: wire.cost.map_or(0.0, Number::real),
        tokens: wire.tokens.map_or_else(Tokens::default, Tokens::from),
    })
}

/// `GET /session/:id`.
///
/// # Errors
/// [`WireError`] when it is not a session.
pub fn decode_session(body: &[u8]) -> Result<SessionInfo, WireError> {
    decode_info(text_of(body)?).map_err(shape("a session"))
}

/// `GET /session` and `GET /experimental/session`: a bare array.
///
/// # Errors
/// [`WireError`] when the body as a whole is not a JSON array.
pub fn decode_sessions(body: &[u8]) -> Result<Decoded<Vec<SessionInfo>>, WireError> {
    Ok(each(rows(body, "a list of sessions")?, decode_info))
}

/// A page of `GET /api/session`.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPage {
    /// Its rows.
    pub rows: Decoded<Vec<SessionInfo>>,
    /// Rows on the page, readable or not. The end of the list is an empty page.
    pub count: usize,
    /// Where the next page begins.
    pub next: Option<String>,
}

/// `GET /api/session`: `{data, cursor}` on 1.17 and 1.18, `{items, cursor}` on 1.14.
///
/// # Errors
/// [`WireError`] when the body as a whole is neither.
pub fn decode_api_sessions(body: &[u8]) -> Result<SessionPage, WireError> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow, alias = "items")]
        data: Vec<&'a RawValue>,
        #[serde(default, deserialize_with = "field")]
        cursor: Option<Cursor>,
    }
    #[derive(Deserialize)]
    struct Cursor {
        #[serde(default)]
        next: Option<String>,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape("a page of sessions"))?;
    Ok(SessionPage {
        count: wire.data.len(),
        rows: each(wire.data, decode_info),
        next: wire.cursor.and_then(|it| it.next),
    })
}

/// `GET /session/status`: who is not idle in one directory.
///
/// # Errors
/// [`WireError`] when the body as a whole is not a JSON object.
pub fn decode_status(body: &[u8]) -> Result<Decoded<BTreeMap<SessionId, Status>>, WireError> {
    let pairs: Pairs = serde_json::from_str(text_of(body)?).map_err(shape("a map of status"))?;
    let mut out = Decoded::<BTreeMap<SessionId, Status>>::new();
    for (id, raw) in pairs.0 {
        match status(raw.get()) {
            Ok(status) => {
                out.items.insert(SessionId::from(&*id), status);
            }
            // It is named, so it is not idle, whatever it is.
            Err(error) => {
                out.skip(&error);
                let status = Status::Other(UNREADABLE.to_owned());
                out.items.insert(SessionId::from(&*id), status);
            }
        }
    }
    Ok(out)
}

/// The type of a status that does not decode.
const UNREADABLE: &str = "unreadable";

#[derive(Deserialize)]
struct WireStatus<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, deserialize_with = "field")]
    attempt: Option<Number>,
    #[serde(default, deserialize_with = "field")]
    message: Option<String>,
    #[serde(default, deserialize_with = "field")]
    next: Option<Number>,
    #[serde(borrow, default)]
    action: Option<&'a RawValue>,
}

/// One status, of the map or of an event.
pub(super) fn status(json: &str) -> Result<Status, serde_json::Error> {
    let wire: WireStatus = serde_json::from_str(json)?;
    Ok(match wire.kind.as_str() {
        "idle" => Status::Idle,
        "busy" => Status::Busy,
        "retry" => Status::Retry(retry(wire)),
        _ => Status::Other(excerpt(&wire.kind)),
    })
}

fn retry(wire: WireStatus) -> Retry {
    let attempt = wire.attempt.map_or(1, Number::count);
    Retry {
        attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
        message: excerpt(&wire.message.unwrap_or_default()),
        next: wire.next.map(ms),
        action: wire.action.and_then(action),
    }
}

/// `action` is `{reason, provider, title, message, label, link?}`: its words and its link.
fn action(raw: &RawValue) -> Option<String> {
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return Some(excerpt(&text));
    }
    let pairs = Pairs::of(Some(raw));
    let read = |key| pairs.read::<String>(key).filter(|text| !text.is_empty());
    let words: Vec<String> = [read("message").or_else(|| read("title")), read("link")]
        .into_iter()
        .flatten()
        .collect();
    let known = raw.get() != "null";
    known.then(|| excerpt(&words.join(" ")))
}
