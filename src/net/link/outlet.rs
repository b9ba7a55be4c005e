//! The way out of a link: inputs with server, epoch and time, folded while the consumer is slow.

use super::pending::{DELTA_KEEP, LIMIT, Pending};
use super::pulse::{Beat, LOOK, Pulse};
use crate::core::id::{Epoch, ServerId};
use crate::core::time::{Clock, UnixMs};
use crate::core::wire::{Body, Event, EventKind, Input, LinkReport};
use crate::net::client::Identity;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, sleep_until};

/// What streams is gathered for so long: many sessions that write wake the consumer a few times a
/// second, and each is judged once for all that came. Anything else goes out at once, and what was
/// gathered before it.
const GATHER: Duration = Duration::from_millis(100);
/// Inputs handed over before commands and answers are heard again.
const AT_ONCE: usize = 64;

/// Stamps inputs and hands them on.
pub(super) struct Outlet {
    server: ServerId,
    /// Of the current connection.
    pub(super) epoch: Epoch,
    /// The watcher's clock.
    pub(super) clock: Clock,
    sender: Sender<Input>,
    pending: Pending,
    pulse: Pulse,
    /// How many requests were last told, and when.
    asked: u64,
    told: Instant,
    /// Until when what waits is gathered.
    gather: Option<Instant>,
    /// Bytes of text since that began.
    gathered: usize,
    /// The consumer is gone.
    pub(super) closed: bool,
    /// Events were given up because too many waited.
    pub(super) overflowed: bool,
}

impl Outlet {
    pub(super) fn new(server: ServerId, clock: Clock, sender: Sender<Input>) -> Self {
        Self {
            server,
            epoch: Epoch(0),
            pulse: Pulse::new(clock(), Instant::now()),
            clock,
            sender,
            gather: None,
            gathered: 0,
            asked: 0,
            told: Instant::now(),
            pending: Pending::default(),
            closed: false,
            overflowed: false,
        }
    }

    pub(super) fn now(&self) -> UnixMs {
        (self.clock)()
    }

    /// Looks at both clocks, and says it when the watcher's jumped.
    pub(super) fn beat(&mut self) -> Beat {
        let beat = self.pulse.look(self.now(), Instant::now());
        if beat.jumped {
            tracing::info!(server = self.server.0, "the clock jumped");
            self.push(Body::ClockJumped);
        }
        beat
    }

    /// Says how many requests were sent, when it looks at the clocks.
    pub(super) fn asked(&mut self, requests: u64) {
        if requests != self.asked && self.told.elapsed() >= LOOK {
            (self.asked, self.told) = (requests, Instant::now());
            self.report(LinkReport::Asked(requests));
        }
    }

    /// When to look at them again.
    pub(super) fn beat_due(&self) -> Instant {
        self.pulse.due()
    }

    /// With the current time and epoch.
    pub(super) fn stamp(&self, body: Body) -> Input {
        Input {
            server: self.server,
            epoch: self.epoch,
            at: self.now(),
            body,
        }
    }

    pub(super) fn push(&mut self, body: Body) {
        let input = self.stamp(body);
        self.push_input(input);
    }

    pub(super) fn push_input(&mut self, input: Input) {
        if self.pending.len() >= LIMIT {
            self.pending.drop_events();
            self.overflowed = true;
        }
        match delta(&input) {
            None => self.gather = None,
            Some(_) if self.pending.is_empty() => {
                self.gather = Some(Instant::now() + GATHER);
                self.gathered = 0;
            }
            Some(_) => {}
        }
        self.gathered += delta(&input).map_or(0, str::len);
        if self.gathered >= DELTA_KEEP {
            // More of one part would be cut when it is folded.
            self.gather = None;
        }
        self.pending.push(input);
    }

    pub(super) fn report(&mut self, report: LinkReport) {
        self.push(Body::Link(report));
    }

    pub(super) fn identified(&mut self, identity: &Identity) {
        self.report(LinkReport::Identified {
            dialect: identity.dialect,
            version: identity.version.clone(),
            skew: identity.skew,
            unsecured: identity.unsecured,
        });
    }

