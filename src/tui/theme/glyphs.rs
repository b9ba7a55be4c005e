//! The glyphs that are not text: lines, boxes, the tree; in UTF-8 and in ASCII.

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

pub(super) const UTF8: Glyphs = Glyphs {
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

pub(super) const ASCII: Glyphs = Glyphs {
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
