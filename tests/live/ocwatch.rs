//! The program under test, and its document.

use crate::install;
use crate::lines::Running;
use crate::screen::Screen;
use crate::server::OpenCode;
use crate::support::{PATIENCE, eventually};
use portable_pty::CommandBuilder;
use serde_json::Value;
use std::process::Command;

/// What one run of the program left.
#[derive(Debug)]
pub struct Run {
    /// Exit code.
    pub code: Option<i32>,
    /// Results.
    pub stdout: String,
    /// Everything else.
    pub stderr: String,
}

/// Runs `ocwatch --server URL ARGUMENTS…` in the server's folder, with a home of its own there.
pub fn run(server: &OpenCode, arguments: &[&str]) -> Run {
    run_with(server, arguments, &server.url, &[])
}

/// The same with another spelling of the URL, and more environment.
pub fn run_with(
    server: &OpenCode,
    arguments: &[&str],
    url: &str,
    environment: &[(&str, &str)],
) -> Run {
    let output = command(server, url)
        .envs(environment.iter().copied())
        .args(["--timeout", "60"])
        .args(arguments)
        .output()
        .expect("ocwatch");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// `ocwatch watch --json` on a server, at this URL of it.
pub fn watch(server: &OpenCode, url: &str) -> Running {
    Running::start(command(server, url).args(["watch", "--json"]))
}

/// `ocwatch wait --json` for a session, not yet started.
pub fn wait_command(server: &OpenCode, session: &str) -> Command {
    let mut command = command(server, &server.url);
    command.args(["wait", session, "--json"]);
    command
}

/// The dashboard on a server, in a terminal, with the rows that contain this.
pub fn dashboard(server: &OpenCode, filter: &str) -> Screen {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ocwatch"));
    command.env_clear();
    command.env("PATH", install::path());
    command.env("HOME", server.root.join("watcher"));
    command.env("LANG", "C.UTF-8");
    command.env("TERM", "xterm-256color");
    command.cwd(&server.root);
    command.args(["--filter", filter, "--server", &server.url]);
    Screen::start(command)
}

fn command(server: &OpenCode, url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ocwatch"));
    command
        .env_clear()
        .env("PATH", install::path())
        .env("HOME", server.root.join("watcher"))
        .args(["--server", url])
        .current_dir(&server.root);
    command
}

impl Run {
    /// The document on stdout.
    pub fn doc(&self) -> Doc {
        let doc = serde_json::from_str(&self.stdout);
        Doc(doc.unwrap_or_else(|_| panic!("no document: {self:#?}")))
    }
}

/// A document of `status --json`.
#[derive(Debug)]
pub struct Doc(pub Value);

/// What is said of one session.
#[derive(Debug)]
pub struct Seen<'a>(pub &'a Value);

/// One `status --json` as it is now, with more arguments; its exit code too.
pub fn status(server: &OpenCode, more: &[&str]) -> (Option<i32>, Doc) {
    let mut arguments = vec!["status", "--json", "--settle", "0"];
    arguments.extend(more);
    let run = run(server, &arguments);
    (run.code, run.doc())
}

/// Asks until the document is as it should be; panics with the last one.
pub fn until(server: &OpenCode, what: &str, holds: impl Fn(&Doc) -> bool) -> Doc {
    eventually(what, PATIENCE, || {
        let (code, doc) = status(server, &[]);
        if code == Some(0) && holds(&doc) {
            Ok(doc)
        } else {
            Err(format!("exit code {code:?}\n{:#}", doc.0))
        }
    })
}

/// Asks until a session is seen as (reported, activity); its own part of the document.
pub fn until_seen(server: &OpenCode, id: &str, reported: &str, activity: &str) -> Value {
    let what = format!("{id} is {reported} and {activity}");
    let doc = until(server, &what, |doc| {
        doc.session(id)
            .is_some_and(|seen| seen.words() == (reported, activity))
    });
    doc.session(id).unwrap().0.clone()
}

/// The same of a session in which nothing is ever wrong: a false alarm on the way is a failure, too.
pub fn until_calmly(server: &OpenCode, id: &str, reported: &str, activity: &str) -> Value {
    let what = format!("{id} is {reported} and {activity}");
    let doc = until(server, &what, |doc| {
        doc.session(id).is_some_and(|seen| {
            let calm = matches!(seen.level(), "ok" | "unknown") && seen.findings().is_empty();
            assert!(calm, "a false alarm before {what}: {:#}", seen.0);
            seen.words() == (reported, activity)
        })
    });
    doc.session(id).unwrap().0.clone()
}

/// Panics unless the session (a part of a document) has this level and exactly these findings.
#[track_caller]
pub fn assert_judged(session: &Value, level: &str, findings: &[&str]) {
    let seen = Seen(session);
    assert_eq!(
        (seen.level(), seen.findings()),
        (level, findings.to_vec()),
        "{session:#}"
    );
}

impl Doc {
    /// What is said of a session, if anything.
    pub fn session(&self, id: &str) -> Option<Seen<'_>> {
        let sessions = self.0["sessions"].as_array().expect("sessions");
        sessions
            .iter()
            .find(|session| session["id"] == id)
            .map(Seen)
    }

    /// What is said of the only server.
    pub fn server(&self) -> &Value {
        &self.0["servers"][0]
    }
}

impl<'a> Seen<'a> {
    /// (reported, activity).
    pub fn words(&self) -> (&'a str, &'a str) {
        (
            text(&self.0["reported"]["type"]),
            text(&self.0["activity"]["state"]),
        )
    }

    /// The level's word.
    pub fn level(&self) -> &'a str {
        text(&self.0["level"])
    }

    /// Names, the leading one first.
    pub fn findings(&self) -> Vec<&'a str> {
        let findings = self.0["findings"].as_array().expect("findings");
        findings
            .iter()
            .map(|finding| text(&finding["name"]))
            .collect()
    }

    /// What it would become, or nothing.
    pub fn settling(&self) -> Option<&'a str> {
        self.0["settling"]["name"].as_str()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("(none)")
}
