//! A text over the whole screen: help, explain.

use super::{footer, position};
use crate::core::present::{Line, Page, Piece, Screen, Tone};
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

/// Wrapped so that a line's last piece stays under itself.
fn wrapped(page: &Page, width: u16, theme: &Theme) -> Vec<Vec<Glyph>> {
    let wrap = |line: &Line| {
        let glyphs = text::line(line, theme);
        let indent = hanging(line, &glyphs, theme);
        text::wrap(glyphs, width, indent)
    };
    page.lines.iter().flat_map(wrap).collect()
}

/// The cell where a line's last piece begins; with one piece, where its text does; behind a key,
/// where that ends.
fn hanging(line: &Line, glyphs: &[Glyph], theme: &Theme) -> u16 {
    if let Some(key) = line.first().filter(|it| it.tone == Tone::Key) {
        return text::width(&key.text, theme);
    }
    match line.split_last() {
        Some((_, before)) if !before.is_empty() => text::total(&text::line(before, theme)),
        _ => {
            let blanks = glyphs.iter().take_while(|glyph| glyph.symbol == " ");
            u16::try_from(blanks.count()).unwrap_or(0)
        }
    }
}
