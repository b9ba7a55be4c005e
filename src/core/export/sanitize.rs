//! Redacts what a session says of its user's work, as `opencode export --sanitize` (1.18) does.
//!
//! What it does: texts become `[redacted:<what>:<id>]`, and what tools were called with and told
//! about themselves becomes `{"redacted":"<what>:<id>"}`; what is blank or empty stays. What it does
//! not: touch what the original leaves: ids, times, models, tool names, costs, error messages, and
//! parts of a kind that it does not know. Invariant: the result equals the original's as JSON; a
//! value that cannot be looked into is an error, not passed on.

use super::fields::{Fields, quoted, text};
use serde_json::value::RawValue;

type Done = Result<String, serde_json::Error>;

/// The `info` of a session.
///
/// # Errors
/// When it is not an object.
pub fn session(info: &RawValue) -> Done {
    let mut edit = Edit::of(info, "")?;
    edit.text("title", "session-title");
    edit.text("directory", "session-directory");
    edit.inner("summary", |summary| {
        summary.diffs("session-diff")?;
        Ok(())
    })?;
    edit.inner("revert", |revert| {
        revert.text("snapshot", "revert-snapshot");
        revert.text("diff", "revert-diff");
        Ok(())
    })?;
    Ok(edit.fields.json())
}

/// A message with its parts.
///
/// # Errors
/// When it, or one of its parts, is not an object.
pub fn message(raw: &RawValue) -> Done {
    let mut edit = Edit::of(raw, "")?;
    if let Some(it) = edit.fields.get("info") {
        let json = info(it)?;
        edit.fields.replace("info", json);
    }
    edit.each("parts", |_, it| part(it))?;
    Ok(edit.fields.json())
}

fn info(raw: &RawValue) -> Done {
    let mut edit = Edit::of(raw, "")?;
    if edit.fields.text("role").as_deref() == Some("user") {
        edit.text("system", "system");
        edit.inner("summary", |summary| {
            summary.text("title", "summary-title");
            summary.text("body", "summary-body");
            summary.diffs("message-diff")
        })?;
    } else if let Some(path) = edit.fields.get("path") {
        // Only these two fields are kept.
        let mut path = Edit::of(path, &edit.id)?;
        path.text("cwd", "cwd");
        path.text("root", "root");
        let json = path.fields.only(&["cwd", "root"]);
        edit.fields.replace("path", json);
    }
    Ok(edit.fields.json())
}

fn part(raw: &RawValue) -> Done {
    let mut edit = Edit::of(raw, "")?;
    match edit.fields.text("type").as_deref() {
        Some("text") => {
            edit.text("text", "text");
            edit.object("metadata", "text-metadata");
        }
        Some("reasoning") => {
            edit.text("text", "reasoning");
            edit.object("metadata", "reasoning-metadata");
        }
        Some("file") => edit.file()?,
        Some("subtask") => {
            edit.text("prompt", "subtask-prompt");
            edit.text("description", "subtask-description");
            edit.text("command", "subtask-command");
        }
        Some("tool") => {
            edit.object("metadata", "tool-metadata");
            edit.inner("state", Edit::tool_state)?;
        }
        Some("patch") => {
            edit.text("hash", "patch");
            let id = edit.id.clone();
            edit.each("files", |place, file| {
                let redacted = redacted(file, "patch-file", &format!("{id}-{place}"));
                Ok(redacted.unwrap_or_else(|| file.get().to_owned()))
            })?;
        }
        Some("snapshot" | "step-start" | "step-finish") => edit.text("snapshot", "snapshot"),
        Some("agent") => edit.inner("source", |source| {
            source.text("value", "agent-source");
            Ok(())
        })?,
        _ => {}
    }
    Ok(edit.fields.json())
}

/// A file part, or an attachment of a tool's result.
fn file(raw: &RawValue) -> Done {
    let mut edit = Edit::of(raw, "")?;
    edit.file()?;
    Ok(edit.fields.json())
}

/// An object that is being redacted, and the id that its redactions name.
struct Edit<'a> {
    fields: Fields<'a>,
    id: String,
}

