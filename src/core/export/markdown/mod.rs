//! A session as a Markdown document, a message at a time, oldest first.
//!
//! What it does: a heading with what is known of the session; then turns, each with its prompt,
//! answers, reasoning, tools (name, subject, duration, output) and errors; at the end, what is still
//! open. What it does not: shorten anything but data of files, which is only measured; know more
//! than one message. Times are UTC. Everything that a server said is quoted, fenced or escaped. A
//! `String` never fails to be written to, so what `write!` gives is not looked at.

mod parts;
mod text;

use super::Fields;
use crate::core::time::{Span, UnixMs};
use parts::{is_open, ms, part, tokens_of};
use serde_json::value::RawValue;
use std::fmt::Write;
use text::fenced;
pub(super) use text::{code, plain};

/// Writes a time as people and programs read it: UTC, ISO 8601.
pub type Iso = fn(UnixMs) -> String;

/// Writes one session.
#[derive(Debug)]
pub struct Markdown {
    iso: Iso,
    turns: u64,
    messages: u64,
    /// What of the newest message is not over.
    open: Vec<String>,
}

impl Markdown {
    /// A document whose times are written so.
    pub fn new(iso: Iso) -> Self {
        Self {
            iso,
            turns: 0,
            messages: 0,
            open: Vec::new(),
        }
    }

    /// The heading, from the `info` of the session.
    pub fn begin(&self, info: &RawValue) -> String {
        let info = Fields::within(Some(info));
        let title = info.text("title").unwrap_or_default();
        let title = if title.trim().is_empty() {
            "untitled session".to_owned()
        } else {
            plain(&title)
        };
        let mut out = format!("# {title}\n\n");
        let mut item = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|it| !it.is_empty()) {
                writeln!(out, "- {name}: {value}").ok();
            }
        };
        let time = info.inner("time");
        let at = |key| time.number(key).map(|it| (self.iso)(ms(it)));
        item("id", info.text("id").map(|it| code(&it)));
        item("directory", info.text("directory").map(|it| code(&it)));
        item("subagent of", info.text("parentID").map(|it| code(&it)));
        item("agent", info.text("agent").map(|it| code(&it)));
        item("model", model(&info));
        item("created", at("created"));
        item("updated", at("updated"));
        item("archived", at("archived"));
        item("cost", info.number("cost").map(dollars));
        item("tokens", tokens_of(&info));
        item("OpenCode", info.text("version").map(|it| code(&it)));
        if info.get("revert").is_some_and(|raw| raw.get() != "null") {
            item(
                "reverted",
                Some("the newest messages were taken back".to_owned()),
            );
        }
        out.push('\n');
        out
    }

    /// The next message.
    pub fn message(&mut self, raw: &RawValue) -> String {
        let message = Fields::within(Some(raw));
        let info = message.inner("info");
        let parts = message.list("parts");
        self.messages += 1;
        self.open = parts.iter().filter_map(|it| is_open(it)).collect();
        let mut out = match info.text("role").as_deref() {
            Some("user") => self.prompt(&info),
            _ => self.answer(&info),
        };
        for it in parts {
            out.push_str(&part(it, self.iso));
        }
        if info.get("error").is_some_and(|raw| raw.get() != "null") {
            out.push_str(&say_failure(&info.inner("error")));
        }
        out
    }

    /// What stands after the last message.
    pub fn end(&self) -> String {
        let mut out = String::from("---\n\n");
        let counted = format!("{} messages in {} turns.", self.messages, self.turns);
        out.push_str(&counted);
        if !self.open.is_empty() {
            let open = self.open.join("; ");
            write!(out, " **Still open when this was written: {open}.**").ok();
        }
        out.push('\n');
        out
    }

    fn prompt(&mut self, info: &Fields) -> String {
        self.turns += 1;
        self.open.push("the last prompt has no answer".to_owned());
        let mut out = format!("## {}. Prompt, {}\n\n", self.turns, self.created(info));
        let agent = info.text("agent").map(|it| format!("agent {}", code(&it)));
        let model = model(info).map(|it| format!("model {it}"));
        let about: Vec<String> = agent.into_iter().chain(model).collect();
        if !about.is_empty() {
            write!(out, "*{}*\n\n", about.join(", ")).ok();
        }
        out
    }

    fn answer(&mut self, info: &Fields) -> String {
        let what = if info.is_true("summary") {
            "Summary of the history"
        } else {
            "Answer"
        };
        let mut out = format!("### {what}, {}\n\n", self.created(info));
        let time = info.inner("time");
        let (created, completed) = (time.number("created"), time.number("completed"));
        let mut about: Vec<String> = model(info).into_iter().collect();
        match (created, completed) {
            (Some(created), Some(completed)) => {
                about.push(format!("took {}", duration(completed - created)));
            }
            (_, Some(_)) => {}
            (_, None) => {
                about.push("**not ended**".to_owned());
                self.open.insert(0, "the last answer".to_owned());
            }
        }
        let finish = info.text("finish").filter(|it| it != "stop");
        about.extend(finish.map(|it| format!("ended with {}", code(&it))));
        about.extend(tokens_of(info).map(|it| format!("tokens {it}")));
        let cost = info.number("cost").filter(|cost| *cost > 0.0);
        about.extend(cost.map(dollars));
        write!(out, "{}\n\n", about.join(", ")).ok();
        out
    }

    fn created(&self, info: &Fields) -> String {
        let created = info.inner("time").number("created");
        created.map_or_else(|| "at a time not told".to_owned(), |it| (self.iso)(ms(it)))
    }
}

