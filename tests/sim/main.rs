//! The simulated server keeps the traps of the real one: same shapes and same order of events as recorded.
#![cfg(all(feature = "sim", feature = "net"))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod bodies;
mod events;
mod guard;
mod harness;
#[path = "../http/mod.rs"]
mod http;
mod outer;
mod runs;
mod tree;
