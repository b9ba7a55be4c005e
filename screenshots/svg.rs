//! A terminal screen as an SVG picture.
//!
//! What it does: put every run of cells at the place of its cells, whatever the font thinks of its
//! width; draw lines and boxes as lines. What it does not: embed a font. Invariant: column n begins
//! at n cells, so columns stay straight with any monospace font.

use std::fmt::Write;
use vt100::{Cell, Color, Screen};

/// Size of the letters, in px.
const FONT: f64 = 15.0;
/// A cell is as wide as DejaVu Sans Mono's letters: 1233 of 2048 units.
const CELL: f64 = FONT * 1233.0 / 2048.0;
const LINE: f64 = 19.0;
/// From the top of a cell to the line that letters stand on.
const BASE: f64 = 14.2;
const MARGIN: f64 = 14.0;

const BACK: Rgb = Rgb(0x16, 0x18, 0x1d);
const TEXT: Rgb = Rgb(0xd5, 0xd8, 0xde);
const FRAME: Rgb = Rgb(0x2c, 0x30, 0x38);

/// The terminal's own sixteen colours.
const PALETTE: [Rgb; 16] = [
    Rgb(0x16, 0x18, 0x1d),
    Rgb(0xf4, 0x65, 0x65),
    Rgb(0x8c, 0xc2, 0x65),
    Rgb(0xe5, 0xb5, 0x4c),
    Rgb(0x5c, 0xa4, 0xee),
    Rgb(0xd0, 0x7d, 0xe8),
    Rgb(0x4f, 0xb8, 0xc4),
    Rgb(0xd5, 0xd8, 0xde),
    Rgb(0x3c, 0x42, 0x4d),
    Rgb(0xff, 0x80, 0x80),
    Rgb(0xa9, 0xdc, 0x80),
    Rgb(0xf7, 0xcf, 0x6e),
    Rgb(0x82, 0xbd, 0xff),
    Rgb(0xe3, 0x9c, 0xf7),
    Rgb(0x74, 0xd4, 0xde),
    Rgb(0xff, 0xff, 0xff),
];

#[derive(Clone, Copy, PartialEq, Eq)]
struct Rgb(u8, u8, u8);

impl std::fmt::Display for Rgb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

impl Rgb {
    /// Half way to another colour.
    fn towards(self, other: Self) -> Self {
        let mid = |a: u8, b: u8| a.midpoint(b);
        Self(
            mid(self.0, other.0),
            mid(self.1, other.1),
            mid(self.2, other.2),
        )
    }
}

/// How a cell looks.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    fore: Rgb,
    back: Rgb,
    bold: bool,
    italic: bool,
    underline: bool,
}

/// The whole picture.
pub fn picture(screen: &Screen) -> String {
    let (rows, cols) = screen.size();
    let width = f64::from(cols) * CELL + 2.0 * MARGIN;
    let height = f64::from(rows) * LINE + 2.0 * MARGIN;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"{FONT}\">\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\" fill=\"{BACK}\" stroke=\"{FRAME}\"/>\n\
         <g transform=\"translate({MARGIN} {MARGIN})\" xml:space=\"preserve\">\n",
        width - 1.0,
        height - 1.0,
    );
    for row in 0..rows {
        let cells: Vec<Placed> = (0..cols)
            .filter_map(|col| place(screen, row, col))
            .collect();
        backgrounds(&mut out, row, &cells);
        letters(&mut out, row, &cells);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// A cell and where it is.
struct Placed {
    col: u16,
    width: u16,
    text: String,
    look: Look,
}

fn place(screen: &Screen, row: u16, col: u16) -> Option<Placed> {
    let cell = screen.cell(row, col)?;
    (!cell.is_wide_continuation()).then(|| Placed {
        col,
        width: if cell.is_wide() { 2 } else { 1 },
        text: cell.contents().to_owned(),
        look: look(cell),
    })
}

fn look(cell: &Cell) -> Look {
    let mut fore = color(cell.fgcolor()).unwrap_or(TEXT);
    let mut back = color(cell.bgcolor()).unwrap_or(BACK);
    if cell.inverse() {
        std::mem::swap(&mut fore, &mut back);
    }
    if cell.dim() {
        fore = fore.towards(back);
    }
    Look {
        fore,
        back,
        bold: cell.bold(),
        italic: cell.italic(),
        underline: cell.underline(),
    }
}

fn color(color: Color) -> Option<Rgb> {
    match color {
        Color::Default => None,
        Color::Idx(index) => Some(indexed(index)),
        Color::Rgb(r, g, b) => Some(Rgb(r, g, b)),
    }
}

/// The 256 colours of xterm.
fn indexed(index: u8) -> Rgb {
    let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    match index {
        0..=15 => PALETTE[usize::from(index)],
        16..=231 => {
            let n = index - 16;
            Rgb(level(n / 36), level(n / 6 % 6), level(n % 6))
        }
        232..=255 => {
            let grey = 8 + 10 * (index - 232);
            Rgb(grey, grey, grey)
        }
    }
}

fn backgrounds(out: &mut String, row: u16, cells: &[Placed]) {
    for run in cells.chunk_by(|a, b| a.look.back == b.look.back) {
        let back = run[0].look.back;
        if back == BACK {
            continue;
        }
        let (x, width) = extent(run);
        let y = f64::from(row) * LINE;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.2}\" y=\"{y:.0}\" width=\"{width:.2}\" height=\"{LINE}\" fill=\"{back}\"/>"
        );
    }
}

