//! What is looked for, on the screen: the line it is typed in, its count, its marks.
//!
//! Not by colour alone: a hit is reversed, and the line that is looked at is pointed at in the
//! margin.

use crate::core::present::{Found, Piece, Screen, Tone, folded};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::{Position, Rect};

/// Cells before the text: a margin, a slash, a blank.
const BEFORE: u16 = 3;
/// Cells after the text: the hits and blanks.
const AFTER: u16 = 20;

/// What is looked for in what is on top.
pub(super) fn of(screen: &Screen) -> Option<&Found> {
    if let Some(page) = &screen.page {
        return page.found.as_ref();
    }
    let detail = screen.detail.as_ref().filter(|_| screen.detail_open)?;
    match &detail.sheet {
        Some(sheet) => sheet.found.as_ref(),
        None => detail.found.as_ref(),
    }
}

/// `2 of 17 lines`; nothing while there is no text.
fn count(found: &Found) -> Piece {
    match found.of {
        _ if found.text.is_empty() => Piece::new("", Tone::Dim),
        0 => Piece::new("nowhere", Tone::Watch),
        of => Piece::new(format!("{} of {of} lines", found.number), Tone::Dim),
    }
}

/// For a rule: `/text 2 of 17 lines`, once it is typed.
pub(super) fn label(found: Option<&Found>) -> String {
    let found = found.filter(|it| it.cursor.is_none() && !it.text.is_empty());
    found.map_or_else(String::new, |it| {
        let text: String = it.text.chars().take(12).collect();
        format!("/{text} {}", count(it).text)
    })
}

/// The line it is typed in, in place of the footer; `false` while nothing is typed.
pub(super) fn typed(found: Option<&Found>, y: u16, pen: &mut Pen) -> bool {
    let Some(found) = found.filter(|it| it.cursor.is_some()) else {
        return false;
    };
    let area = pen.area();
    pen.text(area.x, y, BEFORE, " / ", Tone::Key);
    let (window, _) = window(found, area, pen.theme);
    pen.glyphs(area.x + BEFORE, y, room(area), &window);
    let right = area.right().saturating_sub(1);
    pen.right(right, y, AFTER, &[count(found)]);
    true
}

/// Where the cursor stands while it is typed.
pub(super) fn cursor(found: &Found, area: Rect, y: u16, theme: &Theme) -> Option<Position> {
    found.cursor?;
    let (_, at) = window(found, area, theme);
    Some(Position::new(area.x + BEFORE + at, y))
}

fn room(area: Rect) -> u16 {
    area.width.saturating_sub(BEFORE + AFTER + 1).max(1)
}

fn window(found: &Found, area: Rect, theme: &Theme) -> (Vec<Glyph>, u16) {
    let before: String = found.text.chars().take(found.cursor.unwrap_or(0)).collect();
    let glyphs = text::glyphs(&found.text, Tone::Strong, theme);
    text::window(glyphs, text::width(&before, theme), room(area))
}

/// What is looked for, glyph by glyph, as it is compared.
pub(super) fn wanted(found: Option<&Found>, theme: &Theme) -> Vec<String> {
    let text = found.map_or("", |found| found.text.as_str());
    let glyphs = text::glyphs(text, Tone::Hit, theme);
    glyphs.iter().map(|glyph| folded(&glyph.symbol)).collect()
}

/// Whether it stands in these glyphs.
pub(super) fn has(glyphs: &[Glyph], wanted: &[String]) -> bool {
    !wanted.is_empty() && glyphs.windows(wanted.len()).any(|part| same(part, wanted))
}

/// Marks it wherever it stands in these glyphs; `true` if it does.
pub(super) fn mark(glyphs: &mut [Glyph], wanted: &[String]) -> bool {
    if wanted.is_empty() {
        return false;
    }
    let (mut at, mut found) = (0, false);
    while let Some(part) = glyphs.get_mut(at..at + wanted.len()) {
        if same(part, wanted) {
            for glyph in part {
                glyph.tone = Tone::Hit;
            }
            found = true;
            at += wanted.len();
        } else {
            at += 1;
        }
    }
    found
}

fn same(glyphs: &[Glyph], wanted: &[String]) -> bool {
    let mut both = glyphs.iter().zip(wanted);
    both.all(|(glyph, wanted)| folded(&glyph.symbol) == *wanted)
}

/// Points at a line, in the cell before it.
pub(super) fn point(x: u16, y: u16, pen: &mut Pen) {
    let pointer = pen.theme.glyphs().pointer;
    pen.text(x.saturating_sub(1), y, 1, pointer, Tone::Strong);
}
