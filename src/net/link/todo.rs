//! The list of things to do of a session that somebody looks at.
//!
//! What it does: read it once it is asked for; what changes later comes as an event. What it does not:
//! start a project, or call a server degraded that has no such list.

use super::jobs::Job;
use super::loss::Loss;
use super::watch::Watch;
use crate::core::id::SessionId;
use crate::core::time::UnixMs;
use crate::core::wire::v1::Decoded;
use crate::core::wire::{Body, TodoItem, TodoRead};
use crate::net::client::ClientError;

impl Watch<'_> {
    pub(super) fn read_todo(&mut self, id: SessionId) {
        let known = self.roster.sessions.get(&id);
        if known.is_some_and(|it| self.roster.may_read(it)) {
            self.jobs.urgent(Job::Todo(id));
        }
    }

    pub(super) fn on_todo(
        &mut self,
        id: SessionId,
        answer: Result<Decoded<Vec<TodoItem>>, ClientError>,
        asked_at: UnixMs,
    ) -> Result<(), Loss> {
        let read = match answer {
            Ok(read) => read,
            Err(why) if matches!(why, ClientError::Refused | ClientError::Unauthorized) => {
                return Err(why.into());
            }
            Err(why) => {
                tracing::debug!(session = %id, %why, "the list of things to do is not told");
                return Ok(());
            }
        };
        self.outlet
            .skipped("todo", read.skipped, read.why.as_deref());
        self.outlet.push(Body::Todo(TodoRead {
            session: id,
            asked_at,
            items: read.items,
        }));
        Ok(())
    }
}
