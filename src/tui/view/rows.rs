//! The table with one line a session.

use super::columns::{self, Cells, Columns};
use super::layout::Regions;
use super::names::Names;
use super::position::window;
use crate::core::present::{
    Agreement, Column, Mark, Piece, Row, Screen, Sort, Tone, agreement_glyph,
};
use crate::tui::paint::Pen;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// Cells of the why column from which a cut sentence says more than the finding's name.
const SENTENCE: u16 = 16;

pub(super) fn draw(screen: &Screen, regions: &Regions, pen: &mut Pen) {
    if regions.covered() {
        return;
    }
    let table = regions.table;
    let columns = columns::columns(table, screen, pen.theme);
    let (first, visible) = window(screen, regions);
    if let Some(y) = regions.heads {
        headings(&columns, screen.sort, y, pen);
    }
    if screen.rows.is_empty() {
        return nothing(screen, table, pen);
    }
    let names = Names::new(screen, columns.tags, pen.theme);
    let shown = screen.rows_from(first).take(visible);
    for ((place, row), y) in shown.zip(table.y..) {
        draw_row(row, names.of(&row.server), &columns, y, pen);
        if screen.selected == Some(place) {
            select(Rect::new(table.x, y, table.width, 1), pen);
        }
    }
}

/// Marks the cells of the selected row, with a pointer in the margin for eyes and for mono.
pub(super) fn select(place: Rect, pen: &mut Pen) {
    let pointer = pen.theme.glyphs().pointer;
    for y in place.top()..place.bottom() {
        pen.text(place.x, y, 1, pointer, Tone::Strong);
    }
    pen.select(place);
}

/// The headings, with an arrow at what the table is sorted by.
fn headings(columns: &Columns, sort: Sort, y: u16, pen: &mut Pen) {
    let arrow = if sort.reversed { "↑" } else { "↓" };
    if sort.column.is_none() {
        pen.text(columns.mark.x, y, 1, arrow, Tone::Dim);
    }
    for (column, cells) in &columns.shown {
        let is_tag = *column == Column::Server && columns.tags;
        let name = if is_tag { "" } else { column.about().heading };
        let arrow = if sort.column == Some(*column) {
            arrow
        } else {
            ""
        };
        let text = format!("{name}{arrow}");
        // The arrow may stand in the gap beside it.
        if column.is_number() {
            let right = cells.x + cells.width;
            pen.right(right, y, cells.width + 1, &[Piece::new(text, Tone::Dim)]);
        } else {
            pen.text(cells.x, y, cells.width + 1, &text, Tone::Dim);
        }
    }
}

/// Said instead of rows.
pub(super) fn nothing(screen: &Screen, table: Rect, pen: &mut Pen) {
    let width = table.width.saturating_sub(4);
    let mut y = table.y + u16::from(table.height > 2);
    for line in &screen.empty {
        let glyphs = text::glyphs(line, Tone::Plain, pen.theme);
        for glyphs in text::wrap(glyphs, width, 0) {
            if y < table.bottom() {
                pen.glyphs(table.x + 3, y, width, &glyphs);
            }
            y = y.saturating_add(1);
        }
    }
}

fn draw_row(row: &Row, server: &str, columns: &Columns, y: u16, pen: &mut Pen) {
    mark(row, columns.mark, y, pen);
    for (column, cells) in &columns.shown {
        match column {
            Column::Session => title(row, *cells, y, pen),
            Column::Why => draw_why(row, *cells, y, pen),
            Column::Age => age(row, cells.x + cells.width, y, pen),
            Column::Server => field(row, *cells, y, server, Tone::Plain, pen),
            _ => further(row, *column, *cells, y, pen),
        }
    }
    agreement(row.agreement, columns.agreement, y, pen);
    let places = [Column::Why, Column::Age, Column::Reported];
    let starts = places.into_iter().filter_map(|it| columns.get(it));
    let starts: Vec<u16> = starts.map(|it| it.x).collect();
    draw_result(row, &starts, y, pen);
}

fn field(row: &Row, cells: Cells, y: u16, text: &str, tone: Tone, pen: &mut Pen) {
    pen.text(cells.x, y, cells.width, text, dim(row, tone));
}

/// A column of plain text: numbers at the right, paths by their end.
fn further(row: &Row, column: Column, cells: Cells, y: u16, pen: &mut Pen) {
    let text = row.text(column);
    let tone = match column {
        Column::Model | Column::Agent | Column::Directory | Column::Id => Tone::Dim,
        _ => dim(row, Tone::Plain),
    };
    if column == Column::Directory {
        pen.front(cells.x, y, cells.width, text, tone);
    } else if column.is_number() {
        let right = cells.x + cells.width;
        pen.right(right, y, cells.width, &[Piece::new(text, tone)]);
    } else {
        pen.text(cells.x, y, cells.width, text, tone);
    }
}

