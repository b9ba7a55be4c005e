//! Arguments of the commands that only look.

use super::{address, seconds};
use clap::Args;
use std::net::SocketAddr;

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
