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
use eventsource_stream::{Event, EventStream, EventStreamError};
use futures_util::{FutureExt, Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout_at};

/// Heartbeats come every 10 s on 1.2 and newer, every 30 s on 1.1.
const ASSUMED_INTERVAL: Duration = Duration::from_secs(10);
/// In 2.x: as comments, so only their bytes are seen.
const INTERVAL_V2: Duration = Duration::from_secs(15);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(200);
const LONGEST_INTERVAL: Duration = Duration::from_secs(60);
/// Silence of so many intervals is worth a question.
const PATIENCE: u32 = 3;
/// A busy stream is read in portions: so long after it was read to its end it is left alone. A packet
/// for each token of each session would wake the program thousands of times a second.
const PORTION: Duration = Duration::from_millis(20);
/// So many times in a row something came within a portion: then it is busy.
const BUSY: u32 = 4;
/// The connection's own task hands over one piece at a time: so often it gets the chance to do so
/// before the stream counts as read to its end.
const HANDOVERS: u32 = 2;

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

type Arrival = Option<Result<Event, EventStreamError<reqwest::Error>>>;
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
    rhythm: Rhythm,
    /// Until when nothing is read.
    rests: Option<Instant>,
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
            rhythm: Rhythm::new(Instant::now()),
            rests: None,
        }
    }

    /// The data of the next event. May be dropped and called again without loss.
    ///
    /// # Errors
    /// Any [`Ending`]; after [`Ending::Idle`] it may be called again.
    pub async fn next(&mut self) -> Result<String, Ending> {
        if let Some(until) = self.rests {
            sleep_until(until).await;
            self.rests = None;
        }
        loop {
            match timeout_at(self.deadline, self.inner.next()).await {
                Ok(arrival) => return self.taken(arrival),
                Err(_) if self.was_active() => self.rearm(),
                Err(_) => {
                    self.rearm();
                    return Err(Ending::Idle);
                }
            }
        }
    }

    /// The next event, if it is here already. `None`: all was read that came; of a busy stream
    /// [`Events::next`] then waits until there is more to read at once. May be dropped without loss.
    pub async fn next_here(&mut self) -> Option<Result<String, Ending>> {
        for _ in 0..=HANDOVERS {
            if let Some(arrival) = self.inner.next().now_or_never() {
                return Some(self.taken(arrival));
            }
            yield_now().await;
        }
        let now = Instant::now();
        self.rests = self.rhythm.is_busy(now).then(|| now + PORTION);
        None
    }

    fn taken(&mut self, arrival: Arrival) -> Result<String, Ending> {
        match arrival {
            Some(Ok(event)) => {
                self.rhythm.events += 1;
                self.note(&event.data);
                Ok(event.data)
            }
            Some(Err(EventStreamError::Transport(_))) => Err(Ending::Cut),
            Some(Err(error)) => Err(unreadable(&error)),
            None => Err(Ending::Closed),
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

/// How often a stream is read to its end.
struct Rhythm {
    /// Events since then.
    events: u32,
    /// When it last was.
    drained: Instant,
    /// So many times in a row something had come soon.
    quick: u32,
}

impl Rhythm {
    fn new(now: Instant) -> Self {
        Self {
            events: 0,
            drained: now,
            quick: 0,
        }
    }

    /// It was read to its end: whether that goes on as quickly as a busy stream's does.
    fn is_busy(&mut self, now: Instant) -> bool {
        // A rest itself takes a portion and what the timer adds.
        let soon = now - self.drained < PORTION * 2;
        self.quick = if soon && self.events > 0 {
            self.quick.saturating_add(1)
        } else {
            0
        };
        (self.drained, self.events) = (now, 0);
        self.quick > BUSY
    }
}

fn unreadable<E: std::fmt::Display>(error: &EventStreamError<E>) -> Ending {
    Ending::Unreadable(match error {
        EventStreamError::Utf8(_) => "not UTF-8".to_owned(),
        EventStreamError::Parser(_) => "not an event stream".to_owned(),
        EventStreamError::Transport(it) => it.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_again_and_again_at_once_is_busy() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut rhythm = Rhythm::new(begin);
        let mut hear = |ms, events| {
            rhythm.events += events;
            rhythm.is_busy(at(ms))
        };
        assert!(!hear(1000, 3), "one burst");
        for ms in [1001, 1002, 1003, 1004] {
            assert!(!hear(ms, 1), "{ms}");
        }
        assert!(hear(1005, 1));
        assert!(hear(1027, 1), "after a rest as well");
        assert!(!hear(1048, 0), "nothing came while it rested");
        assert!(!hear(1049, 1), "and it begins anew");
        for ms in [1100, 1200, 1300, 1400, 1500, 1600] {
            assert!(!hear(ms, 1), "now and then");
        }
    }
}
