//! The table of thresholds: the key of each in `[limits]` of the configuration, what it means, and
//! where it lives in [`Limits`].
//!
//! What it does: let a configuration set them and the README list them, so that neither can forget
//! one. What it does not: read a file. Invariant: every field of [`Limits`] has one row (a test
//! holds that).

use crate::core::judge::limits::{Limits, Stages};
use crate::core::time::Span;

/// Where a threshold lives.
#[derive(Debug, Clone, Copy)]
pub enum Slot {
    /// A span of time.
    Span(fn(&mut Limits) -> &mut Span),
    /// A span to watch from and one to be stuck from.
    Stages(fn(&mut Limits) -> &mut Stages),
    /// How many.
    Count(fn(&mut Limits) -> &mut u32),
}

/// One threshold.
#[derive(Debug, Clone, Copy)]
pub struct LimitRow {
    /// Its key below `[limits]`, as in the configuration.
    pub key: &'static str,
    /// The finding (or the matter) that it belongs to.
    pub of: &'static str,
    /// What it means; fits after "how long" or "how many".
    pub meaning: &'static str,
    /// Where it lives.
    pub slot: Slot,
}

impl LimitRow {
    /// Its value as a configuration would have it.
    pub fn value(&self, limits: &Limits) -> String {
        let mut limits = limits.clone();
        match self.slot {
            Slot::Span(slot) => {
                let from = if self.key == "tool.bash" {
                    AFTER_TIMEOUT
                } else {
                    ""
                };
                format!("\"{from}{}\"", slot(&mut limits).exact())
            }
            Slot::Count(slot) => slot(&mut limits).to_string(),
            Slot::Stages(slot) => {
                let Stages { watch, stuck } = *slot(&mut limits);
                let (watch, stuck) = (watch.exact(), stuck.exact());
                format!("{{ watch = \"{watch}\", stuck = \"{stuck}\" }}")
            }
        }
    }
}

/// How the limit of a bash call is written: it counts from the call's own timeout.
pub const AFTER_TIMEOUT: &str = "tool-timeout+";

macro_rules! rows {
    ($($slot:ident $field:ident $(as $key:literal)? : $of:literal, $meaning:literal;)+) => {
        &[$(LimitRow {
            key: rows!(@key $field $($key)?),
            of: $of,
            meaning: $meaning,
            slot: Slot::$slot(|limits| &mut limits.$field),
        }),+]
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

/// Every threshold, in the order of the rules.
pub static LIMITS: &[LimitRow] = rows! {
    Span possible_permission: "possible-permission", "a tool that may wait for a permission which cannot be read is taken as just begun";
    Span lost_ask: "lost-ask", "a question may run before it is listed";
    Span ghost_ask: "ghost-ask", "an ask may be listed after its tool call has ended";
    Span ghost_ask_idle: "ghost-ask", "an ask may be listed while its session is idle";
    Span retry_patience: "retrying", "a provider may fail before it needs a person";
    Count retry_attempts: "retrying", "attempts may fail before it needs a person";
    Span retry_far: "retry-far", "the next attempt may lie ahead";
    Span retry_grace: "retry-overdue", "a planned attempt may be late";
    Span stale_busy: "stale-busy", "the report may lag behind the end of a turn";
    Stages silent_stream: "silent-stream", "open text or reasoning may be silent";
    Stages stalled_start: "stalled-start", "an answer may have nothing in it";
    Stages stalled_arguments: "stalled-arguments", "a tool call's arguments may take";
    Stages stalled_between_steps: "stalled-between-steps", "the next step may take to begin";
    Span compaction_slow: "compaction-slow", "a summary may take";
    Count compaction_loop: "compaction-loop", "summaries in a row are a loop";
    Count runaway_unknown: "runaway", "completed answers of finish `unknown` to one prompt are a loop";
    Count runaway_stop: "runaway", "completed answers of finish `stop` to one prompt are a loop";
    Count runaway_same_watch: "runaway", "equal tool calls with equal output in a row are watched";
    Count runaway_same_stuck: "runaway", "equal tool calls with equal output in a row are a loop";
    Span bash_assumed: "hung-tool", "a bash call may run that names no timeout (OpenCode's own default, so assumed)";
    Span bash_grace as "tool.bash": "hung-tool", "a bash call may take to end after its timeout";
    Span mcp as "tool.\"mcp:*\"": "hung-tool", "a tool of an MCP server may run";
    Span tool as "tool.default": "hung-tool", "any other tool may run; `tool.NAME` is for one by its name";
    Span quiet: "hung-tool, slow-tool", "output that changed counts as work";
    Span slow_tool: "slow-tool", "other tools than bash and MCP may run";
    Span slow_shell: "slow-tool", "a `!shell` command may run";
    Span lost_subagent_result: "lost-subagent-result", "a parent may take to notice the end of its child";
    Span abort_ignored: "abort-ignored", "an abort may take";
    Span interrupted: "interrupted", "an idle report must stand when this server surely ran it";
    Span elsewhere: "interrupted", "an open answer may be silent that may run in another OpenCode";
    Span elsewhere_writing: "interrupted", "text, reasoning, arguments or a blank answer may be open in another OpenCode";
    Span unanswered: "unanswered-prompt", "a prompt may stay without an answer";
    Span never_started: "never-started", "a message may take to come after an error";
    Span child_orphan: "child-orphan", "a child may go on after its parent has ended";
    Span mass_abort: "mass-abort", "aborts may lie apart that have one cause";
    Count mass_abort_sessions: "mass-abort", "sessions make it one";
    Span after_jump: "all of them", "what rests on ages settles after a clock has jumped";
    Span rest_after: "findings at rest", "a finding about the past keeps its level; then it is watch";
    Span rest_ok: "findings at rest", "a finding about the past is more than named";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threshold_has_one_row() {
        let named = format!("{:?}", Limits::default());
        let fields = named.matches(": Span(").count() - 2 * named.matches("Stages {").count();
        let counts = LIMITS
            .iter()
            .filter(|row| matches!(row.slot, Slot::Count(_)));
        let others = LIMITS.len() - counts.count();
        assert_eq!(
            others,
            fields + named.matches("Stages {").count(),
            "{named}"
        );
        let fields = LIMITS.iter().filter(|row| !row.key.starts_with("tool."));
        for row in fields {
            assert!(named.contains(&format!("{}: ", row.key)), "{}", row.key);
        }
    }

    #[test]
    fn values_read_as_a_configuration() {
        let value = |key: &str| {
            let row = LIMITS.iter().find(|row| row.key == key);
            row.map(|row| row.value(&Limits::default()))
        };
        assert_eq!(value("stale_busy").as_deref(), Some("\"15s\""));
        assert_eq!(value("retry_attempts").as_deref(), Some("5"));
        let stages = "{ watch = \"3m\", stuck = \"10m\" }";
        assert_eq!(value("silent_stream").as_deref(), Some(stages));
    }
}
