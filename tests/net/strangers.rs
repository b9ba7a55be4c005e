//! Sessions that no list names: too new for it, or deleted under their run.

use super::{Fake, Reply, Watched, asleep_project, json, reply};
use ocwatch::core::wire::{Body, EventKind, Input, LinkReport};
use ocwatch::net::link::Inspect;
use pretty_assertions::assert_eq;
use std::time::Duration;

const BUSY: &str = r#"{"ses_new":{"type":"busy"}}"#;
const IN_P: &str = "/session/ses_new?directory=%2Fp";

fn not_found() -> Reply {
    let body = r#"{"name":"NotFoundError","data":{"message":"Session not found"}}"#;
    reply("404 Not Found", "application/json", body)
}

fn row() -> Reply {
    json(r#"{"id":"ses_new","title":"n","directory":"/p","time":{"created":1,"updated":1}}"#)
}

fn count(fake: &Fake, prefix: &str) -> usize {
    let asked = fake.asked();
    asked.iter().filter(|it| it.starts_with(prefix)).count()
}

/// Live, and `/p` known to be loaded.
async fn seen(fake: &Fake) -> Watched {
    let mut link = Watched::start(fake, |spec| {
        spec.pace.status = Duration::from_millis(40);
        spec.local_folders = false;
    });
    link.live().await;
    fake.send(r#"{"id":"e","type":"moon.phase","properties":{}}"#);
    link.upto(|it| matches!(it, Body::Status(read) if read.directory.as_str() == "/p"))
        .await;
    link
}

fn gone(body: &Body) -> bool {
    matches!(body, Body::SessionGone(id) if id.as_str() == "ses_new")
}

#[tokio::test]
async fn a_run_in_a_session_that_does_not_exist_is_told_and_asked_for_once() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set("/session/status?directory=%2Fp", json(BUSY));
    fake.set(IN_P, not_found());
    let mut link = seen(&fake).await;
    for _ in 0..3 {
        link.upto(gone).await;
        link.upto(|it| matches!(it, Body::Status(read) if !read.entries.is_empty()))
            .await;
    }
    let of_it: Vec<String> = fake
        .asked()
        .into_iter()
        .filter(|it| it.contains("ses_new"))
        .collect();
    assert_eq!(of_it, [IN_P], "never through another directory, and once");
}

#[tokio::test]
async fn a_session_that_is_deleted_under_its_run_is_told_by_its_event() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set("/session/status?directory=%2Fp", json(BUSY));
    fake.set(IN_P, row());
    fake.set("/session/ses_new/message?limit=20", json("[]"));
    let mut link = seen(&fake).await;
    link.upto(|it| matches!(it, Body::Tail(tail) if tail.session.as_str() == "ses_new"))
        .await;
    fake.set(IN_P, not_found());
    let before = count(&fake, "/session/ses_new");
    fake.send(
        r#"{"id":"e","type":"session.deleted","properties":{"info":{"id":"ses_new","directory":"/p","time":{"created":1,"updated":1}}}}"#,
    );
    link.upto(
        |it| matches!(it, Body::Event(event) if matches!(event.kind, EventKind::SessionDeleted(_))),
    )
    .await;
    link.upto(gone).await;
    assert_eq!(
        count(&fake, "/session/ses_new"),
        before,
        "the event is enough"
    );
}

#[tokio::test]
async fn a_session_that_only_events_name_gets_row_status_and_tail_in_this_order() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set(IN_P, row());
    fake.set("/session/ses_new/message?limit=20", json("[]"));
    let mut link = Watched::start(&fake, |spec| spec.local_folders = false);
    link.live().await;
    fake.set("/session/status?directory=%2Fp", json(BUSY));
    fake.send(
        r#"{"id":"e","type":"session.status","properties":{"sessionID":"ses_new","status":{"type":"busy"}}}"#,
    );
    let seen = link
        .upto(|it| matches!(it, Body::Tail(tail) if tail.session.as_str() == "ses_new"))
        .await;
    let row =
        |it: &Input| matches!(&it.body, Body::Session(read) if read.row.id.as_str() == "ses_new");
    let row_at = seen.iter().position(row);
    assert!(row_at.is_some(), "{seen:#?}");
    let status_after_row = |it: &Body| matches!(it, Body::Status(read) if !read.entries.is_empty());
    let has_status = seen[row_at.unwrap()..]
        .iter()
        .any(|it| status_after_row(&it.body));
    if !has_status {
        link.upto(status_after_row).await;
    }
}

/// An error event is told after the row, with the first of a burst.
async fn error_of(fake: &Fake, link: &mut Watched, id: &str) -> Vec<Input> {
    for words in ["no such agent", "at stack trace"] {
        fake.send(&format!(
            r#"{{"id":"e","type":"session.error","properties":{{"sessionID":"{id}","error":{{"name":"UnknownError","data":{{"message":"{words}"}}}}}}}}"#
        ));
    }
    let id = id.to_owned();
    link.upto(move |it| matches!(it, Body::Tail(tail) if tail.session.as_str() == id))
        .await
}

fn heard(input: &Input) -> Option<String> {
    let Body::Event(event) = &input.body else {
        return None;
    };
    match &event.kind {
        EventKind::SessionError { failure, .. } => Some(failure.message.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn an_error_of_a_session_that_was_never_listed_is_told_after_its_row() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set(IN_P, row());
    fake.set("/session/ses_new/message?limit=20", json("[]"));
    let mut link = Watched::start(&fake, |spec| spec.local_folders = false);
    link.live().await;
    let seen = error_of(&fake, &mut link, "ses_new").await;
    let row = seen
        .iter()
        .position(|it| matches!(it.body, Body::Session(_)));
    let first = seen.iter().position(|it| heard(it).is_some());
    assert!(row.is_some() && row < first, "{seen:#?}");
    assert_eq!(
        heard(&seen[first.unwrap()]).as_deref(),
        Some("no such agent")
    );
}

#[tokio::test]
async fn an_error_of_an_old_session_has_its_messages_read() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set("/session/ses_1/message?limit=20", json("[]"));
    let mut link = Watched::start(&fake, |spec| spec.local_folders = false);
    let snapshot = link.live().await;
    let tails = |it: &&Input| matches!(it.body, Body::Tail(_));
    assert_eq!(snapshot.iter().filter(tails).count(), 0, "years old");
    assert!(snapshot.last().unwrap().body == Body::Link(LinkReport::Live));
    let seen = error_of(&fake, &mut link, "ses_1").await;
    assert_eq!(seen.iter().filter(|it| heard(it).is_some()).count(), 2);
}

#[tokio::test]
async fn a_session_that_leaves_the_list_under_its_run_is_asked_for() {
    let fake = Fake::opencode(&asleep_project()).await;
    let busy = BUSY.replace("ses_new", "ses_1");
    fake.set("/session/status?directory=%2Fp", json(&busy));
    fake.set("/session/ses_1/message?limit=20", json("[]"));
    fake.set("/session/ses_1?directory=%2Fp", not_found());
    let mut link = Watched::start(&fake, |spec| {
        spec.inspect = Inspect::All;
        spec.local_folders = false;
        spec.pace.status = Duration::from_millis(40);
        spec.pace.lists = Duration::from_millis(60);
    });
    link.live().await;
    assert_eq!(count(&fake, "/session/ses_1?"), 0, "it is listed");
    let empty = json(r#"{"data":[],"cursor":{"next":null}}"#);
    fake.set("/api/session?limit=1000", empty);
    link.upto(|it| matches!(it, Body::SessionGone(id) if id.as_str() == "ses_1"))
        .await;
}
