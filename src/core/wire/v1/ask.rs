//! Permissions and questions.
//!
//! What it does: decode `GET /permission`, `GET /question` and their `.asked` events, which have
//! the same fields. What it does not: tell whether the ask still holds anything up.

use super::lenient::field;
use super::{Decoded, WireError, each, rows};
use crate::core::id::{AskId, CallId, MessageId, SessionId};
use crate::core::wire::{Ask, AskKind, Choice, DIFF_KEPT, Question, ToolRef};
use serde::Deserialize;

#[derive(Deserialize)]
struct WireAsk {
    id: AskId,
    #[serde(rename = "sessionID")]
    session: SessionId,
    #[serde(default, deserialize_with = "field")]
    permission: Option<String>,
    #[serde(default, deserialize_with = "field")]
    patterns: Option<Vec<String>>,
    #[serde(default, deserialize_with = "field")]
    always: Option<Vec<String>>,
    #[serde(default, deserialize_with = "field")]
    metadata: Option<WireMetadata>,
    #[serde(default, deserialize_with = "field")]
    questions: Option<Vec<WireQuestion>>,
    #[serde(default, deserialize_with = "field")]
    tool: Option<WireTool>,
}

#[derive(Deserialize, Default)]
struct WireMetadata {
    #[serde(default, deserialize_with = "field")]
    command: Option<String>,
    #[serde(default, deserialize_with = "field")]
    diff: Option<String>,
}

#[derive(Deserialize)]
struct WireTool {
    #[serde(rename = "messageID")]
    message: MessageId,
    #[serde(rename = "callID")]
    call: CallId,
}

#[derive(Deserialize)]
struct WireQuestion {
    #[serde(default)]
    question: String,
    #[serde(default)]
    header: String,
    #[serde(default, deserialize_with = "field")]
    options: Option<Vec<WireChoice>>,
    #[serde(default, deserialize_with = "field")]
    multiple: Option<bool>,
}

#[derive(Deserialize)]
struct WireChoice {
    label: String,
    #[serde(default)]
    description: String,
}

/// One ask, of a list or of an event.
pub(super) fn decode(json: &str, kind: AskKind) -> Result<Ask, serde_json::Error> {
    let wire: WireAsk = serde_json::from_str(json)?;
    let WireMetadata { command, diff } = wire.metadata.unwrap_or_default();
    Ok(Ask {
        id: wire.id,
        session: wire.session,
        kind,
        tool: wire.tool.map(|it| ToolRef {
            message: it.message,
            call: it.call,
        }),
        permission: wire.permission,
        patterns: wire.patterns.unwrap_or_default(),
        always: wire.always.unwrap_or_default(),
        command: command.filter(|it| !it.trim().is_empty()),
        diff: diff.map(kept).filter(|it| !it.is_empty()),
        questions: wire.questions.into_iter().flatten().map(question).collect(),
    })
}

/// The first of a diff, to the end of a line.
fn kept(mut diff: String) -> String {
    if diff.len() > DIFF_KEPT {
        let mut bounds = (0..=DIFF_KEPT).rev();
        let end = bounds.find(|at| diff.is_char_boundary(*at)).unwrap_or(0);
        let line = diff.get(..end).and_then(|it| it.rfind('\n'));
        diff.truncate(line.map_or(end, |at| at + 1));
        diff.push_str("… (more of it is not shown)");
    }
    diff
}

fn question(wire: WireQuestion) -> Question {
    let choices = wire.options.into_iter().flatten();
    Question {
        question: wire.question,
        header: wire.header,
        options: choices
            .map(|it| Choice {
                label: it.label,
                description: it.description,
            })
            .collect(),
        multiple: wire.multiple.unwrap_or(false),
    }
}

/// `GET /permission` of one directory.
///
/// # Errors
/// [`WireError`] when the body as a whole is not a JSON array.
pub fn decode_permissions(body: &[u8]) -> Result<Decoded<Vec<Ask>>, WireError> {
    let rows = rows(body, "a list of permissions")?;
    Ok(each(rows, |json| decode(json, AskKind::Permission)))
}

/// `GET /question` of one directory.
///
/// # Errors
/// [`WireError`] when the body as a whole is not a JSON array.
pub fn decode_questions(body: &[u8]) -> Result<Decoded<Vec<Ask>>, WireError> {
    let rows = rows(body, "a list of questions")?;
    Ok(each(rows, |json| decode(json, AskKind::Question)))
}

/// The questions as they stand in the input of a question tool's part; what does not decode is
/// left out.
pub fn questions(input: &serde_json::Value) -> Vec<Question> {
    let rows = input.as_array().into_iter().flatten();
    // From text: the lenient fields read raw JSON.
    rows.filter_map(|row| serde_json::from_str::<WireQuestion>(&row.to_string()).ok())
        .map(question)
        .collect()
}
