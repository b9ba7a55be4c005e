//! Final names: given as the last step, to what is whole.
//!
//! Invariants: without `force` nothing that exists is touched, also when it came in the meantime;
//! with it, only regular files and folders that an export wrote are replaced.

use super::{ExportError, at};
use crate::core::export::index::{Index, JSON_NAME, SCHEMA};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How many names are tried in the dashboard.
const MAX_NAMES: u32 = 10_000;

/// What a file may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Exactly this; replaced only if `force`.
    Exactly {
        /// The file.
        path: PathBuf,
        /// Replace it if it exists.
        force: bool,
    },
    /// `<id>.json` in this directory, or the next name that is free (`<id>-2.json`).
    NextFree(PathBuf),
}

impl Place {
    /// Whether it can be taken, as far as that can be said before anything was read.
    pub(super) fn check(&self) -> Result<(), ExportError> {
        let Place::Exactly { path, force } = self else {
            return Ok(());
        };
        match fs::metadata(path) {
            Ok(_) if !force => Err(ExportError::Exists(path.clone())),
            Ok(it) if !it.is_file() => Err(ExportError::Special(path.clone())),
            _ => Ok(()),
        }
    }

    /// Where its file will stand.
    pub(super) fn directory(&self) -> PathBuf {
        match self {
            Place::Exactly { path, .. } => parent(path),
            Place::NextFree(dir) => dir.clone(),
        }
    }

    /// Gives the file its name.
    pub(in crate::shell) fn take(
        self,
        file: NamedTempFile,
        stem: &str,
        extension: &str,
    ) -> Result<PathBuf, ExportError> {
        match self {
            Place::Exactly { path, force: true } => {
                let done = file.persist(&path);
                done.map_err(|why| at(&path)(why.error))?;
                Ok(path)
            }
            Place::Exactly { path, force: false } => match file.persist_noclobber(&path) {
                Ok(_) => Ok(path),
                Err(why) if why.error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(ExportError::Exists(path))
                }
                Err(why) => Err(at(&path)(why.error)),
            },
            Place::NextFree(dir) => take_next(file, &dir, stem, extension),
        }
    }
}

fn take_next(
    mut file: NamedTempFile,
    dir: &Path,
    stem: &str,
    extension: &str,
) -> Result<PathBuf, ExportError> {
    for number in 1..=MAX_NAMES {
        let path = match number {
            1 => dir.join(format!("{stem}.{extension}")),
            _ => dir.join(format!("{stem}-{number}.{extension}")),
        };
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(why) if why.error.kind() == io::ErrorKind::AlreadyExists => file = why.file,
            Err(why) => return Err(at(&path)(why.error)),
        }
    }
    Err(ExportError::Exists(dir.join(format!("{stem}.{extension}"))))
}

/// The directory that a path stands in.
pub(super) fn parent(path: &Path) -> PathBuf {
    let dir = path.parent().unwrap_or(Path::new(""));
    if dir.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        dir.to_owned()
    }
}

/// Whether a folder's name can be taken.
pub(super) fn check_folder(path: &Path, force: bool) -> Result<(), ExportError> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    if !force {
        return Err(ExportError::Exists(path.to_owned()));
    }
    if is_export(path) {
        Ok(())
    } else {
        Err(ExportError::Foreign(path.to_owned()))
    }
}

/// An empty folder, or one with an export and nothing else.
fn is_export(path: &Path) -> bool {
    if !fs::symlink_metadata(path).is_ok_and(|it| it.is_dir()) {
        return false;
    }
    let Ok(entries) = fs::read_dir(path) else {
        return false;
    };
    let entries: Result<Vec<_>, _> = entries.collect();
    let Ok(entries) = entries else { return false };
    if entries.is_empty() {
        return true;
    }
    let index = File::open(path.join(JSON_NAME)).ok();
    let index: Option<Index> = index.and_then(|it| serde_json::from_reader(it).ok());
    index.filter(|it| it.schema == SCHEMA).is_some_and(|index| {
        entries.iter().all(|entry| {
            let is_file = entry.file_type().is_ok_and(|it| it.is_file());
            is_file && index.names(&entry.file_name().to_string_lossy())
        })
    })
}

