//! The command line at the edge: arguments, configuration, environment, log, exit code.
//!
//! What it does: turn what the user said into a command of `shell` and its end into an exit code.
//! What it does not: watch, judge or act. Invariants: every failure is one clear line on stderr
//! without a password; stdout carries only results.

pub mod args;
pub mod config;
mod dashboard;
pub mod env;
mod first;
mod log;
mod look;
pub mod servers;
mod start;

use crate::core::plan::reset::Consent;
use crate::shell::act::export::Style;
use crate::shell::audit::{self, Audit};
use crate::shell::clock::system_clock;
use crate::shell::commands::{self, Look, ResetWish, Wanted, say};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::memory;
use crate::shell::signals::{Request, SIGINT, SIGTERM, Signals, stop_here};
use crate::shell::snapshot::Snapshot;
use crate::shell::watch::{Watch, is_closed};
use crate::shell::welcome::Choice;
use crate::tui::Theme;
use args::{AllowArg, Cli, Command, Common, DoubtArg, LogArgs, ResetArgs};
use clap::{CommandFactory, FromArgMatches};
use color_eyre::eyre;
use start::{Setup, setup};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long tasks may take to end after the result is there.
const WIND_DOWN: Duration = Duration::from_millis(300);
/// How much longer than `--timeout` a command may take to tell what it knows.
const GRACE: Duration = Duration::from_secs(1);

/// Runs the program.
pub fn run() -> ExitCode {
    let parsed = command_line().try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(said) => return usage(&said),
    };
    let plain = theme(&cli.common);
    let code = match start(cli) {
        Ok(exit) => exit.code(),
        Err(report) => tell(&report, &plain).code(),
    };
    ExitCode::from(code)
}

/// The command line, with this machine's paths in its long help.
fn command_line() -> clap::Command {
    let command = Cli::command();
    let shown = |path: Option<PathBuf>| {
        path.map_or("nowhere".to_owned(), |path| path.display().to_string())
    };
    let examples = command.get_after_help().map(ToString::to_string);
    let files = format!(
        "{}\n\nFiles:\n  configuration  {}\n  audit log      {}\n  kept for later {}\n  log            {}",
        examples.unwrap_or_default(),
        shown(start::config_file()),
        shown(start::state_dir().map(|dir| dir.join(audit::FILE))),
        shown(start::state_dir().map(|dir| dir.join(memory::FILE))),
        shown(start::state_dir().map(|dir| dir.join("ocwatch.<day>.log"))),
    );
    command.after_long_help(files)
}

/// Help and version go to stdout and are no error.
fn usage(said: &clap::Error) -> ExitCode {
    if said.kind() == clap::error::ErrorKind::UnknownArgument
        && let Some(trouble) = late_command()
    {
        return ExitCode::from(tell(&trouble.0.into(), &trouble.1).code());
    }
    // A closed pipe: nobody reads it.
    said.print().ok();
    ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(2))
}

/// The options of a command that stands behind a server are unknown: the place is what is wrong.
fn late_command() -> Option<(Trouble, Theme)> {
    let lenient = command_line().ignore_errors(true).try_get_matches().ok()?;
    let cli = Cli::from_arg_matches(&lenient).ok()?;
    let text = servers::command_first(cli.late_command()?, &cli.servers);
    Some((Trouble::Usage(text), theme(&cli.common)))
}

/// One line for what is expected to go wrong; the whole report for what is not.
fn tell(report: &eyre::Report, theme: &Theme) -> Exit {
    let Some(trouble) = report.downcast_ref::<Trouble>() else {
        say(&format!("{report:#}"), theme);
        return Exit::Failed;
    };
    if !trouble.is_quiet() {
        say(&trouble.to_string(), theme);
    }
    trouble.exit()
}

