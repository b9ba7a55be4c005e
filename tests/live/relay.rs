//! A relay before the real server that makes its end of a turn late.
//!
//! The real server says "idle" in the same moment as "completed" when the machine is idle; under load
//! the report lags. What it does: pass on every byte as it is, but hold back the event stream for a
//! while before each event that says idle. What it does not: change or drop anything.

use crate::server::OpenCode;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// Passes connections on until the process ends; gives its own URL.
pub fn lagging(server: &OpenCode, lag: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let target = server.url.trim_start_matches("http://").to_owned();
    spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(&target) else {
                continue;
            };
            let (from_client, to_client) = (client.try_clone().unwrap(), client);
            let (from_server, to_server) = (server.try_clone().unwrap(), server);
            spawn(move || pass_on(from_client, to_server, Duration::ZERO));
            spawn(move || pass_on(from_server, to_client, lag));
        }
    });
    format!("http://127.0.0.1:{port}")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the lag itself, not a wait for something"
)]
fn pass_on(mut from: TcpStream, mut to: TcpStream, lag: Duration) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let (now, late) = buffer[..count].split_at(idle_at(&buffer[..count]).unwrap_or(count));
        if to.write_all(now).is_err() {
            return;
        }
        if !late.is_empty() {
            sleep(lag);
            if to.write_all(late).is_err() {
                return;
            }
        }
    }
    to.shutdown(Shutdown::Write).ok();
}

/// Where the first event that says idle begins.
fn idle_at(bytes: &[u8]) -> Option<usize> {
    let idle = find(bytes, b"\"status\":{\"type\":\"idle\"}")?;
    let begins = bytes[..idle].windows(6).rposition(|six| six == b"data: ");
    Some(begins.unwrap_or(idle))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|some| some == what)
}