/// Gives a folder its name. An older one is exchanged in the same moment, and removed after.
pub(super) fn take_folder(made: &Path, path: &Path, force: bool) -> Result<(), ExportError> {
    check_folder(path, force)?;
    let unnamed = |why: Errno| match why {
        Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR => ExportError::Exists(path.to_owned()),
        why => at(path)(why.into()),
    };
    // Some file systems cannot promise it.
    let unable = |why: Errno| matches!(why, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP);
    match renameat_with(CWD, made, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => return Ok(()),
        // A folder with anything in it is still not replaced.
        Err(why) if unable(why) && fs::symlink_metadata(path).is_err() => {
            return fs::rename(made, path).map_err(at(path));
        }
        Err(why) if force && (why == Errno::EXIST || unable(why)) => {}
        Err(why) => return Err(unnamed(why)),
    }
    match renameat_with(CWD, made, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(why) if unable(why) => swap(made, path)?,
        Err(why) => return Err(unnamed(why)),
    }
    fs::remove_dir_all(made).map_err(at(made))
}

/// The old folder goes aside first: in between there is none, but both are whole.
fn swap(made: &Path, path: &Path) -> Result<(), ExportError> {
    let aside = made.with_extension("old.part");
    fs::rename(path, &aside).map_err(at(path))?;
    if let Err(why) = fs::rename(made, path) {
        // Back as it was; the first reason is the one to tell.
        fs::rename(&aside, path).ok();
        return Err(at(path)(why));
    }
    fs::rename(&aside, made).map_err(at(&aside))
}

/// A name is on the disk when its directory is; where that cannot be done, the name is there all
/// the same.
pub(super) fn sync(dir: &Path) {
    File::open(dir).and_then(|dir| dir.sync_all()).ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nothing_is_overwritten_and_only_the_owner_reads() {
        let dir = tempfile::tempdir().expect("dir");
        let file = || NamedTempFile::new_in(dir.path()).expect("file");
        let next = || Place::NextFree(dir.path().to_owned()).take(file(), "s", "json");
        let first = next().expect("first");
        assert_eq!(first, dir.path().join("s.json"));
        assert_eq!(next().expect("second"), dir.path().join("s-2.json"));
        let mode = fs::metadata(&first).expect("meta").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let exactly = |force| Place::Exactly {
            path: first.clone(),
            force,
        };
        let refused = exactly(false).take(file(), "s", "json");
        assert!(matches!(refused, Err(ExportError::Exists(_))));
        let forced = exactly(true).take(file(), "s", "json");
        assert_eq!(forced.expect("forced"), first);
    }

    #[test]
    fn a_folder_or_a_device_is_no_file() {
        let dir = tempfile::tempdir().expect("dir");
        for path in [dir.path(), Path::new("/dev/null")] {
            let place = Place::Exactly {
                path: path.to_owned(),
                force: true,
            };
            assert!(matches!(place.check(), Err(ExportError::Special(_))));
        }
    }

    #[test]
    fn only_folders_of_exports_are_replaced() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("ses");
        let make = |word: &str| {
            let made = dir.path().join("made");
            fs::create_dir(&made).expect("made");
            let index = format!(
                r#"{{"schema":"{SCHEMA}","sanitized":false,"sessions":[{{"id":"a","title":"","parent":null,"file":"a.json","messages":0,"bytes":0}}]}}"#
            );
            fs::write(made.join(JSON_NAME), index).expect("written");
            fs::write(made.join("a.json"), word).expect("written");
            made
        };
        let holds = || fs::read_to_string(path.join("a.json")).expect("read");
        take_folder(&make("one"), &path, false).expect("free");
        let made = make("two");
        let refused = take_folder(&made, &path, false);
        assert!(matches!(refused, Err(ExportError::Exists(_))));
        take_folder(&made, &path, true).expect("replaced");
        assert_eq!(holds(), "two");
        assert!(!made.exists());
        fs::write(path.join("mine.txt"), "mine").expect("written");
        let refused = take_folder(&make("three"), &path, true);
        assert!(matches!(refused, Err(ExportError::Foreign(_))));
        assert_eq!(holds(), "two");
    }
}
