//! What is read because somebody looks: the list of things to do, one part, the output of a tool.
//!
//! What it does: ask for it once it is looked at. What it does not: ask of an asleep project (looking
//! starts nothing), of a server that is away, or of 2.x, where these are not read.

use super::live::writing;
use crate::core::app::{App, Effect, PageKind, Pane};
use crate::core::id::{Epoch, MessageId, PartId, SessionKey};
use crate::core::time::UnixMs;
use crate::core::wire::Dialect;

/// One part as the server has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRead {
    /// Of which session.
    pub key: SessionKey,
    /// Which.
    pub part: PartId,
    /// What was asked for.
    pub of: PartOf,
    /// What was read, or why not.
    pub read: Result<PartText, String>,
}

/// What is wanted of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartOf {
    /// All of it, as JSON.
    Json,
    /// The end of what a tool wrote.
    Output,
}

/// A text that may be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartText {
    /// The text, not cleaned.
    pub text: String,
    /// Bytes that were left out.
    pub left_out: usize,
}

/// The page of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartPage {
    /// Of which session.
    pub key: SessionKey,
    /// In which message.
    pub message: MessageId,
    /// Which.
    pub part: PartId,
}

impl App {
    /// What is wanted of what is on the screen now.
    pub(super) fn look_closer(&mut self, now: UnixMs) -> Vec<Effect> {
        self.listen();
        let mut effects = Vec::new();
        // What is read of itself comes to the live app, and must not be asked for twice.
        if self.is_still() {
            return effects;
        }
        let seen = self.ui.sees_detail();
        let Some(key) = self.ui.selected.clone().filter(|_| seen) else {
            self.ui.todo_of = None;
            return effects;
        };
        let Some(epoch) = self.may_read(&key) else {
            return effects;
        };
        let looked_at = self.ui.detail_open || self.ui.pane == Pane::Todo;
        let known = self.ui.todo_of.as_ref() == Some(&(key.clone(), epoch));
        if looked_at && !known {
            self.ui.todo_of = Some((key.clone(), epoch));
            effects.push(Effect::ReadTodo { key: key.clone() });
        }
        if self.pane(&key) == Pane::Live
            && let Some((message, part)) = self.wanted_output(now)
        {
            let of = PartOf::Output;
            effects.push(Effect::ReadPart {
                key,
                message,
                part,
                of,
            });
        }
        effects
    }

    /// The connection in which this session can be looked into without starting anything.
    fn may_read(&self, key: &SessionKey) -> Option<Epoch> {
        let server = self.store.server(key.server)?;
        let is_first = server.dialect == Some(Dialect::V1) && server.is_reachable();
        let known = self.verdict(key)?.reported.is_known();
        (is_first && known && !self.is_asleep(key)).then_some(server.epoch)
    }

    /// Something runs and writes, or was heard to.
    pub(super) fn has_live(&self, key: &SessionKey) -> bool {
        let session = self.store.session(key);
        let writes = session.is_some_and(|it| it.tail.live.is_some() || writing(it).is_some());
        writes || self.live.is_of(key)
    }

    /// `Enter` in the pane of parts: the page of the one that is pointed at.
    pub(super) fn open_part(&mut self) -> Vec<Effect> {
        let Some((key, session)) = self.selected() else {
            return Vec::new();
        };
        let chosen = self.ui.part.as_ref();
        let mut parts = session.tail.messages.iter().flat_map(|it| &it.parts).rev();
        let part = parts.find(|part| chosen.is_none_or(|id| part.id == *id));
        let Some(part) = part else {
            return Vec::new();
        };
        let page = PartPage {
            key: key.clone(),
            message: part.message.clone(),
            part: part.id.clone(),
        };
        self.ui.search = None;
        self.ui.part_text = None;
        self.ui.page = Some((PageKind::Part(page.clone()), 0));
        if self.may_read(&page.key).is_none() {
            let why =
                "it can be read of a 1.x server that is there, in a project that is not asleep";
            self.ui.part_text = Some((page.part, Err(why.to_owned())));
            return Vec::new();
        }
        vec![Effect::ReadPart {
            key: page.key,
            message: page.message,
            part: page.part,
            of: PartOf::Json,
        }]
    }

    /// A part was read; whoever left its page does not hear of it.
    pub(super) fn part_read(&mut self, read: PartRead) -> Vec<Effect> {
        match read.of {
            PartOf::Output => self.output_read(&read.part, read.read.map(|it| it.text)),
            PartOf::Json => {
                let page = self.ui.page.as_ref().map(|(kind, _)| kind);
                let wanted = matches!(page, Some(PageKind::Part(page)) if page.part == read.part && page.key == read.key);
                if wanted {
                    self.ui.part_text = Some((read.part, read.read));
                }
            }
        }
        Vec::new()
    }
}
