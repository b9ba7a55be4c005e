//! The table of `status`: rows laid out in columns as wide as they need.
//!
//! Invariants: one line for each row, whatever a title holds; widths are cells, so that wide
//! characters keep the columns straight.

use crate::core::present::{Line, Piece, Row, Tone, agreement_glyph};
use crate::tui::{Theme, cells, filled};

/// The widest SESSION column, in cells.
const MAX_TITLE: usize = 32;

/// A heading and a line for each row; nothing without rows.
pub fn table(rows: &[Row], ascii: bool) -> Vec<Line> {
    if rows.is_empty() {
        return Vec::new();
    }
    let table = Table::of(rows, ascii);
    let heading = vec![Piece::new(table.heading(), Tone::Dim)];
    let lines = rows.iter().map(|row| table.line(row));
    [Vec::new(), heading].into_iter().chain(lines).collect()
}

struct Table {
    theme: Theme,
    ascii: bool,
    server: usize,
    title: usize,
    reported: usize,
    activity: usize,
}

impl Table {
    fn of(rows: &[Row], ascii: bool) -> Self {
        let theme = Theme::new(false, ascii);
        let widest = |text: fn(&Row) -> &str, least: usize| {
            let lengths = rows.iter().map(|row| cells(text(row), &theme));
            lengths.max().unwrap_or(0).max(least)
        };
        let titles = rows.iter().map(|row| cells(&title(row, ascii), &theme));
        Self {
            ascii,
            server: widest(|row| &row.server, 6),
            title: titles.max().unwrap_or(0).clamp(7, MAX_TITLE),
            reported: widest(|row| &row.reported, 8),
            activity: widest(|row| &row.activity, 8),
            theme,
        }
    }

    fn heading(&self) -> String {
        let mark = " ";
        let blank = " ";
        self.columns(
            mark, "SERVER", "SESSION", "REPORTED", blank, "ACTUALLY", "FOR",
        ) + "WHY"
    }

    fn line(&self, row: &Row) -> Line {
        let name = title(row, self.ascii);
        let sign = agreement_glyph(row.agreement, self.ascii);
        let text = self.columns(
            "",
            &row.server,
            &name,
            &row.reported,
            sign,
            &row.activity,
            &row.age,
        );
        vec![
            Piece::new(row.mark.glyph(self.ascii), row.mark.tone()),
            Piece::new(text, if row.dim { Tone::Dim } else { Tone::Plain }),
            Piece::new(row.why.clone(), row.tone),
        ]
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one for each column, in their order"
    )]
    fn columns(
        &self,
        mark: &str,
        server: &str,
        title: &str,
        reported: &str,
        sign: &str,
        activity: &str,
        age: &str,
    ) -> String {
        let fill = |text, width| filled(text, width, &self.theme);
        format!(
            "{mark} {} {} {} {sign:<2} {} {age:>4} ",
            fill(server, self.server),
            fill(title, self.title),
            fill(reported, self.reported),
            fill(activity, self.activity),
        )
    }
}

fn title(row: &Row, ascii: bool) -> String {
    let [fork, branch, trunk] = if ascii {
        ["|- ", "`- ", "| "]
    } else {
        ["├ ", "└ ", "│ "]
    };
    let line = |depth: u16| match (depth == row.depth, row.trunk >> depth & 1 == 1) {
        (true, true) => fork,
        (true, false) => branch,
        (false, true) => trunk,
        (false, false) => "  ",
    };
    let lines: String = (1..=row.depth.min(15)).map(line).collect();
    lines + &row.title
}
