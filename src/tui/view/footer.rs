//! The last line: a word to the user, or what the keys do. Only what fits; help always does.

use crate::core::app::keymap::Action;
use crate::core::present::{Hint, Line, Piece, Screen, Target, Tone};
use crate::tui::paint::Pen;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// Cells between two hints.
const GAP: u16 = 2;

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
    let fitting = fitting(hints, room, pen.theme).into_iter();
    let said = match &screen.notice {
        Some(notice) => vec![notice.clone()],
        None => fitting.fold(Line::new(), with),
    };
    pen.pieces(area.x + 1, y, room, &said);
}

/// What the hint at this cell does; nothing where none is, or a word to the user stands there.
pub(super) fn hit(screen: &Screen, theme: &Theme, area: Rect, x: u16) -> Option<Target> {
    if screen.notice.is_some() {
        return None;
    }
    let room = area.width.saturating_sub(2);
    let mut from = area.x + 1;
    for hint in fitting(&screen.footer, room, theme) {
        let next = from.saturating_add(cost(hint, theme));
        if (from..next.saturating_sub(GAP)).contains(&x) {
            return hint.action.map(Target::Hint);
        }
        from = next;
    }
    None
}

/// Cells that a hint takes, with the gap after it.
fn cost(hint: &Hint, theme: &Theme) -> u16 {
    let words = text::width(&hint.words, theme);
    let key = text::width(&hint.key, theme).saturating_add(u16::from(words > 0));
    key.saturating_add(words).saturating_add(GAP)
}

/// The hints that fit, in their order.
fn fitting<'a>(hints: &'a [Hint], room: u16, theme: &Theme) -> Vec<&'a Hint> {
    let cost = |hint: &Hint| cost(hint, theme);
    let mut left = (room + 2).saturating_sub(hints.iter().filter(|h| helps(h)).map(cost).sum());
    let mut shown = Vec::new();
    for hint in hints {
        if !helps(hint) {
            if cost(hint) > left {
                continue;
            }
            left -= cost(hint);
        }
        shown.push(hint);
    }
    shown
}

fn helps(hint: &Hint) -> bool {
    hint.action == Some(Action::Help)
}

/// The line with one more hint.
fn with(mut line: Line, hint: &Hint) -> Line {
    if !line.is_empty() {
        line.push(Piece::new("  ", Tone::Plain));
    }
    line.push(Piece::new(hint.key.clone(), Tone::Key));
    if !hint.words.is_empty() {
        line.push(Piece::new(format!(" {}", hint.words), Tone::Plain));
    }
    line
}
