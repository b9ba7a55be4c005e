//! The filter line: in the bottom rule where there is one, so that nothing moves.

use super::layout::Regions;
use crate::core::present::{FilterLine, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::{Position, Rect};

/// Cells before the text: a margin, a slash, a blank.
const BEFORE: u16 = 3;
/// Cells from which what was not understood is told in words.
const WORDS: u16 = 24;
/// Cells after the text: a blank, the hits, a blank.
const AFTER: u16 = 15;

pub(super) fn draw(screen: &Screen, regions: &Regions, pen: &mut Pen) {
    if let Some(y) = regions.bottom_rule {
        pen.rule(y, "");
    }
    let (Some(filter), Some(y)) = (&screen.filter, regions.filter) else {
        return;
    };
    let area = pen.area();
    pen.text(area.x, y, BEFORE, " / ", Tone::Key);
    let (window, _) = window(filter, area, pen.theme);
    let x = area.x + BEFORE;
    let used = pen.glyphs(x, y, room(area), &window);
    if used < room(area) {
        pen.text(x + used, y, 1, " ", Tone::Plain);
    }
    wrong(filter, x + used + 1, y, pen);
    let hits = format!(" {} of {} ", filter.hits, filter.of);
    let tone = if filter.hits == 0 {
        Tone::Watch
    } else {
        Tone::Dim
    };
    let right = area.right().saturating_sub(1);
    pen.right(right, y, AFTER, &[Piece::new(hits, tone)]);
}

/// What was not understood, in what is left of the line; where little is, a sign that not all was.
fn wrong(filter: &FilterLine, x: u16, y: u16, pen: &mut Pen) {
    if filter.wrong.is_empty() {
        return;
    }
    let area = pen.area();
    let end = area.right().saturating_sub(AFTER + 1);
    let told = format!("({}) ", filter.wrong);
    let sign = "(?)".to_owned();
    let text = if end.saturating_sub(x) < WORDS {
        sign
    } else {
        told
    };
    let x = x.min(end.saturating_sub(3)).max(area.x);
    pen.text(x, y, end.saturating_sub(x), &text, Tone::Watch);
}

fn room(area: Rect) -> u16 {
    area.width.saturating_sub(BEFORE + AFTER + 1)
}

/// The part of the text that is seen, and the cursor's cell in it. The cursor is always inside.
fn window(filter: &FilterLine, area: Rect, theme: &Theme) -> (Vec<Glyph>, u16) {
    let before: String = match filter.cursor {
        Some(cursor) => filter.text.chars().take(cursor).collect(),
        None => String::new(),
    };
    let glyphs = text::glyphs(&filter.text, Tone::Strong, theme);
    if filter.cursor.is_none() {
        return (text::cut(glyphs, room(area), theme), 0);
    }
    text::window(glyphs, text::width(&before, theme), room(area))
}

/// Where the cursor stands while the filter is edited.
pub(super) fn cursor(
    screen: &Screen,
    theme: &Theme,
    area: Rect,
    regions: &Regions,
) -> Option<Position> {
    let filter = screen.filter.as_ref()?;
    filter.cursor?;
    let (_, at) = window(filter, area, theme);
    Some(Position::new(area.x + BEFORE + at, regions.filter?))
}
