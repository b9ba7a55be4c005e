//! The rules: one file for each finding, one line for each file in [`RULES`].
//!
//! What it does: hold the table and ask a rule. What it does not: decide between findings, let
//! them age, or hand them to ancestors (`one.rs`, `rest.rs`, `family.rs`). A new rule is a new
//! file with `pub(super) const RULE` and one line in the table.
//!
//! Invariants: a rule is pure; a rule that says `No` without a time can only change its answer by
//! new input; `Settles`, `Later` and `Yes` name every moment at which time alone changes them.

mod abort_ignored;
mod child_orphan;
mod compaction_loop;
mod compaction_slow;
mod cut_short;
mod double_run;
mod ended;
mod failed;
mod ghost_ask;
mod hung_tool;
mod interrupted;
mod lost_ask;
mod lost_subagent_result;
mod mass_abort;
mod never_started;
mod parked_prompt;
mod poisoned_history;
mod possible_permission;
mod retry_far;
mod retry_overdue;
mod retrying;
mod revert_pending;
mod runaway;
mod running;
mod running_elsewhere;
mod silence;
mod silent_stop;
mod silent_stream;
mod slow_tool;
mod stale_busy;
mod stalled_arguments;
mod stalled_between_steps;
mod stalled_start;
mod unanswered_prompt;
mod waiting;
mod waiting_permission;
mod waiting_question;
mod will_resume;

pub(super) use mass_abort::aborted_at;
pub(super) use possible_permission::{is_broken, may_be_meant};
pub(super) use silent_stream::NOT_WATCHED;

use crate::core::judge::facts::Facts;
use crate::core::judge::say::{no, settles};
use crate::core::judge::{Answer, Offer};
use crate::core::time::UnixMs;

/// A named way in which a session can need a person.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent traits of a rule; each is one column of the table"
)]
pub struct Rule {
    /// The finding's name, as in `status --json`.
    pub id: &'static str,
    /// About a past event in a session where nothing runs: its level falls with time (R).
    pub at_rest: bool,
    /// Claims something only where our own watching saw it (W).
    pub watched: bool,
    /// Rests on how long something has lasted: after a clock jumped it settles anew.
    pub by_age: bool,
    /// Rests on messages; not asked while they are not known.
    pub needs_messages: bool,
    /// Rests on something not being there (a word, a part, an answer): not asked while some of the
    /// newest messages or parts could not be read.
    pub needs_whole: bool,
    /// Which levels it gives, in words.
    pub levels: &'static str,
    /// One sentence for the README.
    pub meaning: &'static str,
    /// What a person can do. A rule may set its own for one finding.
    pub offers: &'static [Offer],
    /// The rule itself.
    pub check: fn(&Facts) -> Answer,
}

/// Every rule, in the order of reasoning: asks, retries, running, idle.
pub static RULES: &[Rule] = &[
    waiting_permission::RULE,
    waiting_question::RULE,
    possible_permission::RULE,
    ghost_ask::RULE,
    lost_ask::RULE,
    retrying::RULE,
    retry_far::RULE,
    retry_overdue::RULE,
    abort_ignored::RULE,
    double_run::RULE,
    runaway::RULE,
    compaction_loop::RULE,
    stale_busy::RULE,
    hung_tool::RULE,
    slow_tool::RULE,
    silent_stream::RULE,
    stalled_start::RULE,
    stalled_arguments::RULE,
    stalled_between_steps::RULE,
    compaction_slow::RULE,
    lost_subagent_result::RULE,
    child_orphan::RULE,
    running_elsewhere::RULE,
    interrupted::RULE,
    unanswered_prompt::RULE,
    never_started::RULE,
    poisoned_history::RULE,
    failed::RULE,
    cut_short::RULE,
    silent_stop::RULE,
    mass_abort::RULE,
    revert_pending::RULE,
    parked_prompt::RULE,
    will_resume::RULE,
];

impl Rule {
    /// Asks the rule; the name of a finding is the table's, and so are its offers where the rule
    /// set none of its own.
    pub fn ask(&self, facts: &Facts) -> Answer {
        if self.needs_messages && !facts.knows_messages() {
            return no("its messages are not current");
        }
        if self.needs_whole && facts.missing() > 0 {
            return no("some of its newest messages or parts could not be read");
        }
        let mut answer = match facts.trusted_at().filter(|_| self.by_age) {
            Some(trusted) => not_before(trusted, (self.check)(&facts.as_of(trusted))),
            None => (self.check)(facts),
        };
        if let Answer::Yes { finding, .. } = &mut answer {
            finding.name = self.id;
            if finding.offers.is_empty() {
                finding.offers = self.offers.to_vec();
            }
        }
        answer
    }
}

/// After a clock jump: what an age will say once ages are trusted is not said before.
fn not_before(trusted: UnixMs, answer: Answer) -> Answer {
    let why = "a clock has jumped: ages are not trusted yet";
    match answer {
        Answer::Yes { finding, .. } => settles(finding.level, trusted, why),
        Answer::Settles { level, at, why } => settles(level, at.max(trusted), why),
        other => other,
    }
}