impl<'a> Edit<'a> {
    /// An object with an id of its own, or one inside another that names it.
    fn of(raw: &'a RawValue, id: &str) -> Result<Self, serde_json::Error> {
        let fields = Fields::of(raw)?;
        let id = if id.is_empty() {
            fields.text("id").unwrap_or_default()
        } else {
            id.to_owned()
        };
        Ok(Self { fields, id })
    }

    fn text(&mut self, key: &str, what: &str) {
        let told = self.fields.get(key);
        if let Some(json) = told.and_then(|raw| redacted(raw, what, &self.id)) {
            self.fields.replace(key, json);
        }
    }

    /// A field with anything in it, as long as there is something in it.
    fn object(&mut self, key: &str, what: &str) {
        let told = self.fields.get(key).map(RawValue::get);
        if told.is_some_and(|json| json.starts_with(['{', '[', '"']) && !is_empty(json)) {
            let json = quoted(&format!("{what}:{}", self.id));
            self.fields.replace(key, format!("{{\"redacted\":{json}}}"));
        }
    }

    /// An inner object, redacted in the name of this one. What is no object has none of its fields.
    fn inner(
        &mut self,
        key: &str,
        redact: impl FnOnce(&mut Edit<'a>) -> Result<(), serde_json::Error>,
    ) -> Result<(), serde_json::Error> {
        let Some(raw) = self.fields.get(key).filter(|raw| !is_falsy(raw)) else {
            return Ok(());
        };
        let mut inner = Edit {
            fields: Fields::within(Some(raw)),
            id: self.id.clone(),
        };
        redact(&mut inner)?;
        self.fields.replace(key, inner.fields.json());
        Ok(())
    }

    fn each(
        &mut self,
        key: &str,
        redact: impl Fn(usize, &RawValue) -> Done,
    ) -> Result<(), serde_json::Error> {
        let Some(raw) = self.fields.get(key).filter(|raw| !is_falsy(raw)) else {
            return Ok(());
        };
        let list: Vec<&RawValue> = serde_json::from_str(raw.get())?;
        let each = list.into_iter().enumerate();
        let each: Result<Vec<String>, _> = each.map(|(place, it)| redact(place, it)).collect();
        self.fields.replace(key, format!("[{}]", each?.join(",")));
        Ok(())
    }

    /// Changed files, named by their place in the list.
    fn diffs(&mut self, what: &str) -> Result<(), serde_json::Error> {
        self.each("diffs", |place, diff| {
            let mut diff = Edit::of(diff, &place.to_string())?;
            diff.text("file", &format!("{what}-file"));
            diff.text("patch", &format!("{what}-patch"));
            Ok(diff.fields.json())
        })
    }

    fn file(&mut self) -> Result<(), serde_json::Error> {
        self.text("url", "file-url");
        self.text("filename", "file-name");
        self.inner("source", |source| {
            match source.fields.text("type").as_deref() {
                Some("symbol") => {
                    source.text("path", "file-path");
                    source.text("name", "file-symbol");
                }
                Some("resource") => {
                    source.text("clientName", "file-client");
                    source.text("uri", "file-uri");
                }
                _ => source.text("path", "file-path"),
            }
            source.inner("text", |text| {
                text.text("value", "file-text");
                Ok(())
            })
        })
    }

    fn tool_state(&mut self) -> Result<(), serde_json::Error> {
        self.object("input", "tool-input");
        match self.fields.text("status").as_deref() {
            Some("pending") => {
                self.text("raw", "tool-raw");
                return Ok(());
            }
            Some("running") => self.text("title", "tool-title"),
            Some("completed") => {
                self.text("output", "tool-output");
                self.text("title", "tool-title");
                self.each("attachments", |_, it| file(it))?;
            }
            _ => {}
        }
        self.object("metadata", "tool-state-metadata");
        Ok(())
    }
}

/// What stands in the place of a text; none where there is nothing to hide.
fn redacted(raw: &RawValue, what: &str, id: &str) -> Option<String> {
    if raw.get() == "null" {
        return None;
    }
    let blank = text(raw).is_some_and(|text| text.chars().all(is_blank));
    (!blank).then(|| quoted(&format!("[redacted:{what}:{id}]")))
}

/// What JavaScript trims.
fn is_blank(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// Nothing between its brackets or quotes.
fn is_empty(json: &str) -> bool {
    let inside = json.get(1..json.len() - 1).unwrap_or_default();
    inside.is_empty() || (!json.starts_with('"') && inside.trim().is_empty())
}

/// What JavaScript takes for no.
fn is_falsy(raw: &RawValue) -> bool {
    matches!(raw.get(), "null" | "false" | "0" | "\"\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn run(redact: impl Fn(&RawValue) -> Done, value: &Value) -> Value {
        let raw = RawValue::from_string(value.to_string()).expect("json");
        serde_json::from_str(&redact(&raw).expect("an object")).expect("json")
    }

    #[test]
    fn texts_are_replaced_and_what_is_blank_stays() {
        let told = json!({"id": "p", "type": "text", "text": "secret", "metadata": {"a": 1}});
        let made = json!({
            "id": "p", "type": "text", "text": "[redacted:text:p]",
            "metadata": {"redacted": "text-metadata:p"},
        });
        assert_eq!(run(part, &told), made);
        let blank = json!({"id": "p", "type": "reasoning", "text": " \u{feff}\n", "metadata": {}});
        assert_eq!(run(part, &blank), blank);
        let odd = json!({"id": "p", "type": "text", "text": ["secret"]});
        assert_eq!(run(part, &odd)["text"], "[redacted:text:p]");
    }

    #[test]
    fn each_state_of_a_tool_has_its_own_fields() {
        let state = |state: Value| {
            let told = json!({"id": "p", "type": "tool", "tool": "bash", "state": state});
            run(part, &told)["state"].clone()
        };
        let done = state(json!({
            "status": "completed", "input": {"command": "x"}, "output": "o", "title": "",
            "metadata": {}, "time": {"start": 1, "end": 2},
            "attachments": [{"id": "a", "type": "file", "url": "data:x", "filename": "f"}],
        }));
        assert_eq!(done["input"], json!({"redacted": "tool-input:p"}));
        assert_eq!(done["output"], "[redacted:tool-output:p]");
        assert_eq!(
            (&done["title"], &done["metadata"]),
            (&json!(""), &json!({}))
        );
        assert_eq!(done["attachments"][0]["url"], "[redacted:file-url:a]");
        assert_eq!(done["attachments"][0]["filename"], "[redacted:file-name:a]");
        let failed = state(json!({"status": "error", "input": {}, "error": "why"}));
        assert_eq!(
            failed,
            json!({"status": "error", "input": {}, "error": "why"})
        );
        let pending = state(json!({"status": "pending", "input": {}, "raw": "{\"a"}));
        assert_eq!(pending["raw"], "[redacted:tool-raw:p]");
    }

    #[test]
    fn a_message_keeps_its_ids_and_loses_its_places() {
        let told = json!({
            "info": {"id": "m", "role": "assistant", "path": {"cwd": "/a", "root": "/", "x": 1}},
            "parts": [{"id": "q", "type": "patch", "hash": "h", "files": ["/a/b", "/c"]}],
        });
        let made = json!({
            "info": {
                "id": "m", "role": "assistant",
                "path": {"cwd": "[redacted:cwd:m]", "root": "[redacted:root:m]"},
            },
            "parts": [{
                "id": "q", "type": "patch", "hash": "[redacted:patch:q]",
                "files": ["[redacted:patch-file:q-0]", "[redacted:patch-file:q-1]"],
            }],
        });
        assert_eq!(run(message, &told), made);
        let user = json!({
            "info": {"id": "m", "role": "user", "summary": {"title": "t", "diffs": [
                {"file": "f", "patch": "p", "additions": 1},
            ]}},
            "parts": [],
        });
        let user = run(message, &user);
        assert_eq!(
            user["info"]["summary"]["title"],
            "[redacted:summary-title:m]"
        );
        let diff = json!({
            "file": "[redacted:message-diff-file:0]", "patch": "[redacted:message-diff-patch:0]",
            "additions": 1,
        });
        assert_eq!(user["info"]["summary"]["diffs"][0], diff);
    }

    #[test]
    fn what_cannot_be_looked_into_is_not_passed_on() {
        for json in [r#"{"parts":["x"]}"#, r#"{"info":"x"}"#, "[]"] {
            let raw = RawValue::from_string(json.to_owned()).expect("json");
            assert!(message(&raw).is_err(), "{json}");
        }
    }
}
