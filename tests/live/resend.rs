//! Prompts sent again, held against what the real server then has.

use crate::hand::Hand;
use crate::ocwatch::{Run, run, until_seen};
use crate::server::{OpenCode, own, shared};
use crate::support::{block_on, eventually};
use crate::turns::Gate;
use ::ocwatch::core::app::Outcome;
use ::ocwatch::core::app::keymap::Key;
use serde_json::{Value, json};
use std::time::Duration;

/// A failing provider is tried for 73 s.
const UNTIL_IT_FAILED: Duration = Duration::from_secs(200);

fn messages(server: &OpenCode, id: &str) -> Vec<Value> {
    let all = server.get(&format!("/session/{id}/message"));
    all.as_array().expect("messages").clone()
}

fn prompts(server: &OpenCode, id: &str) -> Vec<Value> {
    let mut all = messages(server, id);
    all.retain(|it| it["info"]["role"] == "user");
    all
}

fn resend(server: &OpenCode, id: &str, more: &[&str]) -> Run {
    run(server, &[&["resend", id, "--yes"], more].concat())
}

#[track_caller]
fn assert_refused(run: &Run, why: &str) {
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stderr.contains("not sent: "), "{run:#?}");
    assert!(run.stderr.contains(why), "{why}: {run:#?}");
}

/// The session keeps the bad model, so that a prompt without one is lost again.
#[test]
fn after_an_unknown_model_a_named_one_answers() {
    let Some(server) = shared() else { return };
    let id = server.session(&server.projects[0], "resend after a model");
    server.prompt_with_model(&id, "say:hello", "nobody");
    until_seen(server, &id, "idle", "unanswered");
    assert_refused(
        &resend(server, &id, &[]),
        "does not know its model scripted/nobody",
    );
    assert_refused(
        &resend(server, &id, &["--model", "scripted/nothing"]),
        "no model scripted/nothing",
    );
    assert_eq!(prompts(server, &id).len(), 1, "nothing was sent");

    let sent = resend(server, &id, &["--model", "scripted/scripted"]);
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    until_seen(server, &id, "idle", "done");
    let all = messages(server, &id);
    assert_eq!(all.len(), 3, "{all:#?}");
    assert_eq!(all[1]["parts"][0]["text"], "say:hello");
    assert_eq!(all[2]["info"]["parentID"], all[1]["info"]["id"]);
    assert_refused(&resend(server, &id, &[]), "the last answer is finished");
}

#[test]
fn two_prompts_that_stand_are_answered_with_one_that_says_go_on() {
    let Some(server) = shared() else { return };
    let id = server.session(&server.projects[0], "resend after two");
    server.prompt_with_model(&id, "say:one", "nobody");
    until_seen(server, &id, "idle", "unanswered");
    server.prompt_with_model(&id, "say:two", "nobody");
    eventually("both stand", Duration::from_secs(60), || {
        let count = prompts(server, &id).len();
        (count == 2).then_some(()).ok_or_else(|| count.to_string())
    });
    let sent = resend(server, &id, &["--model", "scripted/scripted"]);
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    assert!(
        sent.stderr.contains("2 prompts stand unanswered"),
        "{sent:#?}"
    );
    until_seen(server, &id, "idle", "done");
    let last = prompts(server, &id).pop().expect("a prompt");
    assert_eq!(last["parts"][0]["text"], "Continue.");
}

/// A prompt that names no agent goes to the default one, which may edit.
#[test]
fn an_aborted_prompt_goes_to_the_agent_that_it_had() {
    let Some(server) = shared() else { return };
    let id = server.session(&server.projects[0], "resend to plan");
    server.prompt_with_agent(&id, "hang", "plan");
    until_seen(server, &id, "busy", "streaming");
    assert_refused(&resend(server, &id, &[]), "reported busy");
    server.abort(&id);
    until_seen(server, &id, "idle", "aborted");
    let sent = resend(server, &id, &[]);
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    let all = prompts(server, &id);
    let of = |number: usize| {
        (
            &all[number]["info"]["agent"],
            &all[number]["parts"][0]["text"],
        )
    };
    assert_eq!(of(1), (&json!("plan"), &json!("hang")));
    assert_refused(&resend(server, &id, &[]), "reported busy");
    server.abort(&id);
}

#[test]
fn what_the_provider_refused_is_not_sent_again_as_it_was() {
    let Some(server) = shared() else { return };
    let bad = server.begin("err:400");
    let login = server.begin("err:401");
    for id in [&bad, &login] {
        eventually("it has failed", UNTIL_IT_FAILED, || {
            let last = messages(server, id).pop().unwrap_or_default();
            let failed = last["info"]["error"]["name"] == "APIError";
            let ended = server.run_state(&server.projects[0], id).is_null();
            (failed && ended)
                .then_some(())
                .ok_or_else(|| last.to_string())
        });
    }
    assert_refused(&resend(server, &bad, &[]), "refused this request (400)");
    assert_refused(
        &resend(server, &login, &["--text", "say:x"]),
        "refused the login",
    );
    let sent = resend(server, &bad, &["--text", "say:shorter"]);
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    until_seen(server, &bad, "idle", "done");
}

/// A look that was not there cannot know that this server ran it; the dashboard that saw it can.
#[test]
fn what_a_crash_cut_off_goes_on_with_a_key() {
    let Some(mut server) = own(&["main"]) else {
        return;
    };
    let gate = Gate::new(&server, "resend");
    let id = server.begin(&format!("bash:{}", gate.command));
    until_seen(&server, &id, "busy", "running-tool");
    let url = server.url.clone();
    let mut hand = block_on(Hand::watch(&url, &id));
    server.kill9();
    block_on(hand.until("it is away", |hand| !is_idle(hand)));
    server.restart();
    assert_refused(&resend(&server, &id, &[]), "its last answer is open");
    let outcome = block_on(async {
        hand.until("it was interrupted", |hand| {
            let verdict = hand.app.verdict(&hand.key());
            let leading = verdict.and_then(|it| it.leading());
            leading.is_some_and(|it| it.name == "interrupted")
        })
        .await;
        hand.open_resend().await;
        assert!(
            hand.dialog().contains("bash was interrupted"),
            "{}",
            hand.dialog()
        );
        hand.press(Key::Tab);
        hand.press(Key::Ctrl('u'));
        hand.type_in("say:going on");
        hand.send().await;
        hand.outcome().await
    });
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    until_seen(&server, &id, "idle", "done");
    assert_eq!(prompts(&server, &id).len(), 2);
    gate.open();
}

fn is_idle(hand: &Hand) -> bool {
    let verdict = hand.app.verdict(&hand.key());
    verdict.is_some_and(|it| it.reported.is_known())
}
