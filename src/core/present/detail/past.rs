//! What became of one session: its changes of state, and the marks of its last hour.

use crate::core::app::App;
use crate::core::app::keymap::Action;
use crate::core::app::past::Past;
use crate::core::changes::{SessionState, Standing};
use crate::core::id::SessionKey;
use crate::core::judge::{Level, Verdict};
use crate::core::present::log::{self, mark_of};
use crate::core::present::{Flow, Line, Mark, Piece, Sheet, Tone, words};
use crate::core::time::{Span, UnixMs};

pub(super) fn sheet(app: &App, key: &SessionKey) -> Sheet {
    let past = app.history.of(key);
    let mut lines: Vec<Line> = past.map(|past| changes(app, past)).unwrap_or_default();
    let done = app.log.iter().filter(|it| it.key == *key).count();
    if done > 0 {
        let many = if done == 1 { "" } else { "s" };
        let key = app.key_of(Action::History);
        let text = format!("{done} action{many} on it from here: {key} shows them");
        lines.push(vec![Piece::new(text, Tone::Dim)]);
    }
    Sheet {
        lines,
        flow: Flow::Words,
        ..Sheet::default()
    }
}

/// Newest first; the oldest says from what.
fn changes(app: &App, past: &Past) -> Vec<Line> {
    let before = past.entries.iter().map(|entry| entry.to.as_ref());
    let before = std::iter::once(past.before.as_ref()).chain(before);
    let told = past.entries.iter().zip(before).map(|(entry, before)| {
        let at = words::clock(entry.at, app.utc_offset);
        let mut line = vec![Piece::new(format!("{at} "), Tone::Dim)];
        line.extend(log::from_to(before, entry.to.as_ref()));
        line
    });
    let mut lines: Vec<Line> = told.collect();
    lines.reverse();
    lines
}

/// The worst of each minute of the last hour, oldest first; blank before the session began.
pub(super) fn hour(app: &App, verdict: &Verdict, now: UnixMs) -> Vec<Option<Mark>> {
    let cells = app.history.hour(&verdict.key, Standing::of(verdict), now);
    let known = app.store.server(verdict.key.server);
    let known = known.zip(app.store.session(&verdict.key));
    let age = known.map(|(server, session)| server.server_time(now) - session.info.created);
    let minute = |at: UnixMs| at.floor(Span::mins(1));
    let begun = age.map(|age| minute(now - age.max(Span::ZERO)));
    let passed = begun.map_or(i64::MAX, |begun| (minute(now) - begun).as_ms() / 60_000);
    let lived = usize::try_from(passed.saturating_add(1)).unwrap_or(usize::MAX);
    let before = cells.len().saturating_sub(lived);
    let placed = cells.into_iter().zip(0..);
    let seen = placed.map(|(cell, place)| cell.filter(|_| place >= before));
    seen.map(|cell| cell.map(mark_of)).collect()
}

/// Of a state that was, its level as a tone.
pub(in crate::core::present) fn tone(state: Option<&SessionState>) -> Tone {
    words::level_tone(state.map_or(Level::Unknown, |it| it.level))
}
