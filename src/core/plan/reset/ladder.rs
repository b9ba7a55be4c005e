//! The whole ladder in words, before anything is done.

use super::{Consent, Next, ResetOrder, RungName, next};
use crate::core::plan::survey::Survey;
use crate::core::time::UnixMs;
use crate::core::wire::AskKind;

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
    lines.extend(rung.lines.iter().cloned());
    if rung.name == RungName::Stop {
        lines.push("then set tool parts that are still open to error, and dismiss asks that are still listed".to_owned());
    }
    lines.push("check: nothing runs, nothing open, no ask listed, no message lost".to_owned());
    let asks = survey.rows.iter().flat_map(|row| &row.asks);
    if rung.name == RungName::Stop || asks.clone().any(|ask| ask.kind == AskKind::Permission) {
        lines.push("if that does not settle within 10 s: R again offers to dispose the project (it asks first)".to_owned());
    }
    Ladder { first, lines }
}
