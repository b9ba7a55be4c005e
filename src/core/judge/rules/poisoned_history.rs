//! `poisoned-history`: two prompts in a row were refused with the same error about the request:
//! something in the history is not accepted, and every further prompt sends it again.
//!
//! What looks the same: one such error, or two that differ, with an answer between them; errors
//! about the login, money or patience, which are not the history's fault. All of these are `failed`.

use super::Rule;
use super::failed::{is_login, is_quota};
use crate::core::judge::say::{found, no};
use crate::core::judge::tools::is_shell;
use crate::core::judge::{Answer, Facts, Level, Offer};
use crate::core::store::Tail;
use crate::core::wire::{Failure, Message};

/// Statuses of the provider that a request is refused with whatever it holds: login, money,
/// patience.
const NOT_THE_REQUEST: [u16; 5] = [401, 402, 403, 408, 429];

pub(super) const RULE: Rule = Rule {
    id: "poisoned-history",
    at_rest: true,
    watched: false,
    by_age: false,
    needs_messages: true,
    needs_whole: false,
    levels: "stuck",
    meaning: "The provider refuses the history itself: two prompts in a row met the same error.",
    offers: &[Offer::Fork, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    let Some(poison) = poison(facts) else {
        return no("no two prompts in a row were refused with the same request error");
    };
    let Poison { last, first, error } = poison;
    let status = error.status_code.unwrap_or_default();
    let text = format!("refused twice with {status}: {}", error.message);
    found(Level::Stuck, facts.activity.since, text)
        .with("message", &last.id)
        .with("first", &first.id)
        .with("error", &error.name)
        .with("status", status)
        .with("said", &error.message)
        .with_some("age_ms", facts.activity.since.map(|at| facts.now.since(at)))
        .yes()
}

/// Two answers that were refused alike.
pub(super) struct Poison<'a> {
    last: &'a Message,
    first: &'a Message,
    error: &'a Failure,
}

/// The last answer and the one to the prompt before, if both met the same request error.
pub(super) fn poison<'a>(facts: &Facts<'a>) -> Option<Poison<'a>> {
    let last = facts.message()?;
    let error = last.error.as_ref().filter(|it| is_of_the_request(it))?;
    let first = answer_before(&facts.session.tail, last)?;
    let same = first.error.as_ref() == Some(error);
    same.then_some(Poison { last, first, error })
}

/// The last answer to the prompt before. A `!shell` command is not sent to the provider.
fn answer_before<'a>(tail: &'a Tail, last: &Message) -> Option<&'a Message> {
    let older = tail.messages.iter().rev().skip_while(|m| m.id != last.id);
    let mut older = older.skip_while(|m| !m.is_user());
    older.find(|m| m.is_assistant() && !is_shell(tail, m))
}

fn is_of_the_request(error: &Failure) -> bool {
    let refused = |status: u16| (400..500).contains(&status) && !NOT_THE_REQUEST.contains(&status);
    error.status_code.is_some_and(refused) && !is_login(error) && !is_quota(error)
}
