//! The headless commands: one snapshot, one answer, one exit code.
//!
//! What it does: `status`, `explain`, `abort`, `export`. Results go to `out`, everything else to
//! stderr. What it does not: parse arguments.

use crate::core::app::Outcome;
use crate::core::id::SessionKey;
use crate::core::judge;
use crate::core::plan::{self, Plan};
use crate::core::present::{self, Piece, Tone, clean};
use crate::net::client::Client;
use crate::net::link::LinkCommand;
use crate::shell::act::abort::{Patience, abort};
use crate::shell::act::export::{Place, export, export_to, file_name};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::print;
use crate::shell::session_ref::{Purpose, find};
use crate::shell::snapshot::Snapshot;
use crate::shell::table::table;
use crate::tui::{Theme, safe};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// How long a session that is read on demand may take.
const READ_ONE: Duration = Duration::from_secs(15);

/// How results look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// One JSON document instead of text.
    pub json: bool,
    /// Coloured text.
    pub color: bool,
    /// Text is ASCII only. A document is UTF-8 whatever the locale.
    pub ascii: bool,
}

/// `ocwatch status`.
pub async fn status(
    mut snapshot: Snapshot,
    settle: Duration,
    look: Look,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    snapshot.read(settle).await;
    let now = (snapshot.clock)();
    let unread = snapshot.unread();
    let app = &snapshot.app;
    if look.json {
        print::json(out, &present::status_json(&app.store, app.judgement(), now))?;
    } else {
        let (mut lines, rows) = present::status_rows(app, now, look.ascii);
        if rows.is_empty() && unread.len() < app.store.servers().count() {
            lines.extend([Vec::new(), vec![Piece::new("no sessions", Tone::Dim)]]);
        }
        lines.extend(table(&rows, look.ascii));
        print::lines(out, &lines, look.color, &snapshot.theme)?;
    }
    for server in &unread {
        say(&format!("failed to read {server}"), &snapshot.theme);
    }
    Ok(if unread.is_empty() {
        Exit::Done
    } else {
        Exit::Unread
    })
}

/// `ocwatch explain`.
pub async fn explain(
    mut snapshot: Snapshot,
    session: &str,
    look: Look,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let key = locate(&mut snapshot, session, Purpose::Read).await?;
    read_session(&mut snapshot, &key).await;
    let now = (snapshot.clock)();
    let app = &snapshot.app;
    let verdict = app.verdict(&key).cloned();
    let told = verdict.and_then(|it| judge::explain_verdict(&app.store, it, now, &app.limits));
    let Some(told) = told else {
        return Err(Trouble::Failed(format!("{} is gone", key.session)));
    };
    if look.json {
        print::json(out, &present::explain_json(&told))?;
    } else {
        let lines = present::explain_lines(&told);
        print::lines(out, &lines, look.color, &snapshot.theme)?;
    }
    Ok(Exit::Done)
}

/// `ocwatch abort`. Each plan is shown on stderr before it is carried out; without `yes` it is also
/// asked for on the terminal.
pub async fn abort_all(
    mut snapshot: Snapshot,
    clients: &[Client],
    sessions: &[String],
    yes: bool,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let keys = locate_all(&mut snapshot, sessions, Purpose::Act).await?;
    let mut exit = Exit::Done;
    for key in keys {
        may_act(&snapshot, &key)?;
        let Some(plan) = plan::abort(&snapshot.app.store, &key) else {
            return Err(Trouble::Failed(format!("{} is gone", key.session)));
        };
        warn_if_asleep(&snapshot, &key);
        let shown = shown(&plan, &snapshot.theme);
        if yes {
            // As with all that is said: if nobody reads it, that is no error.
            std::io::stderr().write_all(shown.as_bytes()).ok();
        } else if !agreed(shown).await? {
            say("left as it is", &snapshot.theme);
            exit = exit.worst(Exit::Failed);
            continue;
        }
        let client = client(clients, &key)?;
        let outcome = abort(client, &plan, Patience::default(), |_| {}).await;
        exit = exit.worst(report(out, &snapshot, &key, "abort", &outcome)?);
    }
    Ok(exit)
}

