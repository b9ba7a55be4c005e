//! The history: each change of a state and each action that ended, newest first.

use super::changes::said;
use super::{Line, Mark, Piece, Tone, clean, detail, rows, words};
use crate::core::app::{App, Logged};
use crate::core::changes::{Change, SessionState, Standing, State};
use crate::core::id::SessionKey;
use crate::core::judge::Level;
use crate::core::time::UnixMs;

pub(super) fn lines(app: &App) -> Vec<Line> {
    let done = app.log.iter().rev();
    let done = done.map(|it| (it.shown.at, line(app, it)));
    let changed = app.history.recent.iter().rev();
    let changed = changed.filter_map(|it| Some((it.at, change(app, it)?)));
    let mut all: Vec<(UnixMs, Line)> = done.chain(changed).collect();
    // Stable: of one moment, actions stand before what they changed.
    all.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    if all.is_empty() {
        let text =
            "nothing changed and nothing was done yet; `ocwatch log` shows what was done before";
        return vec![vec![Piece::new(text, Tone::Dim)]];
    }
    all.into_iter().map(|(_, line)| line).collect()
}

/// `14:02:11 home  ✖ ok busy/streaming -> stuck busy/done stale-busy "TTS-Ebook"`.
fn change(app: &App, change: &Change) -> Option<Line> {
    let server = app.store.server(change.server)?;
    let at = words::clock(change.at, app.utc_offset);
    let mut line = vec![
        Piece::new(format!("{at} "), Tone::Dim),
        Piece::new(format!("{} ", clean(&server.spec.name)), Tone::Dim),
    ];
    match (&change.session, &change.to) {
        (Some((id, title)), to) => {
            let title = words::title(id, title);
            line.push(Piece::new(format!("\"{title}\" "), Tone::Plain));
            line.extend(from_to(session(change.from.as_ref()), session(to.as_ref())));
        }
        (None, Some(to)) => line.push(Piece::new(said(to), Tone::Strong)),
        (None, None) => return None,
    }
    Some(line)
}

fn session(state: Option<&State>) -> Option<&SessionState> {
    match state {
        Some(State::Session(state)) => Some(state),
        _ => None,
    }
}

/// From what to what, with the mark and the name of what is found.
pub(super) fn from_to(from: Option<&SessionState>, to: Option<&SessionState>) -> Line {
    let mut line = Line::new();
    let mark = to.map_or(Mark::Unknown, |it| mark_of(it.standing()));
    line.push(Piece::new(mark.glyph(false), mark.tone()));
    line.push(Piece::new(" ", Tone::Plain));
    if let Some(from) = from {
        let from = said(&State::Session(from.clone()));
        line.push(Piece::new(format!("{from} -> "), Tone::Dim));
    }
    let Some(to) = to else {
        line.push(Piece::new("no longer listed", Tone::Plain));
        return line;
    };
    let name = to.finding.or(to.settling);
    line.push(Piece::new(
        said(&State::Session(to.clone())),
        detail::tone(Some(to)),
    ));
    line.push(Piece::new(
        name.map(|it| format!("  {it}")).unwrap_or_default(),
        Tone::Plain,
    ));
    line
}

/// The mark of a state that was. What it was settling to is not kept.
pub(super) fn mark_of(standing: Standing) -> Mark {
    match standing {
        Standing::Stuck => Mark::Stuck,
        Standing::NeedsYou => Mark::NeedsYou,
        Standing::Watch => Mark::Watch,
        Standing::Settling => Mark::Settling(Level::Ok),
        Standing::Working => Mark::Working,
        Standing::Rest => Mark::Rest,
        Standing::Unknown => Mark::Unknown,
    }
}

/// The newest action on one session, for its detail.
pub(super) fn newest(app: &App, key: &SessionKey) -> Option<Line> {
    let logged = app.log.iter().rev().find(|it| it.key == *key)?;
    let at = words::clock(logged.shown.at, app.utc_offset);
    Some(vec![
        Piece::new(format!("{at} "), Tone::Dim),
        rows::ended(&logged.shown),
    ])
}

fn line(app: &App, logged: &Logged) -> Line {
    let server = app.store.server(logged.key.server);
    let server = server.map_or_else(String::new, |it| clean(&it.spec.name));
    let title = words::title(&logged.key.session, &logged.title);
    vec![
        Piece::new(words::clock(logged.shown.at, app.utc_offset), Tone::Dim),
        Piece::new(format!(" {server} \"{title}\" "), Tone::Plain),
        rows::ended(&logged.shown),
    ]
}
