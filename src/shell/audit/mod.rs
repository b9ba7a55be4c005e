//! The audit log: every action leaves a line before it begins and one when it has ended.
//!
//! What it does: append to `audit.jsonl` in the state directory, one document a line (schema
//! `ocwatch.audit/1`), and refuse an action that cannot be recorded. What it does not: carry actions
//! out, or read the file ([`read`] does).
//!
//! ```text
//! Entry -> Audit::begin -> Ticket   an error here: the action must not begin
//!              the action
//! Ending -> Ticket::end             an error here: told beside the outcome, for it has happened
//! ```
//!
//! Invariants: only appended to, with one write for each line, so that several ocwatch may do it at
//! once; a full one is moved aside and kept ([`OLD`]); a line that was torn by a full disk spoils no other; only its owner can read the file; what
//! a server said is cleaned and bounded, and a password never gets here.

mod act;
mod after;
mod entry;
mod lock;
pub mod read;
mod room;

pub use act::{Acted, Recorded, recorded};
pub use after::{About, Asked, READ_AGAIN, Standings, standings};
pub use entry::{Ending, Entry, Standing};

use crate::core::time::{Clock, UnixMs};
use entry::{begin_line, end_line};
use serde_json::Value;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// The schema of each line. Fields are only added within a number.
pub const SCHEMA: &str = "ocwatch.audit/1";
/// The name of the file in the state directory.
pub const FILE: &str = "audit.jsonl";
/// The name of what it was before it was moved aside.
pub const OLD: &str = "audit.1.jsonl";

/// Tells apart what one process does within the same millisecond.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Why a line could not be written. Fits after "failed to record it: ".
#[derive(Debug, Error)]
pub enum AuditError {
    /// This user has no home, so there is no state directory.
    #[error("there is no folder for it: this user has no home")]
    NoPlace,
    /// The file, or its folder.
    #[error("{}: {why}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// The task that wrote it was ended.
    #[error("it was interrupted")]
    Interrupted,
    /// One action per session at a time, whoever asks for it.
    #[error("another ocwatch is acting on this session right now")]
    Busy,
}

#[derive(Debug, Clone)]
enum Place {
    File(PathBuf),
    /// Nothing real happens, so nothing is recorded.
    Demo,
    NoHome,
}

/// The audit log of one run of the program. Cheap to clone.
#[derive(Clone)]
pub struct Audit {
    place: Place,
    force: bool,
    clock: Clock,
}

impl Audit {
    /// The log in this directory, which is made when something is written. `force`: an action that
    /// cannot be recorded may begin all the same.
    pub fn open(dir: Option<PathBuf>, force: bool, clock: Clock) -> Self {
        Self {
            place: dir.map_or(Place::NoHome, |dir| Place::File(dir.join(FILE))),
            force,
            clock,
        }
    }

    /// What is done to simulated servers is not recorded: it did not happen.
    pub fn of_a_demo(clock: Clock) -> Self {
        Self {
            place: Place::Demo,
            force: false,
            clock,
        }
    }

    /// Writes that an action begins.
    ///
    /// # Errors
    /// The line is not on the disk: the action must not begin. Not with `force`: then the ticket
    /// has a [`Ticket::warning`].
    pub fn begin(&self, entry: &Entry) -> Result<Ticket, AuditError> {
        let lock = match &self.place {
            Place::File(path) => lock::take(path, &entry.session)?,
            Place::Demo | Place::NoHome => None,
        };
        let at = (self.clock)();
        let begun = Ticket {
            audit: self.clone(),
            id: id(at),
            at,
            entry: entry.clone(),
            unrecorded: None,
            _lock: lock,
        };
        match self.append(&begin_line(&begun.id, at, entry)) {
            Ok(()) => Ok(begun),
            Err(why) if self.force => Ok(Ticket {
                unrecorded: Some(why),
                ..begun
            }),
            Err(why) => Err(why),
        }
    }

    fn append(&self, document: &Value) -> Result<(), AuditError> {
        let path = match &self.place {
            Place::File(path) => path,
            Place::Demo => return Ok(()),
            Place::NoHome => return Err(AuditError::NoPlace),
        };
        append(path, document).map_err(|why| AuditError::File {
            path: path.clone(),
            why,
        })
    }
}

/// An action under way: its first line is written.
#[must_use = "an action that is not ended is shown as unfinished"]
pub struct Ticket {
    audit: Audit,
    id: String,
    at: UnixMs,
    entry: Entry,
    unrecorded: Option<AuditError>,
    _lock: Option<lock::Lock>,
}

impl Ticket {
    /// Why the action begins unrecorded, where that was wanted.
    pub fn warning(&self) -> Option<&AuditError> {
        self.unrecorded.as_ref()
    }

    /// Writes how the action ended.
    ///
    /// # Errors
    /// The line is not on the disk; the action has happened. Not if its beginning was not recorded
    /// either: that was told.
    pub fn end(self, ending: &Ending) -> Result<(), AuditError> {
        let now = (self.audit.clock)();
        let line = end_line(&self.id, now, now.since(self.at), &self.entry, ending);
        match self.audit.append(&line) {
            Err(_) if self.unrecorded.is_some() => Ok(()),
            written => written,
        }
    }
}

/// Unique among all ocwatch of this machine: when, which process, which of its actions.
fn id(at: UnixMs) -> String {
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{:x}-{count:x}", at.0, std::process::id())
}

/// One document as one line, on the disk when this returns.
fn append(path: &Path, document: &Value) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    room::make(path);
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    let mut line = Vec::new();
    if is_torn(&file)? {
        line.push(b'\n');
    }
    serde_json::to_writer(&mut line, document)?;
    line.push(b'\n');
    // Once, and not until all is written: the rest could come behind the line of another process.
    let written = file.write(&line)?;
    if written < line.len() {
        return Err(io::ErrorKind::StorageFull.into());
    }
    match file.sync_data() {
        // Of something that is no file on a disk.
        Err(why) if why.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// The last line has no end: the disk was full in the middle of it.
fn is_torn(file: &File) -> io::Result<bool> {
    let meta = file.metadata()?;
    let Some(last) = meta.len().checked_sub(1).filter(|_| meta.is_file()) else {
        return Ok(false);
    };
    let mut byte = [0];
    let read = file.read_at(&mut byte, last)?;
    Ok(read == 1 && byte != *b"\n")
}
