//! Servers that are reached through the user's own `ssh`.
//!
//! What it does: run `ssh`, with the user's configuration, so that the server behind it answers at a
//! socket in a folder that nobody else may enter; start it again when someone asks after it ended; say its
//! last line where it fails. What it does not: ask for a password (`BatchMode`), retry by itself, or
//! speak HTTP. Invariants: no password is on its command line or in its environment; it ends with this
//! program, however that ends: a shell holds it and kills it when our end of a pipe closes.

mod place;
mod port;

pub use place::Place;
pub use port::LocalPort;

use super::said::{AFTERWARDS, SAID, keep_end, last_words};
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, Command};
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, timeout};

/// `$1` is the socket, then follows `ssh`. Both end with the other, and when stdin ends.
const KEEPER: &str = r#"socket=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
ssh=$!
{ read -r _ <&3; trap '' TERM; kill 0; rm -f -- "$socket"; rmdir -- "${socket%/*}"; } >/dev/null 2>&1 &
exec 3<&-
wait "$ssh"; code=$?
trap '' TERM; kill 0
exit "$code""#;
/// Of `ssh` itself, and a bit more for logging in.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks whether its socket is there.
const LOOK: Duration = Duration::from_millis(20);
/// How long its word about a request that failed may take.
const WORD: Duration = Duration::from_millis(200);
/// What it said no longer ago may be about a request that has just failed.
const FRESH: Duration = Duration::from_secs(2);
/// Never asks on our terminal; fails where it cannot do what it is for; notices a dead line.
const OPTIONS: [&str; 8] = [
    "BatchMode=yes",
    // A connection of its own: one that is shared would outlive us.
    "ControlMaster=no",
    "ControlPath=none",
    "ExitOnForwardFailure=yes",
    "StreamLocalBindUnlink=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=2",
];

/// How `ssh` is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// The program and arguments before ours; not empty.
    pub command: Vec<String>,
    /// Variables that hold passwords: it does not get them.
    pub hidden: Arc<[String]>,
}

impl Default for Ssh {
    fn default() -> Self {
        Self {
            command: vec!["ssh".to_owned()],
            hidden: Arc::default(),
        }
    }
}

/// The way to one server. Cheap to clone; `ssh` ends with the last clone.
#[derive(Debug, Clone)]
pub struct Tunnel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ssh: Ssh,
    place: Place,
    folder: TempDir,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    keeper: Child,
    /// Its end ends the keeper. Apart from it: to wait for a child closes what it has.
    _pipe: Option<ChildStdin>,
    said: watch::Receiver<Said>,
    is_up: bool,
}

/// What it has said on stderr.
#[derive(Debug, Default)]
struct Said {
    /// The end of it.
    bytes: Vec<u8>,
    at: Option<Instant>,
}

impl Said {
    fn last(&self) -> Option<String> {
        last_words(&self.bytes)
    }

    fn fresh(&self) -> Option<String> {
        let fresh = self.at.is_some_and(|at| at.elapsed() < FRESH);
        self.last().filter(|_| fresh)
    }
}

impl Tunnel {
    /// Starts nothing yet.
    ///
    /// # Errors
    /// When no folder for its socket can be made.
    pub fn new(ssh: Ssh, place: Place) -> io::Result<Self> {
        // Only its owner may enter it: a port of this machine would be open to all of its users, and
        // to whoever takes it while ssh is not there.
        let folder = tempfile::Builder::new().prefix("ocwatch-").tempdir()?;
        Ok(Self(Arc::new(Inner {
            ssh,
            place,
            folder,
            running: Mutex::new(None),
        })))
    }

    /// Where the server answers while the tunnel is up.
    pub fn socket(&self) -> PathBuf {
        self.0.folder.path().join("s")
    }

    /// Waits until it is up, starting `ssh` if it does not run.
    ///
    /// # Errors
    /// Why not, in ssh's words.
    pub async fn ready(&self) -> Result<(), String> {
        let mut slot = self.0.running.lock().await;
        if let Some(running) = &mut *slot {
            if matches!(running.keeper.try_wait(), Ok(None)) && running.is_up {
                return Ok(());
            }
            *slot = None;
        }
        let running = slot.insert(self.start()?);
        let up = timeout(PATIENCE, self.wait(running)).await;
        let up = up.unwrap_or_else(|_| {
            let waited = PATIENCE.as_secs();
            Err(format!("ssh: no connection within {waited} s"))
        });
        if up.is_err() {
            *slot = None;
        }
        up
    }

