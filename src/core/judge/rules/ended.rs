//! What findings about the end of a turn share: the answer that ended, in a session where nothing
//! runs. A copy that a fork made did not end here, nor does one count that another watched server
//! on the same data has seen go on.

use crate::core::judge::elsewhere::knows_better;
use crate::core::judge::{ActivityState, Facts};
use crate::core::wire::Message;
use std::borrow::Cow;

/// The last answer, if it ended as `state` says, or why there is none.
pub(super) fn answer<'a>(
    facts: &Facts<'a>,
    state: ActivityState,
) -> Result<&'a Message, Cow<'static, str>> {
    if !facts.is_idle() {
        return Err("not reported idle".into());
    }
    let ended = facts.message().filter(|_| facts.activity.state == state);
    let Some(message) = ended else {
        return Err("the last answer did not end so".into());
    };
    if facts.is_copy(message) {
        return Err("copied by a fork: it never ran in this session".into());
    }
    // depends on: the same session on other servers.
    match knows_better(facts, message) {
        Some(why) => Err(why),
        None => Ok(message),
    }
}
