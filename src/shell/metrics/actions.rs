//! Actions and their outcomes, counted from the audit log as it grows.
//!
//! What it does: read what was appended since the last look, also when the log was moved aside for a
//! new one meanwhile. What it does not: wait for a line that is not finished, or fail: what cannot be
//! read is counted later. Invariant: counts never fall.

use super::encode::Samples;
use super::table::{ACTIONS, ACTIONS_BEGUN};
use crate::core::plan::ActionName;
use crate::shell::audit::{FILE, OLD, SCHEMA};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A label's value for a word that this version does not know: labels stay bounded.
const OTHER: &str = "other";
const OUTCOMES: [&str; 3] = ["done", "no-effect", "failed"];
/// What is recorded: an export changes nothing.
const RECORDED: [ActionName; 4] = [
    ActionName::Abort,
    ActionName::Reset,
    ActionName::Answer,
    ActionName::Resend,
];

/// Counts of the audit log.
#[derive(Debug, Clone, Default)]
pub struct Actions {
    /// The state directory; none of a demo: what it does did not happen.
    dir: Option<PathBuf>,
    /// The file that was read last, and how far.
    read: Option<Read>,
    begun: BTreeMap<&'static str, u64>,
    ended: BTreeMap<(&'static str, &'static str), u64>,
}

#[derive(Debug, Clone, Copy)]
struct Read {
    file: (u64, u64),
    offset: u64,
}

/// What is looked at of a line.
#[derive(Deserialize)]
struct Line<'a> {
    schema: &'a str,
    phase: &'a str,
    action: &'a str,
    outcome: Option<&'a str>,
}

impl Actions {
    /// Of the log in this directory; nothing is read yet.
    pub fn new(dir: Option<PathBuf>) -> Self {
        Self {
            dir,
            ..Self::default()
        }
    }

    /// Counts what came since the last look.
    pub fn look(&mut self) {
        let Some(dir) = self.dir.clone() else {
            return;
        };
        if let Err(why) = self.follow(&dir) {
            tracing::warn!(%why, "the audit log cannot be read");
        }
    }

    /// The older file first: what was appended to it before it was moved aside.
    fn follow(&mut self, dir: &Path) -> io::Result<()> {
        let current = open(&dir.join(FILE))?;
        let old = open(&dir.join(OLD))?;
        let known = self.read.map(|it| it.file);
        let is = |file: &Option<(File, Meta)>| file.as_ref().map(|it| it.1.file) == known;
        // Of two files that are both unlike the known one the older was never seen.
        if let Some(old) = old.filter(|_| known.is_none() || !is(&current)) {
            self.take(old)?;
        }
        match current {
            Some(current) => self.take(current),
            None => Ok(()),
        }
    }

