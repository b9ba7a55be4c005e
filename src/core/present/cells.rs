//! The texts of the columns that not every table has.
//!
//! What it does: a text for each of those that may be shown, and no other. What it does not: the six
//! that every row has (`rows`), or widths.

use crate::core::app::{App, Column, VisibleRow};
use crate::core::judge::Verdict;
use crate::core::present::{clean, words};
use crate::core::store::{Server, Session};
use crate::core::time::UnixMs;

/// Columns that wide screens show where none are configured, beside the usual ones.
const WIDE: [Column; 3] = [Column::Model, Column::Directory, Column::Cost];

/// What a row is made of.
pub(super) struct Of<'a> {
    pub visible: &'a VisibleRow,
    pub server: &'a Server,
    pub session: &'a Session,
    pub verdict: &'a Verdict,
}

/// The texts of the further columns of one row; see [`crate::core::present::Row::text`].
pub(super) fn cells(app: &App, of: &Of, now: UnixMs) -> Vec<(Column, String)> {
    let asked: &[Column] = match app.columns.as_slice() {
        [] => &WIDE,
        columns => columns,
    };
    let sorted = app.ui.sort.column.filter(|it| !asked.contains(it));
    let further = asked.iter().chain(&sorted);
    let further = further.filter(|it| !Column::USUAL.contains(it));
    further.map(|it| (*it, text(*it, of, now))).collect()
}

fn text(column: Column, of: &Of, now: UnixMs) -> String {
    let info = &of.session.info;
    let ago = |at| of.server.server_time(now).since(at).so_far(now);
    match column {
        Column::Tool => clean(of.verdict.activity.tool.as_deref().unwrap_or_default()),
        Column::Model => info
            .model
            .as_ref()
            .map_or(String::new(), |it| clean(&it.model)),
        Column::Agent => clean(info.agent.as_deref().unwrap_or_default()),
        Column::Directory => clean(info.directory.as_str()),
        Column::Cost => words::dollars(info.cost),
        Column::Tokens => words::count(info.tokens.input.saturating_add(info.tokens.output)),
        Column::Messages => messages(of.session),
        Column::Updated => ago(info.updated),
        Column::Created => ago(info.created),
        Column::Id => clean(info.id.as_str()),
        Column::Children => match of.visible.below {
            0 => String::new(),
            n => n.to_string(),
        },
        Column::Server
        | Column::Session
        | Column::Reported
        | Column::Activity
        | Column::Age
        | Column::Why => String::new(),
    }
}

fn messages(session: &Session) -> String {
    let tail = &session.tail;
    let more = if tail.whole { "" } else { "+" };
    if tail.is_read() {
        format!("{}{more}", tail.messages.len())
    } else {
        String::new()
    }
}
