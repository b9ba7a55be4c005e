//! Arguments of the commands that are about ocwatch itself: its configuration, its help.

use clap::{Args, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// `ocwatch config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// What to do with it
    #[command(subcommand)]
    pub what: ConfigCommand,
}

/// What `ocwatch config` does.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Write a configuration file with every key in it, all of them switched off; its path goes to stdout
    #[command(after_help = "Example:\n  $EDITOR $(ocwatch config init)")]
    Init {
        /// Write over a file that is there
        #[arg(long)]
        force: bool,
    },
    /// What is in force, and where each value comes from; passwords are not shown
    #[command(
        after_help = "Examples:\n  ocwatch config show | grep -v default\n  ocwatch config show --json | jq '.values[] | select(.from == \"file\")'"
    )]
    Show {
        /// One JSON document (schema ocwatch.config/1)
        #[arg(long)]
        json: bool,
    },
    /// Every mistake in the file, and every password that it names and that is not to be had
    ///
    /// Exit code 0: there is none; 2: there are some, a line each on stderr.
    #[command(after_help = "Example:\n  ocwatch config check ./ocwatch.toml")]
    Check {
        /// Another file than the one in force
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Where the file is looked for, and whether it is there
    #[command(after_help = "Example:\n  $EDITOR $(ocwatch config path)")]
    Path,
}

/// `ocwatch completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `ocwatch man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write a page for each command into this directory; their paths go to stdout
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
