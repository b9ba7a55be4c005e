//! Runs the user's command for a notice.
//!
//! What it does: start it without a shell (unless one was asked for), give it the document on stdin,
//! and end it with all that it started when its time is over. What it does not: retry, or wait for it
//! anywhere near a key. Invariants: only so many run at once, the rest waits in a queue that has an
//! end; what it prints goes nowhere but, its last line and only when it fails, into the notice.

use crate::core::app::Msg;
use crate::core::present::clean;
use crate::net::said::{AFTERWARDS, SAID, keep_end, last_words};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

/// Commands that run at once.
const AT_ONCE: usize = 3;
/// Documents that wait for their turn; more are left out.
const WAITING: usize = 32;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The program and its arguments; not empty.
    pub command: Vec<String>,
    /// After so long it is killed, with its process group.
    pub timeout: Duration,
    /// Variables that hold passwords: it does not get them.
    pub hidden: Arc<[String]>,
}

/// Where documents for the command go.
#[derive(Debug, Clone)]
pub struct Hooks {
    queue: mpsc::Sender<String>,
}

impl Hooks {
    /// Starts the task that runs them. Needs a runtime. Failures are told to `answers`.
    pub fn start(hook: Hook, answers: mpsc::Sender<Msg>) -> Self {
        let (queue, mut waiting) = mpsc::channel::<String>(WAITING);
        tokio::spawn(async move {
            let places = Arc::new(Semaphore::new(AT_ONCE));
            while let Some(document) = waiting.recv().await {
                let Ok(place) = places.clone().acquire_owned().await else {
                    return;
                };
                let (hook, answers) = (hook.clone(), answers.clone());
                tokio::spawn(async move {
                    let ended = run(&hook, &document).await;
                    drop(place);
                    if let Err(why) = ended {
                        tracing::warn!(why, "the notify command failed");
                        // A closed channel: the program is ending.
                        answers
                            .send(Msg::Told(format!("the notify command {why}")))
                            .await
                            .ok();
                    }
                });
            }
        });
        Self { queue }
    }

    /// Has it run with this document, soon. Never waits.
    pub fn tell(&self, document: String) {
        if self.queue.try_send(document).is_err() {
            tracing::warn!("the notify command is too slow: a notice was left out");
        }
    }
}

/// Runs it to its end. The error fits after "the notify command ".
pub async fn run(hook: &Hook, document: &str) -> Result<(), String> {
    let mut child = spawn(hook).map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => {
            let name = hook.command.first().map_or("", String::as_str);
            format!("is not there: {}", clean(name))
        }
        _ => format!("cannot be started: {why}"),
    })?;
    let group = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    if let Ok(ended) = timeout(hook.timeout, to_its_end(&mut child, document)).await {
        return ended;
    }
    if let Some(group) = group {
        // One that has ended just now is no error.
        kill_process_group(group, Signal::KILL).ok();
    }
    child.wait().await.ok();
    Err(format!("took longer than {:?} and was ended", hook.timeout))
}

fn spawn(hook: &Hook) -> io::Result<Child> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let (program, arguments) = hook.command.split_first().ok_or_else(missing)?;
    let mut command = Command::new(program);
    for name in hook.hidden.iter() {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // Its own: so that Ctrl-C is not for it, and that all of it can be ended.
        .process_group(0)
        .spawn()
}

async fn to_its_end(child: &mut Child, document: &str) -> Result<(), String> {
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let tell = async move {
        if let Some(mut stdin) = stdin {
            // One that does not read its stdin may end before it is written.
            stdin.write_all(document.as_bytes()).await.ok();
            stdin.write_all(b"\n").await.ok();
        }
    };
    let hear = stderr.map(|it| tokio::spawn(last_of(it)));
    let ((), ended) = tokio::join!(tell, child.wait());
    let status = ended.map_err(|why| format!("cannot be waited for: {why}"))?;
    if status.success() {
        return Ok(());
    }
    let said = match hear {
        // What it left running may hold its stderr open.
        Some(hear) => timeout(AFTERWARDS, hear).await.ok().and_then(Result::ok),
        None => None,
    };
    let last = last_words(&said.unwrap_or_default());
    let last = last.map_or_else(String::new, |it| format!(": {it}"));
    Err(format!("ended with {status}{last}"))
}

/// All is read, so that it is never held up; the end is kept.
async fn last_of(mut stderr: ChildStderr) -> Vec<u8> {
    let mut said = Vec::new();
    let mut buffer = vec![0; SAID];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        keep_end(&mut said, &buffer[..count]);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(script: &str, ms: u64) -> Hook {
        Hook {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            timeout: Duration::from_millis(ms),
            hidden: Arc::default(),
        }
    }

    #[tokio::test]
    async fn it_hears_the_document_on_its_stdin() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("heard");
        let script = format!("cat > {}", file.display());
        run(&hook(&script, 30_000), "{\"a\":1}").await.unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"a\":1}\n");
    }

    #[tokio::test]
    async fn one_that_fails_tells_why_and_one_that_reads_nothing_is_fine() {
        run(&hook("exit 0", 30_000), &"x".repeat(1 << 20))
            .await
            .unwrap();
        let why = run(
            &hook("seq 100000 >&2; echo no such host >&2; exit 3", 30_000),
            "",
        )
        .await;
        assert_eq!(why.unwrap_err(), "ended with exit status: 3: no such host");
        let missing = Hook {
            command: vec!["/nowhere/at all".to_owned()],
            timeout: Duration::from_secs(1),
            hidden: Arc::default(),
        };
        assert_eq!(
            run(&missing, "").await.unwrap_err(),
            "is not there: /nowhere/at all"
        );
    }

    #[tokio::test]
    async fn one_that_hangs_is_ended_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", file.display());
        // Long enough for a busy machine to have written the file.
        let hook = hook(&script, 3000);
        let why = run(&hook, "").await.unwrap_err();
        assert!(why.starts_with("took longer"), "{why}");
        let pid = std::fs::read_to_string(&file).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        let state = || {
            let stat = std::fs::read_to_string(&stat).unwrap_or_default();
            stat.rsplit_once(") ").and_then(|it| it.1.chars().next())
        };
        // A zombie, or gone.
        let ended = async {
            while !matches!(state(), None | Some('Z')) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(30), ended)
            .await
            .expect("it was ended too");
    }
}
