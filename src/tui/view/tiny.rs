//! Too small for a table: one line that still says whether anybody is needed.

use crate::core::present::{Mark, Piece, Screen, Tone};
use crate::tui::paint::Pen;

pub(super) fn draw(screen: &Screen, pen: &mut Pen) {
    let area = pen.area();
    let line = match (&screen.dialog, &screen.page) {
        (Some(dialog), _) => vec![Piece::new(dialog.title.clone(), Tone::Strong)],
        (None, Some(page)) => vec![Piece::new(page.title.clone(), Tone::Strong)],
        (None, None) => counts(screen, pen.theme.ascii()),
    };
    pen.pieces(area.x, area.y, area.width, &line);
}

fn counts(screen: &Screen, ascii: bool) -> Vec<Piece> {
    let mut line = Vec::new();
    for count in screen.counts.iter().filter(|count| count.number > 0) {
        if matches!(count.mark, Mark::Stuck | Mark::NeedsYou | Mark::Watch) {
            let text = format!("{}{} ", count.mark.glyph(ascii), count.number);
            line.push(Piece::new(text, count.mark.tone()));
        }
    }
    line.push(Piece::new("too small", Tone::Dim));
    line
}
