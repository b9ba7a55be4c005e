//! Parts of messages as Markdown: texts, reasoning, tools with their output, files, and the rest.

use super::text::{code, fenced, plain, quote};
use super::{Iso, duration, say_failure, tokens};
use crate::core::export::{Fields, fields};
use crate::core::time::UnixMs;
use serde_json::value::RawValue;
use std::fmt::Write;

/// A part; empty where it says nothing to a person.
pub(super) fn part(raw: &RawValue, iso: Iso) -> String {
    let part = Fields::within(Some(raw));
    let kind = part.text("type").unwrap_or_default();
    match kind.as_str() {
        "text" => text(&part),
        "reasoning" => reasoning(&part),
        "tool" => tool(&part, iso),
        "file" => file(&part),
        "patch" => patch(&part),
        "agent" => line(&format!("agent {}", code(&said(&part, "name")))),
        "subtask" => subtask(&part),
        "compaction" => line("the history before this was summarised"),
        "retry" => retry(&part),
        "step-start" | "step-finish" | "snapshot" => String::new(),
        _ => {
            let bytes = raw.get().len();
            line(&format!("a part of type {}, {bytes} bytes", code(&kind)))
        }
    }
}

/// Whether a part is not over: it is not told as ended.
pub(super) fn is_open(raw: &RawValue) -> Option<String> {
    let part = Fields::within(Some(raw));
    if part.text("type").as_deref() != Some("tool") {
        return None;
    }
    let status = part.inner("state").text("status")?;
    let open = matches!(status.as_str(), "pending" | "running");
    open.then(|| format!("{} is {status}", code(&said(&part, "tool"))))
}

fn said(part: &Fields, key: &str) -> String {
    part.text(key).unwrap_or_default()
}

fn line(text: &str) -> String {
    format!("*{text}*\n\n")
}

fn text(part: &Fields) -> String {
    let text = said(part, "text");
    if text.trim().is_empty() {
        return String::new();
    }
    let by = if part.is_true("synthetic") {
        "*added by OpenCode:*\n\n"
    } else {
        ""
    };
    format!("{by}{}\n", quote(&text))
}

fn reasoning(part: &Fields) -> String {
    let text = said(part, "text");
    if text.trim().is_empty() {
        return String::new();
    }
    let took = span(&part.inner("time")).map_or(String::new(), |took| format!(", {took}"));
    let bytes = text.len();
    format!(
        "<details>\n<summary>reasoning{took}, {bytes} bytes</summary>\n\n{}\n</details>\n\n",
        quote(&text)
    )
}

fn tool(part: &Fields, iso: Iso) -> String {
    let state = part.inner("state");
    let status = said(&state, "status");
    let input = state.inner("input");
    let mut out = format!("#### Tool {}", code(&said(part, "tool")));
    if let Some(subject) = subject(&state, &input) {
        out.push_str(": ");
        out.push_str(&code(&subject));
    }
    out.push_str("\n\n");
    out.push_str(&how(&status, &state, iso));
    out.push_str(&given(&state));
    let metadata = state.inner("metadata");
    let output = state.text("output").or_else(|| metadata.text("output"));
    if let Some(output) = output.filter(|it| !it.is_empty()) {
        let bytes = output.len();
        let head = format!("output, {bytes} bytes:\n\n");
        writeln!(out, "{head}{}", fenced(&output, "text")).ok();
    }
    if let Some(error) = state.text("error").filter(|it| !it.is_empty()) {
        write!(out, "error:\n\n{}\n", fenced(&error, "text")).ok();
    }
    for attachment in state.list("attachments") {
        out.push_str(&file(&Fields::within(Some(attachment))));
    }
    out
}

/// How it ended, or that it has not.
fn how(status: &str, state: &Fields, iso: Iso) -> String {
    let time = state.inner("time");
    let text = match (status, span(&time)) {
        ("completed", Some(took)) => format!("completed in {took}"),
        ("error", Some(took)) => format!("failed after {took}"),
        ("completed", None) => "completed".to_owned(),
        ("error", None) => "failed".to_owned(),
        ("running", _) => match time.number("start") {
            Some(start) => format!("**not ended: running since {}**", iso(ms(start))),
            None => "**not ended: running**".to_owned(),
        },
        ("pending", _) => "**not begun: pending**".to_owned(),
        (other, _) => format!("in state {}", code(other)),
    };
    format!("{text}\n\n")
}

/// What it was called with, whole, folded away.
fn given(state: &Fields) -> String {
    let Some(raw) = state.get("input").filter(|raw| raw.get() != "{}") else {
        return String::new();
    };
    let bytes = raw.get().len();
    format!(
        "<details>\n<summary>input, {bytes} bytes</summary>\n\n{}\n</details>\n\n",
        fenced(&indented(raw), "json")
    )
}

/// JSON for reading; as it came where it cannot be laid out.
fn indented(raw: &RawValue) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(raw.get()).ok();
    let laid_out = value.and_then(|it| serde_json::to_string_pretty(&it).ok());
    laid_out.unwrap_or_else(|| raw.get().to_owned())
}

/// One line on what it worked on.
fn subject(state: &Fields, input: &Fields) -> Option<String> {
    let named = ["command", "filePath", "pattern", "url", "description"];
    let named = named.iter().find_map(|key| input.text(key));
    let subject = named.or_else(|| state.text("title"))?;
    let mut lines = subject.trim().lines();
    let first = lines.next()?.chars().take(200).collect::<String>();
    let more = lines.next().is_some() || first.len() < subject.trim().lines().next()?.len();
    Some(if more { format!("{first} …") } else { first })
}

fn file(part: &Fields) -> String {
    let name = part.text("filename").unwrap_or_else(|| "a file".to_owned());
    let mime = code(&said(part, "mime"));
    let url = said(part, "url");
    let place = if url.starts_with("data:") {
        format!("{} bytes of data, not shown", url.len())
    } else {
        code(&url)
    };
    line(&format!("file {} ({mime}): {place}", code(&name)))
}

fn patch(part: &Fields) -> String {
    let files = part.list("files").into_iter();
    let files: Vec<String> = files
        .filter_map(fields::text)
        .map(|file| format!("- {}\n", code(&file)))
        .collect();
    format!("*files changed: {}*\n\n{}\n", files.len(), files.concat())
}

fn subtask(part: &Fields) -> String {
    let agent = code(&said(part, "agent"));
    let about = plain(&said(part, "description"));
    let head = line(&format!("task for agent {agent}: {about}"));
    format!("{head}{}\n", quote(&said(part, "prompt")))
}

fn retry(part: &Fields) -> String {
    let attempt = part.number("attempt").unwrap_or(0.0);
    let head = line(&format!("attempt {attempt} failed; the server tried again"));
    format!("{head}{}", say_failure(&part.inner("error")))
}

/// How long it took, if it ended.
fn span(time: &Fields) -> Option<String> {
    let (start, end) = (time.number("start")?, time.number("end")?);
    Some(duration(end - start))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float to int cast saturates, which is wanted"
)]
pub(super) fn ms(number: f64) -> UnixMs {
    UnixMs(number as i64)
}

/// Tokens in words; none where nothing was told.
pub(super) fn tokens_of(fields: &Fields) -> Option<String> {
    fields
        .get("tokens")
        .map(|_| tokens(&fields.inner("tokens")))
}
