//! The newest messages of a session, merged from reads and events.
//!
//! Invariants: ascending by `created`, then id; each id once; at most [`MAX_MESSAGES`] kept, the
//! last turn whole. A part or message that an event brought after a read was asked wins over that read.

use crate::core::id::{Epoch, MessageId, PartId};
use crate::core::time::UnixMs;
use crate::core::wire::{Message, Part};
use std::collections::BTreeMap;

/// How many messages are kept of one session.
pub const MAX_MESSAGES: usize = 200;

/// The newest messages of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tail {
    /// Ascending. Empty and `read_at: None`: never read.
    pub messages: Vec<Message>,
    /// When the last successful read was asked; watcher's clock.
    pub read_at: Option<UnixMs>,
    /// In which epoch it was read.
    pub epoch: Epoch,
    /// It begins with the session's first message.
    pub whole: bool,
    /// The last read failed, with these words.
    pub failed: Option<String>,
    /// The last characters that deltas brought, of the part named.
    pub live: Option<(PartId, String)>,
    /// When an event last brought a message or part; to win over reads asked before.
    pub(super) touched: BTreeMap<TailKey, UnixMs>,
}

/// What an event touched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TailKey {
    Message(MessageId),
    Part(PartId),
}

impl Tail {
    /// Whether anything was read of it at all.
    pub fn is_read(&self) -> bool {
        self.read_at.is_some()
    }
    /// The newest message.
    pub fn last(&self) -> Option<&Message> {
        self.messages.last()
    }
    /// The newest assistant message.
    pub fn last_assistant(&self) -> Option<&Message> {
        self.messages.iter().rev().find(|m| m.is_assistant())
    }
    /// The newest user message.
    pub fn last_user(&self) -> Option<&Message> {
        self.messages.iter().rev().find(|m| m.is_user())
    }
    /// A message by id.
    pub fn message(&self, id: &MessageId) -> Option<&Message> {
        self.messages.iter().rev().find(|m| m.id == *id)
    }
    /// Live parts: non-terminal parts of the **last assistant message** only; an older running
    /// part is residue.
    pub fn live_parts(&self) -> impl Iterator<Item = &Part> {
        self.last_assistant()
            .into_iter()
            .flat_map(|m| m.parts.iter())
            .filter(|part| part.is_live())
    }
}
