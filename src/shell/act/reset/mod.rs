//! Reset: climbs the ladder, each rung from a fresh survey, until one settles it.
//!
//! What it does: export, then what `core::plan::reset` says next, verified by reading again. What it
//! does not: decide, or go where no consent was given. Invariants: nothing is changed before the
//! export is whole; the run state is read again right before each part is set; after a kill at any
//! moment a second run finds what is left to do, since nothing is remembered.

mod fork;
mod repair;

use crate::core::app::Outcome;
use crate::core::id::SessionId;
use crate::core::plan::reset::{
    ALSO_ENDS, Consent, Next, Premise, ResetOrder, Rung, RungName, Subject, Tried, next,
};
use crate::core::plan::survey::Survey;
use crate::core::time::{Clock, UnixMs};
use crate::net::client::{Client, ClientError};
use crate::shell::act::abort::Patience;
use crate::shell::act::carry::send;
use crate::shell::act::export::{ExportError, export_into};
use crate::shell::act::look::{Look, look};
use crate::shell::act::survey::survey;
use fork::fork;
use repair::{repair, stand_still};
use std::path::{Path, PathBuf};
use tokio::time::{Instant, sleep};

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
    /// What was climbed, before included.
    pub tried: Tried,
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
    let premise = order.premise.clone();
    let premise = premise.unwrap_or_else(|| Premise::of(&first));
    let mut done: Vec<String> = Vec::new();
    for _ in 0..RUNGS {
        if let Some(why) = premise.broken_by(&seen) {
            return Err(Halt::NoEffect(with(done, why.to_owned())));
        }
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
        if climbed.saved.is_empty() && first.saved().next().is_some() {
            save(hands, &first, &mut climbed.saved).await?;
            // An export may take long: what is done next is planned from how it stands now.
            seen = read(hands, subject).await?;
            continue;
        }
        climbed.tried.add(&rung);
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

/// What is not done without a consent, and why it takes one.
fn wanting(rung: &Rung) -> String {
    let line = rung.lines.first();
    let line = line.map_or("", String::as_str);
    let word = rung.needs.map_or("", Consent::word);
    format!("not done without your word ({word}): {line}")
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
    let exists = |survey: &Survey| survey.root().is_some_and(|it| !it.gone);
    if exists(first) && !exists(seen) {
        let words = "the session was deleted meanwhile; the export has it";
        return Err(Halt::NoEffect(with(done, words.to_owned())));
    }
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
        let done = export_into(hands.client, &row.session, hands.export_dir).await;
        saved.push(done.map_err(failed)?.path);
    }
    Ok(())
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
            settle(hands, rung).await
        }
        RungName::Dispose => {
            (hands.progress)("disposing the project");
            settle(hands, rung).await
        }
        RungName::Unrevert => match send(hands.client, &rung.steps, hands.sent).await {
            Some(trouble) => Err(Halt::Failed(trouble)),
            None => Ok("revert taken back".to_owned()),
        },
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

/// Sends, then looks until all has settled or patience ends; that is for the next survey to say.
async fn settle(hands: &Hands<'_>, rung: &Rung) -> Result<String, Halt> {
    let begun = Instant::now();
    let trouble = send(hands.client, &rung.steps, hands.sent).await;
    let until = Instant::now() + hands.patience.running;
    loop {
        let seen = look(hands.client, &rung.settle, &rung.steps).await;
        let settled = seen.as_ref().is_ok_and(Look::is_settled);
        if settled || Instant::now() >= until {
            return ended(rung, seen, settled, trouble, begun);
        }
        sleep(hands.patience.pause).await;
    }
}

/// What came of a rung: asked for is not yet done.
fn ended(
    rung: &Rung,
    seen: Result<Look, ClientError>,
    settled: bool,
    trouble: Option<String>,
    begun: Instant,
) -> Result<String, Halt> {
    let (done, asked) = match rung.name {
        RungName::Dispose => ("project disposed", "disposing the project was asked for"),
        _ => ("stopped", "a stop was asked for"),
    };
    let tried = trouble.unwrap_or_else(|| asked.to_owned());
    match seen {
        Ok(_) if settled => {
            let others = rung.lines.iter().filter(|it| it.starts_with(ALSO_ENDS));
            let told = std::iter::once(done.to_owned()).chain(others.cloned());
            Ok(told.collect::<Vec<_>>().join("; "))
        }
        Ok(seen) => {
            let seconds = begun.elapsed().as_secs();
            Ok(format!("{tried}, but after {seconds} s {}", seen.words()))
        }
        Err(why) => Err(Halt::Failed(format!(
            "{tried}, but what became of it could not be read: {why}"
        ))),
    }
}
