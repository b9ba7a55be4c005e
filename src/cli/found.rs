//! Servers that nobody named: where they are looked for, and what is said of them.
//!
//! What it does: say whether to look and where, make targets of what is found, word what was looked
//! at when nothing is. What it does not: look; `net::discover` does.

use super::args::{Cli, Command, Common};
use super::config::Config;
use super::{env, servers, start};
use crate::core::time::Clock;
use crate::net::discover::{self, Found, Looked, Processes, Wish};
use crate::shell::exit::Trouble;
use crate::shell::target::Target;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Nothing is named or configured; or the network is to be asked on top of the configuration.
pub(super) fn is_wanted(cli: &Cli, config: &Config) -> bool {
    let is_shown = cli.command.is_some() || std::io::stdout().is_terminal();
    let is_replay = matches!(cli.command, Some(Command::Replay(_)));
    let is_open = start::named(cli).is_empty() && !cli.common.demo && !is_replay;
    is_open && is_shown && (config.server.is_empty() || cli.common.mdns)
}

/// Looks once.
pub(super) async fn look(common: &Common, config: &Config, clock: &Clock) -> Looked {
    discover::look(&wish(common, config), clock).await
}

/// Where to look. What the configuration names needs no looking for: then only the network is asked.
pub(super) fn wish(common: &Common, config: &Config) -> Wish {
    let is_open = config.server.is_empty();
    Wish {
        usual: is_open.then(|| start::usual(common)),
        processes: if is_open {
            processes(common)
        } else {
            Processes::None
        },
        service_file: service_file().filter(|_| is_open),
        mdns: common.mdns,
    }
}

#[cfg(debug_assertions)]
fn processes(common: &Common) -> Processes {
    match (&common.processes_for_test, common.usual_port_for_test) {
        (Some(folder), _) => Processes::Below(folder.clone()),
        (None, Some(_)) => Processes::None,
        (None, None) => Processes::All,
    }
}

#[cfg(not(debug_assertions))]
fn processes(_: &Common) -> Processes {
    Processes::All
}

/// Where a service of OpenCode 2.x leaves word.
fn service_file() -> Option<PathBuf> {
    let absolute = |path: String| Some(PathBuf::from(path)).filter(|it| it.is_absolute());
    let state = env::var("XDG_STATE_HOME").and_then(absolute);
    let home = || Some(absolute(env::var("HOME")?)?.join(".local/state"));
    Some(state.or_else(home)?.join("opencode/service.json"))
}

/// To watch.
pub(super) fn targets(looked: &Looked) -> Vec<Target> {
    let found = looked.found.iter();
    found.map(|it| servers::found(it, &env::var)).collect()
}

/// A line for each server that was found.
pub(super) fn told(looked: &Looked) -> Vec<String> {
    let line = |it: &Found| format!("found {} ({}): {}", it.name, it.address.shown(), it.why);
    looked.found.iter().map(line).collect()
}

/// Nothing was found: what was looked at, and what to do.
pub(super) fn nothing(looked: &Looked, port: u16) -> Trouble {
    Trouble::Unread(format!(
        "no OpenCode server found: {}. Start one (opencode serve --port {port}), name one (ocwatch \
         http://HOST:PORT), or look at the demo (ocwatch --demo)",
        looked.notes.join("; ")
    ))
}
