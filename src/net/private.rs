//! Files that hold a password.
//!
//! What it does: read one that its owner alone can read. What it does not: take apart what is in it.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Its text; none where others can read it.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    // Of the file that is read, not of one that stands there later.
    if is_open_to_others(&file.metadata()?) {
        return Ok(None);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Whether anybody but its owner may do something with it.
pub fn is_open_to_others(meta: &Metadata) -> bool {
    meta.mode() & 0o077 != 0
}
