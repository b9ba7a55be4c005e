//! The views: pure functions from a [`Screen`] to cells.
//!
//! What it does: [`draw`] puts the header, the table, the detail, the footer and what lies over
//! them where [`layout`] says. What it does not: keep state, read a clock, or know a store.
//!
//! Invariants: the same screen, theme and area give the same cells; every size is drawn, and a
//! size too small for a table says so in one line.

mod columns;
mod command;
mod detail;
mod dialog;
mod filter;
mod footer;
mod form;
mod greeting;
mod header;
mod hit;
mod layout;
mod names;
mod narrow;
mod page;
mod position;
mod reader;
mod rows;
mod search;
mod tiny;

use super::paint::Pen;
use super::theme::Theme;
use crate::core::present::{Column, Screen};
pub use hit::hit;
use layout::{Regions, Shape};
pub use position::{detail_seen, first_line, last_scroll, page_rows};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Draws the screen into `area`; cells outside it are not touched.
pub fn draw(screen: &Screen, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let chosen = screen.theme.map(|name| theme.called(name));
    let mut pen = Pen::new(buffer, area, chosen.as_ref().unwrap_or(theme));
    pen.clear(area);
    let area = pen.area();
    let shape = layout::shape(area);
    if let Some(greeting) = screen.greeting.as_ref().filter(|_| shape != Shape::Tiny) {
        return greeting::draw(greeting, screen, &mut pen);
    }
    match shape {
        Shape::Tiny => return tiny::draw(screen, &mut pen),
        _ if screen.page.is_some() => page::draw(screen, &mut pen),
        shape => main(screen, &layout::regions(area, screen, shape), &mut pen),
    }
    dialog::draw(screen, &mut pen);
    form::draw(screen, &mut pen);
    command::draw(screen, &mut pen);
}

fn main(screen: &Screen, regions: &Regions, pen: &mut Pen) {
    header::draw(screen, regions, pen);
    let area = pen.area();
    let left = Rect {
        width: regions.bar.map_or(area.width, |bar| bar - area.x),
        ..area
    };
    let table = &mut pen.within(left);
    if let Some(y) = regions.top_rule.filter(|_| !regions.covered()) {
        let label = position::of_table(screen, regions, table.theme);
        table.rule(y, &label);
    }
    match regions.shape {
        Shape::Narrow => narrow::draw(screen, regions, table),
        _ => rows::draw(screen, regions, table),
    }
    detail::draw(screen, regions, pen);
    filter::draw(screen, regions, pen);
    if !search::typed(search::of(screen), regions.footer, pen) {
        footer::draw(screen, regions.footer, pen);
    }
}

/// How many rows the table shows in `area` when nothing covers it.
pub fn table_rows(area: Rect, screen: &Screen) -> u16 {
    let shape = layout::shape(area);
    layout::regions(area, screen, shape).visible_rows()
}

/// The columns that the table shows in `area`, from left to right; on narrow screens, what a row tells.
pub fn shown_columns(area: Rect, screen: &Screen, theme: &Theme) -> Vec<Column> {
    match layout::shape(area) {
        Shape::Tiny => Vec::new(),
        Shape::Narrow => narrow::TELLS.to_vec(),
        Shape::Full => {
            let table = layout::regions(area, screen, Shape::Full).table;
            let columns = columns::columns(table, screen, theme);
            columns.shown.into_iter().map(|it| it.0).collect()
        }
    }
}

/// Where the cursor stands: in the line of a form or the filter line while it is edited, else nowhere.
pub fn cursor(screen: &Screen, theme: &Theme, area: Rect) -> Option<Position> {
    let shape = layout::shape(area);
    if let Some(form) = screen.form.as_ref().filter(|_| shape != Shape::Tiny) {
        return form::cursor(form, area, theme);
    }
    if screen.dialog.is_some() || shape == Shape::Tiny {
        return None;
    }
    if let Some(command) = &screen.command {
        return Some(command::cursor(command, area, theme));
    }
    if let Some(found) = search::of(screen).filter(|found| found.cursor.is_some()) {
        return search::cursor(found, area, area.bottom().saturating_sub(1), theme);
    }
    if screen.page.is_some() {
        return None;
    }
    filter::cursor(screen, theme, area, &layout::regions(area, screen, shape))
}
