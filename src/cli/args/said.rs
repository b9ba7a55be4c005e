//! Who said what: the command line, the environment, or nobody.
//!
//! What it does: tell it for each option that every command takes. What it does not: read the
//! environment itself; clap did.

use super::Cli;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, CommandFactory};

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidOption {
    /// As in the code: `read_only`.
    pub id: String,
    /// As on the command line: `--read-only`.
    pub flag: String,
    /// The variable that says it as well, if there is one.
    pub variable: Option<String>,
    /// Who said it; `None`: nobody, and there is no default.
    pub source: Option<ValueSource>,
    /// Its values as they were said, or the default.
    pub values: Vec<String>,
}

/// Every option that every command takes, in the order of the help.
#[derive(Debug, Clone, Default)]
pub struct Said(Vec<SaidOption>);

impl Said {
    /// From what was parsed.
    pub fn of(matches: &ArgMatches) -> Self {
        let mut leaf = matches;
        while let Some((_, below)) = leaf.subcommand() {
            leaf = below;
        }
        let command = Cli::command();
        let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let options = shown.filter(|arg| arg.is_global_set()).map(|arg| {
            let id = arg.get_id().as_str();
            let raw = leaf.try_get_raw(id).ok().flatten();
            let text = |it: &std::ffi::OsStr| it.to_string_lossy().into_owned();
            let flag = matches!(arg.get_action(), ArgAction::SetTrue);
            // The environment may call it 1 or yes.
            let flag = flag.then(|| leaf.get_flag(id).to_string());
            SaidOption {
                id: id.to_owned(),
                flag: format!("--{}", arg.get_long().unwrap_or(id)),
                variable: arg.get_env().map(text),
                source: leaf.value_source(id),
                values: flag.map_or_else(
                    || raw.into_iter().flatten().map(text).collect(),
                    |flag| vec![flag],
                ),
            }
        });
        Self(options.collect())
    }

    /// Each of them.
    pub fn options(&self) -> impl Iterator<Item = &SaidOption> {
        self.0.iter()
    }

    /// Whether the environment said it, and no flag did.
    pub fn is_from_environment(&self, id: &str) -> bool {
        let option = self.0.iter().find(|option| option.id == id);
        option.is_some_and(|it| it.source == Some(ValueSource::EnvVariable))
    }
}