/// Left edge and width of a run, in px.
fn extent(run: &[Placed]) -> (f64, f64) {
    let width: u16 = run.iter().map(|cell| cell.width).sum();
    let x = f64::from(run[0].col) * CELL;
    (x, f64::from(width) * CELL)
}

fn letters(out: &mut String, row: u16, cells: &[Placed]) {
    for run in cells.chunk_by(together) {
        let first = run[0].text.chars().next().unwrap_or(' ');
        if first == ' ' {
            continue;
        }
        match arms(first) {
            Some(arms) => lines(out, row, run, arms),
            None if first == '▌' => half_block(out, row, run),
            None => word(out, row, run),
        }
    }
}

/// Whether the second cell stands in one word or line with the first. What is not ASCII stands
/// alone: another font may draw it, with another width.
fn together(a: &Placed, b: &Placed) -> bool {
    let plain = |cell: &Placed| cell.text.chars().all(|c| c.is_ascii_graphic());
    let word = |cell: &Placed| !cell.text.is_empty() && plain(cell);
    let rule = a.text == "─" && b.text == "─";
    a.look == b.look && (rule || (word(a) && word(b)))
}

fn word(out: &mut String, row: u16, run: &[Placed]) {
    let (x, width) = extent(run);
    let y = f64::from(row) * LINE + BASE;
    let Look {
        fore,
        bold,
        italic,
        underline,
        ..
    } = run[0].look;
    let _ = write!(
        out,
        "<text x=\"{x:.2}\" y=\"{y:.1}\" textLength=\"{width:.2}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{fore}\""
    );
    let styles = [
        (bold, " font-weight=\"bold\""),
        (italic, " font-style=\"italic\""),
        (underline, " text-decoration=\"underline\""),
    ];
    for (_, style) in styles.iter().filter(|(on, _)| *on) {
        out.push_str(style);
    }
    out.push('>');
    run.iter()
        .flat_map(|cell| cell.text.chars())
        .for_each(|c| escape(out, c));
    out.push_str("</text>\n");
}

fn escape(out: &mut String, c: char) {
    match c {
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '&' => out.push_str("&amp;"),
        c => out.push(c),
    }
}

/// The strokes of a line or box glyph, from the middle of its cell: up, down, left, right.
fn arms(c: char) -> Option<[bool; 4]> {
    let arms = match c {
        '─' => "lr",
        '│' => "ud",
        '┌' => "dr",
        '┐' => "dl",
        '└' => "ur",
        '┘' => "ul",
        '├' => "udr",
        '┤' => "udl",
        '┬' => "dlr",
        '┴' => "ulr",
        '┼' => "udlr",
        _ => return None,
    };
    Some(['u', 'd', 'l', 'r'].map(|arm| arms.contains(arm)))
}

fn lines(out: &mut String, row: u16, run: &[Placed], [up, down, left, right]: [bool; 4]) {
    let (x, width) = extent(run);
    let top = f64::from(row) * LINE;
    let (mid_x, mid_y) = (x + CELL / 2.0, top + LINE / 2.0);
    let mut path = String::new();
    if left || right {
        let from = if left { x } else { mid_x };
        let to = if right { x + width } else { mid_x };
        let _ = write!(path, "M{from:.2} {mid_y:.1}H{to:.2}");
    }
    if up || down {
        let from = if up { top } else { mid_y };
        let to = if down { top + LINE } else { mid_y };
        let _ = write!(path, "M{mid_x:.2} {from:.1}V{to:.1}");
    }
    let fore = run[0].look.fore;
    let _ = writeln!(out, "<path d=\"{path}\" stroke=\"{fore}\" fill=\"none\"/>");
}

/// The pointer of the selected row: as high as its cell, whatever the font thinks.
fn half_block(out: &mut String, row: u16, run: &[Placed]) {
    let (x, _) = extent(run);
    let y = f64::from(row) * LINE;
    let (width, fore) = (CELL / 2.0, run[0].look.fore);
    let _ = writeln!(
        out,
        "<rect x=\"{x:.2}\" y=\"{y:.0}\" width=\"{width:.2}\" height=\"{LINE}\" fill=\"{fore}\"/>"
    );
}
