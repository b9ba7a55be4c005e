//! The forms of a change: a document for scripts (schema `ocwatch.change/1`), a line for people.

use crate::core::changes::State;
use crate::core::present::changes::Change;
use crate::core::present::{Line, Piece, Tone, clean, words};
use crate::core::time::Span;
use serde_json::{Value, json};

/// For scripts. Fields are only added within a schema number. `at` is the watcher's clock; `id` and
/// `title` are null where the change is the server's own.
pub fn change_json(change: &Change) -> Value {
    let session = change.session.as_ref();
    json!({
        "schema": "ocwatch.change/1",
        "at": change.at,
        "server": change.server,
        "id": session.map(|(id, _)| id),
        "title": session.map(|(_, title)| title),
        "from": change.from,
        "to": change.to,
        "text": change.text,
    })
}

/// For people: time, mark, where, from what to what, why. `ascii`: no character beyond ASCII in
/// what is ours.
pub fn change_line(change: &Change, utc_offset: Span, ascii: bool) -> Line {
    let mark = change.mark.glyph(ascii);
    let mut line = vec![
        Piece::new(words::clock(change.at, utc_offset), Tone::Dim),
        Piece::new(format!(" {mark} "), change.mark.tone()),
        Piece::new(clean(&change.server), Tone::Dim),
    ];
    if let Some((id, title)) = &change.session {
        let title = words::title(id, title);
        line.push(Piece::new(format!("  {title}"), Tone::Strong));
    }
    let to = change.to.as_ref();
    let now = to.map_or("gone".to_owned(), said);
    let before = change.from.as_ref().map(said);
    line.push(match before.filter(|before| *before != now) {
        Some(before) => Piece::new(format!("  {before} -> "), Tone::Dim),
        None => Piece::new("  ", Tone::Plain),
    });
    line.push(Piece::new(now, to.map_or(Tone::Plain, tone)));
    if !change.text.is_empty() {
        line.push(Piece::new(
            format!("  {}", clean(&change.text)),
            Tone::Plain,
        ));
    }
    line
}

/// `stuck busy/done`; a server: `live`.
pub(in crate::core::present) fn said(state: &State) -> String {
    match state {
        State::Session(it) => {
            let (level, activity) = (it.level.word(), it.activity.word());
            clean(&format!("{level} {}/{activity}", it.reported))
        }
        State::Server(it) => it.state.to_owned(),
    }
}

fn tone(state: &State) -> Tone {
    match state {
        State::Session(it) => words::level_tone(it.level),
        State::Server(it) => words::level_tone(it.level),
    }
}
