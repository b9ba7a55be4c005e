//! Talking to OpenCode servers: requests, event streams, and one task per server that joins both
//! into inputs.
//!
//! What it does: [`client`] has one method per endpoint, [`stream`] reads events, [`link`] keeps one
//! server known, [`tunnel`] runs `ssh` to those that only another machine reaches, [`discover`] finds
//! servers that nobody named. What it does not: interpret what is said, or show anything. Invariants: memory is
//! bounded whatever a server sends ([`squeeze`], [`lines`], `link::pending`); no password appears
//! in an error, a log line or a `Debug` text; nothing is asked that would start a project which the
//! inspect policy leaves asleep.

pub mod client;
pub mod discover;
pub mod lines;
pub mod link;
pub mod private;
pub mod said;
pub mod squeeze;
pub mod stream;
pub mod tunnel;
