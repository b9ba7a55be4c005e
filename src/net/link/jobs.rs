//! Reads of a link: what waits, what runs, what came of it.
//!
//! What it does: run at most [`AT_ONCE`] reads, the urgent ones first, each thing once; and say what
//! is read of a 1.x server ([`Job`]). What it does not: decide what to read. A read that is asked for
//! again while it runs, runs again.

use super::tail::{self, Tail};
use crate::core::id::{Directory, SessionId};
use crate::core::time::{Clock, UnixMs};
use crate::core::wire::v1::{Decoded, Health};
use crate::core::wire::{Ask, AskKind, SessionInfo, Status, TodoItem};
use crate::net::client::{AllSessions, Client, ClientError, Identity};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::future::Future;
use std::hash::Hash;
use std::path::Path;
use std::time::Duration;
use tokio::task::{Id, JoinSet};
use tokio::time::timeout;

/// Reads at the same time: with fewer, a snapshot of hundreds of sessions waits for the way there and
/// back rather than for the server.
const AT_ONCE: usize = 8;
/// For looking at one folder of this machine (a network drive may hang).
const FOLDER_WAIT: Duration = Duration::from_secs(2);

/// Something to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Job {
    /// The server's cwd.
    Path,
    /// All sessions.
    Sessions,
    /// The folders of all projects, on a server without a list of all sessions.
    Projects,
    /// Where these folders really are; this machine, not the server.
    Folders(Vec<Directory>),
    /// Of a place, on a server without a list of all; the second is what to ask for, none for the
    /// cwd.
    SessionsOf(Directory, Option<Directory>),
    /// Likewise.
    Status(Directory, Option<Directory>),
    /// Likewise.
    Asks(Directory, Option<Directory>, AskKind),
    /// The MCP servers of a place; likewise.
    Mcp(Directory, Option<Directory>),
    /// The newest messages.
    Tail(SessionId),
    /// The list of things to do.
    Todo(SessionId),
    /// The row; the second is its directory, as for [`Job::SessionsOf`].
    Session(SessionId, Option<Directory>),
    /// A sign of life.
    Health,
    /// What it is and how its clock stands, again.
    Identity,
}

/// Where a folder really is; none when it does not exist.
pub(super) type Folders = HashMap<Directory, Option<Directory>>;

/// What came of it.
pub(super) enum Answer {
    Path(Result<Directory, ClientError>),
    Sessions(Result<AllSessions, ClientError>),
    Projects(Result<Decoded<Vec<Directory>>, ClientError>),
    Folders(Folders),
    Status(Result<Decoded<BTreeMap<SessionId, Status>>, ClientError>),
    Asks(Result<Decoded<Vec<Ask>>, ClientError>),
    Mcp(Result<Vec<String>, ClientError>),
    Tail(Result<Tail, ClientError>),
    Todo(Result<Decoded<Vec<TodoItem>>, ClientError>),
    Session(Result<SessionInfo, ClientError>),
    Health(Result<Health, ClientError>),
    Identity(Result<Identity, ClientError>),
}

/// A kind of reads.
pub(super) trait Work: Clone + Eq + Hash + Send + Sync + 'static {
    /// What comes of it.
    type Answer: Send + 'static;
    /// It goes before all others, and does not wait for its turn.
    fn is_pressing(&self) -> bool;
    /// Reads it.
    fn perform(&self, client: &Client) -> impl Future<Output = Self::Answer> + Send;
}

impl Work for Job {
    type Answer = Answer;
    fn is_pressing(&self) -> bool {
        *self == Job::Health
    }
    async fn perform(&self, client: &Client) -> Answer {
        perform(client, self).await
    }
}

/// A finished read.
pub(super) struct Done<W: Work = Job> {
    pub(super) job: W,
    pub(super) asked_at: UnixMs,
    pub(super) answer: W::Answer,
}

/// All reads of one connection; dropping it ends them.
pub(super) struct Jobs<W: Work = Job> {
    client: Client,
    clock: Clock,
    urgent: VecDeque<W>,
    calm: VecDeque<W>,
    waiting: HashSet<W>,
    running: HashSet<W>,
    again: HashSet<W>,
    set: JoinSet<Done<W>>,
    /// What each task reads, for one that does not come back.
    tasks: HashMap<Id, W>,
}

