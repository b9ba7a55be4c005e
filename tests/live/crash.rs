//! The server is killed while a command runs, and comes back.

use crate::ocwatch::{Seen, run, status, until_seen};
use crate::server::{OpenCode, own};
use crate::turns::Gate;
use serde_json::{Value, json};

#[test]
fn a_killed_server_is_unknown_and_what_it_ran_was_interrupted() {
    let Some(mut server) = own(&["main"]) else {
        return;
    };
    let gate = Gate::new(&server, "killed");
    let id = server.begin(&format!("bash:{}", gate.command));
    until_seen(&server, &id, "busy", "running-tool");

    server.kill9();
    assert_away(&server, &id);

    server.restart();
    let messages = format!("/session/{id}/message");
    let dangling = server.get(&messages)[1].clone();
    assert_eq!(
        dangling["info"]["time"]["completed"],
        Value::Null,
        "the trap is there"
    );
    let seen = until_seen(&server, &id, "idle", "running-tool");
    assert_interrupted(&seen);

    let abort = run(&server, &["abort", &id, "--yes"]);
    assert_eq!(
        abort.code,
        Some(1),
        "an abort cannot end what does not run: {abort:#?}"
    );
    let said = abort.stdout + &abort.stderr;
    assert!(said.contains("no effect"), "{said}");
    assert_eq!(server.get(&messages)[1], dangling);
}

/// Nothing is known of a session whose server is away: never idle, never ok.
fn assert_away(server: &OpenCode, id: &str) {
    let (code, doc) = status(server, &[]);
    assert_eq!(code, Some(3), "{:#}", doc.0);
    assert_eq!(doc.server()["state"], "unreachable", "{:#}", doc.0);
    assert_ne!(doc.server()["error"], json!(null), "{:#}", doc.0);
    if let Some(seen) = doc.session(id) {
        assert_eq!(seen.level(), "unknown", "{seen:#?}");
        assert_eq!(seen.words().0, "unknown", "{seen:#?}");
    }
}

/// A one-shot look cannot know that this server ran it: it settles first, and says as what.
fn assert_interrupted(session: &Value) {
    let seen = Seen(session);
    assert_eq!(session["agreement"], "disagree", "{session:#}");
    if seen.findings().is_empty() {
        assert_eq!(seen.settling(), Some("interrupted"), "{session:#}");
    } else {
        assert_eq!(seen.findings(), ["interrupted"], "{session:#}");
        assert!(matches!(seen.level(), "watch" | "stuck"), "{session:#}");
    }
}
