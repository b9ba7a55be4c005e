//! The whole program against simulated servers over real sockets.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Fault, Sim};
use program::Home;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A simulated server whose folders exist, and the program's home.
struct World {
    sim: Sim,
    ids: BTreeMap<String, String>,
    home: Home,
}

impl World {
    fn new(sessions: &str) -> Self {
        let home = Home::new();
        for name in ["work", "asleep"] {
            std::fs::create_dir(home.path().join(name)).expect("a folder");
        }
        let root = home.path().canonicalize().expect("a path");
        let root = root.display().to_string();
        let sim = Sim::start(Config {
            cwd: format!("{root}/work"),
            ..Config::new(system_clock())
        })
        .expect("a simulated server");
        let text = format!(
            "name = \"home\"\nversion = \"1.18.33\"\ncwd = \"{root}/work\"\n{}",
            sessions.replace("$ROOT", &root)
        );
        let scenario = Scenario::parse(&text).expect("a scenario");
        let ids = sim.load(&scenario).into_iter().collect();
        Self { sim, ids, home }
    }

    fn id(&self, key: &str) -> &str {
        &self.ids[key]
    }

    fn status(&self, more: &[&str]) -> Value {
        let url = self.sim.url();
        let mut args = vec!["status", "--json", url.as_str()];
        args.extend(more);
        let ran = self.home.run(&args);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        ran.json()
    }

    fn session<'a>(&self, document: &'a Value, key: &str) -> &'a Value {
        let all = document["sessions"].as_array().expect("sessions");
        let found = all.iter().find(|row| row["id"] == self.id(key));
        found.unwrap_or_else(|| panic!("no {key} in {document:#}"))
    }
}

const RICH: &str = r#"
[[session]]
key = "stale"
title = "Finished, but busy"
directory = "$ROOT/work"
busy = true
[[session.turn]]
age = "12m"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]

[[session]]
key = "orphan"
title = "Cut off"
directory = "$ROOT/work"
[[session.turn]]
age = "3h"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "./start.sh", hold = true } } }]

[[session]]
key = "hung"
title = "Hangs"
directory = "$ROOT/work"
then = []
[[session.turn]]
age = "12m"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "make all", hold = true } } }]

[[session]]
key = "done"
title = "Done"
directory = "$ROOT/work"
[[session.turn]]
age = "1h"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]

[[session]]
key = "asleep"
title = "Old"
directory = "$ROOT/asleep"
[[session.turn]]
age = "3d"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]
"#;

#[test]
fn status_shows_what_is_reported_beside_what_is_true() {
    let world = World::new(RICH);
    let document = world.status(&["--settle", "0"]);
    assert_eq!(document["schema"], "ocwatch.status/1");
    assert_eq!(document["servers"][0]["state"], "live");
    let told = |key: &str| {
        let row = world.session(&document, key);
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        [
            text(&row["reported"]["type"]),
            text(&row["activity"]["state"]),
            text(&row["level"]),
            text(&row["findings"][0]["name"]),
        ]
    };
    assert_eq!(told("stale"), ["busy", "done", "stuck", "stale-busy"]);
    assert_eq!(
        told("orphan"),
        ["idle", "running-tool", "stuck", "interrupted"]
    );
    assert_eq!(told("hung"), ["busy", "running-tool", "stuck", "hung-tool"]);
    assert_eq!(told("done"), ["idle", "done", "ok", "-"]);
    assert_eq!(told("asleep"), ["unknown", "unread", "unknown", "-"]);
    let asleep = world
        .home
        .path()
        .join("asleep")
        .canonicalize()
        .expect("a path");
    let asleep = asleep.display().to_string();
    assert!(
        !world.sim.booted().contains(&asleep),
        "looking must not start a project"
    );
}

#[test]
fn an_abort_is_done_only_when_the_server_shows_it() {
    let world = World::new(RICH);
    let url = world.sim.url();
    let abort = |key: &str| {
        let args = ["abort", "--yes", world.id(key), "--server", url.as_str()];
        world.home.run(&args)
    };
    let stale = abort("stale");
    assert_eq!(stale.code, Some(0), "{stale:#?}");
    assert!(stale.out.contains("abort: done: ended"), "{stale:#?}");
    let plan = "Abort \"Finished, but busy\"\n  stop the turn";
    assert!(stale.err.starts_with(plan), "{stale:#?}");
    let hung = abort("hung");
    assert_eq!(hung.code, Some(0), "{hung:#?}");
    let orphan = abort("orphan");
    assert_eq!(orphan.code, Some(1), "{orphan:#?}");
    assert!(orphan.out.is_empty(), "{orphan:#?}");
    assert!(
        orphan.err.contains("no effect") && orphan.err.contains("./start.sh"),
        "{orphan:#?}"
    );
    let done = abort("done");
    assert_eq!(done.code, Some(1), "{done:#?}");
    assert!(done.err.contains("nothing ran"), "{done:#?}");
    let document = world.status(&["--settle", "0"]);
    for (key, reported) in [("stale", "idle"), ("hung", "idle"), ("orphan", "idle")] {
        assert_eq!(
            world.session(&document, key)["reported"]["type"],
            reported,
            "{key}"
        );
    }
    let unknown = world
        .home
        .run(&["abort", "--yes", "ses_nothing", "--server", &url]);
    assert_eq!(unknown.code, Some(4), "{unknown:#?}");
}

