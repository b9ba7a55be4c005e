//! Abort and export, held against what the server and its own program say afterwards.

use crate::asks::{CHILD_PERMISSION, child};
use crate::install::opencode;
use crate::ocwatch::{run, until_seen};
use crate::server::{OpenCode, shared};
use crate::turns::Gate;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn abort_stops_a_command_and_proves_it() {
    let Some(server) = shared() else { return };
    let gate = Gate::new(server, "abort");
    let id = server.begin(&format!("bash:{}", gate.command));
    until_seen(server, &id, "busy", "running-tool");

    let unasked = run(server, &["abort", &id]);
    assert_eq!(
        unasked.code,
        Some(2),
        "off a terminal it wants --yes: {unasked:#?}"
    );
    assert!(
        !server.run_state(&server.projects[0], &id).is_null(),
        "it still runs"
    );

    let abort = run(server, &["abort", &id, "--yes"]);
    assert_eq!(abort.code, Some(0), "{abort:#?}");
    assert_eq!(server.run_state(&server.projects[0], &id), Value::Null);
    let messages = server.get(&format!("/session/{id}/message"));
    let answer = messages.as_array().unwrap().last().unwrap();
    assert!(answer["info"]["time"]["completed"].is_u64(), "{answer:#}");
}

/// The server's own abort leaves the ask in its list for ever.
#[test]
fn abort_of_a_question_leaves_no_ghost() {
    let Some(server) = shared() else { return };
    let project = server.project("question");
    let id = server.session(&project, "a question to be stopped");
    server.prompt(&id, "question");
    until_seen(server, &id, "busy", "asking");
    assert_stopped(server, &id, &project);
    assert_eq!(server.open("question", &project), json!([]));
}

#[test]
fn abort_of_a_parent_ends_the_asking_child_too() {
    let Some(server) = shared() else { return };
    let project = server.project("family");
    let parent = server.session(&project, "a family to be stopped");
    server.prompt(&parent, CHILD_PERMISSION);
    let child = child(&until_seen(server, &parent, "busy", "subagent"));
    until_seen(server, &child, "busy", "asking");
    assert_stopped(server, &parent, &project);
    assert_eq!(server.run_state(&project, &child), Value::Null);
    assert_eq!(server.open("permission", &project), json!([]));
}

fn assert_stopped(server: &OpenCode, id: &str, project: &Path) {
    let abort = run(server, &["abort", id, "--yes"]);
    assert_eq!(abort.code, Some(0), "{abort:#?}");
    assert_eq!(server.run_state(project, id), Value::Null);
}

#[test]
fn an_export_is_what_opencode_exports_and_imports() {
    let Some(server) = shared() else { return };
    let id = server.begin("bash:echo exported; echo 'two lines'");
    until_seen(server, &id, "idle", "done");
    server.prompt(&id, "say:second turn");
    let file = server.root.join("exported.json");
    let target = file.to_str().unwrap();
    until_seen(server, &id, "idle", "done");

    let export = run(server, &["export", &id, "-o", target]);
    assert_eq!(export.code, Some(0), "{export:#?}");
    assert_eq!(export.stdout.trim(), target);
    let ours: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(ours["messages"].as_array().map(Vec::len), Some(5));
    assert_eq!(ours, their_export(server, &id));

    let again = run(server, &["export", &id, "-o", target]);
    assert_eq!(
        again.code,
        Some(1),
        "a file that exists is kept: {again:#?}"
    );
    import(server, &file, &id);
}

/// What `opencode export` prints, without what it tells around it.
fn their_export(server: &OpenCode, id: &str) -> Value {
    let printed = output(
        server
            .command(opencode().to_str().unwrap(), "home")
            .args(["export", id]),
    );
    let start = printed.find('{').expect("an object");
    serde_json::from_str(&printed[start..]).unwrap()
}

/// Takes the file into a home that knows nothing of it, and reads it back there.
fn import(server: &OpenCode, file: &Path, id: &str) {
    server.configure("importer");
    let program = opencode().to_str().unwrap();
    let printed = output(server.command(program, "importer").arg("import").arg(file));
    assert!(printed.contains(id), "{printed}");
    let back = output(server.command(program, "importer").args(["export", id]));
    let back: Value = serde_json::from_str(&back[back.find('{').unwrap()..]).unwrap();
    let ours: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(back["messages"], ours["messages"]);
}

fn output(command: &mut Command) -> String {
    let out = command.output().expect("opencode");
    assert!(out.status.success(), "{command:?}: {out:?}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}
