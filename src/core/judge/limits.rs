//! Every threshold of the judgement, in one table.
//!
//! What it does: name the spans, say what they mean, give the defaults. What it does not: read a
//! configuration; whoever does hands a [`Limits`] in. All spans are [`Span`]s (milliseconds).

use crate::core::judge::tools::ToolKind;
use crate::core::time::Span;
use crate::core::wire::ToolPart;
use std::collections::BTreeMap;

/// Thresholds. `Limits::default()` is the documented behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `stale-busy`: how long the report may lag behind the end of a turn. 15 s.
    pub stale_busy: Span,
    /// `interrupted`: how long the idle report must stand when this server surely ran it. 10 s.
    pub interrupted: Span,
    /// `interrupted`: silence before an open answer is named that may run in another OpenCode. 2 min.
    pub elsewhere: Span,
    /// `interrupted`: after it, open text, reasoning, arguments or a blank answer is taken as cut off. 30 min.
    pub elsewhere_writing: Span,
    /// `unanswered-prompt`: how long a prompt may stay without an answer. 20 s.
    pub unanswered: Span,
    /// `retry-overdue`: how long after its planned time a retry may begin. 10 s.
    pub retry_grace: Span,
    /// `retrying`: needs a person after this long without a break. 10 min.
    pub retry_patience: Span,
    /// `retrying`: needs a person from this attempt on. 5.
    pub retry_attempts: u32,
    /// The limit of a bash call that names none (OpenCode's own default, so assumed). 120 s.
    pub bash_assumed: Span,
    /// `hung-tool`: how much longer than its limit a bash call may take to end. 30 s.
    pub bash_grace: Span,
    /// `hung-tool`: limit of MCP tools. 5 min.
    pub mcp: Span,
    /// `hung-tool`: limit of all other tools. 10 min.
    pub tool: Span,
    /// `hung-tool`: limits of single tools by their name; they win over the three above. None.
    pub tool_named: BTreeMap<String, Span>,
    /// Output that changed within this span means that a tool works. 60 s.
    pub quiet: Span,
    /// `slow-tool`: other tools than bash and MCP are slow from here. 60 s.
    pub slow_tool: Span,
    /// `slow-tool`: a `!shell` command is slow from here. 10 min.
    pub slow_shell: Span,
    /// `possible-permission`: a tool that is younger has most likely just begun. 5 s.
    pub possible_permission: Span,
    /// `never-started`: how long after an error its message may still come. 2 s.
    pub never_started: Span,
    /// `silent-stream`: silence of open text or reasoning that we watched. 3 min, 10 min.
    pub silent_stream: Stages,
    /// `stalled-start`: an answer with nothing in it, or a prompt that is not yet answered. 60 s, 10 min.
    pub stalled_start: Stages,
    /// `stalled-arguments`: a tool call whose arguments do not end. 3 min, 10 min.
    pub stalled_arguments: Stages,
    /// `stalled-between-steps`: a step has ended and the next does not begin. 30 s, 2 min.
    pub stalled_between_steps: Stages,
    /// `ghost-ask`: how long an ask may be listed after its tool call has ended. 5 s.
    pub ghost_ask: Span,
    /// `ghost-ask`: how long an ask may be listed while its session is idle. 2 s.
    pub ghost_ask_idle: Span,
    /// `lost-ask`: how soon after its start a question is listed. 10 s.
    pub lost_ask: Span,
    /// `retry-far`: a next attempt that lies further ahead needs a person. 10 min.
    pub retry_far: Span,
    /// `runaway`: so many completed answers of finish `unknown` to one prompt. 5.
    pub runaway_unknown: u32,
    /// `runaway`: so many completed answers of finish `stop` to one prompt. 3.
    pub runaway_stop: u32,
    /// `runaway`: the same tool, input and output so many times in a row: watch. 5.
    pub runaway_same_watch: u32,
    /// `runaway`: the same so many times in a row: stuck. 10.
    pub runaway_same_stuck: u32,
    /// `compaction-loop`: so many summaries without a normal answer between them. 3.
    pub compaction_loop: u32,
    /// `compaction-slow`: how long a summary may take. 5 min.
    pub compaction_slow: Span,
    /// `lost-subagent-result`: how long a parent may take to notice the end of its child. 30 s.
    pub lost_subagent_result: Span,
    /// `abort-ignored`: how long an abort may take. 10 s.
    pub abort_ignored: Span,
    /// `child-orphan`: how long a child may go on after its parent has ended. 30 s.
    pub child_orphan: Span,
    /// `mass-abort`: aborts so close to each other, and to the disposal, have one cause. 1 s.
    pub mass_abort: Span,
    /// `mass-abort`: so many sessions of one directory. 3.
    pub mass_abort_sessions: u32,
    /// After a clock jumped, what rests on ages settles for so long. 2 min.
    pub after_jump: Span,
    /// At rest: how long a finding about the past keeps its level; then it is `watch`. 24 h.
    pub rest_after: Span,
    /// At rest: from here it is only named, at level `ok`. 7 d. Older sessions need no messages read.
    pub rest_ok: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stale_busy: Span::secs(15),
            interrupted: Span::secs(10),
            elsewhere: Span::mins(2),
            elsewhere_writing: Span::mins(30),
            unanswered: Span::secs(20),
            retry_grace: Span::secs(10),
            retry_patience: Span::mins(10),
            retry_attempts: 5,
            bash_assumed: Span::secs(120),
            bash_grace: Span::secs(30),
            mcp: Span::mins(5),
            tool: Span::mins(10),
            tool_named: BTreeMap::new(),
            quiet: Span::secs(60),
            slow_tool: Span::secs(60),
            slow_shell: Span::mins(10),
            possible_permission: Span::secs(5),
            never_started: Span::secs(2),
            silent_stream: Stages::of(Span::mins(3), Span::mins(10)),
            stalled_start: Stages::of(Span::secs(60), Span::mins(10)),
            stalled_arguments: Stages::of(Span::mins(3), Span::mins(10)),
            stalled_between_steps: Stages::of(Span::secs(30), Span::mins(2)),
            ghost_ask: Span::secs(5),
            ghost_ask_idle: Span::secs(2),
            lost_ask: Span::secs(10),
            retry_far: Span::mins(10),
            runaway_unknown: 5,
            runaway_stop: 3,
            runaway_same_watch: 5,
            runaway_same_stuck: 10,
            compaction_loop: 3,
            compaction_slow: Span::mins(5),
            lost_subagent_result: Span::secs(30),
            abort_ignored: Span::secs(10),
            child_orphan: Span::secs(30),
            mass_abort: Span::secs(1),
            mass_abort_sessions: 3,
            after_jump: Span::mins(2),
            rest_after: Span::hours(24),
            rest_ok: Span::days(7),
        }
    }
}

