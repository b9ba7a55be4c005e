//! Arguments of the commands that act on sessions.

use crate::core::export::Format;
use crate::core::plan::answer::{Given, Wish};
use crate::core::wire::ModelRef;
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
    /// Print the plan and change nothing
    #[arg(long)]
    pub dry_run: bool,
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

/// `--allow` of `resend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DoubtArg {
    /// Whether another OpenCode on this data writes the last answer
    Elsewhere,
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
    /// Although another OpenCode on this data may write its last answer: you know that none does
    #[arg(long, value_name = "DOUBT", value_enum, value_delimiter = ',')]
    pub allow: Vec<DoubtArg>,
    /// Only show what would be sent
    #[arg(long)]
    pub dry_run: bool,
    /// How it acts
    #[command(flatten)]
    pub act: ActArgs,
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

/// `ocwatch answer`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
pub struct AnswerArgs {
    /// The session that asks, or one above it: id, unique prefix of an id, whole title, or server/id
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// Which ask, by its id or the beginning of it; needed when several are pending
    #[arg(long, value_name = "ID")]
    pub ask: Option<String>,
    /// Grant the permission this once
    #[arg(long, group = "how")]
    pub once: bool,
    /// Grant it from now on, for what it names as "always"
    #[arg(long, group = "how")]
    pub always: bool,
    /// Reject: the turn ends; a permission with words: the agent goes on and hears them
    #[arg(long, value_name = "MESSAGE", num_args = 0..=1, group = "how")]
    pub reject: Option<Option<String>>,
    /// Take an ask off the list that nobody waits for any more
    #[arg(long, group = "how")]
    pub dismiss: bool,
    /// Choose an option of question N [default: 1] by its label or the beginning of it (repeatable)
    #[arg(long, value_name = "[N=]LABEL", conflicts_with = "how")]
    pub choose: Vec<String>,
    /// Answer question N [default: 1] in your own words (repeatable)
    #[arg(long, value_name = "[N=]TEXT", conflicts_with = "how")]
    pub answer: Vec<String>,
    /// Print what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Act even if it cannot be recorded in the audit log
    #[arg(long)]
    pub force: bool,
}

impl AnswerArgs {
    /// What is said to the ask; `None`: nothing yet.
    pub fn wish(&self) -> Option<Wish> {
        let given = |free| {
            move |text: &String| Given {
                text: text.clone(),
                free,
            }
        };
        let chosen = self.choose.iter().map(given(false));
        let given: Vec<Given> = chosen.chain(self.answer.iter().map(given(true))).collect();
        match &self.reject {
            Some(message) => Some(Wish::Reject(message.clone().filter(|it| !it.is_empty()))),
            None if self.once => Some(Wish::Once),
            None if self.always => Some(Wish::Always),
            None if self.dismiss => Some(Wish::Dismiss),
            None => (!given.is_empty()).then_some(Wish::Choose(given)),
        }
    }
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
