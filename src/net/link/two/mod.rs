//! One connection to a server that speaks the API of OpenCode 2.x.
//!
//! ```text
//! stream open -> list and active -> asks and tails -> kept events -> Live -> follow
//! ```
//!
//! What it does: read who runs (`active` is of the whole process), what is asked where somebody
//! runs, and the messages and inboxes that matter; then take events as a trigger to read again what
//! they touch. What it does not: build messages out of events, or load a location: no read of it
//! names one, but for the asks of those that `debug/location` lists at that moment. So every
//! session is read, whatever the inspect policy says, and none is asleep. Invariants are those of
//! [`super`].

mod answers;
mod hear;
mod read;
mod tell;
mod trouble;

use super::again::Again;
use super::jobs::Jobs;
use super::loss::Loss;
use super::outlet::Outlet;
use super::pending::Pending;
use super::pulse::Beat;
use super::watch::Ended;
use super::{LinkCommand, LinkSpec, Orders};
use crate::core::id::{AskId, CallId, Directory, SessionId};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{AskKind, Event, LinkReport, LostCause, Retry, SessionInfo, Status};
use crate::net::client::Identity;
use crate::net::stream::{Ending, Events};
use read::Read;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// From the stream's head to its first event.
const CONNECTED_WAIT: Duration = Duration::from_secs(5);
/// Before commands and answers are heard again.
const FRAMES_AT_ONCE: usize = 256;

/// How far the snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The session list, and who runs.
    Lists,
    /// Asks, messages and inboxes.
    Tails,
    /// All is read: events pass at once.
    Live,
}

/// What matters of a session here.
#[derive(Debug, Default)]
struct Known {
    /// From its row; none before it came.
    directory: Option<Directory>,
    updated: UnixMs,
    archived: bool,
    /// When an event brought the row.
    told_at: Option<UnixMs>,
    /// When the last tail was asked for.
    tail: Option<UnixMs>,
    /// What it asks, to close it when the call or the run ends.
    asks: HashMap<AskId, (AskKind, Option<CallId>)>,
    /// It waits for this, by an event or by its newest answer.
    retry: Option<Retry>,
    /// When an event last said how it runs.
    status_heard: Option<UnixMs>,
    /// What only events told of running calls.
    progress: HashMap<CallId, Progress>,
}

/// Of a running call.
#[derive(Debug, Default)]
struct Progress {
    child: Option<SessionId>,
    begun: bool,
}

/// Who runs, as `active` and later events say.
#[derive(Debug, Default)]
struct Active {
    /// The last successful read was asked then.
    read: Option<UnixMs>,
    /// The last read failed: HTTP status and words.
    failed: Option<(Option<u16>, String)>,
    entries: BTreeMap<SessionId, Status>,
    /// When an event last said something of a session: wins over reads asked before.
    heard: HashMap<SessionId, UnixMs>,
}

/// A connection that is watched.
pub(super) struct Two<'a> {
    spec: &'a LinkSpec,
    outlet: &'a mut Outlet,
    skew: Span,
    jobs: Jobs<Read>,
    stage: Stage,
    /// Events that wait for the snapshot.
    kept: Pending,
    known: HashMap<SessionId, Known>,
    active: Active,
    /// Tails to read at a later time.
    later: HashMap<SessionId, Instant>,
    /// Sessions with something open that do not run here: another process may work on them.
    again: Again,
    /// Ends of runs that wait for their tail, each until then.
    held: HashMap<SessionId, (Event, Instant)>,
    active_due: Instant,
    asks_due: Instant,
    lists_due: Instant,
    last_event: Instant,
    /// When a silent stream was noticed, until the server answered.
    silent: bool,
    /// A read was not answered in time, until the server answered.
    suspect: bool,
    /// It has been live in this connection.
    pub(super) lived: bool,
}

impl<'a> Two<'a> {
    pub(super) fn new(spec: &'a LinkSpec, outlet: &'a mut Outlet, identity: &Identity) -> Self {
        let now = Instant::now();
        Self {
            skew: identity.skew.unwrap_or(Span::ZERO),
            jobs: Jobs::new(spec.client.clone(), outlet.clock.clone()),
            stage: Stage::Lists,
            kept: Pending::default(),
            known: HashMap::new(),
            active: Active::default(),
            later: HashMap::new(),
            again: Again::new(),
            held: HashMap::new(),
            active_due: now,
            asks_due: now,
            lists_due: now,
            last_event: now,
            silent: false,
            suspect: false,
            lived: false,
            spec,
            outlet,
        }
    }

    pub(super) async fn run(&mut self, mut events: Events, orders: &mut Orders) -> Ended {
        if let Err(loss) = self.await_connected(&mut events).await {
            return loss.into();
        }
        // A slow way here is no pause.
        self.on_beat();
        self.begin();
        loop {
            if let Err(ended) = self.turn(&mut events, orders).await {
                return ended;
            }
        }
    }

