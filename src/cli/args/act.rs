//! Arguments of the commands that act on sessions.

use crate::core::wire::ModelRef;
use clap::Args;
use std::path::PathBuf;

/// `ocwatch abort`.
#[derive(Debug, Args)]
pub struct AbortArgs {
    /// Sessions: id, unique prefix of an id, whole title, or server/id
    #[arg(value_name = "SESSION", required = true)]
    pub sessions: Vec<String>,
    /// Do not ask; needed off a terminal
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// `ocwatch resend`.
#[derive(Debug, Args)]
pub struct ResendArgs {
    /// A session: id, unique prefix of an id, whole title, or server/id
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// Send this instead; needed where nothing can be sent again
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// The model to answer; needed after one that does not exist
    #[arg(long, value_name = "PROVIDER/MODEL", value_parser = model)]
    pub model: Option<ModelRef>,
    /// Do not ask; needed off a terminal
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Only show what would be sent
    #[arg(long)]
    pub dry_run: bool,
}

fn model(text: &str) -> Result<ModelRef, String> {
    ModelRef::parse(text).ok_or_else(|| "not of the form PROVIDER/MODEL".to_owned())
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
