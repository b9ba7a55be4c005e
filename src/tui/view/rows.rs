//! The table with one line a session.

use super::columns::{self, Column, Columns};
use super::layout::Regions;
use super::position::window;
use crate::core::present::{Agreement, Mark, Piece, Row, Screen, Tone, agreement_glyph};
use crate::tui::paint::Pen;
use crate::tui::text;
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
        headings(&columns, y, pen);
    }
    if screen.rows.is_empty() {
        return nothing(screen, table, pen);
    }
    let tags = Tags::new(screen, &columns);
    let shown = screen.rows.iter().enumerate().skip(first).take(visible);
    for ((place, row), y) in shown.zip(table.y..) {
        draw_row(row, tags.of(&row.server), &columns, y, pen);
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

/// What stands in the server column.
pub(super) struct Tags<'a> {
    names: Vec<&'a str>,
    tags: Option<Vec<String>>,
}

impl<'a> Tags<'a> {
    fn new(screen: &'a Screen, columns: &Columns) -> Self {
        let mut this = Self::two_letters(screen);
        if !columns.tags {
            this.tags = None;
        }
        this
    }
    /// Two letters for each server.
    pub fn two_letters(screen: &'a Screen) -> Self {
        let names: Vec<&str> = screen.servers.iter().map(|s| s.name.as_str()).collect();
        let tags = Some(columns::tags(&names));
        Self { names, tags }
    }
    /// The tag or the name of this server.
    pub fn of<'b>(&'b self, server: &'b str) -> &'b str {
        let place = self.names.iter().position(|name| *name == server);
        let tag = |tags: &'b Vec<String>| tags.get(place?).map(String::as_str);
        self.tags.as_ref().and_then(tag).unwrap_or(server)
    }
}

fn headings(columns: &Columns, y: u16, pen: &mut Pen) {
    let server = if columns.tags { "" } else { "SERVER" };
    let heads = [
        (columns.server, server),
        (columns.session, "SESSION"),
        (columns.reported, "REPORTED"),
        (columns.activity, "ACTUALLY"),
        (columns.why, "WHY"),
    ];
    for (column, head) in heads {
        pen.text(column.x, y, column.width, head, Tone::Dim);
    }
    let age = [Piece::new("FOR", Tone::Dim)];
    let right = columns.age.x + columns.age.width;
    pen.right(right, y, columns.age.width, &age);
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
    let dimmed = |tone: Tone| dim(row, tone);
    mark(row, columns.mark, y, pen);
    let mut field = |column: Column, text: &str, tone: Tone| {
        pen.text(column.x, y, column.width, text, dimmed(tone));
    };
    field(columns.server, server, Tone::Plain);
    field(columns.reported, &row.reported, Tone::Plain);
    field(columns.activity, &row.activity, Tone::Plain);
    draw_why(row, columns.why, y, pen);
    title(row, columns.session, y, pen);
    agreement(row.agreement, columns.agreement, y, pen);
    age(row, columns.age.x + columns.age.width, y, pen);
    let starts = [columns.why, columns.age, columns.reported];
    draw_result(row, &starts.map(|column| column.x), y, pen);
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

pub(super) fn mark(row: &Row, column: Column, y: u16, pen: &mut Pen) {
    let style = pen.theme.mark(row.mark);
    let glyph = row.mark.glyph(pen.theme.ascii());
    pen.styled(column.x, y, column.width, glyph, style);
    if row.marked {
        pen.text(column.x + column.width, y, 1, "+", Tone::Strong);
    }
}

/// The title as a leaf of its tree; the count of folded children is never cut off.
pub(super) fn title(row: &Row, column: Column, y: u16, pen: &mut Pen) {
    let indent = (row.depth.saturating_sub(1).saturating_mul(2)).min(column.width / 3);
    let branch = if row.depth > 0 {
        pen.theme.glyphs().branch
    } else {
        ""
    };
    let folded = match row.folded {
        0 => String::new(),
        n => format!(" +{n}"),
    };
    let x = column.x + indent;
    let room = column.width - indent;
    let tail = text::width(&folded, pen.theme).min(room);
    let line = [
        Piece::new(branch, Tone::Dim),
        Piece::new(row.title.clone(), dim(row, Tone::Plain)),
    ];
    let used = pen.pieces(x, y, room - tail, &line);
    pen.text(x + used, y, tail, &folded, Tone::Dim);
}

pub(super) fn agreement(agreement: Agreement, column: Column, y: u16, pen: &mut Pen) {
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
pub(super) fn draw_why(row: &Row, column: Column, y: u16, pen: &mut Pen) {
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
