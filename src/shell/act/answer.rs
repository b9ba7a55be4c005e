//! Answers to asks: the plan's one step, then reading again until the ask is off its list.
//!
//! What it does: look, send once, look again. What it does not: plan (that is `core::plan::answer`),
//! or send twice. Done is what is no longer listed; that a turn ended with it is told as it is seen.
//! Where another permission breaks the list, done is what the server took: it answers 404 for an ask
//! that is not pending.

use super::abort::Patience;
use super::carry::{carry_out, name};
use super::look::{Seen, is_listed, session};
use crate::core::app::Outcome;
use crate::core::id::{AskId, Directory, SessionId};
use crate::core::plan::{Plan, Settle, Step};
use crate::core::wire::AskKind;
use crate::net::client::{Client, ClientError};
use tokio::time::{Instant, sleep};

/// The ask that a step is about, and where.
struct Target<'a> {
    kind: AskKind,
    ask: &'a AskId,
    session: &'a SessionId,
    directory: &'a Directory,
}

/// What was seen after it was sent.
struct After {
    /// `None`: one of its entries breaks the list.
    listed: Option<bool>,
    seen: Seen,
}

/// Carries out the plan and says what was seen afterwards.
pub async fn answer(client: &Client, plan: &Plan, patience: Patience) -> Outcome {
    let Some((step, target)) = plan.steps.iter().find_map(|it| Some((it, target(it)?))) else {
        return Outcome::Failed("there is nothing to send".to_owned());
    };
    if let Some(outcome) = before(client, plan, &target).await {
        return outcome;
    }
    let begun = Instant::now();
    let trouble = match carry_out(client, step).await {
        Ok(()) => None,
        Err(ClientError::Status { code: 404, .. }) => {
            return Outcome::NoEffect("it was answered meanwhile".to_owned());
        }
        Err(why @ ClientError::ReadOnly) => return Outcome::Failed(why.to_string()),
        // An answer can be late, cut off or nonsense: the list tells whether it was taken.
        Err(why) => Some(format!("{} failed: {why}", name(step))),
    };
    let ends = !plan.settle.is_empty();
    let after = watch(client, &target, ends, patience).await;
    let took = format!("{:.1} s", begun.elapsed().as_secs_f64().max(0.1));
    match after {
        Err(why) => Outcome::Failed(format!(
            "{}, but what became of it could not be read: {why}",
            trouble.as_deref().unwrap_or("it was sent")
        )),
        Ok(after) if after.listed != Some(false) && trouble.is_some() => {
            Outcome::Failed(trouble.unwrap_or_default())
        }
        Ok(after) if after.listed == Some(true) => {
            Outcome::NoEffect(format!("after {took} it is still listed"))
        }
        Ok(after) => {
            let said = said(step, !ends);
            let unseen = match after.listed {
                None => " (taken; the list itself cannot be read)",
                Some(_) => "",
            };
            let follows = follows(&after.seen);
            let though = trouble.map_or_else(String::new, |it| format!(" (although {it})"));
            Outcome::Done(format!("{said} after {took}{unseen}; {follows}{though}"))
        }
    }
}

fn target(step: &Step) -> Option<Target<'_>> {
    let (kind, ask, session, directory) = match step {
        Step::Reject {
            kind,
            ask,
            session,
            directory,
            ..
        } => (*kind, ask, session, directory),
        Step::Allow {
            ask,
            session,
            directory,
            ..
        } => (AskKind::Permission, ask, session, directory),
        Step::Reply {
            ask,
            session,
            directory,
            ..
        } => (AskKind::Question, ask, session, directory),
        _ => return None,
    };
    Some(Target {
        kind,
        ask,
        session,
        directory,
    })
}

/// Why nothing is to be sent, if so. A list that cannot be read (one permission can break it) is
/// no reason: a reply by id works all the same.
async fn before(client: &Client, plan: &Plan, target: &Target<'_>) -> Option<Outcome> {
    let unread = |why| {
        Some(Outcome::Failed(format!(
            "it could not be read before: {why}"
        )))
    };
    match is_listed(client, target.kind, target.ask, target.directory).await {
        Ok(true) | Err(ClientError::Status { code: 400, .. }) => {}
        Ok(false) => {
            let words = "it is no longer listed: it was answered meanwhile, or its turn has ended";
            return Some(Outcome::NoEffect(words.to_owned()));
        }
        Err(why) => return unread(why),
    }
    if !plan.idle_before {
        return None;
    }
    // Planned as one that nobody waits for because its session was idle.
    match session(client, &settle(target)).await {
        Ok(seen) if seen.running.is_none() => None,
        Ok(_) => Some(Outcome::NoEffect(
            "its session runs again, so it may be waited for: nothing was sent".to_owned(),
        )),
        Err(why) => unread(why),
    }
}

fn settle(target: &Target) -> Settle {
    Settle {
        session: target.session.clone(),
        directory: target.directory.clone(),
    }
}

/// Looks until the ask is off its list (and, where the turn ends, its session has ended it) or the
/// time is over; gives the last look.
async fn watch(
    client: &Client,
    target: &Target<'_>,
    ends: bool,
    patience: Patience,
) -> Result<After, ClientError> {
    let begun = Instant::now();
    loop {
        let after = look(client, target).await;
        let (wait, enough) = match &after {
            Ok(it) if it.listed.is_none() => (patience.idle, false),
            Ok(it) => {
                let settled = !ends || it.seen.is_settled();
                (patience.running, it.listed == Some(false) && settled)
            }
            Err(_) => (patience.running, false),
        };
        if enough || begun.elapsed() >= wait {
            return after;
        }
        sleep(patience.pause).await;
    }
}

async fn look(client: &Client, target: &Target<'_>) -> Result<After, ClientError> {
    let listed = match is_listed(client, target.kind, target.ask, target.directory).await {
        Ok(listed) => Some(listed),
        Err(ClientError::Status { code: 400, .. }) => None,
        Err(why) => return Err(why),
    };
    let seen = session(client, &settle(target)).await?;
    Ok(After { listed, seen })
}

/// What was said, in the past.
fn said(step: &Step, goes_on: bool) -> &'static str {
    match step {
        Step::Allow { always: true, .. } => "allowed from now on",
        Step::Allow { .. } => "allowed once",
        Step::Reply { .. } => "answered",
        Step::Reject {
            message: Some(_), ..
        } => "rejected with words",
        _ if goes_on => "dismissed",
        _ => "rejected",
    }
}

fn follows(seen: &Seen) -> String {
    match (&seen.running, &seen.open) {
        (Some(_), _) => "the turn goes on".to_owned(),
        (None, None) => format!("the turn has ended: {}", seen.ended),
        (None, Some(_)) => format!("its session is idle: {}", seen.words()),
    }
}
