//! `--record` and `replay`: what servers said, shown again from a file alone.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

#[path = "program/lines.rs"]
mod lines;
#[path = "program/screen.rs"]
mod screen;

use lines::{Ended, Running};
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Sim};
use portable_pty::CommandBuilder;
use program::Home;
use screen::Screen;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// A recording of a session that asks and is aborted, on a server that goes away then; what `watch`
/// told meanwhile, and the session's id. The server had a password in its URL.
fn recorded(home: &Home, file: &str) -> (Ended, String) {
    let cwd = home.path().canonicalize().expect("a path");
    let cwd = cwd.display().to_string();
    let sim = Sim::start(Config {
        cwd: cwd.clone(),
        ..Config::new(system_clock())
    });
    let sim = sim.expect("a simulated server");
    let step = StepSeed::done(Step::say("done"), 500);
    let turn = TurnSeed::new(60_000, "go", vec![step], End::Stop);
    let id = sim.add_session(&SessionSeed::new("Asks", &cwd).turn(turn));
    let secret = sim.url().replace("http://", "http://someone:hunter2@");
    let args = ["watch", "--json", &secret, "--record", file];
    let mut watch = Running::start(&mut home.command(&args));
    watch.until("the session", |it| it["id"] == id);
    assert!(sim.prompt(&id, "question"));
    watch.until("it asks", |it| it["to"]["level"] == "needs-you");
    let url = sim.url();
    let abort = ["abort", id.as_str(), "--yes", "--server", url.as_str()];
    assert_eq!(home.run(&abort).code, Some(0));
    watch.until("it is at rest", |it| {
        it["to"]["activity"] == "ended-early" && it["to"]["reported"] == "idle"
    });
    sim.stop();
    watch.until("it is unknown", |it| {
        it["id"] == id && it["to"]["level"] == "unknown"
    });
    let ended = watch.end_by("TERM");
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(0), ""),
        "{ended:#?}"
    );
    (ended, id)
}

/// Each level and finding that was told of a session, once in a row.
fn verdicts(seen: &[Value], id: &str) -> Vec<(String, String)> {
    let word = |it: &Value, name: &str| it["to"][name].as_str().unwrap_or("-").to_owned();
    let of = seen.iter().filter(|it| it["id"] == id);
    let mut all: Vec<_> = of
        .map(|it| (word(it, "level"), word(it, "finding")))
        .collect();
    all.dedup();
    all
}

#[test]
fn a_recording_comes_to_the_same_verdicts_and_holds_no_password() {
    let home = Home::new();
    let (lived, id) = recorded(&home, "evening.ndjson");
    let path = home.path().join("evening.ndjson");
    let text = std::fs::read_to_string(&path).expect("the recording");
    assert!(
        !text.contains("hunter2") && !text.contains("someone"),
        "a password"
    );
    assert!(text.ends_with('\n') && text.lines().count() > 10, "{text}");
    let mode = std::fs::metadata(&path)
        .expect("its mode")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    let again = home.run(&["replay", "evening.ndjson", "--json", "--speed", "4"]);
    assert_eq!(again.code, Some(0), "{again:#?}");
    assert_eq!(again.err, "ocwatch: the recording ends here\n");
    let lines: Vec<Value> = again
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("a document"))
        .collect();
    assert_eq!(
        verdicts(&lines, &id),
        verdicts(&lived.seen, &id),
        "{again:#?}"
    );
    let asked = ("needs-you".to_owned(), "waiting-question".to_owned());
    assert!(verdicts(&lines, &id).contains(&asked), "{again:#?}");

    // Whoever wrote it was ended in the middle of a line; and a line of something else.
    let torn = format!("{text}{{\"what\":1}}\n{{\"server\":0,\"ep");
    std::fs::write(&path, torn).expect("written");
    let again = home.run(&["replay", "evening.ndjson", "--json", "--speed", "50"]);
    assert_eq!(again.code, Some(0), "{again:#?}");
    let end = "ocwatch: the recording ends here, 1 line was not understood\n";
    assert_eq!(again.err, end);
}

#[test]
fn what_is_no_recording_is_told() {
    let home = Home::new();
    let write = |name: &str, text: &str| {
        std::fs::write(home.path().join(name), text).expect("written");
    };
    write("other", "{}\n");
    write("newer", "{\"format\":\"ocwatch.recording/9\"}\n");
    for (name, words) in [
        ("missing", "failed to replay missing: No such file"),
        (
            "other",
            "failed to replay other: it is no recording of ocwatch",
        ),
        (
            "newer",
            "\"ocwatch.recording/9\", and this ocwatch reads ocwatch.recording/1",
        ),
    ] {
        let ran = home.run(&["replay", name, "--json"]);
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        assert!(ran.err.contains(words), "{ran:#?}");
        assert_eq!(ran.err.lines().count(), 1, "{ran:#?}");
    }
    let ran = home.run(&["replay", "other"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.err.contains("ocwatch replay --json"), "{ran:#?}");
    let ran = home.run(&["watch", "127.0.0.1:1", "--record", "other"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(
        ran.err.contains("failed to record to other: File exists"),
        "{ran:#?}"
    );
    let ran = home.run(&["status", "127.0.0.1:1", "--record", "more"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let ran = home.run(&["status", "127.0.0.1:1", "--json"]);
    assert_eq!(
        ran.json()["sessions"],
        serde_json::json!([]),
        "it is refused above"
    );
}

#[test]
fn the_dashboard_shows_a_recording_and_no_key_acts() {
    let home = Home::new();
    let (_, _) = recorded(&home, "evening.ndjson");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ocwatch"));
    command.env_clear();
    for (name, value) in home.variables() {
        command.env(name, value);
    }
    command.cwd(home.path());
    command.args(["replay", "evening.ndjson", "--speed", "4"]);
    let mut screen = Screen::start(command);
    screen.until_text("Asks");
    screen.until_text("the recording ends here");
    for (key, words) in [("e", "this is a replay"), ("j", "Asks"), ("a", "replay")] {
        screen.press(key);
        screen.until_text(words);
    }
    assert!(screen.text().contains("replay"), "{}", screen.text());
    screen.press("Q");
    assert_eq!(screen.end(), 0);
}
