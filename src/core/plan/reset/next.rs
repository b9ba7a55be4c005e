//! Which rung is next, for what a survey shows.

use super::{Cause, Rung, RungName, Tried, rungs};
use crate::core::plan::survey::{Survey, Surveyed};
use crate::core::time::UnixMs;

/// What follows from a survey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing (more) is wrong, in words.
    Well(String),
    /// This rung is next.
    Climb(Rung),
    /// Nothing more can be done, in words.
    Stuck(String),
}

/// The next rung for what a survey shows, after those that were tried.
pub fn next(survey: &Survey, cause: &Cause, tried: &Tried, now: UnixMs) -> Next {
    let Some(root) = survey.root() else {
        return Next::Stuck("nothing of it could be read".to_owned());
    };
    if cause.elsewhere {
        let why = "it runs in another OpenCode on this data: stop it there";
        return Next::Stuck(why.to_owned());
    }
    let untried = |name: RungName| !tried.rungs.contains(&name);
    if survey.runs() || survey.rows.iter().any(|row| tried.hangs(row)) {
        return if untried(RungName::Stop) {
            Next::Climb(rungs::stop(survey))
        } else if untried(RungName::Dispose) {
            Next::Climb(rungs::dispose(survey, tried))
        } else if untried(RungName::Fork) && !root.gone {
            Next::Climb(rungs::fork(root, cause))
        } else {
            let why = "it does not end, whatever it is told: a restart of the server would end it";
            Next::Stuck(why.to_owned())
        };
    }
    let asks = survey.rows.iter().any(|row| !row.asks.is_empty());
    let broken = survey.rows.iter().any(|row| !row.broken.is_empty());
    // Idle here, and yet another OpenCode may be writing it: a person must say that none does.
    let doubtful = rungs::is_doubtful(root, cause);
    if (asks || broken || doubtful) && untried(RungName::Repair) {
        return Next::Climb(rungs::repair(survey, cause, now));
    }
    if asks && untried(RungName::Dispose) {
        return Next::Climb(rungs::dispose(survey, tried));
    }
    if !root.gone && (broken || cause.poisoned) && untried(RungName::Fork) {
        return Next::Climb(rungs::fork(root, cause));
    }
    if asks || broken {
        return Next::Stuck("what is open cannot be closed".to_owned());
    }
    if root.gone {
        let words = "the session does not exist any more, and nothing of it runs";
        return Next::Well(words.to_owned());
    }
    if root.reverted && cause.reverted && tried.is_empty() {
        return Next::Climb(rungs::unrevert(root));
    }
    Next::Well(well(root))
}

/// In words why the next prompt will do.
fn well(root: &Surveyed) -> String {
    // What a provider or a model refuses is not for a reset to mend: no word of the next prompt then.
    let failed = root.answer().and_then(|it| it.error.as_ref());
    let failed = failed.filter(|it| !it.is_abort());
    let mut words = Vec::new();
    if root.has_open_answer() {
        words.push("the next prompt continues: s (`ocwatch resend`) sends one".to_owned());
    } else if root.waiting_prompts() > 0 {
        words.push(
            "its newest prompt has no answer: s (`ocwatch resend`) sends it again".to_owned(),
        );
    } else if let Some(failed) = failed {
        words.push(format!(
            "its last answer failed ({}): s (`ocwatch resend`) sends again",
            failed.name
        ));
    } else {
        words.push("the next prompt continues".to_owned());
    }
    if root.reverted {
        words.push("it deletes what the pending revert hides".to_owned());
    }
    if root.unread > 0 {
        let unread = root.unread;
        words.push(format!(
            "{unread} of its messages or parts could not be understood"
        ));
    }
    if let Some(why) = &root.asks_unread {
        words.push(format!(
            "what its project asks cannot be listed ({why}): disposing the project would clear that"
        ));
    }
    words.join("; ")
}
