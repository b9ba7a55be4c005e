//! What others leave behind on a running server: an ask that nobody waits for, a run without its session.

use super::made::{begin, outside, until_asked, until_called, until_printed, until_reported};
use super::proof::Stuck;
use super::record::Done;
use crate::drive::request;
use crate::ocwatch::run;
use crate::server::{OpenCode, shared};
use crate::turns::Gate;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::path::Path;

fn delete(server: &OpenCode, id: &str) {
    let path = format!("/session/{id}");
    let deleted = request("DELETE", &server.url, &path, None, 30);
    assert_eq!(deleted.map(|it| it.0), Ok(200));
}

/// Another client aborts; the server forgets the run, not the ask.
#[test]
fn asks_that_an_abort_left_are_dismissed() {
    let Some(server) = shared() else { return };
    let main = &server.projects[0];
    for (kind, prompt) in [
        ("question", "question".to_owned()),
        ("permission", outside("read")),
    ] {
        let id = begin(server, main, kind, &prompt);
        until_asked(server, kind, main, &id);
        server.abort(&id);
        until_reported(server, main, &id, "idle");
        until_asked(server, kind, main, &id);
        let stuck = Stuck {
            server,
            directory: main,
            id: &id,
        };
        let said = stuck.assert_reset(Done::Repaired, &[]);
        assert!(said.contains("dismissed"), "{said}");
    }
}

/// Nothing of the session can be read any more; what runs is found by the project's run states.
fn assert_zombie_ended(server: &OpenCode, project: &Path, prompt: &str, command: &str) {
    let id = begin(server, project, "to be deleted", prompt);
    if prompt == "question" {
        until_asked(server, "question", project, &id);
    } else {
        until_called(server, &id, "bash");
    }
    delete(server, &id);
    assert_eq!(
        server.run_state(project, &id)["type"],
        "busy",
        "the trap is there"
    );
    let ended = run(server, &[command, &id, "--yes"]);
    assert_eq!(ended.code, Some(0), "{command} {prompt}: {ended:#?}");
    assert_eq!(server.run_state(project, &id), Value::Null, "{ended:#?}");
    assert_eq!(server.open("question", project), json!([]), "{ended:#?}");
}

#[test]
fn runs_that_outlived_their_sessions_are_ended() {
    let Some(server) = shared() else { return };
    let project = server.project("deleted");
    let stays = server.session(&project, "stays");
    for command in ["reset", "abort"] {
        let gate = Gate::new(server, &format!("zombie-{command}"));
        assert_zombie_ended(server, &project, &format!("bash:{}", gate.command), command);
        assert_zombie_ended(server, &project, "question", command);
    }
    let stuck = Stuck {
        server,
        directory: &project,
        id: &stays,
    };
    stuck.assert_answers();
}

/// A plan for a deleted session is printed as well, and leaves it running.
#[test]
fn the_plan_for_a_deleted_session_changes_nothing() {
    let Some(server) = shared() else { return };
    let project = server.project("planned");
    server.session(&project, "stays");
    let gate = Gate::new(server, "planned");
    let prompt = format!("bash:echo ready; {}", gate.command);
    let id = begin(server, &project, "to be deleted", &prompt);
    until_printed(server, &id, "ready");
    delete(server, &id);
    let dry = run(server, &["reset", &id, "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry:#?}");
    assert_eq!(server.run_state(&project, &id)["type"], "busy", "{dry:#?}");
    let ended = run(server, &["reset", &id, "--yes"]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
}
