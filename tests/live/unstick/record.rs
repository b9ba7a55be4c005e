//! What the server has of a session and its subagents, and how it may differ after a reset.
//!
//! Invariants: every message and part from before is there afterwards, in the same order; what was ended is
//! word for word the same; what was open may read otherwise only where the plan told of it.

use super::made::open_tool;
use crate::server::OpenCode;
use pretty_assertions::assert_eq;
use serde_json::Value;

/// A session with all that lies below it, nearest first.
#[derive(Debug, PartialEq)]
pub struct Record(pub Vec<Row>);

/// One session of it.
#[derive(Debug, PartialEq)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Its title, by which a plan names it.
    pub title: String,
    /// `[{info, parts}]`.
    pub messages: Vec<Value>,
}

/// What was done to the session, by which its record is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Done {
    /// A run was ended: the server itself wrote its ends, and may have added some.
    Stopped,
    /// Nothing ran: only tool parts were set, each named by a line of the plan.
    Repaired,
}

impl Record {
    /// As it is now.
    pub fn read(server: &OpenCode, root: &str) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        let mut ids = vec![root.to_owned()];
        while let Some(id) = ids.get(rows.len()).cloned() {
            let below = server.get(&format!("/session/{id}/children"));
            let below = below.as_array().expect("a list").iter();
            ids.extend(below.map(|it| word(&it["id"]).to_owned()));
            let info = server.get(&format!("/session/{id}"));
            let messages = server.get(&format!("/session/{id}/message"));
            rows.push(Row {
                title: word(&info["title"]).to_owned(),
                messages: messages.as_array().expect("a list").clone(),
                id,
            });
        }
        Self(rows)
    }

    /// Tool parts that have not ended, in any message.
    pub fn open_tools(&self) -> Vec<&Value> {
        let messages = self.0.iter().flat_map(|row| &row.messages);
        let parts = messages.flat_map(parts);
        parts.filter(|part| open_tool(part)).collect()
    }

    /// Panics where `later` has lost something, or where something reads otherwise that `plan` does not name.
    pub fn assert_kept(&self, later: &Record, plan: &str, done: Done) {
        let mut set = 0;
        for (place, old) in self.0.iter().enumerate() {
            let new = later.0.iter().find(|row| row.id == old.id);
            let new = new.unwrap_or_else(|| panic!("session {} is gone", old.id));
            if old == new {
                continue;
            }
            assert!(
                place == 0 || plan.contains(&old.title),
                "{:?} was changed, and no line names it: {plan}",
                old.title
            );
            for (old, new) in pairs(&old.messages, &new.messages, done) {
                assert_message(old, new, done);
                for (old, new) in pairs(parts(old), parts(new), done) {
                    if old == new {
                        continue;
                    }
                    assert_part(old, new, done);
                    // A stopped subagent is named as a whole.
                    let whole = place > 0 && done == Done::Stopped;
                    assert!(whole || names(plan, old), "not named: {old:#}\n{plan}");
                    set += 1;
                }
            }
        }
        let named = plan.matches("mark a tool part").count();
        let of_plan = if done == Done::Repaired { named } else { set };
        assert_eq!(set, of_plan, "parts set, against parts named: {plan}");
    }
}

/// Each of `old` with the same one of `new`; they are there in the same order. New ones come only from a run.
fn pairs<'a>(old: &'a [Value], new: &'a [Value], done: Done) -> Vec<(&'a Value, &'a Value)> {
    let mut rest = new.iter();
    let same = |it: &'a Value| {
        let found = rest.find(|new| id(new) == id(it));
        (
            it,
            found.unwrap_or_else(|| panic!("{} is lost: {new:#?}", id(it))),
        )
    };
    let pairs: Vec<_> = old.iter().map(same).collect();
    if done == Done::Repaired {
        assert_eq!(old.len(), new.len(), "something came: {new:#?}");
    }
    pairs
}

/// Only what ends a run may touch a message's own fields, and only of an answer that was open.
fn assert_message(old: &Value, new: &Value, done: Done) {
    let (old, new) = (&old["info"], &new["info"]);
    let open = old["role"] == "assistant" && old["time"]["completed"].is_null();
    if done == Done::Repaired || !open {
        assert_eq!(old, new);
    }
}

/// A part that reads otherwise was open before, and is closed now.
fn assert_part(old: &Value, new: &Value, done: Done) {
    let streamed = old["time"]["start"].is_u64() && old["time"]["end"].is_null();
    assert!(
        open_tool(old) || (streamed && done == Done::Stopped),
        "it had ended, and reads otherwise now: {old:#} {new:#}"
    );
    assert!(!open_tool(new), "{new:#}");
    if done == Done::Repaired {
        assert_repaired(old, new);
    }
}

/// Text that was streaming is named with its turn.
fn names(plan: &str, part: &Value) -> bool {
    let tool = part["tool"].as_str().unwrap_or("stop the turn");
    plan.contains(tool) || plan.contains("reject what it asks")
}

/// The part is the same but for its state, and in that keeps what it was called with and what it gave.
fn assert_repaired(old: &Value, new: &Value) {
    assert_eq!(new["state"]["status"], "error", "{new:#}");
    assert!(new["state"]["error"].is_string(), "{new:#}");
    assert!(new["state"]["time"]["end"].is_u64(), "{new:#}");
    let mut undone = new.clone();
    undone["state"] = old["state"].clone();
    assert_eq!(old, &undone);
    for kept in ["input", "metadata"] {
        assert_eq!(old["state"][kept], new["state"][kept]);
    }
    let start = &old["state"]["time"]["start"];
    assert!(start.is_null() || *start == new["state"]["time"]["start"]);
}

fn parts(message: &Value) -> &[Value] {
    message["parts"].as_array().map_or(&[], Vec::as_slice)
}

fn id(of: &Value) -> &str {
    let own = of["id"].as_str();
    own.unwrap_or_else(|| word(&of["info"]["id"]))
}

fn word(value: &Value) -> &str {
    value.as_str().expect("a string")
}
