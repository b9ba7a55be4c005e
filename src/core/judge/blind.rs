//! What cannot be seen of a session whose report is known: its messages, the asks of its project.
//!
//! What it does: say why a session without findings is not called `ok`. What it does not: find
//! anything. Invariant: depends on what was read, never on time.

use crate::core::judge::facts::Facts;
use crate::core::judge::tools::{ToolKind, has_not_begun, is_shell};
use crate::core::store::Gap;
use crate::core::wire::{AskKind, Endpoint, Part, ToolPart, ToolState};
use std::borrow::Cow;

/// Why its messages are not known. `None`: they are.
pub(super) fn to_messages(facts: &Facts) -> Option<Cow<'static, str>> {
    if facts.knows_messages() {
        return hidden(facts.missing());
    }
    let tail = &facts.session.tail;
    Some(match (&tail.failed, tail.is_read()) {
        (Some(text), _) => format!("messages could not be read: {text}").into(),
        (None, false) => "messages are not read yet".into(),
        (None, true) => "messages have changed and are not read again yet".into(),
    })
}

/// Something of what decides could not be read. Older holes hide nothing that is going on.
fn hidden(missing: usize) -> Option<Cow<'static, str>> {
    match missing {
        0 => None,
        1 => Some("1 of its newest messages or parts could not be read".into()),
        many => Some(format!("{many} of its newest messages or parts could not be read").into()),
    }
}

/// A tool runs that may wait for an ask which cannot be seen. `None`: none does.
pub(super) fn to_asks(facts: &Facts) -> Option<Cow<'static, str>> {
    let message = facts.open_answer().filter(|_| facts.is_busy())?;
    let shell = is_shell(&facts.session.tail, message);
    let mut tools = message.parts.iter().filter_map(Part::tool);
    tools.find_map(|tool| {
        let kind = unseen_ask(facts, tool, ToolKind::of(tool, shell))?;
        Some(words(facts, tool, kind))
    })
}

/// Which ask may hold up a tool without our seeing it. One that put something out, has a child,
/// was started by a person or was answered waits for none. Where the list of permissions fails,
/// tools that are judged by age are: such a finding says that it may be a permission.
fn unseen_ask(facts: &Facts, tool: &ToolPart, kind: ToolKind) -> Option<AskKind> {
    let ask = match kind {
        ToolKind::Shell => return None,
        ToolKind::Task if tool.child.is_some() => return None,
        ToolKind::Question => AskKind::Question,
        _ => AskKind::Permission,
    };
    let silent = tool.state == ToolState::Running && !tool.output.present;
    let silent = silent && !facts.was_released(tool);
    let fails = ask == AskKind::Permission && gap(facts, ask).is_some();
    let aged = fails && kind != ToolKind::Task && !has_not_begun(facts.server, tool, kind);
    (silent && !aged && !facts.knows_asks(ask)).then_some(ask)
}

fn words(facts: &Facts, tool: &ToolPart, kind: AskKind) -> Cow<'static, str> {
    let name = &tool.tool;
    match gap(facts, kind) {
        Some(gap) => {
            let path = gap.endpoint.path_in(facts.server.dialect);
            let text = &gap.text;
            format!("asks of its project cannot be read ({path}: {text}): {name} may wait for one")
        }
        None => format!("asks of its project are not read yet: {name} may wait for one"),
    }
    .into()
}

/// What keeps the asks of its directory from being read.
pub(super) fn gap<'a>(facts: &Facts<'a>, kind: AskKind) -> Option<&'a Gap> {
    let endpoint = match kind {
        AskKind::Permission => Endpoint::Permission,
        AskKind::Question => Endpoint::Question,
    };
    let directory = &facts.session.info.directory;
    let here = |gap: &&Gap| gap.directory.as_ref().is_none_or(|d| d == directory);
    let mut gaps = facts.server.gaps.iter().filter(here);
    gaps.find(|gap| gap.endpoint == endpoint)
}
