//! The command line at the edge.

pub mod args;
pub mod config;
pub mod env;
mod log;
pub mod servers;

use std::process::ExitCode;

/// Runs the program.
pub fn run() -> ExitCode {
    ExitCode::SUCCESS
}
