//! Servers that offer less than others, or whose answers never end.

use super::{DEADLINE, Fake, Watched, client, html, json};
use ocwatch::core::wire::{Body, DirectoryState, Endpoint, Input, LinkReport};
use ocwatch::net::client::ClientError;
use ocwatch::net::link::Inspect;
use pretty_assertions::assert_eq;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{interval, timeout};

const OF_P: &str = "/session?limit=1000&directory=%2Fp";

/// As 1.1: the cwd's list only, and the projects by name.
async fn old() -> Fake {
    let fake = Fake::opencode("").await;
    fake.set("/api/session?limit=1000", html());
    fake.set("/session?limit=1000", json("[]"));
    let row = r#"[{"id":"ses_1","directory":"/p","time":{"created":1,"updated":1}}]"#;
    fake.set(OF_P, json(row));
    fake.set("/session/ses_1/message?limit=20", json("[]"));
    let named = r#"[{"id":"a","worktree":"/p"},{"id":"global","worktree":"/"},{"id":"b"}]"#;
    fake.set("/project", json(named));
    fake
}

fn start(fake: &Fake, inspect: Inspect) -> Watched {
    Watched::start(fake, |spec| {
        spec.local_folders = false;
        spec.inspect = inspect;
        spec.pace.lists = Duration::from_millis(50);
    })
}

fn gaps(inputs: &[Input]) -> Vec<(Endpoint, &str)> {
    let gap = |it| match it {
        &Input {
            body: Body::Failed(ref it),
            ..
        } => Some((it.endpoint, it.text.as_str())),
        _ => None,
    };
    inputs.iter().filter_map(gap).collect()
}

fn is_row(body: &Body) -> bool {
    matches!(body, Body::Sessions(list) if list.rows.iter().any(|row| row.id.as_str() == "ses_1"))
}

#[tokio::test]
async fn projects_stand_in_for_a_list_of_all_sessions() {
    let fake = old().await;
    let mut link = start(&fake, Inspect::All);
    let snapshot = link.live().await;
    let missing = "no list of all projects: the worktrees of /project stand in (1)";
    let mut found = gaps(&snapshot);
    found.dedup();
    assert_eq!(found, [(Endpoint::AllSessions, missing)]);
    assert!(snapshot.iter().any(|it| is_row(&it.body)), "{snapshot:#?}");
    link.upto(is_row).await;
    let root = |it: &String| it.contains("directory=%2F&") || it.ends_with("directory=%2F");
    assert!(!fake.asked().iter().any(root), "{:?}", fake.asked());
}

#[tokio::test]
async fn a_project_of_unknown_age_stays_asleep_until_it_is_seen() {
    let fake = old().await;
    let mut link = start(&fake, Inspect::default());
    let snapshot = link.live().await;
    let asleep = |it: &Input| matches!(&it.body, Body::Directory(it) if it.state == DirectoryState::Asleep && it.directory.as_str() == "/p");
    assert!(snapshot.iter().any(asleep), "{snapshot:#?}");
    fake.until_asked("/project", 3).await;
    assert!(!fake.asked().iter().any(|it| it.contains("%2Fp")));
    fake.send(r#"{"id":"e","type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"idle"}}}"#);
    link.upto(is_row).await;
}

#[tokio::test]
async fn without_projects_what_is_seen_is_read_and_the_rest_named() {
    let fake = old().await;
    fake.set("/project", html());
    let snapshot = start(&fake, Inspect::All).live().await;
    let mut found = gaps(&snapshot);
    found.dedup();
    assert_eq!(found.len(), 1, "{found:?}");
    let (endpoint, text) = found[0];
    assert_eq!(endpoint, Endpoint::AllSessions);
    assert!(text.contains("nor /project"), "{text}");
}

/// Answers everything with a head that promises much, and so many bytes each 50 ms.
async fn trickle(bytes: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40000\r\n\r\n";
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n") {
                    asked.push(socket.read_u8().await.unwrap());
                }
                let mut ticks = interval(Duration::from_millis(50));
                let mut more = head.as_bytes().to_vec();
                let mut left = 40_000;
                while left > 0 && socket.write_all(&more).await.is_ok() {
                    ticks.tick().await;
                    more = vec![b' '; bytes.min(left)];
                    left -= more.len();
                }
                socket.write_all(&more).await.ok();
            });
        }
    });
    port
}

#[tokio::test]
async fn an_answer_that_trickles_is_given_up_and_a_slow_one_is_not() {
    let slow = client(trickle(1).await);
    let listed = timeout(DEADLINE, slow.directory_sessions(None)).await;
    let error = listed.unwrap().err().unwrap();
    assert!(matches!(error, ClientError::Trickle { .. }), "{error}");
    let probed = timeout(DEADLINE, slow.probe()).await.unwrap();
    let error = probed.err().unwrap();
    assert!(matches!(error, ClientError::Trickle { .. }), "{error}");

    // Longer than the grace of 2.4 s: it moves.
    let steady = client(trickle(600).await);
    let listed = timeout(DEADLINE, steady.directory_sessions(None)).await;
    let error = listed.unwrap().err().unwrap();
    assert!(matches!(error, ClientError::Shape(_)), "{error}");
}

#[tokio::test]
async fn a_server_that_only_trickles_is_wedged() {
    let fake = Fake::start().await;
    let port = trickle(1).await;
    let mut link = Watched::start(&fake, |spec| spec.client = client(port));
    let lost = link.upto(|it| matches!(it, Body::Link(LinkReport::Lost { .. })));
    let lost = lost.await;
    let Some(Body::Link(LinkReport::Lost { text, .. })) = lost.last().map(|it| &it.body) else {
        panic!("{lost:#?}")
    };
    assert!(
        text.contains("the port is open, but there is no whole answer"),
        "{text}"
    );
}
