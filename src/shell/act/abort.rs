//! Abort: the plan's steps, then reading again until all has settled.
//!
//! What it does: look, act, look again. What it does not: plan (that is `core::plan`), retry, or
//! believe the `true` that every abort answers.

use super::carry::send;
use super::look::{Look, look};
use super::patient;
use crate::core::app::Outcome;
use crate::core::id::SessionId;
use crate::core::plan::Plan;
use crate::net::client::{Client, ClientError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long is looked for an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// When something ran.
    pub running: Duration,
    /// When nothing ran: nothing is expected.
    pub idle: Duration,
    /// Between two looks.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            running: Duration::from_secs(10),
            idle: Duration::from_secs(2),
            pause: Duration::from_millis(200),
        }
    }
}

/// Carries out the plan and says what was seen afterwards. `sent` hears of each session just before
/// its abort goes out: one that is never answered was sent all the same.
pub async fn abort(
    client: &Client,
    plan: &Plan,
    patience: Patience,
    sent: impl Fn(&SessionId),
) -> Outcome {
    let before = match patient(|| look(client, &plan.settle, &plan.steps)).await {
        Ok(before) => before,
        Err(why) => return Outcome::Failed(format!("it could not be read before: {why}")),
    };
    let begun = Instant::now();
    let trouble = send(client, &plan.steps, sent).await;
    let wait = if before.is_running() {
        patience.running
    } else {
        patience.idle
    };
    let seen = watch(client, plan, Instant::now() + wait, patience.pause).await;
    tell(&before, seen, trouble, begun.elapsed())
}

/// Looks until all has settled or the time is over; gives the last look.
async fn watch(
    client: &Client,
    plan: &Plan,
    until: Instant,
    pause: Duration,
) -> Result<Look, ClientError> {
    loop {
        let seen = look(client, &plan.settle, &plan.steps).await;
        let settled = seen.as_ref().is_ok_and(Look::is_settled);
        if settled || Instant::now() >= until {
            return seen;
        }
        sleep(pause).await;
    }
}

fn tell(
    before: &Look,
    after: Result<Look, ClientError>,
    trouble: Option<String>,
    took: Duration,
) -> Outcome {
    let took = format!("{:.1} s", took.as_secs_f64().max(0.1));
    match (after, trouble) {
        (Err(why), None) => Outcome::Failed(format!(
            "it was sent, but what became of it could not be read: {why}"
        )),
        (Err(why), Some(trouble)) => Outcome::Failed(format!(
            "{trouble}; what became of it could not be read: {why}"
        )),
        (Ok(after), Some(trouble)) if !after.is_settled() => {
            Outcome::Failed(format!("{trouble}; after {took}: {}", after.words()))
        }
        (Ok(after), None) if !after.is_settled() => {
            // What was told to end and does not has a next rung; what never ran here has none.
            let next = if before.is_running() {
                "; R (`ocwatch reset`) goes further"
            } else {
                ""
            };
            Outcome::NoEffect(format!("after {took}: {}{next}", after.words()))
        }
        (Ok(after), _) if before.is_settled() => {
            Outcome::NoEffect(format!("nothing ran: {}", after.words()))
        }
        (Ok(after), trouble) => {
            let many = match after.sessions.len() {
                0 | 1 => String::new(),
                n => format!(", {n} sessions"),
            };
            let though = trouble.map_or_else(String::new, |it| format!(" (although {it})"));
            let words = after.words();
            Outcome::Done(format!("ended{many} after {took}: {words}{though}"))
        }
    }
}
