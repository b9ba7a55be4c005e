//! What tells of one session: its panes. The story has evidence, the last turns, the end of what streams.

mod live;
mod parts;
mod past;
mod story;
mod timeline;
mod todo;
mod usage;

pub(super) use past::tone;
pub(super) use story::{evidence, headline};

use crate::core::app::{App, Pane};
use crate::core::id::SessionKey;
use crate::core::judge::{Finding, Level};
use crate::core::present::build::explanation;
use crate::core::present::explain::rule_lines;
use crate::core::present::log;
use crate::core::present::zombie;
use crate::core::present::{
    Detail, Line, Piece, Place, Sheet, Tab, Tone, clean, find, rows, words,
};
use crate::core::store::{Server, Session};
use crate::core::time::UnixMs;

pub(super) fn detail(app: &App, key: &SessionKey, now: UnixMs) -> Option<Detail> {
    let server = app.store.server(key.server)?;
    let (Some(verdict), Some(session)) = (app.verdict(key), app.store.session(key)) else {
        return zombie::detail(app, key);
    };
    let judged = app
        .judgement()
        .servers
        .iter()
        .find(|v| v.server == key.server);
    let of_server: Vec<Finding> = judged
        .filter(|_| server.is_reachable())
        .map(|v| {
            v.findings
                .iter()
                .filter(|f| f.level > Level::Ok)
                .cloned()
                .collect()
        })
        .unwrap_or_default();
    let told = Detail {
        head: head(session, server),
        tabs: tabs(app, key),
        sheet: sheet(app, key, server, now),
        ..Detail::default()
    };
    if told.sheet.is_some() {
        return Some(told);
    }
    let mut story = story::story(app, verdict, (server, &of_server), now);
    story.extend(story::lost(verdict, app));
    story.extend(log::newest(app, key));
    let told = Detail {
        story,
        timeline: timeline::timeline(session, server, now, app.utc_offset),
        tail: live_tail(session),
        hour: past::hour(app, verdict, now),
        rules: rules(app, key, now),
        ..told
    };
    Some(with_hits(app, told))
}

/// Where the story has what is looked for, counted through all that follows the head.
fn with_hits(app: &App, told: Detail) -> Detail {
    let lines = told.story.iter().chain(&told.timeline);
    let found = find::found(app, lines.chain(&told.tail).chain(&told.rules));
    let found = found.filter(|_| app.ui.page.is_none());
    Detail {
        place: find::place(app, found.as_ref(), None),
        found,
        ..told
    }
}

fn tabs(app: &App, key: &SessionKey) -> Vec<Tab> {
    let shown = app.pane(key);
    let tab = |pane: Pane| Tab {
        name: pane.name(),
        current: pane == shown,
    };
    app.panes(key).into_iter().map(tab).collect()
}

/// The pane that is shown, but for the story.
fn sheet(app: &App, key: &SessionKey, server: &Server, now: UnixMs) -> Option<Sheet> {
    let session = app.store.session(key)?;
    let mut sheet = match app.pane(key) {
        Pane::Story => return None,
        Pane::Live => live::sheet(app, key, (session, server), now),
        Pane::Log => past::sheet(app, key),
        Pane::Todo => todo::sheet(session),
        Pane::Parts => parts::sheet(app, session, server, now),
        Pane::Usage => usage::sheet(app, key, session),
    };
    let is_open = app.ui.detail_open && app.ui.page.is_none();
    sheet.found = find::found(app, sheet.lines.iter()).filter(|_| is_open);
    if app.ui.detail_open && sheet.place != Place::End {
        sheet.place = find::place(app, sheet.found.as_ref(), sheet.pointed);
    }
    Some(sheet)
}

/// What `explain` says of the rules; not worked out while only the head of the pane is seen.
fn rules(app: &App, key: &SessionKey, now: UnixMs) -> Vec<Line> {
    if !app.ui.detail_open {
        return Vec::new();
    }
    explanation(app, key, now)
        .map(|told| rule_lines(&told))
        .unwrap_or_default()
}

fn head(session: &Session, server: &Server) -> Line {
    let info = &session.info;
    let place = format!("{}:{}", server.spec.name, info.directory);
    let mut line = vec![
        Piece::new(rows::title(session), Tone::Strong),
        Piece::new(info.id.to_string(), Tone::Dim),
        Piece::new(clean(&place), Tone::Plain),
    ];
    let agent = info.agent.as_deref().map(clean);
    let model = words::model(info.model.as_ref());
    let who: Vec<String> = agent.into_iter().chain(model).collect();
    if !who.is_empty() {
        line.push(Piece::new(who.join(" · "), Tone::Plain));
    }
    let held = session.tail.messages.len();
    if session.tail.is_read() {
        let more = if session.tail.whole { "" } else { "last " };
        line.push(Piece::new(format!("{more}{held} messages"), Tone::Dim));
    }
    line.push(Piece::new(words::dollars(info.cost), Tone::Dim));
    line
}

/// The last lines of what streams now.
fn live_tail(session: &Session) -> Vec<Line> {
    let Some((_, text)) = &session.tail.live else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(3);
    let last = lines.iter().skip(from);
    last.map(|line| vec![Piece::new(clean(line), Tone::Dim)])
        .collect()
}
