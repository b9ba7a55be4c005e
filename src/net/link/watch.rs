//! One connection: probe, stream, then everything that happens on it in one loop.

use super::again::Again;
use super::inspect::Policy;
use super::jobs::{Job, Jobs};
use super::loss::Loss;
use super::outlet::Outlet;
use super::pending::Pending;
use super::pulse::Beat;
use super::roster::Roster;
use super::snapshot::Stage;
use super::two::Two;
use super::{End, Link, LinkCommand, LinkSpec, Orders};
use crate::core::id::{Directory, SessionId};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Body, Dialect, Endpoint, ReadFailed, v1};
use crate::net::client::{ClientError, Identity};
use crate::net::stream::{Ending, Events};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// From the stream's head to its first event.
const CONNECTED_WAIT: Duration = Duration::from_secs(5);
/// Before commands and answers are heard again.
const FRAMES_AT_ONCE: usize = 256;
/// A stream that ends no later than this after its opening is none: some servers answer and close it
/// at once.
const TOO_SHORT: Duration = Duration::from_secs(5);
/// Without a stream the connection is tried anew after so long.
const BLIND_FOR: Duration = Duration::from_secs(300);

/// A connection that is watched.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each with its own source"
)]
pub(super) struct Watch<'a> {
    pub(super) spec: &'a LinkSpec,
    pub(super) outlet: &'a mut Outlet,
    pub(super) commanded: &'a mut HashSet<Directory>,
    pub(super) policy: Policy,
    pub(super) skew: Span,
    pub(super) roster: Roster,
    pub(super) jobs: Jobs,
    pub(super) stage: Stage,
    /// Events that wait for the snapshot.
    pub(super) kept: Pending,
    /// Tails to read at a later time.
    pub(super) later: HashMap<SessionId, Instant>,
    /// What one look does not tell.
    pub(super) again: Again,
    /// The server has a list of all sessions of all projects.
    pub(super) lists_all: bool,
    pub(super) has_stream: bool,
    /// When the stream was opened, or this connection began without one.
    opened: Instant,
    /// How the stream ended too soon, until health has told whether the server is there.
    pub(super) cut_short: Option<Ending>,
    /// Without a stream: when the connection is tried anew.
    blind_until: Instant,
    pub(super) last_event: Instant,
    pub(super) lists_due: Instant,
    /// When a silent stream was noticed, until health answered.
    pub(super) silent: bool,
    pub(super) heartbeats: bool,
    /// A read was not answered in time, or without a stream not at all, until health answered.
    pub(super) suspect: bool,
    /// It has been live in this connection.
    pub(super) lived: bool,
}

/// Why a watched connection ended.
pub(super) enum Ended {
    Shutdown,
    Anew,
    Lost(Loss),
}

impl From<Loss> for Ended {
    fn from(loss: Loss) -> Self {
        Self::Lost(loss)
    }
}

impl Link {
    /// One connection from probe to loss.
    pub(super) async fn connection(&mut self) -> End {
        match self.connect().await {
            Err(()) => End::Shutdown,
            Ok(Err(loss)) => End::Lost { loss, lived: false },
            Ok(Ok((identity, Some(events)))) if identity.dialect == Dialect::V2 => {
                self.watch_two(&identity, events).await
            }
            Ok(Ok((identity, events))) => self.watch(&identity, events).await,
        }
    }

    /// Probe, then the stream and its first event.
    async fn connect(&mut self) -> Result<Result<(Identity, Option<Events>), Loss>, ()> {
        let client = self.spec.client.clone();
        let identity = match self.step(client.probe()).await? {
            Ok(identity) => identity,
            Err(error) => return Ok(Err(error.into())),
        };
        self.outlet.identified(&identity);
        if identity.dialect == Dialect::V2 {
            // Without its stream nothing of it can be followed.
            let opened = self.step(Events::open_v2(&client)).await?;
            return Ok(match opened {
                Ok(events) => Ok((identity, Some(events))),
                Err(ending) => Err(ending.into()),
            });
        }
        let events = match self.step(Events::open(&client)).await? {
            Ok(events) => Some(events),
            Err(Ending::NotOpened(error)) if !ends_connection(&error) => {
                self.no_stream(&error);
                None
            }
            Err(ending) => return Ok(Err(ending.into())),
        };
        Ok(Ok((identity, events)))
    }

