//! Bodies, pages and lists have the recorded shapes and limits, per directory.

use crate::harness::{Api, config, keys, recording, shapes};
use ocwatch::sim::Sim;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

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