impl<W: Work> Jobs<W> {
    pub(super) fn new(client: Client, clock: Clock) -> Self {
        Self {
            client,
            clock,
            urgent: VecDeque::new(),
            calm: VecDeque::new(),
            waiting: HashSet::new(),
            running: HashSet::new(),
            again: HashSet::new(),
            set: JoinSet::new(),
            tasks: HashMap::new(),
        }
    }

    /// To be read after what waits already.
    pub(super) fn calm(&mut self, job: W) {
        if self.admit(&job) {
            self.calm.push_back(job);
        }
    }

    /// To be read before what is calm.
    pub(super) fn urgent(&mut self, job: W) {
        if !self.admit(&job) {
            return;
        }
        if job.is_pressing() {
            self.urgent.push_front(job);
        } else {
            self.urgent.push_back(job);
        }
    }

    fn admit(&mut self, job: &W) -> bool {
        if self.running.contains(job) {
            self.again.insert(job.clone());
            return false;
        }
        self.waiting.insert(job.clone())
    }

    /// Starts what may be started.
    pub(super) fn start(&mut self) {
        let pressing = |queue: &VecDeque<W>| queue.front().is_some_and(W::is_pressing);
        while self.running.len() < AT_ONCE || pressing(&self.urgent) {
            let Some(job) = self.urgent.pop_front().or_else(|| self.calm.pop_front()) else {
                return;
            };
            self.waiting.remove(&job);
            self.running.insert(job.clone());
            let (client, clock) = (self.client.clone(), self.clock.clone());
            let named = job.clone();
            let task = self.set.spawn(async move {
                let asked_at = clock();
                let answer = job.perform(&client).await;
                Done {
                    job,
                    asked_at,
                    answer,
                }
            });
            self.tasks.insert(task.id(), named);
        }
    }

    /// Nothing waits or runs.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// The next finished read; none when none runs. May be dropped without loss.
    pub(super) async fn finished(&mut self) -> Option<Done<W>> {
        let (id, done) = match self.set.join_next_with_id().await? {
            Ok((id, done)) => (id, Some(done)),
            Err(error) => (error.id(), None),
        };
        if let Some(job) = self.tasks.remove(&id) {
            self.running.remove(&job);
            if self.again.remove(&job) {
                self.urgent(job);
            }
        }
        done
    }
}

async fn perform(client: &Client, job: &Job) -> Answer {
    match job {
        Job::Path => Answer::Path(client.path().await),
        Job::Sessions => Answer::Sessions(client.all_sessions().await),
        Job::SessionsOf(_, ask) => Answer::Sessions(client.directory_sessions(ask.as_ref()).await),
        Job::Projects => Answer::Projects(client.projects().await),
        Job::Folders(names) => Answer::Folders(folders(names).await),
        Job::Status(_, ask) => Answer::Status(client.status(ask.as_ref()).await),
        Job::Asks(_, ask, kind) => Answer::Asks(asks(client, ask.as_ref(), *kind).await),
        Job::Mcp(_, ask) => Answer::Mcp(client.mcp(ask.as_ref()).await),
        Job::Tail(session) => Answer::Tail(tail::read(client, session).await),
        Job::Todo(session) => Answer::Todo(client.todo(session).await),
        Job::Session(session, ask) => Answer::Session(client.session(session, ask.as_ref()).await),
        Job::Health => Answer::Health(client.health().await),
        Job::Identity => Answer::Identity(client.probe().await),
    }
}

async fn asks(
    client: &Client,
    directory: Option<&Directory>,
    kind: AskKind,
) -> Result<Decoded<Vec<Ask>>, ClientError> {
    match kind {
        AskKind::Permission => client.permissions(directory).await,
        AskKind::Question => client.questions(directory).await,
    }
}

async fn folders(names: &[Directory]) -> Folders {
    let mut found = Folders::new();
    for name in names {
        let real = folder(name).await;
        found.insert(name.clone(), real);
    }
    found
}

/// A folder that cannot be looked at in time is taken as it is named.
async fn folder(name: &Directory) -> Option<Directory> {
    match timeout(
        FOLDER_WAIT,
        tokio::fs::canonicalize(Path::new(name.as_str())),
    )
    .await
    {
        Ok(Ok(real)) => Some(Directory::from(&*real.to_string_lossy())),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => None,
        _ => Some(name.clone()),
    }
}
