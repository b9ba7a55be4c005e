//! The first run: nothing is named, nothing configured, and nothing listens at the usual place.
//!
//! What it does: decide whether it is one, and join the first screen's parts. What it does not:
//! draw, or look for servers elsewhere.

use super::args::Cli;
use super::config::Config;
use super::dashboard::terminal_trouble;
use super::{look, start};
use crate::core::time::Clock;
use crate::shell::exit::Trouble;
use crate::shell::welcome::{Choice, First};
use std::io::IsTerminal;

/// It would end with "no server found" where someone sits who can be told what to do.
pub(super) fn is_first(cli: &Cli, config: &Config) -> bool {
    let dashboard = cli.command.is_none() && !cli.common.demo;
    let named = !start::named(cli).is_empty() || !config.server.is_empty();
    dashboard
        && !named
        && std::io::stdout().is_terminal()
        && !start::listens(start::usual(&cli.common))
}

/// Shows the first screen until a server is found or the user decides.
pub(super) async fn run(cli: &Cli, config: &Config, clock: &Clock) -> Result<Choice, Trouble> {
    let common = &cli.common;
    let file = common.config.clone().or_else(start::config_file);
    let first = First {
        address: start::usual(common),
        config: file.map(|path| path.display().to_string()),
        theme: look::theme(common, &config.look),
        clock: clock.clone(),
        utc_offset: start::utc_offset(clock),
    };
    first.run().await.map_err(|why| terminal_trouble(&why))
}
