//! The program: hands everything to [`ocwatch::cli::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ocwatch::cli::run()
}
