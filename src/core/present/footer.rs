//! The footer: what the keys do for the selected row, and only what applies to it.

use super::{Hint, filter};
use crate::core::app::keymap::{self, Action, Binding, When};
use crate::core::app::{App, Pane};
use crate::core::judge::Offer;
use crate::core::plan;
use crate::core::plan::answer::{Waiting, waiting};
use crate::core::wire::AskKind;

/// What a key does just now, where that changes.
fn words_of(app: &App, binding: &Binding) -> String {
    let is_over = app.ui.detail_open;
    let marked = app.ui.marked.len();
    match binding.action {
        Action::Open if is_over && in_parts(app) => "read part".to_owned(),
        Action::Open if is_over => "close".to_owned(),
        Action::Filter if is_over => "search".to_owned(),
        Action::Back if is_over => "back".to_owned(),
        Action::Abort | Action::Export if marked > 0 => {
            format!("{} {marked} marked", binding.words)
        }
        _ => binding.words.to_owned(),
    }
}

/// The keys are in the pane of parts.
fn in_parts(app: &App) -> bool {
    let key = app.ui.selected.as_ref();
    key.is_some_and(|key| app.pane(key) == Pane::Parts)
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

fn hint(app: &App, action: Action, words: &str) -> Hint {
    Hint::of(action, app.key_of(action), words)
}

/// The detail is seen and there is more than one way to look at it.
fn has_panes(app: &App) -> bool {
    let selected = app.ui.selected.as_ref();
    let panes = selected.map_or(0, |key| app.panes(key).len());
    app.ui.sees_detail() && panes > 1
}

/// Only what applies now.
pub(super) fn footer(app: &App) -> Vec<Hint> {
    if let Some(hints) = filter::hints(app) {
        return hints;
    }
    if app.ui.page.is_some() {
        return of_page(app);
    }
    let applies = applies(app);
    let offered = keymap::keymap().filter(|it| it.when != When::Moving && applies(it));
    offered
        .map(|binding| hint(app, binding.action, &words_of(app, binding)))
        .collect()
}

/// How to read a page and leave it.
fn of_page(app: &App) -> Vec<Hint> {
    vec![
        hint(app, Action::Back, "back"),
        hint(app, Action::Down, "down"),
        hint(app, Action::Up, "up"),
        hint(app, Action::PageDown, "page down"),
        hint(app, Action::Filter, "search"),
    ]
}

/// Whether an action would do anything just now.
pub(super) fn applies(app: &App) -> impl Fn(&Binding) -> bool + use<> {
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
    let unattachable = selected.is_some_and(|key| app.unattachable(key).is_some());
    let is_lost = app.store.servers().any(|(_, s)| !s.is_reachable());
    let offers_prompt = offers_prompt(app);
    let permission = asks.iter().any(is_permission);
    let is_logged = !app.log.is_empty();
    let (has_panes, has_hits) = (has_panes(app), app.ui.search.is_some());
    move |binding| {
        let applies = match binding.when {
            When::Moving | When::Always => true,
            When::Row => has_row,
            When::Resend => offers_prompt,
            When::Asking => !asks.is_empty(),
            When::Permission => permission,
            When::Asleep => is_asleep,
            When::Lost => is_lost,
            When::Logged => is_logged,
            When::Panes => has_panes,
            When::Hits => has_hits,
        };
        let refused = (is_refused && binding.action.changes())
            || (unattachable && binding.action == Action::Attach);
        applies && !refused && !(is_asleep && binding.action == Action::Abort)
    }
}
