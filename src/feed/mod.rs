//! Sources of inputs: live servers, and the simulated ones of the demo.
//!
//! Whatever the source, what comes out is the same [`crate::core::wire::Input`].

pub mod demo;
pub mod live;
pub mod scope;