/// A span after which something is watched, and one after which it is taken as stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stages {
    /// From here: watch.
    pub watch: Span,
    /// From here: stuck. Not before `watch`.
    pub stuck: Span,
}

impl Stages {
    /// The two spans.
    pub const fn of(watch: Span, stuck: Span) -> Self {
        Self { watch, stuck }
    }
}

/// How long a tool call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolLimit {
    /// `None`: never judged by age (task, question, `!shell`).
    pub limit: Option<Span>,
    /// Added before it counts as passed.
    pub grace: Span,
    /// The call does not name it: a default was taken.
    pub assumed: bool,
}

impl ToolLimit {
    const NEVER: ToolLimit = ToolLimit {
        limit: None,
        grace: Span::ZERO,
        assumed: false,
    };

    /// Limit and grace together: what must pass.
    pub fn span(self) -> Option<Span> {
        self.limit.map(|limit| limit + self.grace)
    }
}

impl Limits {
    /// The limit of a call. A bash `timeout` that is not positive is ignored.
    pub fn tool_limit(&self, tool: &ToolPart, kind: ToolKind) -> ToolLimit {
        let fixed = |limit| ToolLimit {
            limit: Some(limit),
            grace: Span::ZERO,
            assumed: true,
        };
        match kind {
            ToolKind::Task | ToolKind::Question | ToolKind::Shell => ToolLimit::NEVER,
            _ if self.tool_named.contains_key(&tool.tool) => ToolLimit {
                assumed: false,
                ..fixed(self.tool_named[&tool.tool])
            },
            ToolKind::Bash => self.bash_limit(tool),
            ToolKind::Mcp => fixed(self.mcp),
            ToolKind::Other => fixed(self.tool),
        }
    }

    fn bash_limit(&self, tool: &ToolPart) -> ToolLimit {
        let named = tool.timeout_ms.filter(|ms| *ms > 0).map(Span);
        ToolLimit {
            limit: Some(named.unwrap_or(self.bash_assumed)),
            grace: self.bash_grace,
            assumed: named.is_none(),
        }
    }
}
