//! A box over everything: a plan before an action, with its keys at the foot.
//!
//! Invariant: title and foot are always seen; when the lines do not fit, the last one says so, and
//! keys scroll.

use crate::core::present::{Dialog, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// Cells of the widest line.
pub(super) const WIDEST: u16 = 96;
/// Cells taken by the frame and its blanks.
pub(super) const FRAME: u16 = 4;

pub(super) fn draw(screen: &Screen, pen: &mut Pen) {
    let Some(dialog) = &screen.dialog else {
        return;
    };
    let area = pen.area();
    let width = inner_width(dialog, area, pen.theme);
    let room = room_of(area);
    let lines = fitting(
        wrapped(dialog, width, pen.theme),
        room,
        width,
        dialog.scroll,
        pen.theme,
    );
    let height = u16::try_from(lines.len()).unwrap_or(area.height) + 3;
    let place = centered(area, width + FRAME, height);
    frame(place, &dialog.title, pen);
    for (glyphs, y) in lines.iter().zip(place.y + 1..place.bottom()) {
        pen.glyphs(place.x + 2, y, width, glyphs);
    }
    let foot = [Piece::new(dialog.foot.clone(), Tone::Key)];
    let right = place.right() - 2;
    pen.right(right, place.bottom() - 2, width, &foot);
}

/// The greatest scroll that shows something new; 0 where all fits.
pub(super) fn last_scroll(dialog: &Dialog, area: Rect, theme: &Theme) -> usize {
    let width = inner_width(dialog, area, theme);
    let lines = wrapped(dialog, width, theme).len();
    if lines <= room_of(area) {
        0
    } else {
        lines - shown_of(room_of(area))
    }
}

fn room_of(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(3))
}

/// How many lines are shown where not all fit: one says so.
fn shown_of(room: usize) -> usize {
    room.saturating_sub(1)
}

/// As wide as its longest text, if the screen is.
fn inner_width(dialog: &Dialog, area: Rect, theme: &Theme) -> u16 {
    let texts = dialog.lines.iter().chain([&dialog.title, &dialog.foot]);
    let widest = texts.map(|text| text::width(text, theme)).max();
    let most = area.width.saturating_sub(FRAME + 2);
    widest.unwrap_or(0).saturating_add(2).min(WIDEST).min(most)
}

fn wrapped(dialog: &Dialog, width: u16, theme: &Theme) -> Vec<Vec<Glyph>> {
    let lines = dialog.lines.iter();
    let glyphs = lines.map(|line| text::glyphs(line, Tone::Plain, theme));
    glyphs
        .flat_map(|glyphs| text::wrap(glyphs, width, 2))
        .collect()
}

fn fitting(
    lines: Vec<Vec<Glyph>>,
    room: usize,
    width: u16,
    scroll: usize,
    theme: &Theme,
) -> Vec<Vec<Glyph>> {
    if lines.len() <= room {
        return lines;
    }
    let shown = shown_of(room);
    let first = scroll.min(lines.len() - shown);
    let below = lines.len() - shown - first;
    let said = match (first, below) {
        (0, below) => format!("({below} more lines: PgDn)"),
        (above, 0) => format!("({above} above: PgUp)"),
        (above, below) => format!("({above} above, {below} below: PgUp PgDn)"),
    };
    let mut fitting: Vec<Vec<Glyph>> = lines.into_iter().skip(first).take(shown).collect();
    let glyphs = text::glyphs(&said, Tone::Dim, theme);
    fitting.push(text::cut(glyphs, width, theme));
    fitting
}

pub(super) fn centered(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 2;
    Rect::new(x, y, width, height)
}

pub(super) fn frame(place: Rect, title: &str, pen: &mut Pen) {
    let beside = Rect::new(
        place.x.saturating_sub(1),
        place.y,
        place.width + 2,
        place.height,
    );
    pen.clear(beside);
    let glyphs = pen.theme.glyphs();
    let [top_left, top_right, bottom_left, bottom_right] = glyphs.corners;
    let line = glyphs.rule.repeat(place.width.saturating_sub(2).into());
    let (right, bottom) = (place.right() - 1, place.bottom() - 1);
    let mut put = |x, y, text: &str| pen.text(x, y, place.width, text, Tone::Plain);
    put(place.x, place.y, &format!("{top_left}{line}{top_right}"));
    put(
        place.x,
        bottom,
        &format!("{bottom_left}{line}{bottom_right}"),
    );
    for y in place.y + 1..bottom {
        put(place.x, y, glyphs.bar);
        put(right, y, glyphs.bar);
    }
    let title = format!(" {title} ");
    let room = place.width.saturating_sub(4);
    pen.text(place.x + 2, place.y, room, &title, Tone::Strong);
}
