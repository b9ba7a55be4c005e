//! Reset: climbs the ladder, each rung from a fresh survey, until one settles it.
//!
//! What it does: export, then what `core::plan::reset` says next, verified by reading again. What it
//! does not: decide, or go where no consent was given. Invariants: nothing is changed before the
//! export is whole; the run state is read again right before each part is set; after a kill at any
//! moment a second run finds what is left to do, since nothing is remembered.

use super::abort::Patience;
use super::carry::{carry_out, name};
use super::export::{ExportError, Place, export};
use super::look::look;
use super::survey::survey;
use crate::core::app::Outcome;
use crate::core::id::{MessageId, PartId, SessionId};
use crate::core::plan::repair::{RepairError, errored};
use crate::core::plan::reset::{Cause, Consent, Next, ResetOrder, Rung, RungName, Subject, next};
use crate::core::plan::survey::Survey;
use crate::core::plan::{ActionName, Plan, Step};
use crate::core::time::{Clock, UnixMs};
use crate::net::client::{Client, ClientError};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// So long a session must stand still before its parts are set: a start takes up to 1.4 s to be
/// reported, and the early idle of an abort is shorter.
const STILL: Duration = Duration::from_millis(1500);
/// No ladder is longer.
const RUNGS: usize = 8;

/// What a reset works with.
pub struct Hands<'a> {
    /// The server.
    pub client: &'a Client,
    /// Where exports go; made if it is missing.
    pub export_dir: &'a Path,
    /// How long is looked for an effect.
    pub patience: Patience,
    /// The watcher's clock.
    pub clock: &'a Clock,
    /// Hears what is being done.
    pub progress: &'a (dyn Fn(&str) + Send + Sync),
    /// Hears of each session just before its abort goes out.
    pub sent: &'a (dyn Fn(&SessionId) + Send + Sync),
}

/// How a reset ended.
#[derive(Debug)]
pub struct Climbed {
    /// As the server's own answers showed it.
    pub outcome: Outcome,
    /// Rungs that were climbed, those before included.
    pub tried: Vec<RungName>,
    /// The rung that waits for a consent.
    pub wanting: Option<Rung>,
    /// Files that were written.
    pub saved: Vec<PathBuf>,
}

/// Why it went no further.
enum Halt {
    Failed(String),
    NoEffect(String),
}

impl From<ClientError> for Halt {
    fn from(why: ClientError) -> Self {
        Halt::Failed(why.to_string())
    }
}

/// Climbs until it settles, a consent is missing, or nothing more can be done.
pub async fn reset(hands: &Hands<'_>, subject: &Subject, order: &ResetOrder) -> Climbed {
    let mut climbed = Climbed {
        outcome: Outcome::Failed(String::new()),
        tried: order.tried.clone(),
        wanting: None,
        saved: Vec::new(),
    };
    climbed.outcome = match climb_all(hands, subject, order, &mut climbed).await {
        Ok(words) => Outcome::Done(words),
        Err(Halt::NoEffect(words)) => Outcome::NoEffect(words),
        Err(Halt::Failed(words)) => Outcome::Failed(words),
    };
    climbed
}

async fn climb_all(
    hands: &Hands<'_>,
    subject: &Subject,
    order: &ResetOrder,
    climbed: &mut Climbed,
) -> Result<String, Halt> {
    let begun = Instant::now();
    let mut seen = read(hands, subject).await?;
    let first = seen.clone();
    let mut done: Vec<String> = Vec::new();
    for _ in 0..RUNGS {
        let rung = match next(&seen, &order.cause, &climbed.tried, now(hands, order)) {
            Next::Well(why) => return well(&first, &seen, done, &why, begun, &climbed.saved),
            Next::Stuck(why) => return Err(Halt::NoEffect(with(done, why))),
            Next::Climb(rung) => rung,
        };
        if let Some(need) = rung.needs
            && !order.allowed.contains(&need)
        {
            let told = wanting(&rung);
            climbed.wanting = Some(rung);
            return Err(Halt::NoEffect(with(done, told)));
        }
        if climbed.saved.is_empty() {
            save(hands, &first, &mut climbed.saved).await?;
        }
        climbed.tried.push(rung.name);
        done.push(climb(hands, subject, order, &rung, &seen).await?);
        if rung.name == RungName::Fork {
            return Ok(done.join("; "));
        }
        seen = read(hands, subject).await?;
    }
    Err(Halt::NoEffect(with(done, "it does not settle".to_owned())))
}

fn with(mut done: Vec<String>, last: String) -> String {
    done.push(last);
    done.join("; ")
}

fn wanting(rung: &Rung) -> String {
    let what = rung.lines.first().map_or("", String::as_str);
    let word = rung.needs.map_or("", Consent::word);
    format!("next would be ({word}): {what}")
}

