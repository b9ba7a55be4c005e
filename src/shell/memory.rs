//! What one run tells the next, in the state directory: filters, and what was snoozed.
//!
//! What it does: read it at the start, write it whole or not at all when it changes. What it does not:
//! hold up the loop; a task writes. Several programs may keep in one directory: what another one has
//! added stays. Invariants: what cannot be read is as if it were not there, and
//! what cannot be written is a line in the log, never an end; bounded in size both ways.

use crate::core::app::{MOST_SEEN, Memory, SeenMark};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

/// Its name in the state directory.
pub const FILE: &str = "memory.json";
/// The schema of the file. Fields are only added within a number.
const SCHEMA: &str = "ocwatch.memory/1";
/// Held while it is written.
const LOCK: &str = "memory.lock";
/// Filters kept of all programs together.
const MOST_FILTERS: usize = 200;
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

    /// Keeps in this directory, which is made when something is written. `known` is what was recalled
    /// of it. Needs a runtime.
    pub fn new(dir: &Path, mut known: Memory) -> Self {
        let (to_writer, mut memories) = mpsc::unbounded_channel::<Memory>();
        let path = dir.join(FILE);
        tokio::spawn(async move {
            while let Some(memory) = memories.recv().await {
                let path = path.clone();
                let before = std::mem::replace(&mut known, memory.clone());
                let write = move || keep(&path, &before, memory);
                let written = tokio::task::spawn_blocking(write).await;
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

/// Writes it beside what others have added since. While one program does so the others wait.
fn keep(path: &Path, before: &Memory, memory: Memory) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let lock = File::create(dir.join(LOCK))?;
    // A file system without locks: the last one wins.
    lock.lock().ok();
    let there = read(path).unwrap_or_default();
    write(path, joined(there, before, memory))
}

/// What is there and was never known here was added by another program. What was known and is in
/// `memory` no more was taken out here.
fn joined(there: Memory, before: &Memory, mut memory: Memory) -> Memory {
    let of = |mark: &SeenMark| (mark.server.clone(), mark.session.clone());
    let known: HashSet<_> = before.seen.iter().chain(&memory.seen).map(of).collect();
    let others = there.seen.into_iter();
    memory
        .seen
        .extend(others.filter(|mark| !known.contains(&of(mark))));
    memory.seen.sort_by_key(|mark| mark.seen.at);
    let over = memory.seen.len().saturating_sub(MOST_SEEN);
    memory.seen.drain(..over);
    let known =
        |filter: &String| before.filters.contains(filter) || memory.filters.contains(filter);
    let others = there.filters.into_iter().filter(|it| !known(it));
    let mut filters: Vec<String> = others.collect();
    filters.append(&mut memory.filters);
    let over = filters.len().saturating_sub(MOST_FILTERS);
    filters.drain(..over);
    Memory { filters, ..memory }
}

fn write(path: &Path, memory: Memory) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
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

    fn mark(session: &str, at: i64) -> SeenMark {
        SeenMark {
            server: "http://h".into(),
            session: session.into(),
            seen: Seen {
                level: "stuck".into(),
                finding: None,
                asks: Vec::new(),
                changed: UnixMs(1),
                at: UnixMs(at),
                until: None,
            },
        }
    }

    /// Two programs that keep in one directory, each with its own wishes.
    #[test]
    fn what_another_program_has_added_stays_and_what_was_taken_out_here_goes() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join(FILE);
        let of = |seen: &[(&str, i64)], filters: &[&str]| Memory {
            seen: seen.iter().map(|(id, at)| mark(id, *at)).collect(),
            filters: filters.iter().map(|it| (*it).to_owned()).collect(),
        };
        let begin = of(&[("a", 1), ("b", 2)], &["x"]);
        write(&path, begin.clone()).expect("written");
        keep(&path, &begin, of(&[("b", 2), ("mine", 5)], &["x", "mine"])).expect("by one");
        keep(
            &path,
            &begin,
            of(&[("a", 1), ("b", 9), ("theirs", 4)], &["x", "theirs"]),
        )
        .expect("by the other");
        let left = recall(dir.path());
        assert_eq!(
            left,
            of(
                &[("a", 1), ("theirs", 4), ("mine", 5), ("b", 9)],
                &["mine", "x", "theirs"]
            )
        );
    }

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
                    asks: Vec::new(),
                    changed: UnixMs(5),
                    at: UnixMs(7),
                    until: None,
                },
            }],
        };
        let path = state.join(FILE);
        let nothing = Memory::default();
        keep(&path, &nothing, memory.clone()).expect("written");
        assert_eq!(recall(&state), memory);
        for junk in ["", "{", "[1]", "{\"schema\":\"other/1\"}", "\u{0}"] {
            fs::write(&path, junk).expect("junk");
            assert_eq!(recall(&state), Memory::default(), "{junk:?}");
        }
        keep(&path, &nothing, memory.clone()).expect("written over junk");
        assert_eq!(recall(&state), memory);
        assert_eq!(
            fs::read_dir(&state).expect("dir").count(),
            2,
            "nothing beside it but its lock"
        );
    }
}
