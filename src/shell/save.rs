//! What the screen shows, as a text file in the current directory.
//!
//! What it does: give it the next free name, whole or not at all. What it does not: draw it; `tui` does.

use crate::core::time::UnixMs;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// No more names are tried.
const MOST_NAMES: u32 = 100;

/// Writes the text; answers where.
pub(super) fn save(dir: &Path, text: &str, now: UnixMs) -> io::Result<PathBuf> {
    let at = Timestamp::from_millisecond(now.0).unwrap_or_default();
    let at = at.to_zoned(TimeZone::system()).strftime("%Y%m%d-%H%M%S");
    let mut file = NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_data()?;
    for number in 1..=MOST_NAMES {
        let path = match number {
            1 => dir.join(format!("ocwatch-screen-{at}.txt")),
            _ => dir.join(format!("ocwatch-screen-{at}-{number}.txt")),
        };
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(why) if why.error.kind() == io::ErrorKind::AlreadyExists => file = why.file,
            Err(why) => return Err(why.error),
        }
    }
    Err(io::Error::other("no name is free"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_and_nothing_half_is_left() {
        let dir = tempfile::tempdir().expect("dir");
        let now = UnixMs(1_796_000_000_000);
        let first = save(dir.path(), "one\n", now).expect("first");
        let second = save(dir.path(), "two\n", now).expect("second");
        let read = |path: &PathBuf| std::fs::read_to_string(path).expect("read");
        assert_eq!(
            (read(&first), read(&second)),
            ("one\n".into(), "two\n".into())
        );
        assert!(save(&dir.path().join("none"), "x", now).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).expect("dir").count(), 2);
    }
}
