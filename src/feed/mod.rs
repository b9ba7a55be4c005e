//! Sources of inputs: live servers, the simulated ones of the demo, and recordings.
//!
//! Whatever the source, what comes out is the same [`crate::core::wire::Input`].

pub mod demo;
pub mod live;
pub mod record;
pub mod replay;
pub mod scope;
