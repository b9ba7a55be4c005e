//! What 2.x says by the order of its messages only.
//!
//! What it does: give each answer the prompt before it, and close what an `idle` message closes.
//! What it does not: drop anything: `idle` messages stay, as role [`CLOSED`] with their outcome as
//! `finish`, because a turn without one still holds its claim. Facts measured on 2.0.14: a turn
//! that was interrupted during a retry keeps an open answer for ever; one that was interrupted
//! before any answer has only the `idle` message; after a shutdown, a declined permission or a
//! dismissed question there is none.

use crate::core::id::MessageId;
use crate::core::wire::{Failure, Message, Role, Tokens};

/// The role of an `idle` message.
pub const CLOSED: &str = "idle";

/// Takes a tail in ascending order and joins what belongs together.
pub fn fold(messages: Vec<Message>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    let mut prompt: Option<MessageId> = None;
    // Of the turn that is not closed: its prompt stands unanswered, and where it began.
    let (mut unanswered, mut begin) = (false, 0);
    for mut message in messages {
        match &message.role {
            Role::User => {
                prompt = Some(message.id.clone());
                unanswered = true;
            }
            Role::Assistant if !message.summary => {
                message.parent.clone_from(&prompt);
                unanswered = false;
            }
            Role::Other(kind) if kind == CLOSED => {
                close(&mut out[begin..], &message);
                if let Some(prompt) = prompt.as_ref().filter(|_| unanswered) {
                    out.push(stand_in(&message, prompt));
                }
                unanswered = false;
                begin = out.len() + 1;
            }
            _ => {}
        }
        out.push(message);
    }
    out
}

/// Answers of the turn that were never completed end with it.
fn close(turn: &mut [Message], idle: &Message) {
    for answer in turn.iter_mut().filter(|m| m.is_open()) {
        answer.completed = Some(idle.created);
        if answer.error.is_none() {
            answer.error = failure(idle);
        }
    }
}

/// The answer that a closed turn never had.
fn stand_in(idle: &Message, prompt: &MessageId) -> Message {
    Message {
        id: MessageId::from(format!("{}:turn", idle.id)),
        session: idle.session.clone(),
        role: Role::Assistant,
        parent: Some(prompt.clone()),
        created: idle.created,
        completed: Some(idle.created),
        finish: idle.finish.clone(),
        error: failure(idle),
        summary: false,
        structured: false,
        agent: None,
        model: None,
        cost: 0.0,
        tokens: Tokens::default(),
        parts: Vec::new(),
    }
}

/// What an outcome means for an answer that says nothing itself.
fn failure(idle: &Message) -> Option<Failure> {
    let (name, message) = match idle.finish.as_deref() {
        Some("interrupted") => ("aborted", "the turn was interrupted"),
        Some("failed") => ("unknown", "the turn failed; its answer does not say why"),
        _ => return None,
    };
    Some(Failure {
        name: name.to_owned(),
        message: message.to_owned(),
        status_code: None,
    })
}
