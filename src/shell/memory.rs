//! What one run tells the next, in the state directory: filters, and what was snoozed.
//!
//! What it does: read it at the start, write it whole or not at all when it changes. What it does not:
//! hold up the loop; a task writes. Invariants: what cannot be read is as if it were not there, and
//! what cannot be written is a line in the log, never an end; bounded in size both ways.

use crate::core::app::Memory;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

/// Its name in the state directory.
pub const FILE: &str = "memory.json";
/// The schema of the file. Fields are only added within a number.
const SCHEMA: &str = "ocwatch.memory/1";
/// A longer file is none of ours. In bytes.
const LONGEST: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    #[serde(flatten)]
    memory: Memory,
}

/// Writes what is to be kept, one after the other. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Keeper {
    to_writer: Option<mpsc::UnboundedSender<Memory>>,
}

impl Keeper {
    /// Keeps nothing: the demo, or a user without a home.
    pub fn forgetful() -> Self {
        Self::default()
    }

    /// Keeps in this directory, which is made when something is written. Needs a runtime.
    pub fn new(dir: &Path) -> Self {
        let (to_writer, mut memories) = mpsc::unbounded_channel();
        let path = dir.join(FILE);
        tokio::spawn(async move {
            while let Some(memory) = memories.recv().await {
                let path = path.clone();
                let written = tokio::task::spawn_blocking(move || write(&path, memory)).await;
                if let Ok(Err(why)) = written {
                    tracing::warn!(%why, "what the next run should know could not be kept");
                }
            }
        });
        Self {
            to_writer: Some(to_writer),
        }
    }

    /// Has it written.
    pub fn keep(&self, memory: Memory) {
        if let Some(to_writer) = &self.to_writer {
            // A closed channel: the program is ending.
            to_writer.send(memory).ok();
        }
    }
}

/// What an earlier run left in this directory.
pub fn recall(dir: &Path) -> Memory {
    match read(&dir.join(FILE)) {
        Ok(memory) => memory,
        Err(why) if why.kind() == io::ErrorKind::NotFound => Memory::default(),
        Err(why) => {
            tracing::warn!(%why, "what an earlier run left could not be read");
            Memory::default()
        }
    }
}

fn read(path: &Path) -> io::Result<Memory> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    let document: Document = serde_json::from_slice(&bytes)?;
    if document.schema == SCHEMA {
        Ok(document.memory)
    } else {
        Err(io::Error::other(format!("its schema is not {SCHEMA}")))
    }
}

fn write(path: &PathBuf, memory: Memory) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let schema = SCHEMA.to_owned();
    let mut file = NamedTempFile::new_in(dir)?;
    serde_json::to_writer(&mut file, &Document { schema, memory })?;
    file.flush()?;
    file.as_file().sync_data()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::app::{Seen, SeenMark};
    use crate::core::time::UnixMs;

    #[test]
    fn what_is_written_is_read_and_what_is_not_ours_is_nothing() {
        let dir = tempfile::tempdir().expect("dir");
        let state = dir.path().join("state");
        assert_eq!(recall(&state), Memory::default(), "the first run");
        let memory = Memory {
            filters: vec!["level:stuck".into()],
            seen: vec![SeenMark {
                server: "http://h".into(),
                session: "ses_a".into(),
                seen: Seen {
                    level: "stuck".into(),
                    finding: Some("hung-tool".into()),
                    changed: UnixMs(5),
                    at: UnixMs(7),
                    until: None,
                },
            }],
        };
        let path = state.join(FILE);
        write(&path, memory.clone()).expect("written");
        assert_eq!(recall(&state), memory);
        for junk in ["", "{", "[1]", "{\"schema\":\"other/1\"}", "\u{0}"] {
            fs::write(&path, junk).expect("junk");
            assert_eq!(recall(&state), Memory::default(), "{junk:?}");
        }
        write(&path, memory.clone()).expect("written over junk");
        assert_eq!(recall(&state), memory);
        assert_eq!(
            fs::read_dir(&state).expect("dir").count(),
            1,
            "nothing beside it"
        );
    }
}
