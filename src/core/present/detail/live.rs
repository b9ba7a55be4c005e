//! What streams now, to be read as it comes: text and thought as they are heard, a tool's output as
//! it was last read.

use crate::core::app::App;
use crate::core::app::keymap::Action;
use crate::core::app::live::{Heard, Output, writing};
use crate::core::id::{PartId, SessionKey};
use crate::core::present::sheet::long;
use crate::core::present::{Flow, Line, Piece, Place, Sheet, Tone, clean, words};
use crate::core::store::{Server, Session};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Part, PartBody};

pub(super) fn sheet(
    app: &App,
    key: &SessionKey,
    (session, server): (&Session, &Server),
    now: UnixMs,
) -> Sheet {
    let mut lines = Vec::new();
    if app.live.is_of(key) {
        for heard in &app.live.heard {
            let part = part(session, &heard.part);
            lines.push(heading(part, heard, app.utc_offset));
            lines.extend(text(&heard.text));
        }
    } else if let Some((id, kept)) = &session.tail.live {
        let heard = Heard {
            part: id.clone(),
            text: kept.clone(),
            cut: !session.tail.live_whole,
        };
        lines.push(heading(part(session, id), &heard, app.utc_offset));
        lines.extend(text(kept));
    }
    if let Some(part) = writing(session) {
        lines.push(tool_heading(part, server.server_time(now), app.utc_offset));
        lines.extend(written(app.live.output.as_ref(), part));
    }
    let follows = !(app.ui.detail_open && app.ui.scrolled_back);
    Sheet {
        lines,
        flow: long(app, Flow::Cells),
        place: if follows && app.ui.seek.is_none() {
            Place::End
        } else {
            Place::default()
        },
        note: match (app.ui.detail_open, follows) {
            (false, _) => String::new(),
            (true, true) => "follows".to_owned(),
            (true, false) => format!("stands still, {} follows", app.key_of(Action::Bottom)),
        },
        ..Sheet::default()
    }
}

fn part<'a>(session: &'a Session, id: &PartId) -> Option<&'a Part> {
    let messages = session.tail.messages.iter().rev();
    messages
        .flat_map(|it| &it.parts)
        .find(|part| part.id == *id)
}

/// `13:50:02 answer`, and that its beginning is not here.
fn heading(part: Option<&Part>, heard: &Heard, offset: Span) -> Line {
    let (name, start) = match part.map(|it| &it.body) {
        Some(PartBody::Reasoning(prose)) => ("thought", prose.start),
        Some(PartBody::Text(prose)) => ("answer", prose.start),
        Some(PartBody::Tool(tool)) => (tool.tool.as_str(), tool.start),
        _ => ("text", None),
    };
    let at = start.map(|at| format!("{} ", words::clock(at, offset)));
    let cut = if heard.cut {
        " (its beginning was not heard, or is not kept)"
    } else {
        ""
    };
    vec![
        Piece::new(at.unwrap_or_default(), Tone::Dim),
        Piece::new(clean(name), Tone::Strong),
        Piece::new(cut, Tone::Dim),
    ]
}

fn tool_heading(part: &Part, now: UnixMs, offset: Span) -> Line {
    let Some(tool) = part.tool() else {
        return Line::new();
    };
    let at = tool
        .start
        .map(|at| format!("{} ", words::clock(at, offset)));
    let runs = tool.start.map(|at| now.since(at).short());
    vec![
        Piece::new(at.unwrap_or_default(), Tone::Dim),
        Piece::new(clean(&tool.tool), Tone::Strong),
        Piece::new(format!(" {} ", clean(&tool.subject)), Tone::Plain),
        Piece::new(
            format!("running {}", runs.unwrap_or_default()),
            Tone::Working,
        ),
    ]
}

/// The output of the tool that runs, as it was last read.
fn written(output: Option<&Output>, part: &Part) -> Vec<Line> {
    let known = output.filter(|it| it.part == part.id);
    let note = |text: String| vec![vec![Piece::new(text, Tone::Dim)]];
    match known.and_then(|it| it.text.as_ref()) {
        Some(Ok(told)) => text(told).collect(),
        Some(Err(why)) => note(clean(&format!("its output could not be read: {why}"))),
        None if known.is_some() => note("reading its output".to_owned()),
        None => {
            let bytes = part.tool().map_or(0, |tool| tool.output.bytes);
            note(format!(
                "{bytes} bytes written; they are read of a 1.x server that is there"
            ))
        }
    }
}

fn text(text: &str) -> impl Iterator<Item = Line> {
    text.lines()
        .map(|line| vec![Piece::new(clean(line), Tone::Plain)])
}
