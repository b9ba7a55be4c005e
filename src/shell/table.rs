//! The table of `status`: rows laid out in columns as wide as they need.
//!
//! On a terminal they are fitted to its width: what is found has room for a few words first, titles,
//! servers and activities give way for it. Invariants: one line for each row, whatever a title holds; widths are cells, so that wide
//! characters keep the columns straight.

use crate::core::present::{Line, Piece, Row, Tone, agreement_glyph};
use crate::tui::{Theme, cells, filled};

/// The widest SESSION column, in cells.
const MAX_TITLE: usize = 32;
/// What the columns that give way keep: of titles, servers, activities.
const LEAST: [usize; 3] = [12, 8, 10];
/// Room for what is found, before anything gives way.
const WHY: usize = 30;

/// A heading and a line for each row; nothing without rows. `width`: of the terminal, in cells; none
/// leaves everything whole.
pub fn table(rows: &[Row], ascii: bool, width: Option<usize>) -> Vec<Line> {
    if rows.is_empty() {
        return Vec::new();
    }
    let table = Table::of(rows, ascii).fitted(width);
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
    /// Room for what is found; none: as long as it is.
    why: Option<usize>,
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
            why: None,
            theme,
        }
    }

    fn fitted(self, width: Option<usize>) -> Self {
        let Some(width) = width else {
            return self;
        };
        // Mark, sign, age, and the blanks between them.
        let rest = self.reported + 14;
        let wanted = self.server + self.title + self.activity + rest + WHY;
        let mut over = wanted.saturating_sub(width);
        let mut give = |from: usize, least: usize| {
            let given = over.min(from.saturating_sub(least));
            over -= given;
            from - given
        };
        let [title, server, activity] = LEAST;
        let title = give(self.title, title);
        let server = give(self.server, server);
        let activity = give(self.activity, activity);
        let used = server + title + activity + rest;
        Self {
            title,
            server,
            activity,
            why: Some(width.saturating_sub(used)),
            ..self
        }
    }

    fn why(&self, text: &str) -> String {
        let cut = |width| filled(text, width, &self.theme).trim_end().to_owned();
        self.why.map_or_else(|| text.to_owned(), cut)
    }

    fn heading(&self) -> String {
        let mark = " ";
        let blank = " ";
        self.columns(
            mark, "SERVER", "SESSION", "REPORTED", blank, "ACTUALLY", "FOR",
        ) + &self.why("WHY")
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
            Piece::new(self.why(&row.why), row.tone),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::{ServerId, SessionKey};
    use crate::core::present::{Agreement, Mark};

    fn row(title: &str) -> Row {
        Row {
            key: SessionKey::new(ServerId(0), "ses_1".into()),
            mark: Mark::Stuck,
            server: "build.example:4096".to_owned(),
            depth: 1,
            trunk: 0,
            folded: 0,
            inside: None,
            marked: false,
            title: title.to_owned(),
            reported: "busy".to_owned(),
            agreement: Agreement::Disagree,
            activity: "running some_mcp_tool".to_owned(),
            age: "12m".to_owned(),
            age_tone: Tone::Plain,
            why: "hung-tool: bash has run 12 min, past its 2 min limit, no output for 9 min"
                .to_owned(),
            why_short: "hung-tool".to_owned(),
            tone: Tone::Stuck,
            dim: false,
            result: None,
            more: Vec::new(),
        }
    }

    fn widths(width: Option<usize>) -> Vec<usize> {
        let theme = Theme::new(false, false);
        let rows = [
            row("Port the parser to the new grammar"),
            row("修复构建并且再次运行所有的测试"),
        ];
        let lines = table(&rows, false, width);
        let text = |line: &Line| line.iter().map(|it| it.text.as_str()).collect::<String>();
        lines
            .iter()
            .skip(1)
            .map(|line| cells(&text(line), &theme))
            .collect()
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_off_one_all_is_whole() {
        for width in [60, 80, 100, 120, 200] {
            let widest = widths(Some(width)).into_iter().max();
            assert!(widest <= Some(width), "{width}: {widest:?}");
        }
        assert_eq!(widths(None)[1..], widths(Some(200))[1..]);
        assert!(widths(None)[1] > 120);
    }
}
