//! The page of the servers: where each is, why it is watched, how it stands, what is wrong with it.
//!
//! What it does: word it. What it does not: try one again; `core::app` does.

use super::{Line, Piece, Tone, clean, header, words};
use crate::core::app::App;
use crate::core::app::keymap::Action;
use crate::core::id::ServerId;
use crate::core::judge::{Level, ServerVerdict};
use crate::core::store::{LinkState, Server};
use crate::core::time::UnixMs;
use crate::core::wire::DirectoryState;

/// Every server, in the user's order.
pub(super) fn lines(app: &App, now: UnixMs) -> Vec<Line> {
    let mut lines = Vec::new();
    for (id, server) in app.store.servers() {
        lines.extend(one(app, id, server, now));
        lines.push(Line::new());
    }
    let key = app.keymap.all(Action::Servers);
    let text = format!("{key} or Enter: try lost servers again now");
    lines.push(vec![Piece::new(text, Tone::Dim)]);
    lines
}

fn one(app: &App, id: ServerId, server: &Server, now: UnixMs) -> Vec<Line> {
    let verdict = app.judgement().servers.iter().find(|it| it.server == id);
    let mark = verdict.map_or(super::Mark::Unknown, |it| header::mark(server, it));
    let spec = &server.spec;
    let mut lines = vec![vec![
        Piece::new(format!("{} ", mark.glyph(false)), mark.tone()),
        Piece::new(clean(&spec.name), Tone::Strong),
        Piece::new(format!("  {}", clean(&spec.url)), Tone::Plain),
    ]];
    let mut say =
        |text: String, tone: Tone| lines.push(vec![Piece::new(clean(&format!("  {text}")), tone)]);
    if let Some(source) = app.sources.get(usize::from(id.0)) {
        say(source.clone(), Tone::Dim);
    }
    say(state(server, verdict, now), tone(server));
    for finding in verdict.into_iter().flat_map(|it| &it.findings) {
        let tone = words::level_tone(finding.level);
        let tone = if finding.level > Level::Ok {
            tone
        } else {
            Tone::Dim
        };
        say(words::finding(finding), tone);
    }
    say(holds(server), Tone::Dim);
    for (_, other) in app.store.servers().filter(|(other, _)| *other != id) {
        let mut ids = server.sessions.keys();
        if ids.any(|id| other.sessions.contains_key(id)) {
            let name = &other.spec.name;
            let text = format!(
                "the same sessions are on {name}: one data folder, or one server under two names; each is shown once"
            );
            say(text, Tone::Dim);
        }
    }
    lines
}

fn tone(server: &Server) -> Tone {
    match server.link {
        LinkState::Live => Tone::Plain,
        LinkState::Connecting { .. } => Tone::Dim,
        LinkState::Lost { .. } => Tone::Watch,
    }
}

/// `live for 3 min · OpenCode 1.18.33`, or when it is tried again.
fn state(server: &Server, verdict: Option<&ServerVerdict>, now: UnixMs) -> String {
    let state = verdict.map_or("connecting", |it| it.state);
    let since = server.link_since.map(|since| now.since(since).so_far(now));
    let since = since.map_or(String::new(), |age| format!(" for {age}"));
    let next = match &server.link {
        LinkState::Lost { retry_at, .. } => next_try(*retry_at, now),
        LinkState::Connecting { attempt } if *attempt > 1 => format!(" · attempt {attempt}"),
        _ => String::new(),
    };
    let version = server.version.as_ref();
    let version = version.map_or(String::new(), |it| format!(" · OpenCode {it}"));
    let read_only = server.spec.read_only;
    let read_only = read_only.map_or(String::new(), |it| format!(" · only read ({})", it.place()));
    format!("{state}{since}{next}{version}{read_only}")
}

fn next_try(at: UnixMs, now: UnixMs) -> String {
    match (at - now).as_ms() {
        wait @ 1.. => format!(" · next try in {} s", wait.saturating_add(999) / 1000),
        _ => " · trying now".to_owned(),
    }
}

/// What is known of it, and what that cost it.
fn holds(server: &Server) -> String {
    let count = |state| {
        let views = server.directories.values();
        views.filter(|view| view.state == state).count()
    };
    let (loaded, asleep) = (count(DirectoryState::Loaded), count(DirectoryState::Asleep));
    let plural = |number: usize, word: &str| {
        let s = if number == 1 { "" } else { "s" };
        format!("{number} {word}{s}")
    };
    format!(
        "{} loaded, {asleep} asleep · {} · {} to it",
        plural(loaded, "project"),
        plural(server.sessions.len(), "session"),
        plural(
            usize::try_from(server.requests).unwrap_or(usize::MAX),
            "request"
        ),
    )
}
