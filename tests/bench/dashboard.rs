//! What the open dashboard costs: its processor time, what it writes to the terminal, and how soon a
//! key is seen; while 50 sessions stream, and while 100 rest.
//!
//! `cargo bench --bench dashboard [-- busy|idle|many] [SECONDS] [PROGRAM]`: busy and idle, for a minute
//! and five minutes, unless told; of the program just built, unless told by its path. `many` has no
//! target: 10,000 sessions, of which five stream.
//!
//! Measured from outside: the program runs in a pseudo terminal of 120x40, its processor time is the
//! kernel's for it alone (the simulated server is this process), bytes are counted where a terminal
//! would read them. The yardstick beside it is a reader that takes the same events from a plain
//! socket and does nothing with them.

mod process;
mod pty;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::{Dur, Step, TextStep};
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Sim};
use process::{forget_peak, usage};
use pty::{Failure, Pty, now};
use std::io::{BufRead, BufReader, Read, Write, stdout};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;
use vt100::Screen;

const SIZE: (u16, u16) = (120, 40);
const STREAMING: usize = 50;
/// Between two deltas of a session.
const EVERY_MS: u64 = 20;
const QUIET: u64 = 100;
const MANY: u64 = 10_000;
/// Nothing is read of sessions that did not change for so long.
const OLD_MS: u64 = 8 * 86_400_000;
const KEYS: u64 = 200;
const LIMIT: Duration = Duration::from_secs(60);
/// Until what begins with a program has ended.
const WARM_UP: Duration = Duration::from_secs(5);

const BUSY_CPU: f64 = 5.0;
const BUSY_BYTES: f64 = 6.0 * 1024.0;
const BUSY_KEY: Duration = Duration::from_millis(50);
const IDLE_CPU: f64 = 0.2;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    if let ["plain", url] = args[..] {
        return plain_reader(url);
    }
    let seconds = args.iter().find_map(|it| it.parse().ok());
    let time = |unless| Duration::from_secs(seconds.unwrap_or(unless));
    let both = !["busy", "idle", "many"].iter().any(|it| args.contains(it));
    let program = args.iter().find(|it| it.contains('/'));
    let program = Path::new(program.unwrap_or(&env!("CARGO_BIN_EXE_ocwatch")));
    let mut missed = Vec::new();
    if both || args.contains(&"busy") {
        missed.extend(busy(program, time(60))?);
    }
    if both || args.contains(&"idle") {
        missed.extend(idle(program, time(300))?);
    }
    if args.contains(&"many") {
        many(program, time(30))?;
    }
    if !missed.is_empty() {
        return Err(format!("missed: {}", missed.join(", ")).into());
    }
    Ok(())
}

fn say(text: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{text}")?)
}

/// What is printed, and what of it was missed.
#[derive(Default)]
struct Table {
    missed: Vec<String>,
}

impl Table {
    /// What, how much, in words what it may be; and whether that is held.
    fn row(&mut self, what: &str, is: &str, target: &str, held: bool) -> Result<(), Failure> {
        let mark = if held { "" } else { "  MISSED" };
        if !held {
            self.missed.push(what.to_owned());
        }
        say(&format!("{what:<30} {is:>34}   {target}{mark}"))
    }
}

/// Adds sessions that stream for so long and some more.
fn add_streaming(sim: &Sim, count: usize, time: Duration) -> Result<(), Failure> {
    let long = time + Duration::from_secs(300);
    let tokens = usize::try_from(long.as_millis())? / usize::try_from(EVERY_MS)?;
    for n in 1..=count {
        let text = "token ".repeat(tokens);
        let every = Dur(EVERY_MS);
        let turn = TurnSeed::new(60_000, "go", Vec::new(), End::Open);
        let seed = SessionSeed::new(format!("Stream {n:02}"), format!("/srv/dev/p{}", n % 5));
        let writes = vec![Step::Text(TextStep { text, every }), Step::Hold];
        sim.add_session(&seed.turn(turn).running(writes));
    }
    Ok(())
}

/// Adds sessions that answered so long ago, each a little longer than the one before.
fn add_quiet(sim: &Sim, count: u64, age_ms: u64, more_ms: u64) {
    for n in 1..=count {
        let answer = vec![StepSeed::done(Step::say("done"), 3000)];
        let turn = TurnSeed::new(age_ms + more_ms * n, "go", answer, End::Stop);
        let seed = SessionSeed::new(format!("Quiet {n:05}"), "/srv/dev");
        sim.add_session(&seed.turn(turn));
    }
}

