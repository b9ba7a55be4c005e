//! The second rung: dismiss asks, set tool parts that never ended to error.
//!
//! Invariants: a session with an open answer must have stood still for a while first; the run state
//! is read again before each part; a part is sent only as it was just read (an unknown part id would
//! be **created** by the server).

use super::{Halt, Hands, now, read};
use crate::core::id::{MessageId, PartId, SessionId};
use crate::core::plan::Step;
use crate::core::plan::repair::{RepairError, errored};
use crate::core::plan::reset::{ResetOrder, Subject};
use crate::core::plan::survey::{Survey, Surveyed};
use crate::shell::act::carry::send;
use crate::shell::act::patient;
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

/// So long a session must stand still before its parts are set: a start takes up to 1.4 s to be
/// reported, and the early idle of an abort is shorter.
const STILL: Duration = Duration::from_millis(1500);

/// What moves is run by somebody: its parts are not touched.
pub(super) async fn stand_still(
    hands: &Hands<'_>,
    subject: &Subject,
    seen: &Survey,
) -> Result<(), Halt> {
    if !seen.rows.iter().any(Surveyed::has_open_answer) {
        return Ok(());
    }
    sleep(STILL.min(hands.patience.running)).await;
    let again = read(hands, subject).await?;
    let moved = |row: &&Surveyed| {
        let now = again.rows.iter().find(|it| it.session == row.session);
        now.is_none_or(|now| now.running.is_some() || !now.stands_still_since(row))
    };
    match seen.rows.iter().find(moved) {
        None => Ok(()),
        Some(row) => Err(Halt::NoEffect(format!(
            "\"{}\" moved while it was looked at: something runs it, so nothing was changed",
            row.title
        ))),
    }
}

/// Dismisses ghosts, then sets the parts.
pub(super) async fn repair(
    hands: &Hands<'_>,
    order: &ResetOrder,
    steps: &[Step],
) -> Result<String, Halt> {
    let (parts, asks): (Vec<Step>, Vec<Step>) = steps
        .iter()
        .cloned()
        .partition(|step| matches!(step, Step::Repair { .. }));
    (hands.progress)("dismissing asks");
    // Those that are listed still are what the next survey tells.
    let trouble = send(hands.client, &asks, hands.sent).await;
    let mut set = 0;
    for step in &parts {
        let Step::Repair {
            session,
            directory,
            message,
            part,
        } = step
        else {
            continue;
        };
        (hands.progress)(&format!("setting part {} of {}", set + 1, parts.len()));
        let status = patient(|| hands.client.status(Some(directory))).await?;
        if status.items.contains_key(session) || status.skipped > 0 {
            let words = "it runs again: its parts are left alone";
            return Err(Halt::NoEffect(words.to_owned()));
        }
        if set_part(hands, order, session, message, part).await? {
            set += 1;
        }
    }
    let asks = match asks.len() {
        0 => String::new(),
        1 => "1 ask dismissed, ".to_owned(),
        many => format!("{many} asks dismissed, "),
    };
    let trouble = trouble.map_or_else(String::new, |it| format!(" ({it})"));
    Ok(match set {
        0 if parts.is_empty() && asks.is_empty() => "nothing was to be set".to_owned(),
        1 => format!("{asks}1 tool part marked as aborted{trouble}"),
        many => format!("{asks}{many} tool parts marked as aborted{trouble}"),
    })
}

/// `false`: it has ended by itself meanwhile.
async fn set_part(
    hands: &Hands<'_>,
    order: &ResetOrder,
    session: &SessionId,
    message: &MessageId,
    part: &PartId,
) -> Result<bool, Halt> {
    let failed = |why: String| Halt::Failed(format!("failed to set {part} to error: {why}"));
    let raw = patient(|| hands.client.message_raw(session, message)).await?;
    let whole: Value = serde_json::from_str(raw.get()).map_err(|why| failed(why.to_string()))?;
    let parts = whole.get("parts").and_then(Value::as_array);
    let ours = |it: &&Value| it.get("id").and_then(Value::as_str) == Some(part.as_str());
    let Some(old) = parts.and_then(|parts| parts.iter().find(ours)) else {
        return Err(failed("it is not in its message any more".to_owned()));
    };
    let new = match errored(old, now(hands, order)) {
        Ok(new) => new,
        Err(RepairError::Ended(_)) => return Ok(false),
        Err(why) => return Err(failed(why.to_string())),
    };
    let sent = hands.client.patch_part(session, message, part, new).await;
    sent.map(|()| true).map_err(|why| failed(why.to_string()))
}
