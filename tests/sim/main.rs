//! The simulated server keeps the traps of the real one: same shapes and same order of events as recorded.
#![cfg(all(feature = "sim", feature = "net"))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod harness;

use harness::{
    Api, Heard, config, keys, kind, recorded_kinds, recording, shapes, turn_kinds, until,
};
use ocwatch::sim::script::{BashStep, Step};
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Fault, Sim};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

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

#[tokio::test]
async fn bodies_have_the_recorded_shapes() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let compare = |name: &str, seen: &Value| {
        let recorded: Value = serde_json::from_str(&recording(name)).unwrap();
        assert_eq!(shapes(seen), shapes(&recorded), "{name}");
    };
    let session = api.create("/srv/dev/a", json!({"title": "bash"})).await;
    api.prompt(&session, "bash:echo one; echo two").await;
    api.idle("/srv/dev/a", &session).await;
    compare("v1-messages-bash.json", &api.messages(&session).await);
    let recorded: Value = serde_json::from_str(&recording("v1-session.json")).unwrap();
    assert_eq!(
        keys(&api.json(&format!("/session/{session}")).await),
        keys(&recorded)
    );

    let child =
        r#"tool:task {"description":"child","prompt":"say:from child","subagent_type":"general"}"#;
    let parent = api.create("/srv/dev/a", json!({"title": "task"})).await;
    api.prompt(&parent, child).await;
    api.idle("/srv/dev/a", &parent).await;
    let messages = api.messages(&parent).await;
    compare("v1-messages-subagent.json", &messages);
    let output = messages[1]["parts"][1]["state"]["output"].as_str().unwrap();
    assert!(output.contains("from child"), "{output}");

    for (list, name) in [
        ("/experimental/session", "v1-experimental-session.json"),
        ("/api/session", "v2-1.18-session-list.json"),
        ("/project", "v1-project-list.json"),
        ("/path", "v1-path.json"),
        ("/global/health", "v1-global-health.json"),
    ] {
        let recorded: Value = serde_json::from_str(&recording(name)).unwrap();
        assert_eq!(keys(&api.json(list).await), keys(&recorded), "{name}");
    }
}

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
async fn reading_a_directory_loads_it_and_sees_only_it() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let busy = SessionSeed::new("stale", "/srv/dev/b").busy();
    let busy = sim.add_session(&busy.turn(TurnSeed::new(720_000, "go", vec![], End::Stop)));
    api.json("/global/health").await;
    api.json("/api/session").await;
    api.json("/doc").await;
    assert_eq!(sim.booted(), Vec::<String>::new());
    assert_eq!(api.json("/session/status").await, json!({}));
    let path = "/session/status?directory=/srv/dev/b/./";
    assert_eq!(
        api.json(path).await,
        json!({busy.clone(): {"type": "busy"}})
    );
    let header = api.http.get(format!("{}/session/status", api.url));
    let header = header
        .header("x-opencode-directory", "%2Fsrv%2Fdev%2Fb")
        .send()
        .await
        .unwrap();
    assert_eq!(header.json::<Value>().await.unwrap()[&busy]["type"], "busy");
    assert_eq!(
        api.json("/session/status?directory=/nowhere").await,
        json!({})
    );
    assert_eq!(sim.booted(), ["/srv/dev", "/nowhere"]);
    api.post(&format!("/session/{busy}/abort"), json!(null))
        .await;
    assert_eq!(
        api.json(path).await,
        json!({}),
        "abort makes the server forget it"
    );

    for path in ["/api/info", "/nothing", "/api/nothing"] {
        let page = api.get(path).await;
        assert_eq!(
            (page.status().as_u16(), &page.headers()["content-type"]),
            (200, &"text/html".parse().unwrap())
        );
    }
    let gone = api.get("/session/ses_nonexistent0000000000000").await;
    assert_eq!(gone.status(), 404);
    assert!(
        gone.headers()["date"]
            .to_str()
            .unwrap()
            .starts_with("Sun, 29 Nov 2026 18:5")
    );
    let gone: Value = gone.json().await.unwrap();
    assert_eq!(
        gone["data"]["message"],
        "Session not found: ses_nonexistent0000000000000"
    );
    assert_eq!(
        sim.requests().last().unwrap().path,
        "/session/ses_nonexistent0000000000000"
    );
}

