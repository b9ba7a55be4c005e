//! How many requests a server at rest gets, counted on its side.
//!
//! The pace is the default one, run a hundred times as fast: a minute lasts 600 ms.

use super::{Fake, Watched, json};
use ocwatch::core::id::Directory;
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::net::link::Pace;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const FASTER: u32 = 100;
const MINUTE: Duration = Duration::from_millis(60_000 / FASTER as u64);
const NOW: i64 = 1_796_000_000_000;

fn fast() -> Pace {
    let pace = Pace::default();
    Pace {
        status: pace.status / FASTER,
        asks: pace.asks / FASTER,
        quiet_after: pace.quiet_after / FASTER,
        after_live: pace.after_live / FASTER,
        lists: pace.lists / FASTER,
        settle: pace.settle / FASTER,
        elsewhere: pace.elsewhere / FASTER,
        elsewhere_most: pace.elsewhere_most / FASTER,
        elsewhere_apart: pace.elsewhere_apart / FASTER,
        ..pace
    }
}

/// Five projects with a session each that changed just now, one that changed last week, and
/// `open` sessions whose last answer was never finished.
async fn five(open: usize) -> Fake {
    let fake = Fake::opencode("").await;
    let row = |id: &str, directory: &str, updated: i64| {
        format!(
            r#"{{"id":"{id}","time":{{"created":1,"updated":{updated}}},"location":{{"directory":"{directory}"}}}}"#
        )
    };
    let mut rows = vec![row("ses_old", "/asleep", NOW - Span::days(6).as_ms())];
    for n in 0..5 {
        let directory = if n == 0 {
            "/srv".to_owned()
        } else {
            format!("/p{n}")
        };
        rows.push(row(&format!("ses_{n}"), &directory, NOW));
        fake.set(&format!("/session/ses_{n}/message?limit=20"), json("[]"));
        fake.set(&format!("/session/status?directory=%2Fp{n}"), json("{}"));
        for list in ["question", "permission"] {
            fake.set(&format!("/{list}?directory=%2Fp{n}"), json("[]"));
        }
    }
    for n in 0..open {
        let id = format!("ses_open{n}");
        rows.push(row(&id, "/p1", NOW));
        let messages = format!(
            r#"[{{"info":{{"id":"msg_1","sessionID":"{id}","role":"user","time":{{"created":1}}}},"parts":[]}},
            {{"info":{{"id":"msg_2","sessionID":"{id}","role":"assistant","parentID":"msg_1","time":{{"created":2}}}},"parts":[]}}]"#
        );
        fake.set(&format!("/session/{id}/message?limit=20"), json(&messages));
    }
    let list = format!(
        r#"{{"data":[{}],"cursor":{{"next":null}}}}"#,
        rows.join(",")
    );
    fake.set("/api/session?limit=1000", json(&list));
    fake
}

/// Requests a minute from now on, over so many minutes, and what was asked.
#[expect(
    clippy::disallowed_methods,
    reason = "what is counted is what happens while nothing happens"
)]
async fn counted(fake: &Fake, minutes: u32) -> (f64, Vec<String>) {
    let (before, begun) = (fake.asked().len(), Instant::now());
    sleep(MINUTE * minutes).await;
    let passed = begun.elapsed().as_secs_f64() / MINUTE.as_secs_f64();
    let asked = fake.asked().split_off(before);
    (asked.len() as f64 / passed, asked)
}

#[tokio::test]
async fn at_rest_a_server_is_asked_gently_and_no_project_is_started() {
    for open in [0, 30] {
        let fake = five(open).await;
        let mut link = Watched::start_by(&fake, Arc::new(|| UnixMs(NOW)), |spec| {
            spec.local_folders = false;
            spec.pace = fast();
        });
        link.live().await;
        let Watched {
            mut inputs,
            commands,
        } = link;
        let taken = tokio::spawn(async move { while inputs.recv().await.is_some() {} });

        // The first minute looks once more at what was lost while it connected.
        counted(&fake, 1).await;
        let (rate, asked) = counted(&fake, 6).await;
        eprintln!("{open} open, at rest: {rate:.1} requests a minute");
        assert!(rate <= 60.0, "{open} open: {rate} a minute: {asked:#?}");
        assert!(rate >= 20.0, "{open} open: it does not ask: {rate}");

        counted(&fake, 5).await;
        let (rate, asked) = counted(&fake, 12).await;
        eprintln!("{open} open, quiet: {rate:.1} requests a minute");
        assert!(
            rate <= 20.0,
            "{open} open, quiet: {rate} a minute: {asked:#?}"
        );
        assert!(rate >= 8.0, "{open} open, quiet: it does not ask: {rate}");

        let named: BTreeSet<Directory> = fake
            .asked()
            .iter()
            .filter_map(|it| it.split_once("directory=%2F"))
            .map(|(_, rest)| Directory::from(rest))
            .collect();
        let only = ["p1", "p2", "p3", "p4"].map(Directory::from);
        assert_eq!(named, BTreeSet::from(only), "nothing else is started");
        assert!(!fake.asked().iter().any(|it| it.contains("ses_old")));
        drop(commands);
        taken.abort();
    }
}
