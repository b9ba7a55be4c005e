//! The help page: every key, and the words and signs on the screen.

use super::footer::applies;
use super::{Line, Mark, Piece, Tone};
use crate::core::app::App;
use crate::core::app::keymap::{Action, GROUPS};
use crate::core::judge;

/// What the marks before a row mean.
const MARKS: [(Mark, &str); 8] = [
    (Mark::Stuck, "stuck: it will not go on by itself"),
    (
        Mark::NeedsYou,
        "needs you: it waits for an answer or a decision",
    ),
    (Mark::Watch, "worth a look"),
    (
        Mark::Settling(judge::Level::Ok),
        "about to be called something; WHY says what and when",
    ),
    (Mark::Working, "working, and well"),
    (Mark::Rest, "at rest"),
    (
        Mark::Unknown,
        "unknown: away, asleep or not read; never taken for idle",
    ),
    (
        Mark::Snoozed,
        "snoozed: it was seen, and has not changed since",
    ),
];
/// What the other signs of a row mean; `{mark}` is the key that marks.
const SIGNS: [(&str, &str); 7] = [
    ("=", "what the server reports and what is true agree"),
    ("≠ !=", "they contradict each other: the server is wrong"),
    (
        "+",
        "marked with {mark}: the next abort or export is of all that are marked",
    ),
    (
        "↓ ↑",
        "what the table is sorted by; an arrow up: the other way round",
    ),
    (
        "+3 ✖",
        "behind a title: three rows are folded away below it, and the worst of them is stuck",
    ),
    (
        "5+3",
        "in the header: five, and three rows that only tell of them: those above, and what was cut off with its parent",
    ),
    ("1/5", "in the header, with a filter: one of five passes it"),
];

/// The key table with the user's keys, in its groups; what does not apply now is dim.
fn keys(app: &App) -> Vec<Line> {
    let applies = applies(app);
    let mut lines = Vec::new();
    for (heading, table) in &GROUPS {
        lines.push(vec![Piece::new(*heading, Tone::Strong)]);
        for binding in *table {
            let keys = app.keymap.all(binding.action);
            let tone = if applies(binding) {
                Tone::Plain
            } else {
                Tone::Dim
            };
            lines.push(vec![
                Piece::new(format!("{keys:<9} "), Tone::Key),
                Piece::new(binding.help, tone),
                Piece::new(format!("  :{}", binding.name), Tone::Dim),
            ]);
        }
        lines.push(Vec::new());
    }
    lines
}

/// Every line of the key table, and the words on the screen.
pub(super) fn help(app: &App) -> Vec<Vec<Piece>> {
    let mut lines = keys(app);
    lines.push(vec![Piece::new("Marks", Tone::Strong)]);
    for (mark, words) in MARKS {
        lines.push(vec![
            Piece::new(format!("{:<3}", mark.glyph(false)), mark.tone()),
            Piece::new(format!("{:<3}", mark.glyph(true)), mark.tone()),
            Piece::new(words, Tone::Plain),
        ]);
    }
    let mark = app.key_of(Action::Mark);
    lines.extend(SIGNS.map(|(signs, words)| {
        vec![
            Piece::new(format!("{signs:<6}"), Tone::Strong),
            Piece::new(words.replace("{mark}", &mark), Tone::Plain),
        ]
    }));
    lines.push(Vec::new());
    lines.push(vec![Piece::new("What stands under ACTUALLY", Tone::Strong)]);
    for state in judge::ActivityState::ALL {
        lines.push(vec![
            Piece::new(
                format!("{:<18}", state.word().replace('-', " ")),
                Tone::Strong,
            ),
            Piece::new(state.meaning(), Tone::Plain),
        ]);
    }
    lines
}
