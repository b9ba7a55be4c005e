//! Parents and children, busy sessions, zombies.

use crate::harness::{Api, Heard, config, until};
use ocwatch::sim::Sim;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[tokio::test]
async fn a_rejected_child_ends_and_its_parent_goes_on() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let part = |messages: &Value| messages[1]["parts"][1]["state"].clone();

    let parent = api.create("/srv/dev/a", json!({"title": "reject"})).await;
    api.prompt(&parent, "task:perm:echo hello").await;
    let ask = api.ask("permission", "/srv/dev/a").await;
    let child = api.child_of(&parent).await;
    assert_eq!(ask["sessionID"], child);
    let path = format!(
        "/permission/{}/reply?directory=/srv/dev/a",
        ask["id"].as_str().unwrap()
    );
    api.post(&path, json!({"reply": "reject"})).await;
    api.idle("/srv/dev/a", &child).await;
    api.idle("/srv/dev/a", &parent).await;
    let messages = api.messages(&parent).await;
    assert_eq!(part(&messages)["status"], "error");
    assert_eq!(messages[2]["info"]["finish"], "stop");
    let ended = api.messages(&child).await;
    assert_eq!(ended[1]["info"]["finish"], "tool-calls");
    assert_eq!(ended.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_abort_of_the_root_takes_the_child_and_strands_the_queue() {
    let sim = Sim::start(config()).unwrap();
    let api = Api::new(&sim);
    let part = |messages: &Value| messages[1]["parts"][1]["state"].clone();
    let parent = api.create("/srv/dev/a", json!({"title": "abort"})).await;
    api.prompt(&parent, "task:bash:sleep 60").await;
    let child = api.child_of(&parent).await;
    until(|| async {
        let state = part(&api.messages(&child).await);
        if state["metadata"]["output"] == "" {
            Ok(())
        } else {
            Err(state.to_string())
        }
    })
    .await;
    api.prompt(&parent, "say:later").await;
    api.post(&format!("/session/{parent}/abort"), json!(null))
        .await;
    api.idle("/srv/dev/a", &child).await;
    let messages = until(|| async {
        let messages = api.messages(&parent).await;
        let completed = messages[1]["info"]["time"]["completed"].is_number();
        if completed {
            Ok(messages)
        } else {
            Err(messages.to_string())
        }
    })
    .await;
    assert_eq!(messages[1]["info"]["error"]["name"], "MessageAbortedError");
    assert_eq!(
        messages.as_array().unwrap().last().unwrap()["info"]["role"],
        "user"
    );
    let state = part(&api.messages(&child).await);
    assert!(
        state["output"]
            .as_str()
            .unwrap()
            .contains("User aborted the command")
    );
}

#[tokio::test]
async fn what_is_busy_resists_and_dispose_ends_it() {
    let sim = Sim::start(config()).unwrap();
    sim.expect_violations();
    let api = Api::new(&sim);
    let session = api.create("/srv/dev/c", json!({"title": "busy"})).await;
    let here = Heard::listen(&api, "/event?directory=/srv/dev/c").await;
    api.prompt(&session, "hang").await;
    api.busy("/srv/dev/c", &session).await;
    let messages = until(|| async {
        let messages = api.messages(&session).await;
        let streamed = messages[1]["parts"][1]["text"] == "thinking";
        if streamed {
            Ok(messages)
        } else {
            Err(messages.to_string())
        }
    })
    .await;
    let user = messages[0]["info"]["id"].as_str().unwrap().to_owned();
    let url = format!("{}/session/{session}/message/{user}", api.url);
    let refused = api.http.delete(url).send().await.unwrap();
    assert_eq!(refused.status(), 409);
    assert_eq!(
        refused.json::<Value>().await.unwrap()["_tag"],
        "SessionBusyError"
    );
    let fork = api
        .post(&format!("/session/{session}/fork"), json!({}))
        .await;
    let fork: Value = fork.json().await.unwrap();
    assert_eq!(fork["title"], "busy (fork #1)");
    let copied = api.messages(fork["id"].as_str().unwrap()).await;
    assert_eq!(copied[1]["info"]["parentID"], copied[0]["info"]["id"]);

    let disposed = api
        .post("/instance/dispose?directory=/srv/dev/c", json!(null))
        .await;
    assert_eq!(disposed.json::<Value>().await.unwrap(), true);
    until(|| async {
        if here.ended() {
            Ok(())
        } else {
            Err("open".to_owned())
        }
    })
    .await;
    let last = here.events().last().unwrap()["type"].clone();
    assert_eq!(last, "server.instance.disposed");
    let messages = api.messages(&session).await;
    assert_eq!(messages[1]["info"]["error"]["name"], "MessageAbortedError");
    assert_eq!(
        messages[1]["parts"][1]["text"], "thinking",
        "what had streamed is kept"
    );
}

#[tokio::test]
async fn a_session_deleted_while_busy_is_a_zombie() {
    let sim = Sim::start(config()).unwrap();
    sim.expect_violations();
    let api = Api::new(&sim);
    let zombie = api.create("/srv/dev/c", json!({"title": "zombie"})).await;
    api.prompt(&zombie, "hang").await;
    api.busy("/srv/dev/c", &zombie).await;
    let url = format!("{}/session/{zombie}", api.url);
    assert_eq!(api.http.delete(url).send().await.unwrap().status(), 200);
    api.busy("/srv/dev/c", &zombie).await;
    api.post(&format!("/session/{zombie}/abort"), json!(null))
        .await;
    api.busy("/srv/dev/c", &zombie).await;
    let abort = format!("/session/{zombie}/abort?directory=/srv/dev/c");
    api.post(&abort, json!(null)).await;
    assert_eq!(
        api.json("/session/status?directory=/srv/dev/c")
            .await
            .get(&zombie),
        None
    );
}
