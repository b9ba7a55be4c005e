//! Arguments of the commands that act on sessions.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What every command that changes something takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct ActArgs {
    /// Do not ask; needed off a terminal
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Act even if it cannot be recorded in the audit log
    #[arg(long)]
    pub force: bool,
}

/// `ocwatch abort`.
#[derive(Debug, Args)]
pub struct AbortArgs {
    /// Sessions: id, unique prefix of an id, whole title, or server/id
    #[arg(value_name = "SESSION", required = true)]
    pub sessions: Vec<String>,
    /// How it acts
    #[command(flatten)]
    pub act: ActArgs,
}

/// `ocwatch reset`.
#[derive(Debug, Args)]
pub struct ResetArgs {
    /// A session: id, unique prefix of an id, whole title, or server/id
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// Print the plan and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How it acts
    #[command(flatten)]
    pub act: ActArgs,
    /// Also what hits more than the session, if nothing gentler settles it
    #[arg(long, value_name = "RUNG", value_enum, value_delimiter = ',')]
    pub allow: Vec<AllowArg>,
}

/// `--allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AllowArg {
    /// End the project's instance: every run in its directory is aborted
    Dispose,
    /// Make a copy that ends before the broken turn
    Fork,
    /// Set tool parts although another OpenCode on this data may run them
    Elsewhere,
}

/// `ocwatch export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Sessions: id, unique prefix of an id or a title, or server/id
    #[arg(value_name = "SESSION", required = true)]
    pub sessions: Vec<String>,
    /// Where to: a file, a directory, or - for stdout [default: ./ID.json]
    #[arg(long, short, value_name = "FILE|DIR|-")]
    pub output: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}
