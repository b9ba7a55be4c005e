//! A pen that draws text into a buffer and never outside its area.
//!
//! What it does: cuts to cells, applies tones, keeps to the area. What it does not: choose
//! places. Coordinates are those of the buffer; what lies outside the area is not drawn.

use super::text::{self, Glyph};
use super::theme::Theme;
use crate::core::present::{Piece, Tone};
use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// Draws into `area` of a buffer.
pub(super) struct Pen<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    /// How things look.
    pub theme: &'a Theme,
}

impl<'a> Pen<'a> {
    /// A pen for the part of `area` that the buffer has.
    pub fn new(buffer: &'a mut Buffer, area: Rect, theme: &'a Theme) -> Self {
        let area = area.intersection(buffer.area);
        Self {
            buffer,
            area,
            theme,
        }
    }

    /// The same pen, kept to a part of its area.
    pub fn within(&mut self, area: Rect) -> Pen<'_> {
        Pen {
            area: area.intersection(self.area),
            buffer: &mut *self.buffer,
            theme: self.theme,
        }
    }

    /// The part of the buffer that it draws into.
    pub fn area(&self) -> Rect {
        self.area
    }

    /// Draws a text from `x` in at most `width` cells; answers the cells used.
    pub fn text(&mut self, x: u16, y: u16, width: u16, text: &str, tone: Tone) -> u16 {
        let glyphs = text::glyphs(text, tone, self.theme);
        self.cut_glyphs(x, y, width, glyphs)
    }

    /// The same in a style of its own, for marks.
    pub fn styled(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) -> u16 {
        let used = self.text(x, y, width, text, Tone::Plain);
        self.style(Rect::new(x, y, used, 1), style);
        used
    }

    /// Draws a text that ends before `right`; answers where it begins.
    pub fn right(&mut self, right: u16, y: u16, width: u16, pieces: &[Piece]) -> u16 {
        let glyphs = text::cut(text::line(pieces, self.theme), width, self.theme);
        let x = right.saturating_sub(text::total(&glyphs));
        self.glyphs(x, y, width, &glyphs);
        x
    }

    /// Draws a text of which the end is seen where not all fits.
    pub fn front(&mut self, x: u16, y: u16, width: u16, text: &str, tone: Tone) -> u16 {
        let glyphs = text::glyphs(text, tone, self.theme);
        let glyphs = text::cut_front(glyphs, width, self.theme);
        self.glyphs(x, y, width, &glyphs)
    }

    /// Draws a line of pieces; answers the cells used.
    pub fn pieces(&mut self, x: u16, y: u16, width: u16, pieces: &[Piece]) -> u16 {
        let glyphs = text::line(pieces, self.theme);
        self.cut_glyphs(x, y, width, glyphs)
    }

    fn cut_glyphs(&mut self, x: u16, y: u16, width: u16, glyphs: Vec<Glyph>) -> u16 {
        let room = width.min(self.area.right().saturating_sub(x));
        let glyphs = text::cut(glyphs, room, self.theme);
        self.glyphs(x, y, room, &glyphs)
    }

    /// Draws glyphs as they are, as far as `width` and the area go; answers the cells used.
    pub fn glyphs(&mut self, x: u16, y: u16, width: u16, glyphs: &[Glyph]) -> u16 {
        let end = x.saturating_add(width).min(self.area.right());
        let mut at = x;
        for glyph in glyphs {
            if at.saturating_add(glyph.width) > end {
                break;
            }
            self.put(at, y, glyph);
            at += glyph.width;
        }
        if text::turns(glyphs) {
            self.end_of_turn(x, at, y);
        }
        at - x
    }

    /// Text that is written from right to left ends with its last cell, whatever stands beside it.
    fn end_of_turn(&mut self, x: u16, end: u16, y: u16) {
        let drawn = (x..end).rev().find_map(|x| {
            let inside = self.area.contains((x, y).into());
            let cell = self.buffer.cell((x, y)).filter(|_| inside)?;
            // The second cell of a wide character is blank, and drawn with the first.
            let wide = x.checked_sub(1).and_then(|x| self.buffer.cell((x, y)));
            let covered = wide.is_some_and(|cell| cell.symbol().cell_width() == 2);
            (!covered).then(|| (x, format!("{}{}", cell.symbol(), text::LEFT_TO_RIGHT)))
        });
        if let Some((x, symbol)) = drawn
            && let Some(cell) = self.buffer.cell_mut((x, y))
        {
            cell.set_symbol(&symbol);
        }
    }

    fn put(&mut self, x: u16, y: u16, glyph: &Glyph) {
        if !self.area.contains((x, y).into()) {
            return;
        }
        let style = self.theme.tone(glyph.tone);
        let ground = self.theme.ground();
        if let Some(cell) = self.buffer.cell_mut((x, y)) {
            cell.set_symbol(&glyph.symbol).set_style(style);
        }
        for covered in 1..glyph.width {
            if let Some(cell) = self.buffer.cell_mut((x + covered, y)) {
                cell.reset();
                cell.set_style(ground).set_style(style);
            }
        }
    }

    /// A rule across the area, with what is to be said in it near its right end.
    pub fn rule(&mut self, y: u16, label: &str) {
        let line = self.theme.glyphs().rule.repeat(self.area.width.into());
        self.text(self.area.x, y, self.area.width, &line, Tone::Dim);
        if !label.is_empty() {
            let label = [Piece::new(format!(" {label} "), Tone::Plain)];
            let right = self.area.right().saturating_sub(1);
            self.right(right, y, self.area.width.saturating_sub(2), &label);
        }
    }

    /// Adds a style to cells.
    pub fn style(&mut self, place: Rect, style: Style) {
        self.buffer.set_style(place.intersection(self.area), style);
    }

    /// Makes cells blank, on the theme's ground.
    pub fn clear(&mut self, place: Rect) {
        let ground = self.theme.ground();
        for position in place.intersection(self.area).positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.reset();
                cell.set_style(ground);
            }
        }
    }

    /// Marks the cells of the selected row: a background, or reversed in mono.
    pub fn select(&mut self, place: Rect) {
        let selected = self.theme.selected();
        for position in place.intersection(self.area).positions() {
            let Some(cell) = self.buffer.cell_mut(position) else {
                continue;
            };
            cell.modifier.remove(Modifier::DIM);
            match selected {
                Some(style) => {
                    cell.set_style(style);
                }
                None => cell.modifier.toggle(Modifier::REVERSED),
            }
        }
    }
}
