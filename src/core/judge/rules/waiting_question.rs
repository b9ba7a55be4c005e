//! `waiting-question`: the model asked and waits for the answer. It may wait for days; there is
//! no timeout. What looks the same and is not: a ghost, left behind by an abort.

use super::{Rule, waiting};
use crate::core::judge::{Answer, Facts, Offer};
use crate::core::wire::AskKind;

pub(super) const RULE: Rule = Rule {
    id: "waiting-question",
    at_rest: false,
    watched: false,
    by_age: false,
    needs_messages: false,
    needs_whole: false,
    levels: "needs-you",
    meaning: "The model asked you something and waits for the answer.",
    offers: &[Offer::Answer, Offer::Abort, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    waiting::check(facts, AskKind::Question)
}
