//! The first screen of a new user: what to do, a line each.
//!
//! Invariant: the keys at the foot are always seen; what does not fit above is cut at its end.

use super::footer;
use crate::core::present::{Greeting, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};

/// Lines of a screen from which there is air between the parts.
const AIRY: u16 = 14;
/// Cells by which the rest of a step is indented.
const INDENT: u16 = 2;

pub(super) fn draw(greeting: &Greeting, screen: &Screen, pen: &mut Pen) {
    let area = pen.area();
    let airy = area.height >= AIRY;
    let margin = if area.width >= 60 { 3 } else { 1 };
    let width = area.width.saturating_sub(2 * margin);
    pen.text(area.x + 1, area.y, width, "ocwatch", Tone::Strong);
    pen.rule(area.y + 1, "");
    let foot = area.bottom() - 1;
    let lines = lines(greeting, width, airy, pen);
    let top = area.y + 2 + u16::from(airy);
    for (glyphs, y) in lines.iter().zip(top..foot) {
        pen.glyphs(area.x + margin, y, width, glyphs);
    }
    footer::draw(screen, foot, pen);
}

fn lines(greeting: &Greeting, width: u16, airy: bool, pen: &Pen) -> Vec<Vec<Glyph>> {
    let theme = pen.theme;
    let title = [Piece::new(greeting.title.clone(), Tone::Watch)];
    let waits = [Piece::new(greeting.waits.clone(), Tone::Dim)];
    let wrapped = |line: &[Piece]| text::wrap(text::line(line, theme), width, INDENT);
    let gap = || airy.then(Vec::new);
    let mut lines = wrapped(&title);
    lines.extend(gap());
    for step in &greeting.steps {
        lines.extend(wrapped(step));
        lines.extend(gap());
    }
    lines.extend(wrapped(&waits));
    lines
}
