//! The table of `status`: the dashboard's rows without a dashboard.

use crate::core::app::{App, VisibleRow};
use crate::core::judge::Level;
use crate::core::present::{Line, Piece, Row, Tone, agreement_glyph, clean, header, rows};
use crate::core::store::LinkState;
use crate::core::time::UnixMs;

/// Servers, counts, and a line per session, attention first. `ascii`: no character beyond ASCII in
/// what is ours.
pub fn status_lines(app: &App, now: UnixMs, ascii: bool) -> Vec<Line> {
    let mut lines = server_lines(app, now, ascii);
    let shown: Vec<Row> = app
        .rows
        .iter()
        .filter_map(|visible: &VisibleRow| rows::row(app, visible, now))
        .collect();
    if shown.is_empty() {
        return lines;
    }
    lines.push(Vec::new());
    let widths = Widths::of(&shown);
    lines.push(vec![Piece::new(widths.heading(), Tone::Dim)]);
    lines.extend(shown.iter().map(|row| widths.line(row, ascii)));
    lines
}

fn server_lines(app: &App, now: UnixMs, ascii: bool) -> Vec<Line> {
    let chips = header::chips(&app.store, app.judgement(), now);
    let mut lines = Vec::new();
    for (chip, (id, server)) in chips.into_iter().zip(app.store.servers()) {
        let mark = chip.mark.glyph(ascii);
        let verdict = app.judgement().servers.iter().find(|v| v.server == id);
        let is_lost = matches!(server.link, LinkState::Lost { .. });
        // The cause of a loss is told once, on stderr, by whoever prints this.
        let told = match verdict {
            Some(verdict) if is_lost => verdict.state.to_owned(),
            _ => chip.text,
        };
        let url = clean(&server.spec.url);
        let text = format!("{mark} {}  {url}  {told}", chip.name);
        lines.push(vec![Piece::new(text.trim_end(), chip.tone)]);
        let findings = verdict.map_or(&[][..], |v| &v.findings);
        for finding in findings.iter().filter(|f| f.level > Level::Ok && !is_lost) {
            let words = clean(&format!("  {}: {}", finding.name, finding.text));
            lines.push(vec![Piece::new(words, Tone::Watch)]);
        }
    }
    lines
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
