//! The whole screen from the app.

use crate::core::app::keymap::{self, Action, When};
use crate::core::app::{App, PageKind};
use crate::core::id::SessionKey;
use crate::core::judge::{self, Explanation, Offer};
use crate::core::plan;
use crate::core::plan::answer::{Waiting, waiting};
use crate::core::present::{
    FilterLine, Hint, Mark, Page, Piece, Row, Screen, Tone, clean, detail, dialog, explain_lines,
    form, header, log, rows, words,
};
use crate::core::store::LinkState;
use crate::core::time::UnixMs;
use crate::core::wire::{AskKind, Endpoint};

/// The finding of a crash.
const INTERRUPTED: &str = "interrupted";

/// What the screen shows at `now` (watcher's clock). Changes nothing.
pub fn screen(app: &App, now: UnixMs) -> Screen {
    let rows: Vec<Row> = app
        .rows
        .iter()
        .filter_map(|visible| rows::row(app, visible, now))
        .collect();
    let selected = app.ui.selected.as_ref();
    let place = selected.and_then(|key| rows.iter().position(|row| row.key == *key));
    let verdicts = app.judgement().verdicts.values();
    Screen {
        servers: header::chips(&app.store, app.judgement(), now),
        counts: header::counts(
            verdicts.filter(|v| is_listed(app, v) && !is_of_its_parent(app, v)),
            app.zombies().count(),
        ),
        asleep: header::asleep(&app.store),
        clock: words::clock(now, app.utc_offset),
        empty: if rows.is_empty() {
            empty(app)
        } else {
            Vec::new()
        },
        selected: place,
        offset: app.ui.offset,
        detail: selected.and_then(|key| detail::detail(app, key, now)),
        detail_open: app.ui.detail_open,
        detail_scroll: app.ui.detail_scroll,
        filter: filter(app, rows.len()),
        attention_only: app.ui.attention_only,
        dialog: app
            .ui
            .dialog
            .as_ref()
            .and_then(|state| dialog::dialog(app, state)),
        form: form::form(app),
        page: page(app, now),
        notice: app
            .ui
            .notice
            .as_ref()
            .map(|n| Piece::new(clean(n), Tone::Watch)),
        footer: footer(app),
        several_servers: app.store.servers().nth(1).is_some(),
        rows,
    }
}

/// An archived session at rest is on no list and in no count.
fn is_listed(app: &App, verdict: &judge::Verdict) -> bool {
    let session = app.store.session(&verdict.key);
    session.is_some_and(|session| verdict.is_listed(session))
}

/// A crash of a parent with its children is one incident, counted at the root.
fn is_of_its_parent(app: &App, verdict: &judge::Verdict) -> bool {
    let cut_off = |v: &judge::Verdict| v.findings.iter().any(|f| f.name == INTERRUPTED);
    let session = app.store.session(&verdict.key);
    let parent = session.and_then(|s| s.info.parent.clone());
    let parent = parent.map(|id| SessionKey::new(verdict.key.server, id));
    cut_off(verdict)
        && parent
            .and_then(|key| app.verdict(&key))
            .is_some_and(cut_off)
}

/// What stands in an empty table: never a blank without a reason.
fn empty(app: &App) -> Vec<String> {
    let mut lines = Vec::new();
    if !app.ui.filter.text.is_empty() {
        lines.push(format!(
            "no session contains \"{}\"",
            clean(&app.ui.filter.text)
        ));
        lines.push("Esc clears the filter".to_owned());
    } else if app.ui.attention_only && app.store.sessions().next().is_some() {
        lines.push("nothing needs attention".to_owned());
        lines.push("! shows all sessions".to_owned());
    } else {
        for (_, server) in app.store.servers() {
            let name = clean(&server.spec.name);
            lines.push(match &server.link {
                LinkState::Lost { text, .. } => clean(&format!("{name}: {text}")),
                LinkState::Connecting { .. } => {
                    format!("{name}: connecting to {}", clean(&server.spec.url))
                }
                LinkState::Live => match server
                    .gaps
                    .iter()
                    .find(|g| g.endpoint == Endpoint::Sessions)
                {
                    Some(gap) => clean(&format!(
                        "{name}: the session list could not be read: {}",
                        gap.text
                    )),
                    None => format!("{name}: no sessions yet"),
                },
            });
        }
    }
    lines
}

fn filter(app: &App, hits: usize) -> Option<FilterLine> {
    let filter = &app.ui.filter;
    (filter.cursor.is_some() || !filter.text.is_empty()).then(|| FilterLine {
        text: clean(&filter.text),
        cursor: filter.cursor,
        hits,
        of: app.store.sessions().count(),
    })
}

fn page(app: &App, now: UnixMs) -> Option<Page> {
    let (kind, scroll) = app.ui.page.as_ref()?;
    Some(match kind {
        PageKind::Help => Page {
            title: "Keys".to_owned(),
            lines: help(),
            scroll: *scroll,
        },
        PageKind::Log => Page {
            title: "Log".to_owned(),
            lines: log::lines(app),
            scroll: *scroll,
        },
        PageKind::Explain(key) => {
            let told = explanation(app, key, now);
            let session = app.store.session(key)?;
            Page {
                title: format!("Why: {}", rows::title(session)),
                lines: told.map(|told| explain_lines(&told)).unwrap_or_default(),
                scroll: *scroll,
            }
        }
    })
}

