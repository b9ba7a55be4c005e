//! Results on stdout: lines with their tones, and JSON.
//!
//! Invariant: nothing but results goes to stdout; a closed pipe is an error that ends quietly.

use crate::core::present::{Line, Tone};
use crate::tui::{Theme, safe};
use serde_json::Value;
use std::io::{self, Write};

/// Writes lines, coloured if wanted, in ASCII if the theme is, whatever they hold.
pub fn lines(out: &mut impl Write, lines: &[Line], color: bool, theme: &Theme) -> io::Result<()> {
    for line in lines {
        for piece in line {
            let text = safe(&piece.text, theme);
            match style(piece.tone).filter(|_| color) {
                Some(code) => write!(out, "\x1b[{code}m{text}\x1b[0m")?,
                None => out.write_all(text.as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Writes one document, indented.
pub fn json(out: &mut impl Write, value: &Value) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The terminal's own colours, as the dashboard uses them.
fn style(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Dim => Some("2"),
        Tone::Strong | Tone::Key => Some("1"),
        Tone::Stuck => Some("1;31"),
        Tone::NeedsYou => Some("1;35"),
        Tone::Watch => Some("33"),
        Tone::Working => Some("32"),
        Tone::Disagree | Tone::Hit => Some("7"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::present::Piece;

    #[test]
    fn colour_only_where_wanted() {
        let line = vec![Piece::new("a", Tone::Stuck), Piece::new("b", Tone::Plain)];
        let shown = |color| {
            let mut out = Vec::new();
            let theme = Theme::new(color, false);
            lines(&mut out, std::slice::from_ref(&line), color, &theme).expect("write");
            String::from_utf8(out).expect("utf-8")
        };
        assert_eq!(shown(false), "ab\n");
        assert_eq!(shown(true), "\x1b[1;31ma\x1b[0mb\n");
    }
}
