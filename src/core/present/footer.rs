//! The footer: what the keys do for the selected row, and only what applies to it.

use super::Hint;
use crate::core::app::App;
use crate::core::app::keymap::{self, Action, When};
use crate::core::judge::Offer;
use crate::core::plan;
use crate::core::plan::answer::{Waiting, waiting};
use crate::core::wire::AskKind;

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

/// The detail is seen and there is more than one way to look at it.
fn has_panes(app: &App) -> bool {
    let selected = app.ui.selected.as_ref();
    let panes = selected.map_or(0, |key| app.panes(key).len());
    (app.ui.detail_open || app.ui.detail_seen) && panes > 1
}

/// Only what applies now.
pub(super) fn footer(app: &App) -> Vec<Hint> {
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
            When::Panes => has_panes(app),
            When::Hits => app.ui.search.is_some(),
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
