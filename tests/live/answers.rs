//! `ocwatch answer` against the real server: what it says became of it is what the server says.

use crate::asks::{CHILD_PERMISSION, child};
use crate::ocwatch::{Run, run, until_seen};
use crate::server::{OpenCode, shared};
use serde_json::json;

fn answer(server: &OpenCode, id: &str, flags: &[&str]) -> Run {
    let mut arguments = vec!["answer", id];
    arguments.extend(flags);
    run(server, &arguments)
}

fn done(ran: &Run, words: &str) {
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains(words), "{words}: {ran:#?}");
}

#[test]
fn a_question_is_answered_by_label_and_its_turn_goes_on() {
    let Some(server) = shared() else { return };
    let project = server.project("answer");
    let id = server.session(&project, "a question to be answered");
    server.prompt(&id, "question");
    until_seen(server, &id, "busy", "asking");
    let wrong = answer(server, &id, &["--choose", "C"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    done(&answer(server, &id, &["--choose", "b"]), "answered after");
    until_seen(server, &id, "idle", "done");
    let messages = server.get(&format!("/session/{id}/message")).to_string();
    assert!(messages.contains("\\\"Which?\\\"=\\\"B\\\""), "{messages}");
    let again = answer(server, &id, &["--choose", "b"]);
    assert_eq!(again.code, Some(1), "{again:#?}");
}

#[test]
fn a_permission_below_is_granted_from_the_parent_and_one_is_rejected_with_words() {
    let Some(server) = shared() else { return };
    let project = server.project("grant");
    for (flags, words, heard) in [
        (&["--once"][..], "allowed once after", ""),
        (
            &["--reject", "not that file"],
            "rejected with words",
            "not that file",
        ),
    ] {
        let parent = server.session(&project, "a family that asks");
        server.prompt(&parent, CHILD_PERMISSION);
        let child = child(&until_seen(server, &parent, "busy", "subagent"));
        until_seen(server, &child, "busy", "asking");
        done(&answer(server, &parent, flags), words);
        until_seen(server, &parent, "idle", "done");
        let messages = server.get(&format!("/session/{child}/message")).to_string();
        assert!(messages.contains(heard), "{messages}");
        assert_eq!(server.open("permission", &project), json!([]));
    }
}

#[test]
fn a_rejected_question_ends_its_turn_and_a_ghost_is_dismissed() {
    let Some(server) = shared() else { return };
    let project = server.project("reject");
    let id = server.session(&project, "a question to be rejected");
    server.prompt(&id, "question");
    until_seen(server, &id, "busy", "asking");
    done(&answer(server, &id, &["--reject"]), "the turn has ended");

    let id = server.session(&project, "a question that is left behind");
    server.prompt(&id, "question");
    until_seen(server, &id, "busy", "asking");
    server.abort(&id);
    until_seen(server, &id, "idle", "aborted");
    let ran = answer(server, &id, &["--choose", "A"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    done(&answer(server, &id, &["--dismiss"]), "dismissed after");
    assert_eq!(server.open("question", &project), json!([]));
}