#[test]
fn an_abort_that_is_ignored_has_no_effect_whatever_the_server_answers() {
    let world = World::new(RICH);
    let body = Fault::Json("true".to_owned());
    world
        .sim
        .fault(&format!("/session/{}/abort", world.id("stale")), body);
    let url = world.sim.url();
    let args = [
        "abort",
        "--yes",
        world.id("stale"),
        "--server",
        url.as_str(),
    ];
    let ran = world.home.run(&args);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.err.contains("no effect") && ran.err.contains("reported busy"),
        "{ran:#?}"
    );
}

#[test]
fn an_abort_whose_answer_is_lost_is_done_if_it_ended() {
    let world = World::new(RICH);
    let path = format!("/session/{}/abort", world.id("hung"));
    world.sim.fault(&path, Fault::Lost);
    let url = world.sim.url();
    let ran = world
        .home
        .run(&["abort", "--yes", world.id("hung"), "--server", &url]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.out.contains("although the abort failed"), "{ran:#?}");
    let dry = world
        .home
        .run(&["abort", "--dry-run", world.id("stale"), "--server", &url]);
    assert_eq!(dry.code, Some(0), "{dry:#?}");
    assert!(
        dry.out.starts_with("Abort \"Finished, but busy\""),
        "{dry:#?}"
    );
    let document = world.status(&["--settle", "0"]);
    assert_eq!(
        world.session(&document, "stale")["reported"]["type"],
        "busy"
    );
}

fn long(turns: usize) -> String {
    let mut text =
        String::from("[[session]]\nkey = \"long\"\ntitle = \"Long\"\ndirectory = \"$ROOT/work\"\n");
    for turn in 0..turns {
        let age = (turns - turn) * 60;
        write!(
            text,
            "[[session.turn]]\nage = \"{age}s\"\nprompt = \"prompt {turn}\"\nstep = [{{ took = \"1s\", do = {{ text = {{ text = \"answer {turn}\" }} }} }}]\n"
        )
        .expect("a string");
    }
    text
}

