//! `ocwatch wait` against simulated servers over real sockets: what ends it, and what does not.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

#[path = "program/lines.rs"]
mod lines;
#[path = "program/until.rs"]
mod until;

use lines::Running;
use ocwatch::core::wait::GRACE;
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Sim};
use program::Home;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};
use until::until;

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

    /// One without a prompt.
    fn empty(&self, title: &str) -> String {
        self.sim.add_session(&SessionSeed::new(title, &self.cwd))
    }

    fn wait(&self, args: &[&str]) -> Running {
        let url = self.sim.url();
        let mut all = vec!["wait", "--json", "--server", url.as_str()];
        all.extend(args);
        Running::start(&mut self.home.command(&all))
    }
}

/// Who ended how.
fn ends(seen: &[Value]) -> Vec<(&str, &str)> {
    for line in seen {
        assert_eq!(line["schema"], "ocwatch.wait/1", "{line:#}");
    }
    seen.iter()
        .map(|line| {
            let id = line["id"].as_str().unwrap_or("-");
            (id, line["outcome"].as_str().unwrap_or("-"))
        })
        .collect()
}

/// Until the program follows: it has asked for the messages of this session.
fn follows(world: &World, id: &str, times: usize) {
    let path = format!("/session/{id}/message");
    until(&format!("{id} is read"), || {
        let asked = world.sim.requests();
        asked.iter().filter(|it| it.path.contains(&path)).count() >= times
    });
}

#[test]
fn a_turn_is_waited_for_and_one_at_rest_is_believed_after_a_while() {
    let world = World::new();
    let id = world.session("At rest");
    let begun = Instant::now();
    let ended = world.wait(&[&id]).end();
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(0), ""),
        "{ended:#?}"
    );
    assert_eq!(ends(&ended.seen), [(id.as_str(), "done")]);
    let grace = Duration::from_millis(GRACE.as_ms().unsigned_abs());
    assert!(
        begun.elapsed() >= grace,
        "a prompt may be on its way: {:?}",
        begun.elapsed()
    );

    let begun = Instant::now();
    assert!(world.sim.prompt(&id, "slow:4"));
    let ended = world.wait(&[&id]).end();
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(begun.elapsed() >= Duration::from_secs(4), "{ended:#?}");
}

#[test]
fn a_prompt_that_shows_nothing_yet_is_waited_for() {
    let world = World::new();
    for id in [world.session("Had a turn"), world.empty("Had none")] {
        let waits = world.wait(&[&id]);
        follows(&world, &id, 2);
        assert!(world.sim.prompt(&id, "slow:3"));
        let sent = Instant::now();
        let ended = waits.end();
        assert_eq!(ended.code, Some(0), "{ended:#?}");
        assert!(sent.elapsed() >= Duration::from_secs(3), "{ended:#?}");
    }
}

#[test]
fn how_a_turn_ended_is_told_apart() {
    let world = World::new();
    let [aborted, asks, deleted] = ["Aborted", "Asks", "Deleted"].map(|title| world.session(title));
    assert!(world.sim.prompt(&aborted, "hang"));
    assert!(world.sim.prompt(&asks, "question"));
    assert!(world.sim.prompt(&deleted, "hang"));
    let mut waits = world.wait(&[&aborted, &asks, &deleted, "--all"]);
    let line = waits.until("it asks", |it| it["id"] == asks);
    assert_eq!(line["outcome"], "needs-you", "{line:#}");
    assert_eq!(line["finding"], "waiting-question", "{line:#}");
    let url = world.sim.url();
    let abort = ["abort", aborted.as_str(), "--yes", "--server", url.as_str()];
    assert_eq!(world.home.run(&abort).code, Some(0));
    let line = waits.until("it was aborted", |it| it["id"] == aborted);
    assert_eq!(line["outcome"], "aborted", "{line:#}");
    world.sim.push_event(
        &world.cwd,
        "session.deleted",
        &serde_json::json!({"info": {"id": deleted}}),
    );
    let line = waits.until("it is gone", |it| it["id"] == deleted);
    assert_eq!(line["outcome"], "gone", "{line:#}");
    assert_eq!(waits.end().code, Some(4));
}

#[test]
fn of_several_any_ends_with_the_first_and_idle_takes_every_end() {
    let world = World::new();
    let [long, short] = ["Long", "Short"].map(|title| world.session(title));
    assert!(world.sim.prompt(&long, "hang"));
    assert!(world.sim.prompt(&short, "slow:3"));
    let ended = world.wait(&[&long, &short, "--any"]).end();
    assert_eq!(ends(&ended.seen), [(short.as_str(), "done")], "{ended:#?}");
    assert_eq!(ended.code, Some(0));

    let mut waits = world.wait(&[&long, "--for", "idle"]);
    follows(&world, &long, 3);
    let url = world.sim.url();
    let abort = ["abort", long.as_str(), "--yes", "--server", url.as_str()];
    assert_eq!(world.home.run(&abort).code, Some(0));
    let line = waits.until("it is idle", |it| it["id"] == long);
    assert_eq!(line["outcome"], "aborted", "{line:#}");
    assert_eq!(waits.end().code, Some(0), "however it ended");
}

