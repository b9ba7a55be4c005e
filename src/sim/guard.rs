//! What no path of the program may ever send: noticed here, so that every test that uses a simulated
//! server asserts it.
//!
//! What it does: tell a request that would lose something: PATCH or DELETE of a part, or DELETE of a
//! message or session, while that session runs; and any write of configuration or credentials, which
//! aborts runs or stays for good. What it does not: refuse it; the server answers as the real one does.
//! Invariant: a test whose request is noticed fails when its [`super::Sim`] is dropped, unless it said
//! that it means to.

use super::world::World;

/// First words of paths that hold configuration or credentials: all that is not GET writes them.
const SETTINGS: [&str; 6] = ["auth", "config", "global", "mcp", "project", "provider"];

/// What was noticed on one server.
#[derive(Debug, Default)]
pub(crate) struct Noticed {
    /// In words, oldest first.
    pub(crate) requests: Vec<String>,
    /// A test means to send them.
    pub(crate) expected: bool,
}

/// Why this request must not be sent now; `None` where it may.
pub(crate) fn violation(w: &World, method: &str, path: &str) -> Option<String> {
    let path = path.split('?').next().unwrap_or_default();
    let words: Vec<&str> = path.split('/').filter(|word| !word.is_empty()).collect();
    let why = match words.as_slice() {
        [first, ..] if SETTINGS.contains(first) && !is_read(method) => "writes configuration",
        ["session", id, "message", _, "part", _] if changes(method) && runs(w, id) => {
            "changes a part of a session that runs"
        }
        ["session", id, "message", _] if method == "DELETE" && runs(w, id) => {
            "deletes a message of a session that runs"
        }
        ["session", id] if method == "DELETE" && runs(w, id) => "deletes a session that runs",
        _ => return None,
    };
    Some(format!("{method} {path} {why}"))
}

fn is_read(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

fn changes(method: &str) -> bool {
    matches!(method, "PATCH" | "DELETE" | "PUT")
}

/// Busy, or waiting for a retry.
fn runs(w: &World, session: &str) -> bool {
    w.live.statuses.contains_key(session)
}
