//! What a stuck session offers besides a reset: an answer to what it asks, and its prompt once more.

use super::made::{begin, outside, task, until_asked, until_child, until_reported};
use super::proof::Stuck;
use super::record::{Done, Record};
use crate::ocwatch::run;
use crate::server::{OpenCode, shared};
use crate::support::{PATIENCE, eventually};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Three questions: one label, several labels, own words.
fn questionnaire() -> String {
    let option = |label: &str| json!({"label": label, "description": "it"});
    let input = json!({"questions": [
        {"question": "Which?", "header": "Pick", "options": [option("Apple"), option("Banana")]},
        {"question": "How?", "header": "Ways", "multiple": true,
            "options": [option("Cold"), option("Warm"), option("Fast")]},
        {"question": "Why?", "header": "Reason", "options": [option("Because")]},
    ]});
    format!("tool:question {input}")
}

/// `ocwatch answer` says it is done, and the turn goes on to its end; its record then.
fn assert_answered(server: &OpenCode, id: &str, flags: &[&str]) -> Record {
    let mut arguments = vec!["answer", id];
    arguments.extend(flags);
    let answer = run(server, &arguments);
    assert_eq!(answer.code, Some(0), "{answer:#?}");
    eventually("the turn goes on to its end", PATIENCE, || {
        let record = Record::read(server, id);
        let last = record.0[0].messages.last().cloned().unwrap_or_default();
        if last["info"]["finish"] == "stop" && last["info"]["time"]["completed"].is_u64() {
            Ok(record)
        } else {
            Err(format!("{last:#}"))
        }
    })
}

/// The only tool part of the newest of a family.
fn tool(record: &Record) -> Value {
    let messages = record.0.last().map(|row| row.messages.iter());
    let parts = messages.into_iter().flatten();
    let mut parts = parts.filter_map(|it| it["parts"].as_array()).flatten();
    parts
        .find(|it| it["type"] == "tool")
        .cloned()
        .expect("a tool part")
}

#[test]
fn questions_get_what_was_chosen_and_written() {
    let Some(server) = shared() else { return };
    let main = &server.projects[0];
    let id = begin(server, main, "three questions", &questionnaire());
    until_asked(server, "question", main, &id);
    let shown = run(server, &["answer", &id]);
    for word in ["Which?", "Banana", "How?", "Fast", "Why?"] {
        assert!(shown.stdout.contains(word), "{word}: {shown:#?}");
    }
    let flags = [
        "--choose",
        "App",
        "--choose",
        "2=Cold",
        "--choose",
        "2=Fast",
        "--answer",
        "3=I said so",
    ];
    let record = assert_answered(server, &id, &flags);
    let state = &tool(&record)["state"];
    let given = json!([["Apple"], ["Cold", "Fast"], ["I said so"]]);
    assert_eq!(state["metadata"]["answers"], given, "{state:#}");
}

#[test]
fn a_grandchild_is_allowed_what_its_root_is_asked_about() {
    let Some(server) = shared() else { return };
    let main = &server.projects[0];
    let id = begin(
        server,
        main,
        "allowed below",
        &task(&task(&outside("read"))),
    );
    let grandchild = until_child(server, &until_child(server, &id));
    until_asked(server, "permission", main, &grandchild);
    let record = assert_answered(server, &id, &["--once"]);
    assert_eq!(record.0.len(), 3, "{record:#?}");
    assert_eq!(tool(&record)["state"]["status"], "completed", "{record:#?}");
}

#[test]
fn an_agent_hears_why_it_was_rejected() {
    let Some(server) = shared() else { return };
    let main = &server.projects[0];
    let id = begin(server, main, "rejected", &outside("read"));
    until_asked(server, "permission", main, &id);
    let record = assert_answered(server, &id, &["--reject", "not that file"]);
    let part = tool(&record);
    assert_eq!(part["state"]["status"], "error", "{part:#}");
    assert!(
        part["state"]["error"].to_string().contains("not that file"),
        "{part:#}"
    );
}

#[test]
fn an_ask_that_nobody_waits_for_is_taken_off_the_list() {
    let Some(server) = shared() else { return };
    let main = &server.projects[0];
    let id = server.begin("question");
    until_asked(server, "question", main, &id);
    server.abort(&id);
    until_reported(server, main, &id, "idle");
    let before = Record::read(server, &id);
    let answer = run(server, &["answer", &id, "--dismiss"]);
    assert_eq!(answer.code, Some(0), "{answer:#?}");
    let after = Record::read(server, &id);
    assert_eq!(before, after);
    let stuck = Stuck {
        server,
        directory: main,
        id: &id,
    };
    stuck.assert_settled(&after, Done::Stopped);
    stuck.assert_answers();
}

/// The session keeps a bad model: a plain prompt stays unanswered, too.
#[test]
fn a_prompt_for_a_model_that_does_not_exist_is_sent_again_with_another() {
    let Some(server) = shared() else { return };
    let id = server.session(&server.projects[0], "resent");
    server.prompt_with_model(&id, "say:heard now", "nobody");
    let stored = || Record::read(server, &id).0[0].messages.len();
    eventually("the prompt is stored", PATIENCE, || {
        (stored() == 1).then_some(()).ok_or_else(String::new)
    });
    let refused = run(server, &["resend", &id, "--yes"]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    assert_eq!(stored(), 1, "{refused:#?}");
    // Of all that the server has, the bad model's own provider comes first.
    assert!(
        refused.stderr.contains("it has scripted/scripted"),
        "{refused:#?}"
    );
    let sent = run(
        server,
        &["resend", &id, "--yes", "--model", "scripted/scripted"],
    );
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    eventually("it is answered", PATIENCE, || {
        let messages = Record::read(server, &id).0.remove(0).messages;
        let heard = messages
            .last()
            .is_some_and(|it| it["parts"].to_string().contains("heard now"));
        let prompts = messages
            .iter()
            .filter(|it| it["info"]["role"] == "user")
            .count();
        assert!(prompts <= 2, "sent twice: {messages:#?}");
        let ended = messages
            .last()
            .is_some_and(|it| it["info"]["finish"] == "stop");
        (heard && ended)
            .then_some(())
            .ok_or_else(|| format!("{messages:#?}"))
    });
}
