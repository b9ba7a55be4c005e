//! `ocwatch reset`: the ladder, shown first, verified, and one session at a time.

use super::{
    agreed, client, locate, may_act, read_again, read_session, report, say, warn_if_asleep,
};
use crate::core::app::Outcome;
use crate::core::id::SessionKey;
use crate::core::plan;
use crate::core::plan::reset::{
    Cause, Consent, Ladder, Next, ResetOrder, Subject, Tried, cause, ladder,
};
use crate::net::client::Client;
use crate::shell::act::abort::Patience;
use crate::shell::act::reset::{Hands, reset as climb};
use crate::shell::act::survey::survey;
use crate::shell::audit::{About, Acted, Audit, Entry, Recorded, recorded};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::session_ref::Purpose;
use crate::shell::snapshot::Snapshot;
use crate::tui::{Theme, safe};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

/// How a reset was asked for.
#[derive(Debug, Clone, Default)]
pub struct ResetWish {
    /// Show the plan and change nothing.
    pub dry_run: bool,
    /// Do not ask.
    pub yes: bool,
    /// Rungs that are agreed to beforehand.
    pub allow: Vec<Consent>,
    /// Where exports go.
    pub export_dir: PathBuf,
}

/// `ocwatch reset`.
pub async fn reset(
    mut snapshot: Snapshot,
    clients: &[Client],
    session: &str,
    wish: &ResetWish,
    audit: &Audit,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let key = locate(&mut snapshot, session, Purpose::Act).await?;
    may_act(&snapshot, &key)?;
    let client = client(clients, &key)?;
    if snapshot.app.store.session(&key).is_some() {
        read_session(&mut snapshot, &key).await;
    } else {
        warn_if_asleep(&snapshot, &key);
    }
    let subject = subject(&snapshot, &key)?;
    let mut order = order(&snapshot, &key, &subject, &wish.allow);
    let first = first_look(&snapshot, client, &subject, &order, wish).await?;
    order.premise = Some(first.premise.clone());
    let text = plan_text(&first, &order, &subject, &snapshot.theme);
    if wish.dry_run {
        out.write_all(text.as_bytes())?;
        return Ok(Exit::Done);
    }
    if let Some(outcome) = nothing_to_do(&first) {
        let done = Recorded {
            outcome,
            warning: None,
        };
        return report(out, &snapshot, &key, "reset", &done);
    }
    // As with all that is said: if nobody reads it, that is no error.
    if wish.yes {
        std::io::stderr().write_all(text.as_bytes()).ok();
    } else if agreed(text).await? {
        order.allowed.extend(first.needs());
    } else {
        say("left as it is", &snapshot.theme);
        return Ok(Exit::Failed);
    }
    let about = About::of_reset(&key, &subject);
    let mut entry = Entry::of_reset(&snapshot.app, &subject, &order);
    entry.plan.extend(first.lines);
    let mut asked = Ok(());
    let work = async {
        let climbed = up(&snapshot, client, &subject, order, wish).await;
        let outcome = climbed.unwrap_or_else(|why| {
            let outcome = Outcome::Failed(why.to_string());
            asked = Err(why);
            outcome
        });
        let after = read_again(&mut snapshot, &about).await;
        Acted { outcome, after }
    };
    let done = recorded(audit, entry, work).await;
    asked?;
    report(out, &snapshot, &key, "reset", &done)
}

async fn first_look(
    snapshot: &Snapshot,
    client: &Client,
    subject: &Subject,
    order: &ResetOrder,
    wish: &ResetWish,
) -> Result<Ladder, Trouble> {
    let session = &subject.session;
    let unread = |why| Trouble::Failed(format!("failed to read {session}: {why}"));
    let seen = survey(client, subject).await.map_err(unread)?;
    let export_dir = wish.export_dir.display().to_string();
    let now = (snapshot.clock)() + order.skew;
    Ok(ladder(&seen, order, &export_dir, now))
}

