//! Inputs that wait for the consumer.
//!
//! What it does: let the stream be read always (a server buffers without limit for a slow reader)
//! by folding what waits: whole-part and whole-message updates of one thing to the last, deltas of
//! one part to one, heartbeats to one. What it does not: reorder across a removal or a read; those
//! close all folds. Invariant: events with different effects are never lost below [`LIMIT`];
//! beyond it the owner must read everything again.

use crate::core::id::{MessageId, PartId, SessionId};
use crate::core::wire::{Body, Event, EventKind, Input};
use std::collections::{HashMap, VecDeque};

/// More than this many waiting inputs mean that the consumer has lost the thread.
pub const LIMIT: usize = 16_384;
/// Of the text of folded deltas: the newest part of it is kept.
pub(super) const DELTA_KEEP: usize = 2048;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Fold {
    Part(PartId),
    Delta(PartId),
    Message(MessageId),
    Session(SessionId),
    Heartbeat,
}

/// A queue that folds.
#[derive(Debug, Default)]
pub struct Pending {
    slots: VecDeque<Option<Input>>,
    /// Number of the slot in front.
    front: u64,
    folds: HashMap<Fold, u64>,
    live: usize,
}

impl Pending {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.live
    }
    /// None waits.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Adds one.
    pub fn push(&mut self, input: Input) {
        match fold_of(&input) {
            Folding::Into(fold) => self.fold(fold, input),
            Folding::Alone => {
                self.append(input);
            }
            Folding::Barrier => {
                self.folds.clear();
                self.append(input);
            }
        }
    }

    /// Takes the oldest.
    pub fn pop(&mut self) -> Option<Input> {
        while let Some(slot) = self.slots.pop_front() {
            self.front += 1;
            if let Some(input) = slot {
                self.live -= 1;
                return Some(input);
            }
        }
        None
    }

    /// Forgets all events; what else waits stays.
    pub fn drop_events(&mut self) {
        self.folds.clear();
        self.slots
            .retain(|it| matches!(it, Some(input) if !matches!(input.body, Body::Event(_))));
        self.live = self.slots.len();
    }

    fn append(&mut self, input: Input) -> u64 {
        self.slots.push_back(Some(input));
        self.live += 1;
        self.front + self.slots.len() as u64 - 1
    }

    fn slot(&mut self, fold: &Fold) -> Option<&mut Option<Input>> {
        let number = *self.folds.get(fold)?;
        let at = usize::try_from(number.checked_sub(self.front)?).ok()?;
        self.slots.get_mut(at).filter(|it| it.is_some())
    }

    fn fold(&mut self, fold: Fold, input: Input) {
        if let Fold::Part(part) = &fold {
            self.discard(&Fold::Delta(part.clone())); // the whole part says more
        }
        if let Some(Some(waiting)) = self.slot(&fold) {
            merge(waiting, input);
        } else {
            let number = self.append(input);
            self.folds.insert(fold, number);
        }
    }

    fn discard(&mut self, fold: &Fold) {
        if let Some(slot) = self.slot(fold) {
            *slot = None;
            self.live -= 1;
        }
        self.folds.remove(fold);
    }
}

enum Folding {
    Into(Fold),
    Alone,
    Barrier,
}

fn fold_of(input: &Input) -> Folding {
    let Body::Event(event) = &input.body else {
        return Folding::Barrier;
    };
    match &event.kind {
        EventKind::PartUpdated(part) => Folding::Into(Fold::Part(part.id.clone())),
        EventKind::Delta { part, .. } => Folding::Into(Fold::Delta(part.clone())),
        EventKind::MessageUpdated(it) => Folding::Into(Fold::Message(it.id.clone())),
        EventKind::SessionUpdated(it) => Folding::Into(Fold::Session(it.id.clone())),
        EventKind::Heartbeat => Folding::Into(Fold::Heartbeat),
        EventKind::SessionDeleted(_)
        | EventKind::MessageRemoved { .. }
        | EventKind::PartRemoved { .. }
        | EventKind::InstanceDisposed(_) => Folding::Barrier,
        _ => Folding::Alone,
    }
}

