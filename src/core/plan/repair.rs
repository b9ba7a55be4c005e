//! A tool part that never ended, as the valid error state that it is set to.
//!
//! What it does: change the part's JSON as the server gave it. What it does not: send it. Invariant:
//! everything but `state` stays as it was, and of `state` the input and the metadata; measured on
//! 1.18.33: `{status:"error", input, error, metadata?, time:{start,end}}`, else 400 with the missing key.

use crate::core::time::UnixMs;
use serde_json::{Map, Value, json};
use thiserror::Error;

/// What stands in the part afterwards.
pub const WORDS: &str = "Tool execution aborted (it never ended; marked by ocwatch)";

/// Fits after "failed to set a part to error: ".
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RepairError {
    /// It is not a tool part.
    #[error("it is not a tool part")]
    NotATool,
    /// It has ended meanwhile.
    #[error("it has ended meanwhile ({0})")]
    Ended(String),
}

/// The whole part in its new state. `now` is the server's clock.
///
/// # Errors
/// [`RepairError`] when the part is not one that is pending or running.
pub fn errored(part: &Value, now: UnixMs) -> Result<Value, RepairError> {
    let state = part.get("state").and_then(Value::as_object);
    let (Some("tool"), Some(state)) = (part.get("type").and_then(Value::as_str), state) else {
        return Err(RepairError::NotATool);
    };
    let status = state.get("status").and_then(Value::as_str).unwrap_or("");
    if !matches!(status, "pending" | "running") {
        return Err(RepairError::Ended(status.to_owned()));
    }
    let start = state.get("time").and_then(|time| time.get("start"));
    let start = start.and_then(Value::as_i64).unwrap_or(now.0);
    let mut new = Map::new();
    new.insert("status".to_owned(), json!("error"));
    let input = state.get("input").cloned().unwrap_or_else(|| json!({}));
    new.insert("input".to_owned(), input);
    new.insert("error".to_owned(), json!(WORDS));
    if let Some(metadata) = state.get("metadata") {
        new.insert("metadata".to_owned(), metadata.clone());
    }
    let time = json!({"start": start, "end": now.0.max(start)});
    new.insert("time".to_owned(), time);
    let mut whole = part.clone();
    if let Some(part) = whole.as_object_mut() {
        part.insert("state".to_owned(), Value::Object(new));
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    const NOW: UnixMs = UnixMs(1_000);

    #[test]
    fn only_the_state_changes_and_keeps_what_it_was_called_with() {
        let part = json!({"id": "prt_1", "type": "tool", "callID": "c", "tool": "bash", "extra": [1],
            "state": {"status": "running", "input": {"command": "x"}, "title": "t",
                "metadata": {"output": "so far"}, "time": {"start": 400}}});
        let mut want = part.clone();
        want["state"] = json!({"status": "error", "input": {"command": "x"}, "error": WORDS,
            "metadata": {"output": "so far"}, "time": {"start": 400, "end": 1000}});
        assert_eq!(errored(&part, NOW), Ok(want));
    }

    #[test]
    fn arguments_that_were_never_finished_get_both_times() {
        let part = json!({"type": "tool", "state": {"status": "pending", "input": {}, "raw": ""}});
        let whole = errored(&part, NOW).expect("a part");
        let want = json!({"status": "error", "input": {}, "error": WORDS, "time": {"start": 1000, "end": 1000}});
        assert_eq!(whole["state"], want);
    }

    #[test]
    fn what_has_ended_or_is_no_tool_is_left_alone() {
        for status in ["completed", "error", "new-state", ""] {
            let part = json!({"type": "tool", "state": {"status": status}});
            assert_eq!(
                errored(&part, NOW),
                Err(RepairError::Ended(status.to_owned()))
            );
        }
        for part in [
            json!({"type": "text", "state": {"status": "running"}}),
            json!({"type": "tool"}),
            json!(null),
        ] {
            assert_eq!(errored(&part, NOW), Err(RepairError::NotATool));
        }
    }
}