#[test]
fn time_that_is_over_is_124_and_says_what_still_goes_on() {
    let world = World::new();
    let id = world.session("Runs");
    assert!(world.sim.prompt(&id, "hang"));
    let begun = Instant::now();
    let ended = world.wait(&[&id, "--timeout", "3"]).end();
    let took = begun.elapsed();
    assert_eq!(ended.code, Some(124), "{ended:#?}");
    assert_eq!(ends(&ended.seen), [(id.as_str(), "timeout")]);
    let text = ended.seen[0]["text"].as_str().expect("a text");
    assert!(text.starts_with("still busy, "), "{text}");
    let exact = Duration::from_millis(2950)..Duration::from_secs(6);
    assert!(exact.contains(&took), "{took:?}");
}

/// Idle here and open: it may run in an OpenCode that is not watched, and that is no end.
#[test]
fn what_may_run_elsewhere_is_not_called_ended() {
    let world = World::new();
    let turn = TurnSeed::new(
        300_000,
        "go",
        vec![StepSeed::open(Step::say("on it"))],
        End::Open,
    );
    let seed = SessionSeed::new("Elsewhere", &world.cwd).turn(turn);
    let id = world.sim.add_session(&seed);
    for goal in ["idle", "done", "stuck"] {
        let ended = world.wait(&[&id, "--for", goal, "--timeout", "9"]).end();
        assert_eq!(ends(&ended.seen), [(id.as_str(), "timeout")], "{ended:#?}");
        assert_eq!(ended.code, Some(124), "{goal}");
        assert_eq!(
            ended.err.matches("may run in another OpenCode").count(),
            1,
            "{ended:#?}"
        );
    }
}

#[test]
fn a_stream_that_breaks_and_a_server_that_comes_back_are_waited_for() {
    let world = World::new();
    let [broken, crashed] = ["Broken", "Crashed"].map(|title| world.session(title));
    assert!(world.sim.prompt(&broken, "slow:6"));
    let waits = world.wait(&[&broken]);
    follows(&world, &broken, 3);
    world.sim.end_streams();
    let ended = waits.end();
    assert_eq!(ends(&ended.seen), [(broken.as_str(), "done")], "{ended:#?}");

    assert!(world.sim.prompt(&crashed, "hang"));
    let waits = world.wait(&[&crashed, "--patience", "60"]);
    follows(&world, &crashed, 3);
    world.sim.crash_and_restart().expect("the port is free");
    let ended = waits.end();
    assert_eq!(
        ends(&ended.seen),
        [(crashed.as_str(), "stuck")],
        "{ended:#?}"
    );
    let finding = ended.seen[0]["finding"].as_str();
    // Whether its answer had begun.
    let cut_off = matches!(finding, Some("interrupted" | "unanswered-prompt"));
    assert!(cut_off, "{ended:#?}");
    assert_eq!(ended.code, Some(1));
}

#[test]
fn a_server_that_stays_away_is_3_and_a_session_that_is_not_there_4() {
    let world = World::new();
    let id = world.session("Lost");
    assert!(world.sim.prompt(&id, "hang"));
    let waits = world.wait(&[&id, "--patience", "2"]);
    follows(&world, &id, 2);
    world.sim.stop();
    let ended = waits.end();
    assert_eq!(ends(&ended.seen), [(id.as_str(), "lost")], "{ended:#?}");
    assert_eq!(ended.code, Some(3));
    let ended = world.wait(&[&id, "--patience", "1"]).end();
    assert_eq!(ended.code, Some(3), "{ended:#?}");
    assert!(ended.err.contains("failed to read"), "{ended:#?}");
    world.sim.restart().expect("the port is free");
    let ended = world.wait(&["ses_nobody"]).end();
    assert_eq!(ended.code, Some(4), "{ended:#?}");
    assert!(ended.err.contains("no such session"), "{ended:#?}");
}

#[test]
fn a_signal_ends_it_by_its_number() {
    let world = World::new();
    let id = world.session("Runs");
    assert!(world.sim.prompt(&id, "hang"));
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let before = world.sim.requests().len();
        let waits = world.wait(&[&id]);
        until("it asks", || world.sim.requests().len() >= before + 3);
        let ended = waits.end_by(name);
        assert_eq!(ended.code, Some(code), "{ended:#?}");
        assert!(ended.seen.is_empty() && ended.err.is_empty(), "{ended:#?}");
    }
}

/// Nobody reads the lines any more: 141 as of a program that a closed pipe ends, not "finished".
#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let world = World::new();
    let [first, second] = ["First", "Second"].map(|title| world.session(title));
    assert!(world.sim.prompt(&second, "hang"));
    let url = world.sim.url();
    let args = ["wait", &first, &second, "--server", url.as_str()];
    let mut child = world
        .home
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("its stdout");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    assert!(line.contains(&format!("{first}: done: finished")), "{line}");
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty(), "{output:?}");
}

