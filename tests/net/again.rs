//! What one look does not tell is looked at again: lost questions, work of another process.

use super::{Fake, Watched, asleep_project, json};
use ocwatch::core::id::{ServerId, SessionKey};
use ocwatch::core::store::{ServerSpec, Session, Store};
use ocwatch::core::wire::{AskKind, Body, Input};
use pretty_assertions::assert_eq;
use std::time::Duration;

const QUESTIONS: &str = "/question?directory=%2Fp";
const TAIL: &str = "/session/ses_1/message?limit=20";
const LISTED: &str = r#"[{"id":"que_1","sessionID":"ses_1","questions":[],"tool":{"messageID":"msg_2","callID":"call_1"}}]"#;

fn count(fake: &Fake, path: &str) -> usize {
    fake.asked().iter().filter(|it| *it == path).count()
}

/// A turn whose answer is open in these parts.
fn turn(parts: &str, end: &str) -> String {
    format!(
        r#"[{{"info":{{"id":"msg_1","sessionID":"ses_1","role":"user","time":{{"created":1}}}},"parts":[]}},
        {{"info":{{"id":"msg_2","sessionID":"ses_1","role":"assistant","parentID":"msg_1","time":{{"created":2{end}}}}},"parts":[{parts}]}}]"#
    )
}

fn tool(name: &str, output: &str) -> String {
    format!(
        r#"{{"id":"prt_1","sessionID":"ses_1","messageID":"msg_2","type":"tool","tool":"{name}","callID":"call_1","state":{{"status":"running","input":{{}},"metadata":{{"output":"{output}"}},"time":{{"start":3}}}}}}"#
    )
}

/// Live, `/p` loaded, and its session read.
async fn seen(fake: &Fake) -> (Watched, Vec<Input>) {
    let mut link = Watched::start(fake, |spec| {
        spec.local_folders = false;
        spec.pace.status = Duration::from_millis(20);
        spec.pace.question_again = [Duration::from_millis(50), Duration::from_millis(100)];
        spec.pace.elsewhere = Duration::from_millis(20);
        spec.pace.elsewhere_apart = Duration::ZERO;
    });
    let mut all = link.live().await;
    fake.send(r#"{"id":"e","type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"idle"}}}"#);
    all.extend(link.upto(|it| matches!(it, Body::Tail(_))).await);
    (link, all)
}

/// So many reads of the status pass: the time in which nothing else must happen.
async fn statuses(link: &mut Watched, times: usize) {
    for _ in 0..times {
        link.upto(|it| matches!(it, Body::Status(read) if read.directory.as_str() == "/p"))
            .await;
    }
}

#[tokio::test]
async fn a_question_that_no_list_names_is_looked_for_twice_more() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set(TAIL, json(&turn(&tool("question", ""), "")));
    let (mut link, _) = seen(&fake).await;
    let questions = |it: &Body| matches!(it, Body::Asks(read) if read.kind == AskKind::Question && read.directory.as_str() == "/p");
    for _ in 0..2 {
        link.upto(questions).await;
    }
    statuses(&mut link, 12).await;
    assert_eq!(count(&fake, QUESTIONS), 3);
}

#[tokio::test]
async fn a_question_that_is_listed_needs_no_second_look() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set(TAIL, json(&turn(&tool("question", ""), "")));
    fake.set(QUESTIONS, json(LISTED));
    let (mut link, _) = seen(&fake).await;
    statuses(&mut link, 12).await;
    assert_eq!(count(&fake, QUESTIONS), 1);
}

fn session(store: &Store) -> Session {
    let key = SessionKey::new(ServerId(0), "ses_1".into());
    store.session(&key).unwrap().clone()
}

#[tokio::test]
async fn work_of_another_process_shows_itself_without_events() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set(TAIL, json(&turn(&tool("bash", "one"), "")));
    let (mut link, first) = seen(&fake).await;
    let spec = ServerSpec {
        name: "home".into(),
        url: "http://h".into(),
        read_only: None,
    };
    let mut store = Store::new(vec![spec]);
    let mut take = |inputs: Vec<Input>| {
        for input in inputs {
            store.apply(input);
        }
        session(&store).watch.unheard_at
    };
    take(first);
    let tail = |it: &Body| matches!(it, Body::Tail(_));
    let same = link.upto(tail).await;
    assert_eq!(take(same), None, "nothing has changed");
    fake.set(TAIL, json(&turn(&tool("bash", "one two"), "")));
    let mut seen = None;
    while seen.is_none() {
        let more = link.upto(tail).await;
        seen = take(more);
    }

    fake.set(TAIL, json(&turn("", r#","completed":9"#)));
    let ended = |it: &Body| matches!(it, Body::Tail(tail) if tail.messages[1].completed.is_some());
    link.upto(ended).await;
    let before = count(&fake, TAIL);
    statuses(&mut link, 12).await;
    assert_eq!(count(&fake, TAIL), before, "what has ended is left alone");
}
