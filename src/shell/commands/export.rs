//! `ocwatch export`: sessions as files, or as folders with their subagents.
//!
//! What it does: find them, ask before anything is replaced, show how far it has come, print the
//! paths. What it does not: read or write a session (`act::export`).

use super::{agreed, client, locate_all, may_export, say, warn_if_asleep};
use crate::core::export::names::stem;
use crate::core::id::{SessionId, SessionKey};
use crate::core::present::clean;
use crate::net::client::Client;
use crate::shell::act::export::{
    ExportError, FamilyRequest, Place, Progress, Request, Style, export_family, export_to,
    export_with,
};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::session_ref::Purpose;
use crate::shell::snapshot::Snapshot;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr, stdin};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the mark of the bar moves while nothing comes.
const TICK: Duration = Duration::from_millis(200);

/// Where an export goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// `<id>.<format>` in this directory.
    Directory(PathBuf),
    /// This file.
    File(PathBuf),
    /// The results' own stream.
    Stdout,
    /// With subagents: a folder `<id>` in this directory.
    Folders(PathBuf),
    /// With subagents: this folder.
    Folder(PathBuf),
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportWish {
    /// Where to.
    pub output: Output,
    /// How it looks.
    pub style: Style,
    /// Replace what exists.
    pub force: bool,
}

/// `ocwatch export`. One that fails does not keep the others from being tried.
pub async fn export_all(
    mut snapshot: Snapshot,
    clients: &[Client],
    sessions: &[String],
    wish: ExportWish,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let keys = locate_all(&mut snapshot, sessions, Purpose::Read).await?;
    let mut exit = Exit::Done;
    for key in keys {
        may_export(&snapshot, &key)?;
        warn_if_asleep(&snapshot, &key);
        let client = client(clients, &key)?;
        match export_one(client, &key, &snapshot, &wish, out).await {
            Ok(one) => exit = exit.worst(one),
            Err(Trouble::Failed(why)) => {
                say(&why, &snapshot.theme);
                exit = exit.worst(Exit::Failed);
            }
            Err(why) => return Err(why),
        }
    }
    Ok(exit)
}

async fn export_one(
    client: &Client,
    key: &SessionKey,
    snapshot: &Snapshot,
    wish: &ExportWish,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let failed = |why: ExportError| {
        if why.is_closed_pipe() {
            return Trouble::Write(std::io::ErrorKind::BrokenPipe.into());
        }
        let id = clean(key.session.as_str());
        Trouble::Failed(clean(&format!("failed to export {id}: {why}")))
    };
    let ExportWish { style, force, .. } = *wish;
    let Some(path) = path(&wish.output, &key.session, style) else {
        let bar = Bar::new();
        let done = export_to(client, &key.session, style, out, |it| bar.tell(it)).await;
        done.map_err(failed)?;
        return Ok(Exit::Done);
    };
    let Some(force) = may_replace(&path, force).await? else {
        say("left as it is", &snapshot.theme);
        return Ok(Exit::Failed);
    };
    let bar = Bar::new();
    let path = if let Output::Folder(_) | Output::Folders(_) = wish.output {
        let request = FamilyRequest {
            folder: path,
            force,
            style,
            known: families(snapshot, key),
        };
        let done = export_family(client, &key.session, request, |it| bar.tell(it)).await;
        done.map_err(failed)?.path
    } else {
        let place = Place::Exactly { path, force };
        let request = Request { place, style };
        let done = export_with(client, &key.session, request, |it| bar.tell(it)).await;
        done.map_err(failed)?.path
    };
    drop(bar);
    writeln!(out, "{}", path.display())?;
    Ok(Exit::Done)
}

/// The file or folder of a session; none for stdout.
fn path(output: &Output, session: &SessionId, style: Style) -> Option<PathBuf> {
    let extension = style.format.extension();
    Some(match output {
        Output::Directory(dir) => dir.join(format!("{}.{extension}", stem(session))),
        Output::Folders(dir) => dir.join(stem(session)),
        Output::File(path) | Output::Folder(path) => path.clone(),
        Output::Stdout => return None,
    })
}

/// Whether what exists may be replaced: on a terminal a person is asked. None: it may not.
async fn may_replace(path: &Path, force: bool) -> Result<Option<bool>, Trouble> {
    let exists = path.symlink_metadata().is_ok();
    if force || !exists || !stdin().is_terminal() || !stderr().is_terminal() {
        return Ok(Some(force));
    }
    let path = clean(&path.display().to_string());
    let yes = agreed(format!("{path} exists and would be replaced.\n")).await?;
    Ok(yes.then_some(true))
}

/// Children by parent, as the lists of the session's server name them.
fn families(snapshot: &Snapshot, key: &SessionKey) -> BTreeMap<SessionId, Vec<SessionId>> {
    let mut all: BTreeMap<SessionId, Vec<SessionId>> = BTreeMap::new();
    let server = snapshot.app.store.server(key.server);
    for session in server.iter().flat_map(|server| server.sessions.values()) {
        if let Some(parent) = &session.info.parent {
            all.entry(parent.clone())
                .or_default()
                .push(session.info.id.clone());
        }
    }
    for children in all.values_mut() {
        children.sort();
    }
    all
}

/// How far it has come, on a terminal only. Gone when dropped.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new() -> Self {
        if !stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style.tick_chars("|/-\\ "));
        }
        bar.set_message("reading");
        bar.enable_steady_tick(TICK);
        Self(Some(bar))
    }

    fn tell(&self, progress: Progress) {
        if let Some(bar) = &self.0 {
            let bytes = HumanBytes(progress.bytes);
            bar.set_message(format!("{} messages, {bytes}", progress.messages));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Where an export is to go, as the user said it.
pub fn output(said: Option<&Path>, sessions: usize, children: bool) -> Result<Output, Trouble> {
    let usage = |text: &str| Err(Trouble::Usage(text.to_owned()));
    let several = sessions > 1;
    let here = || PathBuf::from(".");
    if children {
        return match said {
            None => Ok(Output::Folders(here())),
            Some(path) if path == Path::new("-") => {
                usage("--children writes a directory: it does not go to stdout")
            }
            Some(path) if several && path.is_dir() => Ok(Output::Folders(path.to_owned())),
            Some(_) if several => usage(
                "several sessions need a directory each: give -o one that exists, to hold them",
            ),
            Some(path) => Ok(Output::Folder(path.to_owned())),
        };
    }
    let output = match said {
        None => Output::Directory(here()),
        Some(path) if path == Path::new("-") => Output::Stdout,
        Some(path) if path.is_dir() => Output::Directory(path.to_owned()),
        Some(path) => Output::File(path.to_owned()),
    };
    if several && !matches!(output, Output::Directory(_)) {
        return usage("several sessions do not fit into one file: give -o a directory");
    }
    Ok(output)
}
