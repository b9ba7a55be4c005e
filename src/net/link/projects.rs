//! A server without a list of the sessions of all projects (1.1 and older).
//!
//! What it does: let the worktrees of `GET /project` and the directories seen on the stream stand in
//! for that list, and name what is missing. What it does not: start a project for it. A list of
//! projects does not say when a session of one last changed, so with [`Inspect::Recent`] a project
//! that nothing else is known of stays asleep, and is shown so.
//!
//! [`Inspect::Recent`]: super::Inspect::Recent

use super::inspect::is_askable;
use super::jobs::Job;
use super::loss::Loss;
use super::snapshot::Stage;
use super::watch::Watch;
use crate::core::id::Directory;
use crate::core::wire::v1::Decoded;
use crate::core::wire::{Body, Endpoint, ReadFailed};
use crate::net::client::ClientError;

impl Watch<'_> {
    /// The list of sessions came. If it is not of all, the rest is looked for.
    pub(super) fn stand_in(&mut self) {
        if self.lists_all {
            return;
        }
        self.jobs.urgent(Job::Projects);
        if self.stage != Stage::Live {
            return; // each place is listed when it first answers
        }
        for key in self.asked_places() {
            let ask = self.roster.to_ask(&key);
            if ask.is_some() {
                self.jobs.calm(Job::SessionsOf(key, ask));
            }
        }
    }

    /// Each project is a place that the policy decides on.
    pub(super) fn on_projects(
        &mut self,
        answer: Result<Decoded<Vec<Directory>>, ClientError>,
    ) -> Result<(), Loss> {
        let text = match answer {
            Ok(list) => {
                let named = list.items.iter().filter(|it| is_askable(it));
                let mut number = 0;
                for name in named {
                    self.roster.project(name);
                    number += 1;
                }
                self.look_up();
                format!("no list of all projects: the worktrees of /project stand in ({number})")
            }
            Err(error) if matches!(error, ClientError::Refused | ClientError::Unauthorized) => {
                return Err(error.into());
            }
            Err(error) => {
                format!("no list of all projects, nor /project ({error}): only those seen are read")
            }
        };
        self.outlet.push(Body::Failed(ReadFailed {
            endpoint: Endpoint::AllSessions,
            directory: None,
            session: None,
            status: None,
            text,
        }));
        Ok(())
    }
}