    /// Waits for the next thing to happen and takes it.
    async fn turn(&mut self, events: &mut Events, orders: &mut Orders) -> Result<(), Ended> {
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
            frame = events.next() => self.on_frames(frame, events).await?,
            Some(done) = self.jobs.finished() => self.answered(done)?,
            command = orders.next() => if self.on_command(command) {
                return Err(Ended::Shutdown);
            },
            () = sleep_until(due) => self.on_time(),
        }
        Ok(())
    }

    /// A clock that jumped tells nothing about the server's until that was looked at again.
    fn on_beat(&mut self) -> Beat {
        self.outlet.asked(self.spec.client.requests());
        let beat = self.outlet.beat();
        if beat.jumped {
            self.jobs.urgent(Read::Identity);
        }
        beat
    }

    /// The stream's first event, before anything is read.
    async fn await_connected(&mut self, events: &mut Events) -> Result<(), Loss> {
        match timeout(CONNECTED_WAIT, events.next()).await {
            Ok(frame) => self.on_frame(frame),
            Err(_) => Err(Loss::new(
                LostCause::Wedged,
                "the event stream is open, but nothing comes",
            )),
        }
    }

    /// Takes a frame and those that are there already, up to a budget.
    async fn on_frames(
        &mut self,
        first: Result<String, Ending>,
        events: &mut Events,
    ) -> Result<(), Loss> {
        let mut frame = first;
        for _ in 0..FRAMES_AT_ONCE {
            self.on_frame(frame)?;
            match events.next_here().await {
                Some(next) => frame = next,
                None => return Ok(()),
            }
        }
        self.on_frame(frame)
    }

    fn on_frame(&mut self, frame: Result<String, Ending>) -> Result<(), Loss> {
        match frame {
            Ok(data) => {
                self.silent = false;
                self.hear(&data);
                Ok(())
            }
            Err(Ending::Idle) => {
                self.silent = true;
                self.jobs.urgent(Read::Health);
                Ok(())
            }
            Err(ending) => Err(ending.into()),
        }
    }

    /// True at shutdown. Reading loads nothing, so nothing needs to be loaded first.
    fn on_command(&mut self, command: LinkCommand) -> bool {
        match command {
            LinkCommand::Shutdown => return true,
            LinkCommand::RetryNow | LinkCommand::GiveUp | LinkCommand::ReadTodo(_) => {}
            LinkCommand::LoadDirectory(_) | LinkCommand::Refresh(_) => {
                self.jobs.urgent(Read::Active);
                self.ask_asks();
            }
            LinkCommand::ReadSession(id) => {
                self.jobs.urgent(Read::Row(id.clone()));
                self.jobs.urgent(Read::Tail(id));
            }
        }
        false
    }

    fn begin(&mut self) {
        let now = Instant::now();
        self.lists_due = now + self.spec.pace.lists;
        self.active_due = now + self.active_every();
        self.jobs.urgent(Read::Sessions);
        self.jobs.urgent(Read::Active);
    }

    /// The consumer lost the thread: read everything again.
    fn resync(&mut self) {
        self.outlet.overflowed = false;
        self.stage = Stage::Lists;
        for known in self.known.values_mut() {
            known.tail = None;
        }
        self.begin();
    }

    /// Goes to the next stage when nothing waits or runs.
    fn advance(&mut self) {
        while self.stage != Stage::Live && self.jobs.is_idle() {
            match self.stage {
                Stage::Lists => {
                    self.stage = Stage::Tails;
                    self.tell_status();
                    self.ask_asks();
                    self.read_tails();
                }
                Stage::Tails => self.enter_live(),
                Stage::Live => {}
            }
            self.jobs.start();
        }
    }

    fn enter_live(&mut self) {
        self.stage = Stage::Live;
        while let Some(input) = self.kept.pop() {
            self.outlet.push_input(input);
        }
        let again = std::mem::replace(&mut self.lived, true);
        self.outlet.report(if again {
            LinkReport::Resynced
        } else {
            LinkReport::Live
        });
    }

    /// By how much everything is asked less often: a server that was quiet for long.
    fn slower(&self) -> u32 {
        let quiet = self.last_event.elapsed() >= self.spec.pace.quiet_after;
        if quiet { 2 } else { 1 }
    }

    fn active_every(&self) -> Duration {
        self.spec.pace.status * self.slower()
    }

    fn asks_every(&self) -> Duration {
        self.spec.pace.asks * self.slower()
    }

    /// When something is to be read next.
    fn next_due(&self) -> Instant {
        let polls = [self.active_due, self.asks_due, self.lists_due];
        let polls = polls.into_iter().filter(|_| self.stage == Stage::Live);
        let later = self.later.values().copied();
        let later = later.filter(|_| self.stage != Stage::Lists);
        let again = self.again.due().filter(|_| self.stage == Stage::Live);
        let held = self.held.values().map(|(_, until)| *until);
        let all = polls.chain(later).chain(held).chain(again);
        all.fold(self.outlet.beat_due(), Instant::min)
    }

    /// Reads what is due.
    fn on_time(&mut self) {
        let now = Instant::now();
        self.let_go_due(now);
        if self.stage != Stage::Lists {
            self.later_tails(now);
        }
        if self.stage != Stage::Live {
            return;
        }
        if self.lists_due <= now {
            self.lists_due = now + self.spec.pace.lists * self.slower();
            self.jobs.calm(Read::Sessions);
        }
        if self.active_due <= now {
            self.active_due = now + self.active_every();
            self.jobs.calm(Read::Active);
        }
        if self.asks_due <= now {
            self.ask_asks();
        }
        if let Some(id) = self.again.open(now, &self.spec.pace) {
            self.jobs.calm(Read::Tail(id));
        }
    }

    /// Takes a row. True when it is new, or changed since it was last seen.
    fn meet(&mut self, row: &SessionInfo) -> bool {
        let known = self.known.entry(row.id.clone()).or_default();
        let news = known.directory.is_none() || row.updated > known.updated;
        known.directory = Some(row.directory.clone());
        known.updated = row.updated;
        known.archived = row.archived.is_some();
        news
    }

    fn forget(&mut self, id: &SessionId) {
        self.known.remove(id);
        self.later.remove(id);
        self.again.close(id);
        self.active.entries.remove(id);
    }

    /// Only the directories that the user named, if any.
    fn admits(&self, directory: &Directory) -> bool {
        let only = &self.spec.directories;
        only.is_empty() || only.contains(directory)
    }

    /// The server's clock.
    fn server_now(&self) -> UnixMs {
        self.outlet.now() + self.skew
    }
}