fn start(mut cli: Cli) -> eyre::Result<Exit> {
    color_eyre::install()?;
    let log_dir = start::state_dir();
    let _log = log::start(cli.common.log_level, log_dir.as_deref());
    if let Some(Command::Log(it)) = &cli.command {
        return Ok(show_log(it, &cli.common)?);
    }
    refuse_silent_action(&cli)?;
    let clock = system_clock();
    let config = start::configuration(&cli)?;
    let runtime = Builder::new_multi_thread()
        // One beside the dashboard's own thread: more would fight it for the processor in a flood.
        .worker_threads(1)
        .enable_all()
        .build()?;
    if first::is_first(&cli, &config) {
        match runtime.block_on(first::run(&cli, &config, &clock))? {
            Choice::Leave(exit) => return Ok(exit),
            Choice::Demo => cli.common.demo = true,
            Choice::Found => {}
        }
    }
    let setup = setup(&cli, config, &clock)?;
    let ended = command(&runtime, &cli, &setup);
    runtime.shutdown_timeout(WIND_DOWN);
    Ok(ended?)
}

fn command(runtime: &Runtime, cli: &Cli, setup: &Setup) -> Result<Exit, Trouble> {
    match &cli.command {
        None => runtime.block_on(dashboard::dashboard(setup, &cli.common)),
        Some(command) => runtime.block_on(headless(setup, &cli.common, command)),
    }
}

/// Only a file is read: no server, no configuration.
fn show_log(it: &LogArgs, common: &Common) -> Result<Exit, Trouble> {
    let wanted = Wanted {
        last: it.last,
        session: it.session.clone(),
    };
    let dir = start::state_dir();
    let mut out = BufWriter::new(std::io::stdout());
    let look = look(common, it.json);
    commands::log(dir.as_deref(), &wanted, look, &theme(common), &mut out)
}

/// Off a terminal nobody can agree.
fn refuse_silent_action(cli: &Cli) -> Result<(), Trouble> {
    let (name, agreed) = match &cli.command {
        Some(Command::Abort(it)) => ("abort", it.act.yes || it.dry_run),
        Some(Command::Reset(it)) => ("reset", it.act.yes || it.dry_run),
        Some(Command::Resend(it)) => ("resend", it.act.yes || it.dry_run),
        _ => return Ok(()),
    };
    if agreed || std::io::stdin().is_terminal() {
        return Ok(());
    }
    let text = format!("{name} needs --yes when stdin is not a terminal");
    Err(Trouble::Usage(text))
}

fn reset_wish(said: &ResetArgs) -> ResetWish {
    let consent = |it: &AllowArg| match it {
        AllowArg::Dispose => Consent::Dispose,
        AllowArg::Fork => Consent::Fork,
        AllowArg::Elsewhere => Consent::Elsewhere,
    };
    ResetWish {
        dry_run: said.dry_run,
        yes: said.act.yes,
        allow: said.allow.iter().map(consent).collect(),
        export_dir: start::export_dir(),
    }
}

/// Runs a command; a signal ends it in order, so that no half-written file is left.
async fn headless(setup: &Setup, common: &Common, command: &Command) -> Result<Exit, Trouble> {
    let mut out = BufWriter::new(std::io::stdout());
    let mut signals = Signals::listen()?;
    let ended = {
        let mut work = std::pin::pin!(one(setup, common, command, &mut out));
        let mut over = std::pin::pin!(out_of_time(common.timeout));
        loop {
            tokio::select! {
                ended = &mut work => break ended,
                why = &mut over => break Err(why),
                request = signals.next() => match request {
                    Request::End(number) => break Ok(ended_by(command, number)),
                    Request::Stop => stop_here()?,
                    Request::Continued => {}
                },
            }
        }
    };
    out.flush()?;
    ended
}

/// A watch has no other end than that someone has seen enough.
fn ended_by(command: &Command, signal: u8) -> Exit {
    match (command, signal) {
        (Command::Watch(_), SIGINT | SIGTERM) => Exit::Done,
        _ => Exit::Signal(signal),
    }
}

/// Reading stops by itself when time is over and tells what is known; acting is stopped here.
async fn out_of_time(limit: Option<f64>) -> Trouble {
    let Some(seconds) = limit else {
        return std::future::pending().await;
    };
    tokio::time::sleep(Duration::from_secs_f64(seconds) + GRACE).await;
    Trouble::Failed(format!(
        "not done within {seconds} s (--timeout); what was sent already may still work: look again"
    ))
}

