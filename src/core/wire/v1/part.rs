//! Parts of messages.
//!
//! What it does: reduce a part to structure, sizes and times. What it does not: keep outputs or
//! whole texts. A part type that we do not know is `Other`, never an error.

use super::lenient::{Number, Pairs, Times, field, ms};
use super::literal::{Literal, Measure, excerpt};
use crate::core::id::{CallId, MessageId, PartId, SessionId};
use crate::core::wire::{Message, Part, PartBody, Prose, ToolOutput, ToolPart, ToolState};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

/// So deep the order of keys does not matter in what a tool was called with.
const DEEPEST: u8 = 8;

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(default, deserialize_with = "field")]
    id: Option<PartId>,
    #[serde(rename = "sessionID", default, deserialize_with = "field")]
    session: Option<SessionId>,
    #[serde(rename = "messageID", default, deserialize_with = "field")]
    message: Option<MessageId>,
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "field")]
    synthetic: Option<bool>,
    #[serde(default, deserialize_with = "field")]
    time: Option<Times>,
    #[serde(rename = "callID", default, deserialize_with = "field")]
    call: Option<CallId>,
    #[serde(default, deserialize_with = "field")]
    tool: Option<String>,
    #[serde(borrow, default)]
    state: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "field")]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct WireState<'a> {
    status: String,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "field")]
    time: Option<Times>,
}

/// One part of a message that was read: the message around it says whose it is, and a part without
/// an id is named by its place (from 0), which stays the same from read to read.
pub(super) fn decode_in(
    json: &str,
    message: &Message,
    place: usize,
) -> Result<Part, serde_json::Error> {
    let wire: Wire = serde_json::from_str(json)?;
    Ok(Part {
        body: body(&wire)?,
        id: wire
            .id
            .unwrap_or_else(|| PartId::from(format!("{}.{place}", message.id))),
        session: message.session.clone(),
        message: message.id.clone(),
    })
}

/// One part that comes alone, in an event. `around`: the session that the event names.
pub(super) fn decode_alone(
    json: &str,
    around: Option<SessionId>,
) -> Result<Part, serde_json::Error> {
    let wire: Wire = serde_json::from_str(json)?;
    let missing = |what| serde_json::Error::custom(format!("a part without {what}"));
    Ok(Part {
        body: body(&wire)?,
        id: wire.id.ok_or_else(|| missing("an id"))?,
        session: wire
            .session
            .or(around)
            .ok_or_else(|| missing("a session"))?,
        message: wire.message.ok_or_else(|| missing("a message"))?,
    })
}

fn body(wire: &Wire) -> Result<PartBody, serde_json::Error> {
    Ok(match wire.kind.as_str() {
        "text" => PartBody::Text(prose(wire)),
        "reasoning" => PartBody::Reasoning(prose(wire)),
        "tool" => PartBody::Tool(Box::new(tool(wire)?)),
        "step-start" => PartBody::StepStart,
        "step-finish" => PartBody::StepFinish(wire.reason.clone().unwrap_or_default()),
        "compaction" => PartBody::Compaction,
        "agent" | "subtask" => PartBody::Subtask,
        "retry" => PartBody::Retry,
        _ => PartBody::Other(excerpt(&wire.kind)),
    })
}

fn prose(wire: &Wire) -> Prose {
    let text = Literal::of(wire.text).unwrap_or_default();
    let time = wire.time.unwrap_or_default();
    Prose {
        excerpt: text.excerpt,
        bytes: text.bytes,
        synthetic: wire.synthetic.unwrap_or(false),
        start: time.start.map(ms),
        end: time.end.map(ms),
    }
}

fn tool(wire: &Wire) -> Result<ToolPart, serde_json::Error> {
    let raw = wire.state.map_or("null", RawValue::get);
    let state: WireState = serde_json::from_str(raw)?;
    let name = wire.tool.clone().unwrap_or_default();
    let input = Pairs::of(state.input);
    let metadata = Pairs::of(state.metadata);
    let output = Literal::of(state.output).or_else(|| Literal::of(metadata.get("output")));
    let time = state.time.unwrap_or_default();
    let background = name == "task"
        && state.status == "completed"
        && output.as_ref().is_some_and(|it| runs_on(&it.excerpt));
    Ok(ToolPart {
        call: wire.call.clone(),
        subject: subject(&input),
        timeout_ms: input.read::<Number>("timeout").map(Number::whole),
        input_keys: input.0.iter().map(|(key, _)| excerpt(key)).collect(),
        input_digest: digest(state.input),
        questions: (name == "question")
            .then(|| input.read("questions"))
            .flatten(),
        child: metadata.read("sessionId"),
        interrupted: metadata.read("interrupted").unwrap_or(false),
        background,
        error: Literal::of(state.error).map(|it| it.excerpt),
        output: measured(output),
        start: time.start.map(ms),
        end: time.end.map(ms),
        state: tool_state(state.status),
        tool: name,
    })
}

fn measured(output: Option<Literal>) -> ToolOutput {
    output.map_or_else(ToolOutput::default, |it| ToolOutput {
        present: true,
        bytes: it.bytes,
        digest: it.digest,
    })
}

/// Of a value: equal ones have the same, in whatever order the keys of objects stand. 0 for none.
pub(in crate::core::wire) fn digest(raw: Option<&RawValue>) -> u64 {
    raw.map_or(0, |raw| digest_at(raw, 0))
}

/// Each level of nesting is looked through once more, so below the last it counts as it stands.
fn digest_at(raw: &RawValue, depth: u8) -> u64 {
    let text = raw.get();
    if depth == DEEPEST {
        return digest_of(&[text.as_bytes()]);
    }
    let inner = |value: &RawValue| digest_at(value, depth + 1).to_le_bytes();
    let whole = match text.as_bytes().first() {
        Some(b'{') => serde_json::from_str::<Pairs>(text).ok().map(|pairs| {
            let pairs = pairs.0.iter();
            pairs
                .map(|(key, value)| digest_of(&[key.as_bytes(), b":", &inner(value)]))
                .fold(digest_of(&[b"{}"]), u64::wrapping_add)
        }),
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text)
            .ok()
            .map(|values| {
                values.into_iter().fold(digest_of(&[b"[]"]), |sum, value| {
                    digest_of(&[&sum.to_le_bytes(), &inner(value)])
                })
            }),
        _ => None,
    };
    whole.unwrap_or_else(|| digest_of(&[text.as_bytes()]))
}

fn digest_of(pieces: &[&[u8]]) -> u64 {
    let mut measure = Measure::default();
    for piece in pieces {
        measure.feed(piece);
    }
    measure.digest()
}

fn tool_state(status: String) -> ToolState {
    match status.as_str() {
        "pending" => ToolState::Pending,
        "running" => ToolState::Running,
        "completed" => ToolState::Completed,
        "error" => ToolState::Error,
        _ => ToolState::Other(status),
    }
}

/// A completed task whose output begins `<task … state="running">` works on in the background.
fn runs_on(output: &str) -> bool {
    output
        .trim_start()
        .strip_prefix("<task ")
        .and_then(|rest| rest.split('>').next())
        .is_some_and(|attributes| attributes.contains("state=\"running\""))
}

/// One line of what a tool was called with.
pub(in crate::core::wire) fn subject(input: &Pairs) -> String {
    let named = ["command", "filePath", "pattern", "url", "description"];
    named
        .iter()
        .find_map(|key| Literal::of(input.get(key)))
        .or_else(|| {
            input
                .0
                .iter()
                .find_map(|(_, value)| Literal::of(Some(value)))
        })
        .map(|it| it.excerpt)
        .unwrap_or_default()
}
