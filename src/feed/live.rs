//! Live servers: one link task each, all into one bounded channel.
//!
//! What it does: start them, pass commands on, end them. What it does not: look at what comes.

use crate::core::id::ServerId;
use crate::core::time::Clock;
use crate::core::wire::Input;
use crate::feed::scope::Scope;
use crate::net::link::{self, LinkCommand, LinkSpec};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Inputs that may wait; links fold what is beyond.
const WAITING_INPUTS: usize = 4096;
/// Commands that may wait for one link.
const WAITING_COMMANDS: usize = 64;

/// The sending ends to all links. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Commands(Arc<[mpsc::Sender<LinkCommand>]>);

impl Commands {
    /// Never waits. A link that is overwhelmed or gone loses the command, which the log tells.
    pub fn send(&self, server: ServerId, command: LinkCommand) {
        let Some(link) = self.0.get(usize::from(server.0)) else {
            return;
        };
        if let Err(why) = link.try_send(command) {
            tracing::warn!(server = server.0, %why, "a link takes no command");
        }
    }

    /// Ends all links.
    pub fn shut_down(&self) {
        for link in self.0.iter() {
            // A link that is gone needs no end.
            link.try_send(LinkCommand::Shutdown).ok();
        }
    }
}

/// A running feed.
pub struct LiveFeed {
    /// What the links say.
    pub inputs: mpsc::Receiver<Input>,
    /// What of it counts.
    pub scope: Scope,
    /// To the links.
    pub commands: Commands,
    /// The link tasks; one that ends before it is told to has panicked.
    pub links: JoinSet<()>,
}

impl LiveFeed {
    /// Of another source; commands go nowhere.
    pub fn without_links(inputs: mpsc::Receiver<Input>) -> Self {
        Self {
            inputs,
            scope: Scope::default(),
            commands: Commands(Vec::new().into()),
            links: JoinSet::new(),
        }
    }
}

/// Starts a link for each server; [`ServerId`] is the place in the list.
pub fn start(specs: Vec<LinkSpec>, clock: &Clock) -> LiveFeed {
    let (to_feed, inputs) = mpsc::channel(WAITING_INPUTS);
    let mut links = JoinSet::new();
    let scope = specs.iter().map(|spec| spec.directories.clone()).collect();
    let mut commands = Vec::with_capacity(specs.len());
    for spec in specs {
        let (to_link, of_link) = mpsc::channel(WAITING_COMMANDS);
        commands.push(to_link);
        let link = link::spawn(spec, clock.clone(), to_feed.clone(), of_link);
        links.spawn(async move {
            if let Err(why) = link.await
                && why.is_panic()
            {
                std::panic::resume_unwind(why.into_panic());
            }
        });
    }
    LiveFeed {
        inputs,
        scope: Scope::new(scope),
        commands: Commands(commands.into()),
        links,
    }
}
