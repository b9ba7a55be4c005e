//! A deleted session that still runs: it has no row and no messages on its server, but a person must
//! see it to stop it.
//!
//! What it does: its row and its detail, from the server's finding. What it does not: find it.

use super::detail::{evidence, headline};
use super::rows::result;
use super::{Agreement, Detail, Mark, Piece, Row, Tone, clean, log, words};
use crate::core::app::keymap::Action;
use crate::core::app::{App, VisibleRow};
use crate::core::id::SessionKey;
use crate::core::judge::Finding;
use crate::core::time::UnixMs;
use crate::core::wire::Status;

/// The finding of a deleted session that still runs.
fn finding<'a>(app: &'a App, key: &SessionKey) -> Option<&'a Finding> {
    let judged = app.judgement().servers.iter();
    let mut findings = judged
        .filter(|it| it.server == key.server)
        .flat_map(|it| &it.findings);
    findings.find(|it| {
        let of = it.evidence.get("session").and_then(|it| it.as_str());
        of == Some(key.session.as_str())
    })
}

/// A deleted session that still runs: only its server's findings know it.
pub(super) fn row(app: &App, visible: &VisibleRow, now: UnixMs) -> Option<Row> {
    let key = &visible.key;
    let server = app.store.server(key.server)?;
    let stranger = server.strangers.get(&key.session)?;
    let id = key.session.as_str();
    let found = finding(app, key)?;
    Some(Row {
        key: key.clone(),
        mark: Mark::Stuck,
        server: clean(&server.spec.name),
        depth: visible.depth,
        trunk: visible.trunk,
        folded: visible.folded,
        inside: None,
        marked: app.ui.marked.contains(key),
        title: clean(&format!("deleted session {id}")),
        reported: match &stranger.status {
            Status::Retry(retry) => format!("retry {}", retry.attempt),
            _ => "busy".to_owned(),
        },
        agreement: Agreement::Disagree,
        activity: "deleted".to_owned(),
        age: now.since(stranger.seen_at).so_far(now),
        age_tone: Tone::Plain,
        why: words::finding(found),
        why_short: found.name.to_owned(),
        tone: Tone::Stuck,
        dim: false,
        result: result(app, key, now),
        more: Vec::new(),
    })
}

/// A deleted session that still runs: its server's finding is all there is.
pub(super) fn detail(app: &App, key: &SessionKey) -> Option<Detail> {
    let found = finding(app, key)?;
    let server = app.store.server(key.server)?;
    let (abort, reset) = (app.key_of(Action::Abort), app.key_of(Action::Reset));
    let helps = format!(
        "What helps: {abort} abort · {reset} reset (there is nothing to export: its messages are gone)"
    );
    let mut story = vec![
        headline(found, app.utc_offset),
        evidence(found, app.utc_offset),
        vec![Piece::new(helps, Tone::Plain)],
    ];
    story.extend(log::newest(app, key));
    Some(Detail {
        head: vec![
            Piece::new("deleted session", Tone::Strong),
            Piece::new(key.session.to_string(), Tone::Dim),
            Piece::new(clean(&server.spec.name), Tone::Plain),
        ],
        story,
        ..Detail::default()
    })
}
