//! The way out of a link: inputs with server, epoch and time, folded while the consumer is slow.

use super::pending::{LIMIT, Pending};
use super::pulse::{Beat, Pulse};
use crate::core::id::{Epoch, ServerId};
use crate::core::time::{Clock, UnixMs};
use crate::core::wire::{Body, Event, EventKind, Input, LinkReport};
use crate::net::client::Identity;
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

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

    /// Hands the oldest to the consumer when it has room. May be dropped without loss.
    pub(super) async fn send_one(&mut self) {
        match self.sender.reserve().await {
            Err(_) => self.closed = true,
            Ok(permit) => {
                if let Some(input) = self.pending.pop() {
                    permit.send(input);
                }
            }
        }
    }
}
