//! One row of the table.

use crate::core::app::filter::age;
use crate::core::app::keymap::Action;
use crate::core::app::{App, Outcome, Shown, VisibleRow};
use crate::core::id::SessionKey;
use crate::core::judge::{ActivityState, Agreement, Level, Verdict};
use crate::core::present::cells::{self, Of};
use crate::core::present::zombie;
use crate::core::present::{Mark, Piece, Row, Tone, clean, words};
use crate::core::store::{Reported, Server, Session};
use crate::core::time::UnixMs;

pub(super) fn row(app: &App, visible: &VisibleRow, now: UnixMs) -> Option<Row> {
    let key = &visible.key;
    let server = app.store.server(key.server)?;
    let (Some(verdict), Some(session)) = (app.verdict(key), app.store.session(key)) else {
        return zombie::row(app, visible, now);
    };
    let of = Of {
        visible,
        server,
        session,
        verdict,
    };
    let age = age(verdict, server, now);
    let (mut why, why_short, tone) = why(verdict, server, now);
    if app.is_asleep(key) {
        why = format!("{why} ({} loads the project)", app.key_of(Action::Load));
    }
    let snoozed = app.is_snoozed(key);
    if snoozed {
        why = format!("snoozed: {why}");
    }
    Some(Row {
        key: key.clone(),
        mark: if snoozed {
            Mark::Snoozed
        } else {
            words::mark(verdict)
        },
        server: clean(&server.spec.name),
        depth: visible.depth,
        trunk: visible.trunk,
        folded: visible.folded,
        inside: inside(app, visible),
        marked: app.ui.marked.contains(key),
        title: title(session),
        reported: words::reported(&verdict.reported),
        agreement: verdict.agreement,
        activity: words::activity_of(verdict),
        age: age.map(|age| age.so_far(now)).unwrap_or_default(),
        age_tone: words::age_tone(verdict, age),
        why,
        why_short,
        tone,
        dim: verdict.level == Level::Unknown || visible.context || snoozed,
        result: result(app, key, now),
        more: cells::cells(app, &of, now),
    })
}

/// The mark of what needs attention most of what is folded away here.
fn inside(app: &App, visible: &VisibleRow) -> Option<Mark> {
    let worst = visible.worst.as_ref()?;
    app.verdict(worst).map(words::mark)
}

/// What a session is called.
pub(super) fn title(session: &Session) -> String {
    words::title(&session.info.id, &session.info.title)
}

/// The WHY of a verdict: the leading finding, what it settles to, or why it is not known.
pub(super) fn why(verdict: &Verdict, server: &Server, now: UnixMs) -> (String, String, Tone) {
    if let Reported::Unknown(why) = &verdict.reported {
        return (words::why_unknown(why, server), String::new(), Tone::Dim);
    }
    if let Some(blind) = verdict
        .blind
        .as_ref()
        .filter(|_| verdict.level == Level::Unknown)
    {
        return (clean(blind), String::new(), Tone::Dim);
    }
    if let Some(finding) = verdict.leading().filter(|f| f.level > Level::Ok) {
        let tone = words::level_tone(finding.level);
        return (words::finding(finding), finding.name.to_owned(), tone);
    }
    if let Some(settling) = &verdict.settling {
        let left = settling.at - server.server_time(now);
        let left = (left.as_ms().max(0) + 999) / 1000;
        let text = format!("settling: {} in {left}s if it stays", settling.name);
        return (text, format!("~{}", settling.name), Tone::Dim);
    }
    // A finding of level ok is for the detail, unless it tells why the two differ.
    let differs = verdict.agreement == Agreement::Disagree;
    if let Some(finding) = verdict.leading().filter(|_| differs) {
        return (words::finding(finding), finding.name.to_owned(), Tone::Dim);
    }
    if let Some(note) = &verdict.note {
        return (clean(note), String::new(), Tone::Dim);
    }
    let detail = verdict.activity.detail.as_deref().unwrap_or_default();
    // Of a subagent the detail is an id, and its own row says more.
    let state = verdict.activity.state;
    let detail = if state.is_working() && state != ActivityState::Subagent {
        clean(detail)
    } else {
        String::new()
    };
    (detail, String::new(), Tone::Dim)
}

pub(super) fn result(app: &App, key: &SessionKey, now: UnixMs) -> Option<Piece> {
    if let Some(running) = app.running.get(key) {
        let age = now.since(running.since).so_far(now);
        let step = match running.step.as_str() {
            "" => String::new(),
            step => format!(": {}", clean(step)),
        };
        return Some(Piece::new(
            format!("{}{step} … {age}", running.action),
            Tone::Strong,
        ));
    }
    Some(ended(app.results.get(key)?))
}

/// How an action ended, in one line.
pub(super) fn ended(shown: &Shown) -> Piece {
    let tone = match &shown.outcome {
        Outcome::Done(_) => Tone::Working,
        Outcome::NoEffect(_) => Tone::Watch,
        Outcome::Failed(_) => Tone::Stuck,
    };
    Piece::new(clean(&shown.words()), tone)
}
