//! What lies at a cell, by the same layout that drew it.
//!
//! What it does not: say what a click does there; the app does. Invariant: what is answered is what the
//! view drew at that cell; of what is covered, nothing.

use super::layout::{self, Regions, Shape};
use super::{columns, detail, footer, position, search};
use crate::core::present::{Screen, Target};
use crate::tui::theme::Theme;
use ratatui::layout::{Position, Rect};

/// What lies at this cell of a screen drawn into `area`; `None`: nothing that a mouse could mean.
pub fn hit(screen: &Screen, theme: &Theme, area: Rect, column: u16, row: u16) -> Option<Target> {
    let at = Position::new(column, row);
    let shape = layout::shape(area);
    if shape == Shape::Tiny || !area.contains(at) {
        return None;
    }
    let chosen = screen.theme.map(|name| theme.called(name));
    let theme = chosen.as_ref().unwrap_or(theme);
    if screen.dialog.is_some() || screen.form.is_some() {
        return Some(Target::Over);
    }
    if screen.command.is_some() {
        return None;
    }
    if row + 1 == area.bottom() {
        let is_typed = search::of(screen).is_some_and(|it| it.cursor.is_some());
        let is_free = !is_typed || screen.greeting.is_some();
        return footer::hit(screen, theme, area, column).filter(|_| is_free);
    }
    if screen.greeting.is_some() {
        return None;
    }
    if screen.page.is_some() {
        return Some(Target::Over);
    }
    let regions = layout::regions(area, screen, shape);
    let on_detail = detail::hit(screen, &regions, theme, area, at);
    on_detail.or_else(|| on_table(screen, &regions, theme, at))
}

fn on_table(screen: &Screen, regions: &Regions, theme: &Theme, at: Position) -> Option<Target> {
    let table = regions.table;
    if regions.covered() || !(table.left()..table.right()).contains(&at.x) {
        return None;
    }
    if regions.heads == Some(at.y) {
        return Some(heading(screen, table, theme, at.x));
    }
    if !table.contains(at) {
        return None;
    }
    let (first, visible) = position::window(screen, regions);
    let place = usize::from((at.y - table.y) / regions.row_height());
    let wanted = first.saturating_add(place);
    let mut seen = screen.rows_from(first).take(visible);
    let row = seen.find(|(place, _)| *place == wanted);
    Some(row.map_or(Target::Table, |(_, row)| Target::Row(row.key.clone())))
}

/// The column whose cells these are; before the first it is that of the marks.
fn heading(screen: &Screen, table: Rect, theme: &Theme, x: u16) -> Target {
    let columns = columns::columns(table, screen, theme);
    if x < columns.mark.x + columns.mark.width {
        return Target::Heading(None);
    }
    let mut shown = columns.shown.iter();
    let here = shown.find(|(_, cells)| (cells.x..cells.x + cells.width).contains(&x));
    here.map_or(Target::Table, |(column, _)| Target::Heading(Some(*column)))
}
