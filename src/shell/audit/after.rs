//! How a session stands after an action: read again, then asked of whoever holds the model.
//!
//! What it does: have what the action was about read again, and tell how the session is judged once
//! that has come. What it does not: wait for long; what is not read again in time is not told.

use super::Standing;
use crate::core::app::App;
use crate::core::id::SessionKey;
use crate::core::plan::Settle;
use crate::core::plan::reset::Subject;
use crate::core::store::LinkState;
use crate::core::time::UnixMs;
use crate::feed::live::Commands;
use crate::net::link::LinkCommand;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// How long is waited for the reads: what was done is done.
pub const READ_AGAIN: Duration = Duration::from_secs(3);
/// Questions that may wait.
const WAITING: usize = 64;

/// What an action was about.
#[derive(Debug, Clone)]
pub struct About {
    /// The session that it was for.
    pub key: SessionKey,
    /// What it was to settle.
    pub settle: Vec<Settle>,
}

impl About {
    /// Of a reset: the session and all below it that is known.
    pub fn of_reset(key: &SessionKey, subject: &Subject) -> Self {
        let all = std::iter::once(&subject.session).chain(&subject.known_below);
        let settle = all.map(|session| Settle {
            session: session.clone(),
            directory: subject.directory.clone(),
        });
        Self {
            key: key.clone(),
            settle: settle.collect(),
        }
    }

    /// Has it all read again.
    pub fn read_again(&self, commands: &Commands) {
        for it in &self.settle {
            let server = self.key.server;
            commands.send(server, LinkCommand::Refresh(it.directory.clone()));
            commands.send(server, LinkCommand::ReadSession(it.session.clone()));
        }
    }

    /// It was read since then (watcher's clock), or cannot be.
    pub fn is_read(&self, app: &App, since: UnixMs) -> bool {
        let Some(server) = app.store.server(self.key.server) else {
            return true;
        };
        let is_read = |it: &Settle| {
            let view = server.directories.get(&it.directory);
            let status = view.and_then(|view| view.status_read).map(|(_, at)| at);
            let session = server.sessions.get(&it.session);
            let tail = session.map(|session| session.tail.read_at);
            status >= Some(since) && tail.is_none_or(|at| at >= Some(since))
        };
        server.link != LinkState::Live || self.settle.iter().all(is_read)
    }
}

/// A question to the loop that holds the model.
#[derive(Debug)]
pub struct Asked {
    about: About,
    since: UnixMs,
    answer: oneshot::Sender<Option<Standing>>,
}

impl Asked {
    /// Answers it, or gives it back while that is too soon.
    pub fn try_answer(self, app: &App) -> Option<Self> {
        if self.answer.is_closed() {
            return None;
        }
        if !self.about.is_read(app, self.since) {
            return Some(self);
        }
        let standing = app.verdict(&self.about.key).map(Standing::of);
        // Whoever asked has given up.
        self.answer.send(standing).ok();
        None
    }
}

/// Asks the loop that holds the model. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Standings(mpsc::Sender<Asked>);

/// The asking end, and the loop's.
pub fn standings() -> (Standings, mpsc::Receiver<Asked>) {
    let (asking, asked) = mpsc::channel(WAITING);
    (Standings(asking), asked)
}

impl Standings {
    /// How the session stands by what was read since then. `None`: not in time.
    pub async fn after(&self, about: About, since: UnixMs) -> Option<Standing> {
        let (answer, told) = oneshot::channel();
        let asked = Asked {
            about,
            since,
            answer,
        };
        let ask = async {
            self.0.send(asked).await.ok()?;
            told.await.ok()?
        };
        timeout(READ_AGAIN, ask).await.ok()?
    }
}
