//! `possible-permission`: the permissions of a project cannot be read because one of them breaks
//! the list (`/permission` answers 400), and a tool runs there that may wait for just that one.
//!
//! Such are webfetch, glob and grep (the patterns of their asks can break the list), and a bash
//! that has not begun (it waits in any case). What looks the same: a bash with output, a `!shell`,
//! other tools, a tool that has only just begun, and an ask of another session that is the broken
//! one: where several sessions may have it, each of them is only watched.

use super::Rule;
use crate::core::id::SessionId;
use crate::core::judge::blind::gap;
use crate::core::judge::facts::was_released;
use crate::core::judge::say::{found, no, settles, tool_words};
use crate::core::judge::tools::{ToolKind, has_not_begun, is_shell};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::store::{Gap, Reported, Server, Session};
use crate::core::time::UnixMs;
use crate::core::wire::{AskKind, Message, Part, ToolPart, ToolState};

/// Tools with asks that were seen to break the list (1.18.33).
const BREAKING: [&str; 3] = ["webfetch", "glob", "grep"];
/// What `/permission` answers when one entry breaks its list.
const BROKEN: u16 = 400;

pub(super) const RULE: Rule = Rule {
    id: "possible-permission",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "needs-you; watch when several sessions of the project may be meant",
    meaning: "The permissions of its project cannot be read, and its tool may wait for one of them.",
    offers: &[Offer::Abort, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_busy() {
        return no("not reported busy");
    }
    let Some(gap) = gap(facts, AskKind::Permission).filter(|gap| is_broken(gap)) else {
        return no("the list of permissions is not broken");
    };
    if facts.activity.state == ActivityState::Asking {
        return no("the permission that it waits for is known");
    }
    let open = facts.open_answer().map(|message| message.id.clone());
    let here = |part: &Waiting| Some(&part.0.id) == open.as_ref();
    let server = facts.server;
    let breaking = waiting_part(server, facts.session, breaks_list).filter(here);
    // A bash that has not begun surely waits, whatever broke the list.
    let others = breaking.map_or_else(Vec::new, |_| others(facts));
    let waiting = || waiting_part(server, facts.session, has_not_begun).filter(here);
    let Some(part) = breaking.or_else(waiting) else {
        return no("no tool runs that could wait for it");
    };
    let at = start(part) + facts.limits.possible_permission;
    let level = if others.is_empty() {
        Level::NeedsYou
    } else {
        Level::Watch
    };
    if facts.now < at {
        return settles(level, at, "its tool has only just begun");
    }
    possible(facts, gap, part, &others, level)
}

/// A message, a part of it and its tool call, which may wait for a permission.
type Waiting<'a> = (&'a Message, &'a Part, &'a ToolPart);

fn start((message, _, tool): Waiting) -> UnixMs {
    tool.start.unwrap_or(message.created)
}

fn possible(
    facts: &Facts,
    gap: &Gap,
    (message, part, tool): Waiting,
    others: &[&SessionId],
    level: Level,
) -> Answer {
    let start = start((message, part, tool));
    let what = tool_words(&tool.tool, &tool.subject);
    let path = gap.endpoint.path();
    let also = match others.len() {
        0 => String::new(),
        1 => ", as may 1 other session of this project".to_owned(),
        more => format!(", as may {more} other sessions of this project"),
    };
    let text = format!(
        "{what} may wait for a permission{also}; {path} cannot be read: {}",
        gap.text
    );
    found(level, Some(start), text)
        .with("message", &message.id)
        .with("part", &part.id)
        .with("tool", &tool.tool)
        .with("endpoint", path)
        .with_some("status", gap.status)
        .with("others", others)
        .with("age_ms", facts.now.since(start))
        .yes()
}

/// Whether this is a list that one of its entries breaks.
pub(in crate::core::judge) fn is_broken(gap: &Gap) -> bool {
    gap.status == Some(BROKEN)
}

fn has_permission_ask(session: &Session) -> bool {
    let mut asks = session.asks.iter();
    asks.any(|pending| pending.ask.kind == AskKind::Permission)
}

/// Other sessions of this directory whose ask may be the broken one, in the order of their ids.
fn others<'a>(facts: &Facts<'a>) -> Vec<&'a SessionId> {
    let (own, directory) = (&facts.session.info.id, &facts.session.info.directory);
    let server = facts.server;
    let here = server.sessions.values();
    let others = here.filter(|it| it.info.directory == *directory && it.info.id != *own);
    let others = others.filter(|session| may_be_meant(server, session));
    let mut ids: Vec<&SessionId> = others.map(|session| &session.info.id).collect();
    ids.sort();
    ids
}

/// Whether the ask that breaks its project's list may be one of this session.
pub(in crate::core::judge) fn may_be_meant(server: &Server, session: &Session) -> bool {
    matches!(server.reported(session), Reported::Busy)
        && (has_permission_ask(session) || waiting_part(server, session, breaks_list).is_some())
}

/// The oldest part of the last answer that may wait for a permission.
fn waiting_part<'a>(
    server: &Server,
    session: &'a Session,
    may_wait: fn(&Server, &ToolPart, ToolKind) -> bool,
) -> Option<Waiting<'a>> {
    let message = session.tail.last_assistant().filter(|m| m.is_open())?;
    let shell = is_shell(&session.tail, message);
    let tools = message.parts.iter();
    tools
        .filter_map(|part| Some((message, part, part.tool()?)))
        .filter(|(_, _, tool)| !was_released(session, tool))
        .filter(|(_, _, tool)| is_silent(tool))
        .filter(|(_, _, tool)| may_wait(server, tool, ToolKind::of(tool, shell)))
        .min_by_key(|(_, _, tool)| tool.start.unwrap_or_default())
}

/// A tool that runs without output, and whose ask would break the list or has not been given yet.
pub(super) fn breaks(server: &Server, tool: &ToolPart, kind: ToolKind) -> bool {
    let waits = breaks_list(server, tool, kind) || has_not_begun(server, tool, kind);
    is_silent(tool) && waits
}

fn breaks_list(_: &Server, tool: &ToolPart, _: ToolKind) -> bool {
    BREAKING.contains(&tool.tool.as_str())
}

fn is_silent(tool: &ToolPart) -> bool {
    tool.state == ToolState::Running && !tool.output.present
}
