//! What `status` tells: the dashboard's servers and rows without a dashboard.

use crate::core::app::{App, VisibleRow};
use crate::core::judge::Level;
use crate::core::present::{Line, Piece, Row, clean, header, rows, words};
use crate::core::store::LinkState;
use crate::core::time::UnixMs;

/// A line per server and its findings, and the rows of its sessions, attention first. `ascii`: no
/// character beyond ASCII in what is ours.
pub fn status_rows(app: &App, now: UnixMs, ascii: bool) -> (Vec<Line>, Vec<Row>) {
    let lines = server_lines(app, now, ascii);
    let shown: Vec<Row> = app
        .rows
        .iter()
        .filter_map(|visible: &VisibleRow| rows::row(app, visible, now))
        .collect();
    (lines, shown)
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
            let text = clean(&format!("  {}: {}", finding.name, finding.text));
            lines.push(vec![Piece::new(text, words::level_tone(finding.level))]);
        }
    }
    lines
}
