//! The newest messages of a session, merged from reads and events.
//!
//! Invariants: ascending by `created`, then id; each id once; at most [`MAX_MESSAGES`] kept, the
//! last turn whole. A part or message that an event brought after a read was asked wins over that read.

use crate::core::id::{Epoch, MessageId, PartId};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Message, Part, PartBody, TailRead};
use std::collections::BTreeMap;

/// How many parts without a message are kept.
const MAX_LOOSE: usize = 64;
/// How many marks of events are kept before old ones are dropped.
const MAX_TOUCHED: usize = 256;
/// No read takes longer.
const LONGEST_READ: Span = Span::mins(2);
/// How much of the live text is kept, in bytes.
const MAX_LIVE: usize = 4096;

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
    /// It begins with the session's first message, and nothing was left out.
    pub whole: bool,
    /// How many messages and parts of the newest answer, or after it, the last read could not read.
    pub missing: usize,
    /// The last read failed, with these words.
    pub failed: Option<String>,
    /// The last characters that deltas brought, of the part named.
    pub live: Option<(PartId, String)>,
    /// They begin with the part's beginning: an event began it, and nothing of it was dropped.
    pub live_whole: bool,
    /// When an event last brought a message or part; to win over reads asked before.
    pub(super) touched: BTreeMap<TailKey, UnixMs>,
    /// Parts that came before their message was known; joined to it when it comes.
    pub(super) loose: Vec<Part>,
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

    /// Joins a read: it replaces what was known, but for what an event
    /// brought (or removed) at or after the moment it was asked.
    pub(super) fn merge_read(&mut self, read: TailRead, epoch: Epoch) {
        let asked = read.asked_at;
        self.touched.retain(|_, at| *at >= asked);
        let mut old = std::mem::take(&mut self.messages);
        let mut merged = Vec::with_capacity(read.messages.len());
        for mut message in read.messages {
            let ours = old.iter().position(|m| m.id == message.id);
            let ours = ours.map(|place| old.remove(place));
            let touched = self
                .touched
                .contains_key(&TailKey::Message(message.id.clone()));
            match (ours, touched) {
                (None, true) => continue,
                (None, false) => {}
                (Some(ours), touched) => self.join(&mut message, ours, touched),
            }
            merged.push(message);
        }
        old.retain(|m| self.touched.contains_key(&TailKey::Message(m.id.clone())));
        merged.append(&mut old);
        self.messages = merged;
        self.sort();
        self.read_at = Some(asked);
        self.epoch = epoch;
        self.whole = read.whole;
        self.missing = read.missing;
        self.failed = None;
        for part in std::mem::take(&mut self.loose) {
            if self.touched.contains_key(&TailKey::Part(part.id.clone())) {
                self.place(part);
            }
        }
        self.bound();
    }

    /// Parts that an event touched after the read was asked stay as the event said.
    fn join(&self, message: &mut Message, ours: Message, touched: bool) {
        let is_touched = |part: &Part| self.touched.contains_key(&TailKey::Part(part.id.clone()));
        message
            .parts
            .retain(|part| !is_touched(part) || ours.parts.iter().any(|p| p.id == part.id));
        for part in ours.parts.iter().filter(|part| is_touched(part)) {
            match message.parts.iter_mut().find(|p| p.id == part.id) {
                Some(place) => *place = part.clone(),
                None => message.parts.push(part.clone()),
            }
        }
        if touched {
            let parts = std::mem::take(&mut message.parts);
            *message = Message { parts, ..ours };
        }
    }

    /// Takes a message without parts. Says whether that is progress: a new message, or one that
    /// ended; a repeated or merely annotated one is not.
    pub(super) fn put_message(&mut self, at: UnixMs, message: Message) -> bool {
        self.touch(at, TailKey::Message(message.id.clone()));
        if let Some(known) = self.messages.iter_mut().find(|m| m.id == message.id) {
            let progress = known.completed != message.completed
                || known.finish != message.finish
                || known.error != message.error;
            // The same id sent again gets a new time (1.18.33), and with it another place.
            let moved = known.created != message.created;
            let parts = std::mem::take(&mut known.parts);
            *known = Message { parts, ..message };
            if moved {
                self.sort();
            }
            return progress;
        }
        let place = self
            .messages
            .partition_point(|m| (m.created, &m.id) < (message.created, &message.id));
        let id = message.id.clone();
        self.messages.insert(place, message);
        let (mine, rest) = std::mem::take(&mut self.loose)
            .into_iter()
            .partition(|part| part.message == id);
        self.loose = rest;
        let mine: Vec<Part> = mine;
        for part in mine {
            self.place(part);
        }
        self.bound();
        true
    }

    fn sort(&mut self) {
        let messages = &mut self.messages;
        messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    }

    pub(super) fn put_part(&mut self, at: UnixMs, part: Part) {
        self.touch(at, TailKey::Part(part.id.clone()));
        if self.live.as_ref().is_some_and(|(id, _)| *id == part.id) && !part.is_live() {
            self.live = None;
        }
        self.place(part);
    }

    fn place(&mut self, part: Part) {
        let home = self
            .messages
            .iter_mut()
            .rev()
            .find(|m| m.id == part.message);
        let Some(message) = home else {
            self.loose.retain(|known| known.id != part.id);
            if self.loose.len() < MAX_LOOSE {
                self.loose.push(part);
            }
            return;
        };
        match message.parts.iter_mut().find(|known| known.id == part.id) {
            Some(known) => *known = part,
            None => message.parts.push(part),
        }
    }

    pub(super) fn drop_message(&mut self, at: UnixMs, id: &MessageId) {
        self.touch(at, TailKey::Message(id.clone()));
        self.messages.retain(|m| m.id != *id);
    }

    pub(super) fn drop_part(&mut self, at: UnixMs, message: &MessageId, id: &PartId) {
        self.touch(at, TailKey::Part(id.clone()));
        if let Some(message) = self.messages.iter_mut().find(|m| m.id == *message) {
            message.parts.retain(|part| part.id != *id);
        }
        self.loose.retain(|part| part.id != *id);
    }

    /// Keeps the end of what deltas bring, for the live tail.
    pub(super) fn hear(&mut self, part: &PartId, text: &str) {
        match &mut self.live {
            Some((id, kept)) if id == part => kept.push_str(text),
            _ => {
                self.live_whole = self.began(part);
                self.live = Some((part.clone(), text.to_owned()));
            }
        }
        if let Some((_, kept)) = &mut self.live
            && kept.len() > MAX_LIVE
        {
            let cut = kept.len() - MAX_LIVE / 2;
            let cut = (cut..kept.len())
                .find(|n| kept.is_char_boundary(*n))
                .unwrap_or(kept.len());
            kept.drain(..cut);
            self.live_whole = false;
        }
    }

    /// An event brought it without text. Of a read that proves nothing: a server may keep the text of
    /// an open part for itself.
    fn began(&self, part: &PartId) -> bool {
        let held = self.messages.iter().rev().flat_map(|it| &it.parts);
        let mut known = held.chain(&self.loose).filter(|it| it.id == *part);
        let is_empty = known.next().is_some_and(|it| match &it.body {
            PartBody::Text(prose) | PartBody::Reasoning(prose) => prose.bytes == 0,
            _ => false,
        });
        is_empty && self.touched.contains_key(&TailKey::Part(part.clone()))
    }

    /// The watcher's clock jumped: no read or event may lie in the future.
    pub(super) fn clock_jumped(&mut self, at: UnixMs) {
        self.read_at = self.read_at.map(|time| time.min(at));
        for time in self.touched.values_mut() {
            *time = (*time).min(at);
        }
    }

    /// An event brought something since the last read was asked.
    pub(super) fn is_touched(&self) -> bool {
        !self.touched.is_empty()
    }

    /// An event can only win over a read that is under way, so older marks are of no use.
    fn touch(&mut self, at: UnixMs, key: TailKey) {
        if self.touched.len() >= MAX_TOUCHED {
            let old = at - LONGEST_READ;
            self.touched.retain(|_, at| *at >= old);
        }
        self.touched.insert(key, at);
    }

    fn bound(&mut self) {
        if self.messages.len() > MAX_MESSAGES {
            let extra = self.messages.len() - MAX_MESSAGES;
            self.messages.drain(..extra);
            self.whole = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::wire::Prose;

    fn open(id: &str) -> Part {
        Part {
            id: id.into(),
            session: "ses_a".into(),
            message: "msg_1".into(),
            body: PartBody::Text(Prose {
                start: Some(UnixMs(1)),
                ..Prose::default()
            }),
        }
    }

    #[test]
    fn what_streams_is_whole_only_where_its_beginning_was_heard_and_is_kept() {
        let mut tail = Tail::default();
        tail.hear(&"prt_1".into(), "the middle");
        assert!(!tail.live_whole, "nothing told that it began");
        tail.put_part(UnixMs(2), open("prt_2"));
        tail.hear(&"prt_2".into(), "The");
        tail.hear(&"prt_2".into(), " beginning");
        assert!(tail.live_whole);
        tail.hear(&"prt_2".into(), &"x".repeat(MAX_LIVE));
        assert!(!tail.live_whole, "its beginning is no longer kept");
        // The server keeps what it has of an open part for itself: a read shows it without text.
        tail.loose.push(open("prt_3"));
        tail.hear(&"prt_3".into(), "the middle");
        assert!(!tail.live_whole, "it was only read");
    }
}
