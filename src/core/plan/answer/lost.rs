//! Questions that run although the server lists no ask for them.
//!
//! What it does: give what they ask, from the part. What it does not: wait until that is sure; the
//! finding `lost-ask` does.

use crate::core::id::SessionKey;
use crate::core::judge::{holds_up, standing_asks};
use crate::core::plan::descendants;
use crate::core::store::{Server, Session, Store};
use crate::core::wire::{Message, Part, Question, ToolState, v1};

/// A question that nobody can answer.
#[derive(Debug, Clone, PartialEq)]
pub struct LostQuestion {
    /// Who asks.
    pub key: SessionKey,
    /// Its title.
    pub title: String,
    /// What is asked, as it stands in the part.
    pub questions: Vec<Question>,
}

/// Those of a session and of all below it.
pub fn lost(store: &Store, key: &SessionKey) -> Vec<LostQuestion> {
    let Some(server) = store.server(key.server) else {
        return Vec::new();
    };
    let own = server.sessions.get(&key.session).into_iter();
    let all = own.chain(descendants(server, &key.session));
    all.filter_map(|session| of(server, session, key)).collect()
}

fn of(server: &Server, session: &Session, from: &SessionKey) -> Option<LostQuestion> {
    if !server.reported(session).is_running() {
        return None;
    }
    let message = session.tail.last_assistant()?;
    let mut parts = message.parts.iter();
    let part = parts.find(|part| is_unlisted(server, session, message, part))?;
    let asked = part.tool()?.questions.as_ref();
    Some(LostQuestion {
        key: SessionKey::new(from.server, session.info.id.clone()),
        title: session.info.title.clone(),
        questions: asked.map(v1::questions).unwrap_or_default(),
    })
}

fn is_unlisted(server: &Server, session: &Session, message: &Message, part: &Part) -> bool {
    let running = part
        .tool()
        .is_some_and(|tool| tool.tool == "question" && tool.state == ToolState::Running);
    let mut asks = standing_asks(server, session).into_iter();
    running && !asks.any(|it| it.ask.tool.is_none() || holds_up(it, message, part))
}
