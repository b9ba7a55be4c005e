//! What forbids a prompt: a run, an ask, doubt about who runs it, an error that would come again.
//!
//! What it does: answer each with why not, in words. What it does not: choose the text.

use super::{Refused, Resend, answered_last, has};
use crate::core::judge::{ActivityState, Offer, Verdict};
use crate::core::store::{Reported, Server, Session, Why};
use crate::core::time::Span;
use crate::core::wire::{Failure, ModelRef};

/// A clock difference that is taken as none.
const SAME_TIME: Span = Span::secs(2);
/// So many other models are named when one does not exist.
const NAMED: usize = 5;

/// What forbids every prompt: a run, an ask, doubt about who runs it.
pub(super) fn may_send(
    server: &Server,
    session: &Session,
    verdict: &Verdict,
    known: Option<&[ModelRef]>,
    alone: bool,
) -> Result<(), Refused> {
    let no = |words: &str| Err(Refused::Now(words.to_owned()));
    if server.pending(session).next().is_some() {
        return no("it waits for an answer: answer or reject what it asks first");
    }
    match &verdict.reported {
        Reported::Idle => {}
        Reported::Busy | Reported::Retry(_) => {
            return Err(Refused::Now(format!(
                "it is reported {}: a prompt would only be queued behind the run; wait, or abort it first",
                verdict.reported.word()
            )));
        }
        Reported::Other(name) => return Err(Refused::Now(format!("it is reported {name}"))),
        Reported::Unknown(Why::NotAsked) => return no("its project is asleep: load it first"),
        Reported::Unknown(Why::DirectoryGone) => return no("its folder no longer exists"),
        Reported::Unknown(_) => return no("it is not known whether it runs"),
    }
    if session.watch.abort_sent_at.is_some() {
        return no("an abort has not settled yet");
    }
    if session.tail.failed.is_some() {
        return no("its messages could not be read");
    }
    if !session.tail.is_read() {
        return no("its messages are not read yet");
    }
    if session.tail.missing > 0 {
        return no("some of its newest messages could not be read");
    }
    if has(verdict, "running-elsewhere") {
        return no("another OpenCode on this data works on it");
    }
    if !alone {
        may_be_cut_off(session, verdict)?;
    }
    if verdict.activity.state == ActivityState::Unanswered
        && (verdict.settling.as_ref()).is_some_and(|it| it.name == "unanswered-prompt")
        && trouble(server, session, verdict).is_none()
        && !own_model(session).is_some_and(|own| is_missing(own, known))
    {
        return no("its prompt is only seconds old: an answer may still begin");
    }
    Ok(())
}

/// An answer that is open although nothing is reported to run: only where it surely ended.
fn may_be_cut_off(session: &Session, verdict: &Verdict) -> Result<(), Refused> {
    let activity = &verdict.activity;
    let message = activity.message.as_ref();
    let message = message.and_then(|id| session.tail.message(id));
    let copied = message.is_some_and(|it| it.created < session.info.created);
    if !activity.state.is_working() || copied {
        return Ok(());
    }
    let found = verdict.findings.iter().find(|it| it.name == "interrupted");
    match found {
        Some(found) if found.offers.contains(&Offer::Resend) => Ok(()),
        Some(_) => Err(Refused::Doubt(
            "its last answer is open, and may be written by another OpenCode on this data".into(),
        )),
        None => Err(Refused::Doubt(
            "its last answer is open and it is not certain yet that it was cut off: wait".into(),
        )),
    }
}

/// The error that the newest prompt met: its answer carries it, or it was heard and there is none.
pub(super) fn trouble<'a>(
    server: &Server,
    session: &'a Session,
    verdict: &Verdict,
) -> Option<&'a Failure> {
    let heard = session.watch.error.as_ref();
    let heard = heard.filter(|it| !it.failure.is_abort());
    if has(verdict, "never-started") {
        return heard.map(|it| &it.failure);
    }
    let prompt = session.tail.last_user()?;
    let answers = session.tail.messages.iter().rev();
    let mut answers = answers.filter(|m| m.parent.as_ref() == Some(&prompt.id));
    match answers.next() {
        Some(answer) => answer.error.as_ref().filter(|it| !it.is_abort()),
        None => heard
            .filter(|it| server.server_time(it.at) + SAME_TIME >= prompt.created)
            .map(|it| &it.failure),
    }
}

