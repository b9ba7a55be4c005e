//! The event stream of one server.
//!
//! What it does: opens `GET /global/event` (in 2.x `GET /api/event`), gives the data of one event
//! after the other, and says how it ended. It learns the interval of the server's heartbeats and
//! reports silence of three of them. What it does not: decode, or reconnect. Invariant: memory is
//! bounded ([`Lines`]).
//!
//! [`Lines`]: super::lines::Lines

use super::client::{Client, ClientError};
use super::lines::Rechunk;
use crate::core::wire::v1::event_kind;
use bytes::Bytes;
use eventsource_stream::{EventStream, EventStreamError};
use futures_util::{Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Heartbeats come every 10 s on 1.2 and newer, every 30 s on 1.1.
const ASSUMED_INTERVAL: Duration = Duration::from_secs(10);
/// In 2.x: as comments, so only their bytes are seen.
const INTERVAL_V2: Duration = Duration::from_secs(15);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(200);
const LONGEST_INTERVAL: Duration = Duration::from_secs(60);
/// Silence of so many intervals is worth a question.
const PATIENCE: u32 = 3;

/// How a stream ended, or did not begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ending {
    /// A proper end: the server stops.
    #[error("the server closed the event stream")]
    Closed,
    /// The connection broke in the middle.
    #[error("the event stream was cut off")]
    Cut,
    /// Nothing came for three heartbeats. The only ending after which reading may go on.
    #[error("the event stream is silent")]
    Idle,
    /// It is not an event stream.
    #[error("the event stream cannot be read: {0}")]
    Unreadable(String),
    /// It could not be opened: status, content type, or no answer.
    #[error("the event stream cannot be opened: {0}")]
    NotOpened(#[from] ClientError),
}

type Body = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// An open stream.
pub struct Events {
    inner: EventStream<Rechunk<Body>>,
    received: Arc<AtomicU64>,
    seen: u64,
    interval: Duration,
    last_heartbeat: Option<Instant>,
    beats: u32,
    deadline: Instant,
}

impl Events {
    /// Opens that of a 1.x server.
    ///
    /// # Errors
    /// [`Ending::NotOpened`].
    pub async fn open(client: &Client) -> Result<Self, Ending> {
        let response = client.open_events(&["global", "event"]).await?;
        Ok(Self::of(response, ASSUMED_INTERVAL))
    }

    /// Opens that of a 2.x server.
    ///
    /// # Errors
    /// [`Ending::NotOpened`].
    pub async fn open_v2(client: &Client) -> Result<Self, Ending> {
        let response = client.open_events(&["api", "event"]).await?;
        Ok(Self::of(response, INTERVAL_V2))
    }

    fn of(response: reqwest::Response, interval: Duration) -> Self {
        let body: Body = Box::pin(response.bytes_stream());
        let lines = Rechunk::new(body);
        Self {
            received: lines.received(),
            inner: EventStream::new(lines),
            seen: 0,
            interval,
            last_heartbeat: None,
            beats: 0,
            deadline: Instant::now() + interval * PATIENCE,
        }
    }

    /// The data of the next event. May be dropped and called again without loss.
    ///
    /// # Errors
    /// Any [`Ending`]; after [`Ending::Idle`] it may be called again.
    pub async fn next(&mut self) -> Result<String, Ending> {
        loop {
            match timeout_at(self.deadline, self.inner.next()).await {
                Ok(Some(Ok(event))) => {
                    self.note(&event.data);
                    return Ok(event.data);
                }
                Ok(Some(Err(EventStreamError::Transport(_)))) => return Err(Ending::Cut),
                Ok(Some(Err(error))) => return Err(unreadable(&error)),
                Ok(None) => return Err(Ending::Closed),
                Err(_) if self.was_active() => self.rearm(),
                Err(_) => {
                    self.rearm();
                    return Err(Ending::Idle);
                }
            }
        }
    }

    /// Whether this server has sent heartbeats on this stream: only then silence means a dead one.
    pub fn has_heartbeats(&self) -> bool {
        self.beats > 0
    }

    /// The interval of the heartbeats, learned or assumed.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    fn note(&mut self, data: &str) {
        if event_kind(data) == Some("server.heartbeat") {
            let now = Instant::now();
            if let Some(last) = self.last_heartbeat {
                self.interval = (now - last).clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
            }
            self.last_heartbeat = Some(now);
            self.beats += 1;
        }
        self.was_active();
        self.rearm();
    }

    fn rearm(&mut self) {
        self.deadline = Instant::now() + self.interval * PATIENCE;
    }

    /// Whether bytes came since it was last asked (an event may be long).
    fn was_active(&mut self) -> bool {
        let received = self.received.load(Ordering::Relaxed);
        let active = received != self.seen;
        self.seen = received;
        active
    }
}

fn unreadable<E: std::fmt::Display>(error: &EventStreamError<E>) -> Ending {
    Ending::Unreadable(match error {
        EventStreamError::Utf8(_) => "not UTF-8".to_owned(),
        EventStreamError::Parser(_) => "not an event stream".to_owned(),
        EventStreamError::Transport(it) => it.to_string(),
    })
}