/// Everything of `check` that a script sees: the line, and how it ends.
fn checked(world: &World, more: &[&str]) -> (Option<i32>, String) {
    let url = world.sim.url();
    let mut args = vec!["check", url.as_str(), "--settle", "0"];
    args.extend(more);
    let ran = world.home.run(&args);
    assert_eq!(ran.err, "", "{ran:#?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 1, "{ran:#?}");
    assert_eq!(lines[0].matches('|').count(), 1, "{ran:#?}");
    (ran.code, lines[0].to_owned())
}

/// A session whose turn ended just now, and that stays reported busy.
fn stale(world: &World, title: &str) {
    let step = StepSeed::done(Step::say("done"), 500);
    let turn = TurnSeed::new(3_000, "go", vec![step], End::Stop);
    let seed = SessionSeed::new(title, &world.cwd).turn(turn).busy();
    world.sim.add_session(&seed);
}

#[test]
fn a_check_is_one_line_and_the_worst_of_all() {
    let world = World::new();
    world.session("At rest");
    let (code, line) = checked(&world, &[]);
    assert_eq!(code, Some(0), "{line}");
    assert!(
        line.starts_with("OCWATCH OK: 1 session, 0 running | stuck=0 "),
        "{line}"
    );

    let step = StepSeed::done(Step::say(""), 500);
    let silent = TurnSeed::new(60_000, "go", vec![step], End::Stop);
    let seed = SessionSeed::new("Silent | \u{1b}[31m", &world.cwd).turn(silent);
    world.sim.add_session(&seed);
    let (code, line) = checked(&world, &[]);
    assert_eq!(code, Some(1), "{line}");
    assert!(
        line.starts_with("OCWATCH WARNING: 1 watch: 127.0.0.1:"),
        "{line}"
    );
    assert!(line.contains("/Silent / ␛[31m: silent-stop: "), "{line}");
    assert_eq!(checked(&world, &["--fail-on", "needs-you"]).0, Some(0));

    let asks = world.session("Asks");
    assert!(world.sim.prompt(&asks, "question"));
    until("its question", || !world.sim.pending().is_empty());
    let (code, line) = checked(&world, &[]);
    assert_eq!(code, Some(2), "{line}");
    let said = "CRITICAL: 1 needs you, 1 watch: ";
    assert!(
        line.contains(said) && line.contains("/Asks: waiting-question: "),
        "{line}"
    );
    assert_eq!(checked(&world, &["--fail-on", "stuck"]).0, Some(0));

    // A server that cannot be read is worse than a watch, but not than what is critical.
    let (code, line) = checked(&world, &["127.0.0.1:1"]);
    assert_eq!(code, Some(2), "{line}");
    assert!(line.contains("; not read: 127.0.0.1:1 "), "{line}");
    let (code, line) = checked(&world, &["127.0.0.1:1", "--fail-on", "stuck"]);
    assert_eq!(code, Some(3), "{line}");
    assert!(
        line.starts_with("OCWATCH UNKNOWN: not read: 127.0.0.1:1 "),
        "{line}"
    );
}

/// What settles is not counted before it has settled; waiting for it is what `--settle` is for.
#[test]
fn a_check_counts_what_has_settled() {
    let world = World::new();
    stale(&world, "Stale");
    let (code, line) = checked(&world, &[]);
    assert_eq!(code, Some(0), "{line}");
    assert!(line.contains("1 session, 1 running"), "{line}");
    let url = world.sim.url();
    let args = ["check", &url, "--settle", "30", "--json"];
    let document = world.home.run(&args);
    assert_eq!(document.code, Some(2), "{document:#?}");
    let document = document.json();
    assert_eq!(document["schema"], "ocwatch.check/1", "{document:#}");
    assert_eq!(document["leading"]["finding"], "stale-busy", "{document:#}");
    assert_eq!(
        (&document["exit"], &document["status"]),
        (&2.into(), &"critical".into())
    );
}

#[test]
fn a_check_of_nothing_that_answers_is_3() {
    let home = Home::new();
    let ran = home.run(&["check", "127.0.0.1:1"]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    let line = "OCWATCH UNKNOWN: not read: 127.0.0.1:1 (http://127.0.0.1:1): connection refused";
    assert!(ran.out.starts_with(line), "{ran:#?}");
    assert!(ran.out.ends_with(" sessions=0 unread=1\n"), "{ran:#?}");
    let ran = home.run(&["check", "--config", "nowhere.toml", "127.0.0.1:1"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(
        ran.out
            .starts_with("OCWATCH UNKNOWN: failed to use the configuration"),
        "{ran:#?}"
    );
    assert_eq!(ran.out.lines().count(), 1, "{ran:#?}");
}
