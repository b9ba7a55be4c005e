//! Reads one part of a message, to be looked at.
//!
//! What it does: read its message, find it, and cut what is too long for a screen. What it does not:
//! change anything, or start a project; whoever asks knows that it runs.

use crate::core::app::{PartOf, PartText, live};
use crate::core::id::{MessageId, PartId, SessionId};
use crate::net::client::Client;
use crate::shell::act::patient;
use serde_json::Value;

/// The most of a part that is shown, in bytes.
const MOST: usize = 256 * 1024;

/// What is wanted of a part, or why it could not be read.
pub async fn read(
    client: &Client,
    session: &SessionId,
    message: &MessageId,
    part: &PartId,
    of: PartOf,
) -> Result<PartText, String> {
    let raw = patient(|| client.message_raw(session, message)).await;
    let raw = raw.map_err(|why| why.to_string())?;
    let message: Value = serde_json::from_str(raw.get()).map_err(|why| why.to_string())?;
    let parts = message.get("parts").and_then(Value::as_array);
    let mut parts = parts.into_iter().flatten();
    let found = parts.find(|it| it.get("id").and_then(Value::as_str) == Some(part.as_str()));
    let found = found.ok_or("the server does not have this part any more")?;
    match of {
        PartOf::Json => {
            let text = serde_json::to_string_pretty(found).map_err(|why| why.to_string())?;
            Ok(head(text))
        }
        PartOf::Output => Ok(end(output(found))),
    }
}

/// What a tool wrote, so far or in the end.
fn output(part: &Value) -> &str {
    let places = ["/state/metadata/output", "/state/output"];
    let mut texts = places.iter().filter_map(|at| part.pointer(at)?.as_str());
    texts.next().unwrap_or_default()
}

fn head(mut text: String) -> PartText {
    let all = text.len();
    let mut cut = all.min(MOST);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    text.truncate(cut);
    PartText {
        text,
        left_out: all - cut,
    }
}

fn end(text: &str) -> PartText {
    let mut cut = text.len().saturating_sub(live::MOST);
    while !text.is_char_boundary(cut) {
        cut += 1;
    }
    PartText {
        text: text.get(cut..).unwrap_or_default().to_owned(),
        left_out: cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_long_part_is_cut_between_characters() {
        let text = head("é".repeat(MOST));
        assert_eq!(text.text.len() + text.left_out, 2 * MOST);
        assert!(text.text.len() <= MOST);
        let text = end(&"é".repeat(live::MOST));
        assert_eq!(text.text.len() + text.left_out, 2 * live::MOST);
    }

    #[test]
    fn a_running_tool_has_its_output_elsewhere_than_an_ended_one() {
        let running = json!({"state": {"metadata": {"output": "so far"}}});
        let ended = json!({"state": {"output": "all"}});
        assert_eq!([output(&running), output(&ended)], ["so far", "all"]);
        assert_eq!(output(&json!({})), "");
    }
}
