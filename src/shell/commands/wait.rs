//! `ocwatch wait`: until the turns of some sessions have truly ended.
//!
//! What it does: find the sessions, feed a store from the live links, and tell of each how its wait
//! ended, as soon as it did. What it does not: decide what an end is (`core::wait`), or poll: a
//! session is read again only in the first moments of a connection. A lost server is tried again
//! until the patience is over.

use super::{Look, say};
use crate::core::app::App;
use crate::core::id::SessionKey;
use crate::core::judge::Judge;
use crate::core::present::{clean, wait_json, wait_line};
use crate::core::store::{self, LinkState, Server, Store};
use crate::core::time::{Clock, Span, UnixMs};
use crate::core::wait::{End, Goal, Outcome, Waiter, Wish};
use crate::core::wire::{DirectoryState, Input};
use crate::feed::live::LiveFeed;
use crate::net::client::Client;
use crate::net::link::LinkCommand;
use crate::shell::exit::{Exit, Trouble};
use crate::shell::print;
use crate::shell::session_ref::{Purpose, RefError, find};
use crate::shell::signals::SIGPIPE;
use crate::shell::snapshot::unread;
use crate::tui::Theme;
use std::io::Write;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// Inputs taken at once.
const PORTION: usize = 512;
/// A project that became asleep is asked for again so often.
const LOAD_AGAIN: Span = Span::secs(2);
/// Time alone is looked at no later than this, so that a clock that was set is noticed.
const LONGEST: Span = Span::secs(1);

/// What is wished for.
#[derive(Debug, Clone)]
pub struct WaitWish {
    /// As they were named.
    pub sessions: Vec<String>,
    /// The first end is enough.
    pub any: bool,
    /// For what.
    pub goal: Goal,
    /// How long a session may be unreadable.
    pub patience: Duration,
    /// How long the whole may take.
    pub limit: Option<Duration>,
}

/// A wait that has not begun.
pub struct Wait<'a> {
    feed: LiveFeed,
    clients: &'a [Client],
    clock: Clock,
    theme: Theme,
    look: Look,
    store: Store,
    judge: Judge,
    began: UnixMs,
    waiters: Vec<Waiter>,
    /// When asleep projects were last asked for; watcher's clock.
    loaded_at: UnixMs,
}

impl<'a> Wait<'a> {
    /// Waits for sessions of the servers of this app, by its limits.
    pub fn new(
        app: App,
        feed: LiveFeed,
        clients: &'a [Client],
        clock: Clock,
        (theme, look): (Theme, Look),
    ) -> Self {
        let now = clock();
        Self {
            began: now,
            feed,
            clients,
            clock,
            theme,
            look,
            judge: Judge::new(app.limits),
            store: app.store,
            waiters: Vec::new(),
            loaded_at: now,
        }
    }

    /// Runs until the wait is over, or nobody reads its lines any more (`closed`).
    pub async fn run(
        mut self,
        wish: &WaitWish,
        closed: impl Future<Output = ()>,
        out: &mut impl Write,
    ) -> Result<Exit, Trouble> {
        let mut closed = std::pin::pin!(closed);
        let begun = Instant::now();
        let mut over = std::pin::pin!(over(wish.limit.map(|limit| begun + limit)));
        let mut exit = Exit::Done;
        loop {
            if self.waiters.is_empty() {
                self.find(wish, begun)?;
            }
            for (key, end) in self.ends() {
                exit = graver(exit, exit_of(&end));
                self.tell(&key, end.outcome.word(), Some(&end), out)?;
                if wish.any {
                    return Ok(exit_of(&end));
                }
                if self.waiters.is_empty() {
                    return Ok(exit);
                }
            }
            let wait = self.wait();
            let mut batch = Vec::new();
            tokio::select! {
                biased;
                () = &mut closed => return Ok(Exit::Signal(SIGPIPE)),
                () = &mut over => return self.time_is_over(wish, out),
                more = self.feed.inputs.recv_many(&mut batch, PORTION) => {
                    if more == 0 {
                        let text = "a part of ocwatch ended unexpectedly";
                        return Err(Trouble::Failed(text.to_owned()));
                    }
                }
                () = sleep(wait) => {}
            }
            self.take(batch);
        }
    }

    fn take(&mut self, mut batch: Vec<Input>) {
        self.feed.scope.narrow(&mut batch);
        let mut touched: Vec<store::Change> = Vec::with_capacity(batch.len());
        for input in batch {
            let change = self.store.apply(input);
            if change != store::Change::Nothing && touched.last() != Some(&change) {
                touched.push(change);
            }
        }
        self.judge.update(&self.store, &touched, (self.clock)());
    }

    /// Begins to wait once every session that was named is known. A server that cannot be read may
    /// hold what is missing: it has as long as the patience lets it.
    fn find(&mut self, wish: &WaitWish, begun: Instant) -> Result<(), Trouble> {
        let untried = |server: &Server| {
            let link = &server.link;
            matches!(link, LinkState::Connecting { attempt: 0 | 1 })
        };
        let patient = begun.elapsed() < wish.patience;
        if patient && self.store.servers().any(|(_, it)| untried(it)) {
            return Ok(());
        }
        let named = wish.sessions.iter();
        let found: Result<Vec<SessionKey>, RefError> = named
            .map(|text| find(&self.store, text, Purpose::Read))
            .collect();
        let unread = unread(&self.store);
        match found {
            Ok(keys) => self.begin(keys, wish),
            Err(why) if unread.is_empty() => return Err(why.into()),
            Err(_) if patient => {}
            Err(_) => {
                let unread = unread.join("; ");
                return Err(Trouble::Unread(format!("failed to read {unread}")));
            }
        }
        Ok(())
    }

