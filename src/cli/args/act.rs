//! Arguments of the commands that act on sessions.

use crate::core::export::Format;
use clap::{Args, ValueEnum};
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

/// `ocwatch export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Sessions: id, unique prefix of an id or a title, or server/id
    #[arg(value_name = "SESSION", required = true)]
    pub sessions: Vec<String>,
    /// Where to: a file, a directory, or - for stdout [default: ./ID.json]
    #[arg(long, short, value_name = "FILE|DIR|-")]
    pub output: Option<PathBuf>,
    /// With all of its subagents: -o is a new directory then [default: ./ID], with a file for each
    /// session and index.json (id, title, parent, file, messages, bytes)
    #[arg(long)]
    pub children: bool,
    /// Without texts, paths and what tools did, as `opencode export --sanitize`; error messages stay
    #[arg(long)]
    pub sanitize: bool,
    /// What for: json for `opencode import` and programs, md for people
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "json")]
    pub format: FormatArg,
    /// Replace what exists: a file, or a directory that an export has written
    #[arg(long)]
    pub force: bool,
}

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// One document that `opencode import` takes
    Json,
    /// Markdown
    Md,
}

impl From<FormatArg> for Format {
    fn from(arg: FormatArg) -> Self {
        match arg {
            FormatArg::Json => Format::Json,
            FormatArg::Md => Format::Markdown,
        }
    }
}
