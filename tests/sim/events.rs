//! Events come in the recorded order, early and double idle included.

use crate::harness::{
    Api, Heard, config, keys, kind, recorded_kinds, recording, shapes, turn_kinds, until,
};
use ocwatch::sim::Sim;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

async fn same_order(heard: &Heard, name: &str) {
    let recorded = recorded_kinds(name);
    heard
        .until(|events| turn_kinds(events).len() >= recorded.len())
        .await;
    assert_eq!(turn_kinds(&heard.events()), recorded, "{name}");
}

#[tokio::test]
async fn events_of_turns_come_in_the_recorded_order() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    for (prompt, name) in [
        ("say:tok0 tok1 tok2 ", "sse-global-text.txt"),
        ("bash:echo one; sleep 0.1; echo two", "sse-global-bash.txt"),
    ] {
        let session = api.create("/srv/dev/a", json!({"title": "order"})).await;
        let heard = Heard::listen(&api, "/global/event").await;
        api.prompt(&session, prompt).await;
        same_order(&heard, name).await;
    }
    for (kind, prompt, reply, name) in [
        (
            "question",
            "question",
            json!({"answers": [["B"]]}),
            "sse-global-question.txt",
        ),
        (
            "permission",
            "perm:echo hello",
            json!({"reply": "reject", "message": "no thanks"}),
            "sse-global-permission.txt",
        ),
    ] {
        let session = api.create("/srv/dev/a", json!({"title": "order"})).await;
        let heard = Heard::listen(&api, "/global/event").await;
        api.prompt(&session, prompt).await;
        let ask = api.ask(kind, "/srv/dev/a").await;
        let id = ask["id"].as_str().unwrap();
        let path = format!("/{kind}/{id}/reply?directory=/srv/dev/a");
        assert_eq!(
            api.post(&path, reply).await.json::<Value>().await.unwrap(),
            true
        );
        same_order(&heard, name).await;
    }
}

#[tokio::test]
async fn abort_is_idle_early_and_twice_and_ends_the_command() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let session = api.create("/srv/dev/a", json!({"title": "abort"})).await;
    let heard = Heard::listen(&api, "/global/event").await;
    api.prompt(&session, "bash:sleep 60").await;
    let running = |events: &[Value]| {
        let running = "message.part.updated tool running";
        events
            .iter()
            .map(kind)
            .filter(|kind| kind == running)
            .count()
            == 2
    };
    heard.until(running).await;
    let aborted = api
        .post(&format!("/session/{session}/abort"), json!(null))
        .await;
    assert_eq!(aborted.json::<Value>().await.unwrap(), true);
    api.idle("/srv/dev/a", &session).await;
    let idle = |events: &[Value]| events.iter().filter(|e| kind(e) == "session.idle").count() == 2;
    heard.until(idle).await;
    let seen = turn_kinds(&heard.events());
    let seen: Vec<_> = seen
        .iter()
        .skip_while(|kind| *kind != "session.error")
        .collect();
    let recorded = recorded_kinds("sse-global-abort-tool.txt");
    let recorded: Vec<_> = recorded
        .iter()
        .skip_while(|kind| *kind != "session.error")
        .collect();
    assert_eq!(seen[..recorded.len()], recorded);
    let recorded = serde_json::from_str(&recording("v1-messages-aborted-tool.json")).unwrap();
    assert_eq!(shapes(&api.messages(&session).await), shapes(&recorded));
    // No effect and the same answer for what is idle, and for what does not exist.
    let before = api.messages(&session).await;
    for id in [session.as_str(), "ses_nonexistent0000000000000"] {
        let answer = api.post(&format!("/session/{id}/abort"), json!(null)).await;
        assert_eq!(answer.json::<Value>().await.unwrap(), true);
    }
    assert_eq!(api.messages(&session).await, before);
}

#[tokio::test]
async fn an_abort_during_a_retry_leaves_a_blank_message() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let session = api.create("/srv/dev/a", json!({"title": "retry"})).await;
    let heard = Heard::listen(&api, "/global/event").await;
    api.prompt(&session, "err:500").await;
    let status = until(|| async {
        let map = api.json("/session/status?directory=/srv/dev/a").await;
        let status = map[&session].clone();
        if status["attempt"] == 2 {
            Ok(map)
        } else {
            Err(map.to_string())
        }
    })
    .await;
    let recorded: Value = serde_json::from_str(&recording("v1-status-retry.json")).unwrap();
    let only = |map: &Value| keys(map.as_object().unwrap().values().next().unwrap());
    assert_eq!(only(&status), only(&recorded));
    api.post(&format!("/session/{session}/abort"), json!(null))
        .await;
    api.idle("/srv/dev/a", &session).await;
    let messages = api.messages(&session).await;
    let blank = &messages[1];
    assert!(blank["info"].get("error").is_none() && blank["info"].get("finish").is_none());
    assert_eq!(blank["parts"], json!([]));
    heard
        .until(|events| events.iter().any(|e| kind(e) == "session.idle"))
        .await;
    let recorded = recorded_kinds("sse-global-retry-abort.txt");
    assert_eq!(turn_kinds(&heard.events())[..recorded.len()], recorded);
}
