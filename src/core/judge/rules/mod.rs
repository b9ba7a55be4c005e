//! The rules: one file for each finding, one line for each file in [`RULES`].
//!
//! What it does: hold the table and ask a rule. What it does not: decide between findings, let
//! them age, or hand them to ancestors (`one.rs`, `rest.rs`, `family.rs`). A new rule is a new
//! file with `pub(super) const RULE` and one line in the table.
//!
//! Invariants: a rule is pure; a rule that says `No` without a time can only change its answer by
//! new input; `Settles`, `Later` and `Yes` name every moment at which time alone changes them.

mod failed;
mod hung_tool;
mod interrupted;
mod parked_prompt;
mod possible_permission;
mod retry_overdue;
mod retrying;
mod running;
mod slow_tool;
mod stale_busy;
mod unanswered_prompt;
mod waiting;
mod waiting_permission;
mod waiting_question;
mod will_resume;

pub(super) use possible_permission::is_broken;

use crate::core::judge::facts::Facts;
use crate::core::judge::say::no;
use crate::core::judge::{Answer, Offer};

/// A named way in which a session can need a person.
pub struct Rule {
    /// The finding's name, as in `status --json`.
    pub id: &'static str,
    /// About a past event in a session where nothing runs: its level falls with time (R).
    pub at_rest: bool,
    /// Claims something only where our own watching saw it (W).
    pub watched: bool,
    /// Rests on messages; not asked while they are not known.
    pub needs_messages: bool,
    /// Which levels it gives, in words.
    pub levels: &'static str,
    /// One sentence for the README.
    pub meaning: &'static str,
    /// What a person can do.
    pub offers: &'static [Offer],
    /// The rule itself.
    pub check: fn(&Facts) -> Answer,
}

/// Every rule, in the order of reasoning: asks, retries, running, idle.
pub static RULES: &[Rule] = &[
    waiting_permission::RULE,
    waiting_question::RULE,
    possible_permission::RULE,
    retrying::RULE,
    retry_overdue::RULE,
    stale_busy::RULE,
    hung_tool::RULE,
    slow_tool::RULE,
    interrupted::RULE,
    unanswered_prompt::RULE,
    failed::RULE,
    parked_prompt::RULE,
    will_resume::RULE,
];

impl Rule {
    /// Asks the rule; name and offers of a finding are the table's.
    pub fn ask(&self, facts: &Facts) -> Answer {
        if self.needs_messages && !facts.knows_messages() {
            return no("its messages are not current");
        }
        let mut answer = (self.check)(facts);
        if let Answer::Yes { finding, .. } = &mut answer {
            finding.name = self.id;
            finding.offers = self.offers.to_vec();
        }
        answer
    }
}