#[test]
fn an_export_is_the_whole_session_in_its_order() {
    let world = World::new(&long(150));
    let url = world.sim.url();
    let id = world.id("long");
    let ran = world.home.run(&["export", "Long", "--server", &url]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let path = world.home.path().join(ran.out.trim());
    assert_eq!(
        path.file_name().and_then(|name| name.to_str()),
        Some(&*format!("{id}.json"))
    );
    let text = std::fs::read_to_string(&path).expect("the file");
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(whole["info"]["id"], id);
    let messages = whole["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 300);
    for (turn, pair) in messages.chunks(2).enumerate() {
        assert_eq!(pair[0]["parts"][0]["text"], format!("prompt {turn}"));
        let parts = pair[1]["parts"].as_array().expect("parts");
        let answer = format!("answer {turn}");
        assert!(parts.iter().any(|part| part["text"] == answer), "{turn}");
    }
    let pages = world
        .sim
        .requests()
        .iter()
        .filter(|it| it.path.contains("/message?"))
        .count();
    assert!(pages >= 3, "300 messages come in pages, not in {pages}");

    let again = world.home.run(&["export", "Long", "--server", &url]);
    assert_eq!(again.code, Some(1), "{again:#?}");
    assert!(again.err.contains("--force"), "{again:#?}");
    let forced = world
        .home
        .run(&["export", "Long", "--force", "--server", &url]);
    assert_eq!(forced.code, Some(0), "{forced:#?}");
    let piped = world
        .home
        .run(&["export", "Long", "-o", "-", "--server", &url]);
    assert_eq!(piped.out, text);
}

#[test]
fn an_export_that_is_cut_leaves_no_file() {
    let world = World::new(&long(150));
    let id = world.id("long").to_owned();
    // The tail for the snapshot is read before; all later pages are cut.
    let ran = {
        world
            .sim
            .fault(&format!("/session/{id}/message"), Fault::Cut);
        let url = world.sim.url();
        world.home.run(&["export", &id, "--server", &url])
    };
    assert_ne!(ran.code, Some(0), "{ran:#?}");
    let left: Vec<_> = std::fs::read_dir(world.home.path())
        .expect("the home")
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| {
            name.to_string_lossy().ends_with(".json") || name.to_string_lossy().starts_with(".tmp")
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_dead_server_does_not_hide_a_living_one() {
    let world = World::new(RICH);
    let url = world.sim.url();
    let ran = world
        .home
        .run(&["status", "--json", "--settle", "0", "127.0.0.1:1", &url]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    let document = ran.json();
    assert_eq!(document["servers"][0]["state"], "unreachable");
    assert_eq!(document["servers"][1]["state"], "live");
    assert_eq!(world.session(&document, "stale")["level"], "stuck");
}

#[test]
fn a_server_whose_sessions_cannot_be_listed_is_not_an_empty_one() {
    let world = World::new(RICH);
    let url = world.sim.url();
    for (fault, cause) in [
        (Fault::Status(500), "answered 500"),
        (Fault::Garbage, "not a list"),
        (Fault::Cut, "cut off"),
    ] {
        for path in ["/api/session", "/experimental/session", "/session"] {
            world.sim.fault(path, fault.clone());
        }
        let ran = world.home.run(&["status", "--settle", "0", &url]);
        assert_eq!(ran.code, Some(3), "{ran:#?}");
        let said: Vec<&str> = ran.err.lines().collect();
        assert_eq!(said.len(), 1, "{ran:#?}");
        for words in [&url, "session list", cause] {
            assert!(said[0].contains(words), "{words}: {ran:#?}");
        }
        let idle = ["explain", world.id("done"), "--server", &url];
        let idle = world.home.run(&idle);
        assert_eq!(idle.code, Some(3), "no list is no proof: {idle:#?}");
    }
    world.sim.clear_faults();
    assert_eq!(world.home.run(&["status", &url]).code, Some(0));
}

#[test]
fn a_server_that_stalls_costs_no_more_than_was_allowed() {
    let world = World::new(RICH);
    world.sim.fault("*", Fault::Stall);
    let url = world.sim.url();
    let begun = Instant::now();
    let ran = world.home.run(&["status", "--timeout", "1", &url]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    assert!(ran.err.contains("not read in time"), "{ran:#?}");
}

#[test]
fn explain_names_every_rule() {
    let world = World::new(RICH);
    let url = world.sim.url();
    let ran = world.home.run(&["explain", "Finished", "--server", &url]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for words in ["stale-busy", "hung-tool", "interrupted", "Rules tried"] {
        assert!(ran.out.contains(words), "{words}: {ran:#?}");
    }
    let json = world
        .home
        .run(&["explain", world.id("stale"), "--json", "--server", &url]);
    assert!(json.json().is_object());
}

#[test]
fn a_password_is_taken_from_url_or_environment_and_never_shown() {
    let home = Home::new();
    let sim = Sim::start(Config {
        auth: Some(("opencode".to_owned(), "hunter2".to_owned())),
        ..Config::new(system_clock())
    })
    .expect("a simulated server");
    let plain = sim.url();
    let with = plain.replace("http://", "http://opencode:hunter2@");
    let by_url = home.run(&["status", "--json", &with]);
    assert_eq!(by_url.code, Some(0), "{by_url:#?}");
    assert!(!format!("{by_url:?}").contains("hunter2"));
    let by_environment = home
        .command(&["status", &plain])
        .env("OPENCODE_SERVER_PASSWORD", "hunter2")
        .output()
        .expect("the program starts");
    assert_eq!(by_environment.status.code(), Some(0), "{by_environment:#?}");
    let without = home.run(&["status", &plain]);
    assert_eq!(without.code, Some(3), "{without:#?}");
    let wrong = plain.replace("http://", "http://opencode:hunter3@");
    let wrong = home.run(&["status", &wrong]);
    assert_eq!(wrong.code, Some(3), "{wrong:#?}");
    assert!(!format!("{wrong:?}").contains("hunter3"));
}

#[test]
fn ascii_holds_whatever_a_title_says() {
    let world = World::new(&RICH.replace("\"Finished", "\"· 日本 Größe\\u001b — Finished"));
    let url = world.sim.url();
    for args in [
        vec!["status", "--settle", "0", &url],
        vec!["explain", "Größe", "--server", &url],
    ] {
        let mut command = world.home.command(&args);
        let output = command.env("LC_ALL", "C").output().expect("its end");
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            assert!(text.is_ascii() && !text.contains('\x1b'), "{text}");
        }
        let said = format!("{output:?}");
        assert!(said.contains("Gr??e"), "{said}");
    }
}

#[test]
fn a_part_of_a_title_is_not_enough_to_change_something() {
    let world = World::new(RICH);
    let url = world.sim.url();
    let ran = world.home.run(&["abort", "ang", "--yes", "--server", &url]);
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    for words in [
        "beginning of an id or a whole title",
        world.id("hung"),
        "\"Hangs\"",
    ] {
        assert!(ran.err.contains(words), "{words}: {ran:#?}");
    }
}

#[test]
fn a_server_without_sessions_says_so() {
    let world = World::new("");
    let ran = world.home.run(&["status", &world.sim.url()]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    assert!(ran.out.ends_with("\n\nno sessions\n"), "{ran:#?}");
    let dead = world.home.run(&["status", "127.0.0.1:1"]);
    assert!(!dead.out.contains("no sessions"), "nobody knows: {dead:#?}");
}

#[test]
fn a_directory_that_was_named_is_all_that_is_shown() {
    let world = World::new(RICH);
    let asleep = world.home.path().join("asleep").display().to_string();
    let document = world.status(&["--settle", "0", "--directory", &asleep]);
    let sessions = document["sessions"].as_array().expect("sessions");
    let ids: Vec<&str> = sessions
        .iter()
        .filter_map(|row| row["id"].as_str())
        .collect();
    assert_eq!(ids, [world.id("asleep")]);
}

const YOUNG: &str = r#"
[[session]]
key = "ending"
title = "Ended a moment ago"
directory = "$ROOT/work"
busy = true
[[session.turn]]
age = "14s"
prompt = "go"
step = [{ took = "1s", do = { text = { text = "done" } } }]

[[session]]
key = "elsewhere"
title = "Open, may run elsewhere"
directory = "$ROOT/work"
[[session.turn]]
age = "30s"
prompt = "go"
end = "open"
step = [{ open = true, do = { bash = { command = "./start.sh", hold = true } } }]
"#;

#[test]
fn status_waits_for_what_can_be_said_in_time_and_for_nothing_else() {
    let world = World::new(YOUNG);
    let begun = Instant::now();
    let document = world.status(&["--settle", "55"]);
    let took = begun.elapsed();
    let ending = world.session(&document, "ending");
    assert_eq!(ending["findings"][0]["name"], "stale-busy", "{document:#}");
    let elsewhere = world.session(&document, "elsewhere");
    assert!(elsewhere["settling"].is_object(), "{document:#}");
    assert!(took < Duration::from_secs(30), "{took:?}");
}

const QUESTION: &str = r#"
[[session]]
key = "asks"
title = "Asks"
directory = "$ROOT/work"
then = []
[[session.turn]]
age = "2m"
prompt = "go"
end = "open"
step = [{ open = true, do = { question = { question = "Which?", header = "W", options = [{ label = "A", description = "a" }] } } }]
"#;

fn looks_at_questions(world: &World) -> usize {
    let requests = world.sim.requests();
    requests
        .iter()
        .filter(|it| it.path.starts_with("/question"))
        .count()
}

#[test]
fn status_looks_twice_for_a_question_that_is_not_listed() {
    let world = World::new(QUESTION);
    let document = world.status(&[]);
    let row = world.session(&document, "asks");
    assert_eq!(row["findings"][0]["name"], "waiting-question", "{row:#}");
    assert_eq!(looks_at_questions(&world), 1, "it is listed");

    world.sim.fault("/question", Fault::Json("[]".to_owned()));
    world.status(&[]);
    assert_eq!(
        looks_at_questions(&world),
        3,
        "once more, and a second time"
    );
    world.status(&["--settle", "0"]);
    assert_eq!(looks_at_questions(&world), 4, "without time, one look");
}

#[test]
fn every_exit_code_of_abort() {
    let world = World::new(RICH);
    let url = world.sim.url();
    let abort = |session: &str, more: &[&str]| {
        let session = world.ids.get(session).map_or(session, String::as_str);
        let mut args = vec!["abort", session, "--server", url.as_str()];
        args.extend(more);
        world.home.run(&args)
    };
    let expect = |code: i32, ran: &program::Ran, words: &str| {
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(words), "{words}: {ran:#?}");
    };
    expect(2, &abort("hung", &[]), "--yes");
    expect(2, &abort("hung", &["--sideways"]), "--sideways");
    expect(4, &abort("ses_nothing", &["--yes"]), "no such session");
    expect(4, &abort("ses_", &["--yes"]), "fits 5 sessions");
    expect(1, &abort("done", &["--yes"]), "nothing ran");
    let path = format!("/session/{}/abort", world.id("stale"));
    world.sim.fault(&path, Fault::Status(500));
    expect(1, &abort("stale", &["--yes"]), "the abort failed");
    expect(0, &abort("hung", &["--yes"]), "abort: done");
    world.sim.stop();
    expect(3, &abort("hung", &["--yes"]), "failed to read");
}
