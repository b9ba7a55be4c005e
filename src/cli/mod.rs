//! The command line at the edge: arguments, configuration, environment, log, exit code.
//!
//! What it does: turn what the user said into a command of `shell` and its end into an exit code.
//! What it does not: watch, judge or act. Invariants: every failure is one clear line on stderr
//! without a password; stdout carries only results.

mod act;
pub mod args;
pub mod config;
mod dashboard;
pub mod env;
mod first;
mod found;
mod headless;
mod log;
mod look;
mod own;
mod recording;
pub mod servers;
mod start;

use crate::shell::audit;
use crate::shell::clock::system_clock;
use crate::shell::commands::say;
use crate::shell::exit::{Exit, Trouble};
use crate::shell::memory;
use crate::shell::welcome::Choice;
use crate::tui::{self, Theme};
use args::{Cli, Command, Common, Said};
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use color_eyre::eyre;
use headless::{headless, show_log};
use start::{Setup, setup};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long tasks may take to end after the result is there.
const WIND_DOWN: Duration = Duration::from_millis(300);

/// The code of a check that could not be made.
const UNREAD: u8 = 3;

/// Runs the program.
pub fn run() -> ExitCode {
    let parsed = command_line().try_get_matches();
    let parsed = parsed.and_then(|it| Ok((Cli::from_arg_matches(&it)?, Said::of(&it))));
    let (mut cli, said) = match parsed {
        Ok(parsed) => parsed,
        Err(said) => return usage(&said),
    };
    cli.common.server_from_env = said.is_from_environment("server");
    let plain = theme(&cli.common);
    let is_check = matches!(&cli.command, Some(Command::Check(_)));
    let line = matches!(&cli.command, Some(Command::Check(it)) if !it.json);
    if !matches!(&cli.command, None | Some(Command::Replay(_))) {
        // It is the dashboard's: no command hides what is filtered out by a variable.
        cli.common.filter = None;
    }
    let code = match start(cli, &said) {
        Ok(exit) => exit.code(),
        Err(report) => {
            if line {
                check_line(&report, &plain);
            }
            match tell(&report, &plain) {
                // Of a check 1 means that something is to be watched.
                Exit::Failed if is_check => UNREAD,
                exit => exit.code(),
            }
        }
    };
    ExitCode::from(code)
}

/// A check has always its line: whoever shows it has nothing else.
fn check_line(report: &eyre::Report, theme: &Theme) {
    let text = tui::safe(&format!("OCWATCH UNKNOWN: {report}"), theme);
    // A closed pipe: nobody reads it.
    writeln!(std::io::stdout(), "{text}").ok();
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
    // What is set to nothing says nothing.
    let command = command.mut_args(|arg| match arg.get_env() {
        Some(name) if env::says_nothing(name) => arg.env(Resettable::Reset),
        _ => arg,
    });
    command.after_long_help(files)
}

/// Help and version go to stdout and are no error.
fn usage(said: &clap::Error) -> ExitCode {
    if said.kind() == clap::error::ErrorKind::UnknownArgument
        && let Some(trouble) = late_command()
    {
        return ExitCode::from(tell(&trouble.0.into(), &trouble.1).code());
    }
    let plain = said.to_string();
    let shown = without_passwords(&plain, args().chain(env::own()));
    // A closed pipe: nobody reads it.
    if shown == plain {
        said.print().ok();
    } else {
        write!(std::io::stderr(), "{shown}").ok();
    }
    if let Some(variable) = variable_of(said) {
        let hint = format!("that stands in the environment: {variable}");
        say(&hint, &Theme::new(false, false));
    }
    ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(2))
}

fn args() -> impl Iterator<Item = String> {
    std::env::args_os().map(|it| it.to_string_lossy().into_owned())
}

/// What is refused is repeated, and may be a URL with a password in it.
fn without_passwords(text: &str, args: impl Iterator<Item = String>) -> String {
    let mut shown = text.to_owned();
    for arg in args {
        let value = arg.split_once('=').map_or("", |it| it.1);
        for said in [arg.as_str(), value] {
            if said.split_once('@').is_some_and(|it| it.0.contains(':')) {
                shown = shown.replace(said, &servers::without_credentials(said));
            }
        }
    }
    shown
}

/// The variable that said what is refused, where no flag did.
fn variable_of(said: &clap::Error) -> Option<String> {
    let text = |kind| match said.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg)?;
    let value = text(ContextKind::InvalidValue)?;
    let command = Cli::command();
    let mut all = command.get_arguments();
    let arg = all.find(|arg| {
        let long = arg.get_long().map(|it| format!("--{it}"));
        long.is_some_and(|long| flag.split(' ').next() == Some(&long))
    })?;
    let name = arg.get_env()?.to_string_lossy().into_owned();
    env::var(&name).filter(|it| it == value).map(|_| name)
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

fn start(mut cli: Cli, said: &Said) -> eyre::Result<Exit> {
    color_eyre::install()?;
    let log_dir = start::state_dir();
    let _log = log::start(cli.common.log_level, log_dir.as_deref());
    if let Some(Command::Log(it)) = &cli.command {
        return Ok(show_log(it, &cli.common)?);
    }
    if let Some(done) = own::about_itself(&cli, said) {
        return Ok(done?);
    }
    refuse_silent_action(&cli)?;
    let clock = system_clock();
    let config = start::configuration(&cli)?;
    let runtime = Builder::new_multi_thread()
        // One beside the dashboard's own thread: more would fight it for the processor in a flood.
        .worker_threads(1)
        .enable_all()
        .build()?;
    let mut looked = None;
    if found::is_wanted(&cli, &config) {
        let look = || runtime.block_on(found::look(&cli.common, &config, &clock));
        let seen = look();
        if first::is_first(&cli, &config, &seen) {
            match runtime.block_on(first::run(&cli, &config, &clock, &seen))? {
                Choice::Leave(exit) => return Ok(exit),
                Choice::Demo => cli.common.demo = true,
                Choice::Found => looked = Some(look()),
            }
        } else {
            looked = Some(seen);
        }
    }
    let setup = setup(&cli, config, &clock, looked.as_ref())?;
    let ended = command(&runtime, &cli, &setup);
    runtime.shutdown_timeout(WIND_DOWN);
    Ok(ended?)
}

fn command(runtime: &Runtime, cli: &Cli, setup: &Setup) -> Result<Exit, Trouble> {
    match &cli.command {
        None => runtime.block_on(dashboard::dashboard(setup, &cli.common)),
        Some(Command::Replay(it)) if !it.json => {
            runtime.block_on(dashboard::dashboard(setup, &cli.common))
        }
        Some(command) => runtime.block_on(headless(setup, &cli.common, command)),
    }
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

fn theme(common: &Common) -> Theme {
    Theme::new(env::color(common.color), env::ascii(common.ascii))
}

#[cfg(test)]
mod tests {
    use super::without_passwords;

    #[test]
    fn a_refused_word_is_repeated_without_its_password() {
        let said = "unexpected 'http://me:p@ss@h:1' and 'u:p@h' found";
        let args = ["x", "http://me:p@ss@h:1", "--server=u:p@h", "a@b"];
        let shown = without_passwords(said, args.iter().map(ToString::to_string));
        assert_eq!(shown, "unexpected 'http://h:1' and 'h' found");
        let same = "a@b: unexpected";
        assert_eq!(
            without_passwords(same, args.iter().map(ToString::to_string)),
            same
        );
    }
}
