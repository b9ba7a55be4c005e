//! A form over everything: texts, options, a line that is typed into, its keys at the foot.
//!
//! Invariants: what is pointed at is always seen, and so are title and foot; the last line of the
//! screen, where words to the user stand, is never covered.

use super::dialog::{self, FRAME, WIDEST};
use super::position;
use crate::core::present::{Form, FormLine, Hint, Line, Piece, Screen, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::{Position, Rect};
use std::ops::Range;

/// Lines of a screen below which the foot is short: its last hints are left out.
const HIGH: u16 = 16;
/// Lines of a short foot.
const FEET: usize = 2;
/// Cells that a line which is typed into takes at least.
const TYPED: u16 = 30;

/// A line as it is drawn.
struct Drawn {
    glyphs: Vec<Glyph>,
    focus: bool,
    /// The cursor's cell in it.
    cursor: Option<u16>,
}

/// Where everything of a form goes.
struct Layout {
    place: Rect,
    width: u16,
    lines: Vec<Drawn>,
    foot: Vec<Vec<Glyph>>,
    /// Lines of text that are seen.
    seen: Range<usize>,
    /// The greatest scroll back that shows something new.
    last_scroll: usize,
}

pub(super) fn draw(screen: &Screen, pen: &mut Pen) {
    let Some(form) = &screen.form else {
        return;
    };
    let layout = layout(form, pen.area(), pen.theme);
    let place = layout.place;
    if place.height < 2 || place.width < FRAME {
        return;
    }
    dialog::frame(place, &form.title, pen);
    let seen = &layout.seen;
    let lines = layout.lines.iter().skip(seen.start).take(seen.len());
    for (line, y) in lines.zip(place.y + 1..) {
        pen.glyphs(place.x + 2, y, layout.width, &line.glyphs);
        if line.focus {
            pen.select(Rect::new(place.x + 1, y, layout.width + 2, 1));
        }
    }
    let feet = u16::try_from(layout.foot.len()).unwrap_or(0);
    let top = place.bottom().saturating_sub(1 + feet);
    for (glyphs, y) in layout.foot.iter().zip(top..) {
        pen.glyphs(place.x + 2, y, layout.width, glyphs);
    }
    let part = position::seen(seen.start, seen.len(), layout.lines.len());
    if !part.is_empty() {
        let part = [Piece::new(format!(" {part} "), Tone::Dim)];
        pen.right(place.right() - 2, place.bottom() - 1, layout.width, &part);
    }
}

/// Where the cursor stands while a line is typed into.
pub(super) fn cursor(form: &Form, area: Rect, theme: &Theme) -> Option<Position> {
    let layout = layout(form, area, theme);
    let seen = layout.lines.iter().enumerate().skip(layout.seen.start);
    let mut seen = seen.take(layout.seen.len());
    let (at, cell) = seen.find_map(|(at, line)| Some((at, line.cursor?)))?;
    let below = u16::try_from(at - layout.seen.start).ok()?;
    let position = Position::new(layout.place.x + 2 + cell, layout.place.y + 1 + below);
    layout.place.contains(position).then_some(position)
}

/// The greatest scroll back that shows something new in `area`.
pub(super) fn last_scroll(form: &Form, area: Rect, theme: &Theme) -> usize {
    layout(form, area, theme).last_scroll
}

fn layout(form: &Form, area: Rect, theme: &Theme) -> Layout {
    let area = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    let width = inner_width(form, area, theme);
    let mut foot = packed(&form.foot, width, theme);
    if area.height < HIGH {
        foot.truncate(FEET);
    }
    let taken = foot.len() + 2;
    let room = usize::from(area.height).saturating_sub(taken);
    let lines = form.lines.iter();
    let mut lines: Vec<Drawn> = lines.flat_map(|line| drawn(line, width, theme)).collect();
    if lines.len() > room {
        lines.retain(|line| !line.glyphs.is_empty());
    }
    let height = lines.len().min(room);
    let first = first_seen(&lines, height);
    let start = first.saturating_sub(form.scroll);
    let place = dialog::centered(
        area,
        width + FRAME,
        u16::try_from(height + taken).unwrap_or(area.height),
    );
    Layout {
        place,
        width,
        seen: start..(start + height).min(lines.len()),
        lines,
        foot,
        last_scroll: first,
    }
}

/// The hints of the foot in lines, none of them broken.
fn packed(foot: &[Hint], width: u16, theme: &Theme) -> Vec<Vec<Glyph>> {
    let mut lines: Vec<Line> = Vec::new();
    for hint in foot {
        let mut words = vec![Piece::new(hint.key.clone(), Tone::Key)];
        if !hint.words.is_empty() {
            words.push(Piece::new(format!(" {}", hint.words), Tone::Plain));
        }
        let cells = |line: &Line| text::total(&text::line(line, theme));
        let fits = |line: &&mut Line| cells(line) + 2 + cells(&words) <= width;
        if let Some(last) = lines.last_mut().filter(fits) {
            last.push(Piece::new("  ", Tone::Plain));
            last.append(&mut words);
        } else {
            lines.push(words);
        }
    }
    let cut = |line: &Line| text::cut(text::line(line, theme), width, theme);
    lines.iter().map(cut).collect()
}

/// From the top, unless what is pointed at (or, with nothing, the end) would not be seen.
fn first_seen(lines: &[Drawn], height: usize) -> usize {
    let mut focus = lines.iter().enumerate().filter(|(_, line)| line.focus);
    let Some((begin, _)) = focus.next() else {
        // Only a text: it is scrolled back from its end.
        return lines.len().saturating_sub(height);
    };
    let end = focus.next_back().map_or(begin, |(at, _)| at) + 1;
    end.saturating_sub(height).min(begin)
}

/// As wide as its longest text, if the screen is.
fn inner_width(form: &Form, area: Rect, theme: &Theme) -> u16 {
    let width = |line: &FormLine| {
        let mark = text::width(&line.mark, theme);
        let said = text::total(&text::line(&line.text, theme));
        mark.saturating_add(said).saturating_add(1)
    };
    let typed = |line: &FormLine| match line.cursor {
        Some(_) => width(line).max(text::width(&line.mark, theme) + TYPED),
        None => width(line),
    };
    let widest = form.lines.iter().map(typed).max().unwrap_or(0);
    let hint = |it: &Hint| text::width(&it.key, theme) + text::width(&it.words, theme) + 3;
    let foot = form.foot.iter().map(hint).fold(0, u16::saturating_add);
    let said = text::width(&form.title, theme).max(foot);
    let most = area.width.saturating_sub(FRAME + 2);
    widest.max(said).saturating_add(2).min(WIDEST).min(most)
}

fn drawn(line: &FormLine, width: u16, theme: &Theme) -> Vec<Drawn> {
    let mark = text::glyphs(&line.mark, Tone::Plain, theme);
    let indent = text::total(&mark);
    let said = text::line(&line.text, theme);
    if let Some(cursor) = line.cursor {
        let room = width.saturating_sub(indent);
        let before: String = line.text.iter().map(|it| it.text.as_str()).collect();
        let before: String = before.chars().take(cursor).collect();
        let (said, at) = text::window(said, text::width(&before, theme), room);
        return vec![Drawn {
            glyphs: mark.into_iter().chain(said).collect(),
            focus: line.focus,
            cursor: Some(indent + at),
        }];
    }
    let glyphs = mark.into_iter().chain(said).collect();
    let one = |glyphs| Drawn {
        glyphs,
        focus: line.focus,
        cursor: None,
    };
    let indent = if indent == 0 { blanks(line) } else { indent };
    let lines = text::wrap(glyphs, width, indent);
    lines.into_iter().map(one).collect()
}

/// Cells by which a text that has no mark is indented itself.
fn blanks(line: &FormLine) -> u16 {
    let first = line.text.first().map_or("", |it| it.text.as_str());
    u16::try_from(first.chars().take_while(|c| *c == ' ').count()).unwrap_or(0)
}