/// Where an export goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// `<id>.json` in this directory.
    Directory(PathBuf),
    /// This file.
    File(PathBuf),
    /// The results' own stream.
    Stdout,
}

/// `ocwatch export`.
pub async fn export_all(
    mut snapshot: Snapshot,
    clients: &[Client],
    sessions: &[String],
    output: &Output,
    force: bool,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let keys = locate_all(&mut snapshot, sessions, Purpose::Read).await?;
    for key in keys {
        may_act(&snapshot, &key)?;
        warn_if_asleep(&snapshot, &key);
        let client = client(clients, &key)?;
        export_one(client, &key, output, force, out).await?;
    }
    Ok(Exit::Done)
}

/// Some servers are only read.
fn may_act(snapshot: &Snapshot, key: &SessionKey) -> Result<(), Trouble> {
    match plan::refused(&snapshot.app.store, key) {
        Some(why) => Err(Trouble::Failed(format!(
            "{}: {why}",
            clean(key.session.as_str())
        ))),
        None => Ok(()),
    }
}

async fn export_one(
    client: &Client,
    key: &SessionKey,
    output: &Output,
    force: bool,
    out: &mut impl Write,
) -> Result<(), Trouble> {
    let failed = |why: crate::shell::act::export::ExportError| {
        if why.is_closed_pipe() {
            return Trouble::Write(std::io::ErrorKind::BrokenPipe.into());
        }
        let id = clean(key.session.as_str());
        Trouble::Failed(clean(&format!("failed to export {id}: {why}")))
    };
    let path = match output {
        Output::Stdout => {
            export_to(client, &key.session, out).await.map_err(failed)?;
            return Ok(());
        }
        Output::File(path) => path.clone(),
        Output::Directory(dir) => dir.join(file_name(&key.session)),
    };
    let place = Place::Exactly { path, force };
    let done = export(client, &key.session, place).await.map_err(failed)?;
    writeln!(out, "{}", done.path.display())?;
    Ok(())
}

/// Finds the session in what was read. It is no excuse that some server could not be read, but it
/// is said.
async fn locate(
    snapshot: &mut Snapshot,
    session: &str,
    purpose: Purpose,
) -> Result<SessionKey, Trouble> {
    let all = locate_all(snapshot, &[session.to_owned()], purpose).await?;
    let none = || Trouble::Failed("no session was named".to_owned());
    all.into_iter().next().ok_or_else(none)
}

async fn locate_all(
    snapshot: &mut Snapshot,
    sessions: &[String],
    purpose: Purpose,
) -> Result<Vec<SessionKey>, Trouble> {
    snapshot.read(Duration::ZERO).await;
    let unread = snapshot.unread();
    let mut keys = Vec::with_capacity(sessions.len());
    for session in sessions {
        match find(&snapshot.app.store, session, purpose) {
            Ok(key) if keys.contains(&key) => {}
            Ok(key) => keys.push(key),
            // It may well be on the server that could not be read.
            Err(_) if !unread.is_empty() => {
                let unread = unread.join("; ");
                return Err(Trouble::Unread(format!("failed to read {unread}")));
            }
            Err(why) => return Err(why.into()),
        }
    }
    Ok(keys)
}

/// Reads one session that policy or age left unread; says so if that starts its project.
async fn read_session(snapshot: &mut Snapshot, key: &SessionKey) {
    let Some(session) = snapshot.app.store.session(key) else {
        return;
    };
    let asleep = snapshot.app.is_asleep(key);
    if session.tail.is_read() && !asleep {
        return;
    }
    let directory = session.info.directory.clone();
    warn_if_asleep(snapshot, key);
    if asleep {
        let load = LinkCommand::LoadDirectory(directory);
        snapshot.feed.commands.send(key.server, load);
    }
    let read = LinkCommand::ReadSession(key.session.clone());
    snapshot.feed.commands.send(key.server, read);
    let end = snapshot.deadline.min(Instant::now() + READ_ONE);
    let known = |snapshot: &mut Snapshot| {
        let session = snapshot.app.store.session(key);
        session.is_none_or(|it| it.tail.is_read()) && !snapshot.app.is_asleep(key)
    };
    if !snapshot.until(end, known).await {
        let text = "it could not be read in time; what follows is what is known";
        say(text, &snapshot.theme);
    }
}

