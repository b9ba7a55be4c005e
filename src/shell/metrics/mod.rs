//! `ocwatch metrics`: what is known of servers and sessions, for Prometheus.
//!
//! What it does: feed a store, judge, and tell what is so at the moment of each scrape, or once. What
//! it does not: act, start a project that looking would not start, or end because a server cannot be
//! read: that is something to tell. Counters begin at 0 with the program and survive reconnects.
//!
//! ```text
//! links -> Exporter (store, judge) <- scrape, answered by samples -> encode -> HTTP or stdout
//!                                                    audit log -> Actions ^
//! ```

mod actions;
mod encode;
mod gather;
mod serve;
mod table;
mod tally;

pub use actions::Actions;
pub use encode::Format;
pub use gather::MOST_IDS;
pub use table::{Kind, METRICS, Metric};

use crate::core::app::App;
use crate::core::judge::Judge;
use crate::core::store::{self, Store};
use crate::core::time::{Clock, Span, UnixMs};
use crate::core::wire::Input;
use crate::feed::live::LiveFeed;
use crate::net::client::Client;
use crate::shell::commands::say;
use crate::shell::exit::{Exit, Trouble};
use crate::shell::snapshot::Snapshot;
use crate::tui::Theme;
use encode::Samples;
use gather::{View, gather};
use serve::{Desk, Scrape, serve};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Inputs taken at once.
const PORTION: usize = 512;
/// Scrapes that may wait.
const WAITING: usize = 16;
/// Time alone is looked at no later than this, so that a clock that was set is noticed.
const LONGEST: Span = Span::secs(1);

/// `ocwatch metrics --once`.
///
/// # Errors
/// stdout cannot be written.
pub async fn once(
    mut snapshot: Snapshot,
    clients: &[Client],
    settle: Duration,
    mut actions: Actions,
    ids: bool,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let started = (snapshot.clock)();
    snapshot.read(settle).await;
    let mut samples = gather(&View {
        store: &snapshot.app.store,
        clients,
        judgement: snapshot.app.judgement(),
        now: (snapshot.clock)(),
        started,
        ids,
    });
    actions.look();
    actions.tell(&mut samples);
    let text = samples
        .write(Format::OpenMetrics)
        .map_err(io::Error::other)?;
    out.write_all(text.as_bytes())?;
    let unread = snapshot.unread();
    for server in &unread {
        say(&format!("failed to read {server}"), &snapshot.theme);
    }
    Ok(if unread.is_empty() {
        Exit::Done
    } else {
        Exit::Unread
    })
}

/// Takes the address before anything else is done.
///
/// # Errors
/// It is in use, or not this machine's.
pub async fn listen(at: SocketAddr, theme: &Theme) -> Result<TcpListener, Trouble> {
    let failed = |why: io::Error| {
        let hint = match why.kind() {
            io::ErrorKind::AddrInUse => " (--listen takes another)",
            _ => "",
        };
        Trouble::Failed(format!("failed to listen on {at}: {why}{hint}"))
    };
    let listener = TcpListener::bind(at).await.map_err(failed)?;
    let at = listener.local_addr().map_err(failed)?;
    say(&format!("metrics on http://{at}/metrics"), theme);
    if !at.ip().is_loopback() {
        let text = format!(
            "{at} can be reached from other machines: who reaches it reads names, counts and states without a password"
        );
        say(&text, theme);
    }
    Ok(listener)
}

/// Watches, and answers scrapes.
pub struct Exporter {
    feed: LiveFeed,
    clients: Vec<Client>,
    clock: Clock,
    store: Store,
    judge: Judge,
    started: UnixMs,
    ids: bool,
}

impl Exporter {
    /// Watches the servers of this app, by its limits.
    /// `clients`: those of its links, in the same order.
    pub fn new(app: App, feed: LiveFeed, clients: Vec<Client>, clock: Clock, ids: bool) -> Self {
        Self {
            feed,
            clients,
            started: clock(),
            clock,
            judge: Judge::new(app.limits),
            store: app.store,
            ids,
        }
    }

    /// Runs until `limit` is over, or it is dropped.
    ///
    /// # Errors
    /// A part of the program ended.
    pub async fn run(
        mut self,
        listener: TcpListener,
        actions: Actions,
        limit: Option<Duration>,
    ) -> Result<Exit, Trouble> {
        let (ask, mut scrapes) = mpsc::channel(WAITING);
        let mut server = JoinSet::new();
        server.spawn(serve(listener, Desk::new(ask, actions)));
        let mut over = std::pin::pin!(over(limit));
        let (mut batch, mut waiting) = (Vec::with_capacity(PORTION), Vec::new());
        loop {
            let wait = self.wait();
            tokio::select! {
                biased;
                () = &mut over => return Ok(Exit::Done),
                more = scrapes.recv_many(&mut waiting, WAITING) => {
                    if more == 0 {
                        return Err(ended());
                    }
                    self.answer(&mut waiting);
                }
                more = self.feed.inputs.recv_many(&mut batch, PORTION) => {
                    if more == 0 {
                        return Err(ended());
                    }
                    self.feed.scope.narrow(&mut batch);
                    self.take(&mut batch);
                }
                () = sleep(wait) => self.take(&mut batch),
            }
        }
    }

    /// Applies inputs and judges what they or time touched.
    fn take(&mut self, batch: &mut Vec<Input>) {
        let mut touched: Vec<store::Change> = Vec::with_capacity(batch.len());
        for input in batch.drain(..) {
            let change = self.store.apply(input);
            if change != store::Change::Nothing && touched.last() != Some(&change) {
                touched.push(change);
            }
        }
        self.judge_again(&touched);
    }

    fn judge_again(&mut self, touched: &[store::Change]) {
        let now = (self.clock)();
        let due = self.judge.judgement().recheck;
        if !touched.is_empty() || due.is_some_and(|at| at <= now) {
            self.judge.update(&self.store, touched, now);
        }
    }

    /// What is so now, once for all who wait.
    fn answer(&mut self, waiting: &mut Vec<Scrape>) {
        self.judge_again(&[]);
        let samples = gather(&View {
            store: &self.store,
            clients: &self.clients,
            judgement: self.judge.judgement(),
            now: (self.clock)(),
            started: self.started,
            ids: self.ids,
        });
        tell_all(waiting, samples);
    }

    /// How long until time alone changes something.
    fn wait(&self) -> Duration {
        let due = self.judge.judgement().recheck;
        let due = due.map_or(LONGEST, |at| at - (self.clock)());
        let ms = due.as_ms().clamp(0, LONGEST.as_ms());
        Duration::from_millis(ms.unsigned_abs())
    }
}

fn tell_all(waiting: &mut Vec<Scrape>, samples: Samples) {
    let last = waiting.pop();
    for scrape in waiting.drain(..) {
        // Who asked has gone.
        scrape.send(samples.clone()).ok();
    }
    if let Some(last) = last {
        last.send(samples).ok();
    }
}

fn ended() -> Trouble {
    Trouble::Failed("a part of ocwatch ended unexpectedly".to_owned())
}

async fn over(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => std::future::pending().await,
    }
}
