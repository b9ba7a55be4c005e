//! From a key to its effect on the screen, while the server sends 20,000 deltas in one burst.
//!
//! `cargo bench --bench latency`
//!
//! Measured from outside: the program runs in a pseudo terminal, a key moves the selection somewhere
//! in the middle of a burst, and the time until the screen shows it is what a person waits. The same
//! keys without a burst are the yardstick. A try counts only if the end of its burst (a new title,
//! sent last) was not on the screen before the key's effect.

mod pty;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::{End, SessionSeed, TurnSeed};
use ocwatch::sim::{Config, Sim};
use pty::{Failure, Pty, now};
use std::io::{Write, stdout};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;
use vt100::Screen;

const DELTAS: usize = 20_000;
const TRIES: u32 = 60;
const DIRECTORY: &str = "/srv/dev";
const LIMIT: Duration = Duration::from_secs(60);
const TARGET: Duration = Duration::from_millis(100);

fn main() -> Result<(), Failure> {
    let mut bench = Bench::start()?;
    let mut quiet = Vec::new();
    for _ in 0..TRIES {
        quiet.push(bench.key()?);
    }
    let mut whole = Vec::new();
    for _ in 0..3 {
        whole.push(bench.burst(None)?.whole);
    }
    whole.sort();
    let mut delayed = Vec::new();
    let mut late = 0;
    for n in 0..TRIES {
        let tried = bench.burst(Some(whole[1] * n / TRIES))?;
        match tried.key {
            Some(latency) => {
                if latency > TARGET {
                    let offset = whole[1] * n / TRIES;
                    writeln!(stdout(), "{latency:.0?} for a key {offset:.0?} into a burst of {:.0?}", tried.whole)?;
                }
                delayed.push(latency);
            }
            None => late += 1,
        }
    }
    report(&mut quiet, &mut delayed, whole[1], late)
}

fn report(
    quiet: &mut [Duration],
    delayed: &mut [Duration],
    whole: Duration,
    late: usize,
) -> Result<(), Failure> {
    let mut out = stdout();
    writeln!(
        out,
        "{:<22} {:>8} {:>8} {:>8}",
        "key to screen", "median", "p99", "max"
    )?;
    let mut worst = Duration::ZERO;
    for (name, times) in [("quiet", quiet), ("in a burst", delayed)] {
        times.sort();
        let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).max(1) - 1);
        let at = |percent| at(percent).copied().unwrap_or_default();
        let [median, p99, max] = [50, 99, 100].map(at);
        writeln!(out, "{name:<22} {median:>8.1?} {p99:>8.1?} {max:>8.1?}")?;
        worst = max;
    }
    writeln!(
        out,
        "{DELTAS} deltas take {whole:.1?} from the first to the screen; {} keys inside, {late} after it\n\
         target: <= {TARGET:?}",
        delayed.len(),
    )?;
    if worst > TARGET || delayed.is_empty() {
        return Err("the target was missed".into());
    }
    Ok(())
}

/// One burst.
struct Tried {
    /// From its begin until its end was on the screen.
    whole: Duration,
    /// From the key to its effect, if that was inside.
    key: Option<Duration>,
}

struct Bench {
    sim: Arc<Sim>,
    pty: Pty,
    /// Gets the deltas.
    flooded: String,
    /// Is renamed at the end of each burst.
    mark: String,
    bursts: u32,
    down: bool,
    _home: tempfile::TempDir,
}

impl Bench {
    fn start() -> Result<Self, Failure> {
        let sim = Sim::start(Config::new(system_clock()))?;
        let turn = |age| TurnSeed::new(age, "go", Vec::new(), End::Stop);
        for n in 1..=10 {
            sim.add_session(
                &SessionSeed::new(format!("Row {n}"), DIRECTORY).turn(turn(n * 60_000)),
            );
        }
        let open = TurnSeed::new(1000, "go", Vec::new(), End::Open);
        let flooded = SessionSeed::new("Flooded", DIRECTORY).turn(open);
        let flooded = sim.add_session(&flooded.running(vec![Step::Hold]));
        let mark = sim.add_session(&SessionSeed::new("burst 0", DIRECTORY).turn(turn(5000)));
        let home = tempfile::tempdir()?;
        let program = Path::new(env!("CARGO_BIN_EXE_ocwatch"));
        let mut pty = Pty::start(program, &[sim.url()], (120, 40), home.path())?;
        pty.wait("all sessions", LIMIT, |screen| {
            let text = screen.contents();
            text.contains("Row 10") && text.contains("busy") && pointer(screen).is_some()
        })?;
        Ok(Self {
            sim: Arc::new(sim),
            pty,
            flooded,
            mark,
            bursts: 0,
            down: false,
            _home: home,
        })
    }

    /// A key that moves the selection, until the screen shows it moved.
    fn key(&mut self) -> Result<Duration, Failure> {
        self.down = !self.down;
        let before = pointer(self.pty.screen());
        let begun = now();
        self.pty.send(if self.down { b"j" } else { b"k" })?;
        self.pty.wait("the moved selection", LIMIT, |screen| {
            pointer(screen).is_some_and(|at| Some(at) != before)
        })?;
        Ok(now() - begun)
    }

    /// A burst, with a key so long after its begin.
    fn burst(&mut self, key_after: Option<Duration>) -> Result<Tried, Failure> {
        self.bursts += 1;
        let end = format!("burst {}", self.bursts);
        let begun = now();
        let flooder = self.flood(end.clone());
        let mut key = None;
        // Nothing is ever sent: only time passes.
        let (_silent, nothing) = channel::<()>();
        let _ = nothing.recv_timeout(key_after.unwrap_or_default());
        if key_after.is_some() {
            let latency = self.key()?;
            key = (!shows(self.pty.screen(), &end)).then_some(latency);
        }
        self.pty.wait(&end, LIMIT, |screen| shows(screen, &end))?;
        let whole = now() - begun;
        flooder.join().map_err(|_| "the flood broke")?;
        Ok(Tried { whole, key })
    }

    fn flood(&self, end: String) -> JoinHandle<()> {
        let sim = Arc::clone(&self.sim);
        let (flooded, mark) = (self.flooded.clone(), self.mark.clone());
        spawn(move || {
            sim.flood(&flooded, DELTAS);
            rename(&sim, &mark, &end);
        })
    }
}

fn shows(screen: &Screen, text: &str) -> bool {
    screen.contents().contains(&format!("{text} "))
}

/// The line of the selected row: it has a pointer in the margin.
fn pointer(screen: &Screen) -> Option<u16> {
    let (rows, _) = screen.size();
    (0..rows).find(|row| {
        screen
            .cell(*row, 0)
            .is_some_and(|cell| cell.contents() == "▌")
    })
}

/// A `session.updated` with this title.
fn rename(sim: &Sim, session: &str, title: &str) {
    let now = system_clock()().0;
    let info = serde_json::json!({
        "id": session, "slug": "x", "projectID": "global", "directory": DIRECTORY, "title": title,
        "version": "1.18.33", "time": {"created": now - 60_000, "updated": now},
    });
    let properties = serde_json::json!({"sessionID": session, "info": info});
    sim.push_event(DIRECTORY, "session.updated", &properties);
}
