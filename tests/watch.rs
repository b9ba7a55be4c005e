//! `ocwatch watch` against simulated servers over real sockets: what it tells and how it ends.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

#[path = "program/lines.rs"]
mod lines;

use lines::{Running, signal};
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Fault, Sim};
use program::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

struct World {
    sim: Sim,
    home: Home,
    cwd: String,
}

impl World {
    fn new() -> Self {
        let home = Home::new();
        let cwd = home.path().canonicalize().expect("a path");
        let cwd = cwd.display().to_string();
        let sim = Sim::start(Config {
            cwd: cwd.clone(),
            ..Config::new(system_clock())
        });
        let sim = sim.expect("a simulated server");
        Self { sim, home, cwd }
    }

    /// A session that finished a turn a minute ago; its id.
    fn session(&self, title: &str) -> String {
        let step = StepSeed::done(Step::say("done"), 500);
        let turn = TurnSeed::new(60_000, "go", vec![step], End::Stop);
        let seed = SessionSeed::new(title, &self.cwd).turn(turn);
        self.sim.add_session(&seed)
    }

    fn watch(&self, more: &[&str]) -> Running {
        let url = self.sim.url();
        let mut args = vec!["watch", "--json", url.as_str()];
        args.extend(more);
        Running::start(&mut self.home.command(&args))
    }
}

/// Whose: null is the server.
fn of(id: &Value) -> impl Fn(&Value) -> bool {
    move |document| document["id"] == *id
}

/// level, finding, reported, activity
fn words(state: &Value) -> [&str; 4] {
    let word = |name: &str| state[name].as_str().unwrap_or("-");
    ["level", "finding", "reported", "activity"].map(word)
}

/// What is told of one session hangs together: each line begins where the one before it ended.
fn assert_chained(seen: &[Value], id: &str) {
    let mut before = &Value::Null;
    for document in seen.iter().filter(|it| it["id"] == id) {
        assert_eq!(document["schema"], "ocwatch.change/1");
        assert_eq!(&document["from"], before, "{seen:#?}");
        before = &document["to"];
        assert_ne!(&document["from"], before, "{seen:#?}");
    }
}

#[test]
fn a_turn_that_asks_is_told_as_it_goes() {
    let world = World::new();
    let id = world.session("Asks");
    let mut watch = world.watch(&[]);
    let server = watch.until("the server", of(&Value::Null));
    assert_eq!(server["to"]["state"], "live", "{server:#}");
    let first = watch.until("the session", of(&json!(id)));
    assert_eq!(
        words(&first["to"]),
        ["ok", "-", "idle", "done"],
        "{first:#}"
    );
    assert_eq!(
        (&first["from"], &first["title"]),
        (&Value::Null, &json!("Asks"))
    );

    assert!(world.sim.prompt(&id, "question"));
    let asks = watch.until("it asks", |it| it["to"]["level"] == "needs-you");
    let waiting = ["needs-you", "waiting-question", "busy", "asking"];
    assert_eq!(words(&asks["to"]), waiting, "{asks:#}");
    let text = asks["text"].as_str().unwrap_or_default();
    assert!(text.contains("Which?"), "{asks:#}");

    let url = world.sim.url();
    let abort = ["abort", id.as_str(), "--yes", "--server", url.as_str()];
    assert_eq!(world.home.run(&abort).code, Some(0));
    watch.until("it is at rest", |it| {
        it["id"] == id && it["to"]["reported"] == "idle" && it["to"]["level"] == "ok"
    });
    let ended = watch.end_by("TERM");
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(0), ""),
        "{ended:#?}"
    );
    assert_chained(&ended.seen, &id);
    let stuck = |it: &Value| it["to"]["level"] == "stuck";
    assert!(!ended.seen.iter().any(stuck), "{ended:#?}");
}

