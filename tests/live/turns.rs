//! Turns that go well: text, a long command, projects beside the server's own.

use crate::ocwatch::{assert_judged, until_calmly};
use crate::server::{OpenCode, shared};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A command that runs until its file is taken away, or until these tests are over.
pub struct Gate {
    file: PathBuf,
    /// What the tool is given.
    pub command: String,
}

impl Gate {
    /// A closed gate of this name.
    pub fn new(server: &OpenCode, name: &str) -> Self {
        let file = server.root.join(format!("gate-{name}"));
        fs::write(&file, "").unwrap();
        let command = format!(
            "while [ -e {} ] && kill -0 {} 2>/dev/null; do sleep 0.3; done",
            file.display(),
            std::process::id()
        );
        Self { file, command }
    }

    /// Lets the command end.
    pub fn open(&self) {
        fs::remove_file(&self.file).unwrap();
    }
}

/// Running `command`, nothing wrong with it.
pub fn assert_runs(session: &Value, command: &str) {
    assert_judged(session, "ok", &[]);
    assert_eq!(session["activity"]["tool"], "bash", "{session:#}");
    assert_eq!(session["activity"]["detail"], command, "{session:#}");
    assert_eq!(session["agreement"], "agree", "{session:#}");
    assert_eq!(session["settling"], Value::Null, "{session:#}");
}

#[test]
fn text_streams_and_is_done() {
    let Some(server) = shared() else { return };
    let id = server.begin("slow:12");
    let streaming = until_calmly(server, &id, "busy", "streaming");
    assert_judged(&streaming, "ok", &[]);
    assert_eq!(streaming["title"], "slow:12");
    assert_eq!(streaming["model"], "scripted/scripted");

    let done = until_calmly(server, &id, "idle", "done");
    assert_judged(&done, "ok", &[]);
    assert_eq!(done["settling"], Value::Null);
    let messages = server.get(&format!("/session/{id}/message"));
    let said = messages[1]["parts"].to_string();
    assert!(said.contains("tok11"), "the turn was whole: {said}");
}

#[test]
fn a_command_runs_until_it_ends() {
    let Some(server) = shared() else { return };
    let gate = Gate::new(server, "ends");
    let id = server.begin(&format!("bash:{}", gate.command));
    assert_runs(
        &until_calmly(server, &id, "busy", "running-tool"),
        &gate.command,
    );
    gate.open();
    assert_judged(&until_calmly(server, &id, "idle", "done"), "ok", &[]);
}

#[test]
fn a_command_stopped_over_http_was_aborted() {
    let Some(server) = shared() else { return };
    let gate = Gate::new(server, "stopped");
    let id = server.begin(&format!("bash:{}", gate.command));
    assert_runs(
        &until_calmly(server, &id, "busy", "running-tool"),
        &gate.command,
    );
    server.abort(&id);
    assert_judged(&until_calmly(server, &id, "idle", "aborted"), "ok", &[]);
}

/// A server answers for its own directory when none is named; what runs elsewhere must be seen all the same.
#[test]
fn what_runs_in_another_project_is_seen() {
    let Some(server) = shared() else { return };
    let other = server.project("other");
    let gate = Gate::new(server, "other");
    let id = server.session(&other, "in the other project");
    server.prompt(&id, &format!("bash:{}", gate.command));
    let seen = until_calmly(server, &id, "busy", "running-tool");
    assert_runs(&seen, &gate.command);
    assert_eq!(seen["directory"], json!(other));
    let own = server.get("/session/status");
    assert_eq!(own[&id], Value::Null, "the trap is there: {own}");
    gate.open();
    assert_judged(&until_calmly(server, &id, "idle", "done"), "ok", &[]);
}
