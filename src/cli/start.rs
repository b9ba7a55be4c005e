//! From arguments to everything that a command works with.
//!
//! What it does: read the configuration, resolve servers, start the demo, make clients and links.
//! What it does not: run the command.

use super::args::{Cli, Command, Common, InspectArg};
use super::config::{self, Config};
use super::{env, found, servers, theme};
use crate::core::app::{App, AppOptions};
use crate::core::id::{Directory, ServerId};
use crate::core::store::ReadOnly;
use crate::core::time::{Clock, Span};
use crate::feed::demo::{self, DemoFeed};
use crate::feed::live::{self, LiveFeed};
use crate::feed::replay::Replay;
use crate::net::client::{Address, Client, ClientError, Route};
use crate::net::discover::{Looked, exposed, is_exposed};
use crate::net::link::{Inspect, LinkSpec};
use crate::shell::commands;
use crate::shell::exit::Trouble;
use crate::shell::snapshot::Snapshot;
use crate::shell::target::Target;
use crate::tui::TerminalError;
use directories::ProjectDirs;
use std::io::IsTerminal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// What every command needs.
pub struct Setup {
    /// The servers to watch.
    pub targets: Vec<Target>,
    /// Their clients, in the same order.
    pub clients: Vec<Client>,
    /// What may be asked.
    pub inspect: Inspect,
    /// Keeps the simulated servers alive.
    pub demo: Option<DemoFeed>,
    /// What is shown instead of any server.
    pub replay: Option<Replay>,
    /// The configuration as read.
    pub config: Config,
    /// What was found, a line each.
    pub found: Vec<String>,
    /// The only clock.
    pub clock: Clock,
}

/// Where files of this program belong, if this user has a home.
pub fn project_dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "ocwatch")
}

/// The directory of the log.
pub fn state_dir() -> Option<PathBuf> {
    let dirs = project_dirs()?;
    let dir = dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir());
    Some(dir.to_owned())
}

/// Where a reset saves what it is going to change: the state directory, else the current one.
pub fn export_dir() -> PathBuf {
    state_dir().map_or_else(|| PathBuf::from("."), |dir| dir.join("exports"))
}

/// Where the configuration is looked for.
pub fn config_file() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.config_dir().join("config.toml"))
}

/// Reads the configuration: the file that was named, else the usual one.
pub fn configuration(cli: &Cli) -> Result<Config, Trouble> {
    let usual = config_file();
    config::load(cli.common.config.as_deref(), usual.as_deref())
        .map_err(|why| Trouble::Usage(format!("failed to use the configuration: {why}")))
}

/// Resolves and connects nothing yet.
pub fn setup(
    cli: &Cli,
    config: Config,
    clock: &Clock,
    looked: Option<&Looked>,
) -> Result<Setup, Trouble> {
    let is_server = |word: &&str| config.server.iter().any(|it| it.name == **word);
    if let Some(command) = cli.late_command().filter(|word| !is_server(word)) {
        let text = servers::command_first(command, &cli.servers);
        return Err(Trouble::Usage(text));
    }
    if cli.has_server_as_session() {
        let text = "a URL names a server, not a session: put --server before it";
        return Err(Trouble::Usage(text.to_owned()));
    }
    super::recording::refuse_elsewhere(cli)?;
    if let Some(Command::Replay(it)) = &cli.command {
        return super::recording::setup(it, config);
    }
    if cli.command.is_none() && !std::io::stdout().is_terminal() {
        return Err(Trouble::Usage(TerminalError::NotATerminal.to_string()));
    }
    let (mut targets, demo) = if cli.common.demo {
        demo_targets(&named(cli), clock)?
    } else {
        (real_targets(cli, &config, looked)?, None)
    };
    for target in &mut targets {
        target
            .directories
            .extend(directories(&cli.common.directory));
        if cli.common.read_only {
            target.read_only.get_or_insert(ReadOnly::Option);
        }
    }
    let clients = clients(&targets, demo.is_some(), clock)?;
    let inspect = cli.common.inspect.or(config.inspect);
    Ok(Setup {
        targets,
        clients,
        inspect: inspect.map_or_else(Inspect::default, policy),
        demo,
        replay: None,
        config,
        found: looked.map(found::told).unwrap_or_default(),
        clock: clock.clone(),
    })
}

/// A server of this machine that others can reach is told so: its address does not show it.
fn clients(targets: &[Target], is_demo: bool, clock: &Clock) -> Result<Vec<Client>, Trouble> {
    let beyond = if is_demo { Vec::new() } else { exposed() };
    let client = |target: &Target| {
        let client = target.client(clock)?;
        let port = target.address.host_and_port().map(|(_, port)| port);
        let near = target.address.is_loopback();
        let is_open = near && port.is_some_and(|port| is_exposed(port, &beyond));
        Ok(if is_open { client.exposed() } else { client })
    };
    let clients: Result<Vec<Client>, ClientError> = targets.iter().map(client).collect();
    clients.map_err(|why| Trouble::Failed(why.to_string()))
}

impl Setup {
    /// Starts the links. Needs a runtime.
    pub fn feed(&self) -> LiveFeed {
        let links = self.targets.iter().zip(&self.clients).zip(0..);
        let specs = links.map(|((target, client), number)| LinkSpec {
            inspect: self.inspect,
            directories: target.directories.clone(),
            local_folders: self.demo.is_none() && client.address().is_loopback(),
            ..LinkSpec::new(ServerId(number), client.clone())
        });
        live::start(specs.collect(), &self.clock)
    }

