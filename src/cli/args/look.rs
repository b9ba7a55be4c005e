//! Arguments of the commands that only look.

use super::{address, seconds};
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// `ocwatch log`.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// One JSON document for each action on a line (schema ocwatch.audit/1)
    #[arg(long)]
    pub json: bool,
    /// Only the newest
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
    /// Only of this session: id, prefix of an id, or server/id
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
}

/// `ocwatch status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// A URL, host:port, or a name from the configuration
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// One JSON document (schema ocwatch.status/1)
    #[arg(long)]
    pub json: bool,
    /// How long to wait for what cannot be said yet; 0 prints at once
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = seconds)]
    pub settle: f64,
}

/// `ocwatch check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A URL, host:port, or a name from the configuration
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// The lowest level that counts: what is below it is as good as ok
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "watch")]
    pub fail_on: FailOnArg,
    /// One JSON document (schema ocwatch.check/1)
    #[arg(long)]
    pub json: bool,
    /// How long to wait for what cannot be said yet; 0 prints at once
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = seconds)]
    pub settle: f64,
}

/// `--fail-on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOnArg {
    /// Only what will not go on by itself
    Stuck,
    /// And what waits for a person
    NeedsYou,
    /// And what is worth a look
    Watch,
}

/// `ocwatch watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// A URL, host:port, or a name from the configuration
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// One JSON document on each line (schema ocwatch.change/1)
    #[arg(long)]
    pub json: bool,
}

/// `ocwatch metrics`.
#[derive(Debug, Args)]
pub struct MetricsArgs {
    /// A URL, host:port, or a name from the configuration
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Where to listen: IP:PORT, localhost:PORT, or a port of this machine
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9464", value_parser = address)]
    pub listen: SocketAddr,
    /// Print the metrics as OpenMetrics and end
    #[arg(long, conflicts_with = "listen")]
    pub once: bool,
    /// Also tell the ids of sessions that are stuck or need you, at most 100: a series for each
    #[arg(long)]
    pub session_ids: bool,
}

/// `ocwatch explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A session: id, unique prefix of an id or a title, or server/id
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// `ocwatch replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A recording, as --record writes it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How many times as fast as it was, from 0.1 to 1000
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// No dashboard: each change as one JSON document on a line, as `watch --json` tells it
    #[arg(long)]
    pub json: bool,
}

/// Of a replay.
fn speed(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.1..=1000.0).contains(&value) {
        Ok(value)
    } else {
        Err("must be between 0.1 and 1000".to_owned())
    }
}

/// `ocwatch wait`.
#[derive(Debug, Args)]
pub struct WaitArgs {
    /// A session: id, unique prefix of an id or a title, or server/id
    #[arg(value_name = "SESSION", required = true)]
    pub sessions: Vec<String>,
    /// End with the first session whose wait has ended, however it ended
    #[arg(long, conflicts_with = "all")]
    pub any: bool,
    /// End when the wait of each session has ended (so it is without --any)
    #[arg(long)]
    pub all: bool,
    /// What is waited for
    #[arg(long = "for", value_name = "STATE", value_enum, default_value = "done")]
    pub goal: GoalArg,
    /// How long a session may be unreadable (its server lost, say) before this gives up
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub patience: f64,
    /// One JSON document for each session on a line (schema ocwatch.wait/1)
    #[arg(long)]
    pub json: bool,
}

/// `--for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GoalArg {
    /// Its turn, and every prompt that was queued, has ended; any other end ends the wait too
    Done,
    /// Nothing runs any more, however it ended; asks and what is stuck in a run are waited through
    Idle,
    /// It needs a person
    NeedsYou,
    /// It will not go on by itself; what needs a person is waited through
    Stuck,
}
