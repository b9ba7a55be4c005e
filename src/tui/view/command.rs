//! The command line in place of the footer, and above it what it may become.
//!
//! Invariants: the line is always seen, what is chosen is always among what is seen, and the list
//! never takes more than half of the screen.

use crate::core::present::{Command, Offered, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::{Position, Rect};

/// Cells before the text: a margin, a colon.
const BEFORE: u16 = 2;
/// Lines of the list at most.
const MOST: u16 = 10;
/// Cells of a name, of keys, and before them.
const NAME: u16 = 14;
const KEYS: u16 = 9;
const MARGIN: u16 = 3;

pub(super) fn draw(screen: &Screen, pen: &mut Pen) {
    let Some(command) = &screen.command else {
        return;
    };
    let area = pen.area();
    let y = area.bottom().saturating_sub(1);
    pen.clear(Rect::new(area.x, y, area.width, 1));
    pen.text(area.x, y, BEFORE, " :", Tone::Key);
    let (window, _) = window(command, area, pen.theme);
    pen.glyphs(area.x + BEFORE, y, room(area), &window);
    let most = MOST.min(area.height.saturating_sub(3) / 2);
    let lines = list(command, area, usize::from(most), pen.theme);
    let height = u16::try_from(lines.len()).unwrap_or(0);
    if height == 0 {
        return;
    }
    let top = y.saturating_sub(height);
    pen.clear(Rect::new(area.x, top - 1, area.width, height + 1));
    pen.rule(top - 1, &label(command, lines.len()));
    for (line, y) in lines.iter().zip(top..y) {
        match line {
            Listed::Wrong(why) => {
                pen.glyphs(area.x + MARGIN, y, area.width - MARGIN, why);
            }
            Listed::Offered(offered, chosen) => self::offered(offered, *chosen, y, pen),
        }
    }
}

enum Listed<'a> {
    Wrong(Vec<Glyph>),
    Offered(&'a Offered, bool),
}

/// Why it was not run, else a part of what it may become, with what is chosen in it.
fn list<'a>(command: &'a Command, area: Rect, most: usize, theme: &Theme) -> Vec<Listed<'a>> {
    if let Some(why) = &command.wrong {
        let why = text::glyphs(why, Tone::Watch, theme);
        let lines = text::wrap(why, area.width.saturating_sub(MARGIN + 1), 0);
        return lines.into_iter().take(most).map(Listed::Wrong).collect();
    }
    let first = command.chosen.map_or(0, |it| (it + 1).saturating_sub(most));
    let all = command.offered.iter().enumerate().skip(first).take(most);
    all.map(|(place, it)| Listed::Offered(it, command.chosen == Some(place)))
        .collect()
}

/// `Tab completes · 10 of 40`.
fn label(command: &Command, shown: usize) -> String {
    let all = command.offered.len();
    if command.wrong.is_some() {
        String::new()
    } else if shown < all {
        format!("Tab completes, {shown} of {all}")
    } else {
        "Tab completes".to_owned()
    }
}

fn offered(it: &Offered, chosen: bool, y: u16, pen: &mut Pen) {
    let area = pen.area();
    let tone = if it.dim { Tone::Dim } else { Tone::Plain };
    let pointer = if chosen { ">" } else { " " };
    pen.text(area.x + 1, y, 1, pointer, Tone::Strong);
    let mut x = area.x + MARGIN;
    let name = text::width(&it.word, pen.theme);
    pen.text(x, y, area.right().saturating_sub(x), &it.word, Tone::Strong);
    x += NAME.max(name + 1);
    // The help is worth more than the keys where there is no room for both.
    if area.width >= 60 {
        pen.text(x, y, KEYS - 1, &it.keys, Tone::Key);
        x += KEYS;
    }
    let room = area.right().saturating_sub(x);
    let help = [Piece::new(it.help.clone(), tone)];
    pen.pieces(x, y, room, &help);
    if chosen {
        pen.select(Rect::new(area.x, y, area.width, 1));
    }
}

fn room(area: Rect) -> u16 {
    area.width.saturating_sub(BEFORE + 1).max(1)
}

fn window(command: &Command, area: Rect, theme: &Theme) -> (Vec<Glyph>, u16) {
    let before: String = command.text.chars().take(command.cursor).collect();
    let glyphs = text::glyphs(&command.text, Tone::Strong, theme);
    text::window(glyphs, text::width(&before, theme), room(area))
}

/// Where the cursor stands.
pub(super) fn cursor(command: &Command, area: Rect, theme: &Theme) -> Position {
    let (_, at) = window(command, area, theme);
    Position::new(area.x + BEFORE + at, area.bottom().saturating_sub(1))
}
