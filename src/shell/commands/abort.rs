//! `ocwatch abort`: stop what runs, verified.

use super::{agreed, client, locate_all, may_act, read_again, report, say, warn_if_asleep};
use crate::core::plan::{self, Plan};
use crate::net::client::Client;
use crate::shell::act::abort::{Patience, abort};
use crate::shell::audit::{About, Acted, Audit, Entry, recorded};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::session_ref::Purpose;
use crate::shell::snapshot::Snapshot;
use crate::tui::{Theme, safe};
use std::io::Write;

/// How an abort was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbortWish {
    /// Show the plan and change nothing.
    pub dry_run: bool,
    /// Do not ask.
    pub yes: bool,
}

/// `ocwatch abort`. Each plan is shown on stderr before it is carried out; without `yes` it is also
/// asked for on the terminal. What cannot be recorded is not done.
pub async fn abort_all(
    mut snapshot: Snapshot,
    clients: &[Client],
    sessions: &[String],
    wish: AbortWish,
    audit: &Audit,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let keys = locate_all(&mut snapshot, sessions, Purpose::Act).await?;
    let mut exit = Exit::Done;
    for key in keys {
        may_act(&snapshot, &key)?;
        let Some(plan) = plan::abort(&snapshot.app.store, &key) else {
            return Err(Trouble::Failed(format!("{} is gone", key.session)));
        };
        let plan = plan.mindful(snapshot.app.verdict(&key));
        warn_if_asleep(&snapshot, &key);
        let shown = shown(&plan, &snapshot.theme);
        if wish.dry_run {
            out.write_all(shown.as_bytes())?;
            continue;
        }
        if wish.yes {
            // As with all that is said: if nobody reads it, that is no error.
            std::io::stderr().write_all(shown.as_bytes()).ok();
        } else if !agreed(shown).await? || is_overtaken(&mut snapshot, &plan).await {
            say("left as it is", &snapshot.theme);
            exit = exit.worst(Exit::Failed);
            continue;
        }
        let client = client(clients, &key)?;
        let entry = Entry::of(&snapshot.app, &plan);
        let about = About {
            key: key.clone(),
            settle: plan.settle.clone(),
        };
        let work = async {
            let outcome = abort(client, &plan, Patience::default(), |_| {}).await;
            let after = read_again(&mut snapshot, &about).await;
            Acted { outcome, after }
        };
        let done = recorded(audit, entry, work).await;
        exit = exit.worst(report(out, &snapshot, &key, "abort", &done)?);
    }
    Ok(exit)
}

/// A person may take long to agree: what began meanwhile is not what was agreed to.
async fn is_overtaken(snapshot: &mut Snapshot, plan: &Plan) -> bool {
    let about = About {
        key: plan.key.clone(),
        settle: plan.settle.clone(),
    };
    read_again(snapshot, &about).await;
    let now = plan::abort(&snapshot.app.store, &plan.key);
    let overtaken = now.is_some_and(|it| plan.is_overtaken_by(&it));
    if overtaken {
        let text = "a new prompt came since it was looked at";
        say(text, &snapshot.theme);
    }
    overtaken
}

/// What will be done and lost: said before it is done, whoever agreed to it.
fn shown(plan: &Plan, theme: &Theme) -> String {
    let mut text = format!("Abort \"{}\"\n", safe(&plan.title, theme));
    for line in &plan.lines {
        text.extend(["  ", &safe(line, theme), "\n"]);
    }
    text
}
