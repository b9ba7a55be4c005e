//! The servers behind `--demo`: two, with believable sessions in every state that is judged.
//!
//! What it does: start one simulated server per scenario file of `assets/demo`, and let happen what they
//! say happens later (prompts, a crash). What it does not: judge, or need a network beyond loopback.
//! Invariant: everything ends when the [`Demo`] is dropped.

use super::history::Keys;
use super::seed::{Later, Scenario};
use super::{Config, Sim};
use crate::core::time::Clock;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

const SCENARIOS: [&str; 2] = [
    include_str!("../../assets/demo/home.toml"),
    include_str!("../../assets/demo/build.toml"),
];

struct Shown {
    name: String,
    sim: Arc<Sim>,
    keys: Keys,
}

/// The running demo.
pub struct Demo {
    servers: Vec<Shown>,
    /// Dropping them tells the drivers to end.
    _drivers: Vec<Sender<()>>,
}

/// Starts all servers of the demo.
pub fn start(clock: &Clock) -> io::Result<Demo> {
    let scenarios = SCENARIOS.map(|text| Scenario::parse(text).map_err(io::Error::other));
    let mut servers = Vec::new();
    let mut drivers = Vec::new();
    for scenario in scenarios {
        let scenario = scenario?;
        let (sim, keys) = serve(clock, &scenario)?;
        let (alive, ended) = channel();
        let shown = Shown {
            name: scenario.name,
            sim: sim.clone(),
            keys: keys.clone(),
        };
        std::thread::spawn(move || drive(&sim, &keys, scenario.later, &ended));
        servers.push(shown);
        drivers.push(alive);
    }
    Ok(Demo {
        servers,
        _drivers: drivers,
    })
}

fn serve(clock: &Clock, scenario: &Scenario) -> io::Result<(Arc<Sim>, Keys)> {
    let sim = Sim::start(Config {
        cwd: scenario.cwd.clone(),
        version: scenario.version.clone(),
        ..Config::new(clock.clone())
    })?;
    let keys = sim.load(scenario);
    Ok((Arc::new(sim), keys))
}

/// Lets happen what the scenario says, until all has happened or the demo ends.
fn drive(sim: &Sim, keys: &Keys, mut later: Vec<Later>, ended: &Receiver<()>) {
    later.sort_by_key(|event| event.after.0);
    let mut passed = 0;
    for event in later {
        let wait = event.after.0.saturating_sub(passed);
        passed = event.after.0;
        if ended.recv_timeout(Duration::from_millis(wait)) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        if let Some(away) = event.crash {
            sim.stop();
            if ended.recv_timeout(away.duration()) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            passed += away.0;
            // The port may have been taken meanwhile: then the server stays away.
            drop(sim.restart());
        } else if let Some(session) = keys.get(&event.session) {
            sim.play(session, &event.prompt, event.steps);
        }
    }
}

impl Demo {
    /// Name and URL of each server.
    pub fn servers(&self) -> Vec<(String, String)> {
        let all = self.servers.iter();
        all.map(|shown| (shown.name.clone(), shown.sim.url()))
            .collect()
    }

    /// One of the servers.
    pub fn sim(&self, name: &str) -> Option<&Sim> {
        self.shown(name).map(|shown| &*shown.sim)
    }

    /// Id of a session by its key in the scenario file of a server.
    pub fn session(&self, server: &str, key: &str) -> Option<&str> {
        self.shown(server)?.keys.get(key).map(String::as_str)
    }

    fn shown(&self, name: &str) -> Option<&Shown> {
        self.servers.iter().find(|shown| shown.name == name)
    }
}
