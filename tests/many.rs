//! Ten servers with a thousand sessions each, four of them broken in a way of their own.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;
#[path = "program/screen.rs"]
mod screen;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Fault, Sim};
use portable_pty::CommandBuilder;
use program::Home;
use screen::Screen;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const SESSIONS: u64 = 1_000;
/// Of these, so many changed within a week.
const FRESH: u64 = 100;
const FLAP: Duration = Duration::from_secs(2);
/// For `status --json` of all ten. Unoptimised, and with the simulated servers and other tests on the
/// same processors, the work alone may take longer; a wait for the wedged server would still show.
const AT_MOST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 30 } else { 3 });

/// The servers in their order; the first six are well.
const NAMES: [&str; 10] = [
    "well0", "well1", "well2", "well3", "well4", "well5", "flapping", "wedged", "locked", "html",
];

struct Fleet {
    sims: Vec<Arc<Sim>>,
    home: Home,
    ends: Arc<AtomicBool>,
    flapper: Option<JoinHandle<()>>,
}

/// One stale-busy session, and many that are done.
fn fill(sim: &Sim) {
    let said = |age: u64| {
        let step = StepSeed::done(Step::say("done"), 1_000);
        TurnSeed::new(age, "go", vec![step], End::Stop)
    };
    let stale = SessionSeed::new("Stale", "/srv/dev")
        .turn(said(HOUR))
        .busy();
    sim.add_session(&stale);
    for n in 1..SESSIONS {
        let age = if n < FRESH {
            n * HOUR
        } else {
            8 * DAY + n * HOUR
        };
        let seed = SessionSeed::new(format!("Session {n}"), "/srv/dev");
        sim.add_session(&seed.turn(said(age)));
    }
}

impl Fleet {
    fn new() -> Self {
        let home = Home::new();
        let mut config = String::new();
        let mut sims = Vec::new();
        for name in NAMES {
            let sim = Sim::start(Config::new(system_clock())).expect("a simulated server");
            fill(&sim);
            match name {
                "wedged" => sim.fault("*", Fault::Stall),
                "locked" => sim.fault("*", Fault::Unauthorized),
                "html" => sim.fault("*", Fault::Html),
                _ => {}
            }
            writeln!(
                config,
                "[[server]]\nname = \"{name}\"\nurl = \"{}\"",
                sim.url()
            )
            .expect("text");
            sims.push(Arc::new(sim));
        }
        let folder = home.path().join("config/ocwatch");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("config.toml"), config).expect("a configuration");
        Self {
            sims,
            home,
            ends: Arc::default(),
            flapper: None,
        }
    }

    /// The flapping server dies and comes back from now on.
    fn flap(&mut self) {
        let (sim, ends) = (Arc::clone(&self.sims[6]), Arc::clone(&self.ends));
        self.flapper = Some(std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                sim.stop();
                std::thread::park_timeout(FLAP / 2);
                // Its port may be taken meanwhile: then it stays away.
                sim.restart().ok();
                std::thread::park_timeout(FLAP / 2);
            }
        }));
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(flapper) = self.flapper.take() {
            flapper.thread().unpark();
            flapper.join().ok();
        }
    }
}

/// By server: how many sessions stand there with which reported state and level.
fn counts(document: &Value) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut counts: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    for row in document["sessions"].as_array().expect("sessions") {
        let what = format!("{} {}", word(&row["reported"]["type"]), word(&row["level"]));
        let of = counts.entry(word(&row["server"])).or_default();
        *of.entry(what).or_default() += 1;
    }
    counts
}

fn states(document: &Value) -> BTreeMap<&str, &str> {
    let servers = document["servers"].as_array().expect("servers");
    servers
        .iter()
        .map(|it| {
            (
                it["name"].as_str().expect("a name"),
                it["state"].as_str().expect("a state"),
            )
        })
        .collect()
}

#[test]
fn status_of_ten_servers_is_right_and_quick() {
    let mut fleet = Fleet::new();
    fleet.flap();
    for round in 0..2 {
        let begun = Instant::now();
        let ran = fleet.home.run(&["status", "--json"]);
        let took = begun.elapsed();
        eprintln!("status --json, round {round}: {took:?}");
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        let document = ran.json();
        let states = states(&document);
        let broken = [
            ("wedged", "wedged"),
            ("locked", "unauthorized"),
            ("html", "not-opencode"),
        ];
        for (name, state) in broken {
            assert_eq!(states[name], state, "{states:?}\n{}", ran.err);
        }
        let counts = counts(&document);
        let well = BTreeMap::from([
            ("busy stuck".to_owned(), 1),
            ("idle ok".to_owned(), SESSIONS - 1),
        ]);
        for name in &NAMES[..6] {
            assert_eq!(states[name], "live");
            assert_eq!(counts[*name], well, "{name}");
        }
        for (name, levels) in &counts {
            let absent = states[name.as_str()] != "live";
            let idle = levels.keys().any(|it| it.starts_with("idle"));
            assert!(
                !(absent && idle),
                "{name} is {}: {levels:?}",
                states[name.as_str()]
            );
        }
        assert!(took < AT_MOST, "{took:?}");
    }
}

#[test]
fn the_dashboard_of_ten_servers_is_right_about_those_that_are_well() {
    let mut fleet = Fleet::new();
    fleet.flap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ocwatch"));
    command.env_clear();
    for (name, value) in fleet.home.variables() {
        command.env(name, value);
    }
    command.arg("--no-mouse");
    let mut screen = Screen::start(command);
    screen.until_text("6 stuck");
    screen.until("the broken ones", |it| {
        let text = it.contents();
        ["wd ○", "lo ○", "ht ○"]
            .iter()
            .all(|chip| text.contains(chip))
    });
    screen.press("/server:well3 level:stuck\r");
    screen.until_text("1 of 7000 ");
    assert!(screen.text().contains("w3 Stale"), "{}", screen.text());
    screen.press("Q");
    assert_eq!(screen.end(), 0);
}
