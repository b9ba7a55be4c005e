//! The table with two lines a session: mark, title, age; below what is reported, what is true, why.

use super::columns::{AGE, Cells};
use super::layout::Regions;
use super::names::Names;
use super::position::window;
use super::rows;

use crate::core::present::{Column, Row, Screen, Tone, agreement_glyph};
use crate::tui::paint::Pen;
use ratatui::layout::Rect;

/// What two lines tell of a session, in the order of reading.
pub(super) const TELLS: [Column; 5] = [
    Column::Session,
    Column::Age,
    Column::Reported,
    Column::Activity,
    Column::Why,
];

pub(super) fn draw(screen: &Screen, regions: &Regions, pen: &mut Pen) {
    if regions.covered() {
        return;
    }
    let table = regions.table;
    if screen.rows.is_empty() {
        return rows::nothing(screen, table, pen);
    }
    let (first, visible) = window(screen, regions);
    let names = Names::new(screen, true, pen.theme);
    let shown = screen.rows_from(first).take(visible);
    for ((place, row), y) in shown.zip((table.y..).step_by(2)) {
        let tag = screen.several_servers.then(|| names.of(&row.server));
        first_line(row, tag, table, y, pen);
        second_line(row, table, y + 1, pen);
        if screen.selected == Some(place) {
            rows::select(Rect::new(table.x, y, table.width, 2), pen);
        }
    }
}

fn first_line(row: &Row, tag: Option<&str>, table: Rect, y: u16, pen: &mut Pen) {
    let mark = Cells {
        x: table.x + 1,
        width: 1,
    };
    rows::mark(row, mark, y, pen);
    let mut x = table.x + 3;
    if let Some(tag) = tag {
        pen.text(x, y, 2, tag, Tone::Dim);
        x += 3;
    }
    let right = table.right() - 1;
    let width = right.saturating_sub(x + AGE + 1);
    rows::title(row, Cells { x, width }, y, pen);
    rows::age(row, right, y, pen);
}

fn second_line(row: &Row, table: Rect, y: u16, pen: &mut Pen) {
    let right = table.right() - 1;
    let left = |x: u16| right.saturating_sub(x);
    let mut x = table.x + 3;
    let glyph = agreement_glyph(row.agreement, pen.theme.ascii());
    let glyph_width = crate::tui::text::width(glyph, pen.theme);
    let reported_room = left(x).saturating_sub(glyph_width + 2).min(12);
    x += pen.text(
        x,
        y,
        reported_room,
        &row.reported,
        rows::dim(row, Tone::Plain),
    ) + 1;
    if glyph_width > 0 {
        let column = Cells {
            x,
            width: glyph_width,
        };
        rows::agreement(row.agreement, column, y, pen);
        x += glyph_width + 1;
    }
    x += pen.text(x, y, left(x), &row.activity, rows::dim(row, Tone::Plain)) + 2;
    let why = Cells { x, width: left(x) };
    rows::draw_why(row, why, y, pen);
    rows::draw_result(row, &[x, table.x + 3], y, pen);
}