/// Nothing (more) is wrong: and nothing was lost on the way.
fn well(
    first: &Survey,
    seen: &Survey,
    done: Vec<String>,
    why: &str,
    begun: Instant,
    saved: &[PathBuf],
) -> Result<String, Halt> {
    if let Some(lost) = first.lost_in(seen) {
        let words = format!("{lost} was there before and is missing now; the export has it");
        return Err(Halt::Failed(with(done, words)));
    }
    if done.is_empty() {
        return Ok(format!("nothing to repair: {why}"));
    }
    let took = begun.elapsed().as_secs_f64().max(0.1);
    let saved = match saved {
        [] => String::new(),
        [one] => format!("; saved to {}", one.display()),
        [first, rest @ ..] => format!("; saved to {} and {} more", first.display(), rest.len()),
    };
    Ok(format!("{} ({took:.1} s); {why}{saved}", done.join("; ")))
}

fn now(hands: &Hands, order: &ResetOrder) -> UnixMs {
    (hands.clock)() + order.skew
}

async fn read(hands: &Hands<'_>, subject: &Subject) -> Result<Survey, Halt> {
    let read = survey(hands.client, subject).await;
    read.map_err(|why| Halt::Failed(format!("it could not be read: {why}")))
}

/// Whole files first: what is changed afterwards can be looked up in them.
async fn save(hands: &Hands<'_>, seen: &Survey, saved: &mut Vec<PathBuf>) -> Result<(), Halt> {
    let failed = |why: ExportError| {
        Halt::Failed(format!("the export failed, so nothing was changed: {why}"))
    };
    for row in seen.saved() {
        (hands.progress)("exporting");
        let dir = hands.export_dir.to_owned();
        make(&dir).map_err(|why| {
            failed(ExportError::Write {
                path: dir.clone(),
                why,
            })
        })?;
        let done = export(hands.client, &row.session, Place::NextFree(dir)).await;
        saved.push(done.map_err(failed)?.path);
    }
    Ok(())
}

