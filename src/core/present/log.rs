//! The log pane: what was done and how it ended, newest first.

use super::{Line, Piece, Tone, clean, rows, words};
use crate::core::app::{App, Logged};
use crate::core::id::SessionKey;

pub(super) fn lines(app: &App) -> Vec<Line> {
    if app.log.is_empty() {
        let text = "nothing was done yet; `ocwatch log` shows what was done before";
        return vec![vec![Piece::new(text, Tone::Dim)]];
    }
    app.log.iter().rev().map(|it| line(app, it)).collect()
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
