//! What `watch` tells, in words: each change of a verdict with its reason and its mark.
//!
//! What it does: word what [`changes`] found. What it does not: decide what a change is.

mod form;

pub(super) use form::said;
pub use form::{change_json, change_line};

use crate::core::changes;
use crate::core::changes::{Audience, State, Title};
use crate::core::id::{SessionId, SessionKey};
use crate::core::judge::Judgement;
use crate::core::present::{Mark, header, rows, words};
use crate::core::store::Store;
use crate::core::time::UnixMs;

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// When it was noticed; watcher's clock.
    pub at: UnixMs,
    /// Name of the server.
    pub server: String,
    /// Which session; `None`: the server itself.
    pub session: Option<(SessionId, Title)>,
    /// What was told before; `None`: nothing.
    pub from: Option<State>,
    /// What is so now; `None`: it is gone.
    pub to: Option<State>,
    /// Why, one clean line for a person; may be empty.
    pub text: String,
    /// The mark of what is so now.
    pub mark: Mark,
}

/// Remembers what was told.
#[derive(Debug, Clone)]
pub struct Changes(changes::Changes);

impl Changes {
    /// Nothing was told yet.
    pub fn new(audience: Audience) -> Self {
        Self(changes::Changes::new(audience))
    }

    /// When there may be something to tell although nothing happened; watcher's clock.
    pub fn due(&self) -> Option<UnixMs> {
        self.0.due()
    }

    /// Everything that changed since the last call. `now` is the watcher's clock.
    pub fn next(&mut self, store: &Store, judgement: &Judgement, now: UnixMs) -> Vec<Change> {
        let found = self.0.next(store, judgement, now);
        let worded = found.into_iter();
        worded
            .filter_map(|it| worded_of(store, judgement, it, now))
            .collect()
    }
}

fn worded_of(
    store: &Store,
    judgement: &Judgement,
    change: changes::Change,
    now: UnixMs,
) -> Option<Change> {
    let server = store.server(change.server)?;
    let (text, mark) = match (&change.session, &change.to) {
        (Some(_), None) => ("the server no longer lists it".to_owned(), Mark::Unknown),
        (Some((id, _)), Some(_)) => {
            let key = SessionKey::new(change.server, id.clone());
            let verdict = judgement.verdicts.get(&key)?;
            (rows::why(verdict, server, now).0, words::mark(verdict))
        }
        (None, _) => {
            let mut verdicts = judgement.servers.iter();
            let verdict = verdicts.find(|it| it.server == change.server)?;
            let text = header::told(server, verdict, &change.before);
            (text, header::mark(server, verdict))
        }
    };
    Some(Change {
        at: change.at,
        server: server.spec.name.clone(),
        session: change.session,
        from: change.from,
        to: change.to,
        text,
        mark,
    })
}
