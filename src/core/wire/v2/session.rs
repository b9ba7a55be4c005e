//! Who runs, what waits to go into a session, and which locations are loaded.
//!
//! What it does: decode one session row, `active`, `inbox` and `debug/location`. What it does not:
//! say anything of who is absent; from a whole `active`, absence means idle.

use super::data;
use crate::core::id::{Directory, MessageId, SessionId};
use crate::core::wire::v1::lenient::{Number, Pairs, field, ms};
use crate::core::wire::v1::literal::excerpt;
use crate::core::wire::v1::session::decode_info;
use crate::core::wire::v1::{Decoded, WireError, each, shape, text_of};
use crate::core::wire::{InboxItem, InboxKind, SessionInfo, Status};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// `GET /api/session/:id`: `{"data": {…}}`.
///
/// # Errors
/// [`WireError`] when it is not a session.
pub fn decode_session(body: &[u8]) -> Result<SessionInfo, WireError> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape("a session"))?;
    decode_info(wire.data.get()).map_err(shape("a session"))
}

/// `GET /api/session/active`: who runs in this process, `{"data": {"ses_…": {"type": "running"}}}`.
/// Waits for a retry or an answer count as running and are not told apart.
///
/// # Errors
/// [`WireError`] when the body as a whole is of another shape.
pub fn decode_active(body: &[u8]) -> Result<Decoded<BTreeMap<SessionId, Status>>, WireError> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow)]
        data: Pairs<'a>,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape("a map of the active"))?;
    let mut out = Decoded::<BTreeMap<SessionId, Status>>::new();
    for (id, raw) in wire.data.0 {
        let kind = Pairs::of(Some(raw)).read::<String>("type");
        // Whoever is listed is not idle, whatever is said of it.
        let status = match kind.as_deref() {
            Some("running") => Status::Busy,
            Some(other) => Status::Other(excerpt(other)),
            None => Status::Other("without a type".to_owned()),
        };
        out.items.insert(SessionId::from(&*id), status);
    }
    Ok(out)
}

/// `GET /api/debug/location`: the locations that are loaded now. Asking loads none.
///
/// # Errors
/// [`WireError`] when the body as a whole is not a list.
pub fn decode_locations(body: &[u8]) -> Result<Decoded<Vec<Directory>>, WireError> {
    #[derive(Deserialize)]
    struct Wire {
        directory: Directory,
    }
    let rows: Vec<&RawValue> =
        serde_json::from_str(text_of(body)?).map_err(shape("a list of locations"))?;
    let one = |json| serde_json::from_str::<Wire>(json).map(|it| it.directory);
    Ok(each(rows, one))
}

/// `GET /api/session/:id/inbox`: what waits to go in. It is not among the messages yet.
///
/// # Errors
/// [`WireError`] when the body as a whole is of another shape.
pub fn decode_inbox(body: &[u8]) -> Result<Decoded<Vec<InboxItem>>, WireError> {
    Ok(each(data(body, "an inbox")?, item))
}

fn item(json: &str) -> Result<InboxItem, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire {
        id: MessageId,
        #[serde(rename = "type")]
        kind: String,
        time: Created,
        #[serde(default, deserialize_with = "field")]
        payload: Option<Payload>,
    }
    #[derive(Deserialize)]
    struct Created {
        created: Number,
    }
    #[derive(Deserialize)]
    struct Payload {
        text: String,
    }
    let wire: Wire = serde_json::from_str(json)?;
    Ok(InboxItem {
        id: wire.id,
        kind: match wire.kind.as_str() {
            "user" => InboxKind::Prompt,
            _ => InboxKind::Other(excerpt(&wire.kind)),
        },
        created: ms(wire.time.created),
        text: wire
            .payload
            .map_or_else(String::new, |it| excerpt(&it.text)),
    })
}
