//! What streams in the session that is looked at, kept to be read.
//!
//! What it does: keep the text that deltas bring, part by part, and the output of the tool that runs,
//! of one session only. What it does not: outlive the look at it. Bounded by [`MOST`], and by twice
//! that while it is scrolled back, so that what is read does not run away.

use crate::core::app::App;
use crate::core::id::{MessageId, PartId, SessionKey};
use crate::core::store::Session;
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Body, EventKind, Input, Part, ToolState};
use std::collections::VecDeque;

/// How much of the text is kept, in bytes.
pub const MOST: usize = 64 * 1024;
/// Between two reads of a growing output.
const OUTPUT_AGAIN: Span = Span::secs(1);
/// No read of it takes longer.
const OUTPUT_LOST: Span = Span::secs(30);

/// The text of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Of which part.
    pub part: PartId,
    /// As far as it was heard and is kept.
    pub text: String,
    /// It does not begin with the part's beginning.
    pub cut: bool,
}

/// The output of a tool that runs, read for it alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Of which part.
    pub part: PartId,
    /// Digest of the output that was last asked for.
    pub(super) digest: u64,
    /// When it was asked for; watcher's clock.
    pub(super) asked_at: UnixMs,
    /// Its end, or why it could not be read; `None`: under way.
    pub text: Option<Result<String, String>>,
}

/// Of the session that is looked at.
#[derive(Debug, Clone, Default)]
pub struct Live {
    key: Option<SessionKey>,
    /// Oldest first.
    pub heard: VecDeque<Heard>,
    /// What the tool that runs wrote.
    pub output: Option<Output>,
    /// When an output that grew meanwhile may be read again; watcher's clock.
    again_at: Option<UnixMs>,
}

impl Live {
    /// Whether it is of this session and there is anything.
    pub fn is_of(&self, key: &SessionKey) -> bool {
        self.key.as_ref() == Some(key) && !self.heard.is_empty()
    }

    /// When there is something to read although nothing happens; watcher's clock.
    pub fn due(&self) -> Option<UnixMs> {
        self.again_at
    }

    /// Another session is looked at, or none.
    fn turn_to(&mut self, key: Option<&SessionKey>, session: Option<&Session>) {
        if self.key.as_ref() == key {
            return;
        }
        *self = Self {
            key: key.cloned(),
            ..Self::default()
        };
        let tail = session.map(|it| &it.tail);
        if let Some((tail, (part, text))) = tail.and_then(|it| Some((it, it.live.as_ref()?))) {
            self.heard.push_back(Heard {
                part: part.clone(),
                text: text.clone(),
                cut: !tail.live_whole,
            });
        }
    }

    /// What a delta brings, if it is of the session that is looked at.
    pub(super) fn delta(&self, input: &Input) -> Option<(PartId, String)> {
        let key = self.key.as_ref()?;
        let Body::Event(event) = &input.body else {
            return None;
        };
        match &event.kind {
            EventKind::Delta {
                session,
                part,
                text,
                ..
            } if input.server == key.server && *session == key.session => {
                Some((part.clone(), text.clone()))
            }
            _ => None,
        }
    }

    pub(super) fn hear(&mut self, part: PartId, text: &str, most: usize) {
        match self.heard.back_mut() {
            Some(last) if last.part == part => last.text.push_str(text),
            _ => self.heard.push_back(Heard {
                part,
                text: text.to_owned(),
                cut: false,
            }),
        }
        let mut over = self.heard.iter().map(|it| it.text.len()).sum::<usize>();
        over = over.saturating_sub(most);
        while over > 0 {
            let is_only = self.heard.len() == 1;
            let Some(first) = self.heard.front_mut() else {
                return;
            };
            if first.text.len() <= over && !is_only {
                over -= first.text.len();
                self.heard.pop_front();
                continue;
            }
            // A little more than needed, so that this is not done with each token.
            let cut = (over + most / 16).min(first.text.len());
            let cut = (cut..=first.text.len()).find(|at| first.text.is_char_boundary(*at));
            first.text.drain(..cut.unwrap_or(0));
            first.cut = true;
            return;
        }
    }
}

/// The tool that runs in a session, if one has written anything.
pub fn writing(session: &Session) -> Option<&Part> {
    let mut parts: Vec<&Part> = session.tail.live_parts().collect();
    parts.retain(|part| {
        let tool = part.tool().filter(|tool| tool.state == ToolState::Running);
        tool.is_some_and(|tool| tool.output.present && tool.output.bytes > 0)
    });
    parts.pop()
}

impl App {
    /// What is looked at is listened to.
    pub(super) fn listen(&mut self) {
        let seen = self.ui.sees_detail();
        let key = self.ui.selected.as_ref().filter(|_| seen);
        let session = key.and_then(|key| self.store.session(key));
        self.live.turn_to(key, session);
    }

    pub(super) fn hear(&mut self, part: PartId, text: &str) {
        let most = if self.ui.scrolled_back {
            2 * MOST
        } else {
            MOST
        };
        self.live.hear(part, text, most);
    }

    /// The output that should be read now: it changed, and was not asked for just now.
    pub(super) fn wanted_output(&mut self, now: UnixMs) -> Option<(MessageId, PartId)> {
        self.live.again_at = None;
        let key = self.live.key.as_ref()?;
        let part = writing(self.store.session(key)?)?;
        let digest = part.tool()?.output.digest;
        let known = self.live.output.as_ref().filter(|it| it.part == part.id);
        if let Some(known) = known {
            let waits = known.text.is_none() && now.since(known.asked_at) < OUTPUT_LOST;
            let fresh = known.digest == digest || now.since(known.asked_at) < OUTPUT_AGAIN;
            if fresh || waits {
                let grew = known.digest != digest && !waits;
                self.live.again_at = grew.then_some(known.asked_at + OUTPUT_AGAIN);
                return None;
            }
        }
        let old = known.and_then(|it| it.text.clone());
        let wanted = (part.message.clone(), part.id.clone());
        self.live.output = Some(Output {
            part: part.id.clone(),
            digest,
            asked_at: now,
            text: old,
        });
        Some(wanted)
    }

    pub(super) fn output_read(&mut self, part: &PartId, read: Result<String, String>) {
        let output = self.live.output.as_mut();
        if let Some(output) = output.filter(|it| it.part == *part) {
            output.text = Some(read);
        }
    }
}
