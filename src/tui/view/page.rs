//! A text over the whole screen: help, explain.

use super::{footer, position};
use crate::core::present::{Page, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

pub(super) fn draw(screen: &Screen, pen: &mut Pen) {
    let Some(page) = &screen.page else {
        return;
    };
    let area = pen.area();
    let width = area.width - 2;
    let body = area.y + 2..area.bottom() - 1;
    let lines = wrapped(page, width, pen.theme);
    let last = lines.len().saturating_sub(body.len());
    let first = page.scroll.min(last);
    title(page, &position::seen(first, body.len(), lines.len()), pen);
    pen.rule(area.y + 1, "");
    for (glyphs, y) in lines.iter().skip(first).zip(body) {
        pen.glyphs(area.x + 1, y, width, glyphs);
    }
    footer::draw(screen, area.bottom() - 1, pen);
}

fn title(page: &Page, seen: &str, pen: &mut Pen) {
    let area = pen.area();
    let seen = [Piece::new(seen, Tone::Dim)];
    let end = pen.right(area.right() - 1, area.y, area.width - 2, &seen);
    let room = end.saturating_sub(area.x + 2);
    pen.text(area.x + 1, area.y, room, &page.title, Tone::Strong);
}

/// The greatest scroll that shows something new in `area`.
pub(super) fn last_scroll(page: &Page, area: Rect, theme: &Theme) -> usize {
    let height = usize::from(area.height.saturating_sub(3));
    let lines = wrapped(page, area.width.saturating_sub(2), theme);
    lines.len().saturating_sub(height)
}

/// Wrapped so that what follows a first column (two blanks or a change of tone) stays under it.
fn wrapped(page: &Page, width: u16, theme: &Theme) -> Vec<Vec<Glyph>> {
    let lines = page.lines.iter().map(|line| text::line(line, theme));
    lines
        .flat_map(|glyphs| {
            let indent = hanging(&glyphs);
            text::wrap(glyphs, width, indent)
        })
        .collect()
}

/// The cell where the second column begins (after two or more blanks), else where the text does.
fn hanging(glyphs: &[Glyph]) -> u16 {
    let blank = |place: usize| glyphs.get(place).is_none_or(|glyph| glyph.symbol == " ");
    let text = (0..glyphs.len()).find(|&at| !blank(at)).unwrap_or(0);
    let second = (text + 2..glyphs.len()).find(|&at| !blank(at) && blank(at - 1) && blank(at - 2));
    let place = second.unwrap_or(text);
    glyphs.iter().take(place).map(|glyph| glyph.width).sum()
}
