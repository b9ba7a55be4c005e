//! What an ask holds up: a live part, or nothing any more.
//!
//! What it does: say which asks stand, follow an ask to its tool call, as far as the messages are known. What it does
//! not: look at the reported status, or call anything good or bad. An ask whose call has ended is
//! a ghost: an abort leaves it on the server's list.

use crate::core::id::MessageId;
use crate::core::judge::Facts;
use crate::core::judge::activity::newest_time;
use crate::core::store::{PendingAsk, Reported, Server, Session, Tail};
use crate::core::time::UnixMs;
use crate::core::wire::{Message, Part, ToolState};

/// Asks that stand as far as we know: seen in this connection, or not asked again since an older
/// one. What a restart forgot is gone once the lists were read. In the order of their ids, which
/// is that of their creation.
pub fn standing_asks<'a>(server: &Server, session: &'a Session) -> Vec<&'a PendingAsk> {
    if session.asks.is_empty() {
        return Vec::new();
    }
    let view = server.directories.get(&session.info.directory);
    let unasked = |kind| view.is_none_or(|view| !view.has_read(kind));
    let asks = session.asks.iter();
    let asks = asks.filter(|it| it.epoch == server.epoch || unasked(it.ask.kind));
    let mut asks: Vec<_> = asks.collect();
    asks.sort_by(|a, b| a.ask.id.cmp(&b.ask.id));
    asks
}

/// Whether an ask holds up this part of this message.
pub fn holds_up(pending: &PendingAsk, message: &Message, part: &Part) -> bool {
    let call = part.tool().and_then(|tool| tool.call.as_ref());
    let tool = pending.ask.tool.as_ref();
    tool.is_some_and(|tool| tool.message == message.id && Some(&tool.call) == call)
}

/// What an ask holds up.
pub(super) enum Held<'a> {
    /// A live part.
    Live(&'a Part),
    /// It names no tool call, or one that is not known (yet).
    Unseen,
    /// The call has ended: a ghost.
    Ended {
        /// When, at the latest; server's clock.
        at: UnixMs,
        /// The call's part, if it is there.
        part: Option<&'a Part>,
    },
}

/// What an ask holds up, as far as the messages are known.
pub(super) fn held_by<'a>(facts: &Facts<'a>, pending: &PendingAsk) -> Held<'a> {
    let tail = &facts.session.tail;
    let known = pending.ask.tool.as_ref().filter(|_| facts.knows_messages());
    let Some(tool) = known else {
        return Held::Unseen;
    };
    let Some(message) = tail.message(&tool.message) else {
        return outside(tail, &tool.message);
    };
    let newer = tail.last_assistant().filter(|m| m.id != message.id);
    let mut parts = message.parts.iter();
    match parts.find(|part| holds_up(pending, message, part)) {
        Some(part) if newer.is_none() && !has_ended(part) => Held::Live(part),
        None if message.completed.is_none() || facts.missing() > 0 => Held::Unseen,
        part => Held::Ended {
            at: part
                .and_then(|part| part.tool()?.end)
                .or(message.completed)
                .or(newer.map(|m| m.created))
                .unwrap_or_else(|| newest_time(message)),
            part,
        },
    }
}

/// A message that is not among those known: one of an older turn, which is over, or one that is
/// still to come. The server's ids ascend.
fn outside<'a>(tail: &Tail, id: &MessageId) -> Held<'a> {
    let mut answers = tail.messages.iter().filter(|m| m.is_assistant());
    match answers.next() {
        Some(oldest) if *id < oldest.id => Held::Ended {
            at: oldest.created,
            part: None,
        },
        _ => Held::Unseen,
    }
}

/// A state that we do not know is no end.
fn has_ended(part: &Part) -> bool {
    let mut tool = part.tool().into_iter();
    tool.any(|tool| matches!(tool.state, ToolState::Completed | ToolState::Error))
}

/// Nobody waits for the answer to this ask: its call is seen to have ended, or its session is
/// reported idle. Without regard to how long it has been so, which is what `ghost-ask` waits for.
pub fn is_left_behind(server: &Server, session: &Session, pending: &PendingAsk) -> bool {
    matches!(server.reported(session), Reported::Idle) || is_call_over(session, pending)
}

fn is_call_over(session: &Session, pending: &PendingAsk) -> bool {
    let tool = pending.ask.tool.as_ref();
    let Some(message) = tool.and_then(|tool| session.tail.message(&tool.message)) else {
        return false;
    };
    let mut parts = message.parts.iter();
    let part = parts.find(|part| holds_up(pending, message, part));
    part.is_some_and(has_ended)
}
