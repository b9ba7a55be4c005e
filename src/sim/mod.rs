//! A simulated OpenCode 1.18 server: real HTTP and real event streams on 127.0.0.1.
//!
//! What it does: answer like the real server, traps included (one instance per directory, idle sessions
//! absent, unknown paths `200 text/html`, early and double idle on abort, `sync` doubles, ghosts), and
//! live: turns run, tools work, asks wait for a reply, a crash loses what memory held. It stands behind
//! `--demo` and the tests. What it does not: run commands, call models, touch files, or answer anything
//! but loopback.
//!
//! ```text
//! scenario (TOML) -> seed -> history -> World <- life (turns, prompts, aborts)
//!                                        |  \-> events (hub) -> /event, /global/event
//! request -> routes::gate (log, auth, fault) -> routes::* -> World
//! ```
//!
//! Invariants: each [`Sim`] is a process in miniature with a runtime of its own, so that [`Sim::stop`] ends
//! it like SIGKILL; equal scenarios loaded at equal times get equal ids.

mod cycle;
mod date;
pub mod demo;
mod directive;
mod events;
mod fault;
mod guard;
mod history;
mod ids;
mod life;
pub mod model;
mod process;
mod routes;
pub mod script;
pub mod seed;
mod server;
pub mod wire;
mod world;

pub use fault::Fault;
pub use world::Request;

use crate::core::time::Clock;
use axum::body::Bytes;
use history::Keys;
use life::{Prompt, Turn, submit};
use process::Process;
use script::Step;
use seed::{Scenario, SessionSeed};
use serde_json::Value;
use server::Server;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use wire::Status;

/// How a simulated server is set up. Times are real ones, whatever the clock says.
#[derive(Clone)]
pub struct Config {
    /// For all times in answers and the `Date` header.
    pub clock: Clock,
    /// Directory of the default instance.
    pub cwd: String,
    /// Shown by `/global/health`.
    pub version: String,
    /// User and password for HTTP Basic; the real server's default user is `opencode`.
    pub auth: Option<(String, String)>,
    /// Port on 127.0.0.1; 0 takes any.
    pub port: u16,
    /// Between two heartbeats of a stream.
    pub heartbeat: Duration,
    /// How long an instance takes to load.
    pub boot: Duration,
    /// From a prompt to busy.
    pub start_delay: Duration,
    /// From the early idle of an abort to its end.
    pub settle: Duration,
    /// First wait before a next try; doubles.
    pub retry_unit: Duration,
    /// So many requests after each start are never answered.
    pub stall_first: u32,
}

impl Config {
    /// As a real 1.18.33 behaves, with `/srv/dev` as working directory and no password.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            cwd: "/srv/dev".to_owned(),
            version: "1.18.33".to_owned(),
            auth: None,
            port: 0,
            heartbeat: Duration::from_secs(10),
            boot: Duration::from_millis(50),
            start_delay: Duration::from_millis(80),
            settle: Duration::from_millis(80),
            retry_unit: Duration::from_secs(2),
            stall_first: 0,
        }
    }
}

/// A running simulated server and the strings to pull on it. Dropping it ends it.
pub struct Sim {
    server: Arc<Server>,
    process: Process,
}

impl Sim {
    /// Opens the port and answers from now on.
    pub fn start(config: Config) -> io::Result<Self> {
        let server = Arc::new(Server::new(config));
        let process = Process::start(&server)?;
        Ok(Self { server, process })
    }

