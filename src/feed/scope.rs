//! Only these directories: what is said of others does not get in.
//!
//! What it does: drop inputs, and rows of lists, that are about other directories of a server. What
//! it does not: keep the links from asking; they have a filter of their own. Invariant: without
//! directories everything passes.

use crate::core::id::{Directory, ServerId};
use crate::core::wire::{Body, EventKind, Input};

/// By [`ServerId`]: the directories that pass; none named: all.
#[derive(Debug, Clone, Default)]
pub struct Scope(Vec<Vec<Directory>>);

impl Scope {
    /// The directories of each server, in the servers' order.
    pub fn new(by_server: Vec<Vec<Directory>>) -> Self {
        Self(by_server)
    }

    /// Leaves only what passes.
    pub fn narrow(&self, inputs: &mut Vec<Input>) {
        if self.0.iter().any(|only| !only.is_empty()) {
            inputs.retain_mut(|input| self.passes(input));
        }
    }

    fn passes(&self, input: &mut Input) -> bool {
        let only = self.of(input.server);
        if only.is_empty() {
            return true;
        }
        if let Body::Sessions(list) = &mut input.body {
            list.rows.retain(|row| only.contains(&row.directory));
        }
        directory(&input.body).is_none_or(|directory| only.contains(directory))
    }

    fn of(&self, server: ServerId) -> &[Directory] {
        let only = self.0.get(usize::from(server.0));
        only.map_or(&[], Vec::as_slice)
    }
}

/// What an input is about, where it says so.
fn directory(body: &Body) -> Option<&Directory> {
    match body {
        Body::Session(read) => Some(&read.row.directory),
        Body::Status(read) => Some(&read.directory),
        Body::Asks(read) => Some(&read.directory),
        Body::Mcp(read) => Some(&read.directory),
        Body::Directory(report) => Some(&report.directory),
        Body::Failed(failed) => failed.directory.as_ref(),
        Body::Event(event) => match &event.kind {
            EventKind::SessionUpdated(info) => Some(&info.directory),
            _ => event.directory.as_ref(),
        },
        Body::Link(_)
        | Body::Sessions(_)
        | Body::SessionGone(_)
        | Body::Tail(_)
        | Body::Inbox(_)
        | Body::Todo(_)
        | Body::AbortSent(_)
        | Body::ClockJumped => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::Epoch;
    use crate::core::time::UnixMs;
    use crate::core::wire::{DirectoryReport, DirectoryState};

    fn about(server: u16, directory: &str) -> Input {
        Input {
            server: ServerId(server),
            epoch: Epoch(1),
            at: UnixMs(1),
            body: Body::Directory(DirectoryReport {
                directory: directory.into(),
                state: DirectoryState::Loaded,
            }),
        }
    }

    #[test]
    fn only_named_directories_get_in_and_only_where_some_are_named() {
        let scope = Scope::new(vec![vec!["/a".into()], Vec::new()]);
        let mut inputs = vec![
            about(0, "/a"),
            about(0, "/b"),
            about(1, "/b"),
            about(7, "/c"),
        ];
        scope.narrow(&mut inputs);
        assert_eq!(inputs, [about(0, "/a"), about(1, "/b"), about(7, "/c")]);
    }
}
