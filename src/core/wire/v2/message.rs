//! Messages of `GET /api/session/:id/message`.
//!
//! What it does: decode one page, row by row. What it does not: order them, or tell what only the
//! order says; that is [`super::fold`], over a whole tail. 2.x has kinds of messages that 1.x has
//! not: those that are neither a prompt nor an answer keep their kind as a role. The end of an
//! answer's stream (`time.streamed`) becomes a step-finish part; messages of 1.x that were migrated
//! have none.

use super::content::{self, Turn};
use super::event::{WireRetry, retry};
use crate::core::id::{MessageId, SessionId};
use crate::core::wire::v1::lenient::{Number, field, ms};
use crate::core::wire::v1::literal::{Literal, excerpt};
use crate::core::wire::v1::message::{WireModel, WireTokens};
use crate::core::wire::v1::{Decoded, WireError, shape, text_of};
use crate::core::wire::{Failure, Message, ModelRef, Part, PartBody, Prose, Retry, Role, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A page of messages.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePage {
    /// In the order that was asked for.
    pub messages: Decoded<Vec<Message>>,
    /// Asked for from the newest on: how many of those left out come before the end of the first
    /// answer that could be read.
    pub missing: usize,
    /// Rows on the page, readable or not. The end is an empty page.
    pub count: usize,
    /// Where the next page of the same order begins.
    pub next: Option<String>,
    /// The retry that the newest open answer of the page waits for, if it names one. It stays
    /// there when the server is killed, so its time tells whether it still holds.
    pub retry: Option<Retry>,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    id: MessageId,
    #[serde(rename = "type")]
    kind: String,
    time: WireTime,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(default, deserialize_with = "field")]
    agent: Option<String>,
    #[serde(default, deserialize_with = "field")]
    model: Option<WireModel>,
    #[serde(default, deserialize_with = "field")]
    finish: Option<String>,
    #[serde(default, deserialize_with = "field")]
    error: Option<WireError2>,
    #[serde(default, deserialize_with = "field")]
    retry: Option<WireRetry>,
    #[serde(default, deserialize_with = "field")]
    status: Option<String>,
    #[serde(default, deserialize_with = "field")]
    outcome: Option<String>,
    #[serde(default, deserialize_with = "field")]
    cost: Option<Number>,
    #[serde(default, deserialize_with = "field")]
    tokens: Option<WireTokens>,
}

#[derive(Deserialize)]
struct WireTime {
    created: Number,
    #[serde(default, deserialize_with = "field")]
    streamed: Option<Number>,
    #[serde(default, deserialize_with = "field")]
    completed: Option<Number>,
}

/// `{type, message, status?}` of messages, tool calls, retries and events.
#[derive(Deserialize)]
pub(super) struct WireError2 {
    #[serde(rename = "type", default, deserialize_with = "field")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "field")]
    message: Option<String>,
    #[serde(default, deserialize_with = "field")]
    status: Option<u16>,
}

impl From<WireError2> for Failure {
    fn from(wire: WireError2) -> Self {
        Failure {
            name: excerpt(&wire.kind.unwrap_or_else(|| "unknown".to_owned())),
            message: excerpt(&wire.message.unwrap_or_default()),
            status_code: wire.status,
        }
    }
}

/// A page of `GET /api/session/:id/message`. The rows do not name their session.
///
/// # Errors
/// [`WireError`] when the body as a whole is of another shape.
pub fn decode_messages(body: &[u8], session: &SessionId) -> Result<MessagePage, WireError> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow)]
        data: Vec<&'a RawValue>,
        #[serde(default, deserialize_with = "field")]
        cursor: Option<Cursor>,
    }
    #[derive(Deserialize)]
    struct Cursor {
        #[serde(default)]
        next: Option<String>,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape("a page of messages"))?;
    let count = wire.data.len();
    let mut messages = Decoded::<Vec<Message>>::new();
    let mut waiting: Option<(MessageId, Retry)> = None;
    let (mut missing, mut answered) = (0, false);
    for row in wire.data {
        let before = messages.skipped;
        match decode_row(row.get(), session) {
            Ok(row) => {
                let (message, retry) = messages.absorb(row);
                waiting = waiting
                    .into_iter()
                    .chain(retry)
                    .max_by(|a, b| a.0.cmp(&b.0));
                messages.items.push(message);
            }
            Err(error) => messages.skip(&error),
        }
        if !answered {
            missing += messages.skipped - before;
            answered = messages.items.last().is_some_and(Message::is_assistant);
        }
    }
    Ok(MessagePage {
        retry: newest_retry(&messages.items, waiting),
        messages,
        missing,
        count,
        next: wire.cursor.and_then(|it| it.next),
    })
}

