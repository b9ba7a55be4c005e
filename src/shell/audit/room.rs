//! The log does not grow for ever: a full one is moved aside, and the one before that goes.
//!
//! What it does: rename, under a lock that all ocwatch of this user share. What it does not: wait, or
//! stand in the way: where it cannot be done the log grows on. Who has the file open meanwhile writes
//! its line into the one that was moved; that one is kept, so no line is lost.

use super::OLD;
use std::fs::{OpenOptions, rename, symlink_metadata};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes of a full log: some two thousand actions. There are at most two of it.
pub(super) const FULL: u64 = 4 << 20;
/// Beside the log.
const LOCK: &str = "audit.lock";

/// Moves a full log aside.
pub(super) fn make(log: &Path) {
    if is_full(log)
        && let Err(why) = move_aside(log)
    {
        tracing::warn!(%why, "the audit log is full and cannot be moved aside");
    }
}

/// A link or a device is somebody's own choice, and stays.
fn is_full(log: &Path) -> bool {
    symlink_metadata(log).is_ok_and(|it| it.is_file() && it.len() >= FULL)
}

fn move_aside(log: &Path) -> io::Result<()> {
    let lock = log.with_file_name(LOCK);
    let mut options = OpenOptions::new();
    let lock = options.create(true).append(true).mode(0o600).open(lock)?;
    // Another one does it right now.
    if lock.try_lock().is_err() {
        return Ok(());
    }
    // Or has done it meanwhile: what is there now is a new one.
    if is_full(log) {
        rename(log, log.with_file_name(OLD))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{FILE, append};
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;
    use std::fs::{File, read_to_string};

    fn fill(log: &Path) {
        let file = OpenOptions::new().create(true).append(true).open(log);
        file.expect("a file").set_len(FULL).expect("room");
    }

    #[test]
    fn a_full_log_is_moved_aside_and_two_are_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let (log, old) = (dir.path().join(FILE), dir.path().join(OLD));
        append(&log, &json!("first")).expect("written");
        assert!(!old.exists(), "it is not full");
        fill(&log);
        append(&log, &json!("second")).expect("written");
        assert_eq!(old.metadata().expect("the old one").len(), FULL);
        assert_eq!(read_to_string(&log).expect("the new one"), "\"second\"\n");
        fill(&log);
        append(&log, &json!("third")).expect("written");
        let kept = read_to_string(&old).expect("the old one");
        assert!(kept.starts_with("\"second\"\n"), "the newer of the two");
        assert_eq!(read_to_string(&log).expect("the new one"), "\"third\"\n");
    }

    /// Many at once, over several moves: each line is there once, in one of the files.
    #[test]
    fn several_writers_lose_no_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let (log, old) = (dir.path().join(FILE), dir.path().join(OLD));
        fill(&log);
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let log = &log;
                scope.spawn(move || {
                    for number in 0..20 {
                        let line = json!(format!("{writer}/{number}"));
                        append(log, &line).expect("written");
                    }
                });
            }
        });
        let files = [&old, &log].map(|it| read_to_string(it).expect("a file"));
        let both = files.join("\n");
        let lines = both.lines().filter(|it| it.starts_with('"'));
        let lines: Vec<&str> = lines.collect();
        let unlike: BTreeSet<&&str> = lines.iter().collect();
        assert_eq!((lines.len(), unlike.len()), (160, 160));
    }

    #[test]
    fn what_cannot_be_moved_grows_on() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = dir.path().join(FILE);
        std::fs::create_dir_all(dir.path().join(OLD).join("x")).expect("in its place");
        fill(&log);
        append(&log, &json!(1)).expect("written");
        assert!(log.metadata().expect("the log").len() > FULL);
        let real = dir.path().join("real");
        let linked = dir.path().join("linked.jsonl");
        File::create(&real)
            .expect("a file")
            .set_len(FULL)
            .expect("room");
        std::os::unix::fs::symlink(&real, &linked).expect("a link");
        append(&linked, &json!(1)).expect("written");
        assert!(real.metadata().expect("it").len() > FULL, "a link stays");
    }
}