    fn no_stream(&mut self, error: &ClientError) {
        self.outlet.push(Body::Failed(ReadFailed {
            endpoint: Endpoint::Events,
            directory: None,
            session: None,
            status: error.status(),
            text: error.to_string(),
        }));
    }

    async fn watch(&mut self, identity: &Identity, events: Option<Events>) -> End {
        let Self {
            spec,
            outlet,
            orders,
            commanded,
        } = self;
        let mut watch = Watch::new(spec, outlet, commanded, identity, events.is_some());
        match watch.run(events, orders).await {
            Ended::Shutdown => End::Shutdown,
            Ended::Anew => End::Anew,
            Ended::Lost(loss) => End::Lost {
                loss,
                lived: watch.lived,
            },
        }
    }
}

impl Link {
    async fn watch_two(&mut self, identity: &Identity, events: Events) -> End {
        let mut watch = Two::new(&self.spec, &mut self.outlet, identity);
        match watch.run(events, &mut self.orders).await {
            Ended::Shutdown => End::Shutdown,
            Ended::Anew => End::Anew,
            Ended::Lost(loss) => End::Lost {
                loss,
                lived: watch.lived,
            },
        }
    }
}

/// Errors of opening the stream after which polling is in vain too.
fn ends_connection(error: &ClientError) -> bool {
    error.is_loss() || error.is_late() || matches!(error, ClientError::Unauthorized)
}

/// The next frame; never ready without a stream.
async fn next_frame(events: &mut Option<Events>) -> Result<String, Ending> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

/// The next frame, if it is here already.
async fn frame_here(events: &mut Option<Events>) -> Option<Result<String, Ending>> {
    events.as_mut()?.next_here().await
}

impl<'a> Watch<'a> {
    fn new(
        spec: &'a LinkSpec,
        outlet: &'a mut Outlet,
        commanded: &'a mut HashSet<Directory>,
        identity: &Identity,
        has_stream: bool,
    ) -> Self {
        let now = Instant::now();
        Self {
            policy: Policy {
                inspect: spec.inspect,
                only: spec.directories.clone(),
            },
            skew: identity.skew.unwrap_or(Span::ZERO),
            roster: Roster::new(spec.local_folders),
            jobs: Jobs::new(spec.client.clone(), outlet.clock.clone()),
            stage: Stage::Lists,
            kept: Pending::default(),
            later: HashMap::new(),
            again: Again::new(),
            lists_all: true,
            has_stream,
            opened: now,
            cut_short: None,
            blind_until: now + BLIND_FOR,
            last_event: now,
            lists_due: now + spec.pace.lists,
            silent: false,
            heartbeats: false,
            suspect: false,
            lived: false,
            spec,
            outlet,
            commanded,
        }
    }

    async fn run(&mut self, mut events: Option<Events>, orders: &mut Orders) -> Ended {
        if let Err(loss) = self.await_connected(&mut events).await {
            return loss.into();
        }
        // A slow way here is no pause.
        self.on_beat();
        self.begin();
        loop {
            match self.turn(&mut events, orders).await {
                Ok(()) => {}
                Err(ended) => return ended,
            }
        }
    }

    /// Waits for the next thing to happen and takes it.
    async fn turn(
        &mut self,
        events: &mut Option<Events>,
        orders: &mut Orders,
    ) -> Result<(), Ended> {
        if self.outlet.closed {
            return Err(Ended::Shutdown);
        }
        if self.on_beat().paused {
            return Err(Ended::Anew);
        }
        if self.outlet.overflowed {
            self.resync();
        }
        self.jobs.start();
        self.advance();
        let due = self.next_due();
        tokio::select! {
            () = self.outlet.send(), if !self.outlet.is_empty() => {}
            frame = next_frame(events) => self.on_frames(frame, events).await?,
            Some(done) = self.jobs.finished() => self.answered(done)?,
            command = orders.next() => if self.on_command(command) {
                return Err(Ended::Shutdown);
            },
            () = sleep_until(due) => self.on_time(),
            // Not lost: it answers, and may have a stream by now.
            () = sleep_until(self.blind_until), if !self.has_stream => return Err(Ended::Anew),
        }
        Ok(())
    }