/// The session's own model: a prompt without one takes that of the prompt before.
pub(super) fn own_model(session: &Session) -> Option<&ModelRef> {
    let prompt = session.tail.last_user();
    let of_prompt = prompt.and_then(|prompt| prompt.model.as_ref());
    of_prompt.or(session.info.model.as_ref())
}

/// After a model that does not exist one must be named: the session keeps the bad one.
pub(super) fn model(
    session: &Session,
    error: Option<&Failure>,
    what: &Resend,
) -> Result<Option<ModelRef>, Refused> {
    let own = own_model(session);
    let known = what.known;
    if let Some(named) = what.model {
        if is_missing(named, known) {
            let words = format!(
                "the server has no model {named}{}",
                others(known, Some(named))
            );
            return Err(Refused::Model(words));
        }
        return Ok(Some(named.clone()));
    }
    let refused = known.is_none() && error.is_some_and(is_unknown_model);
    if refused || own.is_some_and(|own| is_missing(own, known)) {
        let name = own.map_or_else(|| "its model".to_owned(), |own| format!("its model {own}"));
        let good = answered_last(session).filter(|good| Some(*good) != own);
        let hint = match good {
            Some(good) => format!("; {good} answered here before"),
            None => others(known, own),
        };
        return Err(Refused::Model(format!(
            "the server does not know {name}, and the session keeps it: another must be named{hint}"
        )));
    }
    Ok(None)
}

/// The server told its models, and this is none of them.
fn is_missing(model: &ModelRef, known: Option<&[ModelRef]>) -> bool {
    known.is_some_and(|known| !known.is_empty() && !known.contains(model))
}

/// Those of the same provider first: there the login is known to be, and the name was mistyped.
fn others(known: Option<&[ModelRef]>, instead_of: Option<&ModelRef>) -> String {
    let mut known: Vec<&ModelRef> = known.unwrap_or_default().iter().collect();
    known.sort_by_key(|it| instead_of.is_some_and(|bad| bad.provider != it.provider));
    let names: Vec<String> = known.iter().take(NAMED).map(ToString::to_string).collect();
    match (names.is_empty(), known.len().saturating_sub(NAMED)) {
        (true, _) => String::new(),
        (_, 0) => format!("; it has {}", names.join(", ")),
        (_, more) => format!("; it has {} and {more} more", names.join(", ")),
    }
}

/// OpenCode's words for it (1.18.33): `Model not found: provider/model.`, then a stack trace.
fn is_unknown_model(error: &Failure) -> bool {
    error.message.contains("Model not found") || error.message.contains("ModelNotFound")
}

/// After what the provider refused, the same again would meet the same.
pub(super) fn may_ask_again(
    session: &Session,
    verdict: &Verdict,
    error: &Failure,
    what: &Resend,
) -> Result<(), Refused> {
    let own = own_model(session);
    let other_model = what.model.is_some_and(|named| Some(named) != own);
    let provider = |model: Option<&ModelRef>| model.map(|it| it.provider.clone());
    let other_provider = what.model.is_some() && provider(what.model) != provider(own);
    let code = error.status_code;
    let login = matches!(code, Some(401 | 403)) || error.name == "ProviderAuthError";
    if login && !other_provider {
        return Err(Refused::Model(
            "the provider refused the login: log in again and go on in OpenCode, or name a model of another provider"
                .to_owned(),
        ));
    }
    if has(verdict, "poisoned-history") && !other_model {
        return Err(Refused::Model(
            "the provider refuses the history itself: fork before the bad turn, or name another model"
                .to_owned(),
        ));
    }
    match code.filter(|code| (400..500).contains(code)) {
        Some(code) if what.text.is_none() && !other_model => Err(Refused::Text(format!(
            "the provider refused this request ({code}), and would again: change the text or the model"
        ))),
        _ => Ok(()),
    }
}
