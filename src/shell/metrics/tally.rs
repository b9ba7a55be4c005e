//! The sessions of one server, counted.
//!
//! What it does: count verdicts and tell the counts, 0 included, so that no series comes and goes
//! with what it counts. What it does not: decide which sessions count, or judge.

use super::encode::Samples;
use super::gather::number;
use super::table as metric;
use crate::core::judge::{Agreement, FAMILY_FINDINGS, Level, RULES, Verdict};
use crate::core::store::{Reported, Server, Session};
use crate::core::time::UnixMs;
use crate::core::wire::AskKind;
use std::collections::BTreeMap;

/// Worst first.
const LEVELS: [Level; 5] = [
    Level::Stuck,
    Level::NeedsYou,
    Level::Watch,
    Level::Ok,
    Level::Unknown,
];
/// Those that need a person.
const URGENT: [Level; 2] = [Level::Stuck, Level::NeedsYou];
const DOING: [&str; 3] = ["working", "at-rest", "settling"];
const REPORTED: [&str; 5] = ["idle", "busy", "retry", "unknown", "other"];

/// Counts of one server.
#[derive(Debug, Default)]
pub(super) struct Tally {
    levels: BTreeMap<Level, usize>,
    doing: BTreeMap<&'static str, usize>,
    reported: BTreeMap<&'static str, usize>,
    disagreeing: usize,
    findings: BTreeMap<(&'static str, Level), usize>,
    /// Since when the oldest leading finding of a level is so; the server's clock.
    oldest: BTreeMap<Level, UnixMs>,
    permissions: usize,
    questions: usize,
    /// When the oldest ask was first seen; the server's clock.
    oldest_ask: Option<UnixMs>,
}

impl Tally {
    pub(super) fn add(&mut self, server: &Server, session: &Session, verdict: &Verdict) {
        *self.levels.entry(verdict.level).or_default() += 1;
        if verdict.level == Level::Ok {
            *self.doing.entry(doing(verdict)).or_default() += 1;
        }
        *self
            .reported
            .entry(reported(&verdict.reported))
            .or_default() += 1;
        self.disagreeing += usize::from(verdict.agreement == Agreement::Disagree);
        for finding in verdict.findings.iter().filter(|it| it.level > Level::Ok) {
            *self
                .findings
                .entry((finding.name, finding.level))
                .or_default() += 1;
        }
        let leading = verdict.leading();
        if let Some((level, since)) = leading.and_then(|it| Some((it.level, it.since?))) {
            let oldest = self.oldest.entry(level).or_insert(since);
            *oldest = since.min(*oldest);
        }
        for pending in server.pending(session) {
            match pending.ask.kind {
                AskKind::Permission => self.permissions += 1,
                AskKind::Question => self.questions += 1,
            }
            let seen = Some(server.server_time(pending.seen_at));
            self.oldest_ask = self.oldest_ask.into_iter().chain(seen).min();
        }
    }

    /// `now`: the server's clock, if it can be read.
    pub(super) fn tell(&self, samples: &mut Samples, name: &str, now: Option<UnixMs>) {
        for level in LEVELS {
            let many = count(&self.levels, &level);
            samples.count(&metric::SESSIONS, &[name, level.word()], many);
        }
        for word in DOING {
            let many = count(&self.doing, &word);
            samples.count(&metric::SESSIONS_OK, &[name, word], many);
        }
        for word in REPORTED {
            let many = count(&self.reported, &word);
            samples.count(&metric::SESSIONS_REPORTED, &[name, word], many);
        }
        let many = number(self.disagreeing);
        samples.count(&metric::SESSIONS_DISAGREEING, &[name], many);
        self.tell_findings(samples, name);
        if let Some(now) = now {
            self.tell_waiting(samples, name, now);
        }
    }

    fn tell_findings(&self, samples: &mut Samples, name: &str) {
        let mut all = self.findings.clone();
        for possible in possible() {
            all.entry(possible).or_default();
        }
        for ((finding, level), many) in all {
            let labels = [name, finding, level.word()];
            samples.count(&metric::SESSIONS_FINDING, &labels, number(many));
        }
    }

    fn tell_waiting(&self, samples: &mut Samples, name: &str, now: UnixMs) {
        let age = |since: Option<UnixMs>| since.map_or(0, |since| now.since(since).as_ms());
        for level in URGENT {
            let age = age(self.oldest.get(&level).copied());
            samples.seconds(&metric::SESSIONS_OLDEST, &[name, level.word()], age);
        }
        for (kind, many) in [
            ("permission", self.permissions),
            ("question", self.questions),
        ] {
            samples.count(&metric::ASKS, &[name, kind], number(many));
        }
        samples.seconds(&metric::ASKS_OLDEST, &[name], age(self.oldest_ask));
    }
}

fn count<K: Ord>(counts: &BTreeMap<K, usize>, key: &K) -> u64 {
    number(counts.get(key).copied().unwrap_or_default())
}

/// Every finding with the levels that its rule gives; those of a family take what lies below.
fn possible() -> impl Iterator<Item = (&'static str, Level)> {
    let levels = [Level::Watch, Level::NeedsYou, Level::Stuck];
    let rules = RULES.iter().flat_map(move |rule| {
        let given = levels
            .into_iter()
            .filter(|it| rule.levels.contains(it.word()));
        given.map(|level| (rule.id, level))
    });
    let family = FAMILY_FINDINGS.iter().map(|(name, _)| {
        let stuck = name.ends_with(Level::Stuck.word());
        (*name, if stuck { Level::Stuck } else { Level::NeedsYou })
    });
    rules.chain(family)
}

fn doing(verdict: &Verdict) -> &'static str {
    match verdict.settling {
        Some(_) => "settling",
        None if verdict.reported.is_running() => "working",
        None => "at-rest",
    }
}

fn reported(reported: &Reported) -> &'static str {
    match reported {
        Reported::Idle => "idle",
        Reported::Busy => "busy",
        Reported::Retry(_) => "retry",
        Reported::Unknown(_) => "unknown",
        Reported::Other(_) => "other",
    }
}
