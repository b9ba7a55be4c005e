//! How the program ends: exit codes, and the errors that lead to them.
//!
//! Invariant: the numbers are a contract with scripts; they are never reused for another meaning, but
//! by `check`, whose codes are those of Nagios.

use std::io;
use thiserror::Error;

/// An exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done (an action: and verified).
    Done,
    /// 1: asked for something that failed or had no effect.
    Failed,
    /// 2: wrong usage or configuration.
    Usage,
    /// 3: a named server could not be read.
    Unread,
    /// 4: no such session, or more than one fits.
    Session,
    /// 0 to 3, by the meaning that `check` gives them.
    Checked(u8),
    /// 124: `wait` has waited as long as `--timeout` lets it.
    TimedOut,
    /// 128 + n: ended by signal n.
    Signal(u8),
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Unread => 3,
            Exit::Session => 4,
            Exit::Checked(code) => code,
            Exit::TimedOut => 124,
            Exit::Signal(number) => number.saturating_add(128),
        }
    }
    /// The graver of two: what several sessions or servers end with together.
    #[must_use]
    pub fn worst(self, other: Exit) -> Exit {
        if other.code() > self.code() {
            other
        } else {
            self
        }
    }
}

/// Why a command could not do what it was asked to. Each text is one clear line, without a password.
#[derive(Debug, Error)]
pub enum Trouble {
    /// Exit 2.
    #[error("{0}")]
    Usage(String),
    /// Exit 1.
    #[error("{0}")]
    Failed(String),
    /// Exit 3.
    #[error("{0}")]
    Unread(String),
    /// Exit 4.
    #[error("{0}")]
    Session(#[from] crate::shell::session_ref::RefError),
    /// stdout or stderr could not be written; a closed pipe is no error.
    #[error("failed to write the result: {0}")]
    Write(#[from] io::Error),
}

impl Trouble {
    /// With which code the program ends.
    pub fn exit(&self) -> Exit {
        match self {
            Trouble::Usage(_) => Exit::Usage,
            Trouble::Unread(_) => Exit::Unread,
            Trouble::Session(_) => Exit::Session,
            Trouble::Write(why) if why.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Trouble::Failed(_) | Trouble::Write(_) => Exit::Failed,
        }
    }
    /// A reader that has seen enough closed the pipe: nothing is to be said.
    pub fn is_quiet(&self) -> bool {
        matches!(self, Trouble::Write(why) if why.kind() == io::ErrorKind::BrokenPipe)
    }
}
