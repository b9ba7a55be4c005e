//! The whole screen from the app.

use crate::core::app::keymap::Action;
use crate::core::app::{App, PageKind};
use crate::core::id::SessionKey;
use crate::core::judge::{self, Explanation};
use crate::core::present::sheet::long;
use crate::core::present::{
    Flow, Page, Piece, Row, Screen, Tone, clean, command, detail, dialog, explain_lines, filter,
    find, footer, form, header, help, log, part, rows, servers, words,
};
use crate::core::store::LinkState;
use crate::core::time::{Span, UnixMs};
use crate::core::wire::Endpoint;
use std::ops::Range;

/// How far time moves at once on a screen with reduced motion.
pub const CALM: Span = Span::secs(10);

/// So many rows to both sides of the selected one are told however few fit.
const FEW: usize = 64;

/// What the screen shows at `now` (watcher's clock). Changes nothing.
pub fn screen(app: &App, now: UnixMs) -> Screen {
    let now = if app.reduced_motion {
        now.floor(CALM)
    } else {
        now
    };
    let Some(frozen) = app.frozen() else {
        return moving(app, now);
    };
    Screen {
        clock: words::clock(now, app.utc_offset),
        frozen: header::frozen(frozen, now),
        ..moving(&frozen.app, frozen.at)
    }
}

fn moving(app: &App, now: UnixMs) -> Screen {
    let selected = app.ui.selected.as_ref();
    let place = selected.and_then(|key| app.rows.iter().position(|row| row.key == *key));
    let sight = in_sight(app, place);
    let beyond = [sight.start, app.rows.len() - sight.end];
    let visible = app.rows.get(sight).unwrap_or_default().iter();
    let rows: Vec<Row> = visible
        .filter_map(|visible| rows::row(app, visible, now))
        .collect();
    Screen {
        servers: header::chips(&app.store, app.judgement(), now),
        counts: header::counts(app),
        asleep: header::asleep(&app.store),
        clock: words::time_of_day(now, app.utc_offset),
        empty: if rows.is_empty() {
            empty(app)
        } else {
            Vec::new()
        },
        selected: place,
        offset: app.ui.offset,
        detail: selected.and_then(|key| detail::detail(app, key, now)),
        detail_open: app.ui.detail_open,
        filter: filter::line(app),
        attention_only: app.ui.attention_only,
        calm: if app.ui.attention_only {
            app.tally.calm
        } else {
            0
        },
        dialog: app
            .ui
            .dialog
            .as_ref()
            .and_then(|state| dialog::dialog(app, state)),
        form: form::form(app),
        page: page(app, now),
        command: command::command(app),
        greeting: None,
        frozen: Vec::new(),
        notice: notice(app),
        footer: footer::footer(app),
        several_servers: app.store.servers().nth(1).is_some(),
        columns: app.columns.clone(),
        demo: app.demo,
        sort: app.ui.sort,
        marked: app.ui.marked.len(),
        theme: app.ui.theme,
        rows,
        beyond,
    }
}

/// The places of the rows that the view may show: it keeps the selected one in sight. Of thousands
/// most are never looked at.
fn in_sight(app: &App, selected: Option<usize>) -> Range<usize> {
    let most = FEW.max(2 * usize::from(app.ui.table_rows));
    let total = app.rows.len();
    let middle = selected.unwrap_or(app.ui.offset).min(total);
    middle.saturating_sub(most)..(middle + most).min(total)
}

/// What a key or the world has just said: the newest word, how a bulk action went, the filter.
fn notice(app: &App) -> Option<Piece> {
    let word = app.ui.notice.as_ref();
    let word = word.map(|it| Piece::new(clean(it), Tone::Watch));
    let summary = || {
        let summary = app.summary.as_ref()?;
        let tone = if summary.good {
            Tone::Working
        } else {
            Tone::Watch
        };
        Some(Piece::new(clean(&summary.words), tone))
    };
    word.or_else(summary).or_else(|| filter::notice(app))
}

/// What stands in an empty table: never a blank without a reason.
fn empty(app: &App) -> Vec<String> {
    if !app.ui.filter.query().terms.is_empty() {
        return filter::empty(app);
    }
    let mut lines = Vec::new();
    if app.ui.attention_only && app.store.sessions().next().is_some() {
        let unknown = app.judgement().verdicts.values();
        let unknown = unknown.filter(|it| it.level == judge::Level::Unknown);
        match unknown.count() {
            0 => lines.push("nothing needs attention".to_owned()),
            n => lines.push(format!(
                "nothing that can be read needs attention; {n} unknown"
            )),
        }
        let key = app.key_of(Action::Attention);
        lines.push(format!("{key} shows all sessions"));
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

fn page(app: &App, now: UnixMs) -> Option<Page> {
    let (kind, scroll) = app.ui.page.as_ref()?;
    let (title, lines) = match kind {
        PageKind::Help => ("Keys".to_owned(), help::help(app)),
        PageKind::History => ("History".to_owned(), log::lines(app)),
        PageKind::Servers => ("Servers".to_owned(), servers::lines(app, now)),
        PageKind::Part(page) => {
            let title = format!("Part {}", clean(page.part.as_str()));
            (title, part::lines(app, page))
        }
        PageKind::Explain(key) => {
            let told = explanation(app, key, now);
            let session = app.store.session(key)?;
            let lines = told.map(|told| explain_lines(&told)).unwrap_or_default();
            (format!("Why: {}", rows::title(session)), lines)
        }
    };
    let found = find::found(app, lines.iter());
    Some(Page {
        title,
        scroll: *scroll,
        seek: find::sought(app, found.as_ref(), None),
        found,
        lines,
        flow: match kind {
            PageKind::Part(_) => long(app, Flow::Cells),
            _ => Flow::Words,
        },
    })
}

/// Why the verdict on the screen is what it is.
pub(super) fn explanation(app: &App, key: &SessionKey, now: UnixMs) -> Option<Explanation> {
    let verdict = app.verdict(key)?.clone();
    judge::explain_verdict(&app.store, verdict, now, &app.limits)
}
