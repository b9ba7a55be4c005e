//! Small help for rules: evidence, ages in words that do not change every second, answers.

use crate::core::judge::{Answer, Evidence, Finding, Level, Offer};
use crate::core::time::{Span, UnixMs};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// An age in words, and when the words next change.
pub struct Ago {
    /// `8 s`, `12 min`, `2 h 5 min`, `3 d 4 h`.
    pub words: String,
    /// When they change.
    pub until: UnixMs,
}

/// How long ago `then` was: in seconds under a minute, minutes under a day, hours beyond.
pub fn ago(now: UnixMs, then: UnixMs) -> Ago {
    let age = now.since(then).as_ms();
    let unit = unit_of(age);
    let whole = age - age % unit;
    Ago {
        words: Span(whole).words(),
        until: then + Span(whole) + Span(unit),
    }
}

/// How long it is until `then`, and when those words change.
pub fn ahead(now: UnixMs, then: UnixMs) -> Ago {
    let left = then.since(now).as_ms();
    let unit = if left <= 600_000 { 1000 } else { 60_000 };
    let whole = left.saturating_add(unit - 1) / unit * unit;
    Ago {
        words: Span(whole).words(),
        until: then - Span(whole - unit),
    }
}

fn unit_of(age: i64) -> i64 {
    if age < 60_000 {
        1000
    } else if age < 86_400_000 {
        60_000
    } else {
        3_600_000
    }
}

/// Does not apply.
pub fn no(why: impl Into<Cow<'static, str>>) -> Answer {
    Answer::No(why.into())
}

/// Does not apply before `at`, and nothing is suspected yet.
pub fn later(at: UnixMs, why: impl Into<Cow<'static, str>>) -> Answer {
    let why = why.into();
    Answer::Later { at, why }
}

/// Would be `level` at `at`.
pub fn settles(level: Level, at: UnixMs, why: impl Into<Cow<'static, str>>) -> Answer {
    let why = why.into();
    Answer::Settles { level, at, why }
}

/// A finding in the making. The table adds its name, and its offers if it has none yet.
pub struct Found {
    finding: Finding,
    recheck: Option<UnixMs>,
}

/// Begins a finding.
pub fn found(level: Level, since: Option<UnixMs>, text: String) -> Found {
    let finding = Finding {
        name: "",
        level,
        since,
        text,
        evidence: Evidence::new(),
        offers: Vec::new(),
        path: Vec::new(),
    };
    Found {
        finding,
        recheck: None,
    }
}

impl Found {
    /// Adds a fact. What cannot be written as JSON is left out.
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.put(key, value);
        }
        self
    }

    /// Adds a fact, if there is one.
    pub fn with_some(self, key: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    fn put(&mut self, key: &str, value: Value) {
        self.finding.evidence.insert(key.to_owned(), value);
    }

    /// What helps at this stage, instead of the table's offers.
    pub fn offer(mut self, offers: &[Offer]) -> Self {
        self.finding.offers = offers.to_vec();
        self
    }

    /// Its level, text or offers may change then.
    pub fn recheck(mut self, at: impl Into<Option<UnixMs>>) -> Self {
        self.recheck = self.recheck.into_iter().chain(at.into()).min();
        self
    }

    /// The answer.
    pub fn yes(self) -> Answer {
        Answer::Yes {
            finding: self.finding,
            recheck: self.recheck,
        }
    }
}

/// What a person calls a tool call: `bash cargo test`.
pub fn tool_words(tool: &str, subject: &str) -> String {
    if subject.is_empty() {
        tool.to_owned()
    } else {
        format!("{tool} {subject}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_change_when_they_say() {
        for (age, words, left) in [
            (8_400, "8 s", 600),
            (250_000, "4 min", 50_000),
            (90_000_000, "1 d 1 h", 3_600_000),
        ] {
            let now = UnixMs(1_000_000_000);
            let ago = ago(now, now - Span(age));
            assert_eq!(ago.words, words);
            assert_eq!(ago.until, now + Span(left));
        }
        let now = UnixMs(1_000_000_000);
        let left = ahead(now, now + Span(13_400));
        assert_eq!(left.words, "14 s");
        assert_eq!(left.until, now + Span(400));
    }
}
