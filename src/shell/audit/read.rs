//! Reading the audit log back: the two lines of each action joined to one document.
//!
//! What it does: one document for each action, in the order in which they began; a beginning without
//! an end is `unfinished`, whether its ocwatch was ended or still works on it. Fields of a later
//! version are kept. What it does not: fail at a line that is none; it is counted.

use super::{FILE, OLD, SCHEMA};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// What an action is called whose end is not recorded.
pub const UNFINISHED: &str = "unfinished";

/// What the log holds.
#[derive(Debug, Default, PartialEq)]
pub struct Log {
    /// One for each action, oldest first.
    pub actions: Vec<Action>,
    /// Lines that are no lines of an audit log.
    pub malformed: usize,
}

/// One action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Action(Map<String, Value>);

impl Action {
    /// A text of it; empty if it has none of this name.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// When it began, or ended if only that is known: UTC, milliseconds.
    pub fn at(&self) -> Option<i64> {
        let at = |name| self.0.get(name).and_then(Value::as_i64);
        at("at").or_else(|| at("ended"))
    }

    /// As a document.
    pub fn into_json(self) -> Value {
        Value::Object(self.0)
    }
}

/// Reads the log in this directory, with the one that was moved aside. `None`: nothing was ever
/// recorded.
///
/// # Errors
/// A file is there and cannot be read.
pub fn read(dir: &Path) -> io::Result<Option<Log>> {
    // The newer one first: it may be moved aside meanwhile, and then is read twice, not never.
    let new = open(&dir.join(FILE))?;
    let old = open(&dir.join(OLD))?;
    if new.is_none() && old.is_none() {
        return Ok(None);
    }
    let mut log = Parser::default();
    for file in [old, new].into_iter().flatten() {
        log.take(BufReader::new(file))?;
    }
    Ok(Some(log.log))
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

#[derive(Default)]
struct Parser {
    log: Log,
    places: HashMap<String, usize>,
}

impl Parser {
    fn take(&mut self, lines: impl BufRead) -> io::Result<()> {
        let log = &mut self.log;
        for line in lines.split(b'\n') {
            let line = line?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let Some((id, line)) = understood(&line) else {
                log.malformed += 1;
                continue;
            };
            let place = *self.places.entry(id).or_insert(log.actions.len());
            if place == log.actions.len() {
                log.actions.push(Action::default());
            }
            if let Some(action) = log.actions.get_mut(place) {
                join(&mut action.0, line);
            }
        }
        Ok(())
    }
}

fn understood(line: &[u8]) -> Option<(String, Map<String, Value>)> {
    let line: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    let known = text("schema") == Some(SCHEMA) && matches!(text("phase"), Some("begin" | "end"));
    let id = text("id").filter(|_| known)?.to_owned();
    Some((id, line))
}

/// An end is later than its beginning: its time has a name of its own in the whole.
fn join(action: &mut Map<String, Value>, mut line: Map<String, Value>) {
    let is_end = line.remove("phase").is_some_and(|phase| phase == "end");
    if is_end && let Some(at) = line.remove("at") {
        line.insert("ended".to_owned(), at);
    }
    action.extend(line);
    if !action.contains_key("ended") {
        action.insert("outcome".to_owned(), json!(UNFINISHED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: impl BufRead) -> io::Result<Log> {
        let mut parser = Parser::default();
        parser.take(lines)?;
        Ok(parser.log)
    }

    #[test]
    fn an_action_may_begin_in_the_old_file_and_end_in_the_new_one() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(read(dir.path()).expect("no file"), None);
        let write = |name: &str, text: String| {
            std::fs::write(dir.path().join(name), text).expect("a file");
        };
        write(OLD, line("a", "begin", r#","title":"T""#));
        let only_old = read(dir.path()).expect("a log").expect("one file");
        assert_eq!(only_old.actions[0].text("outcome"), UNFINISHED);
        write(FILE, line("a", "end", r#","outcome":"done""#));
        let both = read(dir.path()).expect("a log").expect("both");
        assert_eq!(both.actions.len(), 1);
        let action = &both.actions[0];
        assert_eq!(
            (action.text("outcome"), action.text("title")),
            ("done", "T")
        );
    }

    fn line(id: &str, phase: &str, more: &str) -> String {
        format!(r#"{{"schema":"{SCHEMA}","id":"{id}","at":5,"phase":"{phase}"{more}}}"#)
    }

    #[test]
    fn the_lines_of_actions_that_overlap_are_joined() {
        let begin = |id| line(id, "begin", r#","title":"T","later":1"#);
        let end = |id| line(id, "end", r#","outcome":"done""#);
        let text = [
            begin("a"),
            begin("b"),
            end("b"),
            begin("c"),
            end("a"),
            end("x"),
        ]
        .join("\n");
        let log = parse(text.as_bytes()).expect("a log");
        let told: Vec<_> = log.actions.iter().map(|it| it.text("outcome")).collect();
        assert_eq!(told, ["done", "done", UNFINISHED, "done"]);
        assert_eq!(log.actions[1].text("title"), "T");
        assert_eq!(log.actions[3].at(), Some(5), "only its end is known");
        let whole = log.actions[0].clone().into_json();
        assert_eq!((&whole["later"], &whole["ended"]), (&json!(1), &json!(5)));
        assert_eq!(whole["phase"], Value::Null);
    }

    #[test]
    fn what_is_no_line_is_counted() {
        let other = line("a", "begin", "").replace("audit/1", "audit/2");
        let text = format!("\n[1]\n{other}\n{}\n{{\"sch\n", line("a", "begin", ""));
        let log = parse(text.as_bytes()).expect("a log");
        assert_eq!((log.actions.len(), log.malformed), (1, 3));
    }
}
