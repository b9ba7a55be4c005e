//! A real OpenCode server with a home of its own, its projects, and a scripted model.
//!
//! Invariants: a port, a home and projects are used by one server only; a server and its files do not outlive
//! this process, however it ends: a shell holds the server and kills it when our end of its pipe closes.

use crate::drive::request;
use crate::install::{self, opencode};
use crate::support::{PATIENCE, eventually, wanted};
use ::ocwatch::sim::model::ScriptedModel;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::ops::{Deref, DerefMut};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Starts what follows, kills it at the first line or the end of stdin, removes its files unless told to keep them.
const KEEPER: &str = r#"
"$@" </dev/null >>"$LIVE_ROOT/log" 2>&1 &
child=$!
read -r word
kill -9 $child 2>/dev/null
wait $child 2>/dev/null
[ "$word" = keep ] || rm -rf "$LIVE_ROOT"
"#;

/// A running server; dropping it kills it and removes its files.
pub struct OpenCode {
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    /// Everything of this server: home, projects, log.
    pub root: PathBuf,
    /// Its projects, git repositories; it was started in the first.
    pub projects: Vec<PathBuf>,
    model: ScriptedModel,
    port: u16,
    password: Option<&'static str>,
    keeper: Option<Child>,
}

/// A server that no other test uses, and the turn to have one.
pub struct Own {
    server: OpenCode,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Own {
    type Target = OpenCode;
    fn deref(&self) -> &OpenCode {
        &self.server
    }
}

impl DerefMut for Own {
    fn deref_mut(&mut self) -> &mut OpenCode {
        &mut self.server
    }
}

/// The server that all tests share which leave the sessions of others alone. `None`: skipped.
pub fn shared() -> Option<&'static OpenCode> {
    static SHARED: OnceLock<OpenCode> = OnceLock::new();
    wanted().then(|| SHARED.get_or_init(|| OpenCode::start(&["main"], None)))
}

/// A server for one test, to be killed at will. One at a time: each takes 300 MB. `None`: skipped.
pub fn own(projects: &[&str]) -> Option<Own> {
    start_own(projects, None)
}

