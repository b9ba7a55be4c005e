//! A server as the user named it, with what is needed to speak to it.
//!
//! Invariant: no `Debug` or `Display` of anything here shows a password; the address holds none.

use crate::core::id::Directory;
use crate::core::store::{ReadOnly, ServerSpec};
use crate::core::time::Clock;
use crate::net::client::{Address, Client, ClientError, Credentials, Route, Waits};

/// A server to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Shown everywhere: from the configuration, else `host:port`.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// If any are known.
    pub credentials: Option<Credentials>,
    /// Only these directories; empty: all.
    pub directories: Vec<Directory>,
    /// Nothing may be changed on it, because of this.
    pub read_only: Option<ReadOnly>,
    /// Why it is watched: `of the configuration`, or how it was found.
    pub source: String,
    /// The way to it.
    pub route: Route,
}

impl Target {
    /// What the core knows of it.
    pub fn spec(&self) -> ServerSpec {
        ServerSpec {
            name: self.name.clone(),
            url: self.address.shown(),
            read_only: self.read_only,
        }
    }

    /// A client of it.
    pub fn client(&self, clock: &Clock) -> Result<Client, ClientError> {
        let client = Client::by(
            self.address.clone(),
            self.credentials.clone(),
            Waits::default(),
            clock.clone(),
            &self.route,
        )?;
        Ok(match self.read_only {
            Some(_) => client.only_reading(),
            None => client,
        })
    }
}