/// Only the owner may read what sessions hold.
fn make(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Climbs one rung; in words what was done.
async fn climb(
    hands: &Hands<'_>,
    subject: &Subject,
    order: &ResetOrder,
    rung: &Rung,
    seen: &Survey,
) -> Result<String, Halt> {
    match rung.name {
        RungName::Stop => {
            (hands.progress)("stopping what runs");
            settle(hands, order, rung).await
        }
        RungName::Dispose => {
            (hands.progress)("disposing the project");
            settle(hands, order, rung).await
        }
        RungName::Unrevert => {
            send(hands, &rung.steps).await?;
            Ok("revert taken back".to_owned())
        }
        RungName::Repair => {
            (hands.progress)("looking whether it stands still");
            stand_still(hands, subject, seen).await?;
            repair(hands, order, &rung.steps).await
        }
        RungName::Fork => {
            (hands.progress)("forking");
            fork(hands, subject, order, rung).await
        }
    }
}

/// Sends the steps. An ask that is gone was answered meanwhile: what is to be reached is reached.
async fn send(hands: &Hands<'_>, steps: &[Step]) -> Result<(), Halt> {
    for step in steps {
        if let Step::Abort { session, .. } = step {
            (hands.sent)(session);
        }
        match carry_out(hands.client, step).await {
            Ok(()) | Err(ClientError::Status { code: 404, .. }) => {}
            Err(why) => return Err(Halt::Failed(format!("{} failed: {why}", name(step)))),
        }
    }
    Ok(())
}

/// Sends, then looks until all has settled or patience ends; that is for the next survey to say.
async fn settle(hands: &Hands<'_>, order: &ResetOrder, rung: &Rung) -> Result<String, Halt> {
    let begun = Instant::now();
    send(hands, &rung.steps).await?;
    let plan = Plan {
        action: ActionName::Reset,
        key: order.key.clone(),
        title: String::new(),
        steps: rung.steps.clone(),
        settle: rung.settle.clone(),
        lines: Vec::new(),
        idle_before: false,
    };
    let until = begun + hands.patience.running;
    loop {
        let seen = look(hands.client, &plan).await;
        let settled = seen.as_ref().is_ok_and(super::look::Look::is_settled);
        if settled || Instant::now() >= until {
            let what = match rung.name {
                RungName::Dispose => "project disposed",
                _ => "stopped",
            };
            return Ok(match seen {
                Ok(_) if settled => what.to_owned(),
                Ok(seen) => format!(
                    "{what}, but after {} s {}",
                    begun.elapsed().as_secs(),
                    seen.words()
                ),
                Err(why) => format!("{what}, but it could not be read: {why}"),
            });
        }
        sleep(hands.patience.pause).await;
    }
}

/// What moves is run by somebody: its parts are not touched.
async fn stand_still(hands: &Hands<'_>, subject: &Subject, seen: &Survey) -> Result<(), Halt> {
    if !seen
        .rows
        .iter()
        .any(|row| row.has_open_answer() && !row.broken.is_empty())
    {
        return Ok(());
    }
    sleep(STILL.min(hands.patience.running)).await;
    let again = read(hands, subject).await?;
    let moved = |row: &&_| {
        let row: &crate::core::plan::survey::Surveyed = row;
        let now = again.rows.iter().find(|it| it.session == row.session);
        now.is_none_or(|now| now.running.is_some() || !now.stands_still_since(row))
    };
    match seen.rows.iter().find(moved) {
        None => Ok(()),
        Some(row) => Err(Halt::NoEffect(format!(
            "\"{}\" moved while it was looked at: something runs it, so nothing was changed",
            row.title
        ))),
    }
}

/// Dismisses ghosts, then sets the parts.
async fn repair(hands: &Hands<'_>, order: &ResetOrder, steps: &[Step]) -> Result<String, Halt> {
    let (parts, asks): (Vec<Step>, Vec<Step>) = steps
        .iter()
        .cloned()
        .partition(|step| matches!(step, Step::Repair { .. }));
    (hands.progress)("dismissing asks");
    send(hands, &asks).await?;
    let mut set = 0;
    for step in &parts {
        let Step::Repair {
            session,
            directory,
            message,
            part,
        } = step
        else {
            continue;
        };
        (hands.progress)(&format!("setting part {} of {}", set + 1, parts.len()));
        let status = hands.client.status(Some(directory)).await?;
        if status.items.contains_key(session) || status.skipped > 0 {
            let words = "it runs again: its parts are left alone";
            return Err(Halt::NoEffect(words.to_owned()));
        }
        if set_part(hands, order, session, message, part).await? {
            set += 1;
        }
    }
    let asks = match asks.len() {
        0 => String::new(),
        1 => "1 ask dismissed, ".to_owned(),
        many => format!("{many} asks dismissed, "),
    };
    Ok(match set {
        1 => format!("{asks}1 tool part marked as aborted"),
        many => format!("{asks}{many} tool parts marked as aborted"),
    })
}

/// `false`: it has ended by itself meanwhile.
async fn set_part(
    hands: &Hands<'_>,
    order: &ResetOrder,
    session: &SessionId,
    message: &MessageId,
    part: &PartId,
) -> Result<bool, Halt> {
    let failed = |why: String| Halt::Failed(format!("failed to set {part} to error: {why}"));
    let raw = hands.client.message_raw(session, message).await?;
    let whole: Value = serde_json::from_str(raw.get()).map_err(|why| failed(why.to_string()))?;
    let parts = whole.get("parts").and_then(Value::as_array);
    let ours = |it: &&Value| it.get("id").and_then(Value::as_str) == Some(part.as_str());
    let Some(old) = parts.and_then(|parts| parts.iter().find(ours)) else {
        return Err(failed("it is not in its message any more".to_owned()));
    };
    let new = match errored(old, now(hands, order)) {
        Ok(new) => new,
        Err(RepairError::Ended(_)) => return Ok(false),
        Err(why) => return Err(failed(why.to_string())),
    };
    let sent = hands.client.patch_part(session, message, part, new).await;
    sent.map(|()| true).map_err(|why| failed(why.to_string()))
}

/// A copy without the broken turn; what is open in it is set as well.
async fn fork(
    hands: &Hands<'_>,
    subject: &Subject,
    order: &ResetOrder,
    rung: &Rung,
) -> Result<String, Halt> {
    let Some(Step::Fork { session, before }) = rung.steps.first() else {
        return Err(Halt::Failed("there is nothing to fork".to_owned()));
    };
    let made = hands.client.fork(session, before.as_ref()).await;
    let made = made.map_err(|why| Halt::Failed(format!("the fork failed: {why}")))?;
    let copy = Subject {
        session: made.id.clone(),
        directory: subject.directory.clone(),
        title: made.title.clone(),
        known_below: Vec::new(),
    };
    let told = format!("forked to {} \"{}\"", made.id, made.title);
    let seen = read(hands, &copy).await?;
    if let Next::Climb(rung) = next(&seen, &Cause::default(), &[], now(hands, order)) {
        let words = repair(hands, order, &rung.steps).await?;
        let seen = read(hands, &copy).await?;
        return match next(&seen, &Cause::default(), &[], now(hands, order)) {
            Next::Well(why) => Ok(format!("{told}: {words}; {why}")),
            _ => Err(Halt::NoEffect(format!("{told}, but it is not well either"))),
        };
    }
    Ok(format!("{told}: the next prompt there goes on"))
}
