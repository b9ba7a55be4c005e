//! What cannot be read of a tail is counted, over all of its pages, and said with it.

use super::{Fake, Reply, Watched, asleep_project, json};
use ocwatch::core::wire::{Body, EventKind, TailRead};
use pretty_assertions::assert_eq;

const TAIL: &str = "/session/ses_1/message?limit=20";

fn page(rows: &[&str], next: Option<&str>) -> Reply {
    let Reply(bytes, open) = json(&format!("[{}]", rows.join(",")));
    let text = String::from_utf8(bytes).unwrap();
    let header = next.map_or_else(String::new, |it| format!("\r\nx-next-cursor: {it}"));
    let text = text.replacen("\r\n\r\n", &format!("{header}\r\n\r\n"), 1);
    Reply(text.into_bytes(), open)
}

/// The tail as it was read, and how often something malformed was said before it.
async fn tail(fake: &Fake) -> (TailRead, usize) {
    let mut link = Watched::start(fake, |spec| spec.local_folders = false);
    let mut all = link.live().await;
    fake.send(r#"{"id":"e","type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"idle"}}}"#);
    if !all.iter().any(|it| matches!(it.body, Body::Tail(_))) {
        all.extend(link.upto(|it| matches!(it, Body::Tail(_))).await);
    }
    let malformed = all.iter().filter(
        |it| matches!(&it.body, Body::Event(event) if matches!(event.kind, EventKind::Malformed { .. })),
    );
    let malformed = malformed.count();
    let mut tails = all.into_iter().filter_map(|it| match it.body {
        Body::Tail(tail) => Some(tail),
        _ => None,
    });
    (tails.next().unwrap(), malformed)
}

#[tokio::test]
async fn holes_count_from_the_newest_answer_on_whatever_page_it_is_on() {
    let answer = r#"{"info":{"id":"m3","role":"assistant","time":{"created":3}},"parts":[{"type":"text"},{"id":"p"}]}"#;
    let older =
        r#"{"info":{"id":"m2","role":"assistant","time":{"created":2}},"parts":[{"id":"p"}]}"#;
    let prompt = r#"{"info":{"id":"m1","role":"user","time":{"created":1}},"parts":[]}"#;
    // (the newest page, the older one, missing, malformed)
    let cases: [(&[&str], &[&str], usize, usize); 4] = [
        (&[answer], &[prompt, older], 1, 2),
        (&["7", "{}"], &[prompt, older], 3, 3),
        (&["7", answer, "{}"], &[prompt, "{}"], 2, 4),
        (&["7"], &["{}"], 2, 2),
    ];
    for (newest, oldest, missing, malformed) in cases {
        let fake = Fake::opencode(&asleep_project()).await;
        fake.set(TAIL, page(newest, Some("c")));
        fake.set(&format!("{TAIL}&before=c"), page(oldest, None));
        let (read, said) = tail(&fake).await;
        assert_eq!(
            (read.missing, said),
            (missing, malformed),
            "{newest:?} {oldest:?}"
        );
        assert!(!read.whole, "something was left out");
    }
}
