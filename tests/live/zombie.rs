//! A session is deleted while a command runs in it: the run goes on, and nothing shows it any more.

use crate::drive::request;
use crate::ocwatch::{until, until_seen};
use crate::server::own;
use crate::turns::Gate;
use serde_json::json;

/// In the second project, which another session names: without one nobody would know to ask there.
#[test]
fn a_run_that_outlives_its_session_is_told_until_it_is_ended() {
    let Some(server) = own(&["main", "other"]) else {
        return;
    };
    let other = &server.projects[1];
    let gate = Gate::new(&server, "zombie");
    server.session(other, "stays");
    let id = server.session(other, "to be deleted");
    server.prompt(&id, &format!("bash:{}", gate.command));
    until_seen(&server, &id, "busy", "running-tool");

    let path = format!("/session/{id}");
    let deleted = request("DELETE", &server.url, &path, None, 30);
    assert_eq!(deleted.unwrap().0, 200);
    let zombie = |of: &crate::ocwatch::Doc| {
        let findings = of.server()["findings"].as_array().unwrap().iter();
        let mut zombies = findings.filter(|it| it["name"] == "zombie-run");
        zombies.any(|it| it["text"].as_str().unwrap_or_default().contains(&id))
    };
    let doc = until(&server, "the zombie is told", zombie);
    assert!(doc.session(&id).is_none(), "{:#}", doc.0);

    let abort = format!("/session/{id}/abort?directory={}", other.display());
    server.post(&abort, &json!({}));
    until(&server, "it has ended", |doc| !zombie(doc));
}
