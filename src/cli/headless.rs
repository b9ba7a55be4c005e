//! From a command of the command line to the command of `shell` that does it.
//!
//! What it does: hand over what was said, end in order on a signal or when time is over. What it
//! does not: act, or decide what a word means.

use super::act::act;
use super::args::{Command, Common, FailOnArg, GoalArg, LogArgs, MetricsArgs, WaitArgs};
use super::start::{self, Setup};
use super::{env, recording, theme};
use crate::core::judge::Level;
use crate::core::wait::Goal;
use crate::shell::act::export::Style;
use crate::shell::commands::{self, Look, Wait, WaitWish, Wanted};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::metrics::{self, Actions, Exporter};
use crate::shell::signals::{Request, SIGINT, SIGTERM, Signals, stop_here};
use crate::shell::snapshot::Snapshot;
use crate::shell::watch::{Watch, is_closed};
use std::io::{BufWriter, Write};
use std::time::Duration;
use tokio::sync::oneshot;

/// From the end of a recording to that of the lines that it makes.
const LAST_LINES: Duration = Duration::from_millis(300);
/// How much longer than `--timeout` a command may take to tell what it knows.
const GRACE: Duration = Duration::from_secs(1);
/// How long one look at the metrics waits for what cannot be said yet; as `status` does.
const SETTLE: Duration = Duration::from_secs(3);

/// Only a file is read: no server, no configuration.
pub(super) fn show_log(it: &LogArgs, common: &Common) -> Result<Exit, Trouble> {
    let wanted = Wanted {
        last: it.last,
        session: it.session.clone(),
    };
    let dir = start::state_dir();
    let mut out = BufWriter::new(std::io::stdout());
    let look = look(common, it.json);
    commands::log(dir.as_deref(), &wanted, look, &theme(common), &mut out)
}

/// Runs a command; a signal ends it in order, so that no half-written file is left.
pub(super) async fn headless(
    setup: &Setup,
    common: &Common,
    command: &Command,
) -> Result<Exit, Trouble> {
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
        (Command::Watch(_) | Command::Metrics(_), SIGINT | SIGTERM) => Exit::Done,
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
    let snapshot = || setup.snapshot(common);
    let clients = &setup.clients;
    match command {
        Command::Status(it) => {
            let settle = Duration::from_secs_f64(it.settle);
            for line in &setup.found {
                commands::say(line, &theme(common));
            }
            commands::status(glance(setup, common), settle, look(common, it.json), out).await
        }
        Command::Check(it) => {
            let settle = Duration::from_secs_f64(it.settle);
            let fail_on = match it.fail_on {
                FailOnArg::Stuck => Level::Stuck,
                FailOnArg::NeedsYou => Level::NeedsYou,
                FailOnArg::Watch => Level::Watch,
            };
            commands::check(
                glance(setup, common),
                settle,
                fail_on,
                look(common, it.json),
                out,
            )
            .await
        }
        Command::Watch(it) => watch(setup, common, it.json).await,
        Command::Wait(it) => wait(setup, common, it, out).await,
        Command::Metrics(it) => Box::pin(metrics(setup, common, it, out)).await,
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
        Command::Replay(it) => watch(setup, common, it.json).await,
        acting => Box::pin(act(setup, common, acting, out)).await,
    }
}

/// stdout is written without blocking: a reader that does not read must not hold up a signal. A
/// replay ends with its recording.
async fn watch(setup: &Setup, common: &Common, json: bool) -> Result<Exit, Trouble> {
    let plain = theme(common);
    let tell = move |words: String| commands::say(&words, &plain);
    let (feed, ended) = recording::feed(setup, common, tell)?;
    let (app, clock) = (setup.app(common), setup.clock.clone());
    let watch = Watch::new(app, feed, clock, theme(common), look(common, json));
    let limit = common.timeout.map(Duration::from_secs_f64);
    let mut out = tokio::io::stdout();
    let over = async {
        match ended {
            Some(ended) => after_the_end(ended, common).await,
            None => is_closed().await,
        }
    };
    watch.run(limit, over, &mut out).await
}

/// What the last inputs mean is still to be told.
async fn after_the_end(ended: oneshot::Receiver<String>, common: &Common) {
    let words = tokio::select! {
        words = ended => words.unwrap_or_default(),
        () = is_closed() => return,
    };
    tokio::time::sleep(LAST_LINES).await;
    commands::say(&words, &theme(common));
}

/// One look that does not wait for the last server that says nothing, unless it may take its time.
fn glance(setup: &Setup, common: &Common) -> Snapshot {
    let snapshot = setup.snapshot(common);
    match common.timeout {
        Some(_) => snapshot,
        None => snapshot.hurried(),
    }
}

/// Without a reader a wait has nobody to tell.
async fn wait(
    setup: &Setup,
    common: &Common,
    it: &WaitArgs,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let wish = WaitWish {
        sessions: it.sessions.clone(),
        any: it.any,
        goal: match it.goal {
            GoalArg::Done => Goal::Done,
            GoalArg::Idle => Goal::Idle,
            GoalArg::NeedsYou => Goal::NeedsYou,
            GoalArg::Stuck => Goal::Stuck,
        },
        patience: Duration::from_secs_f64(it.patience),
        limit: common.timeout.map(Duration::from_secs_f64),
    };
    let (app, feed, clock) = (setup.app(common), setup.feed(), setup.clock.clone());
    let how = (theme(common), look(common, it.json));
    let wait = Wait::new(app, feed, &setup.clients, clock, how);
    wait.run(&wish, is_closed(), out).await
}

/// What a simulated server was made to do is in no log.
async fn metrics(
    setup: &Setup,
    common: &Common,
    it: &MetricsArgs,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let dir = start::state_dir().filter(|_| setup.demo.is_none());
    let actions = Actions::new(dir);
    if it.once {
        let snapshot = setup.snapshot(common);
        return metrics::once(
            snapshot,
            &setup.clients,
            SETTLE,
            actions,
            it.session_ids,
            out,
        )
        .await;
    }
    let listener = metrics::listen(it.listen, &theme(common)).await?;
    let (app, feed, clock) = (setup.app(common), setup.feed(), setup.clock.clone());
    let exporter = Exporter::new(app, feed, setup.clients.clone(), clock, it.session_ids);
    let limit = common.timeout.map(Duration::from_secs_f64);
    exporter.run(listener, actions, limit).await
}

fn look(common: &Common, json: bool) -> Look {
    Look {
        json,
        color: env::color(common.color),
        ascii: env::ascii(common.ascii),
        width: env::width(),
    }
}