/// Why the verdict on the screen is what it is.
pub(super) fn explanation(app: &App, key: &SessionKey, now: UnixMs) -> Option<Explanation> {
    let verdict = app.verdict(key)?.clone();
    judge::explain_verdict(&app.store, verdict, now, &app.limits)
}

/// What the marks before a row mean.
const MARKS: [(Mark, &str); 7] = [
    (Mark::Stuck, "stuck: it will not go on by itself"),
    (
        Mark::NeedsYou,
        "needs you: it waits for an answer or a decision",
    ),
    (Mark::Watch, "worth a look"),
    (
        Mark::Settling(judge::Level::Ok),
        "about to be called something; WHY says what and when",
    ),
    (Mark::Working, "working, and well"),
    (Mark::Rest, "at rest"),
    (
        Mark::Unknown,
        "unknown: away, asleep or not read; never taken for idle",
    ),
];
/// What the other signs of a row mean.
const SIGNS: [(&str, &str); 3] = [
    ("=", "what the server reports and what is true agree"),
    ("≠ !=", "they contradict each other: the server is wrong"),
    (
        "+",
        "marked with space: the next abort or export is of all that are marked",
    ),
];

/// Every line of the key table, and the words on the screen.
fn help() -> Vec<Vec<Piece>> {
    let mut lines: Vec<Vec<Piece>> = keymap::keymap()
        .map(|binding| {
            vec![
                Piece::new(format!("{:<12}", keymap::keys_of(binding)), Tone::Key),
                Piece::new(binding.help, Tone::Plain),
            ]
        })
        .collect();
    lines.push(Vec::new());
    lines.push(vec![Piece::new("Marks", Tone::Strong)]);
    for (mark, words) in MARKS {
        lines.push(vec![
            Piece::new(format!("{:<3}", mark.glyph(false)), mark.tone()),
            Piece::new(format!("{:<3}", mark.glyph(true)), mark.tone()),
            Piece::new(words, Tone::Plain),
        ]);
    }
    for (signs, words) in SIGNS {
        lines.push(vec![
            Piece::new(format!("{signs:<6}"), Tone::Strong),
            Piece::new(words, Tone::Plain),
        ]);
    }
    lines.push(Vec::new());
    lines.push(vec![Piece::new("What stands under ACTUALLY", Tone::Strong)]);
    for state in judge::ActivityState::ALL {
        lines.push(vec![
            Piece::new(
                format!("{:<18}", state.word().replace('-', " ")),
                Tone::Strong,
            ),
            Piece::new(state.meaning(), Tone::Plain),
        ]);
    }
    lines
}

/// What a key does just now, where that changes.
fn words_of(app: &App, binding: &keymap::Binding) -> String {
    let is_over = app.ui.detail_open || app.ui.page.is_some();
    let marked = app.ui.marked.len();
    match binding.action {
        Action::Open if app.ui.detail_open => "close".to_owned(),
        Action::Back if is_over => "back".to_owned(),
        Action::Abort | Action::Export if marked > 0 => {
            format!("{} {marked} marked", binding.words)
        }
        _ => binding.words.to_owned(),
    }
}

/// What its findings offer is to send something. A 2.x server takes nothing from here.
fn offers_prompt(app: &App) -> bool {
    let key = app.ui.selected.as_ref();
    let verdict = key.and_then(|key| app.verdict(key));
    verdict.is_some_and(|verdict| {
        let sends = |offer: &Offer| matches!(offer, Offer::Resend | Offer::Continue);
        let mut offers = verdict.findings.iter().flat_map(|it| &it.offers);
        let idle = !verdict.reported.is_running();
        idle && offers.any(sends) && plan::refused(&app.store, &verdict.key).is_none()
    })
}

/// What is asked in the selected row and below it.
fn asked(app: &App) -> Vec<Waiting> {
    let selected = app.ui.selected.as_ref();
    let asks = selected.filter(|key| app.verdict(key).is_some_and(|it| !it.asks.is_empty()));
    asks.map_or_else(Vec::new, |key| waiting(&app.store, key))
}

/// Only what applies now.
fn footer(app: &App) -> Vec<Hint> {
    let has_row = app.ui.selected.is_some();
    let is_asleep = app
        .ui
        .selected
        .as_ref()
        .is_some_and(|key| app.is_asleep(key));
    let asks = asked(app);
    let is_permission = |it: &Waiting| !it.ghost && it.ask.kind == AskKind::Permission;
    let selected = app.ui.selected.as_ref();
    let is_refused = selected.is_some_and(|key| plan::refused(&app.store, key).is_some());
    let is_lost = app.store.servers().any(|(_, s)| !s.is_reachable());
    keymap::keymap()
        .filter(|binding| match binding.when {
            When::Moving => false,
            When::Row => has_row,
            When::Resend => offers_prompt(app),
            When::Asking => !asks.is_empty(),
            When::Permission => asks.iter().any(is_permission),
            When::Asleep => is_asleep,
            When::Lost => is_lost,
            When::Logged => !app.log.is_empty(),
            When::Always => true,
        })
        .filter(|binding| !(is_asleep && binding.action == Action::Abort))
        .filter(|binding| !(is_refused && binding.action.changes()))
        .map(|binding| Hint {
            key: binding
                .keys
                .first()
                .map(ToString::to_string)
                .unwrap_or_default(),
            words: words_of(app, binding),
        })
        .collect()
}
