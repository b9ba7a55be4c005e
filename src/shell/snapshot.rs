//! The headless watcher: reads servers until enough is known, and no longer.
//!
//! What it does: feed an [`App`] until every server was read or is lost, and, if wanted, until
//! nothing will change its name within the time given. What it does not: print. A lost server is not tried again:
//! a command says what is so now.

use crate::core::app::{App, Msg, update};
use crate::core::id::{ServerId, SessionKey};
use crate::core::judge::Verdict;
use crate::core::store::{LinkState, Server, Session, Store};
use crate::core::time::{Clock, Span, UnixMs};
use crate::core::wire::{AskKind, Endpoint, Part, ToolPart, ToolState};
use crate::feed::live::LiveFeed;
use crate::net::link::LinkCommand;
use crate::tui::Theme;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Between two looks at what time alone changes.
const LOOK: Duration = Duration::from_millis(100);
/// A server that has said nothing for so long is not waited for once the others are read, unless
/// the command was told how long it may take.
pub const PATIENCE: Duration = Duration::from_millis(1_800);
/// Inputs taken at once.
const PORTION: usize = 512;

/// An app that is fed without a terminal.
pub struct Snapshot {
    /// The model.
    pub app: App,
    /// Where inputs come from.
    pub feed: LiveFeed,
    /// The only clock.
    pub clock: Clock,
    /// When the whole command gives up.
    pub deadline: Instant,
    /// How what is said looks.
    pub theme: Theme,
    /// When servers that have said nothing are given up, if others are read by then.
    hurry: Option<Instant>,
    lost: BTreeSet<ServerId>,
}

impl Snapshot {
    /// Nothing is read yet.
    pub fn new(app: App, feed: LiveFeed, clock: Clock, deadline: Instant, theme: Theme) -> Self {
        Self {
            app,
            feed,
            clock,
            deadline,
            theme,
            hurry: None,
            lost: BTreeSet::new(),
        }
    }

    /// Does not wait longer than [`PATIENCE`] for servers that say nothing while others are read.
    #[must_use]
    pub fn hurried(self) -> Self {
        let hurry = Some(Instant::now() + PATIENCE);
        Self { hurry, ..self }
    }

    /// Reads every server, then waits at most `settle` for what can be said within it. `false`: the
    /// time of the command is over and some server is neither read nor lost.
    pub async fn read(&mut self, settle: Duration) -> bool {
        if !self.until(self.deadline, Self::is_read).await {
            return false;
        }
        let now = Instant::now();
        let end = self.deadline.min(now + settle);
        let wait = i64::try_from((end - now).as_millis()).unwrap_or(i64::MAX);
        let last = (self.clock)() + Span(wait);
        self.until(end, |it| it.is_settled(last)).await;
        true
    }

    /// Feeds the app until `enough` says so; `false`: it was not so in time.
    pub async fn until(&mut self, end: Instant, mut enough: impl FnMut(&mut Self) -> bool) -> bool {
        let mut batch = Vec::new();
        loop {
            if enough(self) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            let next = end.min(Instant::now() + LOOK);
            let inputs = self.feed.inputs.recv_many(&mut batch, PORTION);
            let msg = match timeout_at(next, inputs).await {
                Ok(0) => return enough(self),
                Ok(_) => {
                    self.feed.scope.narrow(&mut batch);
                    Msg::Feed(std::mem::take(&mut batch))
                }
                Err(_) => Msg::Tick,
            };
            // No key was pressed, so there are no effects.
            update(&mut self.app, msg, (self.clock)());
            self.give_up_lost();
            self.give_up_silent();
        }
    }