    /// Rows or parts that did not decode are counted where malformed events are.
    pub(super) fn skipped(&mut self, what: &str, count: usize, why: Option<&str>) {
        for _ in 0..count.min(64) {
            self.push(Body::Event(Event {
                directory: None,
                kind: EventKind::Malformed {
                    kind: Some(what.to_owned()),
                    why: why.unwrap_or("does not decode").to_owned(),
                },
            }));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty() || self.closed
    }

    /// Hands what waits to the consumer, oldest first, as far as it has room. May be dropped without
    /// loss.
    pub(super) async fn send(&mut self) {
        if let Some(due) = self.gather {
            sleep_until(due).await;
            self.gather = None;
        }
        let mut next = self.sender.reserve().await.map_err(drop);
        for _ in 0..AT_ONCE {
            let Ok(permit) = next else {
                self.closed = true;
                return;
            };
            let Some(input) = self.pending.pop() else {
                return;
            };
            permit.send(input);
            next = match self.sender.try_reserve() {
                Ok(permit) => Ok(permit),
                Err(TrySendError::Full(())) => return,
                Err(TrySendError::Closed(())) => Err(()),
            };
        }
    }
}

/// What streamed, if that is all that an input tells.
fn delta(input: &Input) -> Option<&str> {
    match &input.body {
        Body::Event(Event {
            kind: EventKind::Delta { text, .. },
            ..
        }) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::sync::Arc;
    use tokio::sync::mpsc::channel;

    fn event(kind: EventKind) -> Body {
        Body::Event(Event {
            directory: None,
            kind,
        })
    }

    fn delta(text: &str) -> Body {
        event(EventKind::Delta {
            session: "ses_1".into(),
            message: "msg_1".into(),
            part: "prt_1".into(),
            text: text.to_owned(),
        })
    }

    #[tokio::test]
    async fn what_streams_is_gathered_and_anything_else_goes_out_at_once() {
        let (sender, mut inputs) = channel(16);
        let mut outlet = Outlet::new(ServerId(0), Arc::new(|| UnixMs(1)), sender);
        outlet.push(delta("a"));
        outlet.push(delta("b"));
        assert!(outlet.send().now_or_never().is_none(), "it is gathered");
        assert!(inputs.try_recv().is_err());
        outlet.push(event(EventKind::Heartbeat));
        assert!(outlet.send().now_or_never().is_some(), "at once");
        assert_eq!(inputs.try_recv().unwrap().body, delta("ab"));
        let next = inputs.try_recv().unwrap().body;
        assert_eq!(next, event(EventKind::Heartbeat));
        outlet.push(delta("c"));
        outlet.send().await;
        assert_eq!(inputs.try_recv().unwrap().body, delta("c"));
        assert!(outlet.is_empty());
    }

    /// Folding keeps the newest of a part only: a burst must not be gathered until that cuts it.
    #[tokio::test]
    async fn a_burst_of_text_goes_out_before_it_would_be_cut() {
        let (sender, mut inputs) = channel(64);
        let mut outlet = Outlet::new(ServerId(0), Arc::new(|| UnixMs(1)), sender);
        let piece = "x".repeat(512);
        let mut heard = 0;
        for _ in 0..24 {
            outlet.push(delta(&piece));
            // As the link does: whenever it may.
            outlet.send().now_or_never();
            while let Ok(input) = inputs.try_recv() {
                heard += super::delta(&input).unwrap().len();
            }
        }
        outlet.send().await;
        while let Ok(input) = inputs.try_recv() {
            heard += super::delta(&input).unwrap().len();
        }
        assert_eq!(heard, 24 * 512);
    }

    #[tokio::test]
    async fn a_consumer_without_room_loses_nothing() {
        let (sender, mut inputs) = channel(1);
        let mut outlet = Outlet::new(ServerId(0), Arc::new(|| UnixMs(1)), sender);
        for n in 0..3 {
            let kind = n.to_string();
            outlet.push(event(EventKind::Unknown { kind }));
        }
        for n in 0..3 {
            outlet.send().await;
            let kind = n.to_string();
            let body = inputs.try_recv().unwrap().body;
            assert_eq!(body, event(EventKind::Unknown { kind }));
        }
        assert!(outlet.is_empty());
    }
}
