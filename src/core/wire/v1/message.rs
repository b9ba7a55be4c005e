//! Messages, with or without their parts.
//!
//! What it does: decode `GET /session/:id/message` and the `info` of `message.updated`. What it
//! does not: order them; the server's pages are ascending. Whose a message or part is need not
//! stand in it: the URL, the message around it and the event say so as well. A malformed part is
//! left out and counted; it never costs its message.

use super::lenient::{Number, Times, field, ms};
use super::literal::excerpt;
use super::{Decoded, WireError, part, rows};
use crate::core::id::{MessageId, SessionId};
use crate::core::wire::{Failure, Message, ModelRef, Role, Tokens};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct WireRow<'a> {
    #[serde(borrow)]
    info: &'a RawValue,
    #[serde(borrow, default)]
    parts: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct WireInfo {
    id: MessageId,
    #[serde(rename = "sessionID", default, deserialize_with = "field")]
    session: Option<SessionId>,
    role: String,
    time: Times,
    #[serde(rename = "parentID", default, deserialize_with = "field")]
    parent: Option<MessageId>,
    #[serde(default, deserialize_with = "field")]
    finish: Option<String>,
    #[serde(default, deserialize_with = "field")]
    error: Option<WireFailure>,
    #[serde(default, deserialize_with = "field")]
    summary: Option<bool>,
    #[serde(default)]
    structured: Option<serde::de::IgnoredAny>,
    #[serde(default, deserialize_with = "field")]
    agent: Option<String>,
    #[serde(default, deserialize_with = "field")]
    model: Option<WireModel>,
    #[serde(rename = "providerID", default, deserialize_with = "field")]
    provider_id: Option<String>,
    #[serde(rename = "modelID", default, deserialize_with = "field")]
    model_id: Option<String>,
    #[serde(default, deserialize_with = "field")]
    cost: Option<Number>,
    #[serde(default, deserialize_with = "field")]
    tokens: Option<WireTokens>,
}

/// `model` of a user message has `modelID`, that of a session `id`.
#[derive(Deserialize)]
pub(in crate::core::wire) struct WireModel {
    #[serde(rename = "providerID")]
    provider: String,
    #[serde(alias = "modelID")]
    id: String,
}

impl From<WireModel> for ModelRef {
    fn from(wire: WireModel) -> Self {
        ModelRef {
            provider: wire.provider,
            model: wire.id,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(in crate::core::wire) struct WireTokens {
    #[serde(deserialize_with = "field")]
    input: Option<Number>,
    #[serde(deserialize_with = "field")]
    output: Option<Number>,
}

impl From<WireTokens> for Tokens {
    fn from(wire: WireTokens) -> Self {
        Tokens {
            input: wire.input.map_or(0, Number::count),
            output: wire.output.map_or(0, Number::count),
        }
    }
}

/// `{name, data: {message, statusCode}}` of messages and of `session.error`.
#[derive(Deserialize)]
pub(super) struct WireFailure {
    #[serde(default, deserialize_with = "field")]
    name: Option<String>,
    #[serde(default, deserialize_with = "field")]
    message: Option<String>,
    #[serde(default, deserialize_with = "field")]
    data: Option<WireFailureData>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireFailureData {
    #[serde(deserialize_with = "field")]
    message: Option<String>,
    #[serde(rename = "statusCode", deserialize_with = "field")]
    status_code: Option<u16>,
}

impl From<WireFailure> for Failure {
    fn from(wire: WireFailure) -> Self {
        let data = wire.data.unwrap_or_default();
        let message = data.message.or(wire.message).unwrap_or_default();
        Failure {
            name: excerpt(&wire.name.unwrap_or_else(|| "UnknownError".to_owned())),
            message: excerpt(&message),
            status_code: data.status_code,
        }
    }
}

/// A page of messages, and what is hidden at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageRows {
    /// Those that could be read.
    pub rows: Decoded<Vec<Message>>,
    /// How many of those left out belong to the newest answer that could be read, or come after it.
    pub missing: usize,
}

/// `GET /session/:id/message`: ascending, with parts. The rows need not name their session.
///
/// # Errors
/// [`WireError`] when the body as a whole is not a JSON array.
pub fn decode_messages(body: &[u8], session: &SessionId) -> Result<MessageRows, WireError> {
    let mut out = Decoded::<Vec<Message>>::new();
    let mut missing = 0;
    for row in rows(body, "a list of messages")? {
        match decode_row(row.get(), session) {
            Ok(row) => {
                let before = if row.items.is_assistant() { 0 } else { missing };
                missing = before + row.skipped;
                let message = out.absorb(row);
                out.items.push(message);
            }
            Err(error) => {
                missing += 1;
                out.skip(&error);
            }
        }
    }
    Ok(MessageRows { rows: out, missing })
}

fn decode_row(json: &str, session: &SessionId) -> Result<Decoded<Message>, serde_json::Error> {
    let row: WireRow = serde_json::from_str(json)?;
    let mut message = decode_info(row.info.get(), Some(session.clone()))?;
    let mut place = 0;
    let parts = super::each(row.parts.unwrap_or_default(), |json| {
        place += 1;
        part::decode_in(json, &message, place - 1)
    });
    message.parts = parts.items;
    Ok(Decoded {
        items: message,
        skipped: parts.skipped,
        why: parts.why,
    })
}

/// The `info` of a message; no parts. `around`: the session that its surroundings name.
pub(super) fn decode_info(
    json: &str,
    around: Option<SessionId>,
) -> Result<Message, serde_json::Error> {
    let wire: WireInfo = serde_json::from_str(json)?;
    let missing = |what| serde_json::Error::custom(format!("a message without {what}"));
    let session = wire.session.or(around);
    let created = wire.time.created.map(ms);
    let model = wire.model.map(ModelRef::from).or_else(|| {
        wire.provider_id
            .zip(wire.model_id)
            .map(|(provider, model)| ModelRef { provider, model })
    });
    Ok(Message {
        id: wire.id,
        session: session.ok_or_else(|| missing("a session"))?,
        role: role(wire.role),
        parent: wire.parent,
        created: created.ok_or_else(|| missing("its time"))?,
        completed: wire.time.completed.map(ms),
        finish: wire.finish,
        error: wire.error.map(Failure::from),
        summary: wire.summary.unwrap_or(false),
        structured: wire.structured.is_some(),
        agent: wire.agent,
        model,
        cost: wire.cost.map_or(0.0, Number::real),
        tokens: wire.tokens.map_or_else(Tokens::default, Tokens::from),
        parts: Vec::new(),
    })
}

fn role(text: String) -> Role {
    match text.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Other(text),
    }
}
