//! `--record` and `replay`: files that hold what servers said.
//!
//! What it does: make and open them, and join them to the dashboard and to `watch`. What it does not:
//! know their format.

use super::args::{Cli, Command, Common, ReplayArgs};
use super::config::Config;
use super::start::Setup;
use crate::core::record::Header;
use crate::core::store::ReadOnly;
use crate::feed::live::LiveFeed;
use crate::feed::record::tee;
use crate::feed::replay::Replay;
use crate::net::client::{Address, Route};
use crate::net::link::Inspect;
use crate::shell::exit::Trouble;
use crate::shell::target::Target;
use std::fs::{File, OpenOptions};
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;
use tokio::sync::oneshot;

/// Only what runs on has something to record.
pub(super) fn refuse_elsewhere(cli: &Cli) -> Result<(), Trouble> {
    let runs_on = matches!(cli.command, None | Some(Command::Watch(_)));
    if runs_on || cli.common.record.is_none() {
        return Ok(());
    }
    let text = "--record is for the dashboard and for watch";
    Err(Trouble::Usage(text.to_owned()))
}

/// Nothing is connected: the servers are those of the recording, and the clock is its own.
pub(super) fn setup(said: &ReplayArgs, config: Config) -> Result<Setup, Trouble> {
    if !said.json && !std::io::stdout().is_terminal() {
        let text = "stdout is not a terminal: ocwatch replay --json prints the changes instead";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let shown = said.file.display();
    let failed = |why: String| Trouble::Failed(format!("failed to replay {shown}: {why}"));
    let replay = Replay::open(&said.file, said.speed).map_err(|why| failed(why.to_string()))?;
    let targets = replay.header.servers.iter().map(|server| {
        let address = Address::parse(&server.url).map_err(|why| failed(why.to_string()))?;
        Ok(Target {
            name: server.name.clone(),
            address,
            credentials: None,
            directories: Vec::new(),
            read_only: Some(ReadOnly::Replay),
            source: "of the recording".to_owned(),
            route: Route::default(),
        })
    });
    Ok(Setup {
        targets: targets.collect::<Result<_, Trouble>>()?,
        clients: Vec::new(),
        inspect: Inspect::default(),
        demo: None,
        clock: replay.clock(),
        replay: Some(replay),
        config,
        found: Vec::new(),
    })
}

/// What is shown: the live servers, recorded if that is wanted, or a recording, whose end is told.
pub(super) fn feed(
    setup: &Setup,
    common: &Common,
    tell: impl Fn(String) + Send + 'static,
) -> Result<(LiveFeed, Option<oneshot::Receiver<String>>), Trouble> {
    if let Some(replay) = &setup.replay {
        let (feed, ended) = replay.start();
        return Ok((feed, Some(ended)));
    }
    let file = common.record.as_ref().map(|path| {
        let shown = path.display();
        let failed = |why| Trouble::Usage(format!("failed to record to {shown}: {why}"));
        create(path).map_err(failed)
    });
    let file = file.transpose()?;
    let feed = setup.feed();
    let Some(file) = file else {
        return Ok((feed, None));
    };
    let specs: Vec<_> = setup.targets.iter().map(Target::spec).collect();
    let header = Header::new(specs.iter(), (setup.clock)());
    let inputs = tee(feed.inputs, feed.scope.clone(), file, &header, tell);
    Ok((LiveFeed { inputs, ..feed }, None))
}

/// A new file, which only this user reads: it holds what sessions are about.
fn create(path: &std::path::Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}