/// `provider/model` of a session or message.
fn model(info: &Fields) -> Option<String> {
    let inner = info.inner("model");
    let of = |fields: &Fields, keys: [&str; 2]| keys.iter().find_map(|key| fields.text(key));
    let provider = of(&inner, ["providerID", ""]).or_else(|| info.text("providerID"));
    let model = of(&inner, ["modelID", "id"]).or_else(|| info.text("modelID"))?;
    Some(code(&match provider {
        Some(provider) => format!("{provider}/{model}"),
        None => model,
    }))
}

fn dollars(cost: f64) -> String {
    format!("${cost:.4}")
}

/// Of an object with counts.
fn tokens(fields: &Fields) -> String {
    let count = |fields: &Fields, key| fields.number(key).unwrap_or(0.0);
    let cache = fields.inner("cache");
    let mut out = format!(
        "{} in, {} out",
        count(fields, "input"),
        count(fields, "output")
    );
    let more = [
        ("reasoning", count(fields, "reasoning")),
        ("read from cache", count(&cache, "read")),
        ("written to cache", count(&cache, "write")),
    ];
    for (name, number) in more.into_iter().filter(|(_, number)| *number > 0.0) {
        write!(out, ", {number} {name}").ok();
    }
    out
}

/// `{name, data: {message, statusCode}}`.
fn say_failure(error: &Fields) -> String {
    let name = error.text("name").unwrap_or_else(|| "error".to_owned());
    let data = error.inner("data");
    let status = data.number("statusCode");
    let status = status.map_or(String::new(), |code| format!(" ({code})"));
    let mut out = format!("**error** {}{status}\n\n", code(&name));
    let message = data.text("message").or_else(|| error.text("message"));
    if let Some(message) = message.filter(|it| !it.trim().is_empty()) {
        out.push_str(&fenced(&message, "text"));
        out.push('\n');
    }
    out
}