/// 50 sessions stream; a person looks for a while, then moves the selection again and again.
fn busy(program: &Path, time: Duration) -> Result<Vec<String>, Failure> {
    let sim = Sim::start(Config::new(system_clock()))?;
    add_streaming(&sim, STREAMING, time)?;
    let mut plain = Plain::start(&sim)?;
    let home = tempfile::tempdir()?;
    let mut pty = Pty::start(program, &[sim.url()], SIZE, home.path())?;
    pty.wait("all of them streaming", LIMIT, |screen| {
        screen.contents().matches(" streaming ").count() >= 15 && pointer(screen).is_some()
    })?;
    pty.watch(WARM_UP, |_| false)?;
    let from = plain.used()?;
    let used = measure(&mut pty, time, |_| {})?;
    let to = plain.used()?;
    let mut keys = keys(&mut pty)?;
    keys.sort();
    let mut table = Table::default();
    let seconds = used.seconds;
    let events = (to.events - from.events) / seconds;
    say(&format!(
        "{STREAMING} streaming sessions, {events:.0} events/s, {seconds:.0} s"
    ))?;
    let reader = (to.cpu - from.cpu) / seconds * 100.0;
    let cpu = used.cpu / seconds * 100.0;
    let is = format!("{cpu:.2} % ({:.1} x plain reader)", cpu / reader.max(0.01));
    table.row("processor", &is, &format!("< {BUSY_CPU} %"), cpu < BUSY_CPU)?;
    table.row("memory", &format!("{:.1} MiB", used.memory), "", true)?;
    let bytes = used.bytes as f64 / seconds;
    let frames = used.frames as f64 / seconds;
    let is = format!("{bytes:.0} bytes/s in {frames:.1} frames/s");
    table.row(
        "to the terminal",
        &is,
        &format!("< {BUSY_BYTES} bytes/s"),
        bytes < BUSY_BYTES,
    )?;
    let at = |percent: usize| keys[(keys.len() * percent).div_ceil(100).max(1) - 1];
    let is = format!("{:.1?} / {:.1?} / {:.1?}", at(50), at(99), at(100));
    let target = format!("p99 <= {BUSY_KEY:?}");
    table.row(
        "key to screen, median/p99/max",
        &is,
        &target,
        at(99) <= BUSY_KEY,
    )?;
    Ok(table.missed)
}

/// 100 sessions rest; nobody touches a key.
fn idle(program: &Path, time: Duration) -> Result<Vec<String>, Failure> {
    let sim = Sim::start(Config::new(system_clock()))?;
    add_quiet(&sim, QUIET, 90_000, 97_000);
    let mut plain = Plain::start(&sim)?;
    let home = tempfile::tempdir()?;
    let mut pty = Pty::start(program, &[sim.url()], SIZE, home.path())?;
    pty.wait("all of them", LIMIT, |screen| {
        screen.contents().contains("100 at rest")
    })?;
    pty.watch(WARM_UP, |_| false)?;
    let mut needless = Vec::new();
    let from = plain.used()?;
    let mut before = pty.screen().contents();
    let used = measure(&mut pty, time, |screen| {
        let after = screen.contents();
        if without_digits(&before) != without_digits(&after) || before == after {
            needless.push(difference(&before, &after));
        }
        before = after;
    })?;
    let to = plain.used()?;
    let mut table = Table::default();
    let seconds = used.seconds;
    say(&format!("{QUIET} quiet sessions, {seconds:.0} s"))?;
    let cpu = used.cpu / seconds * 100.0;
    let reader = (to.cpu - from.cpu) / seconds * 100.0;
    let is = format!("{cpu:.3} % (plain reader {reader:.3} %)");
    table.row("processor", &is, &format!("< {IDLE_CPU} %"), cpu < IDLE_CPU)?;
    table.row("memory", &format!("{:.1} MiB", used.memory), "", true)?;
    let is = format!("{} bytes in {} frames", used.bytes, used.frames);
    // One frame a minute, when all the ages change, and one where the time was begun.
    let most = time.as_secs() / 60 + 1;
    let target = format!("<= {most} frames, ages only");
    let held = used.frames <= most && needless.is_empty();
    table.row("to the terminal", &is, &target, held)?;
    for lines in needless.iter().take(3) {
        say(lines)?;
    }
    Ok(table.missed)
}

/// 10,000 old sessions, and five that stream: what laying out a long table costs.
fn many(program: &Path, time: Duration) -> Result<(), Failure> {
    let sim = Sim::start(Config::new(system_clock()))?;
    add_quiet(&sim, MANY, OLD_MS, 1000);
    add_streaming(&sim, 5, time)?;
    let home = tempfile::tempdir()?;
    let mut pty = Pty::start(program, &[sim.url()], SIZE, home.path())?;
    pty.wait("all of them", LIMIT, |screen| {
        let text = screen.contents();
        text.contains("10000 at rest") && text.contains("5 working")
    })?;
    pty.watch(WARM_UP, |_| false)?;
    let used = measure(&mut pty, time, |_| {})?;
    let mut keys = keys(&mut pty)?;
    keys.sort();
    let mut table = Table::default();
    say(&format!(
        "{MANY} sessions at rest and 5 streaming, {:.0} s",
        used.seconds
    ))?;
    let cpu = used.cpu / used.seconds * 100.0;
    table.row("processor", &format!("{cpu:.2} %"), "", true)?;
    table.row("memory", &format!("{:.1} MiB", used.memory), "", true)?;
    let at = |percent: usize| keys[(keys.len() * percent).div_ceil(100).max(1) - 1];
    let is = format!("{:.1?} / {:.1?} / {:.1?}", at(50), at(99), at(100));
    table.row("key to screen, median/p99/max", &is, "", true)
}

