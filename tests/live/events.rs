//! The server's own event stream, heard by the test itself: the measure for how soon ocwatch tells.
//!
//! A stream misses what happens after its `server.connected`, until the server has really subscribed
//! it: measured up to 2 s on a busy machine. So it counts as open when it has told something else.

use crate::http::http;
use crate::server::OpenCode;
use crate::support::{PATIENCE, block_on, eventually};
use serde_json::Value;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::time::Instant;

/// For the event of a probe.
const PROBE: Duration = Duration::from_millis(500);

/// An open `/global/event`; ends with the server or when it is dropped.
pub struct Events(Receiver<(Instant, Value)>);

impl Events {
    /// Hears everything from now on.
    pub fn listen(server: &OpenCode) -> Self {
        let (to_test, heard) = channel();
        let url = format!("{}/global/event", server.url);
        std::thread::spawn(move || block_on(pass_on(&url, &to_test)));
        let events = Self(heard);
        eventually("the stream tells what happens", PATIENCE, || {
            let probe = server.probe();
            let told = events.within(PROBE, |event| {
                event["properties"]["info"]["id"] == probe.as_str()
            });
            told.map(|_| ()).ok_or_else(|| "nothing".to_owned())
        });
        events
    }

    /// When the next event that is `wanted` was heard, and its payload.
    fn within(
        &self,
        patience: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<(Instant, Value)> {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let (at, event) = self.0.recv_timeout(left).ok()?;
            if wanted(&event) {
                return Some((at, event));
            }
        }
    }

    /// When the next event of this type of a session was heard, and its payload.
    pub fn of(&self, session: &str, kind: &str) -> (Instant, Value) {
        let heard = self.within(PATIENCE, |event| {
            event["type"] == kind && event["properties"]["sessionID"] == session
        });
        heard.unwrap_or_else(|| panic!("no {kind} of {session}"))
    }
}

/// Frames are `data: JSON` and an empty line.
async fn pass_on(url: &str, to_test: &Sender<(Instant, Value)>) -> Option<()> {
    let client = http().build().ok()?;
    let mut answer = client.get(url).send().await.ok()?;
    let mut buffer = Vec::new();
    while let Some(chunk) = answer.chunk().await.ok()? {
        buffer.extend_from_slice(&chunk);
        while let Some(end) = buffer.windows(2).position(|two| two == b"\n\n") {
            let frame: Vec<u8> = buffer.drain(..end + 2).collect();
            let data = frame.strip_prefix(b"data: ")?;
            let mut event: Value = serde_json::from_slice(data).ok()?;
            to_test
                .send((Instant::now(), event["payload"].take()))
                .ok()?;
        }
    }
    None
}
