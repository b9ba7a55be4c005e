//! The filter line: how many rows pass, what was not understood, what may be typed.

use crate::core::app::App;
use crate::core::app::keymap::{Action, Key};
use crate::core::present::{FilterLine, Hint, Piece, Tone, clean};

/// The line, when there is a filter or one is typed.
pub(super) fn line(app: &App) -> Option<FilterLine> {
    let filter = &app.ui.filter;
    (filter.cursor.is_some() || !filter.text.is_empty()).then(|| FilterLine {
        text: clean(&filter.text),
        cursor: filter.cursor,
        hits: app.tally.hits,
        of: app.tally.all,
        wrong: match filter.cursor {
            // It is being typed: told below the line, where there is room.
            Some(_) => String::new(),
            None => trouble(app).unwrap_or_default(),
        },
    })
}

/// The first thing that was not understood; not of the word that is being typed while it may still
/// become right.
fn trouble(app: &App) -> Option<String> {
    let query = app.ui.filter.query();
    let told = query.wrong.first().or(query.notes.first());
    told.map(|it| clean(it))
}

/// Told in place of the footer while the filter is typed.
pub(super) fn notice(app: &App) -> Option<Piece> {
    let typing = app.ui.filter.cursor.is_some() && app.offered().words.is_empty();
    let told = trouble(app).filter(|_| typing)?;
    Some(Piece::new(told, Tone::Watch))
}

/// What the keys do while it is typed, and what may stand at the cursor.
pub(super) fn hints(app: &App) -> Option<Vec<Hint>> {
    let filter = &app.ui.filter;
    filter.cursor?;
    let hint = |key: Key, words: &str| Hint::new(key.to_string(), words);
    let mut hints = vec![hint(Key::Enter, "keep"), hint(Key::Esc, "clear")];
    if !filter.history.lines().is_empty() {
        hints.push(hint(Key::Up, "earlier"));
    }
    let offered = app.offered().words;
    let mut offered = offered.iter().map(|word| clean(word));
    if let Some(first) = offered.next() {
        // One hint with its word: what does not fit is left out, and Tab would name the next one.
        hints.push(hint(Key::Tab, &format!("takes {first}")));
    }
    hints.extend(offered.map(|word| Hint::new(word, "")));
    Some(hints)
}

/// Why no row passes.
pub(super) fn empty(app: &App) -> Vec<String> {
    let query = app.ui.filter.query();
    let mut lines = Vec::new();
    if app.tally.calm > 0 {
        lines.push("none of the sessions that pass the filter needs attention".to_owned());
        let key = app.key_of(Action::Attention);
        lines.push(format!("{key} shows all that pass it"));
    } else if query.terms.is_empty() {
        lines.push("there are no sessions yet".to_owned());
    } else {
        lines.push(format!(
            "no session passes the filter {}",
            clean(&query.to_string())
        ));
    }
    let told = query.wrong.iter().chain(&query.notes);
    lines.extend(told.map(|it| clean(it)));
    lines.push("Esc clears the filter".to_owned());
    lines
}