    /// Whether it was up when it was last asked for; not while it is being made.
    pub fn is_up(&self) -> bool {
        let running = self.0.running.try_lock();
        running.is_ok_and(|it| it.as_ref().is_some_and(|it| it.is_up))
    }

    /// Why a request through it failed, if it is its fault.
    pub async fn trouble(&self) -> Option<String> {
        if let Some(why) = self.ended().await {
            return Some(why);
        }
        let slot = self.0.running.lock().await;
        let fresh = slot.as_ref()?.said.borrow().fresh();
        let words = fresh.filter(|it| it.contains("open failed"))?;
        let target = self.0.place.target();
        Some(format!("ssh reaches no {target} there: {words}"))
    }

    /// Why `ssh` has ended, if it was up and has just now.
    pub async fn ended(&self) -> Option<String> {
        let mut slot = self.0.running.lock().await;
        let running = slot.as_mut()?;
        // The end of a connection through it may be heard a moment before its own.
        let ended = timeout(WORD, running.keeper.wait()).await.ok()?;
        let words = running.said.borrow().last();
        Some(self.why(ended.ok(), words))
    }

    fn start(&self) -> Result<Running, String> {
        let socket = self.socket();
        // What an ssh that was killed left is no sign of a new one.
        std::fs::remove_file(&socket).ok();
        let mut sh = Command::new("sh");
        sh.args(["-c", KEEPER, "sh"]).arg(&socket);
        sh.args(&self.0.ssh.command).args(self.words());
        for name in self.0.ssh.hidden.iter() {
            sh.env_remove(name);
        }
        let spawned = sh
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Not ours: Ctrl-C in the terminal is for us, and its end is that of the whole group.
            .process_group(0)
            .spawn();
        let mut keeper = spawned.map_err(|why| format!("ssh cannot be started: {why}"))?;
        let (tell, said) = watch::channel(Said::default());
        if let Some(stderr) = keeper.stderr.take() {
            tokio::spawn(hear(stderr, tell));
        }
        tracing::info!(place = %self.0.place, "ssh starts");
        Ok(Running {
            _pipe: keeper.stdin.take(),
            keeper,
            said,
            is_up: false,
        })
    }

    /// What `ssh` is told beside the user's own words.
    fn words(&self) -> Vec<String> {
        let mut words = vec!["-N".to_owned(), "-T".to_owned()];
        for option in OPTIONS {
            words.extend(["-o".to_owned(), option.to_owned()]);
        }
        let socket = self.socket().display().to_string();
        let target = self.0.place.target();
        words.extend(["-L".to_owned(), format!("{socket}:{target}")]);
        words.extend(self.0.place.words());
        words
    }

    /// Until the socket is there, which is after the login, or `ssh` has ended.
    async fn wait(&self, running: &mut Running) -> Result<(), String> {
        let socket = self.socket();
        loop {
            if socket.exists() {
                // It is bound a moment before it listens.
                sleep(LOOK).await;
                running.is_up = true;
                return Ok(());
            }
            if let Ok(ended) = timeout(LOOK, running.keeper.wait()).await {
                let until = Instant::now() + AFTERWARDS;
                while running.said.has_changed().is_ok() && Instant::now() < until {
                    // Its last words may still be on their way; the end of them is the sender's.
                    timeout(LOOK, running.said.changed()).await.ok();
                }
                let words = running.said.borrow().last();
                return Err(self.why(ended.ok(), words));
            }
        }
    }

    fn why(&self, ended: Option<ExitStatus>, words: Option<String>) -> String {
        match (ended.and_then(|it| it.code()), words) {
            (Some(127), _) => {
                let program = self.0.ssh.command.first().map_or("", String::as_str);
                let program = crate::core::present::clean(program);
                format!("{program} is not there: install OpenSSH, or name another in [ssh] command")
            }
            (_, Some(words)) if words.contains("Host key verification failed") => {
                format!("ssh: {words} Log in once by hand (ssh {})", self.0.place)
            }
            (_, Some(words)) if words.starts_with("ssh: ") => words,
            (_, Some(words)) => format!("ssh: {words}"),
            (Some(code), None) => format!("ssh ended with {code}"),
            (None, None) => "ssh was killed".to_owned(),
        }
    }
}

/// Keeps the end of what it says, until it says no more.
async fn hear(mut from: ChildStderr, tell: watch::Sender<Said>) {
    let mut buffer = vec![0; SAID];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        tell.send_modify(|said| {
            keep_end(&mut said.bytes, &buffer[..count]);
            said.at = Some(Instant::now());
        });
    }
}
