//! Reads a text: how many lines it takes, which of them are shown, and what is found in them.
//!
//! What it does: break lines as [`Flow`] says, keep what is sought in sight, mark hits and what is
//! pointed at in the margin. What it does not: make glyphs of what is not seen, where the flow allows
//! it; a text of many kilobytes is measured with each frame.

use super::search;
use crate::core::present::{Flow, Found, Line, Page, Place, Sheet, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// Cells before a line that goes on, where more than half of the width would be blank.
const SHORT: u16 = 2;

/// A text to read.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    lines: &'a [Line],
    flow: Flow,
    place: Place,
    pointed: Option<usize>,
    found: Option<&'a Found>,
}

impl<'a> From<&'a Sheet> for Reader<'a> {
    fn from(sheet: &'a Sheet) -> Self {
        Self {
            lines: &sheet.lines,
            flow: sheet.flow,
            place: sheet.place,
            pointed: sheet.pointed,
            found: sheet.found.as_ref(),
        }
    }
}

impl<'a> From<&'a Page> for Reader<'a> {
    fn from(page: &'a Page) -> Self {
        let from = page.scroll;
        Self {
            lines: &page.lines,
            flow: page.flow,
            place: match page.seek {
                Some(line) => Place::Seek { from, line },
                None => Place::From(from),
            },
            pointed: None,
            found: page.found.as_ref(),
        }
    }
}

/// Where each line of a text begins, counted as shown; at last how many are shown in all.
pub(super) struct Laid(Vec<usize>);

impl Laid {
    /// From how many lines each takes.
    pub fn new(heights: impl Iterator<Item = usize>) -> Self {
        let mut starts = vec![0];
        let mut at = 0_usize;
        for height in heights {
            at = at.saturating_add(height);
            starts.push(at);
        }
        Self(starts)
    }

    /// Lines as shown.
    pub fn total(&self) -> usize {
        self.0.last().copied().unwrap_or(0)
    }

    /// The first line shown of `height`; `below`: how far below its beginning what is sought stands.
    pub fn first(&self, place: Place, height: usize, below: usize) -> usize {
        let last = self.total().saturating_sub(height);
        let from = match place {
            Place::From(from) => from,
            Place::End => last,
            Place::Seek { from, line } => {
                let at = self.0.get(line).copied().unwrap_or(0) + below;
                let from = from.min(last);
                if (from..from + height).contains(&at) {
                    from
                } else {
                    at.saturating_sub(height / 2)
                }
            }
        };
        from.min(last)
    }

    /// The shown lines of a line of the text: from, and up to.
    pub fn span(&self, line: usize) -> [usize; 2] {
        let at = |line: usize| self.0.get(line).copied().unwrap_or(self.total());
        [at(line), at(line + 1)]
    }

    /// The line of the text that a shown one belongs to.
    fn line_at(&self, shown: usize) -> usize {
        self.0
            .partition_point(|start| *start <= shown)
            .saturating_sub(1)
    }
}

impl Reader<'_> {
    fn laid(&self, width: u16, theme: &Theme) -> Laid {
        Laid::new(
            self.lines
                .iter()
                .map(|line| self.height(line, width, theme)),
        )
    }

    fn height(&self, line: &Line, width: u16, theme: &Theme) -> usize {
        match self.flow {
            Flow::Cut => 1,
            Flow::Cells => match plain_cells(line) {
                Some(cells) => cells.div_ceil(usize::from(width.max(1))).max(1),
                None => self.broken(line, width, theme).len(),
            },
            Flow::Words => self.broken(line, width, theme).len(),
        }
    }

    /// The shown lines of one line.
    fn broken(&self, line: &Line, width: u16, theme: &Theme) -> Vec<Vec<Glyph>> {
        let glyphs = text::line(line, theme);
        match self.flow {
            Flow::Cut => vec![text::cut(glyphs, width, theme)],
            Flow::Cells => text::chunks(glyphs, width),
            Flow::Words => {
                let indent = hanging(line, &glyphs, theme);
                let indent = if indent > width / 2 { SHORT } else { indent };
                text::wrap(glyphs, width, indent)
            }
        }
    }

    /// How far below its line's beginning the hit stands that is sought.
    fn below(&self, width: u16, theme: &Theme) -> usize {
        let Place::Seek { line, .. } = self.place else {
            return 0;
        };
        let hit = self.found.filter(|found| found.line == Some(line));
        let wanted = search::wanted(hit, theme);
        let broken = self.lines.get(line).filter(|_| !wanted.is_empty());
        let broken = broken.map(|line| self.broken(line, width, theme));
        let mut broken = broken.into_iter().flatten();
        broken
            .position(|glyphs| search::has(&glyphs, &wanted))
            .unwrap_or(0)
    }

    /// First line shown, lines shown, lines in all.
    pub fn extent(&self, width: u16, height: usize, theme: &Theme) -> [usize; 3] {
        let laid = self.laid(width, theme);
        let first = laid.first(self.place, height, self.below(width, theme));
        [first, height, laid.total()]
    }

    /// Draws what is seen into `place`; the margin is the cell before it.
    pub fn draw(&self, place: Rect, pen: &mut Pen) {
        let (width, height) = (place.width, usize::from(place.height));
        let laid = self.laid(width, pen.theme);
        let first = laid.first(self.place, height, self.below(width, pen.theme));
        let wanted = search::wanted(self.found, pen.theme);
        let mut at = laid.line_at(first);
        let mut skip = first - laid.0.get(at).copied().unwrap_or(0);
        let mut y = place.y;
        while let Some(line) = self.lines.get(at).filter(|_| y < place.bottom()) {
            for mut glyphs in self.broken(line, width, pen.theme).into_iter().skip(skip) {
                if y >= place.bottom() {
                    break;
                }
                let hit = search::mark(&mut glyphs, &wanted);
                let is_hit = hit && self.found.is_some_and(|found| found.line == Some(at));
                if is_hit || self.pointed == Some(at) {
                    search::point(place.x, y, pen);
                }
                pen.glyphs(place.x, y, width, &glyphs);
                y += 1;
            }
            skip = 0;
            at += 1;
        }
    }
}

/// The cells of a line that every terminal draws one cell a byte.
fn plain_cells(line: &Line) -> Option<usize> {
    line.iter()
        .map(|piece| text::plain_cells(&piece.text))
        .sum()
}

/// The cell where a line's last piece begins; with one piece, where its text does; behind a key,
/// where that ends.
fn hanging(line: &Line, glyphs: &[Glyph], theme: &Theme) -> u16 {
    if let Some(key) = line.first().filter(|it| it.tone == Tone::Key) {
        return text::width(&key.text, theme);
    }
    match line.split_last() {
        Some((_, before)) if !before.is_empty() => text::total(&text::line(before, theme)),
        _ => {
            let blanks = glyphs.iter().take_while(|glyph| glyph.symbol == " ");
            u16::try_from(blanks.count()).unwrap_or(0)
        }
    }
}
