//! Two servers on one data folder: each session is shown once, with the one that runs it.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

use ocwatch::core::time::{Clock, UnixMs};
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Sim};
use program::Home;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that stands still while the data is made, so that both servers give it the same ids.
fn clock() -> (Clock, Arc<AtomicI64>) {
    let still = Arc::new(AtomicI64::new(system_clock()().0));
    let held = Arc::clone(&still);
    let real = system_clock();
    let clock: Clock = Arc::new(move || match held.load(Ordering::Relaxed) {
        0 => real(),
        at => UnixMs(at),
    });
    (clock, still)
}

struct Twins {
    sims: [Sim; 2],
    ids: [String; 2],
    home: Home,
}

impl Twins {
    /// The second server runs the first session; nobody runs the second.
    fn new() -> Self {
        let (clock, still) = clock();
        let home = Home::new();
        let start = || Sim::start(Config::new(clock.clone())).expect("a simulated server");
        let sims = [start(), start()];
        let turn = |step: StepSeed, end| TurnSeed::new(60_000, "go", vec![step], end);
        let runs = turn(StepSeed::open(Step::bash("sleep 600")), End::Open);
        let rests = turn(StepSeed::done(Step::say("done"), 1_000), End::Stop);
        let mut ids = Vec::new();
        for (place, sim) in sims.iter().enumerate() {
            let seed = SessionSeed::new("Runs", "/srv/dev").turn(runs.clone());
            let seed = if place == 1 {
                seed.running(Vec::new())
            } else {
                seed
            };
            let rest = SessionSeed::new("Rests", "/srv/dev").turn(rests.clone());
            // First, since what runs takes ids of its own.
            let rest = sim.add_session(&rest);
            ids.push([sim.add_session(&seed), rest]);
        }
        assert_eq!(ids[0], ids[1], "both have the same data");
        still.store(0, Ordering::Relaxed);
        let ids = ids.remove(0);
        Self { sims, ids, home }
    }

    fn run(&self, args: &[&str]) -> program::Ran {
        let [one, other] = [self.sims[0].url(), self.sims[1].url()];
        let servers = ["--server", &one, "--server", &other];
        self.home.run(&[args, &servers].concat())
    }

    fn name(&self, place: usize) -> String {
        self.sims[place].addr().to_string()
    }

    fn aborts(&self, place: usize) -> usize {
        let asked = self.sims[place].requests();
        asked.iter().filter(|it| it.path.contains("/abort")).count()
    }
}

#[test]
fn a_session_is_shown_once_with_the_server_that_runs_it_and_acted_on_there() {
    let twins = Twins::new();
    let ran = twins.run(&["status", "--json", "--settle", "0"]);
    let document = ran.json();
    let rows = document["sessions"].as_array().expect("sessions");
    let of = |id: &str| -> Vec<&Value> { rows.iter().filter(|row| row["id"] == id).collect() };
    let [runs, rests] = [of(&twins.ids[0]), of(&twins.ids[1])];
    assert_eq!((runs.len(), rests.len()), (1, 1), "{document:#}");
    assert_eq!(runs[0]["server"], twins.name(1).as_str());
    assert_eq!(runs[0]["also_on"][0], twins.name(0).as_str());
    assert_eq!(runs[0]["reported"]["type"], "busy");
    assert_eq!(
        rests[0]["server"],
        twins.name(0).as_str(),
        "the first, where none runs it"
    );

    let ran = twins.run(&["abort", &twins.ids[0], "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.err.contains("Abort \"Runs\""), "{}", ran.err);
    assert_eq!((twins.aborts(0), twins.aborts(1)), (0, 1), "{ran:#?}");

    // One of them can still be named.
    let named = format!("{}/{}", twins.name(1), twins.ids[1]);
    let ran = twins.run(&["explain", "--json", &named]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn what_ran_on_a_server_that_is_away_is_not_passed_over() {
    let twins = Twins::new();
    twins.sims[1].stop();
    let ran = twins.run(&["status", "--json", "--settle", "0"]);
    let document = ran.json();
    let rows = document["sessions"].as_array().expect("sessions");
    let row = rows
        .iter()
        .find(|row| row["id"] == twins.ids[0].as_str())
        .expect("it");
    assert_eq!(row["server"], twins.name(0).as_str());
    assert_eq!(row["agreement"], "disagree", "it was left open: {row:#}");
}