/// A retry counts only where its message is the newest answer and open.
fn newest_retry(messages: &[Message], waiting: Option<(MessageId, Retry)>) -> Option<Retry> {
    let (id, retry) = waiting?;
    let answers = messages.iter().filter(|m| m.is_assistant());
    let newest = answers.max_by_key(|m| (m.created, m.id.clone()))?;
    (newest.id == id && newest.is_open()).then_some(retry)
}

type Row = (Message, Option<(MessageId, Retry)>);

fn decode_row(json: &str, session: &SessionId) -> Result<Decoded<Row>, serde_json::Error> {
    let mut wire: WireMessage = serde_json::from_str(json)?;
    let role = role(&wire.kind, wire.status.as_deref());
    let parts = parts(&mut wire, session);
    let retry = wire.retry.take().map(|it| (wire.id.clone(), retry(it)));
    let summary = wire.kind == "compaction" && role == Role::Assistant;
    let completed = wire.time.completed.map(ms);
    let done = summary && wire.status.as_deref() == Some("completed");
    let message = Message {
        id: wire.id,
        session: session.clone(),
        role,
        parent: None,
        created: ms(wire.time.created),
        // When a summary ended is not told.
        completed: completed.or(done.then(|| ms(wire.time.created))),
        finish: finish(wire.finish, wire.outcome, done),
        error: wire.error.filter(|_| !summary).map(Failure::from),
        summary,
        structured: false,
        agent: wire.agent,
        model: wire.model.map(ModelRef::from),
        cost: wire.cost.map_or(0.0, Number::real),
        tokens: wire.tokens.map_or_else(Tokens::default, Tokens::from),
        parts: parts.items,
    };
    Ok(Decoded {
        items: (message, retry),
        skipped: parts.skipped,
        why: parts.why,
    })
}

/// After a summary the loop may go on; 2.x does not say.
fn finish(finish: Option<String>, outcome: Option<String>, summarised: bool) -> Option<String> {
    let told = finish.or(outcome).map(|it| excerpt(&it));
    told.or_else(|| summarised.then(|| "unknown".to_owned()))
}

/// A prompt, an answer, or neither. A summary that failed is no answer: the session goes on as it
/// was.
fn role(kind: &str, status: Option<&str>) -> Role {
    match (kind, status) {
        ("user" | "synthetic", _) => Role::User,
        ("assistant", _) | ("compaction", Some("running" | "completed")) => Role::Assistant,
        _ => Role::Other(excerpt(kind)),
    }
}

fn parts(wire: &mut WireMessage, session: &SessionId) -> Decoded<Vec<Part>> {
    let turn = Turn {
        session,
        message: &wire.id,
        created: ms(wire.time.created),
        streamed: wire.time.streamed.or(wire.time.completed).map(ms),
        ended: wire.error.is_some(),
    };
    let rows = wire.content.take().unwrap_or_default();
    let mut parts = content::decode(rows, &turn);
    if wire.kind == "assistant" && wire.time.streamed.is_some() {
        let finish = wire.finish.clone().unwrap_or_default();
        let body = PartBody::StepFinish(excerpt(&finish));
        parts.items.push(turn.part("streamed", body));
    }
    let synthetic = wire.kind == "synthetic";
    if (wire.kind == "user" || synthetic)
        && let Some(text) = Literal::of(wire.text)
    {
        parts.items.push(turn.part(
            "text:0",
            PartBody::Text(Prose {
                excerpt: text.excerpt,
                bytes: text.bytes,
                synthetic,
                start: None,
                end: None,
            }),
        ));
    }
    parts
}
