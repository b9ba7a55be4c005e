//! The last rung: a copy without the broken turn.

use super::repair::repair;
use super::{Halt, Hands, now, read};
use crate::core::plan::Step;
use crate::core::plan::reset::{Cause, Next, ResetOrder, Rung, Subject, Tried, next};

/// A copy without the broken turn; what is open in it is set as well.
pub(super) async fn fork(
    hands: &Hands<'_>,
    subject: &Subject,
    order: &ResetOrder,
    rung: &Rung,
) -> Result<String, Halt> {
    let Some(Step::Fork { session, before }) = rung.steps.first() else {
        return Err(Halt::Failed("there is nothing to fork".to_owned()));
    };
    let made = hands.client.fork(session, before.as_ref()).await;
    let made = made.map_err(|why| Halt::Failed(format!("the fork failed: {why}")))?;
    let copy = Subject {
        session: made.id.clone(),
        directory: subject.directory.clone(),
        title: made.title.clone(),
        known_below: Vec::new(),
        known_asks: Vec::new(),
    };
    // A copy runs nowhere, whatever it copied.
    let cause = Cause {
        certain: [made.id.clone()].into(),
        ..Cause::default()
    };
    let told = format!("forked to {} \"{}\"", made.id, made.title);
    let seen = read(hands, &copy).await?;
    if let Next::Climb(rung) = next(&seen, &cause, &Tried::default(), now(hands, order)) {
        let words = repair(hands, order, &rung.steps).await?;
        let seen = read(hands, &copy).await?;
        return match next(&seen, &cause, &Tried::default(), now(hands, order)) {
            Next::Well(why) => Ok(format!("{told}: {words}; {why}")),
            _ => Err(Halt::NoEffect(format!("{told}, but it is not well either"))),
        };
    }
    Ok(format!("{told}: the next prompt there goes on"))
}
