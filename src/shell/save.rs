//! What the screen shows, as a text file in the current directory.
//!
//! What it does: give it the next free name, whole or not at all. What it does not: draw it; `tui` does.

use crate::core::time::UnixMs;
use crate::shell::act::export::{ExportError, Place, file_in};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes the text; answers where.
pub(super) fn save(dir: &Path, text: &str, now: UnixMs) -> io::Result<PathBuf> {
    let at = Timestamp::from_millisecond(now.0).unwrap_or_default();
    let at = at.to_zoned(TimeZone::system()).strftime("%Y%m%d-%H%M%S");
    let mut file = file_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_data()?;
    let name = format!("ocwatch-screen-{at}");
    let taken = Place::NextFree(dir.to_owned()).take(file, &name, "txt");
    taken.map_err(|why: ExportError| io::Error::other(why.to_string()))
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
