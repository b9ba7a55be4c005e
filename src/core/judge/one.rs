//! The judgement of one session, without its family.
//!
//! What it does: ask every rule, let findings rest, order them. What it does not: look at
//! descendants (`family.rs`). Invariant: a session whose report or messages are not known, or whose
//! tool may wait for an ask that cannot be read, is never `ok`, unless it has rested for longer than anything would be said of it anyway.

use crate::core::id::SessionKey;
use crate::core::judge::elsewhere::told_by;
use crate::core::judge::facts::Facts;
use crate::core::judge::rules::{NOT_WATCHED, RULES, Rule};
use crate::core::judge::say::no;
use crate::core::judge::{
    Answer, Finding, Level, Settling, Tried, Verdict, agreement, blind, rest,
};
use crate::core::store::Reported;
use crate::core::time::UnixMs;
use crate::core::wire::Ask;
use std::borrow::Cow;

/// Of an archived session only this is said: what is still on the server's list concerns who works
/// there now.
const LISTED: &str = "ghost-ask";

/// Judges one session. With `tried`, every rule's answer is kept there.
pub(super) fn judge(facts: &Facts, tried: Option<&mut Vec<Tried>>) -> Verdict {
    let mut bench = Bench {
        tried,
        ..Bench::default()
    };
    if let Some(why) = not_judged(facts) {
        bench.pass(why);
        bench.blind = unknown_type(facts);
        return verdict(facts, bench, Level::Unknown);
    }
    let archived = is_archived(facts);
    for rule in RULES {
        let answer = if archived && rule.id != LISTED {
            no("archived")
        } else {
            rule.ask(facts)
        };
        bench.hear(facts, rule, answer);
    }
    let quiet = if archived {
        Level::Ok
    } else {
        quiet_level(facts, &mut bench)
    };
    verdict(facts, bench, quiet)
}

/// Why no rule is asked about a session: its level is unknown then.
fn not_judged(facts: &Facts) -> Option<&'static str> {
    match &facts.reported {
        Reported::Unknown(_) => Some("its reported status is not current"),
        Reported::Other(_) => Some("its reported status is of an unknown type"),
        _ => None,
    }
}

/// A report that is known, but not what it means.
fn unknown_type(facts: &Facts) -> Option<Cow<'static, str>> {
    match &facts.reported {
        Reported::Other(name) => {
            Some(format!("its reported status is of an unknown type: {name}").into())
        }
        _ => None,
    }
}

/// Archived, and nothing runs.
fn is_archived(facts: &Facts) -> bool {
    facts.session.info.archived.is_some() && facts.is_idle()
}

/// The level of a session that no rule found anything about.
fn quiet_level(facts: &Facts, bench: &mut Bench) -> Level {
    let unread = blind::to_messages(facts);
    if unread.is_some() && facts.is_idle() {
        let at = facts.session.info.updated + facts.limits.rest_ok;
        if facts.now >= at {
            return Level::Ok;
        }
        bench.recheck(at);
    }
    bench.blind = unread.or_else(|| blind::to_asks(facts));
    match bench.blind {
        Some(_) => Level::Unknown,
        None => Level::Ok,
    }
}

#[derive(Default)]
struct Bench<'a> {
    tried: Option<&'a mut Vec<Tried>>,
    findings: Vec<Finding>,
    settling: Vec<Settling>,
    blind: Option<Cow<'static, str>>,
    note: Option<Cow<'static, str>>,
    recheck: Option<UnixMs>,
}

impl Bench<'_> {
    /// No rule is asked.
    fn pass(&mut self, why: &'static str) {
        if let Some(tried) = &mut self.tried {
            tried.extend(RULES.iter().map(|rule| Tried {
                rule: rule.id,
                answer: no(why),
            }));
        }
    }

    fn recheck(&mut self, at: impl Into<Option<UnixMs>>) {
        self.recheck = self.recheck.into_iter().chain(at.into()).min();
    }

    fn hear(&mut self, facts: &Facts, rule: &Rule, mut answer: Answer) {
        self.take_note(facts, rule, &answer);
        match &mut answer {
            Answer::No(_) => {}
            Answer::Later { at, .. } => self.recheck(*at),
            Answer::Settles { level, at, .. } => {
                let at = *at;
                self.settle(facts, rule, level, at);
            }
            Answer::Yes { finding, recheck } => {
                let at = *recheck;
                self.find(facts, rule, finding, at);
            }
        }
        // Only `explain` keeps answers: a finding is not copied for the others.
        if let Some(tried) = &mut self.tried {
            tried.push(Tried {
                rule: rule.id,
                answer: answer.clone(),
            });
        }
        if let Answer::Yes { finding, .. } = answer {
            self.findings.push(finding);
        }
    }

    /// What is worth a word although nothing is wrong.
    fn take_note(&mut self, facts: &Facts, rule: &Rule, answer: &Answer) {
        let open = facts.is_idle() && facts.activity.state.is_working();
        self.note = match answer {
            Answer::No(why) if open && rule.id == "interrupted" => Some(why.clone()),
            Answer::Later { why, .. } if why == NOT_WATCHED => Some(why.clone()),
            _ => return,
        };
    }

    fn settle(&mut self, facts: &Facts, rule: &Rule, level: &mut Level, at: UnixMs) {
        self.recheck(at);
        if rule.at_rest {
            let (decayed, next) = rest::decayed(facts, *level, facts.last_changed());
            *level = decayed;
            self.recheck(next);
        }
        if *level > Level::Ok {
            self.settling.push(Settling {
                name: rule.id,
                level: *level,
                at,
            });
        }
    }

    fn find(&mut self, facts: &Facts, rule: &Rule, finding: &mut Finding, at: Option<UnixMs>) {
        let rests = rule.at_rest.then(|| rest::decay(facts, finding)).flatten();
        self.recheck(at);
        self.recheck(rests);
    }
}

/// Most severe first, then oldest, then by name.
pub(super) fn order(findings: &mut [Finding]) {
    findings.sort_by_key(|f| {
        (
            std::cmp::Reverse(f.level),
            f.since.unwrap_or_default(),
            f.name,
        )
    });
}

fn verdict(facts: &Facts, bench: Bench, quiet: Level) -> Verdict {
    let mut findings = bench.findings;
    order(&mut findings);
    // A finding of level ok says nothing of what is not known.
    let counts = findings.first().filter(|first| first.level > Level::Ok);
    let level = counts.map_or(quiet, |first| first.level);
    let settling = bench
        .settling
        .into_iter()
        .filter(|s| s.level > level)
        .min_by_key(|s| (std::cmp::Reverse(s.level), s.at));
    let told = !findings.is_empty() || settling.is_some();
    let key = SessionKey::new(facts.server_id, facts.session.info.id.clone());
    Verdict {
        told_by: told_by(facts.store, &key),
        key,
        level,
        reported: facts.reported.clone(),
        activity: facts.activity.clone(),
        agreement: agreement::compare(&facts.reported, facts.activity.state),
        findings,
        settling,
        asks: asks(facts),
        blind: bench.blind.filter(|_| level == Level::Unknown),
        note: bench.note.filter(|_| !told),
        recheck: bench.recheck.filter(|at| *at > facts.now),
    }
}

/// Every listed ask, ghosts too: they can be dismissed. In the order of their ids.
fn asks(facts: &Facts) -> Vec<Ask> {
    let mut asks: Vec<Ask> = facts.session.asks.iter().map(|p| p.ask.clone()).collect();
    asks.sort_by(|a, b| a.id.cmp(&b.id));
    asks
}
