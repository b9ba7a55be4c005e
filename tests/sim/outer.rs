//! Faults, the scripted model and the demo.

use crate::harness::{Api, Heard, clock, config, kind, until};
use crate::http::http;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::{End, Kind, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Fault, Sim};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

#[tokio::test]
async fn streams_carry_doubles_big_parts_and_faults() {
    let auth = Some(("opencode".to_owned(), "secret".to_owned()));
    let locked = Sim::start(Config { auth, ..config() }).unwrap();
    let api = Api::new(&locked);
    assert_eq!(api.get("/global/health").await.status(), 401);
    assert_eq!(api.get("/session").await.text().await.unwrap(), "");
    assert_eq!(api.json("/api/session").await["_tag"], "UnauthorizedError");
    let health = api.http.get(format!("{}/global/health", api.url));
    let health = health
        .basic_auth("opencode", Some("secret"))
        .send()
        .await
        .unwrap();
    assert_eq!(health.status(), 200);

    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let text = StepSeed::open(Step::say("x"));
    let seed = SessionSeed::new("noisy", "/srv/dev/a");
    let session = sim.add_session(&seed.turn(TurnSeed::new(9000, "go", vec![text], End::Open)));
    let all = Heard::listen(&api, "/global/event").await;
    let one = Heard::listen(&api, "/event?directory=/srv/dev/other").await;
    assert_eq!(sim.subscribers(), 2);
    assert!(sim.big_output(&session, 1 << 18));
    assert_eq!(sim.flood(&session, 300), 300);
    all.until(|e| e.iter().filter(|e| kind(e) == "message.part.delta").count() == 300)
        .await;
    let events = all.events();
    let whole: Vec<_> = events
        .iter()
        .filter(|e| e.to_string().len() > 1 << 19)
        .collect();
    let ids: BTreeSet<_> = whole
        .iter()
        .map(|e| e["payload"]["id"].to_string())
        .collect();
    assert_eq!(
        (whole.len(), ids.len()),
        (4, 2),
        "each event and its double share an id"
    );
    assert!(
        one.events()
            .iter()
            .all(|e| e["type"] != "message.part.delta")
    );

    sim.fault_times("/session/status", Fault::Garbage, 1);
    assert!(
        api.get("/session/status")
            .await
            .json::<Value>()
            .await
            .is_err()
    );
    assert_eq!(api.json("/session/status").await, json!({}));
    sim.fault(&format!("/session/{session}/*"), Fault::Cut);
    assert!(
        api.get(&format!("/session/{session}/message"))
            .await
            .text()
            .await
            .is_err()
    );
    sim.clear_faults();
    sim.fault("/session", Fault::Stall);
    let stalled = tokio::time::timeout(Duration::from_millis(200), api.get("/session")).await;
    assert!(stalled.is_err());
    sim.end_streams();
    until(|| async {
        if all.ended() && one.ended() {
            Ok(())
        } else {
            Err("open".to_owned())
        }
    })
    .await;
}

#[tokio::test]
async fn a_scripted_model_streams_chunks_and_calls_tools() {
    let model = ocwatch::sim::model::ScriptedModel::start().unwrap();
    let http = http().build().unwrap();
    let ask = async |text: &str| {
        let body = json!({
            "stream": true,
            "tools": [{"type": "function"}],
            "messages": [{"role": "user", "content": text}],
        });
        let url = format!("{}/chat/completions", model.base_url());
        http.post(url).json(&body).send().await.unwrap()
    };
    let text = ask("flood:3").await.text().await.unwrap();
    let chunks: Vec<_> = text.split("\n\n").collect();
    assert!(
        chunks[3].contains("tok2 ") && text.ends_with("data: [DONE]\n\n"),
        "{text}"
    );
    let text = ask("question").await.text().await.unwrap();
    assert!(text.contains(r#""finish_reason":"tool_calls""#), "{text}");
    assert_eq!(ask("err:503").await.status(), 503);
    let silent = ask("hang").await.text();
    let silent = tokio::time::timeout(Duration::from_millis(200), silent).await;
    assert!(silent.is_err(), "silence after the first token");
    assert_eq!(model.prompts(), ["flood:3", "question", "err:503", "hang"]);
}

#[tokio::test]
async fn the_demo_shows_every_state_and_lives() {
    let demo = ocwatch::sim::demo::start(&clock()).unwrap();
    let names: Vec<_> = demo.servers().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["home", "build"]);
    let sim = demo.sim("home").unwrap();
    let api = Api::new(sim);
    let id = |key: &str| demo.session("home", key).unwrap().to_owned();
    let status = async |key: &str, project: &str| {
        let path = format!("/session/status?directory=/home/dev/{project}");
        api.json(&path).await[id(key)].clone()
    };
    assert_eq!(status("stale", "ebook-tts").await["type"], "busy");
    let cut_off = "cut-off";
    assert_eq!(status(cut_off, "nas-backup").await, Value::Null);
    let messages = api.messages(&id(cut_off)).await;
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!(
        last["parts"].as_array().unwrap().last().unwrap()["state"]["status"],
        "running"
    );
    let retrying = until(|| async {
        let seen = status("retrying", "research").await;
        if seen["type"] == "retry" {
            Ok(seen)
        } else {
            Err(seen.to_string())
        }
    })
    .await;
    assert_eq!(retrying["attempt"], 3);

    // The grandchild's permission lets all three go on.
    let ask = api.ask("permission", "/home/dev/parser").await;
    let path = format!(
        "/permission/{}/reply?directory=/home/dev/parser",
        ask["id"].as_str().unwrap()
    );
    assert_eq!(
        api.post(&path, json!({"reply": "once"})).await.status(),
        200
    );
    api.idle("/home/dev/parser", &id("port")).await;

    // A hung command can be aborted, and exported.
    let hung = id("hung");
    api.post(&format!("/session/{hung}/abort"), json!(null))
        .await;
    api.idle("/home/dev/search", &hung).await;
    let messages = api.messages(&hung).await;
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!(last["info"]["error"]["name"], "MessageAbortedError");

    let heard = Heard::listen(&api, "/global/event").await;
    heard
        .until(|events| events.iter().any(|e| kind(e) == "message.part.delta"))
        .await;
}

#[tokio::test]
async fn a_past_may_hold_compactions_and_shell_commands() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let turn = |age, step| {
        let step = StepSeed::done(step, 100);
        TurnSeed::new(age, "", vec![step], End::Stop)
    };
    let seed = SessionSeed::new("past", "/srv/dev")
        .turn(turn(90_000, Step::say("so far")).of_kind(Kind::Compaction))
        .turn(turn(60_000, Step::bash("echo hi")).of_kind(Kind::Shell));
    let messages = api.messages(&sim.add_session(&seed)).await;
    assert_eq!(messages[0]["parts"][0]["type"], "compaction");
    let summary = &messages[1]["info"];
    assert_eq!(
        (&summary["summary"], &summary["mode"]),
        (&json!(true), &json!("compaction"))
    );
    assert_eq!(messages[2]["parts"][0]["synthetic"], true);
    let shell = &messages[3]["info"];
    assert!(shell["time"]["completed"].is_number() && shell.get("finish").is_none());
}
