//! Another program in our terminal, or in a tmux window of its own, to work on a session.
//!
//! What it does: start it, say when it stopped or ended and why, keep the terminal's modes for the way
//! back. What it does not: leave or enter the screen, or read keys; that is the loop's. Invariants: a
//! password is in the child's environment and nowhere else: in no argument, no log, no message; nothing
//! runs through a shell that a server has a word in.

mod child;
mod window;

pub use child::{Attached, Change, change, is_orphaned};
pub use window::open;

use crate::net::client::Credentials;
use std::process::Command;
use std::sync::Arc;

/// The variables by which OpenCode learns who is there.
const USER: &str = "OPENCODE_SERVER_USERNAME";
const PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";

/// What is run, and as whom.
#[derive(Debug, Clone)]
pub struct Errand {
    /// The program and its arguments; not empty.
    pub command: Vec<String>,
    /// For the server; without them it hears no password at all, whatever the environment holds for
    /// another server.
    pub credentials: Option<Credentials>,
    /// Variables with passwords for other servers: it does not get them.
    pub hidden: Arc<[String]>,
}

impl Errand {
    fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command.args(self.command.iter().skip(1));
        for name in self.hidden.iter() {
            command.env_remove(name);
        }
        command.env_remove(USER).env_remove(PASSWORD);
        if let Some(who) = &self.credentials {
            command.env(USER, &who.user).env(PASSWORD, &who.password);
        }
        command
    }

    /// Why it could not be started, and what helps.
    fn unstarted(&self, why: &std::io::Error) -> String {
        let program = crate::core::present::clean(self.program());
        match why.kind() {
            std::io::ErrorKind::NotFound => {
                format!("{program} is not there: install it, or name another in [attach] command")
            }
            _ => format!("{program} cannot be started: {why}"),
        }
    }
}