    /// One look at these servers.
    pub fn snapshot(&self, common: &Common) -> Snapshot {
        let deadline = commands::deadline(common.timeout);
        let clock = self.clock.clone();
        Snapshot::new(
            self.app(common),
            self.feed(),
            clock,
            deadline,
            theme(common),
        )
    }

    /// An app for these servers.
    pub fn app(&self, common: &Common) -> App {
        let specs = self.targets.iter().map(Target::spec).collect();
        let options = AppOptions {
            utc_offset: utc_offset(&self.clock),
            filter: common.filter.clone().unwrap_or_default(),
            limits: self.config.thresholds.clone(),
            reduced_motion: self.config.ui.reduced_motion,
            mouse: self.config.ui.mouse && !common.no_mouse,
            export_shown: export_dir().display().to_string(),
            demo: self.demo.is_some(),
            attach: self.config.attach_wishes.rules(self.demo.is_some()),
            columns: self.config.table.columns.clone(),
            sources: self.targets.iter().map(|it| it.source.clone()).collect(),
            sort: common.sort.unwrap_or(self.config.table.sort),
            notify: self.config.notify_wishes.rules.clone(),
            keymap: self.config.keymap.clone(),
        };
        App::new(specs, options)
    }
}

/// Every server that is named on the command line, else in the environment.
pub(super) fn named(cli: &Cli) -> Vec<String> {
    let mut named = cli.servers.clone();
    let more = match &cli.command {
        Some(Command::Status(status)) => &status.servers[..],
        Some(Command::Check(check)) => &check.servers,
        Some(Command::Watch(watch)) => &watch.servers,
        Some(Command::Metrics(metrics)) => &metrics.servers,
        _ => &[],
    };
    named.extend(more.iter().cloned());
    let replaced = cli.common.demo || !named.is_empty();
    if !(cli.common.server_from_env && replaced) {
        // A list in the environment may have several blanks between two.
        let first = cli.common.server.iter().filter(|it| !it.is_empty());
        named.splice(..0, first.cloned());
    }
    named
}

/// As given, and, where it is a folder of this machine, its real name as well.
fn directories(said: &[String]) -> Vec<Directory> {
    let mut all = Vec::new();
    for text in said {
        let real = std::fs::canonicalize(text).ok();
        let real = real.and_then(|path| path.to_str().map(Directory::from));
        let given = match text.trim_end_matches('/') {
            "" => "/",
            trimmed => trimmed,
        };
        all.extend(given.starts_with('/').then(|| Directory::from(given)));
        all.extend(real.filter(|real| real.as_str() != given));
    }
    all
}

fn policy(said: InspectArg) -> Inspect {
    match said {
        InspectArg::Loaded => Inspect::Loaded,
        InspectArg::Recent => Inspect::default(),
        InspectArg::All => Inspect::All,
    }
}

fn demo_targets(
    named: &[String],
    clock: &Clock,
) -> Result<(Vec<Target>, Option<DemoFeed>), Trouble> {
    if let Some(server) = named.first() {
        let server = servers::without_credentials(server);
        let text = format!("--demo brings its own servers: leave out {server:?}");
        return Err(Trouble::Usage(text));
    }
    let failed = |why: String| Trouble::Failed(format!("failed to start the demo: {why}"));
    let demo = demo::start(clock).map_err(|why| failed(why.to_string()))?;
    let mut targets = Vec::new();
    for (name, url) in demo.servers() {
        let address = Address::parse(&url).map_err(|why| failed(why.to_string()))?;
        targets.push(Target {
            name,
            address,
            credentials: None,
            directories: Vec::new(),
            read_only: None,
            source: "simulated, of the demo".to_owned(),
            route: Route::default(),
        });
    }
    Ok((targets, Some(demo)))
}

/// Those that are named or configured, and those that were found.
fn real_targets(
    cli: &Cli,
    config: &Config,
    looked: Option<&Looked>,
) -> Result<Vec<Target>, Trouble> {
    let usage = |why: servers::ServerError| Trouble::Usage(why.to_string());
    let mut targets = servers::resolve(&named(cli), config, &env::var).map_err(usage)?;
    let Some(looked) = looked else {
        return Ok(targets);
    };
    // Which of the configuration's servers the network calls by another address is not known.
    let protected = config.server.iter().any(|it| it.read_only);
    for mut more in found::targets(looked) {
        if protected {
            more.read_only = Some(ReadOnly::Configuration);
        }
        if !targets.iter().any(|it| it.address.may_be(&more.address)) {
            targets.push(more);
        }
    }
    if targets.is_empty() {
        return Err(found::nothing(looked, usual(&cli.common).port()));
    }
    Ok(targets)
}

/// Where an OpenCode server listens unless told otherwise.
#[cfg(debug_assertions)]
pub(super) fn usual(common: &Common) -> SocketAddr {
    loopback(common.usual_port_for_test.unwrap_or(servers::USUAL_PORT))
}

/// Where an OpenCode server listens unless told otherwise.
#[cfg(not(debug_assertions))]
pub(super) fn usual(_: &Common) -> SocketAddr {
    loopback(servers::USUAL_PORT)
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Local time minus UTC, now.
pub(super) fn utc_offset(clock: &Clock) -> Span {
    let now = jiff::Timestamp::from_millisecond(clock().0).unwrap_or_default();
    let offset = jiff::tz::TimeZone::system().to_offset(now);
    Span::secs(i64::from(offset.seconds()))
}
