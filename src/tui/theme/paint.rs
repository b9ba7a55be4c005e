//! Styles as a person writes them, and as a terminal can show them.
//!
//! What it does: read `white on blue bold`; bring a colour down to the 16 that every terminal has.
//! What it does not: know a theme.

use ratatui::style::{Color, Modifier, Style};

/// Words of a style that are no colour.
const MODIFIERS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("plain", Modifier::empty()),
];

/// The 16 colours, as they are written.
const COLOURS: [(&str, Color); 17] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("gray", Color::Gray),
    ("dark-gray", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("white", Color::White),
];

/// A word of a style that says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread(pub String);

/// Every word that a style may have but numbers and `#rrggbb`; for the nearest right one.
pub fn style_words() -> impl Iterator<Item = &'static str> {
    let colours = COLOURS.iter().map(|(word, _)| *word);
    let modifiers = MODIFIERS.iter().map(|(word, _)| *word);
    colours.chain(modifiers).chain(["on"])
}

/// Reads a style: colours and modifiers in any order, `on` before a background: `white on blue bold`.
/// A colour is one of the 16 by name, a number from 0 to 255, or `#rrggbb`.
pub fn read_style(text: &str) -> Result<Style, Unread> {
    let mut style = Style::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let modifier = MODIFIERS.iter().find(|(name, _)| *name == word);
        style = match (word, modifier) {
            ("on", _) => {
                let ground = words.next().unwrap_or("on");
                style.bg(colour(ground).ok_or_else(|| Unread(ground.to_owned()))?)
            }
            (_, Some((_, modifier))) => style.add_modifier(*modifier),
            _ => style.fg(colour(word).ok_or_else(|| Unread(word.to_owned()))?),
        };
    }
    Ok(style)
}

fn colour(word: &str) -> Option<Color> {
    let named = COLOURS.iter().find(|(name, _)| *name == word);
    if let Some((_, colour)) = named {
        return Some(*colour);
    }
    let exact = word.starts_with('#') || word.bytes().all(|b| b.is_ascii_digit());
    word.parse().ok().filter(|_| exact)
}

/// A style as [`read_style`] reads it.
pub fn style_text(style: Style) -> String {
    let mut words = Vec::new();
    words.extend(style.fg.map(colour_word));
    words.extend(style.bg.map(|ground| format!("on {}", colour_word(ground))));
    let set = MODIFIERS
        .iter()
        .filter(|(_, modifier)| !modifier.is_empty() && style.add_modifier.contains(*modifier));
    words.extend(set.map(|(word, _)| (*word).to_owned()));
    if words.is_empty() {
        return "plain".to_owned();
    }
    words.join(" ")
}

fn colour_word(colour: Color) -> String {
    let named = COLOURS.iter().find(|(_, it)| *it == colour);
    named.map_or_else(
        || colour.to_string().to_lowercase(),
        |(word, _)| (*word).to_owned(),
    )
}

/// How much colour a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Depth {
    /// The 16 of every terminal.
    #[default]
    Sixteen,
    /// 256 of them.
    Many,
    /// Every one.
    True,
}

/// The colour, or the nearest one that so many hold.
pub(super) fn lowered(colour: Color, depth: Depth) -> Color {
    match (colour, depth) {
        (Color::Rgb(r, g, b), Depth::Many) => Color::Indexed(nearest([r, g, b], 16..=255)),
        (Color::Rgb(r, g, b), Depth::Sixteen) => basic(nearest([r, g, b], 0..=15)),
        (Color::Indexed(number), Depth::Sixteen) if number >= 16 => {
            basic(nearest(rgb_of(number), 0..=15))
        }
        _ => colour,
    }
}

/// One of the 16 by its number.
fn basic(number: u8) -> Color {
    const ORDER: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    let found = ORDER.get(usize::from(number));
    found.copied().unwrap_or(Color::Reset)
}

fn nearest(wanted: [u8; 3], numbers: std::ops::RangeInclusive<u8>) -> u8 {
    let distance = |number: &u8| -> u32 {
        let parts = rgb_of(*number).into_iter().zip(wanted);
        parts.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    numbers.min_by_key(distance).unwrap_or(0)
}

/// Red, green and blue of one of the 256 as xterm has them; the first 16 differ from terminal to
/// terminal.
pub(super) fn rgb_of(number: u8) -> [u8; 3] {
    match number {
        0..=15 => {
            let full = match number {
                7 => 229,
                8..=15 => 255,
                _ => 205,
            };
            let on = |bit: u8| if number >> bit & 1 == 1 { full } else { 0 };
            if number == 8 {
                return [127; 3];
            }
            [on(0), on(1), on(2)]
        }
        16..=231 => {
            let cube = number - 16;
            [cube / 36, cube / 6 % 6, cube % 6].map(|step| match step {
                0 => 0,
                step => 55 + step * 40,
            })
        }
        gray => [8 + (gray - 232) * 10; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_read_as_it_is_written() {
        let plain = Style::new();
        assert_eq!(
            read_style("red bold"),
            Ok(plain.fg(Color::Red).add_modifier(Modifier::BOLD))
        );
        assert_eq!(
            read_style("white on blue"),
            Ok(plain.fg(Color::White).bg(Color::Blue))
        );
        assert_eq!(
            read_style("reversed 208 on #102030"),
            Ok(plain
                .fg(Color::Indexed(208))
                .bg(Color::Rgb(16, 32, 48))
                .add_modifier(Modifier::REVERSED))
        );
        assert_eq!(read_style("plain"), Ok(plain));
        for wrong in ["rde", "256", "#12", "on", "lightred", "bold on"] {
            assert!(read_style(wrong).is_err(), "{wrong}");
        }
        assert_eq!(read_style("bold rde"), Err(Unread("rde".to_owned())));
    }

    #[test]
    fn a_style_is_written_as_it_is_read() {
        for text in [
            "red bold",
            "white on blue",
            "208 on #102030 reversed",
            "plain",
            "on red",
        ] {
            let style = read_style(text).expect(text);
            assert_eq!(style_text(style), text);
        }
    }

    #[test]
    fn a_colour_becomes_the_nearest_that_there_is() {
        let low = |colour| lowered(colour, Depth::Sixteen);
        assert_eq!(low(Color::Indexed(196)), Color::LightRed);
        assert_eq!(low(Color::Indexed(231)), Color::White);
        assert_eq!(low(Color::Indexed(244)), Color::DarkGray);
        assert_eq!(low(Color::Rgb(0, 0, 200)), Color::Blue);
        assert_eq!(low(Color::Magenta), Color::Magenta);
        let orange = Color::Rgb(255, 135, 0);
        assert_eq!(lowered(orange, Depth::Many), Color::Indexed(208));
        assert_eq!(lowered(orange, Depth::True), orange);
    }
}
