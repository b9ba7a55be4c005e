//! `hung-tool`: a tool runs past its own limit and puts nothing out. What looks the same: output
//! that still changes, a long test inside its timeout, a pending ask, a tool that has just begun
//! after a long ask, a child that works (tasks are never judged by age).

use super::Rule;
use super::running::{Run, running};
use crate::core::judge::say::{ago, later, no};
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::UnixMs;

pub(super) const RULE: Rule = Rule {
    id: "hung-tool",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "stuck",
    meaning: "A tool has run past its own limit and puts nothing out.",
    offers: &[Offer::Abort, Offer::Export, Offer::Reset],
    check,
};

fn check(facts: &Facts) -> Answer {
    let runs = match running(facts) {
        Ok(runs) => runs,
        Err(why) => return no(why),
    };
    let quiet = facts.limits.quiet;
    let first = runs
        .iter()
        .filter_map(|run| Some((run.hung_at(quiet)?, run)))
        .min_by_key(|(at, _)| *at);
    match first {
        None => no("a command of a person has no limit"),
        Some((at, _)) if facts.now < at => later(at, "within its limit"),
        Some((_, run)) => hung(facts.now, run),
    }
}

fn hung(now: UnixMs, run: &Run) -> Answer {
    let age = ago(now, run.begun);
    let quiet = ago(now, run.quiet_since);
    let limit = run.limit.limit.unwrap_or_default();
    let assumed = if run.limit.assumed { ", assumed" } else { "" };
    let silence = if run.quiet_since > run.begun && run.tool.output.bytes > 0 {
        format!(", no output for {}", quiet.words)
    } else {
        String::new()
    };
    let text = format!(
        "{} has run {}, past its limit of {limit}{assumed}{silence}",
        run.tool.tool, age.words
    );
    run.found(now, Level::Stuck, text)
        .recheck(age.until)
        .recheck(quiet.until)
        .yes()
}
