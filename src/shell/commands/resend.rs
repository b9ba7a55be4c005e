//! `ocwatch resend`: a prompt again, or "go on", once and verified.

use super::read::read_session;
use super::{agreed, client, locate, may_act, read_again, report, say};
use crate::core::app::Outcome;
use crate::core::id::{MessageId, SessionId, SessionKey};
use crate::core::judge::Verdict;
use crate::core::plan::{self, Draft, Plan, Refused, Resend, Step};
use crate::core::present::{clean, quote};
use crate::core::time::UnixMs;
use crate::core::wire::{ModelRef, WholePrompt};
use crate::net::client::Client;
use crate::shell::act::resend::{Looking, resend};
use crate::shell::audit::{About, Acted, Audit, Entry, recorded};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::session_ref::Purpose;
use crate::shell::snapshot::Snapshot;
use crate::tui::{Theme, safe};
use std::io::Write;

/// So many lines of the text are shown before it is sent.
const SHOWN: usize = 200;

/// What the user said.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The session, as it was named.
    pub session: &'a str,
    /// A text instead of what the session suggests.
    pub text: Option<&'a str>,
    /// The model to answer.
    pub model: Option<&'a ModelRef>,
    /// The person says that no other OpenCode on this data writes its last answer.
    pub alone: bool,
    /// Do not ask.
    pub yes: bool,
    /// Only show.
    pub dry_run: bool,
}

/// `ocwatch resend`. Text, model and what comes of it are shown on stderr before anything is sent; of
/// a dry run they are the result.
pub async fn resend_one(
    mut snapshot: Snapshot,
    clients: &[Client],
    wish: Wish<'_>,
    audit: &Audit,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let key = locate(&mut snapshot, wish.session, Purpose::Act).await?;
    may_act(&snapshot, &key)?;
    read_session(&mut snapshot, &key).await;
    let client = client(clients, &key)?;
    let plan = planned(&snapshot, client, &key, wish).await?;
    let shown = shown(&plan, &snapshot.theme);
    if wish.dry_run {
        out.write_all(shown.as_bytes())?;
        return Ok(Exit::Done);
    }
    if wish.yes {
        // As with all that is said: if nobody reads it, that is no error.
        std::io::stderr().write_all(shown.as_bytes()).ok();
    } else if !agreed(shown).await? {
        say("left as it is", &snapshot.theme);
        return Ok(Exit::Failed);
    }
    let entry = Entry::of(&snapshot.app, &plan);
    let about = About {
        key: key.clone(),
        settle: plan.settle.clone(),
    };
    let work = async {
        let outcome = send(&mut snapshot, client, &plan).await;
        let after = read_again(&mut snapshot, &about).await;
        Acted { outcome, after }
    };
    let done = recorded(audit, entry, work).await;
    report(out, &snapshot, &key, "resend", &done)
}

async fn planned(
    snapshot: &Snapshot,
    client: &Client,
    key: &SessionKey,
    wish: Wish<'_>,
) -> Result<Plan, Trouble> {
    let store = &snapshot.app.store;
    let gone = || Trouble::Failed(format!("{} is gone", clean(key.session.as_str())));
    let verdict: &Verdict = snapshot.app.verdict(key).ok_or_else(gone)?;
    let session = store.session(key).ok_or_else(gone)?;
    let refuse = |why: Refused| refused(key, &why);
    // Without them it goes on: the prompt is looked for in any case.
    let models = client.models(&session.info.directory).await.ok();
    let draft = plan::draft(store, verdict, models.as_deref(), wish.alone).map_err(refuse)?;
    let prompt = match &draft {
        Draft::Again(message) if wish.text.is_none() => {
            Some(whole(client, &key.session, message).await?)
        }
        _ => None,
    };
    let what = Resend {
        prompt: prompt.as_ref(),
        text: wish.text,
        model: wish.model,
        known: models.as_deref(),
        alone: wish.alone,
    };
    plan::resend(store, verdict, &what).map_err(refuse)
}

async fn whole(
    client: &Client,
    session: &SessionId,
    message: &MessageId,
) -> Result<WholePrompt, Trouble> {
    let read = client.whole_prompt(session, message).await;
    let failed = |why| Trouble::Failed(format!("failed to read its prompt: {why}"));
    read.map_err(failed)
}

/// With the option that helps.
fn refused(key: &SessionKey, why: &Refused) -> Trouble {
    let hint = match why {
        Refused::Now(_) => "",
        Refused::Doubt(_) => " (--allow elsewhere, if you know that none does)",
        Refused::Text(_) => " (--text TEXT sends a text of your own)",
        Refused::Model(_) => " (--model PROVIDER/MODEL)",
    };
    let text = format!("{}: not sent: {}{hint}", key.session, why.words());
    Trouble::Failed(clean(&text))
}

/// What is sent, and what comes of it: said before it is sent, whoever agreed to it.
fn shown(plan: &Plan, theme: &Theme) -> String {
    let mut text = format!("Resend \"{}\"\n", safe(&plan.title, theme));
    for line in &plan.lines {
        text.extend(["  ", &safe(line, theme), "\n"]);
    }
    for step in &plan.steps {
        if let Step::Prompt { text: sent, .. } = step {
            for line in quote(sent, SHOWN) {
                text.extend(["  > ", &safe(&line, theme), "\n"]);
            }
        }
    }
    text
}

/// Goes on listening while it is sent: a server that takes a prompt and drops it says why in an event
/// only.
async fn send(snapshot: &mut Snapshot, client: &Client, plan: &Plan) -> Outcome {
    let begun = (snapshot.clock)();
    let end = snapshot.deadline;
    let mut work = std::pin::pin!(resend(client, plan, Looking::default()));
    let outcome = tokio::select! {
        outcome = &mut work => outcome,
        _ = snapshot.until(end, |_| false) => work.await,
    };
    match (outcome, heard(snapshot, &plan.key, begun)) {
        (Outcome::NoEffect(text), Some(why)) => Outcome::NoEffect(format!("{text}: {why}")),
        (outcome, _) => outcome,
    }
}

fn heard(snapshot: &Snapshot, key: &SessionKey, since: UnixMs) -> Option<String> {
    let session = snapshot.app.store.session(key)?;
    let error = session.watch.error.as_ref().filter(|it| it.at >= since)?;
    Some(format!("{}: {}", error.failure.name, error.failure.message))
}
