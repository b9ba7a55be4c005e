//! The commands that are about ocwatch itself: its configuration, completions, manual pages.
//!
//! What it does: carry them out from what the code knows of itself. What it does not: speak to a
//! server, or need one.

mod config;
mod papers;

use super::args::{Cli, Command, ConfigCommand, Said};
use crate::shell::exit::{Exit, Trouble};
use std::io::BufWriter;

/// Carries such a command out; `None`: it is another one.
pub(super) fn about_itself(cli: &Cli, said: &Said) -> Option<Result<Exit, Trouble>> {
    let mut out = BufWriter::new(std::io::stdout());
    let common = &cli.common;
    Some(match cli.command.as_ref()? {
        Command::Config(it) => match &it.what {
            ConfigCommand::Init { force } => config::init(common, *force, &mut out),
            ConfigCommand::Show { json } => config::show(common, said, *json, &mut out),
            ConfigCommand::Check { file } => config::check(common, file.as_deref(), &mut out),
            ConfigCommand::Path => config::path(common, &mut out),
        },
        Command::Completions(it) => papers::completions(it.shell, &mut out),
        Command::Man(it) => papers::man(it.dir.as_deref(), &mut out),
        _ => return None,
    })
}