/// The plan, and what it takes beside a yes.
fn plan_text(first: &Ladder, order: &ResetOrder, subject: &Subject, theme: &Theme) -> String {
    let mut shown = first.lines.clone();
    if let Some(need) = first.needs().filter(|it| !order.allowed.contains(it)) {
        let word = need.word();
        shown.push(format!(
            "this needs --allow {word}, or your yes on a terminal"
        ));
    }
    told(&subject.title, &shown, theme)
}

fn nothing_to_do(ladder: &Ladder) -> Option<Outcome> {
    match &ladder.first {
        Next::Climb(_) => None,
        Next::Well(why) => Some(Outcome::Done(format!("nothing to repair: {why}"))),
        Next::Stuck(why) => Some(Outcome::NoEffect(why.clone())),
    }
}

/// Climbs; a rung that hits more than the session is asked for again.
async fn up(
    snapshot: &Snapshot,
    client: &Client,
    subject: &Subject,
    mut order: ResetOrder,
    wish: &ResetWish,
) -> Result<Outcome, Trouble> {
    loop {
        let progress = |what: &str| say(what, &snapshot.theme);
        let hands = Hands {
            client,
            export_dir: &wish.export_dir,
            patience: Patience::default(),
            clock: &snapshot.clock,
            progress: &progress,
            sent: &|_| {},
        };
        let climbed = climb(&hands, subject, &order).await;
        let Some(rung) = climbed.wanting else {
            return Ok(climbed.outcome);
        };
        let Some(need) = rung.needs.filter(|_| !wish.yes) else {
            return Ok(unallowed(climbed.outcome, rung.needs));
        };
        if let Outcome::NoEffect(text) = &climbed.outcome {
            say(text, &snapshot.theme);
        }
        if !agreed(told(&subject.title, &rung.lines, &snapshot.theme)).await? {
            return Ok(climbed.outcome);
        }
        order.tried = climbed.tried;
        order.allowed.insert(need);
    }
}

fn unallowed(outcome: Outcome, need: Option<Consent>) -> Outcome {
    match (outcome, need) {
        (Outcome::NoEffect(text), Some(need)) => {
            Outcome::NoEffect(format!("{text}; --allow {} does it", need.word()))
        }
        (other, _) => other,
    }
}

fn order(
    snapshot: &Snapshot,
    key: &SessionKey,
    subject: &Subject,
    allow: &[Consent],
) -> ResetOrder {
    let server = snapshot.app.store.server(key.server);
    ResetOrder {
        key: key.clone(),
        title: subject.title.clone(),
        cause: cause_of(snapshot, key, subject),
        allowed: allow.iter().copied().collect::<BTreeSet<_>>(),
        tried: Tried::default(),
        premise: None,
        skew: server.map(|it| it.skew).unwrap_or_default(),
    }
}

fn cause_of(snapshot: &Snapshot, key: &SessionKey, subject: &Subject) -> Cause {
    let app = &snapshot.app;
    let below = subject.known_below.iter();
    let below = below.map(|id| SessionKey::new(key.server, id.clone()));
    let below = below.filter_map(|key| app.verdict(&key));
    app.verdict(key)
        .map_or_else(Cause::default, |it| cause(it, below))
}

/// Whom to survey: as the store knows it.
fn subject(snapshot: &Snapshot, key: &SessionKey) -> Result<Subject, Trouble> {
    let known = plan::reset::subject(&snapshot.app.store, key);
    known.ok_or_else(|| Trouble::Failed(format!("{} is gone", key.session)))
}

/// What will be done and lost, numbered.
fn told(title: &str, lines: &[String], theme: &Theme) -> String {
    let mut text = format!("Reset \"{}\"\n", safe(title, theme));
    for (line, number) in lines.iter().zip(1..) {
        text.extend([&format!("  {number} "), &*safe(line, theme), "\n"]);
    }
    text
}
