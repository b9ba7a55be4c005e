//! The table of `status`: rows laid out in columns as wide as they need.
//!
//! Invariant: one line for each row, whatever a title holds.

use crate::core::present::{Line, Piece, Row, Tone, agreement_glyph};

/// A heading and a line for each row; nothing without rows.
pub fn table(rows: &[Row], ascii: bool) -> Vec<Line> {
    if rows.is_empty() {
        return Vec::new();
    }
    let widths = Widths::of(rows);
    let heading = vec![Piece::new(widths.heading(), Tone::Dim)];
    let lines = rows.iter().map(|row| widths.line(row, ascii));
    [Vec::new(), heading].into_iter().chain(lines).collect()
}

struct Widths {
    server: usize,
    title: usize,
    reported: usize,
    activity: usize,
}

const MAX_TITLE: usize = 32;

impl Widths {
    fn of(rows: &[Row]) -> Self {
        let widest = |text: fn(&Row) -> &str, least: usize| {
            let lengths = rows.iter().map(|row| text(row).chars().count());
            lengths.max().unwrap_or(0).max(least)
        };
        let titles = rows.iter().map(|row| title(row, false).chars().count());
        Self {
            server: widest(|row| &row.server, 6),
            title: titles.max().unwrap_or(0).clamp(7, MAX_TITLE),
            reported: widest(|row| &row.reported, 8),
            activity: widest(|row| &row.activity, 8),
        }
    }

    fn heading(&self) -> String {
        format!(
            "  {} {} {} {:<2} {} {:>4} {}",
            pad("SERVER", self.server),
            pad("SESSION", self.title),
            pad("REPORTED", self.reported),
            "",
            pad("ACTUALLY", self.activity),
            "FOR",
            "WHY"
        )
    }

    fn line(&self, row: &Row, ascii: bool) -> Line {
        let name = title(row, ascii);
        vec![
            Piece::new(row.mark.glyph(ascii), row.mark.tone()),
            Piece::new(
                format!(
                    " {} {} {} {:<2} {} {:>4} ",
                    pad(&row.server, self.server),
                    pad(&name, self.title),
                    pad(&row.reported, self.reported),
                    agreement_glyph(row.agreement, ascii),
                    pad(&row.activity, self.activity),
                    row.age,
                ),
                if row.dim { Tone::Dim } else { Tone::Plain },
            ),
            Piece::new(row.why.clone(), row.tone),
        ]
    }
}

fn title(row: &Row, ascii: bool) -> String {
    let branch = if ascii { "`- " } else { "└ " };
    let indent = usize::from(row.depth.saturating_sub(1)) * 2;
    let branch = if row.depth > 0 { branch } else { "" };
    format!("{:indent$}{branch}{}", "", row.title)
}

/// Cut or filled to a width in characters.
fn pad(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:<width$}");
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}~")
}
