//! The last line: a word to the user, or what the keys do. Only what fits; help always does.

use crate::core::app::keymap::Action;
use crate::core::present::{Hint, Line, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text;
use crate::tui::theme::Theme;

/// The notice, else what the keys do here; under a dialog or form, which has the keys, nothing.
pub(super) fn draw(screen: &Screen, y: u16, pen: &mut Pen) {
    let covered = screen.dialog.is_some() || screen.form.is_some();
    let hints = if covered {
        &[]
    } else {
        screen.footer.as_slice()
    };
    line(screen, hints, y, pen);
}

fn line(screen: &Screen, hints: &[Hint], y: u16, pen: &mut Pen) {
    let area = pen.area();
    let room = area.width.saturating_sub(2);
    let said = match &screen.notice {
        Some(notice) => vec![notice.clone()],
        None => fitting(hints, room, pen.theme),
    };
    pen.pieces(area.x + 1, y, room, &said);
}

/// The hints that fit, in their order, two blanks between them.
fn fitting(hints: &[Hint], room: u16, theme: &Theme) -> Line {
    let cost = |hint: &Hint| {
        let words = text::width(&hint.words, theme);
        text::width(&hint.key, theme) + u16::from(words > 0) + words + 2
    };
    let mut left = (room + 2).saturating_sub(hints.iter().filter(|h| helps(h)).map(cost).sum());
    let mut line = Line::new();
    for hint in hints {
        if !helps(hint) {
            if cost(hint) > left {
                continue;
            }
            left -= cost(hint);
        }
        push(hint, &mut line);
    }
    line
}

fn helps(hint: &Hint) -> bool {
    hint.action == Some(Action::Help)
}

fn push(hint: &Hint, line: &mut Line) {
    if !line.is_empty() {
        line.push(Piece::new("  ", Tone::Plain));
    }
    line.push(Piece::new(hint.key.clone(), Tone::Key));
    if !hint.words.is_empty() {
        line.push(Piece::new(format!(" {}", hint.words), Tone::Plain));
    }
}
