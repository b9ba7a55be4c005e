//! Joins the pure core to the world: clock, terminal, sockets, files.
//!
//! What it does: the dashboard's loop, the headless commands, and carrying out effects. What it
//! does not: decide anything; arguments and configuration are read in `cli`.

pub mod act;
pub mod attach;
pub mod audit;
pub mod clock;
pub mod commands;
pub mod effects;
pub mod exit;
pub mod interactive;
pub mod memory;
pub mod metrics;
pub mod notify;
pub mod print;
mod save;
pub mod session_ref;
pub mod signals;
pub mod snapshot;
mod table;
pub mod target;
pub mod watch;
pub mod welcome;
