//! The first run: nothing is named, nothing configured, and no server is found.
//!
//! What it does: decide whether it is one, and join the first screen's parts. What it does not:
//! draw, or look for servers itself.

use super::args::Cli;
use super::config::Config;
use super::dashboard::terminal_trouble;
use super::{found, look, start};
use crate::core::time::Clock;
use crate::net::discover::{Looked, look as look_once};
use crate::shell::exit::Trouble;
use crate::shell::welcome::{Choice, First};

/// It would end with "no server found" where someone sits who can be told what to do.
pub(super) fn is_first(cli: &Cli, config: &Config, looked: &Looked) -> bool {
    cli.command.is_none() && config.server.is_empty() && looked.found.is_empty()
}

/// Shows the first screen until a server is found or the user decides.
pub(super) async fn run(
    cli: &Cli,
    config: &Config,
    clock: &Clock,
    looked: &Looked,
) -> Result<Choice, Trouble> {
    let common = &cli.common;
    let file = common.config.clone().or_else(start::config_file);
    let wish = found::wish(common, config);
    let time = clock.clone();
    let first = First {
        address: start::usual(common),
        looked: looked.notes.clone(),
        look: Box::new(move || {
            let (wish, time) = (wish.clone(), time.clone());
            Box::pin(async move { look_once(&wish, &time).await })
        }),
        config: file.map(|path| path.display().to_string()),
        theme: look::theme(common, &config.look),
        clock: clock.clone(),
        utc_offset: start::utc_offset(clock),
    };
    first.run().await.map_err(|why| terminal_trouble(&why))
}
