//! Eight states side by side: one server, one document, every word right.

use crate::asks::{CHILD_PERMISSION, assert_permission_shown, child};
use crate::install::VERSION;
use crate::ocwatch::{Doc, until};
use crate::server::{OpenCode, own};
use crate::turns::{Gate, assert_runs};
use serde_json::json;

/// Session, reported, activity, level, findings.
type Expected<'a> = (&'a str, &'a str, &'a str, &'a str, &'a [&'a str]);

/// One session of each kind.
struct Sessions {
    unknown_model: String,
    done: String,
    streaming: String,
    stalled: String,
    running: String,
    question: String,
    parent: String,
}

impl Sessions {
    fn begin(server: &OpenCode, command: &str) -> Self {
        let unknown_model = server.session(&server.projects[0], "unknown model");
        server.prompt_with_model(&unknown_model, "say:hello", "nobody");
        let parent = server.session(&server.projects[1], "in the second project");
        server.prompt(&parent, CHILD_PERMISSION);
        Self {
            unknown_model,
            done: server.begin("say:all is well"),
            streaming: server.begin("slow:300"),
            stalled: server.begin("hang"),
            running: server.begin(&format!("bash:{command}")),
            question: server.begin("question"),
            parent,
        }
    }

    #[rustfmt::skip]
    fn expected(&self) -> Vec<Expected<'_>> {
        vec![
            (&self.unknown_model, "idle", "unanswered", "watch", &["unanswered-prompt"]),
            (&self.done, "idle", "done", "ok", &[]),
            (&self.streaming, "busy", "streaming", "ok", &[]),
            (&self.stalled, "busy", "streaming", "ok", &[]),
            (&self.running, "busy", "running-tool", "ok", &[]),
            (&self.question, "busy", "asking", "needs-you", &["waiting-question"]),
            (&self.parent, "busy", "subagent", "needs-you", &["subagent-needs-you"]),
        ]
    }
}

#[test]
fn eight_sessions_are_told_apart_in_one_document() {
    let Some(server) = own(&["main", "second"]) else {
        return;
    };
    let gate = Gate::new(&server, "eight");
    let sessions = Sessions::begin(&server, &gate.command);
    let mut expected = sessions.expected();
    let doc = until_all(&server, &expected);
    let asking = child(doc.session(&sessions.parent).unwrap().0);
    expected.push((
        &asking,
        "busy",
        "asking",
        "needs-you",
        &["waiting-permission"],
    ));

    // Its attempts end after a minute, so it starts when the slowest of the others is judged.
    let retry = server.begin("err:500");
    expected.push((&retry, "retry", "starting", "watch", &["retrying"]));
    let doc = until_all(&server, &expected);
    let count = doc.0["sessions"].as_array().map(Vec::len);
    assert_eq!(count, Some(expected.len()), "{:#}", doc.0);
    let here = doc.server();
    assert_eq!(
        (&here["state"], &here["dialect"]),
        (&json!("live"), &json!("v1"))
    );
    assert_eq!(
        (&here["version"], &here["findings"]),
        (&json!(VERSION), &json!([]))
    );
    assert_runs(doc.session(&sessions.running).unwrap().0, &gate.command);
    assert_permission_shown(doc.session(&asking).unwrap().0, &asking);
    assert_permission_shown(doc.session(&sessions.parent).unwrap().0, &asking);
    gate.open();
}

fn until_all(server: &OpenCode, expected: &[Expected<'_>]) -> Doc {
    let what = format!("all of {expected:#?}");
    until(server, &what, |doc| {
        expected
            .iter()
            .all(|&(id, reported, activity, level, findings)| {
                doc.session(id).is_some_and(|seen| {
                    seen.words() == (reported, activity)
                        && (seen.level(), &seen.findings()[..]) == (level, findings)
                })
            })
    })
}
