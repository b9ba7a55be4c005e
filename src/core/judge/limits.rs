//! Every threshold of the judgement, in one table.
//!
//! What it does: name the spans, say what they mean, give the defaults. What it does not: read a
//! configuration; whoever does hands a [`Limits`] in. All spans are [`Span`]s (milliseconds).

use crate::core::judge::tools::ToolKind;
use crate::core::time::Span;
use crate::core::wire::ToolPart;

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
    /// Output that changed within this span means that a tool works. 60 s.
    pub quiet: Span,
    /// `slow-tool`: other tools than bash and MCP are slow from here. 60 s.
    pub slow_tool: Span,
    /// `slow-tool`: a `!shell` command is slow from here. 10 min.
    pub slow_shell: Span,
    /// `possible-permission`: a tool that is younger has most likely just begun. 5 s.
    pub possible_permission: Span,
    /// At rest: how long a finding about the past keeps its level; then it is `watch`. 24 h.
    pub rest_watch: Span,
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
            quiet: Span::secs(60),
            slow_tool: Span::secs(60),
            slow_shell: Span::mins(10),
            possible_permission: Span::secs(5),
            rest_watch: Span::hours(24),
            rest_ok: Span::days(7),
        }
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
