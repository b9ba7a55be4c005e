//! What an answer consists of: text, reasoning, tool calls.
//!
//! What it does: reduce each to structure, sizes and times, under an id made of the message's and
//! its own, since 2.x gives its parts none. What it does not: keep outputs or whole texts.
//! Running text reads as `""` until it ends and carries no times, so only the last, empty text of
//! an answer whose stream has not ended is open. A running tool's output and its child session are
//! in no body at all; both come by `session.tool.progress` events only.

use super::message::WireError2;
use crate::core::id::{CallId, MessageId, PartId, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::v1::lenient::{Number, Pairs, field, ms};
use crate::core::wire::v1::literal::{Literal, excerpt};
use crate::core::wire::v1::{Decoded, digest, subject};
use crate::core::wire::{Failure, Part, PartBody, Prose, ToolOutput, ToolPart, ToolState};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The message that parts belong to.
pub(super) struct Turn<'a> {
    pub(super) session: &'a SessionId,
    pub(super) message: &'a MessageId,
    pub(super) created: UnixMs,
    /// Nothing of it streams any more since then.
    pub(super) streamed: Option<UnixMs>,
    /// It carries an error.
    pub(super) ended: bool,
}

impl Turn<'_> {
    pub(super) fn part(&self, name: &str, body: PartBody) -> Part {
        Part {
            id: part_id(self.message, name),
            session: self.session.clone(),
            message: self.message.clone(),
            body,
        }
    }
}

/// The id of a part: its message's, then `text:N`, `reasoning:N` or the call's id.
pub(super) fn part_id(message: &MessageId, name: &str) -> PartId {
    PartId::from(format!("{message}:{name}"))
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "field")]
    id: Option<CallId>,
    #[serde(default, deserialize_with = "field")]
    name: Option<String>,
    #[serde(borrow, default)]
    state: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "field")]
    time: Option<WireTime>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct WireTime {
    #[serde(deserialize_with = "field")]
    created: Option<Number>,
    #[serde(deserialize_with = "field")]
    ran: Option<Number>,
    #[serde(deserialize_with = "field")]
    completed: Option<Number>,
}

#[derive(Deserialize)]
struct WireState<'a> {
    status: String,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "field")]
    error: Option<WireError2>,
}

/// `content` of an answer.
pub(super) fn decode(rows: Vec<&RawValue>, turn: &Turn) -> Decoded<Vec<Part>> {
    let mut out = Decoded::<Vec<Part>>::new();
    let (mut texts, mut thoughts) = (0, 0);
    let last = rows.len().saturating_sub(1);
    for (place, row) in rows.into_iter().enumerate() {
        let wire: Wire = match serde_json::from_str(row.get()) {
            Ok(wire) => wire,
            Err(error) => {
                out.skip(&error);
                continue;
            }
        };
        let (name, body) = match wire.kind.as_str() {
            "text" => {
                texts += 1;
                let text = prose(&wire, turn, place == last);
                (format!("text:{}", texts - 1), PartBody::Text(text))
            }
            "reasoning" => {
                thoughts += 1;
                let text = prose(&wire, turn, place == last);
                (
                    format!("reasoning:{}", thoughts - 1),
                    PartBody::Reasoning(text),
                )
            }
            "tool" => match tool(&wire) {
                Ok(tool) => {
                    let call = wire.id.as_ref().map_or("tool", CallId::as_str);
                    (call.to_owned(), PartBody::Tool(Box::new(tool)))
                }
                Err(error) => {
                    out.skip(&error);
                    continue;
                }
            },
            other => (format!("part:{place}"), PartBody::Other(excerpt(other))),
        };
        out.items.push(turn.part(&name, body));
    }
    out
}

fn prose(wire: &Wire, turn: &Turn, last: bool) -> Prose {
    let text = Literal::of(wire.text).unwrap_or_default();
    let time = wire.time.unwrap_or_default();
    let start = time.created.map_or(turn.created, ms);
    let open = last && text.bytes == 0 && turn.streamed.is_none() && !turn.ended;
    let end = time.completed.map(ms).or(turn.streamed).unwrap_or(start);
    Prose {
        excerpt: text.excerpt,
        bytes: text.bytes,
        synthetic: false,
        start: Some(start),
        end: (!open || time.completed.is_some()).then_some(end),
    }
}

fn tool(wire: &Wire) -> Result<ToolPart, serde_json::Error> {
    let raw = wire.state.map_or("null", RawValue::get);
    let state: WireState = serde_json::from_str(raw)?;
    let name = wire.name.clone().unwrap_or_default();
    let input = Pairs::of(state.input);
    let metadata = Pairs::of(state.metadata);
    let time = wire.time.unwrap_or_default();
    let output = output(state.content);
    let error = state.error.map(Failure::from);
    let stopped = |it: &Failure| matches!(it.name.as_str(), "aborted" | "tool.interrupted");
    let runs_on = metadata.read::<String>("status").as_deref() == Some("running");
    Ok(ToolPart {
        call: wire.id.clone(),
        subject: subject(&input),
        timeout_ms: input.read::<Number>("timeout").map(Number::whole),
        input_keys: input.0.iter().map(|(key, _)| excerpt(key)).collect(),
        input_digest: digest(state.input),
        questions: (name == "question")
            .then(|| input.read("questions"))
            .flatten(),
        child: metadata.read("sessionID"),
        interrupted: error.as_ref().is_some_and(stopped),
        background: name == "subagent" && state.status == "completed" && runs_on,
        error: error.map(|it| it.message),
        output,
        start: time.ran.map(ms),
        end: time.completed.map(ms),
        state: tool_state(state.status),
        tool: name,
    })
}

fn tool_state(status: String) -> ToolState {
    match status.as_str() {
        "streaming" => ToolState::Pending,
        "running" => ToolState::Running,
        "completed" => ToolState::Completed,
        "error" => ToolState::Error,
        _ => ToolState::Other(status),
    }
}

/// Of an ended call: `content` is a list of `{type: "text", text}` and files.
fn output(raw: Option<&RawValue>) -> ToolOutput {
    #[derive(Deserialize)]
    struct Piece<'a> {
        #[serde(borrow, default)]
        text: Option<&'a RawValue>,
    }
    let pieces = raw.and_then(|raw| serde_json::from_str::<Vec<Piece>>(raw.get()).ok());
    let Some(pieces) = pieces else {
        return ToolOutput::default();
    };
    let texts = pieces.iter().filter_map(|it| Literal::of(it.text));
    texts.fold(
        ToolOutput {
            present: true,
            ..ToolOutput::default()
        },
        |sum, text| ToolOutput {
            present: true,
            bytes: sum.bytes + text.bytes,
            digest: sum.digest.rotate_left(1) ^ text.digest,
        },
    )
}
