//! Asks, prompts, crashes and repair.

use crate::harness::{Api, Heard, config, keys, kind, recording, shapes, until};
use ocwatch::sim::Sim;
use ocwatch::sim::script::{BashStep, Dur, Step, ToolStep};
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[tokio::test]
async fn asks_belong_to_their_directory_and_abort_leaves_ghosts() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    for (list, prompt) in [("question", "question"), ("permission", "perm:echo hello")] {
        let session = api.create("/srv/dev/b", json!({"title": list})).await;
        api.prompt(&session, prompt).await;
        let ask = api.ask(list, "/srv/dev/b").await;
        let recorded: Value =
            serde_json::from_str(&recording(&format!("v1-{list}-list.json"))).unwrap();
        assert_eq!(keys(&json!([ask])), keys(&recorded));
        assert_eq!(api.json(&format!("/{list}")).await, json!([]));
        let id = ask["id"].as_str().unwrap().to_owned();
        let body = json!({"reply": "reject", "answers": []});
        let wrong = api
            .post(
                &format!("/{list}/{id}/reply?directory=/srv/dev/a"),
                body.clone(),
            )
            .await;
        assert_eq!(wrong.status(), 404);
        let error: Value = wrong.json().await.unwrap();
        assert_eq!(
            keys(&error),
            keys(&json!({"_tag": "x", "requestID": "x", "message": "x"}))
        );

        api.post(&format!("/session/{session}/abort"), json!(null))
            .await;
        api.idle("/srv/dev/b", &session).await;
        assert_eq!(
            api.ask(list, "/srv/dev/b").await["id"],
            ask["id"],
            "the ghost stays"
        );
        let messages = api.messages(&session).await;
        assert_eq!(messages[1]["parts"][1]["state"]["status"], "error");
        let right = format!("/{list}/{id}/reply?directory=/srv/dev/b");
        assert_eq!(api.post(&right, body.clone()).await.status(), 200);
        assert_eq!(
            api.json(&format!("/{list}?directory=/srv/dev/b")).await,
            json!([])
        );
        assert_eq!(api.post(&right, body).await.status(), 404);
    }
}

#[tokio::test]
async fn a_crash_forgets_what_memory_held() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let session = api.create("/srv/dev/a", json!({"title": "crash"})).await;
    api.prompt(&session, "bash:sleep 25").await;
    let asking = api.create("/srv/dev/a", json!({"title": "crash"})).await;
    api.prompt(&asking, "question").await;
    api.ask("question", "/srv/dev/a").await;
    let heard = Heard::listen(&api, "/global/event").await;
    until(|| async {
        let messages = api.messages(&session).await;
        let state = messages[1]["parts"][1]["state"]["metadata"]["output"].clone();
        if state.is_string() {
            Ok(())
        } else {
            Err(messages.to_string())
        }
    })
    .await;
    sim.stop();
    until(|| async {
        if heard.ended() {
            Ok(())
        } else {
            Err("open".to_owned())
        }
    })
    .await;
    assert!(
        api.http
            .get(format!("{}/global/health", api.url))
            .send()
            .await
            .is_err()
    );
    sim.restart().unwrap();
    assert_eq!(
        api.json("/session/status?directory=/srv/dev/a").await,
        json!({})
    );
    assert_eq!(api.json("/question?directory=/srv/dev/a").await, json!([]));
    let recorded =
        serde_json::from_str(&recording("v1-messages-dangling-after-sigkill.json")).unwrap();
    let before = api.messages(&session).await;
    assert_eq!(shapes(&before), shapes(&recorded));
    api.post(&format!("/session/{session}/abort"), json!(null))
        .await;
    assert_eq!(
        api.messages(&session).await,
        before,
        "abort has no effect on an orphan"
    );
}