/// One for each of these passwords. `None`: skipped.
pub fn several(passwords: &[&'static str]) -> Option<Vec<OpenCode>> {
    let start = |password: &&'static str| OpenCode::start(&["main"], Some(password));
    wanted().then(|| passwords.iter().map(start).collect())
}

/// The same, closed with a password.
pub fn closed(password: &'static str) -> Option<Own> {
    start_own(&["main"], Some(password))
}

fn start_own(projects: &[&str], password: Option<&'static str>) -> Option<Own> {
    static TURN: Mutex<()> = Mutex::new(());
    if !wanted() {
        return None;
    }
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let server = OpenCode::start(projects, password);
    Some(Own {
        server,
        _turn: turn,
    })
}

impl OpenCode {
    fn start(projects: &[&str], password: Option<&'static str>) -> Self {
        let root = tempfile::Builder::new().prefix("ocwatch-live-").tempdir();
        let root = root.expect("a temporary directory").keep();
        let root = root.canonicalize().unwrap();
        let mut server = Self {
            url: String::new(),
            projects: Vec::new(),
            model: ScriptedModel::start().expect("a scripted model"),
            port: free_port(),
            password,
            keeper: None,
            root,
        };
        server.url = format!("http://127.0.0.1:{}", server.port);
        server.projects = projects.iter().map(|name| server.project(name)).collect();
        server.configure("home");
        server.run();
        server
    }

    /// Another project: a repository with a commit that no other has.
    pub fn project(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("README"), path.display().to_string()).unwrap();
        git(&path, &["init", "-q"]);
        git(&path, &["add", "."]);
        git(&path, &["commit", "-q", "-m", "first"]);
        path
    }

    /// A home (a folder of the root) whose OpenCode knows the scripted model only.
    pub fn configure(&self, home: &str) {
        let folder = self.root.join(home).join(".config/opencode");
        fs::create_dir_all(&folder).unwrap();
        let config = json!({
            "model": "scripted/scripted", "small_model": "scripted/scripted",
            "share": "disabled", "autoupdate": false,
            // A subagent that may have subagents, and ask: by default none may.
            "subagent_depth": 3,
            "agent": {"nester": {"mode": "subagent", "permission": {"task": "allow", "question": "allow"}}},
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible", "name": "Scripted",
                "options": {"baseURL": self.model.base_url(), "apiKey": "none"},
                "models": {"scripted": {
                    "name": "scripted", "tool_call": true,
                    "limit": {"context": 200_000, "output": 8000},
                }},
            }},
        });
        fs::write(folder.join("opencode.json"), config.to_string()).unwrap();
    }

    /// `opencode` or a program that starts it, in a home of this server, with nothing else from our environment.
    pub fn command(&self, program: &str, home: &str) -> Command {
        let home = self.root.join(home);
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", install::path())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .env("XDG_STATE_HOME", home.join(".local/state"))
            .env("XDG_CACHE_HOME", home.join(".cache"))
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .current_dir(&self.projects[0]);
        command
    }

    fn run(&mut self) {
        let mut command = self.command("sh", "home");
        command
            .env("LIVE_ROOT", &self.root)
            .envs(self.password.map(|word| ("OPENCODE_SERVER_PASSWORD", word)))
            .args(["-c", KEEPER, "sh"])
            .arg(opencode())
            .args(["serve", "--hostname", "127.0.0.1", "--print-logs"])
            .args(["--log-level", "INFO", "--port", &self.port.to_string()])
            .stdin(Stdio::piped())
            .process_group(0);
        self.keeper = Some(command.spawn().expect("a shell"));
        self.wait_healthy();
    }

    /// A request sent right after the port opens can stay unanswered: each look is a connection of its own.
    fn wait_healthy(&self) {
        eventually("the server answers", PATIENCE, || {
            let answer = request("GET", &self.url, "/global/health", None, 2);
            match answer {
                Ok((200, body)) if body.contains("\"healthy\":true") => Ok(()),
                Ok((401, _)) if self.password.is_some() => Ok(()),
                other => Err(format!("{other:?}\n{}", tail(&self.log()))),
            }
        });
    }

    /// SIGKILL, as a crash would; what its tools started lives on.
    pub fn kill9(&mut self) {
        self.end("keep\n");
    }

    /// Again on the same port, with the same home.
    pub fn restart(&mut self) {
        assert!(self.keeper.is_none(), "it still runs");
        self.run();
    }

    fn end(&mut self, word: &str) {
        if let Some(mut keeper) = self.keeper.take() {
            if let Some(mut stdin) = keeper.stdin.take() {
                stdin.write_all(word.as_bytes()).ok();
            }
            keeper.wait().ok();
        }
    }

    /// Everything that the server has printed.
    pub fn log(&self) -> String {
        fs::read_to_string(self.root.join("log")).unwrap_or_default()
    }

    /// The directories of the log lines from `offset` on that say that a project was started.
    pub fn started(&self, offset: usize) -> Vec<String> {
        let log = self.log();
        let lines = log[offset..].lines();
        lines
            .filter(|line| line.contains("creating instance"))
            .filter_map(|line| line.split_once(" directory="))
            .map(|(_, directory)| directory.trim().to_owned())
            .collect()
    }
}

impl Drop for OpenCode {
    fn drop(&mut self) {
        if self.keeper.is_some() {
            self.end("");
        } else {
            fs::remove_dir_all(&self.root).ok();
        }
    }
}

/// One that nobody listens at.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

fn git(directory: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=live", "-c", "user.email=live@localhost"])
        .args([
            "-c",
            "commit.gpgsign=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("git");
    assert!(done.status.success(), "git {arguments:?}: {done:?}");
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().take(15).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}
