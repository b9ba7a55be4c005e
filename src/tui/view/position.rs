//! Where we are in what does not fit: for the rules, and for the keys that scroll.

use super::layout::{self, Regions};
use super::{detail, dialog, form, page, search};
use crate::core::present::Screen;
use crate::tui::table::first_row;
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// First session shown and how many are.
pub(super) fn window(screen: &Screen, regions: &Regions) -> (usize, usize) {
    let visible = usize::from(regions.visible_rows());
    let total = screen.all_rows();
    let first = first_row(screen.offset, screen.selected, visible, total);
    (first, visible)
}

/// `3-12 of 40`; nothing when all is seen.
pub(super) fn seen(first: usize, height: usize, total: usize) -> String {
    if total <= height {
        return String::new();
    }
    format!("{}-{} of {total}", first + 1, (first + height).min(total))
}

/// Of the table: that it is not everything, and which part of it is seen.
pub(super) fn of_table(screen: &Screen, regions: &Regions, theme: &Theme) -> String {
    let (first, visible) = window(screen, regions);
    let seen = seen(first, visible, screen.all_rows());
    let order = order(screen, regions);
    let marked = match screen.marked {
        0 => String::new(),
        n => format!("{n} marked"),
    };
    let parts = [only(screen), order, marked, seen];
    let joined = |one: String, other: &String| joined(&one, other, theme);
    parts.iter().fold(String::new(), joined)
}

/// What it is sorted by, where no heading shows it.
fn order(screen: &Screen, regions: &Regions) -> String {
    let arrow = if screen.sort.reversed { "↑" } else { "↓" };
    match screen.sort.column {
        Some(column) if regions.heads.is_none() => format!("{} {arrow}", column.about().name),
        None if regions.heads.is_none() && screen.sort.reversed => format!("calm first {arrow}"),
        _ => String::new(),
    }
}

/// That not all is shown, and how much is not.
fn only(screen: &Screen) -> String {
    match (screen.attention_only, screen.calm) {
        (false, _) => String::new(),
        (true, 0) => "attention only".to_owned(),
        (true, calm) => format!("attention only: {calm} hidden"),
    }
}

/// Of the detail while it has the keys: what is found, which part of it is seen.
pub(super) fn of_detail(screen: &Screen, regions: &Regions, theme: &Theme) -> String {
    match detail::extent(screen, regions, theme) {
        Some([first, height, total]) if screen.detail_open => {
            let sheet = screen.detail.as_ref().and_then(|it| it.sheet.as_ref());
            let note = sheet.map_or("", |it| it.note.as_str());
            let note = if note.is_empty() { "detail" } else { note };
            let seen = joined(note, &seen(first, height, total), theme);
            joined(&search::label(search::of(screen)), &seen, theme)
        }
        _ => String::new(),
    }
}

fn joined(one: &str, other: &str, theme: &Theme) -> String {
    if one.is_empty() || other.is_empty() {
        return format!("{one}{other}");
    }
    format!("{one} {} {other}", theme.glyphs().dot)
}

/// The greatest scroll of the form or dialog, else of the page, else of the open detail, that shows something new in `area`:
/// what `scroll` and `detail_scroll` should be held to, so that a key back is seen at once.
pub fn last_scroll(area: Rect, screen: &Screen, theme: &Theme) -> usize {
    if let Some(form) = &screen.form {
        return form::last_scroll(form, area, theme);
    }
    if let Some(dialog) = &screen.dialog {
        return dialog::last_scroll(dialog, area, theme);
    }
    let [_, height, total] = extent(area, screen, theme);
    total.saturating_sub(height)
}

/// How many lines a page key moves by: what is seen of the page or the open detail, else of the table.
pub fn page_rows(area: Rect, screen: &Screen, theme: &Theme) -> u16 {
    if screen.page.is_none() && !screen.detail_open {
        return super::table_rows(area, screen);
    }
    let [_, height, _] = extent(area, screen, theme);
    u16::try_from(height).unwrap_or(u16::MAX)
}

/// First line shown, lines shown, lines in all: of the page, else of the detail.
fn extent(area: Rect, screen: &Screen, theme: &Theme) -> [usize; 3] {
    if let Some(page) = &screen.page {
        return page::extent(page, area, theme);
    }
    let regions = layout::regions(area, screen, layout::shape(area));
    detail::extent(screen, &regions, theme).unwrap_or_default()
}

/// The first line shown of the page, else of the detail, in `area`: where what was sought is.
pub fn first_line(area: Rect, screen: &Screen, theme: &Theme) -> usize {
    extent(area, screen, theme)[0]
}

/// Whether `area` has room for the detail just now.
pub fn detail_seen(area: Rect, screen: &Screen) -> bool {
    let shape = layout::shape(area);
    shape != layout::Shape::Tiny && layout::regions(area, screen, shape).detail.is_some()
}
