//! `waiting-permission`: a tool call waits for a person's permission. It may wait for days; there
//! is no timeout. What looks the same and is not: a ghost, left behind by an abort.

use super::{Rule, waiting};
use crate::core::judge::{Answer, Facts, Offer};
use crate::core::wire::AskKind;

pub(super) const RULE: Rule = Rule {
    id: "waiting-permission",
    at_rest: false,
    watched: false,
    by_age: false,
    needs_messages: false,
    needs_whole: false,
    levels: "needs-you",
    meaning: "A tool call waits for your permission.",
    offers: &[Offer::Answer, Offer::Abort, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    waiting::check(facts, AskKind::Permission)
}
