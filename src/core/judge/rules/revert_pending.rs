//! `revert-pending`: messages were taken back: they are hidden from the model, and the next prompt
//! deletes them. That may be meant (an undo before a new prompt), so it is only watched. What looks
//! the same: a session that runs again, one whose revert was taken back.

use super::Rule;
use crate::core::judge::say::{found, no};
use crate::core::judge::{Answer, Facts, Level, Offer};

pub(super) const RULE: Rule = Rule {
    id: "revert-pending",
    at_rest: true,
    watched: false,
    by_age: false,
    needs_messages: false,
    needs_whole: false,
    levels: "watch",
    meaning: "Messages were taken back: hidden from the model, and deleted by the next prompt.",
    offers: &[Offer::Unrevert, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    if !facts.session.info.reverted {
        return no("no revert is set");
    }
    let since = facts.session.info.updated;
    let text = "messages are taken back; the next prompt deletes them".to_owned();
    found(Level::Watch, Some(since), text)
        .with("reverted", true)
        .with("age_ms", facts.now.since(since))
        .yes()
}