#[test]
fn a_server_that_goes_away_is_a_line_and_no_end() {
    let world = World::new();
    let id = world.session("Stays");
    let mut watch = world.watch(&[]);
    watch.until("the session", of(&json!(id)));
    world.sim.stop();
    let lost = watch.until("the loss", of(&Value::Null));
    assert_eq!(lost["to"]["state"], "unreachable", "{lost:#}");
    assert_eq!(lost["from"]["state"], "live", "{lost:#}");
    let unknown = watch.until("it is unknown", of(&json!(id)));
    assert_eq!(
        words(&unknown["to"])[..3],
        ["unknown", "-", "unknown"],
        "{unknown:#}"
    );

    world.sim.restart().expect("the port is free");
    let back = watch.until("it is back", of(&Value::Null));
    assert_eq!(back["to"]["state"], "live", "{back:#}");
    let again = watch.until("it is known again", of(&json!(id)));
    assert_eq!(
        words(&again["to"]),
        ["ok", "-", "idle", "done"],
        "{again:#}"
    );
    let ended = watch.end_by("INT");
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(0), ""),
        "{ended:#?}"
    );
    assert_chained(&ended.seen, &id);
}

/// The program with its stdout in our hands.
fn unread(world: &World, more: &[&str]) -> (Child, ChildStdout) {
    let url = world.sim.url();
    let mut args = vec!["watch", url.as_str()];
    args.extend(more);
    let mut command = world.home.command(&args);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let stdout = child.stdout.take().expect("its stdout");
    (child, stdout)
}

/// The exit code; none where it does not end.
fn code(mut child: Child) -> Option<i32> {
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(child.wait()));
    let ended = told.recv_timeout(Duration::from_secs(60)).ok()?;
    ended.expect("its end").code()
}

/// Not only at the next change: a quiet server may have none for hours.
#[test]
fn a_reader_that_goes_away_is_the_end() {
    let world = World::new();
    world.session("At rest");
    let (child, stdout) = unread(&world, &[]);
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    assert!(line.contains("live  OpenCode 1.18.33, 1 session"), "{line}");
    assert_eq!(code(child), Some(0));
}

/// A full pipe holds up the lines, never the end.
#[test]
fn a_reader_that_does_not_read_holds_up_no_signal() {
    let world = World::new();
    for number in 0..400 {
        world.session(&format!("{number} {}", "long ".repeat(50)));
    }
    let (child, mut stdout) = unread(&world, &["--json"]);
    stdout.read_exact(&mut [0]).expect("a line begins");
    signal(child.id(), "TERM");
    assert_eq!(code(child), Some(0));
    // It stayed open and unread until then.
    drop(stdout);
}

#[test]
fn without_any_server_there_is_nothing_to_watch() {
    let world = World::new();
    let id = world.session("Here");
    let none = world.home.run(&["watch", "127.0.0.1:1"]);
    assert_eq!(none.code, Some(3), "{none:#?}");
    assert!(none.err.contains("failed to read 127.0.0.1:1"), "{none:#?}");
    assert_eq!(none.err.lines().count(), 1, "{none:#?}");
    let refused = "unreachable  connection refused";
    assert!(none.out.contains(refused), "{none:#?}");
    let none = world.home.run(&["watch", "--json", "127.0.0.1:1"]);
    assert_eq!(none.code, Some(3), "{none:#?}");
    assert_eq!(none.json()["to"]["state"], "unreachable", "{none:#?}");

    let mut watch = world.watch(&["127.0.0.1:1"]);
    watch.until("the session of the other", of(&json!(id)));
    let ended = watch.end_by("TERM");
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(0), ""),
        "{ended:#?}"
    );
}

#[test]
fn time_that_is_over_is_no_failure_unless_nothing_was_read() {
    let world = World::new();
    world.session("Here");
    let ended = world.watch(&["--timeout", "2"]).end();
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(0), ""),
        "{ended:#?}"
    );
    assert_eq!(ended.seen.len(), 2, "{ended:#?}");

    world.sim.fault("*", Fault::Stall);
    let ended = world.watch(&["--timeout", "1"]).end();
    assert_eq!(ended.code, Some(3), "{ended:#?}");
    assert!(ended.err.contains("not read in time"), "{ended:#?}");
}
