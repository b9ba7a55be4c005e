//! The dashboard's parts, joined.
//!
//! What it does: make them from arguments and configuration, and run them. What it does not: anything
//! a key does.

use super::act::audit_of;
use super::args::Common;
use super::config::notify::OscWish;
use super::start::{self, Setup};
use super::{env, look, recording, servers};
use crate::core::app::Msg;
use crate::core::id::ServerId;
use crate::net::tunnel::LocalPort;
use crate::shell::audit;
use crate::shell::effects::{Attaching, Effects};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::interactive::{Dashboard, DashboardError};
use crate::shell::memory::{self, Keeper};
use crate::shell::notify::{self, Hook, Hooks, Ways};
use crate::tui::{self, TerminalError};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Answers of effects that may wait.
const WAITING_ANSWERS: usize = 256;

/// Shows the dashboard until someone or a signal ends it.
pub(super) async fn dashboard(setup: &Setup, common: &Common) -> Result<Exit, Trouble> {
    let (to_loop, answers) = mpsc::channel(WAITING_ANSWERS);
    let told = to_loop.clone();
    // A loop with so many answers waiting learns it from the file.
    let tell = move |words| drop(told.try_send(Msg::Told(words)));
    let (feed, ended) = recording::feed(setup, common, tell)?;
    if let Some(ended) = ended {
        tokio::spawn(tell_end(ended, to_loop.clone()));
    }
    let (standings, asked) = audit::standings();
    let hidden: Arc<[String]> = servers::hidden(&setup.config).into();
    // What happens in a demo did not happen, and what happens in a replay did once.
    let state = start::state_dir().filter(|_| setup.demo.is_none() && setup.replay.is_none());
    let recalled = state.as_deref().map(memory::recall).unwrap_or_default();
    let effects = Effects {
        clients: setup.clients.clone().into(),
        commands: feed.commands.clone(),
        // Whole, so that whoever reads the path in another shell finds the file.
        export_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        save_dir: start::export_dir(),
        audit: audit_of(setup, false),
        standings,
        keeper: state
            .as_deref()
            .map_or_else(Keeper::forgetful, |dir| Keeper::new(dir, recalled.clone())),
        ways: ways(setup, &hidden, to_loop.clone()),
        attaching: Attaching {
            in_window: setup.config.attach_wishes.window && env::var("TMUX").is_some(),
            ports: ports(setup),
            hidden: hidden.clone(),
        },
        clock: setup.clock.clone(),
        answers: to_loop,
    };
    let mut app = setup.app(common);
    for (server, port) in &effects.attaching.ports {
        let client = setup.clients.get(usize::from(server.0));
        let url = client.map(|it| it.address().at_port(port.number()));
        app.attach_through(*server, url);
    }
    app.begin_with(recalled);
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

/// The end of a recording is no end of the dashboard: what it came to may be looked at.
async fn tell_end(ended: oneshot::Receiver<String>, answers: mpsc::Sender<Msg>) {
    if let Ok(words) = ended.await {
        // A closed channel: the program is ending, nobody waits for it.
        answers.send(Msg::Told(words)).await.ok();
    }
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

/// For each server behind `ssh` a port of this machine, not yet open.
fn ports(setup: &Setup) -> BTreeMap<ServerId, LocalPort> {
    let tunnels = (0..).zip(&setup.clients).filter_map(|(number, client)| {
        let port = LocalPort::take(client.tunnel()?.clone());
        // Without one nobody attaches there; the command then names what `ssh` leads to.
        port.ok().map(|port| (ServerId(number), port))
    });
    tunnels.collect()
}

/// How this terminal and this user are told what happens. Needs a runtime.
fn ways(setup: &Setup, hidden: &Arc<[String]>, answers: mpsc::Sender<Msg>) -> Ways {
    let wishes = &setup.config.notify_wishes;
    let hook = wishes.hook.clone().map(|hook| Hook {
        hidden: Arc::clone(hidden),
        ..hook
    });
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