/// The result of the last action at the first of these places where all of it fits, else at the
/// last. It is read once and gone with the next key, so it may cover what stands there.
pub(super) fn draw_result(row: &Row, starts: &[u16], y: u16, pen: &mut Pen) {
    let Some(result) = &row.result else {
        return;
    };
    let right = pen.area().right().saturating_sub(1);
    let wanted = text::width(&result.text, pen.theme);
    let fits = |x: &&u16| right.saturating_sub(**x) >= wanted;
    let Some(&x) = starts.iter().find(fits).or(starts.last()) else {
        return;
    };
    let width = right.saturating_sub(x);
    pen.clear(Rect::new(x, y, width, 1));
    pen.text(x, y, width, &result.text, result.tone);
}

/// A dim row has no other tones, but for what a person must see.
pub(super) fn dim(row: &Row, tone: Tone) -> Tone {
    if row.dim { Tone::Dim } else { tone }
}

pub(super) fn mark(row: &Row, column: Cells, y: u16, pen: &mut Pen) {
    let style = pen.theme.mark(row.mark);
    let glyph = row.mark.glyph(pen.theme.ascii());
    pen.styled(column.x, y, column.width, glyph, style);
    if row.marked {
        pen.text(column.x + column.width, y, 1, "+", Tone::Strong);
    }
}

/// The title as a leaf of its tree; what is folded away below it is never cut off.
pub(super) fn title(row: &Row, cells: Cells, y: u16, pen: &mut Pen) {
    let folded = folded(row, pen.theme);
    let tail = text::total(&text::line(&folded, pen.theme)).min(cells.width);
    let line = [
        Piece::new(branches(row, cells.width, pen.theme), Tone::Dim),
        Piece::new(row.title.clone(), dim(row, Tone::Plain)),
    ];
    let used = pen.pieces(cells.x, y, cells.width - tail, &line);
    pen.pieces(cells.x + used, y, tail, &folded);
}

/// How many are folded away, and the mark of what needs attention most of them.
fn folded(row: &Row, theme: &Theme) -> Vec<Piece> {
    if row.folded == 0 {
        return Vec::new();
    }
    let count = Piece::new(format!(" +{}", row.folded), Tone::Dim);
    let worst = row.inside.map(|mark| {
        let glyph = format!(" {}", mark.glyph(theme.ascii()));
        Piece::new(glyph, dim(row, mark.tone()))
    });
    [count].into_iter().chain(worst).collect()
}

/// The lines of the tree before a title. Where it is too deep for the column the outer ones go.
fn branches(row: &Row, width: u16, theme: &Theme) -> String {
    let glyphs = theme.glyphs();
    let most = 1 + width / 6;
    let first = row.depth.saturating_sub(most) + 1;
    let line = |depth: u16| {
        let follows = row.trunk.checked_shr(depth.into()).unwrap_or(0) & 1 == 1;
        match (depth == row.depth, follows) {
            (true, true) => glyphs.fork,
            (true, false) => glyphs.branch,
            (false, true) => glyphs.trunk,
            (false, false) => "  ",
        }
    };
    (first..=row.depth).map(line).collect()
}

pub(super) fn agreement(agreement: Agreement, column: Cells, y: u16, pen: &mut Pen) {
    let glyph = agreement_glyph(agreement, pen.theme.ascii());
    let tone = match agreement {
        Agreement::Disagree => Tone::Disagree,
        Agreement::Agree | Agreement::Unknown => Tone::Dim,
    };
    pen.text(column.x, y, column.width, glyph, tone);
}

pub(super) fn age(row: &Row, right: u16, y: u16, pen: &mut Pen) {
    let age = [Piece::new(row.age.clone(), dim(row, row.age_tone))];
    pen.right(right, y, columns::AGE, &age);
}

/// The sentence, or (where little fits) the finding's name.
pub(super) fn draw_why(row: &Row, column: Cells, y: u16, pen: &mut Pen) {
    let fits = column.width >= SENTENCE || text::width(&row.why, pen.theme) <= column.width;
    let text = if fits || row.why_short.is_empty() {
        &row.why
    } else {
        &row.why_short
    };
    let used = pen.text(column.x, y, column.width, text, dim(row, row.tone));
    if matches!(row.mark, Mark::Settling(_)) {
        let style = pen.theme.mark(row.mark);
        pen.style(Rect::new(column.x, y, used, 1), style);
    }
}
