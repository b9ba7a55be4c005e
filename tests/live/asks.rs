//! Sessions that wait for a person.

use crate::ocwatch::{assert_judged, until_seen};
use crate::server::shared;
use serde_json::{Value, json};

/// A prompt whose subagent reads outside of its project, which asks for permission.
pub const CHILD_PERMISSION: &str = "tool:task {\"description\":\"child\",\"prompt\":\
    \"tool:read {\\\"filePath\\\":\\\"/etc/hostname\\\"}\",\"subagent_type\":\"general\"}";

/// The only child of a session.
pub fn child(session: &Value) -> String {
    let children = session["children"].as_array().expect("children");
    assert_eq!(children.len(), 1, "{session:#}");
    children[0].as_str().expect("an id").to_owned()
}

/// A permission to read outside of the project is shown as such, by the session or its ancestor.
pub fn assert_permission_shown(session: &Value, asking: &str) {
    let ask = &session["asks"][0];
    assert_eq!(ask["kind"], "permission", "{session:#}");
    assert_eq!(ask["session"], asking, "{session:#}");
    let text = ask["text"].as_str().unwrap_or_default();
    assert!(text.contains("external_directory"), "{session:#}");
    assert!(ask["patterns"].to_string().contains("/etc/"), "{session:#}");
}

#[test]
fn a_question_waits_until_it_is_answered() {
    let Some(server) = shared() else { return };
    let id = server.begin("question");
    let asking = until_seen(server, &id, "busy", "asking");
    assert_judged(&asking, "needs-you", &["waiting-question"]);
    let ask = &asking["asks"][0];
    assert_eq!(ask["kind"], "question");
    assert!(ask["text"].to_string().contains("Which?"), "{ask:#}");
    let options = &ask["questions"][0]["options"];
    assert_eq!(
        (&options[0]["label"], &options[1]["label"]),
        (&json!("A"), &json!("B"))
    );

    let answer = json!({"answers": [["A"]]});
    server.reply("question", &server.projects[0], &id, &answer);
    let done = until_seen(server, &id, "idle", "done");
    assert_judged(&done, "ok", &[]);
    assert_eq!(done["asks"], json!([]));
}

#[test]
fn a_permission_in_a_subagent_needs_you_at_its_parent_too() {
    let Some(server) = shared() else { return };
    let parent = server.begin(CHILD_PERMISSION);
    let seen = until_seen(server, &parent, "busy", "subagent");
    let child = child(&seen);
    let asking = until_seen(server, &child, "busy", "asking");
    assert_judged(&asking, "needs-you", &["waiting-permission"]);
    assert_permission_shown(&asking, &child);
    assert_eq!(asking["parent"], json!(parent));

    let above = until_seen(server, &parent, "busy", "subagent");
    assert_judged(&above, "needs-you", &["subagent-needs-you"]);
    assert_permission_shown(&above, &child);
    assert_eq!(
        above["findings"][0]["path"].as_array().unwrap().last(),
        Some(&json!(child))
    );

    let answer = json!({"reply": "once"});
    server.reply("permission", &server.projects[0], &child, &answer);
    assert_judged(&until_seen(server, &child, "idle", "done"), "ok", &[]);
    assert_judged(&until_seen(server, &parent, "idle", "done"), "ok", &[]);
}