    /// All the others are read: who has not said a word in time is not waited for.
    fn give_up_silent(&mut self) {
        let Some(_) = self.hurry.filter(|it| Instant::now() >= *it) else {
            return;
        };
        let store = &self.app.store;
        // The way by ssh takes longer, and has limits of its own.
        let far = |server: &Server| server.spec.url.starts_with("ssh://");
        let silent = |it: &Server| it.dialect.is_none() && it.is_reachable() && !far(it);
        let read = |(_, server): (ServerId, &Server)| server.link == LinkState::Live;
        let waits = |(id, server): (ServerId, &Server)| {
            !(read((id, server)) || self.lost.contains(&id) || silent(server))
        };
        if !store.servers().any(read) || store.servers().any(waits) {
            return;
        }
        self.hurry = None;
        for (id, _) in store.servers().filter(|(_, it)| silent(it)) {
            self.feed.commands.send(id, LinkCommand::GiveUp);
        }
    }

    /// A lost server stays as it is: its reason is the result.
    fn give_up_lost(&mut self) {
        for (id, server) in self.app.store.servers() {
            if !server.is_reachable() && self.lost.insert(id) {
                self.feed.commands.send(id, LinkCommand::Shutdown);
            }
        }
    }

    fn is_read(&mut self) -> bool {
        let store = &self.app.store;
        store
            .servers()
            .all(|(id, server)| server.link == LinkState::Live || self.lost.contains(&id))
    }

    /// Nothing more can be said by `last` (watcher's clock) than now.
    fn is_settled(&self, last: UnixMs) -> bool {
        let store = &self.app.store;
        let soon = |(key, verdict): (&SessionKey, &Verdict)| {
            let server = store.server(key.server);
            let settling = verdict.settling.as_ref();
            let both = settling.zip(server);
            both.is_some_and(|(it, server)| it.at <= server.server_time(last))
        };
        let looks_again = |(_, server): (ServerId, &Server)| looks_again(server);
        !self.app.judgement().verdicts.iter().any(soon) && !store.servers().any(looks_again)
    }

    /// One line for each server that could not be read: fits after "failed to read ".
    pub fn unread(&self) -> Vec<String> {
        unread(&self.app.store)
    }
}

/// A question runs that the only list so far does not name: the link reads that list again.
fn looks_again(server: &Server) -> bool {
    server.link == LinkState::Live
        && server.sessions.values().any(|session| {
            let view = server.directories.get(&session.info.directory);
            let reads = view.map(|view| view.ask_reads(AskKind::Question));
            let once = matches!(reads, Some([Some(_), None]));
            once && server.reported(session).is_running() && has_unlisted_question(session)
        })
}

fn has_unlisted_question(session: &Session) -> bool {
    let tools = session.tail.live_parts().filter_map(Part::tool);
    let mut running = tools.filter(|it| it.tool == "question" && it.state == ToolState::Running);
    let listed = |tool: &ToolPart| {
        let mut asks = session.asks.iter().filter_map(|it| it.ask.tool.as_ref());
        asks.any(|ask| Some(&ask.call) == tool.call.as_ref())
    };
    running.any(|tool| !listed(tool))
}

/// One line for each server that could not be read: fits after "failed to read ".
pub fn unread(store: &Store) -> Vec<String> {
    let servers = store.servers();
    servers.filter_map(|(_, it)| unread_line(it)).collect()
}

/// The line of a server that could not be read. One that keeps its session list to itself counts:
/// nothing can be said about it.
pub fn unread_line(server: &Server) -> Option<String> {
    let why = match &server.link {
        LinkState::Live => unlisted(server)?,
        LinkState::Lost { text, .. } => text.clone(),
        LinkState::Connecting { .. } => "not read in time".to_owned(),
    };
    let spec = &server.spec;
    let line = format!("{} ({}): {why}", spec.name, spec.url);
    Some(crate::core::present::clean(&line))
}

/// Why a live server's sessions are not known.
fn unlisted(server: &Server) -> Option<String> {
    let mut gaps = server.gaps.iter();
    let gap = gaps.find(|gap| gap.endpoint == Endpoint::Sessions)?;
    Some(format!("its session list: {}", gap.text))
}