    /// Counts the whole lines of a file behind what is known of it.
    fn take(&mut self, (mut file, meta): (File, Meta)) -> io::Result<()> {
        let same = self.read.filter(|it| it.file == meta.file);
        // One that is shorter than it was begins anew.
        let same = same.filter(|it| it.offset <= meta.len);
        let mut offset = same.map_or(0, |it| it.offset);
        file.seek(SeekFrom::Start(offset))?;
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            offset += u64::try_from(line.len()).unwrap_or_default();
            self.count(&line);
            line.clear();
        }
        let file = meta.file;
        self.read = Some(Read { file, offset });
        Ok(())
    }

    fn count(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return;
        };
        let action = RECORDED.map(ActionName::word);
        let action = known(&action, line.action);
        match (line.schema, line.phase) {
            (SCHEMA, "begin") => *self.begun.entry(action).or_default() += 1,
            (SCHEMA, "end") => {
                let outcome = known(&OUTCOMES, line.outcome.unwrap_or_default());
                *self.ended.entry((action, outcome)).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Adds the counts, those of nothing as 0.
    pub fn tell(&self, samples: &mut Samples) {
        let (mut begun, mut ended) = (self.begun.clone(), self.ended.clone());
        for action in RECORDED.map(ActionName::word) {
            begun.entry(action).or_default();
            for outcome in OUTCOMES {
                ended.entry((action, outcome)).or_default();
            }
        }
        for ((action, outcome), many) in ended {
            samples.count(&ACTIONS, &[action, outcome], many);
        }
        for (action, many) in begun {
            samples.count(&ACTIONS_BEGUN, &[action], many);
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Meta {
    file: (u64, u64),
    len: u64,
}

fn open(path: &Path) -> io::Result<Option<(File, Meta)>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(why),
    };
    let meta = file.metadata()?;
    let meta = Meta {
        file: (meta.dev(), meta.ino()),
        len: meta.len(),
    };
    Ok(Some((file, meta)))
}

fn known(words: &[&'static str], word: &str) -> &'static str {
    let found = words.iter().find(|it| **it == word);
    found.copied().unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{OpenOptions, rename, write};
    use std::io::Write;

    fn line(phase: &str, action: &str, outcome: &str) -> String {
        let outcome = if outcome.is_empty() {
            String::new()
        } else {
            format!(r#","outcome":"{outcome}""#)
        };
        let text =
            format!(r#"{{"schema":"{SCHEMA}","id":"1","phase":"{phase}","action":"{action}""#);
        text + &outcome + "}\n"
    }

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new();
        let file = file.create(true).append(true).open(path);
        file.expect("a file")
            .write_all(text.as_bytes())
            .expect("room");
    }

    /// Done aborts, failed aborts, begun aborts.
    fn aborts(actions: &mut Actions) -> [u64; 3] {
        actions.look();
        let ended = |outcome| actions.ended.get(&("abort", outcome)).copied();
        let begun = actions.begun.get("abort").copied();
        [ended("done"), ended("failed"), begun].map(Option::unwrap_or_default)
    }

    #[test]
    fn what_is_appended_counts_once_and_half_a_line_not_yet() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(FILE);
        let mut actions = Actions::new(Some(dir.path().to_owned()));
        assert_eq!(aborts(&mut actions), [0, 0, 0], "nothing was ever recorded");
        append(&path, &line("begin", "abort", ""));
        append(&path, "no line of a log\n[1]\n");
        assert_eq!(aborts(&mut actions), [0, 0, 1]);
        let end = line("end", "abort", "done");
        let (first, rest) = end.split_at(20);
        append(&path, first);
        assert_eq!(aborts(&mut actions), [0, 0, 1]);
        append(&path, rest);
        assert_eq!(aborts(&mut actions), [1, 0, 1]);
        assert_eq!(aborts(&mut actions), [1, 0, 1], "once");
    }

    #[test]
    fn a_log_that_was_moved_aside_is_read_to_its_end_first() {
        let dir = tempfile::tempdir().expect("a folder");
        let (path, old) = (dir.path().join(FILE), dir.path().join(OLD));
        append(&old, &line("end", "abort", "failed"));
        append(&path, &line("begin", "abort", ""));
        let mut actions = Actions::new(Some(dir.path().to_owned()));
        assert_eq!(aborts(&mut actions), [0, 1, 1], "both files at first");
        append(&path, &line("end", "abort", "failed"));
        rename(&path, &old).expect("moved");
        append(&path, &line("end", "abort", "done"));
        assert_eq!(
            aborts(&mut actions),
            [1, 2, 1],
            "the rest, then the new one"
        );
        rename(&path, &old).expect("moved");
        assert_eq!(aborts(&mut actions), [1, 2, 1], "none is there yet");
        append(&path, &line("begin", "abort", ""));
        assert_eq!(aborts(&mut actions), [1, 2, 2]);
    }

    #[test]
    fn a_log_that_was_emptied_is_read_from_its_start_and_nothing_falls() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(FILE);
        append(&path, &line("end", "abort", "failed").repeat(3));
        let mut actions = Actions::new(Some(dir.path().to_owned()));
        assert_eq!(aborts(&mut actions), [0, 3, 0]);
        write(&path, line("end", "abort", "done")).expect("emptied");
        assert_eq!(aborts(&mut actions), [1, 3, 0]);
    }

    #[test]
    fn words_of_a_later_version_are_other() {
        let mut actions = Actions::default();
        actions.count(line("end", "dance", "half").as_bytes());
        actions.count(
            line("end", "abort", "")
                .replace("audit/1", "audit/2")
                .as_bytes(),
        );
        assert_eq!(actions.ended.get(&(OTHER, OTHER)), Some(&1));
        assert_eq!(actions.ended.len(), 1, "{actions:?}");
        let mut samples = Samples::default();
        actions.tell(&mut samples);
        let text = samples.write(super::super::encode::Format::OpenMetrics);
        let text = text.expect("text");
        for line in [
            "ocwatch_actions_total{action=\"other\",outcome=\"other\"} 1",
            "ocwatch_actions_total{action=\"reset\",outcome=\"no-effect\"} 0",
            "ocwatch_actions_begun_total{action=\"answer\"} 0",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
