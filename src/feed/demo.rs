//! The demo's servers: simulated, but asked and heard like real ones.

use crate::core::time::Clock;
use crate::sim;
use std::io;

/// Running simulated servers. Dropping it ends them; not inside an asynchronous task.
pub struct DemoFeed(sim::demo::Demo);

/// Starts them on free ports of 127.0.0.1.
pub fn start(clock: &Clock) -> io::Result<DemoFeed> {
    sim::demo::start(clock).map(DemoFeed)
}

impl DemoFeed {
    /// Name and URL of each.
    pub fn servers(&self) -> Vec<(String, String)> {
        self.0.servers()
    }
}
