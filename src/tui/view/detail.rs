//! The pane that tells one session: under the table, or over it.
//!
//! What it does: wraps the story, cuts the timeline, keeps the newest of it in sight while the
//! pane does not have the keys, scrolls through all of it when it has. What it does not: word it.

use super::layout::Regions;
use crate::core::present::{Detail, Line, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// Cells by which a wrapped line of the story is indented.
const INDENT: u16 = 2;
/// Cells beyond which a line of prose is hard to read.
const PROSE: u16 = 140;

pub(super) fn draw(screen: &Screen, regions: &Regions, pen: &mut Pen) {
    let (Some(detail), Some(place)) = (&screen.detail, regions.detail) else {
        return;
    };
    let width = place.width.saturating_sub(2);
    let height = usize::from(place.height);
    let told = lines(detail, width, pen.theme);
    let last = told.all.len().saturating_sub(height);
    let first = if screen.detail_open {
        screen.detail_scroll.min(last)
    } else {
        0
    };
    if let Some(y) = regions.detail_rule {
        let total = told.all.len();
        pen.rule(y, &label(screen, first, height, total));
    }
    let shown = if screen.detail_open {
        told.all
    } else {
        told.newest(height)
    };
    put(shown.into_iter().skip(first), place, pen);
}

fn put(lines: impl Iterator<Item = Vec<Glyph>>, place: Rect, pen: &mut Pen) {
    let width = place.width.saturating_sub(2);
    for (glyphs, y) in lines.zip(place.top()..place.bottom()) {
        let glyphs = text::cut(glyphs, width, pen.theme);
        pen.glyphs(place.x + 1, y, width, &glyphs);
    }
}

/// On the rule: that the pane has the keys, and how much of it is seen.
fn label(screen: &Screen, first: usize, height: usize, total: usize) -> Vec<Piece> {
    if !screen.detail_open {
        return Vec::new();
    }
    let mut label = vec![Piece::new("detail", Tone::Strong)];
    if total > height {
        let seen = format!(" {}-{} of {total}", first + 1, first + height);
        label.push(Piece::new(seen, Tone::Dim));
    }
    label
}

/// The lines of the pane; those up to `fixed` are kept when the rest must give way.
struct Told {
    all: Vec<Vec<Glyph>>,
    fixed: usize,
}

impl Told {
    /// At most `height` lines: head and story, then the newest of what happened.
    fn newest(mut self, height: usize) -> Vec<Vec<Glyph>> {
        let over = self.all.len().saturating_sub(height);
        let end = self.fixed.saturating_add(over).min(self.all.len());
        self.all.drain(self.fixed.min(end)..end);
        self.all
    }
}

fn lines(detail: &Detail, width: u16, theme: &Theme) -> Told {
    let mut all = vec![text::line(&detail.head, theme)];
    for line in &detail.story {
        let glyphs = text::line(line, theme);
        all.extend(text::wrap(glyphs, width.min(PROSE), INDENT));
    }
    let fixed = all.len();
    all.extend(detail.timeline.iter().map(|line| text::line(line, theme)));
    all.extend(detail.tail.iter().map(|line| tail(line, theme)));
    Told { all, fixed }
}

/// A line of what streams now, told from ours by a bar.
fn tail(line: &Line, theme: &Theme) -> Vec<Glyph> {
    let bar = format!("{} ", theme.glyphs().bar);
    let mut glyphs = text::glyphs(&bar, Tone::Dim, theme);
    glyphs.extend(text::line(line, theme));
    glyphs
}
