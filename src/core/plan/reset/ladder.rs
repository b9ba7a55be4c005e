//! The whole ladder in words, before anything is done.

use super::{Consent, Next, ResetOrder, Rung, RungName, next, rungs};
use crate::core::plan::HEALTHY;
use crate::core::plan::survey::Survey;
use crate::core::time::UnixMs;

/// What will be done, from a survey: the dialog and `--dry-run` print it. Numbered by who shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    /// Its first rung, or why there is none.
    pub first: Next,
    /// All of it in words.
    pub lines: Vec<String>,
}

impl Ladder {
    /// There is something to do.
    pub fn climbs(&self) -> bool {
        matches!(self.first, Next::Climb(_))
    }

    /// What Enter agrees to: what the first rung needs, said in its lines.
    pub fn needs(&self) -> Option<Consent> {
        match &self.first {
            Next::Climb(rung) => rung.needs,
            _ => None,
        }
    }
}

/// The whole ladder in words. `export`: where the export goes, as shown.
pub fn ladder(survey: &Survey, order: &ResetOrder, export: &str, now: UnixMs) -> Ladder {
    let first = next(survey, &order.cause, &order.tried, now);
    let mut lines = Vec::new();
    let rung = match &first {
        Next::Well(why) => {
            lines.push(format!("nothing to repair: {why}"));
            return Ladder { first, lines };
        }
        Next::Stuck(why) => {
            lines.push(why.clone());
            return Ladder { first, lines };
        }
        Next::Climb(rung) => rung,
    };
    let messages: usize = survey.saved().map(|row| row.roll.len()).sum();
    match survey.saved().count() {
        0 => {}
        1 => lines.push(format!("export {messages} messages to {export}")),
        many => lines.push(format!(
            "export {many} sessions, {messages} messages, to {export}"
        )),
    }
    if rung.name > RungName::Stop && !survey.runs() {
        lines.push("nothing runs: no abort needed".to_owned());
    }
    if order.cause.healthy {
        lines.insert(0, HEALTHY.to_owned());
    }
    lines.extend(rung.lines.iter().cloned());
    if rung.name == RungName::Stop {
        lines.push("then set tool parts that are still open to error, and dismiss asks that are still listed".to_owned());
    }
    lines.push("check: nothing runs, nothing open, no ask listed, no message lost".to_owned());
    lines.extend(later(survey, order, rung));
    Ladder { first, lines }
}

/// What comes if the first rung does not settle it: done where it was agreed to beforehand, else
/// asked for.
fn later(survey: &Survey, order: &ResetOrder, first: &Rung) -> Vec<String> {
    let asks = survey.rows.iter().any(|row| !row.asks.is_empty());
    let broken = survey.rows.iter().any(|row| !row.broken.is_empty());
    let mut lines = Vec::new();
    if first.name == RungName::Stop || (first.name == RungName::Repair && asks) {
        let dispose = rungs::dispose(survey, &order.tried);
        if order.allowed.contains(&Consent::Dispose) {
            let then = dispose.lines.into_iter();
            lines.extend(then.map(|it| format!("if that does not settle within 10 s: {it}")));
        } else {
            let offered = "if that does not settle within 10 s: disposing the project is offered, and asked for";
            lines.push(offered.to_owned());
        }
    }
    let may_fork = first.name == RungName::Stop || (first.name == RungName::Repair && broken);
    if may_fork && order.allowed.contains(&Consent::Fork) {
        lines.push(
            "if nothing gentler helps: fork before the broken turn into a new session".to_owned(),
        );
    }
    lines
}
