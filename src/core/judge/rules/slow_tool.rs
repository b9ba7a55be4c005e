//! `slow-tool`: a tool takes long, within its limit: bash and MCP past half of it with no new
//! output for a minute, others past a minute, a `!shell` past ten. The look-alikes are those of
//! `hung-tool`.

use super::Rule;
use super::running::{Run, running};
use crate::core::judge::limits::Limits;
use crate::core::judge::say::{ago, later, no, tool_words};
use crate::core::judge::tools::ToolKind;
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::time::{Span, UnixMs};

pub(super) const RULE: Rule = Rule {
    id: "slow-tool",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "watch",
    meaning: "A tool takes long and puts nothing new out; it is still within its limit.",
    offers: &[Offer::Wait, Offer::Abort, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    let runs = match running(facts) {
        Ok(runs) => runs,
        Err(why) => return no(why),
    };
    let quiet = facts.limits.quiet;
    let hung = |run: &Run| run.hung_at(quiet).is_some_and(|at| facts.now >= at);
    if runs.iter().any(hung) {
        return no("past its limit: hung-tool");
    }
    let first = runs
        .iter()
        .map(|run| (slow_at(facts.limits, run), run))
        .min_by_key(|(at, _)| *at);
    match first {
        None => no("no tool runs"),
        Some((at, _)) if facts.now < at => later(at, "not slow yet"),
        Some((_, run)) => slow(facts, run),
    }
}

fn slow_at(limits: &Limits, run: &Run) -> UnixMs {
    let half = Span(run.limit.limit.unwrap_or_default().as_ms() / 2);
    match run.kind {
        ToolKind::Bash | ToolKind::Mcp => (run.begun + half).max(run.quiet_since + limits.quiet),
        ToolKind::Shell => run.begun + limits.slow_shell,
        _ => run.begun + limits.slow_tool,
    }
}

fn slow(facts: &Facts, run: &Run) -> Answer {
    let age = ago(facts.now, run.begun);
    let quiet = ago(facts.now, run.quiet_since);
    let what = tool_words(&run.tool.tool, &run.tool.subject);
    let text = if run.quiet_since > run.begun && run.tool.output.bytes > 0 {
        format!("{what}, for {}, last output {} ago", age.words, quiet.words)
    } else {
        format!("{what}, for {}", age.words)
    };
    let mut found = run
        .found(facts.now, Level::Watch, text)
        .recheck(age.until)
        .recheck(quiet.until);
    if let Some(at) = run.hung_at(facts.limits.quiet) {
        found = found.recheck(at);
    }
    found.yes()
}
