//! What `hung-tool` and `slow-tool` share: the tools that run, since when, and until when each is
//! within its limits.
//!
//! A tool's clock starts with the release of its ask or its first output, where we saw that:
//! OpenCode sets `time.start` before it asks. In 2.x no body shows whether a tool has begun (in 1.x
//! its first output does), so there the clock starts no earlier than our own first look: what ran
//! before may have been the wait for an answer. None runs that has not begun, and nothing is judged
//! while anything is asked.

use super::possible_permission::{breaks, is_broken};
use crate::core::judge::Level;
use crate::core::judge::blind::gap;
use crate::core::judge::facts::Facts;
use crate::core::judge::limits::ToolLimit;
use crate::core::judge::say::{Found, found, tool_words};
use crate::core::judge::tools::{ToolKind, has_not_begun, is_shell};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{AskKind, Dialect, Message, Part, ToolPart, ToolState};

/// A tool that runs.
pub(super) struct Run<'a> {
    pub(super) message: &'a Message,
    pub(super) part: &'a Part,
    pub(super) tool: &'a ToolPart,
    pub(super) kind: ToolKind,
    pub(super) limit: ToolLimit,
    /// From when its limit counts.
    pub(super) begun: UnixMs,
    /// Since when nothing of it changed, as far as we saw.
    pub(super) quiet_since: UnixMs,
    /// The permissions of its project cannot be read: it may wait for one.
    pub(super) may_wait: bool,
}

/// The tools that may be judged by age, or why none may.
pub(super) fn running<'a>(facts: &Facts<'a>) -> Result<Vec<Run<'a>>, &'static str> {
    if !facts.is_busy() {
        return Err("not reported busy");
    }
    let Some(message) = facts.open_answer() else {
        return Err("no answer is open");
    };
    if facts.is_asking() {
        return Err("an ask is pending");
    }
    let shell = is_shell(&facts.session.tail, message);
    let parts = message.parts.iter();
    let runs: Vec<Run> = parts
        .filter_map(|part| run(facts, message, part, shell))
        .collect();
    if runs.is_empty() {
        return Err("no tool runs that could be judged by its age");
    }
    Ok(runs)
}

fn run<'a>(facts: &Facts, message: &'a Message, part: &'a Part, shell: bool) -> Option<Run<'a>> {
    let tool = part.tool().filter(|t| t.state == ToolState::Running)?;
    let view = facts.server.directories.get(&facts.session.info.directory);
    let kind = ToolKind::within(tool, shell, view);
    let judged = !matches!(kind, ToolKind::Task | ToolKind::Question);
    let gap = gap(facts, AskKind::Permission);
    let waits_for_none =
        has_output(tool, kind) || facts.knows_asks(AskKind::Permission) || facts.was_released(tool);
    let may_wait = !waits_for_none && gap.is_some();
    let suspected = may_wait && gap.is_some_and(is_broken) && breaks(facts.server, tool, kind);
    let has_begun = waits_for_none || may_wait && !suspected;
    if !judged || !has_begun || has_not_begun(facts.server, tool, kind) {
        return None;
    }
    let begun = begun(facts, part, tool)?;
    let clock = facts.session.watch.parts.get(&part.id);
    let changed = clock.and_then(|clock| clock.changed_at);
    let quiet_since = changed.map_or(begun, |at| facts.at(at).max(begun));
    Some(Run {
        message,
        part,
        tool,
        kind,
        limit: facts.limits.tool_limit(tool, kind),
        begun,
        quiet_since,
        may_wait,
    })
}

/// A command that put something out, or a person's own, surely waits for no permission.
fn has_output(tool: &ToolPart, kind: ToolKind) -> bool {
    kind == ToolKind::Shell || (kind == ToolKind::Bash && tool.output.present)
}

fn begun(facts: &Facts, part: &Part, tool: &ToolPart) -> Option<UnixMs> {
    let watch = &facts.session.watch;
    let released = tool.call.as_ref().and_then(|call| watch.released.get(call));
    let clock = watch.parts.get(&part.id);
    let output = clock.and_then(|clock| clock.output_began.as_ref());
    let untold = facts.server.dialect == Some(Dialect::V2);
    let looked = clock.filter(|_| untold).map(|clock| &clock.first_seen);
    let seen = [released, output, looked].into_iter().flatten();
    Some(seen.map(|at| facts.at(*at)).fold(tool.start?, UnixMs::max))
}

impl Run<'_> {
    /// When it is past its limit with no new output.
    pub(super) fn hung_at(&self, quiet: Span) -> Option<UnixMs> {
        let at = self.begun + self.limit.span()?;
        Some(self.after_output(at, quiet))
    }

    /// Output that we saw change gives it `quiet` more.
    pub(super) fn after_output(&self, at: UnixMs, quiet: Span) -> UnixMs {
        if self.quiet_since > self.begun {
            at.max(self.quiet_since + quiet)
        } else {
            at
        }
    }

    /// A finding about it, with the facts.
    pub(super) fn found(&self, now: UnixMs, level: Level, text: String) -> Found {
        let text = if self.may_wait {
            format!("{text}; or it waits for a permission that cannot be read")
        } else {
            text
        };
        found(level, Some(self.begun), text)
            .with("message", &self.message.id)
            .with("part", &self.part.id)
            .with("tool", &self.tool.tool)
            .with("command", tool_words(&self.tool.tool, &self.tool.subject))
            .with_some("limit_ms", self.limit.limit)
            .with("limit_assumed", self.limit.assumed)
            .with("age_ms", now.since(self.begun))
            .with("quiet_ms", now.since(self.quiet_since))
    }
}
