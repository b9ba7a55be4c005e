//! ocwatch against the real OpenCode server, 1.18.33, that runs a scripted model.
//!
//! What it does: the server is fetched through npm on first use (`install`), started with a home of its own
//! (`server`), driven over HTTP (`drive`), and each stage is compared with what `ocwatch status --json` says
//! (`ocwatch`), or every line of `ocwatch watch --json` is while turns go by (`watch`). Nothing outside `target/` and temporary directories is touched, and nothing but
//! 127.0.0.1 is talked to once the package is there. What it does not: judge what only time shows; rules and
//! their look-alikes are proven by the scenario files.
//!
//! `OCWATCH_SKIP_LIVE=1` skips all of it, and says so.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

mod drive;
mod events;
#[path = "../hand/mod.rs"]
mod hand;
#[path = "../http/mod.rs"]
mod http;
mod install;
#[path = "../program/lines.rs"]
mod lines;
mod ocwatch;
mod relay;
#[path = "../program/screen.rs"]
mod screen;
mod server;
mod support;

mod acceptance;
mod actions;
mod answers;
mod asks;
mod closed;
mod crash;
mod export;
mod far;
mod inspect;
mod resend;
mod trouble;
mod turns;
mod unstick;
mod wait;
mod watch;
mod zombie;
