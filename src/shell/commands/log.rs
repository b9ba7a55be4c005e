//! `ocwatch log`: what was done, from the audit log.
//!
//! What it does: print the actions, newest last, as a table or as documents. What it does not:
//! speak to a server, or need one.

use super::{Look, say};
use crate::core::present::{Line, Piece, Tone};
use crate::shell::audit::read::{Action, Log, UNFINISHED, read};
use crate::shell::audit::{AuditError, FILE};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::print;
use crate::tui::{Theme, cells, filled};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::io::Write;
use std::path::Path;

/// The widest server and title, in cells.
const MAX_WIDTH: usize = 24;
/// Of an id: enough to name the session in a command.
const ID: usize = 12;

/// Which actions are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// At most so many, the newest.
    pub last: Option<usize>,
    /// Only of sessions whose id begins like this; `server/id` too.
    pub session: Option<String>,
}

/// `ocwatch log`. `dir`: the state directory.
pub fn log(
    dir: Option<&Path>,
    wanted: &Wanted,
    look: Look,
    theme: &Theme,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let failed = |why: &AuditError| Trouble::Failed(format!("failed to read the audit log: {why}"));
    let dir = dir.ok_or_else(|| failed(&AuditError::NoPlace))?;
    let path = dir.join(FILE);
    let log = read(dir).map_err(|why| {
        let path = path.clone();
        failed(&AuditError::File { path, why })
    })?;
    let Some(Log { actions, malformed }) = log else {
        let text = format!("nothing was recorded yet in {}", path.display());
        say(&text, theme);
        return Ok(Exit::Done);
    };
    let actions = chosen(actions, wanted);
    if look.json {
        for action in actions {
            serde_json::to_writer(&mut *out, &action.into_json()).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
    } else if actions.is_empty() {
        say("no such action is recorded", theme);
    } else {
        print::lines(out, &table(&actions, theme), look.color, theme)?;
    }
    if malformed > 0 {
        let plural = if malformed == 1 { "" } else { "s" };
        let text = format!(
            "{malformed} line{plural} of {} cannot be understood",
            path.display()
        );
        say(&text, theme);
    }
    Ok(Exit::Done)
}

fn chosen(mut actions: Vec<Action>, wanted: &Wanted) -> Vec<Action> {
    if let Some(session) = &wanted.session {
        actions.retain(|action| {
            let (server, id) = (action.text("server"), action.text("session"));
            id.starts_with(session.as_str()) || format!("{server}/{id}").starts_with(session)
        });
    }
    let surplus = wanted.last.map_or(0, |n| actions.len().saturating_sub(n));
    actions.split_off(surplus)
}

/// A heading and a line for each action.
fn table(actions: &[Action], theme: &Theme) -> Vec<Line> {
    let zone = TimeZone::system();
    let mut rows =
        vec![["TIME", "SERVER", "SESSION", "TITLE", "ACTION", "OUTCOME"].map(str::to_owned)];
    rows.extend(actions.iter().map(|action| row(action, &zone)));
    let mut widths = [0; 6];
    for row in &rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(cells(text, theme)).min(MAX_WIDTH);
        }
    }
    let texts = std::iter::once("WHAT WAS SEEN").chain(actions.iter().map(|it| it.text("text")));
    let tones = std::iter::once(Tone::Dim).chain(actions.iter().map(tone));
    rows.iter()
        .zip(texts.zip(tones))
        .map(|(row, (text, tone))| {
            let columns = row.iter().zip(widths);
            let columns = columns.map(|(text, width)| filled(text, width, theme) + " ");
            let line = columns.collect::<String>() + text;
            vec![Piece::new(line.trim_end(), tone)]
        })
        .collect()
}

fn row(action: &Action, zone: &TimeZone) -> [String; 6] {
    let at = action
        .at()
        .and_then(|at| Timestamp::from_millisecond(at).ok());
    let at = at.map(|at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S"));
    [
        at.map_or_else(|| "?".to_owned(), |at| at.to_string()),
        action.text("server").to_owned(),
        action.text("session").chars().take(ID).collect(),
        action.text("title").to_owned(),
        action.text("action").to_owned(),
        action.text("outcome").to_owned(),
    ]
}

fn tone(action: &Action) -> Tone {
    match action.text("outcome") {
        "done" => Tone::Plain,
        UNFINISHED => Tone::Watch,
        _ => Tone::Stuck,
    }
}