/// What the program used in a while.
struct Used {
    seconds: f64,
    cpu: f64,
    /// The most that was resident, MiB.
    memory: f64,
    bytes: u64,
    frames: u64,
}

/// Follows it for so long; `seen` looks at each frame.
fn measure(pty: &mut Pty, time: Duration, mut seen: impl FnMut(&Screen)) -> Result<Used, Failure> {
    let pid = pty.child.process_id().ok_or("no process id")?.to_string();
    forget_peak(&pid)?;
    let (begun, before, received) = (now(), usage(&pid)?, pty.received);
    let mut looks = 0_u64;
    pty.watch(time, |screen| {
        looks += 1;
        // The first look is at what was there before.
        if looks > 1 {
            seen(screen);
        }
        false
    })?;
    let after = usage(&pid)?;
    Ok(Used {
        seconds: begun.elapsed().as_secs_f64(),
        cpu: after.cpu - before.cpu,
        memory: after.peak.max(after.resident) as f64 / 1024.0,
        bytes: pty.received - received,
        frames: looks.saturating_sub(1),
    })
}

/// Moves the selection and waits until the screen shows it, at all phases of a frame.
fn keys(pty: &mut Pty) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::new();
    for n in 0..KEYS {
        pty.watch(Duration::from_millis(60 + n * 37 % 101), |_| false)?;
        let before = pointer(pty.screen());
        let begun = now();
        pty.send(if n % 2 == 0 { b"j" } else { b"k" })?;
        pty.wait("the moved selection", LIMIT, |screen| {
            pointer(screen).is_some_and(|at| Some(at) != before)
        })?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// The line of the selected row: it has a pointer in the margin.
fn pointer(screen: &Screen) -> Option<u16> {
    let (rows, _) = screen.size();
    let is_pointer = |row: &u16| screen.cell(*row, 0).is_some_and(|it| it.contents() == "▌");
    (0..rows).find(is_pointer)
}

/// A screen on which only ages and the clock differ is the same without its digits and blanks (`59s`
/// becomes `1m`, so the units go too where they follow a digit).
fn without_digits(text: &str) -> String {
    let mut kept = String::new();
    let mut after_digit = false;
    // The marks of the last hour go on by one a minute, with the ages.
    let lines = text.lines().filter(|line| !line.contains("LAST HOUR"));
    for c in lines.flat_map(str::chars).filter(|c| *c != ' ') {
        let is_unit = after_digit && "smhdy".contains(c);
        after_digit = c.is_ascii_digit();
        if !after_digit && !is_unit {
            kept.push(c);
        }
    }
    kept
}

fn difference(before: &str, after: &str) -> String {
    let lines = before.lines().zip(after.lines());
    let differing = lines.filter(|(before, after)| before != after);
    let shown = differing.map(|(before, after)| format!("- {before}\n+ {after}\n"));
    let shown: String = shown.take(3).collect();
    if shown.is_empty() {
        "a frame that changed nothing".to_owned()
    } else {
        shown
    }
}

/// What the plain reader used so far.
struct Reading {
    cpu: f64,
    events: f64,
}

/// A process that only takes the same events from a socket.
struct Plain {
    child: Child,
    asks: ChildStdin,
    answers: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Plain {
    fn start(sim: &Sim) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["plain", &sim.url()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let asks = child.stdin.take().ok_or("no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        Ok(Self {
            child,
            asks,
            answers,
        })
    }

    fn used(&mut self) -> Result<Reading, Failure> {
        writeln!(self.asks)?;
        let line = self
            .answers
            .next()
            .transpose()?
            .ok_or("the plain reader ended")?;
        let (cpu, events) = line.split_once(' ').ok_or("no result")?;
        Ok(Reading {
            cpu: cpu.parse()?,
            events: events.parse()?,
        })
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads events for ever; to each line on stdin it answers what it used and how many came.
fn plain_reader(url: &str) -> Result<(), Failure> {
    let host = url.strip_prefix("http://").ok_or("not a http address")?;
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "GET /global/event HTTP/1.1\r\nhost: {host}\r\n\r\n")?;
    let events = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = events.clone();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let seen = buffer[..count]
                .windows(5)
                .filter(|it| it == b"data:")
                .count();
            counted.fetch_add(seen, std::sync::atomic::Ordering::Relaxed);
        }
    });
    for _ in std::io::stdin().lines() {
        let seen = events.load(std::sync::atomic::Ordering::Relaxed);
        say(&format!("{} {seen}", usage("self")?.cpu))?;
    }
    Ok(())
}
