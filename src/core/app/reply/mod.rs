//! Answering asks from the keyboard: what is open, and what each key does to it.
//!
//! What it does: pick the ask that is meant, keep the form, turn it into a plan. What it does not:
//! word or draw it. Invariants: a form is bound to its ask's id, wherever the rows go, and sends
//! nothing once that ask is no longer listed; nothing is answered by a key that was meant for what
//! was there half a second before.

mod form;
mod open;
mod press;

pub use form::{Choices, QuestionForm};

use super::TextLine;
use crate::core::id::{AskId, SessionKey};
use crate::core::plan::answer::Wish;
use crate::core::time::UnixMs;
use crate::core::wire::Ask;

/// What is open to answer an ask.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Several asks wait: which is meant.
    Pick(Pick),
    /// The form of one ask.
    To(Box<Bound>),
}

/// A list of asks to pick from.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    /// Who asks, and what.
    pub asks: Vec<(SessionKey, AskId)>,
    /// The place of the one that is pointed at.
    pub at: usize,
    /// What is to be done with it.
    pub then: Then,
}

/// What a key wants of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Its form.
    Reply,
    /// Grant it once.
    Once,
    /// Grant it from now on.
    Always,
    /// Reject it, or dismiss a ghost.
    Deny,
}

/// A form, bound to its ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The session that asks.
    pub key: SessionKey,
    /// What was asked when the form was opened.
    pub ask: Ask,
    /// What is being said to it.
    pub form: Form,
    /// Lines by which the text is scrolled back from what is pointed at.
    pub scroll: usize,
    /// When it opened; watcher's clock.
    pub opened_at: UnixMs,
}

/// What is being said to an ask.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A permission: once, always, reject, or reject with words (the line).
    Permission(Choices),
    /// A permission is rejected: the words, if any.
    Deny(TextLine),
    /// Questions, one after another.
    Question(QuestionForm),
    /// One thing only, shown before it is done.
    Confirm(Wish),
}

/// The choices of a permission before its line.
pub const PERMISSION_CHOICES: usize = 3;
