//! The dashboard's parts, joined.
//!
//! What it does: make them from arguments and configuration, and run them. What it does not: anything
//! a key does.

use super::act::audit_of;
use super::args::Common;
use super::config::notify::OscWish;
use super::start::{self, Setup};
use super::{env, look};
use crate::core::app::Msg;
use crate::shell::audit;
use crate::shell::effects::Effects;
use crate::shell::exit::{Exit, Trouble};
use crate::shell::interactive::{Dashboard, DashboardError};
use crate::shell::memory::{self, Keeper};
use crate::shell::notify::{self, Hooks, Ways};
use crate::tui::{self, TerminalError};
use std::path::PathBuf;
use tokio::sync::mpsc;

/// Answers of effects that may wait.
const WAITING_ANSWERS: usize = 256;

/// Shows the dashboard until someone or a signal ends it.
pub(super) async fn dashboard(setup: &Setup, common: &Common) -> Result<Exit, Trouble> {
    let feed = setup.feed();
    let (to_loop, answers) = mpsc::channel(WAITING_ANSWERS);
    let (standings, asked) = audit::standings();
    // What happens in a demo did not happen.
    let state = start::state_dir().filter(|_| setup.demo.is_none());
    let effects = Effects {
        clients: setup.clients.clone().into(),
        commands: feed.commands.clone(),
        // Whole, so that whoever reads the path in another shell finds the file.
        export_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        save_dir: start::export_dir(),
        audit: audit_of(setup, false),
        standings,
        keeper: state.as_deref().map_or_else(Keeper::forgetful, Keeper::new),
        ways: ways(setup, to_loop.clone()),
        attach_in_window: setup.config.attach_wishes.window && env::var("TMUX").is_some(),
        clock: setup.clock.clone(),
        answers: to_loop,
    };
    let mut app = setup.app(common);
    if let Some(dir) = &state {
        app.begin_with(memory::recall(dir));
    }
    let dashboard = Dashboard {
        app,
        feed,
        effects,
        answers,
        asked,
        clock: setup.clock.clone(),
        theme: look::theme(common, &setup.config.look),
        fps: common.fps,
        panics: watch_panics(),
        panic_for_test: panic_for_test(common),
    };
    dashboard.run().await.map_err(|why| terminal_trouble(&why))
}

/// No terminal to draw on or to read keys from is a wrong way to call it; the rest is bad luck.
pub(super) fn terminal_trouble(why: &DashboardError) -> Trouble {
    match why {
        DashboardError::Terminal(TerminalError::NotATerminal | TerminalError::NoKeys) => {
            Trouble::Usage(why.to_string())
        }
        _ => Trouble::Failed(format!("failed to show the dashboard: {why}")),
    }
}

/// How this terminal and this user are told what happens. Needs a runtime.
fn ways(setup: &Setup, answers: mpsc::Sender<Msg>) -> Ways {
    let wishes = &setup.config.notify_wishes;
    let hook = wishes.hook.clone();
    Ways {
        osc: match wishes.osc {
            OscWish::Auto => notify::detect(&env::var),
            OscWish::Kind(kind) => Some(kind),
            OscWish::Off => None,
        },
        wrap: notify::wrap(&env::var),
        hooks: hook.map(|hook| Hooks::start(hook, answers)),
    }
}

/// A panic anywhere gives the terminal back, prints its report, and is told to the loop.
fn watch_panics() -> mpsc::UnboundedReceiver<()> {
    tui::install_panic_hook();
    let (to_loop, panics) = mpsc::unbounded_channel();
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        previous(info);
        tracing::error!(panic = %info, "panic");
        // A closed channel: the loop itself panicked or has ended.
        to_loop.send(()).ok();
    }));
    panics
}

#[cfg(debug_assertions)]
fn panic_for_test(common: &Common) -> bool {
    common.panic_for_test
}

#[cfg(not(debug_assertions))]
fn panic_for_test(_: &Common) -> bool {
    false
}
