//! A prompt and its answer.

use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{Message, Role, Tokens};

/// A prompt, `msg_1`, and an answer that ended as it should, `msg_2`; neither has parts.
pub fn answered(session: &str, at: UnixMs) -> [Message; 2] {
    [("msg_1", Role::User), ("msg_2", Role::Assistant)].map(|(id, role)| {
        let answer = role == Role::Assistant;
        Message {
            id: id.into(),
            session: session.into(),
            role,
            parent: answer.then(|| "msg_1".into()),
            created: at,
            completed: answer.then_some(at),
            finish: answer.then(|| "stop".to_owned()),
            error: None,
            summary: false,
            structured: false,
            agent: None,
            model: None,
            cost: 0.0,
            tokens: Tokens::default(),
            parts: Vec::new(),
        }
    })
}
