//! The pane that tells one session: under the table, or over it.
//!
//! What it does: wraps the story, cuts the timeline, keeps the newest of it in sight while the
//! pane does not have the keys, scrolls through all of it when it has. What it does not: word it.

use super::layout::Regions;
use super::position;
use crate::core::present::{Detail, Line, Screen, Tone};
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
    if let Some(y) = regions.detail_rule {
        pen.rule(y, &position::of_detail(screen, regions, pen.theme));
    }
    let height = usize::from(place.height);
    let told = Told::new(detail, place.width, pen.theme);
    if screen.detail_open {
        let first = first(screen, told.all.len(), height);
        put(told.all.into_iter().skip(first), place, pen);
    } else {
        put(told.newest(height).into_iter(), place, pen);
    }
}

/// The first line shown while the pane has the keys.
fn first(screen: &Screen, total: usize, height: usize) -> usize {
    screen.detail_scroll.min(total.saturating_sub(height))
}

/// First line shown, lines shown, lines in all.
pub(super) fn extent(screen: &Screen, regions: &Regions, theme: &Theme) -> Option<[usize; 3]> {
    let (detail, place) = (screen.detail.as_ref()?, regions.detail?);
    let height = usize::from(place.height);
    let total = Told::new(detail, place.width, theme).all.len();
    Some([first(screen, total, height), height, total])
}

fn put(lines: impl Iterator<Item = Vec<Glyph>>, place: Rect, pen: &mut Pen) {
    let width = place.width.saturating_sub(2);
    for (glyphs, y) in lines.zip(place.top()..place.bottom()) {
        let glyphs = text::cut(glyphs, width, pen.theme);
        pen.glyphs(place.x + 1, y, width, &glyphs);
    }
}

/// The lines of the pane; those up to `fixed` are kept when the rest must give way.
struct Told {
    all: Vec<Vec<Glyph>>,
    fixed: usize,
}

impl Told {
    /// All lines for a pane `width` cells wide.
    fn new(detail: &Detail, width: u16, theme: &Theme) -> Self {
        let width = width.saturating_sub(2).min(PROSE);
        let mut all = vec![text::line(&detail.head, theme)];
        for line in &detail.story {
            all.extend(text::wrap(text::line(line, theme), width, INDENT));
        }
        let fixed = all.len();
        all.extend(detail.timeline.iter().map(|line| text::line(line, theme)));
        all.extend(detail.tail.iter().map(|line| tail(line, theme)));
        Self { all, fixed }
    }

    /// At most `height` lines: head and story, then the newest of what happened.
    fn newest(mut self, height: usize) -> Vec<Vec<Glyph>> {
        let over = self.all.len().saturating_sub(height);
        let end = self.fixed.saturating_add(over).min(self.all.len());
        self.all.drain(self.fixed.min(end)..end);
        self.all
    }
}

/// A line of what streams now, told from ours by a bar.
fn tail(line: &Line, theme: &Theme) -> Vec<Glyph> {
    let bar = format!("{} ", theme.glyphs().bar);
    let mut glyphs = text::glyphs(&bar, Tone::Dim, theme);
    glyphs.extend(text::line(line, theme));
    glyphs
}
