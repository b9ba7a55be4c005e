//! The pane that tells one session: under the table, or over it.
//!
//! What it does: wraps the story, cuts the timeline, keeps the newest of it in sight while the
//! pane does not have the keys, scrolls through all of it when it has. What it does not: word it.

use super::layout::Regions;
use super::{columns, position};
use crate::core::present::{Detail, Line, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// Cells by which a wrapped line of the story is indented.
const INDENT: u16 = 2;
/// Cells by which a wrapped answer of a rule is indented: what stands before its reason.
const RULE_INDENT: u16 = 30;
/// Pieces of a line of the timeline that say when, who and what.
const WHAT: usize = 3;
/// Cells of these beyond which how it ended stands too far away.
const MOST_WHAT: u16 = 90;
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
        let width = width.saturating_sub(2);
        let mut all = vec![apart(&detail.head, 2, theme)];
        for line in &detail.story {
            let glyphs = text::line(line, theme);
            all.extend(text::wrap(glyphs, width.min(PROSE), INDENT));
        }
        let fixed = all.len();
        all.extend(timeline(&detail.timeline, width, theme));
        all.extend(detail.tail.iter().map(|line| tail(line, theme)));
        if !detail.rules.is_empty() {
            all.push(Vec::new());
        }
        for line in &detail.rules {
            all.extend(text::wrap(
                text::line(line, theme),
                width.min(PROSE),
                RULE_INDENT,
            ));
        }
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

/// The pieces with at least `gap` blanks between them.
fn apart(line: &[Piece], gap: u16, theme: &Theme) -> Vec<Glyph> {
    let mut glyphs: Vec<Glyph> = Vec::new();
    for piece in line.iter().filter(|piece| !piece.text.is_empty()) {
        let there = glyphs.iter().rev().take_while(|g| g.symbol == " ").count();
        let there = u16::try_from(there).unwrap_or(gap);
        if !glyphs.is_empty() {
            glyphs.extend(text::blanks(gap.saturating_sub(there)));
        }
        glyphs.extend(text::glyphs(&piece.text, piece.tone, theme));
    }
    glyphs
}

/// The timeline: when, who and what, then (kept when the what is cut, and all at one place) how
/// long and how it ended.
fn timeline(lines: &[Line], width: u16, theme: &Theme) -> Vec<Vec<Glyph>> {
    let told: Vec<[Vec<Glyph>; 2]> = lines
        .iter()
        .map(|line| {
            let (what, end) = line.split_at(WHAT.min(line.len()));
            [apart(what, 1, theme), outcome(end, theme)]
        })
        .collect();
    let with_end = || told.iter().filter(|[_, end]| !end.is_empty());
    let longest = with_end().map(|[_, end]| text::total(end)).max();
    let room = width.saturating_sub(longest.unwrap_or(0) + 2);
    let widest = with_end().map(|[what, _]| text::total(what)).max();
    let column = widest.unwrap_or(0).min(room).min(MOST_WHAT);
    told.into_iter()
        .map(|[what, end]| joined(what, end, column, theme))
        .collect()
}

/// How long (right-aligned, or its place left blank) and how it ended.
fn outcome(end: &[Piece], theme: &Theme) -> Vec<Glyph> {
    let is_age = |piece: &Piece| {
        piece.text.starts_with(|c: char| c.is_ascii_digit())
            && text::width(&piece.text, theme) <= columns::AGE
    };
    let (age, state) = match end.split_first() {
        Some((age, state)) if is_age(age) => (text::glyphs(&age.text, age.tone, theme), state),
        _ => (Vec::new(), end),
    };
    if age.is_empty() && state.is_empty() {
        return Vec::new();
    }
    let pad = columns::AGE.saturating_sub(text::total(&age));
    let mut glyphs: Vec<Glyph> = text::blanks(pad).chain(age).collect();
    if !state.is_empty() {
        glyphs.extend(text::blanks(1));
        glyphs.extend(apart(state, 1, theme));
    }
    glyphs
}

fn joined(what: Vec<Glyph>, end: Vec<Glyph>, column: u16, theme: &Theme) -> Vec<Glyph> {
    if end.is_empty() {
        return what;
    }
    let mut line = text::cut(what, column, theme);
    line.extend(text::blanks(column + 2 - text::total(&line)));
    line.extend(end);
    line
}

/// A line of what streams now, told from ours by a bar.
fn tail(line: &Line, theme: &Theme) -> Vec<Glyph> {
    let bar = format!("{} ", theme.glyphs().bar);
    let mut glyphs = text::glyphs(&bar, Tone::Dim, theme);
    glyphs.extend(text::line(line, theme));
    glyphs
}
