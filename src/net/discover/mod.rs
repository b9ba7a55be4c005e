//! Which OpenCode servers are there when none is named.
//!
//! ```text
//! usual address, processes, service file, mDNS -> candidates (each address once) -> probe -> found | note
//! ```
//!
//! What it does: look where servers of this user usually are, ask each candidate who it is, give
//! what was found a name and say why, and what was there but is no server. What it does not: watch,
//! or send a password anywhere but that of the service file to the address in that file. Invariant:
//! a look is bounded in time, whatever answers or does not.

mod candidate;
#[cfg(not(target_os = "linux"))]
mod lsof;
mod mdns;
mod names;
mod probe;
#[cfg(target_os = "linux")]
mod proc;
mod service;
mod sockets;

pub use sockets::is_exposed;

use crate::core::time::Clock;
use crate::net::client::{Address, Credentials};
use candidate::Candidate;
use sockets::Listener;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::timeout;

/// How long the network may take to answer who is there.
const MDNS_WAIT: Duration = Duration::from_millis(1_500);

/// Where to look.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Where a server listens unless told otherwise.
    pub usual: Option<SocketAddr>,
    /// Which processes of this user count.
    pub processes: Processes,
    /// Where a 2.x service leaves word.
    pub service_file: Option<PathBuf>,
    /// Ask the local network too.
    pub mdns: bool,
}

/// Which processes of this user are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Processes {
    /// All.
    All,
    /// Those that work below this folder; for tests.
    Below(PathBuf),
    /// None; for tests.
    None,
}

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// For people: the folder that it works in, else `host:port`. Each once.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// Those of the service file, for the address in it.
    pub credentials: Option<Credentials>,
    /// Why it is thought to be one: `process 12 in /home/me/app listens there`.
    pub why: String,
    /// Other machines can reach it although its address is of this one.
    pub exposed: bool,
}

/// What a look came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// Servers, the usual address first.
    pub found: Vec<Found>,
    /// What was looked at and is none, a fragment each: `nothing listens on 127.0.0.1:4096`.
    pub notes: Vec<String>,
}

/// Looks once, wherever is wished.
pub async fn look(wish: &Wish, clock: &Clock) -> Looked {
    let processes = wish.processes.clone();
    let scan = tokio::task::spawn_blocking(move || scan(&processes));
    let scan = timeout(probe::LONGEST, scan);
    let network = async {
        if wish.mdns {
            mdns::browse(MDNS_WAIT).await
        } else {
            mdns::Browsed::default()
        }
    };
    let (scan, network) = tokio::join!(scan, network);
    let scan = scan.map_or_else(|_| Scan::too_long(), Result::unwrap_or_default);
    let usual = wish.usual.and_then(Candidate::usual);
    let mut candidates: Vec<Candidate> = usual.into_iter().collect();
    candidates.extend(scan.listeners.iter().flat_map(Candidate::of_process));
    let mut notes = Vec::new();
    if wish.processes != Processes::None {
        notes.extend(scan.note());
    }
    if let Some(path) = &wish.service_file {
        let service = service::read(path, &scan);
        match service.and_then(|it| it.map(Candidate::of_service).transpose()) {
            Ok(service) => candidates.extend(service),
            Err(why) => notes.push(why),
        }
    }
    notes.extend(network.note(wish.mdns));
    let announced = network.servers.into_iter();
    candidates.extend(announced.filter_map(Candidate::of_network));
    let mut looked = probe::all(candidate::merge(candidates), clock).await;
    looked.notes.extend(notes);
    names::give(&mut looked.found);
    looked
}

/// The addresses of this machine's listening sockets that other machines can reach.
pub fn exposed() -> Vec<SocketAddr> {
    listening()
        .into_iter()
        .map(|socket| socket.address)
        .filter(|address| !address.ip().to_canonical().is_loopback())
        .collect()
}

/// The processes of this user that may be servers.
#[derive(Debug, Default)]
struct Scan {
    /// Those that listen.
    listeners: Vec<Listener>,
    /// Which do not.
    silent: Vec<u32>,
    /// Why they could not be looked at.
    failed: Option<String>,
}

impl Scan {
    fn too_long() -> Self {
        Self {
            failed: Some("that took too long".to_owned()),
            ..Self::default()
        }
    }

    fn note(&self) -> Option<String> {
        if let Some(why) = &self.failed {
            return Some(format!("the processes could not be looked at: {why}"));
        }
        match (self.listeners.len(), self.silent.len()) {
            (1.., _) => None,
            (0, 0) => Some("no opencode process of yours runs".to_owned()),
            (0, 1) => Some("an opencode process of yours runs, but listens on no port".to_owned()),
            (0, many) => Some(format!(
                "{many} opencode processes of yours run, but listen on no port"
            )),
        }
    }
}

#[cfg(target_os = "linux")]
fn scan(which: &Processes) -> Scan {
    proc::scan(which)
}

#[cfg(not(target_os = "linux"))]
fn scan(which: &Processes) -> Scan {
    lsof::scan(which)
}

#[cfg(target_os = "linux")]
fn listening() -> Vec<sockets::Socket> {
    proc::listening()
}

#[cfg(not(target_os = "linux"))]
fn listening() -> Vec<sockets::Socket> {
    Vec::new()
}
