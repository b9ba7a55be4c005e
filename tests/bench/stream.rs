//! What a 16 MiB tool output costs: processor time and memory of a plain reader, of the library, and
//! of the whole program.
//!
//! `cargo bench --bench stream`
//!
//! A simulated server sends the output as the real one does: the whole part twice, each time with its
//! `sync` double, and in each of these four frames the output twice (`output` and
//! `metadata.output`). Each reader is a process of its own, so that the server's memory does not
//! count. The plain reader only takes the bytes from the socket: the floor for this machine.

mod process;
mod pty;

use ocwatch::core::id::{Epoch, ServerId};
use ocwatch::core::judge::{Judge, Limits};
use ocwatch::core::store::{ServerSpec, Store};
use ocwatch::core::wire::v1::decode_event;
use ocwatch::core::wire::{Body, EventKind, Input, LinkReport};
use ocwatch::net::client::{Address, Client, Waits};
use ocwatch::net::stream::Events;
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::{End, SessionSeed, TurnSeed};
use ocwatch::sim::{Config, Sim};
use process::{Usage, forget_peak, usage};
use pty::{Failure, Pty};
use std::io::{BufRead, BufReader, Read, Write, stdout};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const OUTPUT: usize = 16 * 1024 * 1024;
/// Copies of the output in all frames together.
const COPIES: usize = 8;
const DIRECTORY: &str = "/srv/dev";
/// Ends the measured reading.
const MARK: &str = "bench.end";
const LIMIT: Duration = Duration::from_secs(120);
const CPU_TARGET: f64 = 2.0;
const MEMORY_TARGET: u64 = 64 * 1024;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "plain", url] => plain_reader(url),
        [_, "library", url] => library_reader(url),
        _ => measure_all(),
    }
}

/// The difference that the output made.
#[derive(Clone, Copy)]
struct Cost {
    cpu: f64,
    memory: u64,
}

impl Cost {
    fn between(before: Usage, after: Usage) -> Self {
        Self {
            cpu: after.cpu - before.cpu,
            memory: after.peak.saturating_sub(before.resident),
        }
    }
}

fn measure_all() -> Result<(), Failure> {
    let plain = reader("plain")?;
    say(&format!(
        "4 frames, {} MiB in all\n{:<22} {:>7}  {:>8}  {:>11}",
        COPIES * OUTPUT / 1024 / 1024,
        "",
        "cpu",
        "x plain",
        "memory"
    ))?;
    let rows = [
        ("plain read", plain),
        ("stream, store, judge", reader("library")?),
        ("the whole program", program()?),
    ];
    let mut missed = false;
    for (name, cost) in rows {
        let ratio = cost.cpu / plain.cpu.max(0.01);
        let memory = cost.memory as f64 / 1024.0;
        say(&format!(
            "{name:<22} {:>5.2} s  {ratio:>8.1}  {memory:>7.1} MiB",
            cost.cpu
        ))?;
        missed |= cost.cpu >= CPU_TARGET || cost.memory > MEMORY_TARGET;
    }
    say(&format!("target: < {CPU_TARGET} s and <= 64 MiB"))?;
    if missed {
        return Err("the target was missed".into());
    }
    Ok(())
}

fn say(text: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{text}")?)
}

/// A server with one session that has answered once.
fn server() -> Result<(Sim, String), Failure> {
    let sim = Sim::start(Config::new(system_clock()))?;
    let turn = TurnSeed::new(60_000, "show me everything", Vec::new(), End::Stop);
    let session = sim.add_session(&SessionSeed::new("Big output", DIRECTORY).turn(turn));
    Ok((sim, session))
}

fn send(sim: &Sim, session: &str) -> Result<(), Failure> {
    if !sim.big_output(session, OUTPUT) {
        return Err("the simulated server does not know its session".into());
    }
    Ok(())
}

