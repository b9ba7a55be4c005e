//! Permission requests, and questions, which 2.x asks as forms.
//!
//! What it does: decode the lists of one location and the rows of their events. What it does not:
//! tell whether the ask still holds anything up.

use super::data;
use crate::core::id::{AskId, CallId, MessageId, SessionId};
use crate::core::wire::v1::lenient::field;
use crate::core::wire::v1::{Decoded, WireError, each};
use crate::core::wire::{Ask, AskKind, Choice, Question, ToolRef};
use serde::Deserialize;

#[derive(Deserialize)]
struct WirePermission {
    id: AskId,
    #[serde(rename = "sessionID")]
    session: SessionId,
    #[serde(default, deserialize_with = "field")]
    action: Option<String>,
    #[serde(default, deserialize_with = "field")]
    resources: Option<Vec<String>>,
    #[serde(default, deserialize_with = "field")]
    save: Option<Vec<String>>,
    #[serde(default, deserialize_with = "field")]
    source: Option<WireTool>,
}

#[derive(Deserialize)]
struct WireTool {
    #[serde(rename = "messageID")]
    message: MessageId,
    id: CallId,
}

#[derive(Deserialize)]
struct WireForm {
    id: AskId,
    #[serde(rename = "sessionID")]
    session: SessionId,
    #[serde(default, deserialize_with = "field")]
    title: Option<String>,
    #[serde(default, deserialize_with = "field")]
    metadata: Option<WireMetadata>,
    #[serde(default, deserialize_with = "field")]
    fields: Option<Vec<WireField>>,
}

#[derive(Deserialize)]
struct WireMetadata {
    #[serde(default, deserialize_with = "field")]
    tool: Option<WireTool>,
}

#[derive(Deserialize)]
struct WireField {
    #[serde(default, deserialize_with = "field")]
    title: Option<String>,
    #[serde(default, deserialize_with = "field")]
    description: Option<String>,
    #[serde(rename = "type", default, deserialize_with = "field")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "field")]
    options: Option<Vec<WireOption>>,
}

#[derive(Deserialize)]
struct WireOption {
    label: String,
    #[serde(default)]
    description: String,
}

fn tool(wire: WireTool) -> ToolRef {
    ToolRef {
        message: wire.message,
        call: wire.id,
    }
}

/// One permission request, of a list or of `permission.asked`.
pub(super) fn permission(json: &str) -> Result<Ask, serde_json::Error> {
    let wire: WirePermission = serde_json::from_str(json)?;
    Ok(Ask {
        id: wire.id,
        session: wire.session,
        kind: AskKind::Permission,
        tool: wire.source.map(tool),
        permission: wire.action,
        patterns: wire.resources.unwrap_or_default(),
        always: wire.save.unwrap_or_default(),
        command: None,
        diff: None,
        questions: Vec::new(),
    })
}

/// One form, of a list or of `form.created`. A field is a question.
pub(super) fn form(json: &str) -> Result<Ask, serde_json::Error> {
    let wire: WireForm = serde_json::from_str(json)?;
    let title = wire.title.unwrap_or_default();
    let fields = wire.fields.unwrap_or_default().into_iter();
    Ok(Ask {
        id: wire.id,
        session: wire.session,
        kind: AskKind::Question,
        tool: wire.metadata.and_then(|it| it.tool).map(tool),
        permission: None,
        patterns: Vec::new(),
        always: Vec::new(),
        command: None,
        diff: None,
        questions: fields.map(|it| question(it, &title)).collect(),
    })
}

fn question(wire: WireField, form: &str) -> Question {
    let header = wire.title.unwrap_or_else(|| form.to_owned());
    let options = wire.options.unwrap_or_default().into_iter();
    Question {
        question: wire.description.unwrap_or_else(|| header.clone()),
        header,
        options: options
            .map(|it| Choice {
                label: it.label,
                description: it.description,
            })
            .collect(),
        multiple: wire.kind.as_deref() == Some("multiselect"),
    }
}

/// `GET /api/permission/request` of one location.
///
/// # Errors
/// [`WireError`] when the body as a whole is of another shape.
pub fn decode_permissions(body: &[u8]) -> Result<Decoded<Vec<Ask>>, WireError> {
    let rows = data(body, "a list of permission requests")?;
    Ok(each(rows, permission))
}

/// `GET /api/form` of one location.
///
/// # Errors
/// [`WireError`] when the body as a whole is of another shape.
pub fn decode_forms(body: &[u8]) -> Result<Decoded<Vec<Ask>>, WireError> {
    Ok(each(data(body, "a list of forms")?, form))
}