/// Milliseconds in words, tenths of a second while they count.
fn duration(span: f64) -> String {
    let span = Span(ms(span).0.max(0));
    if span < Span::secs(10) {
        format!("{:.1} s", span.as_ms() as f64 / 1000.0)
    } else {
        span.words()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn iso(at: UnixMs) -> String {
        format!("T{}", at.0)
    }

    fn raw(value: &Value) -> Box<RawValue> {
        RawValue::from_string(value.to_string()).expect("json")
    }

    fn answer(part: &Value) -> String {
        let info = json!({"role": "assistant", "time": {"created": 1000, "completed": 3500}});
        let message = raw(&json!({"info": info, "parts": [part]}));
        Markdown::new(iso).message(&message)
    }

    #[test]
    fn the_heading_says_whose_session_it_is() {
        let info = json!({
            "id": "ses_1", "title": "Port <b>", "directory": "/srv", "agent": "build",
            "model": {"id": "m", "providerID": "p"}, "cost": 0.5, "time": {"created": 1, "updated": 2},
            "tokens": {"input": 7, "output": 8, "reasoning": 0, "cache": {"read": 9, "write": 0}},
        });
        let made = "# Port \\<b\\>\n\n- id: `ses_1`\n- directory: `/srv`\n- agent: `build`\n\
                    - model: `p/m`\n- created: T1\n- updated: T2\n- cost: $0.5000\n\
                    - tokens: 7 in, 8 out, 9 read from cache\n\n";
        assert_eq!(Markdown::new(iso).begin(&raw(&info)), made);
        let bare = Markdown::new(iso).begin(&raw(&json!({})));
        assert_eq!(bare, "# untitled session\n\n\n");
    }

    #[test]
    fn a_tool_is_told_with_its_output_which_cannot_break_out() {
        let state = json!({
            "status": "completed", "input": {"command": "make\nall"}, "output": "```\n# x\n</details>",
            "time": {"start": 0, "end": 1400},
        });
        let told = answer(&json!({"type": "tool", "tool": "bash", "state": state}));
        for words in [
            "### Answer, T1000\n\ntook 2.5 s\n",
            "#### Tool `bash`: `make …`\n\ncompleted in 1.4 s\n",
            "<summary>input, 23 bytes</summary>\n\n```json\n{\n",
            "output, 18 bytes:\n\n````text\n```\n# x\n</details>\n````\n",
        ] {
            assert!(told.contains(words), "{words}\n{told}");
        }
    }

    #[test]
    fn what_is_open_is_said_where_it_is_and_at_the_end() {
        let mut document = Markdown::new(iso);
        let state = json!({"status": "running", "input": {}, "time": {"start": 5}});
        let info = json!({"role": "assistant", "time": {"created": 1}});
        let parts = json!([{"type": "tool", "tool": "bash", "state": state}]);
        let told = document.message(&raw(&json!({"info": info, "parts": parts})));
        assert!(told.contains("**not ended**"), "{told}");
        assert!(told.contains("**not ended: running since T5**"), "{told}");
        let open = "**Still open when this was written: the last answer; `bash` is running.**";
        assert!(document.end().contains(open), "{}", document.end());
        let user = json!({"info": {"role": "user", "time": {"created": 1}}, "parts": []});
        let told = document.message(&raw(&user));
        assert_eq!(told, "## 1. Prompt, T1\n\n");
        let open = "**Still open when this was written: the last prompt has no answer.**";
        assert!(document.end().contains(open), "{}", document.end());
        answer(&json!({"type": "text", "text": ""}));
    }

    #[test]
    fn errors_keep_their_words_and_unknown_parts_their_names() {
        let info = json!({
            "role": "assistant", "time": {"created": 1, "completed": 2},
            "error": {"name": "APIError", "data": {"message": "no <b>", "statusCode": 401}},
        });
        let told = Markdown::new(iso).message(&raw(&json!({"info": info, "parts": []})));
        let error = "**error** `APIError` (401)\n\n```text\nno <b>\n```\n";
        assert!(told.contains(error), "{told}");
        assert!(answer(&json!({"type": "new"})).contains("a part of type `new`, 14 bytes"));
        let prose = answer(&json!({"type": "reasoning", "text": "a\n</details>", "time": {}}));
        assert!(prose.contains("> \\</details>\n\n</details>"), "{prose}");
    }
}
