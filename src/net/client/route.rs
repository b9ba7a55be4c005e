//! How a server is reached.
//!
//! What it does: hold what the way to a server needs besides its address. What it does not: connect, or
//! know the environment.

use super::{Proxy, Trust};
use crate::net::tunnel::Ssh;

/// The way to one server. The default: straight, trusting the system's authorities.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// Whose certificates count.
    pub trust: Trust,
    /// What stands between.
    pub proxy: Option<Proxy>,
    /// How `ssh` is run, where the address says so.
    pub ssh: Ssh,
}