async fn one(
    setup: &Setup,
    common: &Common,
    command: &Command,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let snapshot = || snapshot(setup, common);
    let clients = &setup.clients;
    match command {
        Command::Status(it) => {
            let settle = Duration::from_secs_f64(it.settle);
            commands::status(snapshot(), settle, look(common, it.json), out).await
        }
        Command::Watch(it) => watch(setup, common, it.json).await,
        Command::Explain(it) => {
            commands::explain(snapshot(), &it.session, look(common, it.json), out).await
        }
        Command::Export(it) => {
            let wish = commands::ExportWish {
                output: commands::output(it.output.as_deref(), it.sessions.len(), it.children)?,
                style: Style {
                    format: it.format.into(),
                    sanitize: it.sanitize,
                },
                force: it.force,
            };
            commands::export_all(snapshot(), clients, &it.sessions, wish, out).await
        }
        Command::Log(it) => show_log(it, common),
        acting => Box::pin(act(setup, common, acting, out)).await,
    }
}

/// The commands that change something on a server.
async fn act(
    setup: &Setup,
    common: &Common,
    command: &Command,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let snapshot = || snapshot(setup, common);
    let clients = &setup.clients;
    match command {
        Command::Abort(it) => {
            let audit = audit_of(setup, it.act.force);
            let how = commands::AbortWish {
                dry_run: it.dry_run,
                yes: it.act.yes,
            };
            commands::abort_all(snapshot(), clients, &it.sessions, how, &audit, out).await
        }
        Command::Reset(it) => {
            let wish = reset_wish(it);
            let audit = audit_of(setup, it.act.force);
            // Large: on the heap.
            Box::pin(commands::reset(
                snapshot(),
                clients,
                &it.session,
                &wish,
                &audit,
                out,
            ))
            .await
        }
        Command::Resend(it) => {
            let wish = commands::Wish {
                session: &it.session,
                text: it.text.as_deref(),
                model: it.model.as_ref(),
                alone: it.allow.contains(&DoubtArg::Elsewhere),
                yes: it.act.yes,
                dry_run: it.dry_run,
            };
            let audit = audit_of(setup, it.act.force);
            commands::resend_one(snapshot(), clients, wish, &audit, out).await
        }
        Command::Answer(it) => {
            let wish = commands::AnswerWish {
                session: &it.session,
                ask: it.ask.as_deref(),
                wish: it.wish(),
                dry_run: it.dry_run,
                named_server: !common.server.is_empty(),
                color: env::color(common.color),
            };
            let audit = audit_of(setup, it.force);
            commands::answer_one(snapshot(), clients, wish, &audit, out).await
        }
        other => Err(Trouble::Failed(format!("{other:?} changes nothing"))),
    }
}

/// Where what is done is recorded.
fn audit_of(setup: &Setup, force: bool) -> Audit {
    let clock = setup.clock.clone();
    if setup.demo.is_some() {
        return Audit::of_a_demo(clock);
    }
    Audit::open(start::state_dir(), force, clock)
}

fn snapshot(setup: &Setup, common: &Common) -> Snapshot {
    let deadline = commands::deadline(common.timeout);
    let clock = setup.clock.clone();
    Snapshot::new(
        setup.app(common),
        setup.feed(),
        clock,
        deadline,
        theme(common),
    )
}

/// stdout is written without blocking: a reader that does not read must not hold up a signal.
async fn watch(setup: &Setup, common: &Common, json: bool) -> Result<Exit, Trouble> {
    let (app, feed, clock) = (setup.app(common), setup.feed(), setup.clock.clone());
    let watch = Watch::new(app, feed, clock, theme(common), look(common, json));
    let limit = common.timeout.map(Duration::from_secs_f64);
    let mut out = tokio::io::stdout();
    watch.run(limit, is_closed(), &mut out).await
}

fn theme(common: &Common) -> Theme {
    Theme::new(env::color(common.color), env::ascii(common.ascii))
}

fn look(common: &Common, json: bool) -> Look {
    Look {
        json,
        color: env::color(common.color),
        ascii: env::ascii(common.ascii),
    }
}