/// Whatever is asked of a session starts its project: a person must know.
fn warn_if_asleep(snapshot: &Snapshot, key: &SessionKey) {
    let session = snapshot.app.store.session(key);
    if let Some(session) = session.filter(|_| snapshot.app.is_asleep(key)) {
        let directory = clean(session.info.directory.as_str());
        let text = format!("the project {directory} is asleep: this starts it on the server");
        say(&text, &snapshot.theme);
    }
}

fn client<'a>(clients: &'a [Client], key: &SessionKey) -> Result<&'a Client, Trouble> {
    let client = clients.get(usize::from(key.server.0));
    client.ok_or_else(|| Trouble::Failed("its server is not known".to_owned()))
}

/// What will be done and lost: said before it is done, whoever agreed to it.
fn shown(plan: &Plan, theme: &Theme) -> String {
    let mut text = format!("Abort \"{}\"\n", safe(&plan.title, theme));
    for line in &plan.lines {
        text.extend(["  ", &safe(line, theme), "\n"]);
    }
    text
}

/// Shows the plan on stderr and asks. Anything but `y` or `yes` is no.
/// The wait is on a thread of its own, so that Ctrl-C is heard.
async fn agreed(mut text: String) -> Result<bool, Trouble> {
    text.push_str("Do it? [y/N] ");
    let asked = tokio::task::spawn_blocking(move || {
        let mut err = std::io::stderr().lock();
        err.write_all(text.as_bytes())?;
        err.flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        Ok::<_, std::io::Error>(answer)
    });
    let answer = asked.await.map_err(std::io::Error::other)??;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// One line per action on stdout if it is done, else on stderr.
fn report(
    out: &mut impl Write,
    snapshot: &Snapshot,
    key: &SessionKey,
    action: &str,
    outcome: &Outcome,
) -> Result<Exit, Trouble> {
    let server = snapshot.app.store.server(key.server);
    let server = server.map_or("?", |server| server.spec.name.as_str());
    let name = format!("{server}/{}", key.session);
    let (word, text, exit) = match outcome {
        Outcome::Done(text) => ("done", text, Exit::Done),
        Outcome::NoEffect(text) => ("no effect", text, Exit::Failed),
        Outcome::Failed(text) => ("failed", text, Exit::Failed),
    };
    let line = format!("{name}: {action}: {word}: {text}");
    let line = safe(&line, &snapshot.theme);
    match exit {
        Exit::Done => writeln!(out, "{line}")?,
        _ => say(&line, &snapshot.theme),
    }
    Ok(exit)
}

/// A line to the person: stderr. If nobody is there to read it, that is no error.
pub fn say(text: &str, theme: &Theme) {
    writeln!(std::io::stderr(), "ocwatch: {}", safe(text, theme)).ok();
}

/// When a command that was given so many seconds gives up.
pub fn deadline(seconds: Option<f64>) -> Instant {
    let wait = seconds.map_or(LONGEST, Duration::from_secs_f64);
    Instant::now() + wait
}

/// No headless command reads longer, unless told.
const LONGEST: Duration = Duration::from_secs(60);

/// Where an export is to go, as the user said it.
pub fn output(said: Option<&Path>, sessions: usize) -> Result<Output, Trouble> {
    let output = match said {
        None => Output::Directory(PathBuf::from(".")),
        Some(path) if path == Path::new("-") => Output::Stdout,
        Some(path) if path.is_dir() => Output::Directory(path.to_owned()),
        Some(path) => Output::File(path.to_owned()),
    };
    if sessions > 1 && !matches!(output, Output::Directory(_)) {
        return Err(Trouble::Usage(
            "several sessions do not fit into one file: give -o a directory".to_owned(),
        ));
    }
    Ok(output)
}
