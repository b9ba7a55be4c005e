//! The headless commands: one snapshot, one answer, one exit code.
//!
//! What it does: `status`, `check`, `explain`, `wait`, `abort`, `reset`, `answer`, `resend`, `export`, `log`, and what they
//! share: finding the sessions
//! that were named, showing what will be done, telling how it ended. Results go to `out`, everything
//! else to stderr. What it does not: parse arguments.

mod abort;
mod answer;
mod check;
mod export;
mod log;
mod read;
mod resend;
mod reset;
mod wait;

pub use abort::{AbortWish, abort_all};
pub use answer::{AnswerWish, answer_one};
pub use check::check;
pub use export::{ExportWish, Output, export_all, output};
pub use log::{Wanted, log};
pub use read::{explain, status};
pub use resend::{Wish, resend_one};
pub use reset::{ResetWish, reset};
pub use wait::{Wait, WaitWish};

use self::read::read_session;
use crate::core::app::Outcome;
use crate::core::id::SessionKey;
use crate::core::plan;
use crate::core::present::clean;
use crate::net::client::Client;
use crate::shell::audit::{About, READ_AGAIN, Recorded, Standing};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::session_ref::{Purpose, find};
use crate::shell::snapshot::Snapshot;
use crate::tui::{Theme, safe};
use std::io::{BufRead, Write};
use std::time::Duration;
use tokio::time::Instant;

/// How results look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// One JSON document instead of text.
    pub json: bool,
    /// Coloured text.
    pub color: bool,
    /// Text is ASCII only. A document is UTF-8 whatever the locale.
    pub ascii: bool,
    /// Of the terminal, in cells; none off one: nothing is cut there.
    pub width: Option<usize>,
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

/// Some servers are only read.
fn may_act(snapshot: &Snapshot, key: &SessionKey) -> Result<(), Trouble> {
    refuse(key, plan::refused(&snapshot.app.store, key))
}

/// And some not even that far.
fn may_export(snapshot: &Snapshot, key: &SessionKey) -> Result<(), Trouble> {
    let why = plan::unexportable(&snapshot.app.store, key);
    refuse(key, why.map(str::to_owned))
}

fn refuse(key: &SessionKey, why: Option<String>) -> Result<(), Trouble> {
    let failed = |why| Trouble::Failed(clean(&format!("{}: {why}", key.session)));
    why.map_or(Ok(()), |why| Err(failed(why)))
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

/// How a session stands after an action: what that was about is read again, within a limit.
async fn read_again(snapshot: &mut Snapshot, about: &About) -> Option<Standing> {
    let asked = (snapshot.clock)();
    about.read_again(&snapshot.feed.commands);
    let end = snapshot.deadline.min(Instant::now() + READ_AGAIN);
    let is_read = |snapshot: &mut Snapshot| about.is_read(&snapshot.app, asked);
    let in_time = snapshot.until(end, is_read).await;
    let verdict = snapshot.app.verdict(&about.key).filter(|_| in_time);
    verdict.map(Standing::of)
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
    done: &Recorded,
) -> Result<Exit, Trouble> {
    let server = snapshot.app.store.server(key.server);
    let server = server.map_or("?", |server| server.spec.name.as_str());
    let name = format!("{server}/{}", key.session);
    let (word, text, exit) = match &done.outcome {
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
    if let Some(warning) = &done.warning {
        say(&format!("{name}: {action}: {warning}"), &snapshot.theme);
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
