//! A program that runs on and prints documents, a line each: they are heard as they come.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::time::Instant;

/// Long enough for a busy machine; a test that works never waits for it.
const PATIENCE: Duration = Duration::from_secs(90);

/// A running program; dropping it kills it.
pub struct Running {
    child: Child,
    incoming: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    /// Every document so far, oldest first.
    pub seen: Vec<Value>,
}

/// How it ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub err: String,
    /// Every document that it printed.
    pub seen: Vec<Value>,
}

impl Running {
    /// Starts it with its stdout heard.
    pub fn start(command: &mut Command) -> Self {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("its stdout");
        let mut stderr = child.stderr.take().expect("its stderr");
        let (to_test, incoming) = channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.try_for_each(|line| to_test.send(line))
        });
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).ok();
            text
        });
        Self {
            child,
            incoming,
            stderr: Some(stderr),
            seen: Vec::new(),
        }
    }

    /// The first document from now on that is `wanted`.
    pub fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = self.within(PATIENCE, wanted);
        found.unwrap_or_else(|| panic!("not in time, or it ended: {what}\n{}", last(&self.seen)))
    }

    /// The same, if it comes within this time.
    pub fn within(&mut self, patience: Duration, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.incoming.recv_timeout(left).ok()?;
            let document = document(&line);
            self.seen.push(document.clone());
            if wanted(&document) {
                return Some(document);
            }
        }
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ended {
        let end = Instant::now() + PATIENCE;
        while let Ok(line) = self
            .incoming
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.seen.push(document(&line));
        }
        assert!(Instant::now() < end, "it does not end");
        let stderr = self.stderr.take().expect("its stderr");
        Ended {
            code: self.child.wait().expect("its end").code(),
            err: stderr.join().expect("its stderr"),
            seen: std::mem::take(&mut self.seen),
        }
    }

    /// The same after a signal.
    pub fn end_by(self, name: &str) -> Ended {
        signal(self.child.id(), name);
        self.end()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The newest documents, a line each.
fn last(seen: &[Value]) -> String {
    let newest = seen.iter().rev().take(40).rev();
    newest.map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Sends a signal by its name.
pub fn signal(pid: u32, name: &str) {
    let mut shell = Command::new("sh");
    let sent = shell.args(["-c", &format!("kill -{name} {pid}")]).status();
    assert!(sent.expect("a shell").success());
}

fn document(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"))
}
