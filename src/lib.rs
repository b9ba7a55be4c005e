//! ocwatch shows what OpenCode servers say about their sessions beside what is true.

pub mod core;
#[cfg(feature = "net")]
pub mod net;
#[cfg(feature = "sim")]
pub mod sim;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod feed;
#[cfg(feature = "cli")]
pub mod shell;
