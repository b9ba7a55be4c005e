//! Files and folders that have no final name yet.
//!
//! What it does: make them, `.ocwatch-…​.part`, locked as long as their run lives; clear those that
//! dead runs have left. Invariant: what a living run works on is never cleared, on whatever clock: a
//! lock ends with its process, and a run that finds its own cleared before it was locked makes another.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::{Builder, NamedTempFile, TempDir};

const PREFIX: &str = ".ocwatch-";
const SUFFIX: &str = ".part";
/// So often another is made.
const TRIES: usize = 16;

/// A file that its owner only reads.
pub(in crate::shell) fn file_in(dir: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..TRIES {
        let file = named().tempfile_in(dir)?;
        // A file system without locks: nothing is cleared there either.
        file.as_file().lock().ok();
        if file.path().exists() {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// A folder that its owner only enters.
#[derive(Debug)]
pub(super) struct Folder {
    /// Removed when dropped.
    pub(super) dir: TempDir,
    _lock: File,
}

/// As [`file_in`].
pub(super) fn folder_in(dir: &Path) -> io::Result<Folder> {
    for _ in 0..TRIES {
        // Made for all whom the umask lets in otherwise.
        let folder = named()
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(dir)?;
        let Ok(lock) = File::open(folder.path()) else {
            continue;
        };
        lock.lock().ok();
        if folder.path().exists() {
            return Ok(Folder {
                dir: folder,
                _lock: lock,
            });
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

fn named() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    builder
}

/// Removes what dead runs have left in a directory, as far as it can be.
pub(super) fn clear(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            clear_one(&entry.path());
        }
    }
}

fn clear_one(path: &Path) {
    let Ok(kind) = fs::symlink_metadata(path).map(|it| it.file_type()) else {
        return;
    };
    if !kind.is_file() && !kind.is_dir() {
        return;
    }
    let Ok(file) = File::open(path) else { return };
    if file.try_lock().is_err() {
        return;
    }
    let removed = if kind.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    if let Err(why) = removed {
        tracing::warn!(path = %path.display(), %why, "not cleared");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_dead_runs_left_is_cleared() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = file_in(dir.path()).expect("a file");
        let folder = folder_in(dir.path()).expect("a folder");
        let mode = fs::metadata(folder.dir.path()).expect("its mode");
        assert_eq!(mode.permissions().mode() & 0o777, 0o700);
        let dead = dir.path().join(".ocwatch-dead.part");
        fs::write(&dead, "half").expect("written");
        let dead_folder = dir.path().join(".ocwatch-dir.part");
        fs::create_dir(&dead_folder).expect("made");
        fs::write(dead_folder.join("x"), "half").expect("written");
        let other = dir.path().join("ocwatch.part");
        fs::write(&other, "mine").expect("written");
        clear(dir.path());
        assert!(file.path().exists() && folder.dir.path().exists() && other.exists());
        assert!(!dead.exists() && !dead_folder.exists());
    }
}
