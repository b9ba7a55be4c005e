//! What must never be sent is noticed, and fails the test that sends it.

use crate::harness::{Api, config};
use ocwatch::sim::Sim;
use serde_json::{Value, json};

/// A session whose command runs, and the path of the part that runs.
async fn running(api: &Api) -> (String, String) {
    let session = api.create("/srv/dev/a", json!({"title": "runs"})).await;
    api.prompt(&session, "bash:sleep 25").await;
    api.busy("/srv/dev/a", &session).await;
    let path = crate::harness::until(|| async {
        let messages = api.messages(&session).await;
        let (message, part) = (&messages[1]["info"]["id"], &messages[1]["parts"][0]["id"]);
        let ids = message.as_str().zip(part.as_str());
        let path = ids.map(|(m, p)| format!("/session/{session}/message/{m}/part/{p}"));
        path.ok_or_else(|| messages.to_string())
    })
    .await;
    (session, path)
}

async fn send(api: &Api, method: reqwest::Method, path: &str) {
    let url = format!("{}{path}", api.url);
    api.http.request(method, url).send().await.unwrap();
}

#[tokio::test]
async fn what_changes_a_run_or_the_configuration_is_noticed() {
    use reqwest::Method;
    let sim = Sim::start(config()).unwrap();
    sim.expect_violations();
    let api = Api::new(&sim);
    let (session, part) = running(&api).await;
    assert_eq!(sim.violations(), Vec::<String>::new());
    send(&api, Method::PATCH, &format!("{part}?directory=/srv/dev/a")).await;
    send(&api, Method::DELETE, &part).await;
    send(&api, Method::PATCH, "/config").await;
    send(&api, Method::PATCH, "/global/config").await;
    send(&api, Method::PUT, "/auth/anthropic").await;
    send(&api, Method::POST, "/provider/x/oauth/authorize").await;
    let message = part.split("/part/").next().unwrap();
    send(&api, Method::DELETE, message).await;
    send(&api, Method::DELETE, &format!("/session/{session}")).await;
    let seen = sim.violations();
    assert_eq!(seen.len(), 8, "{seen:#?}");
    assert_eq!(
        seen[0],
        format!("PATCH {part} changes a part of a session that runs")
    );
}

#[tokio::test]
async fn what_is_read_or_at_rest_is_not_noticed() {
    use reqwest::Method;
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let (session, part) = running(&api).await;
    for path in ["/config", "/config/providers", "/provider", "/mcp", &part] {
        send(&api, Method::GET, path).await;
    }
    let path = format!("/session/{session}/abort");
    api.post(&path, Value::Null).await;
    api.idle("/srv/dev/a", &session).await;
    send(&api, Method::DELETE, &part).await;
    send(&api, Method::DELETE, &format!("/session/{session}")).await;
    assert_eq!(sim.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_test_that_sends_it_unasked_fails() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    send(&api, reqwest::Method::PATCH, "/config").await;
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(sim)));
    let why = dropped.expect_err("it must not pass unnoticed");
    let words = why.downcast_ref::<String>().unwrap();
    assert!(
        words.contains("PATCH /config writes configuration"),
        "{words}"
    );
}
