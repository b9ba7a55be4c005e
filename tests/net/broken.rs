//! A list of asks that cannot be read costs nothing but itself: events tell of asks.

use super::{Fake, Reply, Watched, asleep_project, html, json, reply};
use ocwatch::core::id::{ServerId, SessionKey};
use ocwatch::core::store::{ServerSpec, Store};
use ocwatch::core::wire::{AskKind, Body, Endpoint, EventKind, Input, LinkReport, ReadFailed};
use pretty_assertions::assert_eq;
use std::time::Duration;

const LIST: &str = "/permission?directory=%2Fp";
const ASKED: &str = r#"{"id":"e","type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","permission":"webfetch","patterns":["https://example.com"],"metadata":{},"always":[],"tool":{"messageID":"msg_2","callID":"call_1"}}}"#;
const REPLIED: &str = r#"{"id":"e","type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}"#;

fn bad_request() -> Reply {
    let body = r#"{"name":"BadRequest","data":{"message":"Expected string, got undefined at [0][\"metadata\"][\"timeout\"]","kind":"Encoding"}}"#;
    reply("400 Bad Request", "application/json", body)
}

fn fails(body: &Body) -> bool {
    let Body::Failed(ReadFailed {
        endpoint,
        directory,
        ..
    }) = body
    else {
        return false;
    };
    *endpoint == Endpoint::Permission && directory.as_ref().is_some_and(|it| it.as_str() == "/p")
}

struct Follower {
    link: Watched,
    store: Store,
}

impl Follower {
    fn take(&mut self, inputs: Vec<Input>) {
        for input in inputs {
            let lost = matches!(input.body, Body::Link(LinkReport::Lost { .. }));
            assert!(!lost, "{input:#?}");
            self.store.apply(input);
        }
    }

    async fn upto(&mut self, fits: impl Fn(&Body) -> bool) {
        let inputs = self.link.upto(fits).await;
        self.take(inputs);
    }

    fn pending(&self) -> Vec<String> {
        let key = SessionKey::new(ServerId(0), "ses_1".into());
        let server = self.store.server(ServerId(0)).unwrap();
        let session = self.store.session(&key).unwrap();
        let pending = server.pending(session);
        pending.map(|it| it.ask.id.to_string()).collect()
    }
}

#[tokio::test]
async fn asks_are_told_by_events_where_their_list_is_broken() {
    for broken in [bad_request(), reply("500 Oops", "text/plain", "?"), html()] {
        let fake = Fake::opencode(&asleep_project()).await;
        fake.set(LIST, broken);
        fake.set("/session/ses_1/message?limit=20", json("[]"));
        let link = Watched::start(&fake, |spec| {
            spec.local_folders = false;
            spec.pace.asks = Duration::from_millis(30);
            spec.pace.status = Duration::from_millis(30);
        });
        let spec = ServerSpec {
            name: "home".into(),
            url: "http://h".into(),
            read_only: None,
        };
        let store = Store::new(vec![spec]);
        let mut follower = Follower { link, store };
        follower
            .upto(|it| *it == Body::Link(LinkReport::Live))
            .await;
        fake.send(ASKED);
        for _ in 0..3 {
            follower.upto(fails).await;
        }
        assert_eq!(follower.pending(), ["per_1"], "no failing read closes it");
        for _ in 0..2 {
            follower
                .upto(|it| matches!(it, Body::Asks(read) if read.kind == AskKind::Question))
                .await;
            follower.upto(|it| matches!(it, Body::Status(_))).await;
        }
        fake.send(REPLIED);
        let closed = |it: &Body| matches!(it, Body::Event(event) if matches!(event.kind, EventKind::AskClosed { .. }));
        follower.upto(closed).await;
        follower.upto(fails).await;
        assert_eq!(follower.pending(), [""; 0], "it was answered");
    }
}