    fn begin(&mut self, keys: Vec<SessionKey>, wish: &WaitWish) {
        let patience = i64::try_from(wish.patience.as_millis()).unwrap_or(i64::MAX);
        let wish = Wish {
            goal: wish.goal,
            patience: Span(patience),
        };
        for key in keys {
            if self.waiters.iter().any(|it| it.key == key) {
                continue;
            }
            self.wake(&key);
            let client = self.clients.get(usize::from(key.server.0));
            let same_clock = client.is_some_and(|it| it.address().is_loopback());
            self.waiters
                .push(Waiter::new(key, wish, self.began, same_clock));
        }
    }

    /// Whatever is asked of a session starts its project: a person must know.
    fn wake(&self, key: &SessionKey) {
        let Some(session) = self.store.session(key) else {
            return;
        };
        let directory = session.info.directory.clone();
        let server = self.store.server(key.server);
        let view = server.and_then(|it| it.directories.get(&directory));
        if view.is_none_or(|view| view.state == DirectoryState::Asleep) {
            let shown = clean(directory.as_str());
            let text = format!("the project {shown} is asleep: this starts it on the server");
            say(&text, &self.theme);
            let load = LinkCommand::LoadDirectory(directory);
            self.feed.commands.send(key.server, load);
        }
    }

    /// A project that was unloaded meanwhile is not asked by itself; who waits has asked for it.
    fn load_again(&mut self, now: UnixMs) {
        if now.since(self.loaded_at) < LOAD_AGAIN {
            return;
        }
        self.loaded_at = now;
        for waiter in &self.waiters {
            let key = &waiter.key;
            let directory = self.store.session(key).map(|it| &it.info.directory);
            let view = self.store.server(key.server).zip(directory);
            let view = view.and_then(|(server, it)| server.directories.get(it));
            if view.is_some_and(|view| view.state == DirectoryState::Asleep)
                && let Some(directory) = directory
            {
                let load = LinkCommand::LoadDirectory(directory.clone());
                self.feed.commands.send(key.server, load);
            }
        }
    }

    /// Whose wait ends now, and how. They are not waited for any more.
    fn ends(&mut self) -> Vec<(SessionKey, End)> {
        let now = (self.clock)();
        self.load_again(now);
        let mut ends = Vec::new();
        let (store, judge, commands) = (&self.store, &self.judge, &self.feed.commands);
        let theme = &self.theme;
        self.waiters.retain_mut(|waiter| {
            let verdict = judge.judgement().verdicts.get(&waiter.key);
            if let Some(end) = waiter.look(store, verdict, judge.limits(), now) {
                ends.push((waiter.key.clone(), end));
                return false;
            }
            if let Some(doubt) = waiter.doubt(verdict) {
                let id = waiter.key.session.as_str();
                say(&clean(&format!("{id}: {doubt}: it is waited for")), theme);
            }
            if waiter.wants_read(store, now)
                && let Some(session) = store.session(&waiter.key)
            {
                let (server, id) = (waiter.key.server, waiter.key.session.clone());
                let directory = session.info.directory.clone();
                commands.send(server, LinkCommand::Refresh(directory));
                commands.send(server, LinkCommand::ReadSession(id));
            }
            true
        });
        ends
    }

    /// How long until time alone changes something.
    fn wait(&self) -> Duration {
        let dues = self.waiters.iter().filter_map(Waiter::due);
        let due = dues.chain(self.judge.judgement().recheck).min();
        let due = due.map_or(LONGEST, |at| at - (self.clock)());
        let ms = due.as_ms().clamp(0, LONGEST.as_ms());
        Duration::from_millis(ms.unsigned_abs())
    }

    fn time_is_over(self, wish: &WaitWish, out: &mut impl Write) -> Result<Exit, Trouble> {
        for waiter in &self.waiters {
            self.tell(&waiter.key, "timeout", None, out)?;
        }
        if self.waiters.is_empty() {
            let named = wish.sessions.join(", ");
            say(&format!("timed out before {named} was found"), &self.theme);
        }
        Ok(Exit::TimedOut)
    }

    /// A line for a session whose wait is over. `end` is none when time was.
    fn tell(
        &self,
        key: &SessionKey,
        word: &str,
        end: Option<&End>,
        out: &mut impl Write,
    ) -> Result<(), Trouble> {
        let now = (self.clock)();
        let verdict = self.judge.judgement().verdicts.get(key);
        if self.look.json {
            let document = wait_json(&self.store, key, verdict, (word, end), now);
            serde_json::to_writer(&mut *out, &document).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            out.flush()?;
        } else {
            let line = wait_line(&self.store, key, verdict, (word, end), now);
            print::lines(out, &[line], self.look.color, &self.theme)?;
        }
        Ok(())
    }
}

fn exit_of(end: &End) -> Exit {
    match end.outcome {
        Outcome::Lost => Exit::Unread,
        Outcome::Gone => Exit::Session,
        _ if end.reached => Exit::Done,
        _ => Exit::Failed,
    }
}

/// Of several waits the gravest end counts.
fn graver(one: Exit, other: Exit) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Done => 0,
        Exit::Failed => 1,
        Exit::Session => 2,
        _ => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}

async fn over(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
