//! The way of every test here: print the plan, act, read again.

use super::record::{Done, Record};
use crate::ocwatch::{dashboard, run};
use crate::server::OpenCode;
use crate::support::{PATIENCE, eventually};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A session in a stuck state.
#[derive(Clone, Copy)]
pub struct Stuck<'a> {
    /// Where.
    pub server: &'a OpenCode,
    /// Its project.
    pub directory: &'a Path,
    /// Its id.
    pub id: &'a str,
}

/// Presses of R, at most five a second: what is to be waited for takes two minutes.
const MOST_PRESSES: u32 = 1000;

impl Stuck<'_> {
    /// `ocwatch reset` brings it to where the next prompt is answered, and loses nothing; what it said.
    pub fn assert_reset(self, done: Done, more: &[&str]) -> String {
        let before = Record::read(self.server, self.id);
        let plan = self.assert_planned(&before);
        let mut arguments = vec!["reset", self.id, "--yes"];
        arguments.extend(more);
        let reset = run(self.server, &arguments);
        assert_eq!(reset.code, Some(0), "{plan}\n{reset:#?}");

        let after = Record::read(self.server, self.id);
        before.assert_kept(&after, &plan, done);
        let said = reset.stdout + &reset.stderr;
        if plan.contains("export ") {
            assert_exported(&said, &before);
        }
        self.assert_settled(&after, done);
        self.assert_answers();
        said
    }

    /// The same by the key R: `word` is on the screen before it is agreed to. Rows are told apart by `title`.
    pub fn assert_reset_by_key(self, title: &str, word: &str, done: Done) {
        let before = Record::read(self.server, self.id);
        let mut screen = dashboard(self.server, title);
        screen.until("its row", |seen| {
            let text = seen.contents();
            let mut rows = text.lines().filter(|line| line.contains(title));
            rows.any(|row| row.contains("busy") || row.contains("idle"))
        });
        // Until it is known whether another process runs it, R says how long that takes.
        let mut presses = 0;
        while !screen.text().contains("Reset \"") {
            assert!(presses < MOST_PRESSES, "no plan on:\n{}", screen.text());
            presses += 1;
            screen.press("R");
            screen.take("what R does");
        }
        screen.until("its plan", |seen| {
            let text = seen.contents();
            text.contains("Reset \"") && text.contains(word)
        });
        let plan = screen.text();
        assert_eq!(before, Record::read(self.server, self.id));
        // So soon after the plan appeared a key does not count: nobody can have read it.
        while screen.text().contains("Reset \"") {
            screen.press("y");
            screen.take("the dialog is left");
        }
        screen.until_text("reset done");
        screen.press("Q");
        assert_eq!(screen.end(), 0);
        let after = Record::read(self.server, self.id);
        before.assert_kept(&after, &plan, done);
        self.assert_settled(&after, done);
        self.assert_answers();
    }

    /// `--dry-run` prints a plan and changes nothing; the plan.
    pub fn assert_planned(self, before: &Record) -> String {
        let state = self.server.run_state(self.directory, self.id)["type"].clone();
        let dry = run(self.server, &["reset", self.id, "--dry-run"]);
        assert_eq!(dry.code, Some(0), "{dry:#?}");
        assert!(dry.stdout.lines().count() > 1, "a title, lines: {dry:#?}");
        assert_eq!(before, &Record::read(self.server, self.id));
        let later = self.server.run_state(self.directory, self.id);
        assert_eq!(state, later["type"], "it still runs, or does not");
        dry.stdout
    }

    /// Nothing of the family runs, asks or is open; what was ended has an end.
    pub fn assert_settled(self, now: &Record, done: Done) {
        assert_eq!(now.open_tools(), Vec::<&Value>::new());
        for row in &now.0 {
            let state = self.server.run_state(self.directory, &row.id);
            assert_eq!(state, Value::Null, "{}", row.id);
            let last = row
                .messages
                .iter()
                .rfind(|it| it["info"]["role"] == "assistant");
            let ended = last.is_some_and(|it| it["info"]["time"]["completed"].is_u64());
            assert!(ended || done == Done::Repaired, "{last:#?}");
        }
        for kind in ["question", "permission"] {
            let open = self.server.open(kind, self.directory);
            let mut asks = open.as_array().expect("a list").iter();
            let ours = asks.find(|ask| now.0.iter().any(|row| ask["sessionID"] == row.id));
            assert_eq!(ours, None, "it asks still");
        }
    }

    /// The next prompt gets an answer of its own.
    pub fn assert_answers(self) {
        let path = format!("/session/{}/message", self.id);
        let before = self.server.get(&path).as_array().map_or(0, Vec::len);
        self.server.prompt(self.id, "say:back again");
        eventually("the next prompt is answered", PATIENCE, || {
            let messages = self.server.get(&path);
            let new = &messages.as_array().expect("a list")[before..];
            let prompt = new.iter().find(|it| it["info"]["role"] == "user");
            let answer = new.iter().find(|it| {
                prompt.is_some_and(|prompt| it["info"]["parentID"] == prompt["info"]["id"])
                    && it["info"]["time"]["completed"].is_u64()
            });
            let told = answer.is_some_and(|it| it["parts"].to_string().contains("back again"));
            told.then_some(()).ok_or_else(|| format!("{new:#?}"))
        });
    }
}

/// The file that is named holds the session as it was before.
fn assert_exported(said: &str, before: &Record) {
    let path = said.split("saved to ").nth(1).expect("a file is named");
    let path = path.split_whitespace().next().expect("a path");
    let file = fs::read(path).unwrap_or_else(|why| panic!("{path}: {why}"));
    let file: Value = serde_json::from_slice(&file).expect("JSON");
    assert_eq!(file["messages"], json!(before.0[0].messages));
}