#[tokio::test]
async fn pages_follow_their_cursors() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let turn = |age: u64| {
        let text = StepSeed::done(Step::say("done"), 100);
        TurnSeed::new(age * 10_000, "go", vec![text], End::Stop)
    };
    let seed = (1..=5)
        .rev()
        .fold(SessionSeed::new("long", "/srv/dev"), |s, n| s.turn(turn(n)));
    let long = sim.add_session(&seed);
    let mut path = format!("/session/{long}/message?limit=4");
    let mut seen = Vec::new();
    loop {
        let page = api.get(&path).await;
        let next = page.headers().get("x-next-cursor").cloned();
        let rows: Vec<Value> = page.json().await.unwrap();
        seen.splice(0..0, rows.iter().map(|m| m["info"]["id"].clone()));
        let Some(cursor) = next else { break };
        path = format!(
            "/session/{long}/message?limit=4&before={}",
            cursor.to_str().unwrap()
        );
    }
    let all = api.messages(&long).await;
    let all: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["info"]["id"].clone())
        .collect();
    assert_eq!((seen.len(), &seen), (10, &all));
    for bad in ["limit=abc", "before=eyJ", "limit=2&before=bad"] {
        let answer = api.get(&format!("/session/{long}/message?{bad}")).await;
        assert_eq!(answer.status(), 400, "{bad}");
    }
}

#[tokio::test]
async fn lists_differ_in_order_cursor_and_what_they_leave_out() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    for n in 0..6_u64 {
        let seed = SessionSeed::new(format!("s{n}"), "/srv/dev/many").aged(1_000_000 * (n + 1));
        let seed = seed.turn(TurnSeed::new(900_000 * (n + 1), "go", vec![], End::Stop));
        sim.add_session(&if n == 5 { seed.archived() } else { seed });
    }
    let mut titles = Vec::new();
    let mut path = "/api/session?limit=3".to_owned();
    loop {
        let page = api.json(&path).await;
        let rows = page["data"].as_array().unwrap();
        titles.extend(
            rows.iter()
                .map(|row| row["title"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["cursor"]["next"].as_str() else {
            break;
        };
        path = format!("/api/session?limit=3&cursor={next}");
    }
    assert_eq!(titles, ["s0", "s1", "s2", "s3", "s4", "s5"]);
    let first = api.get("/experimental/session?limit=4").await;
    let cursor = first.headers()["x-next-cursor"]
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(first.json::<Vec<Value>>().await.unwrap().len(), 4);
    let rest = api
        .json(&format!("/experimental/session?limit=4&cursor={cursor}"))
        .await;
    let rest: Vec<_> = rest
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["title"].clone())
        .collect();
    assert_eq!(rest, ["s4"], "without the archived one");
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
        every: ocwatch::sim::script::Dur(50),
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
    assert!(sim.big_output(&session, 1 << 20));
    assert_eq!(sim.flood(&session, 1000), 1000);
    all.until(|e| e.iter().filter(|e| kind(e) == "message.part.delta").count() == 1000)
        .await;
    let events = all.events();
    let whole: Vec<_> = events
        .iter()
        .filter(|e| e.to_string().len() > 2 << 20)
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
    let http = reqwest::Client::new();
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
    let demo = ocwatch::sim::demo::start(&harness::clock()).unwrap();
    let names: Vec<_> = demo.servers().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["home", "build"]);
    let sim = demo.sim("home").unwrap();
    let api = Api::new(sim);
    let rows = api.json("/experimental/session").await;
    let rows = rows.as_array().unwrap();
    let id = |title: &str| {
        let row = rows.iter().find(|row| row["title"] == title).unwrap();
        row["id"].as_str().unwrap().to_owned()
    };
    let status = async |title: &str, project: &str| {
        let path = format!("/session/status?directory=/home/dev/{project}");
        api.json(&path).await[id(title)].clone()
    };
    assert_eq!(
        status("Ebook-TTS: build the chapter index", "ebook-tts").await["type"],
        "busy"
    );
    let cut_off = "Local machine and NAS: nightly backup";
    assert_eq!(status(cut_off, "nas-backup").await, Value::Null);
    let messages = api.messages(&id(cut_off)).await;
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!(
        last["parts"].as_array().unwrap().last().unwrap()["state"]["status"],
        "running"
    );
    let retrying = until(|| async {
        let seen = status("Research: e-ink displays", "research").await;
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
    api.idle("/home/dev/parser", &id("Port the parser")).await;

    // A hung command can be aborted, and exported.
    let hung = id("Rebuild the search index");
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
