//! `ocwatch watch`: a line for each change of a verdict, until someone has seen enough.
//!
//! What it does: feed a store, judge, and write what changed as soon as it changed. What it does
//! not: decide what a change is. A lost server is tried again, and its loss is a line; only when
//! none could be read at the first attempt there is nothing to watch. A reader that is slow is
//! waited for: then what changed and changed back meanwhile is not told.

use crate::core::app::App;
use crate::core::id::ServerId;
use crate::core::judge::Judge;
use crate::core::present::{Audience, Change, Changes, change_json, change_line};
use crate::core::store::{self, LinkState, Server, Store};
use crate::core::time::{Clock, Span, UnixMs};
use crate::core::wire::Input;
use crate::feed::live::LiveFeed;
use crate::shell::commands::{Look, say};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::print;
use crate::shell::snapshot::{unread, unread_line};
use crate::tui::Theme;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::time::sleep;

/// Inputs taken at once.
const PORTION: usize = 512;
/// Time alone is looked at no later than this, so that a clock that was set is noticed.
const LONGEST: Span = Span::secs(1);

/// A watch that has not begun.
pub struct Watch {
    /// Where inputs come from.
    pub feed: LiveFeed,
    /// The only clock.
    pub clock: Clock,
    /// How lines look.
    pub theme: Theme,
    /// How results are written.
    pub look: Look,
    store: Store,
    judge: Judge,
    changes: Changes,
    utc_offset: Span,
    /// Of each server whose first attempt has ended: whether it was read.
    tried: BTreeMap<ServerId, bool>,
}

impl Watch {
    /// Watches the servers of this app, by its limits.
    pub fn new(app: App, feed: LiveFeed, clock: Clock, theme: Theme, look: Look) -> Self {
        let audience = if look.json {
            Audience::Script
        } else {
            Audience::Person
        };
        Self {
            feed,
            clock,
            theme,
            look,
            judge: Judge::new(app.limits),
            store: app.store,
            changes: Changes::new(audience),
            utc_offset: app.utc_offset,
            tried: BTreeMap::new(),
        }
    }

    /// Runs until `limit` is over or the reader has gone; see [`is_closed`] for `closed`.
    pub async fn run(
        mut self,
        limit: Option<Duration>,
        closed: impl Future<Output = ()>,
        out: &mut (impl AsyncWrite + Unpin),
    ) -> Result<Exit, Trouble> {
        let mut closed = std::pin::pin!(closed);
        let mut over = std::pin::pin!(over(limit));
        let mut batch = Vec::with_capacity(PORTION);
        loop {
            let wait = self.wait();
            tokio::select! {
                biased;
                () = &mut closed => {
                    // What came before the end is told as well, if somebody still reads.
                    while let Ok(input) = self.feed.inputs.try_recv() {
                        batch.push(input);
                    }
                    return match self.tell(&mut batch, out).await {
                        Err(why) if !why.is_quiet() => Err(why),
                        _ => Ok(Exit::Done),
                    };
                }
                () = &mut over => return Ok(self.end()),
                more = self.feed.inputs.recv_many(&mut batch, PORTION) => {
                    if more == 0 {
                        let text = "a part of ocwatch ended unexpectedly";
                        return Err(Trouble::Failed(text.to_owned()));
                    }
                }
                () = sleep(wait) => {}
            }
            self.tell(&mut batch, out).await?;
            if self.is_hopeless() {
                return Ok(self.end());
            }
        }
    }

    /// Takes inputs, and writes what changes by them.
    async fn tell(
        &mut self,
        batch: &mut Vec<Input>,
        out: &mut (impl AsyncWrite + Unpin),
    ) -> Result<(), Trouble> {
        self.feed.scope.narrow(batch);
        let changes = self.take(batch);
        Ok(self.write(&changes, out).await?)
    }

    /// Applies inputs and judges what they or time touched.
    fn take(&mut self, batch: &mut Vec<Input>) -> Vec<Change> {
        let now = (self.clock)();
        let mut touched: Vec<store::Change> = Vec::with_capacity(batch.len());
        for input in batch.drain(..) {
            let change = self.store.apply(input);
            if change != store::Change::Nothing && touched.last() != Some(&change) {
                touched.push(change);
            }
        }
        if touched.is_empty() && self.due().is_none_or(|at| at > now) {
            return Vec::new();
        }
        self.judge.update(&self.store, &touched, now);
        self.note_tried();
        self.changes.next(&self.store, self.judge.judgement(), now)
    }

    fn due(&self) -> Option<UnixMs> {
        let due = [self.judge.judgement().recheck, self.changes.due()];
        due.into_iter().flatten().min()
    }

    /// How long until time alone changes something.
    fn wait(&self) -> Duration {
        let due = self.due().map_or(LONGEST, |at| at - (self.clock)());
        let ms = due.as_ms().clamp(0, LONGEST.as_ms());
        Duration::from_millis(ms.unsigned_abs())
    }

    async fn write(
        &self,
        changes: &[Change],
        out: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        for change in changes {
            out.write_all(&self.line(change)?).await?;
            out.flush().await?;
        }
        Ok(())
    }

    fn line(&self, change: &Change) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        if self.look.json {
            serde_json::to_writer(&mut line, &change_json(change))?;
            line.push(b'\n');
        } else {
            let text = change_line(change, self.utc_offset, self.look.ascii);
            print::lines(&mut line, &[text], self.look.color, &self.theme)?;
        }
        Ok(line)
    }

    fn note_tried(&mut self) {
        let ended = |server: &Server| !matches!(server.link, LinkState::Connecting { .. });
        for (id, server) in self.store.servers().filter(|(_, it)| ended(it)) {
            let read = unread_line(server).is_none();
            self.tried.entry(id).or_insert(read);
        }
    }

    /// Every server was tried and none was read.
    fn is_hopeless(&self) -> bool {
        let all = self.tried.len() == self.store.servers().count();
        all && !self.tried.values().any(|read| *read)
    }

    /// What a watch ends with that nobody ended: unread if no server ever was read.
    fn end(&self) -> Exit {
        if self.tried.values().any(|read| *read) {
            return Exit::Done;
        }
        for server in unread(&self.store) {
            say(&format!("failed to read {server}"), &self.theme);
        }
        Exit::Unread
    }
}

async fn over(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// Ends when nobody reads stdout any more; never where that cannot be heard, as of a file. Without
/// it a watch whose reader has gone would stay until the next change.
pub async fn is_closed() {
    let (tell, told) = oneshot::channel();
    // The wait ends with the program: a thread that the runtime knows would hold its end up.
    std::thread::spawn(move || {
        if wait_closed().is_ok() {
            // Nobody hears it: the watch has ended.
            tell.send(()).ok();
        }
    });
    if told.await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn wait_closed() -> rustix::io::Result<()> {
    let stdout = io::stdout();
    loop {
        // No flag asks for anything: errors and hang-ups are told always.
        let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut ends, None) {
            Err(Errno::INTR) => {}
            ended => return ended.map(|_| ()),
        }
    }
}
