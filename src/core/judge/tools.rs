//! What kind of tool a call is, and whether it has begun.
//!
//! What it does: tell a model's bash from a person's `!shell`, MCP tools from built-in ones. What
//! it does not: know any limit. Facts about names and keys were measured on OpenCode 1.18.33; 2.x
//! calls bash `shell` and task `subagent`.

use crate::core::store::{DirectoryView, Server, Tail};
use crate::core::wire::{Dialect, Message, PartBody, ToolPart, ToolState};

/// Tools that OpenCode brings along (1.18.33).
pub const BUILT_IN: [&str; 14] = [
    "invalid",
    "question",
    "bash",
    "read",
    "glob",
    "grep",
    "edit",
    "write",
    "task",
    "webfetch",
    "todowrite",
    "websearch",
    "skill",
    "apply_patch",
];

/// How the synthetic prompt of a `!shell` command begins. Its words tell it, marked or not.
pub const SHELL_PROMPT: &str = "The following tool was executed by the user";

/// Kinds of tools that have limits of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolKind {
    /// A bash call of the model.
    Bash,
    /// A command that a person ran with `!`; it has no limit.
    Shell,
    /// A subagent.
    Task,
    /// A question to the person.
    Question,
    /// `<server>_<tool>`.
    Mcp,
    /// The rest: built-in and custom tools.
    Other,
}

impl ToolKind {
    /// Which kind a call is. `shell` tells whether its message is a `!shell` ([`is_shell`]).
    pub fn of(tool: &ToolPart, shell: bool) -> ToolKind {
        match tool.tool.as_str() {
            "bash" | "shell" if shell => ToolKind::Shell,
            "bash" | "shell" => ToolKind::Bash,
            "task" | "subagent" => ToolKind::Task,
            "question" => ToolKind::Question,
            name if may_be_mcp(name) => ToolKind::Mcp,
            _ => ToolKind::Other,
        }
    }

    /// As [`ToolKind::of`], where the MCP servers of the directory are known: what is of none of
    /// them is a custom tool.
    pub fn within(tool: &ToolPart, shell: bool, view: Option<&DirectoryView>) -> ToolKind {
        let kind = ToolKind::of(tool, shell);
        match view.and_then(|view| view.mcp.as_ref()) {
            Some(servers) if kind == ToolKind::Mcp && !is_of_any(&tool.tool, servers) => {
                ToolKind::Other
            }
            _ => kind,
        }
    }
}

/// Whether a name may be `<server>_<tool>`. Only the list of the directory's MCP servers tells:
/// a custom tool may be called so as well.
pub fn may_be_mcp(tool: &str) -> bool {
    tool.contains('_') && !BUILT_IN.contains(&tool)
}

/// Names of MCP tools begin with that of their server, in which anything but letters, digits, `_`
/// and `-` is `_` (1.18.33).
fn is_of_any(tool: &str, servers: &[String]) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    servers.iter().any(|server| {
        let prefix: String = server
            .chars()
            .map(|c| if plain(c) { c } else { '_' })
            .collect();
        tool.strip_prefix(&prefix)
            .is_some_and(|rest| rest.starts_with('_'))
    })
}

/// Whether an answer is a `!shell` command: its prompt is the synthetic text. Where the prompt is
/// not known, an input of `command` alone tells.
pub fn is_shell(tail: &Tail, answer: &Message) -> bool {
    let prompt = match &answer.parent {
        Some(id) => tail.message(id),
        None => tail
            .messages
            .iter()
            .rev()
            .find(|m| m.is_user() && m.created <= answer.created),
    };
    match prompt {
        Some(prompt) => prompt.parts.iter().any(|part| is_shell_text(&part.body)),
        None => answer.parts.iter().any(|part| {
            part.tool()
                .is_some_and(|t| t.tool == "bash" && t.input_keys.iter().eq(["command"]))
        }),
    }
}

fn is_shell_text(body: &PartBody) -> bool {
    matches!(body, PartBody::Text(text) if text.excerpt.starts_with(SHELL_PROMPT))
}

/// A running bash without an `output` key has not begun: it waits for a permission, perhaps one
/// that cannot be read. Below 1.14 the key comes with the first output, so its absence proves
/// nothing; nor does it in 2.x, where no body shows the output of what runs.
pub fn has_not_begun(server: &Server, tool: &ToolPart, kind: ToolKind) -> bool {
    kind == ToolKind::Bash
        && tool.state == ToolState::Running
        && !tool.output.present
        && server.dialect != Some(Dialect::V2)
        && at_least(server.version.as_deref(), (1, 14))
}

/// Whether a version is known and not older than `(major, minor)`.
pub fn at_least(version: Option<&str>, floor: (u32, u32)) -> bool {
    let number = |text: Option<&str>| text.and_then(|t| t.parse::<u32>().ok());
    let mut fields = version.unwrap_or_default().split('.');
    match (number(fields.next()), number(fields.next())) {
        (Some(major), Some(minor)) => (major, minor) >= floor,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(at_least(Some("1.14.41"), (1, 14)));
        assert!(at_least(Some("2.0.1"), (1, 14)));
        assert!(!at_least(Some("1.2.27"), (1, 14)));
        assert!(!at_least(Some("local"), (1, 14)));
        assert!(!at_least(None, (1, 14)));
    }
}
