//! How many requests went to a server, by what they were about.
//!
//! What it does: count, shared by all copies of a client. What it does not: count answers, or tell
//! one project or session from another.

use reqwest::Method;
use std::sync::atomic::{AtomicU64, Ordering};

/// What requests are about, in the order of the counts.
const ABOUT: [&str; 8] = [
    "identity", "events", "sessions", "status", "asks", "messages", "other", "acting",
];

/// Counts of requests that were sent, answered or not.
#[derive(Debug, Default)]
pub struct Sent([AtomicU64; ABOUT.len()]);

impl Sent {
    /// Of each kind, by its word: how many.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0.iter().map(|it| it.load(Ordering::Relaxed));
        ABOUT.into_iter().zip(counts)
    }

    pub(super) fn note(&self, method: &Method, path: &[&str]) {
        let about = about(method, path);
        let place = ABOUT.iter().position(|it| *it == about);
        if let Some(count) = place.and_then(|place| self.0.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn about(method: &Method, path: &[&str]) -> &'static str {
    if method != Method::GET {
        return "acting";
    }
    let rest = match path {
        ["api" | "global" | "experimental", rest @ ..] => rest,
        all => all,
    };
    match rest {
        ["event"] => "events",
        ["info" | "health" | "path"] => "identity",
        ["session", "status" | "active"] => "status",
        ["permission" | "question" | "form", ..] => "asks",
        ["session", _, "message", ..] => "messages",
        ["session" | "project", ..] => "sessions",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_for_what_it_is_about() {
        let cases = [
            (Method::GET, "global/event", "events"),
            (Method::GET, "api/event", "events"),
            (Method::GET, "api/info", "identity"),
            (Method::GET, "session/status", "status"),
            (Method::GET, "api/session/active", "status"),
            (Method::GET, "api/permission/request", "asks"),
            (Method::GET, "question", "asks"),
            (Method::GET, "session/ses_1/message", "messages"),
            (Method::GET, "session/ses_1", "sessions"),
            (Method::GET, "experimental/session", "sessions"),
            (Method::GET, "mcp", "other"),
            (Method::POST, "session/ses_1/abort", "acting"),
        ];
        let sent = Sent::default();
        for (method, path, want) in &cases {
            let path: Vec<&str> = path.split('/').collect();
            assert_eq!(about(method, &path), *want, "{path:?}");
            sent.note(method, &path);
        }
        let all: u64 = sent.counts().map(|(_, many)| many).sum();
        assert_eq!(all, cases.len() as u64, "each is counted once: {sent:?}");
    }
}