#[tokio::test]
async fn a_part_is_repaired_only_as_a_whole() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let bash = StepSeed::open(Step::bash("sleep 25"));
    let seed = SessionSeed::new("dangling", "/srv/dev/a");
    let turn = TurnSeed::new(9_000_000, "go", vec![bash], End::Open);
    let session = sim.add_session(&seed.turn(turn));
    let before = api.messages(&session).await;
    let part = &before[1]["parts"][1];
    let path = |id: &Value| {
        let message = before[1]["info"]["id"].as_str().unwrap();
        format!(
            "{}/session/{session}/message/{message}/part/{}",
            api.url,
            id.as_str().unwrap()
        )
    };
    let mut ended = part.clone();
    ended["state"] = json!({"status": "error", "input": {}, "time": {"start": 1, "end": 2}});
    let bad = api
        .http
        .patch(path(&part["id"]))
        .json(&ended)
        .send()
        .await
        .unwrap();
    assert_eq!(bad.status(), 400);
    assert!(
        bad.text()
            .await
            .unwrap()
            .contains(r#"[\"state\"][\"error\"]"#)
    );
    ended["state"]["error"] = json!("marked");
    let good = api
        .http
        .patch(path(&part["id"]))
        .json(&ended)
        .send()
        .await
        .unwrap();
    assert_eq!(good.status(), 200);
    assert_eq!(
        api.messages(&session).await[1]["parts"][1]["state"]["error"],
        "marked"
    );
}

#[tokio::test]
async fn prompts_promise_nothing_and_queue_behind_a_run() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let session = api
        .create("/srv/dev/a", json!({"title": "bad model"}))
        .await;
    let heard = Heard::listen(&api, "/global/event").await;
    let unknown = json!({"providerID": "no", "modelID": "such"});
    let body = json!({"parts": [{"type": "text", "text": "hi"}], "model": unknown});
    let path = format!("/session/{session}/prompt_async");
    assert_eq!(api.post(&path, body).await.status(), 204);
    heard
        .until(|e| e.iter().filter(|e| kind(e) == "session.error").count() == 2)
        .await;
    assert_eq!(api.messages(&session).await.as_array().unwrap().len(), 1);
    let body = json!({"parts": [{"type": "text", "text": "hi"}], "agent": "nobody"});
    assert_eq!(api.post(&path, body).await.status(), 204);
    assert_eq!(api.messages(&session).await.as_array().unwrap().len(), 1);

    let session = api.create("/srv/dev/a", json!({"title": "queue"})).await;
    let slow = Step::Bash(BashStep {
        command: "make".to_owned(),
        lines: vec!["one".to_owned(); 3],
        every: Dur(50),
        ..BashStep::default()
    });
    assert!(sim.play(&session, "first", vec![slow]));
    api.prompt(&session, "say:second").await;
    until(|| async {
        let messages = api.messages(&session).await;
        let last = messages.as_array().unwrap().last().unwrap()["parts"][1]["text"].clone();
        if last == "second" {
            Ok(())
        } else {
            Err(messages.to_string())
        }
    })
    .await;
    api.idle("/srv/dev/a", &session).await;
    let messages = api.messages(&session).await;
    let second = messages
        .as_array()
        .unwrap()
        .iter()
        .find(|m| m["parts"][0]["text"] == "say:second");
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!(last["info"]["parentID"], second.unwrap()["info"]["id"]);
}

#[tokio::test]
async fn one_unreadable_permission_hides_all_of_its_directory() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let session = api.create("/srv/dev/p", json!({"title": "fetch"})).await;
    let heard = Heard::listen(&api, "/global/event").await;
    let fetch = Step::Tool(ToolStep {
        name: "webfetch".to_owned(),
        ask: true,
        unreadable: true,
        ..ToolStep::default()
    });
    assert!(sim.play(&session, "fetch it", vec![fetch]));
    heard
        .until(|events| events.iter().any(|e| kind(e) == "permission.asked"))
        .await;
    let events = heard.events();
    let asked = events
        .iter()
        .find(|e| kind(e) == "permission.asked")
        .unwrap();
    let list = api.get("/permission?directory=/srv/dev/p").await;
    assert_eq!(list.status(), 400);
    assert!(list.text().await.unwrap().contains("at [0]"));
    let id = asked["payload"]["properties"]["id"].as_str().unwrap();
    let path = format!("/permission/{id}/reply?directory=/srv/dev/p");
    assert_eq!(
        api.post(&path, json!({"reply": "always"})).await.status(),
        200
    );
    api.idle("/srv/dev/p", &session).await;
    assert_eq!(
        api.messages(&session).await[1]["parts"][1]["state"]["status"],
        "completed"
    );
    assert_eq!(
        api.json("/permission?directory=/srv/dev/p").await,
        json!([])
    );
}