/// Runs this program again as a reader.
fn reader(kind: &str) -> Result<Cost, Failure> {
    let (sim, session) = server()?;
    let mut child = Command::new(std::env::current_exe()?)
        .args([kind, &sim.url()])
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("no output")?;
    let mut lines = BufReader::new(output).lines();
    let ready = lines.next().transpose()?;
    if ready.as_deref() != Some("ready") {
        return Err(format!("the {kind} reader did not begin: {ready:?}").into());
    }
    send(&sim, &session)?;
    sim.push_event(DIRECTORY, MARK, &serde_json::json!({}));
    let line = lines.next().transpose()?.ok_or("no result")?;
    child.wait()?;
    let (cpu, memory) = line.split_once(' ').ok_or("no result")?;
    Ok(Cost {
        cpu: cpu.parse()?,
        memory: memory.parse()?,
    })
}

/// In the reader: everything is set up, the output may come.
fn ready() -> Result<Usage, Failure> {
    forget_peak("self")?;
    let before = usage("self")?;
    say("ready")?;
    Ok(before)
}

fn report(before: Usage) -> Result<(), Failure> {
    let cost = Cost::between(before, usage("self")?);
    say(&format!("{} {}", cost.cpu, cost.memory))
}

fn plain_reader(url: &str) -> Result<(), Failure> {
    let host = url.strip_prefix("http://").ok_or("not a http address")?;
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(LIMIT))?;
    write!(stream, "GET /global/event HTTP/1.1\r\nhost: {host}\r\n\r\n")?;
    let mut buffer = vec![0; 64 * 1024];
    let mut seen = String::new();
    while !seen.contains("server.connected") {
        let count = stream.read(&mut buffer)?;
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    let before = ready()?;
    let mut total = 0;
    while total < COPIES * OUTPUT {
        total += match stream.read(&mut buffer)? {
            0 => return Err("the stream ended early".into()),
            count => count,
        };
    }
    report(before)
}

fn library_reader(url: &str) -> Result<(), Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(follow(url))
}

async fn follow(url: &str) -> Result<(), Failure> {
    let clock = system_clock();
    let address = Address::parse(url)?;
    let client = Client::new(address, None, Waits::default(), clock.clone())?;
    let mut events = Events::open(&client).await?;
    let spec = ServerSpec {
        name: "home".into(),
        url: url.into(),
        read_only: None,
    };
    let mut store = Store::new(vec![spec]);
    let mut judge = Judge::new(Limits::default());
    let input = |body| Input {
        server: ServerId(0),
        epoch: Epoch(1),
        at: clock(),
        body,
    };
    store.apply(input(Body::Link(LinkReport::Connecting { attempt: 1 })));
    events.next().await?;
    let before = ready()?;
    loop {
        let event = decode_event(&events.next().await?);
        if matches!(&event.kind, EventKind::Unknown { kind } if kind == MARK) {
            break;
        }
        if let EventKind::Malformed { why, .. } = event.kind {
            return Err(format!("an event was not understood: {why}").into());
        }
        let change = store.apply(input(Body::Event(event)));
        judge.update(&store, &[change], clock());
    }
    report(before)
}

/// The dashboard in a terminal. That it has read everything shows when the title changes, which is
/// sent after the output.
fn program() -> Result<Cost, Failure> {
    let (sim, session) = server()?;
    let home = tempfile::tempdir()?;
    let program = Path::new(env!("CARGO_BIN_EXE_ocwatch"));
    let mut pty = Pty::start(program, &[sim.url()], (100, 30), home.path())?;
    let shows = |text: &'static str| move |screen: &vt100::Screen| screen.contents().contains(text);
    pty.wait("the session", LIMIT, shows("Big output"))?;
    pty.wait("a judged session", LIMIT, shows("idle"))?;
    let pid = pty.child.process_id().ok_or("no process id")?.to_string();
    forget_peak(&pid)?;
    let before = usage(&pid)?;
    send(&sim, &session)?;
    rename(&sim, &session, "All of it read");
    pty.wait("the new title", LIMIT, shows("All of it read"))?;
    let cost = Cost::between(before, usage(&pid)?);
    pty.send(b"q")?;
    Ok(cost)
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
