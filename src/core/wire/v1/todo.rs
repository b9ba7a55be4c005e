//! `GET /session/:id/todo` and the event `todo.updated`.

use super::lenient::field;
use super::literal::excerpt;
use super::{Decoded, WireError, each, rows};
use crate::core::wire::{MOST_TODOS, TodoItem, TodoStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Wire {
    content: String,
    #[serde(default, deserialize_with = "field")]
    status: Option<String>,
    #[serde(default, deserialize_with = "field")]
    priority: Option<String>,
}

/// A list of things to do, in its order; at most [`MOST_TODOS`].
///
/// # Errors
/// [`WireError`] when the body as a whole is not a JSON array.
pub fn decode_todo(body: &[u8]) -> Result<Decoded<Vec<TodoItem>>, WireError> {
    Ok(items(rows(body, "a list of things to do")?))
}

pub(super) fn items(mut rows: Vec<&RawValue>) -> Decoded<Vec<TodoItem>> {
    rows.truncate(MOST_TODOS);
    each(rows, |json| {
        let wire: Wire = serde_json::from_str(json)?;
        Ok(TodoItem {
            content: excerpt(&wire.content),
            status: status(wire.status.as_deref().unwrap_or("pending")),
            priority: excerpt(&wire.priority.unwrap_or_default()),
        })
    })
}

fn status(text: &str) -> TodoStatus {
    match text {
        "pending" => TodoStatus::Pending,
        "in_progress" => TodoStatus::InProgress,
        "completed" => TodoStatus::Completed,
        "cancelled" => TodoStatus::Cancelled,
        _ => TodoStatus::Other(excerpt(text)),
    }
}