fn merge(waiting: &mut Input, newer: Input) {
    if waiting.epoch != newer.epoch {
        *waiting = newer;
        return;
    }
    let old = match &mut waiting.body {
        Body::Event(Event {
            kind: EventKind::Delta { text, .. },
            ..
        }) => std::mem::take(text),
        _ => String::new(),
    };
    *waiting = newer;
    if let Body::Event(Event {
        kind: EventKind::Delta { text, .. },
        ..
    }) = &mut waiting.body
    {
        *text = newest(old + text.as_str());
    }
}

fn newest(text: String) -> String {
    if text.len() <= 2 * DELTA_KEEP {
        return text;
    }
    let mut from = text.len() - DELTA_KEEP;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::{Epoch, ServerId};
    use crate::core::time::UnixMs;
    use crate::core::wire::{Part, PartBody, Prose};

    fn input(at: i64, kind: EventKind) -> Input {
        let body = Body::Event(Event {
            directory: None,
            kind,
        });
        Input {
            server: ServerId(0),
            epoch: Epoch(1),
            at: UnixMs(at),
            body,
        }
    }

    fn delta(at: i64, part: &str, text: &str) -> Input {
        let (session, message) = (SessionId::from("s"), MessageId::from("m"));
        input(
            at,
            EventKind::Delta {
                session,
                message,
                part: PartId::from(part),
                text: text.to_owned(),
            },
        )
    }

    fn part(at: i64, id: &str, bytes: usize) -> Input {
        let body = PartBody::Text(Prose {
            bytes,
            ..Prose::default()
        });
        let part = Part {
            id: id.into(),
            session: "s".into(),
            message: "m".into(),
            body,
        };
        input(at, EventKind::PartUpdated(Box::new(part)))
    }

    fn drain(mut pending: Pending) -> Vec<Input> {
        std::iter::from_fn(|| pending.pop()).collect()
    }

    #[test]
    fn a_burst_of_deltas_folds_to_one_and_keeps_its_end() {
        let mut pending = Pending::default();
        for n in 0..20_000 {
            pending.push(delta(n, "p", &format!("tok{n} ")));
        }
        assert_eq!(pending.len(), 1);
        let all = drain(pending);
        assert_eq!(all[0].at, UnixMs(19_999));
        let Body::Event(Event {
            kind: EventKind::Delta { text, .. },
            ..
        }) = &all[0].body
        else {
            panic!()
        };
        assert!(text.ends_with("tok19998 tok19999 ") && text.len() <= 2 * DELTA_KEEP);
    }

    #[test]
    fn whole_parts_fold_to_the_last_but_not_across_a_removal() {
        let mut pending = Pending::default();
        pending.push(part(1, "p", 1));
        pending.push(delta(2, "p", "x"));
        pending.push(part(3, "p", 3));
        let removed = EventKind::PartRemoved {
            session: "s".into(),
            message: "m".into(),
            part: "p".into(),
        };
        pending.push(input(4, removed.clone()));
        pending.push(part(5, "p", 5));
        pending.push(part(6, "p", 6));
        assert_eq!(
            drain(pending),
            [part(3, "p", 3), input(4, removed), part(6, "p", 6)]
        );
    }

    #[test]
    fn taking_while_folding_keeps_count() {
        let mut pending = Pending::default();
        pending.push(part(1, "a", 1));
        pending.push(part(2, "b", 1));
        assert_eq!(pending.pop(), Some(part(1, "a", 1)));
        pending.push(part(3, "a", 3));
        pending.push(part(4, "b", 4));
        assert_eq!(pending.len(), 2);
        assert_eq!(drain(pending), [part(4, "b", 4), part(3, "a", 3)]);
    }

    #[test]
    fn what_must_be_counted_never_folds() {
        let mut pending = Pending::default();
        for n in 0..5 {
            pending.push(input(n, EventKind::Unknown { kind: "x".into() }));
            pending.push(input(n, EventKind::Heartbeat));
        }
        assert_eq!(pending.len(), 6);
        pending.drop_events();
        assert!(pending.is_empty());
    }
}
