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

use super::private::is_open_to_others;
use super::said::{AFTERWARDS, SAID, keep_end, last_words};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    patience: Duration,
    /// Apart from what runs: whoever only looks must not wait for whoever starts it.
    is_up: AtomicBool,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    keeper: Child,
    /// Its end ends the keeper. Apart from it: to wait for a child closes what it has.
    _pipe: Option<ChildStdin>,
    said: watch::Receiver<Said>,
}

impl Drop for Running {
    /// Before the pipe closes: the keeper would take the folder away from the next one.
    fn drop(&mut self) {
        let id = self.keeper.id().and_then(|it| i32::try_from(it).ok());
        if let Some(group) = id.and_then(Pid::from_raw) {
            kill_process_group(group, Signal::TERM).ok();
        }
    }
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
        Self::patient(ssh, place, PATIENCE)
    }

    fn patient(ssh: Ssh, place: Place, patience: Duration) -> io::Result<Self> {
        // Only its owner may enter it: a port of this machine would be open to all of its users, and
        // to whoever takes it while ssh is not there.
        let folder = tempfile::Builder::new()
            .prefix("ocwatch-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        Ok(Self(Arc::new(Inner {
            ssh,
            place,
            folder,
            patience,
            is_up: AtomicBool::new(false),
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
            if matches!(running.keeper.try_wait(), Ok(None)) && self.is_up() {
                return Ok(());
            }
            *slot = None;
        }
        self.0.is_up.store(false, Ordering::Relaxed);
        let running = slot.insert(self.start()?);
        let up = timeout(self.0.patience, self.wait(running)).await;
        let up = up.unwrap_or_else(|_| {
            let waited = self.0.patience.as_secs();
            Err(format!("ssh: no connection within {waited} s"))
        });
        if up.is_err() {
            *slot = None;
        }
        up
    }

    /// Whether it was up when it was last asked for; not while it is being made.
    pub fn is_up(&self) -> bool {
        self.0.is_up.load(Ordering::Relaxed)
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
        self.0.is_up.store(false, Ordering::Relaxed);
        let words = running.said.borrow().last();
        Some(self.why(ended.ok(), words))
    }

    fn start(&self) -> Result<Running, String> {
        let socket = self.socket();
        folder_again(self.0.folder.path())
            .map_err(|why| format!("no folder for ssh's socket can be made: {why}"))?;
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
                self.0.is_up.store(true, Ordering::Relaxed);
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

/// Makes it where something took it away. Another's in its place is refused: its owner could put a
/// socket of theirs there.
fn folder_again(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let is = std::fs::symlink_metadata(path)?;
    let ours = is.is_dir() && is.uid() == geteuid().as_raw() && !is_open_to_others(&is);
    if ours {
        return Ok(());
    }
    Err(io::ErrorKind::PermissionDenied.into())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A program in place of ssh: `$1` is what counts its runs. It hangs before it logs in the first time.
    const HANGS_FIRST: &str = r#"runs=$1; shift
echo x >> "$runs"
if [ "$(wc -l < "$runs")" -eq 1 ]; then exec sleep 60; fi
while [ "$1" != -L ]; do shift; done
: > "${2%%:*}" && exec sleep 60"#;

    fn tunnel(dir: &Path, patience: Duration) -> Tunnel {
        let runs = dir.join("runs").display().to_string();
        let command = ["sh", "-c", HANGS_FIRST, "ssh", &runs].map(str::to_owned);
        let ssh = Ssh {
            command: command.to_vec(),
            hidden: Arc::default(),
        };
        Tunnel::patient(ssh, Place::parse("nas").unwrap().0, patience).unwrap()
    }

    fn mode(tunnel: &Tunnel) -> u32 {
        let is = std::fs::metadata(tunnel.0.folder.path()).unwrap();
        is.mode() & 0o777
    }

    #[tokio::test]
    async fn a_login_that_hung_or_was_given_up_leaves_the_folder_to_the_next() {
        for given_up in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let tunnel = tunnel(dir.path(), Duration::from_secs(1));
            if given_up {
                let gone = timeout(Duration::from_millis(300), tunnel.ready()).await;
                assert!(gone.is_err());
            } else {
                let said = tunnel.ready().await.unwrap_err();
                assert!(said.contains("no connection within"), "{said}");
                // An ssh that is cut off must not come back to its folder later.
                sleep(Duration::from_millis(300)).await;
                assert!(tunnel.0.folder.path().exists());
            }
            assert!(!tunnel.is_up());
            assert_eq!(tunnel.ready().await, Ok(()), "{given_up}");
            assert!(tunnel.is_up());
            sleep(Duration::from_millis(300)).await;
            assert!(tunnel.socket().exists(), "{given_up}");
        }
    }

    #[tokio::test]
    async fn only_its_owner_enters_the_folder_also_where_it_was_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("runs"), "x\n").unwrap();
        let tunnel = tunnel(dir.path(), Duration::from_secs(5));
        assert_eq!(mode(&tunnel), 0o700);
        std::fs::remove_dir(tunnel.0.folder.path()).unwrap();
        assert_eq!(tunnel.ready().await, Ok(()));
        assert_eq!(mode(&tunnel), 0o700);
        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
        assert!(folder_again(&open).is_err());
    }
}
