//! The last turns of a session: when, who, what, how long and how it ended.

use crate::core::present::{Line, Piece, Tone, clean, words};
use crate::core::store::{Server, Session};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Message, Part, PartBody, Prose, ToolPart, ToolState};

/// How many turns the timeline shows.
const TURNS: usize = 3;

pub(super) fn timeline(session: &Session, server: &Server, now: UnixMs, offset: Span) -> Vec<Line> {
    let messages = &session.tail.messages;
    let prompts: Vec<usize> = messages
        .iter()
        .enumerate()
        .filter(|(_, m)| m.is_user())
        .map(|(place, _)| place)
        .collect();
    let from = prompts.len().checked_sub(TURNS);
    let from = from.and_then(|n| prompts.get(n)).copied().unwrap_or(0);
    let now = server.server_time(now);
    let shown = messages.iter().skip(from);
    shown
        .flat_map(|message| message_lines(message, now, offset))
        .collect()
}

fn message_lines(message: &Message, now: UnixMs, offset: Span) -> Vec<Line> {
    let mut lines: Vec<Line> = message
        .parts
        .iter()
        .filter_map(|part| part_line(message, part, now, offset))
        .collect();
    if message.is_assistant() {
        if let Some(error) = &message.error {
            let text = clean(&format!("{}: {}", error.name, error.message));
            lines.push(entry(
                ended(message),
                "error",
                &text,
                None,
                "",
                Tone::Stuck,
                offset,
            ));
        } else if message.is_open() && message.parts.is_empty() {
            lines.push(entry(
                message.created,
                "answer",
                "begun, nothing in it yet",
                Some(now.since(message.created).so_far(now)),
                "",
                Tone::Dim,
                offset,
            ));
        }
    }
    lines
}

fn ended(message: &Message) -> UnixMs {
    message.completed.unwrap_or(message.created)
}

fn part_line(message: &Message, part: &Part, now: UnixMs, offset: Span) -> Option<Line> {
    match &part.body {
        PartBody::Text(prose) => Some(prose_line(message, prose, "answer", now, offset)),
        PartBody::Reasoning(prose) => Some(prose_line(message, prose, "thought", now, offset)),
        PartBody::Tool(tool) => Some(tool_line(message, tool, now, offset)),
        PartBody::Compaction => Some(entry(
            message.created,
            "compact",
            "",
            None,
            "",
            Tone::Dim,
            offset,
        )),
        _ => None,
    }
}

fn prose_line(message: &Message, prose: &Prose, who: &str, now: UnixMs, offset: Span) -> Line {
    let at = prose.start.unwrap_or(message.created);
    if message.is_user() {
        let who = if prose.synthetic { "server" } else { "you" };
        return entry(
            at,
            who,
            &quoted(&prose.excerpt),
            None,
            "",
            Tone::Plain,
            offset,
        );
    }
    if let (Some(start), None) = (prose.start, prose.end) {
        entry(
            at,
            who,
            "…",
            Some(now.since(start).so_far(now)),
            "open",
            Tone::Working,
            offset,
        )
    } else {
        let finish = message.finish.as_deref().unwrap_or_default();
        entry(
            at,
            who,
            &quoted(&prose.excerpt),
            None,
            finish,
            Tone::Plain,
            offset,
        )
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", clean(text).trim())
}

fn tool_line(message: &Message, tool: &ToolPart, now: UnixMs, offset: Span) -> Line {
    let at = tool.start.unwrap_or(message.created);
    let (span, word, tone) = match &tool.state {
        ToolState::Pending => (None, "writing arguments", Tone::Working),
        ToolState::Running => (
            tool.start.map(|s| now.since(s).so_far(now)),
            "running",
            Tone::Working,
        ),
        ToolState::Completed => (took(tool), "ok", Tone::Plain),
        ToolState::Error => (took(tool), "error", Tone::Watch),
        ToolState::Other(name) => (took(tool), name.as_str(), Tone::Dim),
    };
    entry(
        at,
        &clean(&tool.tool),
        &clean(&tool.subject),
        span,
        &clean(word),
        tone,
        offset,
    )
}

fn took(tool: &ToolPart) -> Option<String> {
    Some(tool.end?.since(tool.start?).short())
}

/// `13:41:12 bash     ./index.sh   4m02  ok`.
fn entry(
    at: UnixMs,
    who: &str,
    what: &str,
    span: Option<String>,
    state: &str,
    tone: Tone,
    offset: Span,
) -> Line {
    let mut line = vec![
        Piece::new(words::clock(at, offset), Tone::Dim),
        Piece::new(format!("{who:<9}"), Tone::Strong),
        Piece::new(what, Tone::Plain),
    ];
    if let Some(span) = span {
        line.push(Piece::new(span, tone));
    }
    if !state.is_empty() {
        line.push(Piece::new(state, tone));
    }
    line
}
