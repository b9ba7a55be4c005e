//! One action per session at a time, across all ocwatch of this user.
//!
//! What it does: hold an advisory lock on a file of the session's own while an action is under way.
//! What it does not: wait, or stand in the way where no such file can be made (the audit log itself
//! says then why nothing is done). A process that dies gives its locks back.

use super::AuditError;
use crate::core::id::SessionId;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folder of the locks, beside the audit log.
const FOLDER: &str = "acting";

/// Held until it is dropped; then the file goes.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An empty file that stays is no harm.
        std::fs::remove_file(&self.path).ok();
    }
}

/// Takes the lock of a session. `None`: there is no place for locks.
///
/// # Errors
/// [`AuditError::Busy`] while another action holds it.
pub(super) fn take(log: &Path, session: &SessionId) -> Result<Option<Lock>, AuditError> {
    let Ok((path, file)) = open(log, session) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { path, _file: file })),
        Err(TryLockError::WouldBlock) => Err(AuditError::Busy),
        // A file system without locks.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn open(log: &Path, session: &SessionId) -> io::Result<(PathBuf, File)> {
    let dir = log.parent().unwrap_or(Path::new(".")).join(FOLDER);
    DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = session.as_str().chars().take(100).map(safe).collect();
    let path = dir.join(name);
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(&path)?;
    Ok((path, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_held_by_one_and_free_again_afterwards() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = dir.path().join("audit.jsonl");
        let (one, other) = (SessionId::from("ses_1"), SessionId::from("../ses_2"));
        let held = take(&log, &one).expect("free").expect("a lock");
        assert!(matches!(take(&log, &one), Err(AuditError::Busy)));
        assert!(take(&log, &other).expect("another one").is_some());
        drop(held);
        assert!(take(&log, &one).expect("free again").is_some());
    }
}