    /// A clock that jumped tells nothing about the server's until that was looked at again.
    fn on_beat(&mut self) -> Beat {
        self.outlet.asked(self.spec.client.requests());
        let beat = self.outlet.beat();
        if beat.jumped {
            self.jobs.urgent(Job::Identity);
        }
        beat
    }

    /// The stream's first event, before anything is read.
    async fn await_connected(&mut self, events: &mut Option<Events>) -> Result<(), Loss> {
        let Some(stream) = events else { return Ok(()) };
        let Ok(frame) = timeout(CONNECTED_WAIT, stream.next()).await else {
            self.give_up_stream(Ending::Idle, events);
            return Ok(());
        };
        self.on_frame(frame, events)
    }

    /// Takes a frame and those that are there already, up to a budget.
    async fn on_frames(
        &mut self,
        first: Result<String, Ending>,
        events: &mut Option<Events>,
    ) -> Result<(), Loss> {
        let mut frame = first;
        for _ in 0..FRAMES_AT_ONCE {
            self.heartbeats = events.as_ref().is_some_and(Events::has_heartbeats);
            self.on_frame(frame, events)?;
            match frame_here(events).await {
                Some(next) => frame = next,
                None => return Ok(()),
            }
        }
        self.on_frame(frame, events)
    }

    fn on_frame(
        &mut self,
        frame: Result<String, Ending>,
        events: &mut Option<Events>,
    ) -> Result<(), Loss> {
        match frame {
            Ok(data) => {
                self.silent = false;
                self.on_event(&data, v1::decode_event(&data));
                Ok(())
            }
            Err(Ending::Idle) => {
                self.silent = true;
                self.check_health();
                Ok(())
            }
            Err(ending) if self.is_too_soon(&ending) => {
                self.give_up_stream(ending, events);
                Ok(())
            }
            Err(ending) => Err(ending.into()),
        }
    }

    /// Whether an end of the stream says nothing about the server: it came before everything was
    /// read, or properly and at once. Who is gone does not answer either, so health is asked.
    fn is_too_soon(&self, ending: &Ending) -> bool {
        let at_once = *ending == Ending::Closed && self.opened.elapsed() < TOO_SHORT;
        at_once || !self.lived
    }

    fn give_up_stream(&mut self, ending: Ending, events: &mut Option<Events>) {
        *events = None;
        self.cut_short = Some(ending);
        self.check_health();
    }

    /// The stream ended too soon although the server answers: it goes on as without one.
    pub(super) fn go_blind(&mut self, ending: &Ending) {
        let now = Instant::now();
        self.has_stream = false;
        self.blind_until = now + BLIND_FOR;
        let after = self.opened.elapsed().as_secs_f32();
        self.outlet.push(Body::Failed(ReadFailed {
            endpoint: Endpoint::Events,
            directory: None,
            session: None,
            status: None,
            text: format!("{ending} after {after:.1} s"),
        }));
        // What happened since its end was not heard.
        for place in self.roster.places.values_mut() {
            (place.status_due, place.asks_due) = (now, now);
        }
    }

    /// True at shutdown.
    fn on_command(&mut self, command: LinkCommand) -> bool {
        match command {
            LinkCommand::Shutdown => return true,
            LinkCommand::RetryNow | LinkCommand::GiveUp => {}
            LinkCommand::LoadDirectory(it) => self.load(&it),
            LinkCommand::ReadSession(it) => self.read_session(it),
            LinkCommand::ReadTodo(it) => self.read_todo(it),
            LinkCommand::Refresh(it) => self.refresh(&it),
        }
        false
    }

    /// The server's clock.
    pub(super) fn server_now(&self) -> UnixMs {
        self.outlet.now() + self.skew
    }
}
