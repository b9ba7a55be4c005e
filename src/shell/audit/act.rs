//! An action between its two lines.

use super::{Audit, AuditError, Ending, Entry, Standing, Ticket};
use crate::core::app::Outcome;
use crate::core::present::clean;
use tokio::task::spawn_blocking;

/// What an action gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acted {
    /// How it ended.
    pub outcome: Outcome,
    /// How the session stands, if it was read again.
    pub after: Option<Standing>,
}

impl From<Outcome> for Acted {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            after: None,
        }
    }
}

/// An action and what is to be told of its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// How it ended; failed if it could not be recorded, and then nothing was done.
    pub outcome: Outcome,
    /// It happened, but this part of it is not recorded.
    pub warning: Option<String>,
}

impl Recorded {
    /// As one text, where there is no other place for the warning.
    pub fn told(self) -> Outcome {
        let Some(warning) = self.warning else {
            return self.outcome;
        };
        match self.outcome {
            Outcome::Done(text) => Outcome::Done(format!("{text}; {warning}")),
            Outcome::NoEffect(text) => Outcome::NoEffect(format!("{text}; {warning}")),
            Outcome::Failed(text) => Outcome::Failed(format!("{text}; {warning}")),
        }
    }
}

/// Writes that the action begins, does it, and writes how it ended. What cannot be recorded is not
/// done, unless the log was opened with `force`.
pub async fn recorded<A: Into<Acted>>(
    audit: &Audit,
    entry: Entry,
    work: impl Future<Output = A>,
) -> Recorded {
    let ticket = match begin(audit.clone(), entry).await {
        Ok(ticket) => ticket,
        Err(why @ AuditError::Busy) => {
            return Recorded {
                outcome: Outcome::Failed(format!("nothing was done: {why}")),
                warning: None,
            };
        }
        Err(why) => {
            let why = clean(&why.to_string());
            let text = format!(
                "nothing was done, because it cannot be recorded: {why} (a command with --force does it unrecorded)"
            );
            return Recorded {
                outcome: Outcome::Failed(text),
                warning: None,
            };
        }
    };
    let before = ticket.warning().map(|why| lost("that it began", why));
    let Acted { outcome, after } = work.await.into();
    let ending = Ending {
        outcome: outcome.clone(),
        after,
    };
    let after = end(ticket, ending).await.err();
    let after = after.map(|why| lost("how it ended", &why));
    Recorded {
        outcome,
        warning: before.or(after),
    }
}

fn lost(what: &str, why: &AuditError) -> String {
    format!("{what} is not recorded: {}", clean(&why.to_string()))
}

/// A slow disk must not hold up the loop.
async fn begin(audit: Audit, entry: Entry) -> Result<Ticket, AuditError> {
    let begun = spawn_blocking(move || audit.begin(&entry)).await;
    begun.unwrap_or(Err(AuditError::Interrupted))
}

async fn end(ticket: Ticket, ending: Ending) -> Result<(), AuditError> {
    let ended = spawn_blocking(move || ticket.end(&ending)).await;
    ended.unwrap_or(Err(AuditError::Interrupted))
}
