//! Makers of stuck states: each returns when the server shows the state, not after a time.

use crate::drive::request;
use crate::server::OpenCode;
use crate::support::{PATIENCE, eventually};
use serde_json::{Value, json};
use std::path::Path;

/// A prompt that hands `prompt` to a subagent that may have subagents, and ask questions.
pub fn task(prompt: &str) -> String {
    let input = json!({"description": "below", "prompt": prompt, "subagent_type": "nester"});
    format!("tool:task {input}")
}

/// A prompt that calls a tool for something outside of the project, which asks for permission.
pub fn outside(tool: &str) -> String {
    let input = match tool {
        "glob" => json!({"pattern": "*", "path": "/etc"}),
        "grep" => json!({"pattern": "localhost", "path": "/etc"}),
        "write" => json!({"filePath": "/nowhere/at/all", "content": "x"}),
        "edit" => json!({"filePath": "/nowhere/at/all", "oldString": "x", "newString": "y"}),
        _ => json!({"filePath": "/etc/hostname"}),
    };
    format!("tool:{tool} {input}")
}

/// A session of its own in `directory`, with this prompt; its id.
pub fn begin(server: &OpenCode, directory: &Path, title: &str, prompt: &str) -> String {
    let id = server.session(directory, title);
    server.prompt(&id, prompt);
    id
}

/// `!command`, as a person types it: the request stays open until the command ends.
pub fn shell(server: &OpenCode, id: &str, command: &str) {
    let (url, path) = (server.url.clone(), format!("/session/{id}/shell"));
    let body = json!({"command": command, "agent": "build"});
    std::thread::spawn(move || request("POST", &url, &path, Some(&body), 600));
}

/// Until the newest answer holds a part like that.
pub fn until_part(server: &OpenCode, id: &str, what: &str, like: impl Fn(&Value) -> bool) {
    eventually(&format!("{what} in {id}"), PATIENCE, || {
        let messages = server.get(&format!("/session/{id}/message"));
        let parts = messages.as_array().and_then(|all| all.last());
        let parts = parts.and_then(|it| it["parts"].as_array().cloned());
        let found = parts.is_some_and(|parts| parts.iter().any(&like));
        found.then_some(()).ok_or_else(|| format!("{messages:#}"))
    });
}

/// Until this tool was called, and has not ended.
pub fn until_called(server: &OpenCode, id: &str, tool: &str) {
    until_part(server, id, &format!("{tool} runs"), |part| {
        part["tool"] == tool && open_tool(part)
    });
}

/// Until the command has printed this, and has not ended.
pub fn until_printed(server: &OpenCode, id: &str, word: &str) {
    until_part(server, id, "the command's output", |part| {
        let output = part["state"]["metadata"]["output"].as_str();
        open_tool(part) && output.is_some_and(|it| it.contains(word))
    });
}

/// Until an answer streams: a poll shows the part, not its text.
pub fn until_streams(server: &OpenCode, id: &str, kind: &str) {
    until_part(server, id, kind, |part| {
        // A prompt is text, too, without any time.
        part["type"] == kind && part["time"]["start"].is_u64() && part["time"]["end"].is_null()
    });
}

/// Until `session` is asked about (`kind`: permission, question).
pub fn until_asked(server: &OpenCode, kind: &str, directory: &Path, session: &str) {
    eventually(&format!("a {kind} of {session}"), PATIENCE, || {
        let open = server.open(kind, directory);
        let mut asks = open.as_array().into_iter().flatten();
        let found = asks.any(|ask| ask["sessionID"] == session);
        found.then_some(()).ok_or_else(|| format!("{open:#}"))
    });
}

/// Until it has a subagent; the subagent's id.
pub fn until_child(server: &OpenCode, id: &str) -> String {
    eventually(&format!("a subagent of {id}"), PATIENCE, || {
        let below = server.get(&format!("/session/{id}/children"));
        let child = below[0]["id"].as_str().map(str::to_owned);
        child.ok_or_else(|| format!("{below:#}"))
    })
}

/// Until the server reports this of the session; "idle" is being absent.
pub fn until_reported(server: &OpenCode, directory: &Path, id: &str, word: &str) {
    eventually(&format!("{id} is {word}"), PATIENCE, || {
        let state = server.run_state(directory, id);
        let told = state["type"].as_str().unwrap_or("idle");
        (told == word)
            .then_some(())
            .ok_or_else(|| state.to_string())
    });
}

/// A tool part that has not ended.
pub fn open_tool(part: &Value) -> bool {
    let status = part["state"]["status"].as_str();
    part["type"] == "tool" && matches!(status, Some("pending" | "running"))
}
