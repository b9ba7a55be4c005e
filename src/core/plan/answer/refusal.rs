//! Why an ask cannot be answered so, in words that fit screen and command line alike.

use super::{LostQuestion, Waiting};
use std::fmt;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The session is gone.
    Gone,
    /// Nothing is asked in it or below it.
    Nothing,
    /// What is asked could not be read, in words: it may well ask.
    Unread(String),
    /// No ask that is pending there has an id that begins so.
    NoSuch(String),
    /// More than one may be meant.
    Several(Vec<Waiting>),
    /// Nobody waits for it any more: it can only be dismissed.
    Ghost,
    /// It waits for its answer: it cannot be dismissed, only rejected.
    Alive,
    /// The server has lost what is asked: nobody can answer it.
    Lost(Vec<LostQuestion>),
    /// A permission was treated as a question, or the other way round.
    Kind(&'static str),
    /// The answers do not fit the questions.
    Wrong(String),
}

impl Refusal {
    /// What was asked for is wrong in itself, not overtaken by what happened.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Refusal::Several(_) | Refusal::Alive | Refusal::Kind(_) | Refusal::Wrong(_)
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Gone => f.write_str("the session is gone"),
            Refusal::Nothing => f.write_str("nothing is asked here"),
            Refusal::Unread(why) => write!(
                f,
                "what its project asks cannot be read ({why}): it may ask all the same; abort or reset ends it"
            ),
            Refusal::NoSuch(id) => write!(
                f,
                "no ask \"{id}\" is pending here: it was answered meanwhile, or never was"
            ),
            Refusal::Several(all) => write!(f, "{} asks are pending here", all.len()),
            Refusal::Ghost => {
                f.write_str("nobody waits for the answer any more: it can only be dismissed")
            }
            Refusal::Alive => {
                f.write_str("it is waited for: it cannot be dismissed, only answered or rejected")
            }
            Refusal::Lost(all) => {
                let what = all.iter().flat_map(|it| &it.questions).next();
                let what = what.map_or("", |question| question.question.as_str());
                write!(
                    f,
                    "the server has lost the question \"{what}\": nobody can answer it, only an abort helps"
                )
            }
            Refusal::Kind(words) => f.write_str(words),
            Refusal::Wrong(words) => f.write_str(words),
        }
    }
}
