//! Options that every command takes.

use super::seconds;
use crate::core::app::{Sort, ThemeName};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[cfg_attr(
    debug_assertions,
    expect(
        clippy::struct_excessive_bools,
        reason = "each is a flag of the command line; a release build has one less"
    )
)]
pub struct Common {
    /// A server by URL, host:port, or name from the configuration (repeatable)
    #[arg(
        long = "server",
        value_name = "NAME|URL",
        global = true,
        env = "OCWATCH_SERVER",
        hide_env_values = true,
        value_delimiter = ' '
    )]
    pub server: Vec<String>,

    /// The servers are those of the environment, which what stands on the command line replaces
    #[arg(skip)]
    pub server_from_env: bool,

    /// Only sessions of this directory (repeatable)
    #[arg(long, value_name = "DIR", global = true)]
    pub directory: Vec<String>,

    /// Which projects may be asked: asking an unloaded one starts it on the server [default: recent]
    #[arg(
        long,
        value_name = "POLICY",
        value_enum,
        global = true,
        env = "OCWATCH_INSPECT",
        hide_env_values = true
    )]
    pub inspect: Option<InspectArg>,

    /// Change nothing on any server, whatever is asked for
    #[arg(long, global = true, env = "OCWATCH_READ_ONLY", hide_env_values = true, value_parser = clap::builder::FalseyValueParser::new())]
    pub read_only: bool,

    /// Also look for servers that announce themselves on the local network
    #[arg(long, global = true, env = "OCWATCH_MDNS", hide_env_values = true, value_parser = clap::builder::FalseyValueParser::new())]
    pub mdns: bool,

    /// Simulated servers instead of real ones
    #[arg(long, global = true)]
    pub demo: bool,

    /// Another configuration file
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        env = "OCWATCH_CONFIG",
        hide_env_values = true
    )]
    pub config: Option<PathBuf>,

    /// How much goes to the log file
    #[arg(
        long,
        value_name = "LEVEL",
        value_enum,
        default_value = "info",
        global = true,
        env = "OCWATCH_LOG_LEVEL",
        hide_env_values = true
    )]
    pub log_level: LogLevel,

    /// When to use colour
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        global = true,
        env = "OCWATCH_COLOR",
        hide_env_values = true
    )]
    pub color: ColorWhen,

    /// Dashboard and watch: record what the servers say to a new file, for `ocwatch replay`
    #[arg(long, value_name = "FILE", global = true)]
    pub record: Option<PathBuf>,

    /// Dashboard: how it looks [default: terminal]
    #[arg(long, value_name = "NAME", value_parser = themes(), global = true, env = "OCWATCH_THEME", hide_env_values = true)]
    pub theme: Option<ThemeName>,

    /// Give up after this long (the whole command; not the dashboard)
    #[arg(long, value_name = "SECONDS", value_parser = seconds, global = true)]
    pub timeout: Option<f64>,

    /// Only ASCII characters (by itself where the locale is not UTF-8)
    #[arg(long, global = true, env = "OCWATCH_ASCII", hide_env_values = true, value_parser = clap::builder::FalseyValueParser::new())]
    pub ascii: bool,

    /// Dashboard: frames per second at most
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=120), global = true, env = "OCWATCH_FPS", hide_env_values = true)]
    pub fps: u16,

    /// Dashboard: leave the mouse to the terminal (the m key takes it)
    #[arg(long, global = true, env = "OCWATCH_NO_MOUSE", hide_env_values = true, value_parser = clap::builder::FalseyValueParser::new())]
    pub no_mouse: bool,

    /// Dashboard: begin with this filter, like "level:stuck dir:/srv" (the language of the / key)
    #[arg(
        long,
        value_name = "EXPR",
        global = true,
        env = "OCWATCH_FILTER",
        hide_env_values = true
    )]
    pub filter: Option<String>,

    /// Order of the rows: a column's name, or attention; with a - before it reversed
    #[arg(long, value_name = "COLUMN", value_parser = crate::cli::config::sort_named, allow_hyphen_values = true, global = true, env = "OCWATCH_SORT", hide_env_values = true)]
    pub sort: Option<Sort>,

    /// Panic once the dashboard is drawn
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, global = true)]
    pub panic_for_test: bool,

    /// Look for a server on this port instead of the usual one
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, global = true)]
    pub usual_port_for_test: Option<u16>,

    /// Look only at processes that work below this folder
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, global = true)]
    pub processes_for_test: Option<PathBuf>,
}

/// `--inspect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InspectArg {
    /// Only what the server has loaded already
    Loaded,
    /// Also projects with a session changed in the last 24 hours
    Recent,
    /// Every project
    All,
}

/// `--log-level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing
    Off,
    /// Failures
    Error,
    /// And what is odd
    Warn,
    /// And what happened
    Info,
    /// And how
    Debug,
    /// Everything
    Trace,
}

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The name of a theme.
fn themes() -> impl TypedValueParser<Value = ThemeName> {
    let names = ThemeName::ALL.map(|theme| {
        let name = PossibleValue::new(theme.word());
        match theme {
            ThemeName::ColourBlind => name.alias("color-blind"),
            _ => name,
        }
    });
    PossibleValuesParser::new(names)
        .try_map(|word| ThemeName::named(&word).ok_or("there is no such theme"))
}
