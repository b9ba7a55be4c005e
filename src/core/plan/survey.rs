//! What a fresh read of a session and of what lies below it showed: what the ladder is planned from.
//!
//! What it does: hold it, and compare two of them. What it does not: read (that is `shell`), or
//! judge. Invariant: nothing here is remembered from before; it is what the server just said.

use crate::core::id::{Directory, MessageId, PartId, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::{Ask, Message, PartBody, ToolState};

/// Of a session and all that lies below it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Survey {
    /// The session asked about, then its descendants, nearest first.
    pub rows: Vec<Surveyed>,
    /// Who else runs in the directories of `rows`.
    pub neighbours: Vec<Neighbour>,
}

/// Another run, that would end with the project's instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Which.
    pub session: SessionId,
    /// Its title, where known.
    pub title: Option<String>,
    /// Where it runs.
    pub directory: Directory,
}

/// What was read of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Surveyed {
    /// Which.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// Its directory.
    pub directory: Directory,
    /// It does not exist any more (404): what still runs in it is a zombie.
    pub gone: bool,
    /// `busy`, `retry`, or another type; `None`: absent from a successful read, so idle.
    pub running: Option<String>,
    /// What it asks, as listed.
    pub asks: Vec<Ask>,
    /// Why its asks could not be read.
    pub asks_unread: Option<String>,
    /// Every message with its parts, by id.
    pub roll: Roll,
    /// Tool parts of any message that never ended.
    pub broken: Vec<BrokenPart>,
    /// The newest messages, ascending; at most [`TRAIL`].
    pub trail: Vec<Message>,
    /// A revert is pending.
    pub reverted: bool,
    /// Messages that could not be understood.
    pub unread: usize,
}

/// So many of the newest messages are kept.
pub const TRAIL: usize = 20;

/// A tool part that is pending or running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenPart {
    /// In which message.
    pub message: MessageId,
    /// Which.
    pub part: PartId,
    /// `bash`, `task`, …
    pub tool: String,
    /// One line of what it was called with.
    pub subject: String,
    /// Its arguments were never finished.
    pub pending: bool,
    /// Since when; server's clock.
    pub start: Option<UnixMs>,
    /// A hash of the output so far.
    pub digest: u64,
}

/// The ids of all messages and of their parts, in the server's order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roll(pub Vec<(MessageId, Vec<PartId>)>);

impl Roll {
    /// How many messages.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// No message at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first message or part of this that is missing in `later`. New ones are no loss.
    pub fn lost_in(&self, later: &Roll) -> Option<String> {
        let parts: std::collections::BTreeMap<&MessageId, &Vec<PartId>> =
            later.0.iter().map(|(id, parts)| (id, parts)).collect();
        self.0.iter().find_map(|(message, ours)| {
            let Some(theirs) = parts.get(message) else {
                return Some(message.to_string());
            };
            let lost = ours.iter().find(|part| !theirs.contains(part));
            lost.map(ToString::to_string)
        })
    }
}

impl Surveyed {
    /// Takes one message in, in any order of pages; [`Surveyed::close`] sorts.
    pub fn add(&mut self, message: Message) {
        let ids = message.parts.iter().map(|part| part.id.clone());
        self.roll.0.push((message.id.clone(), ids.collect()));
        for part in &message.parts {
            let PartBody::Tool(tool) = &part.body else {
                continue;
            };
            if !tool.is_live() {
                continue;
            }
            self.broken.push(BrokenPart {
                message: message.id.clone(),
                part: part.id.clone(),
                tool: tool.tool.clone(),
                subject: tool.subject.clone(),
                pending: tool.state == ToolState::Pending,
                start: tool.start,
                digest: tool.output.digest,
            });
        }
        self.trail.push(message);
    }

    /// After a page: the newest are kept.
    pub fn close(&mut self) {
        self.trail
            .sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        let surplus = self.trail.len().saturating_sub(TRAIL);
        self.trail.drain(..surplus);
    }

    /// The newest answer.
    pub fn answer(&self) -> Option<&Message> {
        self.trail.iter().rev().find(|it| it.is_assistant())
    }

    /// Its newest answer was never completed: what it holds may be alive somewhere.
    pub fn has_open_answer(&self) -> bool {
        self.answer().is_some_and(Message::is_open)
    }

    /// Prompts newer than the newest answer.
    pub fn waiting_prompts(&self) -> usize {
        let newer = self.trail.iter().rev().take_while(|it| !it.is_assistant());
        newer.filter(|it| it.is_user()).count()
    }

    /// The answer and its parts are the same as in an earlier look: nothing works on it.
    pub fn stands_still_since(&self, earlier: &Surveyed) -> bool {
        self.broken == earlier.broken
            && self.roll == earlier.roll
            && self.answer().map(|it| &it.parts) == earlier.answer().map(|it| &it.parts)
    }
}

impl Survey {
    /// The session asked about.
    pub fn root(&self) -> Option<&Surveyed> {
        self.rows.first()
    }

    /// Somebody of the family is in the server's hands.
    pub fn runs(&self) -> bool {
        self.rows.iter().any(|row| row.running.is_some())
    }

    /// Those that a reset changes, and the session itself: they are exported first.
    pub fn saved(&self) -> impl Iterator<Item = &Surveyed> {
        let touched = |row: &Surveyed| {
            row.running.is_some() || !row.asks.is_empty() || !row.broken.is_empty()
        };
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(place, row)| !row.gone && (*place == 0 || touched(row)))
            .map(|(_, row)| row)
    }

    /// The first message or part of this that is missing in `later`.
    pub fn lost_in(&self, later: &Survey) -> Option<String> {
        self.rows.iter().find_map(|row| {
            let again = later.rows.iter().find(|it| it.session == row.session)?;
            if again.gone {
                // Deleted by somebody meanwhile: that is told as such.
                return None;
            }
            row.roll.lost_in(&again.roll)
        })
    }
}
