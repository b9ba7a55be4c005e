//! Messages and parts of the world, each change with its event.
//!
//! What it does: find, add, change, remove. What it does not: decide when. Invariant: what a stream is
//! told is what a GET shows from then on, but for text that still streams.

use super::World;
use crate::sim::wire::{Info, Message, Part};
use serde::Serialize;
use serde_json::json;

impl World {
    /// A message by id.
    pub(crate) fn message(&self, session: &str, message: &str) -> Option<&Message> {
        let stored = self.sessions.get(session)?;
        stored.messages.iter().find(|m| m.info.id() == message)
    }

    /// Adds a message and says so.
    pub(crate) fn add_message(&mut self, session: &str, info: Info) {
        let Some(stored) = self.sessions.get_mut(session) else {
            return;
        };
        let parts = Vec::new();
        let id = info.id().to_owned();
        stored.messages.push(Message { info, parts });
        self.update_message(session, &id, |_| {});
    }

    /// Changes a message's info and says so.
    pub(crate) fn update_message(
        &mut self,
        session: &str,
        message: &str,
        change: impl FnOnce(&mut Info),
    ) {
        let Some(found) = self.message_mut(session, message) else {
            return;
        };
        change(&mut found.info);
        let properties = json!({"sessionID": session, "info": found.info});
        self.emit_durable(session, "message.updated", &properties);
    }

    fn message_mut(&mut self, session: &str, message: &str) -> Option<&mut Message> {
        let stored = self.sessions.get_mut(session)?;
        stored.messages.iter_mut().find(|m| m.info.id() == message)
    }

    /// Stores a part, in place of one with its id, and sends the whole of it.
    pub(crate) fn put_part(&mut self, part: &Part) {
        let Some(message) = self.message_mut(&part.session_id, &part.message_id) else {
            return;
        };
        match message.parts.iter_mut().find(|p| p.id == part.id) {
            Some(old) => *old = part.clone(),
            None => message.parts.push(part.clone()),
        }
        self.send_part(part);
    }

    /// `message.part.updated` for a part as given.
    pub(crate) fn send_part(&mut self, part: &Part) {
        #[derive(Serialize)]
        struct Updated<'a> {
            #[serde(rename = "sessionID")]
            session: &'a str,
            part: &'a Part,
            time: i64,
        }
        let updated = Updated {
            session: &part.session_id,
            part,
            time: self.now().0,
        };
        self.emit_durable(&part.session_id, "message.part.updated", &updated);
    }

    /// Removes a part and says so; `false` if there is none.
    pub(crate) fn remove_part(&mut self, session: &str, message: &str, part: &str) -> bool {
        let Some(found) = self.message_mut(session, message) else {
            return false;
        };
        let before = found.parts.len();
        found.parts.retain(|p| p.id != part);
        if found.parts.len() == before {
            return false;
        }
        let properties = json!({"sessionID": session, "messageID": message, "partID": part});
        self.emit_durable(session, "message.part.removed", &properties);
        true
    }

    /// Removes a message and says so; `false` if there is none.
    pub(crate) fn remove_message(&mut self, session: &str, message: &str) -> bool {
        let Some(stored) = self.sessions.get_mut(session) else {
            return false;
        };
        let before = stored.messages.len();
        stored.messages.retain(|m| m.info.id() != message);
        if stored.messages.len() == before {
            return false;
        }
        let properties = json!({"sessionID": session, "messageID": message});
        self.emit_durable(session, "message.removed", &properties);
        true
    }
}
