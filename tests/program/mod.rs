//! Runs the built program in a home of its own, so that nothing of the user's is read or written.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No run of a headless command takes longer, however busy the machine is.
const LONGEST: Duration = Duration::from_secs(60);

/// A home without configuration.
pub struct Home(TempDir);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The variables that make it the home.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let at = |name: &str| self.path().join(name).display().to_string();
        vec![
            ("HOME", at("")),
            ("XDG_CONFIG_HOME", at("config")),
            ("XDG_STATE_HOME", at("state")),
            ("XDG_DATA_HOME", at("data")),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
        ]
    }

    /// The program with these arguments, in this home.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ocwatch"));
        command
            .env_clear()
            .envs(self.variables())
            .current_dir(self.path())
            .stdin(std::process::Stdio::null())
            .args(args);
        command
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        let begun = Instant::now();
        let output = self.command(args).output().expect("the program starts");
        assert!(begun.elapsed() < LONGEST, "{args:?} took too long");
        Ran::new(&output)
    }
}

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn new(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Its stdout as one document.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {self:#?}"))
    }
}
