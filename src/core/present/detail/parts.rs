//! The parts of a session's messages as they are: kind, state, times, size, id.

use crate::core::app::App;
use crate::core::present::{Flow, Line, Piece, Place, Sheet, Tone, clean, words};
use crate::core::store::{Server, Session};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Message, Part, PartBody, Prose, Role, ToolPart, ToolState};

/// A line for each message and for each of its parts; one part is pointed at.
pub(super) fn sheet(app: &App, session: &Session, server: &Server, now: UnixMs) -> Sheet {
    let now = server.server_time(now);
    let mut sheet = Sheet {
        flow: Flow::Cut,
        ..Sheet::default()
    };
    let chosen = app.ui.part.as_ref();
    for message in &session.tail.messages {
        sheet.lines.push(head(message, app.utc_offset));
        for part in &message.parts {
            if chosen.is_none_or(|id| part.id == *id) {
                sheet.pointed = Some(sheet.lines.len());
            }
            sheet.lines.push(line(part, now, app.utc_offset));
        }
    }
    let untouched = chosen.is_none() && app.ui.search.is_none();
    sheet.place = match sheet.pointed.filter(|_| !untouched) {
        Some(line) => Place::Seek { from: 0, line },
        None => Place::End,
    };
    sheet
}

fn head(message: &Message, offset: Span) -> Line {
    let role = match &message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Other(name) => name,
    };
    let mut facts = vec![message.id.to_string()];
    facts.extend(words::model(message.model.as_ref()));
    facts.extend(message.finish.clone());
    facts.extend(message.error.as_ref().map(|it| it.name.clone()));
    if message.is_open() {
        facts.push("open".to_owned());
    }
    vec![
        Piece::new(words::clock(message.created, offset), Tone::Dim),
        Piece::new(format!(" {} ", clean(role)), Tone::Strong),
        Piece::new(clean(&facts.join(" ")), Tone::Dim),
    ]
}

fn line(part: &Part, now: UnixMs, offset: Span) -> Line {
    let told = told(part, now);
    let at = told.start.map(|at| words::clock(at, offset));
    let size = told.bytes.map(size).unwrap_or_default();
    vec![
        Piece::new(format!("  {:<8} ", at.unwrap_or_default()), Tone::Dim),
        Piece::new(format!("{:<16} ", clean(&told.kind)), Tone::Plain),
        Piece::new(format!("{:<9} ", clean(&told.state)), told.tone),
        Piece::new(format!("{:>4} {size:>7} ", told.span), Tone::Plain),
        Piece::new(format!("{} ", clean(part.id.as_str())), Tone::Dim),
        Piece::new(clean(told.text), Tone::Plain),
    ]
}

/// What a line says of a part.
struct Told<'a> {
    kind: String,
    state: String,
    tone: Tone,
    start: Option<UnixMs>,
    span: String,
    bytes: Option<usize>,
    text: &'a str,
}

fn told(part: &Part, now: UnixMs) -> Told<'_> {
    match &part.body {
        PartBody::Text(prose) => of_prose("text", prose, now),
        PartBody::Reasoning(prose) => of_prose("reasoning", prose, now),
        PartBody::Tool(tool) => of_tool(tool, now),
        PartBody::StepStart => bare("step-start", ""),
        PartBody::StepFinish(why) => bare("step-finish", why),
        PartBody::Compaction => bare("compaction", ""),
        PartBody::Subtask => bare("subtask", ""),
        PartBody::Retry => bare("retry", ""),
        PartBody::Other(kind) => bare(kind, ""),
    }
}

fn bare<'a>(kind: &str, state: &str) -> Told<'a> {
    Told {
        kind: kind.to_owned(),
        state: state.to_owned(),
        tone: Tone::Dim,
        start: None,
        span: String::new(),
        bytes: None,
        text: "",
    }
}

fn of_prose<'a>(kind: &str, prose: &'a Prose, now: UnixMs) -> Told<'a> {
    let is_open = prose.start.is_some() && prose.end.is_none();
    let state = if is_open { "open" } else { "" };
    Told {
        tone: if is_open { Tone::Working } else { Tone::Plain },
        start: prose.start,
        span: span(prose.start, prose.end, now),
        bytes: Some(prose.bytes),
        text: &prose.excerpt,
        ..bare(kind, state)
    }
}

fn of_tool(tool: &ToolPart, now: UnixMs) -> Told<'_> {
    let (state, tone) = match &tool.state {
        ToolState::Pending => ("pending", Tone::Working),
        ToolState::Running => ("running", Tone::Working),
        ToolState::Completed => ("completed", Tone::Plain),
        ToolState::Error => ("error", Tone::Watch),
        ToolState::Other(name) => (name.as_str(), Tone::Dim),
    };
    Told {
        tone,
        start: tool.start,
        span: span(tool.start, tool.end, now),
        bytes: tool.output.present.then_some(tool.output.bytes),
        text: &tool.subject,
        ..bare(&format!("tool {}", tool.tool), state)
    }
}

/// How long it took, or has taken until now.
fn span(start: Option<UnixMs>, end: Option<UnixMs>, now: UnixMs) -> String {
    let spent = start.map(|start| end.unwrap_or(now).since(start));
    spent.map(Span::short).unwrap_or_default()
}

/// `512 B`, `30 KiB`, `4 MiB`: whole numbers.
fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}
