//! `failed`: the last answer ended with an error. An abort is none; an error that the server still
//! retries is not here but in `retrying`.

use super::Rule;
use super::poisoned_history::poison;
use crate::core::judge::say::{found, no};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::wire::Failure;

/// Words by which providers say that the account, not the request, is the matter.
const QUOTA_WORDS: [&str; 5] = ["quota", "billing", "insufficient", "credit", "usage limit"];

pub(super) const RULE: Rule = Rule {
    id: "failed",
    at_rest: true,
    watched: false,
    by_age: false,
    needs_messages: true,
    needs_whole: false,
    levels: "needs-you",
    meaning: "The last answer ended with an error; its words are shown.",
    offers: &[Offer::Resend, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    if facts.activity.state != ActivityState::Failed {
        return no("the last answer carries no error");
    }
    let Some(message) = facts.message() else {
        return no("no message decides");
    };
    let Some(error) = &message.error else {
        return no("the last answer carries no error");
    };
    if poison(facts).is_some() {
        return no("the prompt before met the same error: poisoned-history");
    }
    found(Level::NeedsYou, facts.activity.since, words(error))
        .with("message", &message.id)
        .with("error", &error.name)
        .with_some("status", error.status_code)
        .with_some("age_ms", facts.activity.since.map(|at| facts.now.since(at)))
        .yes()
}

fn words(error: &Failure) -> String {
    let kind = if is_login(error) {
        "the provider refuses the login (401)"
    } else if is_quota(error) {
        "quota or billing"
    } else {
        error.name.as_str()
    };
    if error.message.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind}: {}", error.message)
    }
}

/// The provider does not know the account.
pub(super) fn is_login(error: &Failure) -> bool {
    error.status_code == Some(401) || error.name == "ProviderAuthError"
}

/// The account may not go on; some providers say so with 400.
pub(super) fn is_quota(error: &Failure) -> bool {
    let message = error.message.to_lowercase();
    error.status_code == Some(402) || QUOTA_WORDS.iter().any(|word| message.contains(word))
}
