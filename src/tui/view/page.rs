//! A text over the whole screen: help, explain, history, one part.

use super::reader::Reader;
use super::{footer, position, search};
use crate::core::present::{Page, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

pub(super) fn draw(screen: &Screen, pen: &mut Pen) {
    let Some(page) = &screen.page else {
        return;
    };
    let area = pen.area();
    let body = body(area);
    let reader = Reader::from(page);
    let [first, height, total] = reader.extent(body.width, usize::from(body.height), pen.theme);
    title(page, &position::seen(first, height, total), pen);
    pen.rule(area.y + 1, &search::label(page.found.as_ref()));
    reader.draw(body, pen);
    if !search::typed(page.found.as_ref(), area.bottom() - 1, pen) {
        footer::draw(screen, area.bottom() - 1, pen);
    }
}

/// Between the rule and the footer, but for the margins.
fn body(area: Rect) -> Rect {
    Rect {
        x: area.x + 1,
        y: area.y + 2,
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(3),
    }
}

fn title(page: &Page, seen: &str, pen: &mut Pen) {
    let area = pen.area();
    let seen = [Piece::new(seen, Tone::Dim)];
    let end = pen.right(area.right() - 1, area.y, area.width - 2, &seen);
    let room = end.saturating_sub(area.x + 2);
    pen.text(area.x + 1, area.y, room, &page.title, Tone::Strong);
}

/// First line shown, lines shown, lines in all.
pub(super) fn extent(page: &Page, area: Rect, theme: &Theme) -> [usize; 3] {
    let body = body(area);
    Reader::from(page).extent(body.width, usize::from(body.height), theme)
}
