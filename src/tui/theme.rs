//! From meaning to looks: [`Tone`] and [`Mark`] to a style, and the glyphs of lines and boxes.
//!
//! What it does: names the terminal's own 16 colours once. What it does not: carry meaning. Every
//! tone also differs by a mark or a word, so the mono and the ASCII theme lose nothing.

use crate::core::present::{Mark, Tone};
use ratatui::style::{Color, Modifier, Style};

/// The glyphs that are not text: rules, boxes, tree, ends of cut texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// A horizontal rule, one cell.
    pub rule: &'static str,
    /// A vertical rule, one cell.
    pub bar: &'static str,
    /// Corners of a box: top left, top right, bottom left, bottom right; one cell each.
    pub corners: [&'static str; 4],
    /// Before the last child in the tree, two cells.
    pub branch: &'static str,
    /// Before a child that others follow, two cells.
    pub fork: &'static str,
    /// Past a child that others follow, two cells.
    pub trunk: &'static str,
    /// Where a text was cut, one cell.
    pub ellipsis: &'static str,
    /// In the margin of the selected row, one cell.
    pub pointer: &'static str,
    /// Between things on one line, one cell.
    pub dot: &'static str,
}

const UTF8: Glyphs = Glyphs {
    rule: "─",
    bar: "│",
    corners: ["┌", "┐", "└", "┘"],
    branch: "└ ",
    fork: "├ ",
    trunk: "│ ",
    ellipsis: "…",
    pointer: "▌",
    dot: "·",
};

const ASCII: Glyphs = Glyphs {
    rule: "-",
    bar: "|",
    corners: ["+", "+", "+", "+"],
    branch: "`-",
    fork: "|-",
    trunk: "| ",
    ellipsis: "~",
    pointer: ">",
    dot: "-",
};

/// How things look: with or without colour, with or without UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    color: bool,
    ascii: bool,
}

impl Theme {
    /// `color`: use the terminal's own colours, else bold, dim and reverse only. `ascii`: draw
    /// nothing outside ASCII.
    pub fn new(color: bool, ascii: bool) -> Self {
        Self { color, ascii }
    }

    /// Draws nothing outside ASCII.
    pub fn ascii(&self) -> bool {
        self.ascii
    }

    /// Lines, boxes and the like.
    pub fn glyphs(&self) -> &'static Glyphs {
        if self.ascii { &ASCII } else { &UTF8 }
    }

    /// The style of a meaning.
    pub fn tone(&self, tone: Tone) -> Style {
        let style = Style::new().add_modifier(weight(tone));
        match hue(tone) {
            Some(color) if self.color => style.fg(color),
            _ => style,
        }
    }

    /// The style of a mark: its tone, dim while it settles.
    pub fn mark(&self, mark: Mark) -> Style {
        let style = self.tone(mark.tone());
        if matches!(mark, Mark::Settling(_)) {
            style
                .remove_modifier(Modifier::BOLD)
                .add_modifier(Modifier::DIM)
        } else {
            style
        }
    }

    /// The selected row: one colour for all of it, since red on grey is hard to read and its mark
    /// tells the level anyway. `None` in mono, where the row is reversed instead.
    pub fn selected(&self) -> Option<Style> {
        let style = Style::new().bg(Color::DarkGray).fg(Color::White);
        self.color.then_some(style)
    }
}

fn weight(tone: Tone) -> Modifier {
    match tone {
        Tone::Plain | Tone::Watch | Tone::Working => Modifier::empty(),
        Tone::Dim => Modifier::DIM,
        Tone::Strong | Tone::Stuck | Tone::NeedsYou | Tone::Key => Modifier::BOLD,
        Tone::Disagree => Modifier::REVERSED,
    }
}

fn hue(tone: Tone) -> Option<Color> {
    match tone {
        Tone::Stuck => Some(Color::Red),
        Tone::NeedsYou => Some(Color::Magenta),
        Tone::Watch => Some(Color::Yellow),
        Tone::Working => Some(Color::Green),
        Tone::Plain | Tone::Dim | Tone::Strong | Tone::Key | Tone::Disagree => None,
    }
}
