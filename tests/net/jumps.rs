//! The watcher's clock is set while a server is watched.

use super::{Fake, Reply, Watched, asleep_project, beat};
use ocwatch::core::time::{Clock, Span, UnixMs};
use ocwatch::core::wire::{Body, Input, LinkReport};
use ocwatch::net::link::Inspect;
use pretty_assertions::assert_eq;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const NOW: i64 = 1_796_000_000_000;
const HOUR: i64 = 3_600_000;

/// Stands still but for what a test does to it.
fn settable() -> (Clock, Arc<AtomicI64>) {
    let now = Arc::new(AtomicI64::new(NOW));
    let hand = Arc::clone(&now);
    (Arc::new(move || UnixMs(now.load(Ordering::Relaxed))), hand)
}

/// Health with the `Date` of [`NOW`].
fn dated_health() -> Reply {
    let body = r#"{"healthy":true,"version":"1.18.33"}"#;
    let head = format!(
        "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 00:53:20 GMT\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    Reply(head.into_bytes(), false)
}

fn skew(input: &Input) -> Option<i64> {
    match &input.body {
        Body::Link(LinkReport::Identified { skew, .. }) => skew.map(Span::as_ms),
        _ => None,
    }
}

#[tokio::test]
async fn a_clock_that_is_set_is_told_and_all_is_read_again_without_a_loss() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set("/global/health", dated_health());
    let (clock, hand) = settable();
    let mut link = Watched::start_by(&fake, clock, |spec| spec.inspect = Inspect::Loaded);
    let first = link.live().await;
    assert_eq!(first.iter().find_map(skew), Some(500));
    assert!(!first.iter().any(|it| it.body == Body::ClockJumped));

    for (set, want) in [(HOUR, 500 - HOUR), (-HOUR, 500 + HOUR)] {
        hand.store(NOW + set, Ordering::Relaxed);
        beat(&fake);
        let seen = link
            .upto(|it| *it == Body::Link(LinkReport::Resynced))
            .await;
        let at = |fits: &dyn Fn(&Input) -> bool| seen.iter().position(fits);
        let jumped = at(&|it| it.body == Body::ClockJumped);
        let known = at(&|it| skew(it) == Some(want));
        let read = at(&|it| matches!(&it.body, Body::Status(read) if read.asked_at.0 == NOW + set));
        assert!(
            jumped < known && known < read && jumped.is_some(),
            "{seen:#?}"
        );
        let lost = |it: &Input| {
            matches!(
                it.body,
                Body::Link(LinkReport::Lost { .. } | LinkReport::Connecting { .. })
            )
        };
        assert!(!seen.iter().any(lost), "{seen:#?}");
        assert!(seen.iter().all(|it| it.epoch == first[0].epoch));
    }
}
