//! Turns that do not go well: a provider that fails, a model that does not exist.

use crate::ocwatch::{Seen, assert_judged, until, until_seen};
use crate::server::shared;
use serde_json::Value;

#[test]
fn a_failing_provider_is_retried_until_stopped() {
    let Some(server) = shared() else { return };
    let id = server.begin("err:500");
    let doc = until(server, "a retry is counted down", |doc| {
        doc.session(&id)
            .is_some_and(|seen| seen.words().0 == "retry" && !seen.findings().is_empty())
    });
    let seen = doc.session(&id).unwrap().0;
    assert_judged(seen, "watch", &["retrying"]);
    let reported = &seen["reported"];
    assert!(reported["attempt"].as_u64() >= Some(1), "{seen:#}");
    assert!(
        reported["next"].as_u64() > seen["created"].as_u64(),
        "{seen:#}"
    );
    assert!(
        reported["message"].to_string().contains("scripted failure"),
        "{seen:#}"
    );

    server.abort(&id);
    assert_judged(&until_seen(server, &id, "idle", "aborted"), "ok", &[]);
}

/// The server takes such a prompt (204), stores it, and never answers.
#[test]
fn a_prompt_for_an_unknown_model_stays_unanswered() {
    let Some(server) = shared() else { return };
    let id = server.session(&server.projects[0], "unknown model");
    server.prompt_with_model(&id, "say:hello", "nobody");
    let young = until_seen(server, &id, "idle", "unanswered");
    if Seen(&young).findings().is_empty() {
        assert_eq!(
            Seen(&young).settling(),
            Some("unanswered-prompt"),
            "{young:#}"
        );
        assert_eq!(Seen(&young).level(), "ok", "{young:#}");
    }
    let doc = until(server, "the prompt counts as unanswered", |doc| {
        doc.session(&id)
            .is_some_and(|seen| seen.settling().is_none())
    });
    let seen = doc.session(&id).unwrap().0;
    assert_judged(seen, "watch", &["unanswered-prompt"]);
    let prompt = &server.get(&format!("/session/{id}/message"))[0]["info"];
    assert_eq!(
        seen["findings"][0]["evidence"]["message"], prompt["id"],
        "{seen:#}"
    );
    let age = doc.0["at"].as_u64().unwrap() - prompt["time"]["created"].as_u64().unwrap();
    assert!(age >= 20_000, "not before its 20 s: {age} ms");
    assert_ne!(seen["findings"][0]["offers"], Value::Null);
}