    /// `127.0.0.1:PORT`.
    pub fn addr(&self) -> SocketAddr {
        self.process.addr()
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr())
    }

    /// Dies like by SIGKILL: the port and all connections close at once, what memory held is lost.
    pub fn stop(&self) {
        self.process.kill(&self.server);
        self.server.world(world::World::crash);
    }

    /// Comes back on the same port, with what the database held. Nothing happens if it is up.
    pub fn restart(&self) -> io::Result<()> {
        self.process.restart(&self.server)
    }

    /// [`Sim::stop`], then [`Sim::restart`].
    pub fn crash_and_restart(&self) -> io::Result<()> {
        self.stop();
        self.restart()
    }

    /// Adds a session with its past; gives its id.
    pub fn add_session(&self, seed: &SessionSeed) -> String {
        let keys = self.add_sessions(std::slice::from_ref(seed), Keys::new());
        keys.into_values().next().unwrap_or_default()
    }

    /// Adds all of a scenario's sessions; gives the id of each key.
    pub fn load(&self, scenario: &Scenario) -> Keys {
        self.server.world(|w| w.mcp.clone_from(&scenario.mcp));
        self.add_sessions(&scenario.sessions, Keys::new())
    }

    fn add_sessions(&self, seeds: &[SessionSeed], mut keys: Keys) -> Keys {
        let resumes = self.server.world(|w| {
            let mut ids = Vec::new();
            for seed in seeds {
                let id = history::create(w, seed, &keys);
                keys.insert(seed.key.clone(), id.clone());
                ids.push(id);
            }
            let mut resumes = Vec::new();
            for (id, seed) in ids.iter().zip(seeds) {
                let resume = history::fill(w, id, seed, &keys);
                resumes.extend(resume.map(|r| (w.start_run(id), r)));
            }
            resumes
        });
        for (number, resume) in resumes {
            self.resume(number, resume);
        }
        for seed in seeds {
            if let (Some(cycle), Some(id)) = (&seed.cycle, keys.get(&seed.key)) {
                cycle::add(&self.server, id, cycle);
            }
        }
        keys
    }

    fn resume(&self, number: u64, resume: history::Resume) {
        let turn = Turn {
            server: self.server.clone(),
            session: resume.session,
            directory: resume.directory,
            number,
            user: resume.user,
            agent: resume.agent,
            model: resume.model,
            open: resume.open,
            text: String::new(),
            written: 0,
        };
        life::launch(turn, resume.steps, true);
    }

    /// Sends a prompt, whose directives say what happens. `false`: no such session.
    pub fn prompt(&self, session: &str, text: &str) -> bool {
        let text = text.to_owned();
        let prompt = Prompt {
            text,
            ..Prompt::default()
        };
        submit(&self.server, session, prompt)
    }

    /// Sends a prompt and says what its turn does. `false`: no such session.
    pub fn play(&self, session: &str, text: &str, steps: Vec<Step>) -> bool {
        let prompt = Prompt {
            text: text.to_owned(),
            steps: Some(steps),
            ..Prompt::default()
        };
        submit(&self.server, session, prompt)
    }

    /// Sets a reported status, with its event, whatever runs.
    pub fn set_status(&self, session: &str, status: Status) {
        self.server.world(|w| w.set_status(session, status));
    }

    /// Sends any event, without a `sync` double.
    pub fn push_event(&self, directory: &str, kind: &str, properties: &Value) {
        self.server.world(|w| w.emit(directory, kind, properties));
    }

    /// Sends bytes as they are to every open stream: malformed frames, junk.
    pub fn push_raw(&self, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        self.server.world(|w| w.hub.send_raw(&bytes));
    }

    /// `count` deltas at once for the last message of a session; gives how many were sent.
    pub fn flood(&self, session: &str, count: usize) -> usize {
        self.server.world(|w| process::flood(w, session, count))
    }

    /// A finished bash part with so many bytes of output in the last message of a session, sent twice,
    /// each time with its `sync` double. `false`: no such session or no message.
    pub fn big_output(&self, session: &str, bytes: usize) -> bool {
        self.server
            .world(|w| process::big_output(w, session, bytes))
    }

    /// The server has this model no longer: `provider`, `model`.
    pub fn forget_model(&self, provider: &str, name: &str) {
        let gone = world::model(provider, name);
        self.server.world(|w| w.models.retain(|it| *it != gone));
    }

    /// Spoils the answers of a path (exact, or a prefix ending in `*`) from now on.
    pub fn fault(&self, pattern: &str, fault: Fault) {
        self.server
            .faults(|faults| faults.add(pattern, fault, None));
    }

    /// Spoils the next `times` answers of a path.
    pub fn fault_times(&self, pattern: &str, fault: Fault, times: u32) {
        self.server
            .faults(|faults| faults.add(pattern, fault, Some(times)));
    }

    /// No faults any more.
    pub fn clear_faults(&self) {
        self.server.faults(fault::Faults::clear);
    }

    /// Ends all event streams cleanly; the server stays up.
    pub fn end_streams(&self) {
        self.server.world(|w| w.hub.close_all());
    }

    /// Streams stay open and say nothing, heartbeats neither.
    pub fn set_silent(&self, silent: bool) {
        self.server.world(|w| w.hub.silent = silent);
    }

    /// How many event streams are open.
    pub fn subscribers(&self) -> usize {
        self.server.world(|w| w.hub.count())
    }

    /// Ids of the asks that are pending, whatever the lists say.
    pub fn pending(&self) -> Vec<String> {
        self.server.world(|w| {
            let permissions = w.live.permissions.iter().map(|it| it.ask.id.clone());
            let questions = w.live.questions.iter().map(|it| it.ask.id.clone());
            permissions.chain(questions).collect()
        })
    }

    /// All requests so far, oldest first; after 20,000 the older half is forgotten.
    pub fn requests(&self) -> Vec<Request> {
        self.server.world(|w| w.requests.clone())
    }

    /// Requests so far that no path of the program may send (see `guard`), in words.
    pub fn violations(&self) -> Vec<String> {
        self.server.world(|w| w.noticed.requests.clone())
    }

    /// This test sends what must never be sent, to see what comes of it.
    pub fn expect_violations(&self) {
        self.server.world(|w| w.noticed.expected = true);
    }

    /// Directories whose instance was loaded by a request or a prompt, in order; again after a restart.
    pub fn booted(&self) -> Vec<String> {
        self.server.world(|w| w.booted.clone())
    }
}

/// Fails the test that sent what must never be sent. A release build, as the demo is, only ends.
#[cfg(debug_assertions)]
impl Drop for Sim {
    fn drop(&mut self) {
        let expected = self.server.world(|w| w.noticed.expected);
        let seen = self.violations();
        // A second panic while one unwinds would abort the whole test run.
        assert!(
            expected || seen.is_empty() || std::thread::panicking(),
            "the simulated server was sent what must never be sent: {seen:#?}"
        );
    }
}
