//! `ocwatch reset` against simulated servers over real sockets.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;
#[path = "program/until.rs"]
mod until;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::{BashStep, Dur, Step};
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Fault, Sim};
use program::{Home, Ran};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use until::until;

struct World {
    sim: Sim,
    ids: BTreeMap<String, String>,
    home: Home,
    root: String,
}

const HEAD: &str = "name = \"home\"\nversion = \"1.18.33\"\n";

const ORPHAN: &str = r#"
[[session]]
key = "orphan"
title = "Cut off"
directory = "$ROOT/work"
[[session.turn]]
age = "4h"
prompt = "first"
step = [{ do = { text = { text = "done" } } }]
[[session.turn]]
age = "3h"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "./start.sh", hold = true } } }]
"#;

const RUNNING: &str = r#"
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
key = "other"
title = "Works on"
directory = "$ROOT/work"
then = []
[[session.turn]]
age = "1m"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "sleep 60", hold = true } } }]

[[session]]
key = "done"
title = "Done"
directory = "$ROOT/work"
[[session.turn]]
age = "1h"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]
"#;

impl World {
    fn new(sessions: &str) -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("work")).expect("a folder");
        let root = home.path().canonicalize().expect("a path");
        let root = root.display().to_string();
        let cwd = format!("{root}/work");
        let sim = Sim::start(Config {
            cwd: cwd.clone(),
            ..Config::new(system_clock())
        })
        .expect("a simulated server");
        let text = sessions.replace("$ROOT", &root);
        let text = format!("{HEAD}cwd = \"{cwd}\"\n{text}");
        let scenario = Scenario::parse(&text).expect("a scenario");
        let ids = sim.load(&scenario).into_iter().collect();
        Self {
            sim,
            ids,
            home,
            root,
        }
    }

    fn id(&self, key: &str) -> &str {
        &self.ids[key]
    }

    fn reset(&self, key: &str, more: &[&str]) -> Ran {
        let url = self.sim.url();
        let mut args = vec!["reset", self.id(key), "--server", url.as_str()];
        args.extend(more);
        self.home.run(&args)
    }

    fn get(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(self.sim.addr()).expect("a connection");
        let host = self.sim.addr();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let body = text.split_once("\r\n\r\n").expect("a body").1;
        serde_json::from_str(body).unwrap_or_else(|why| panic!("{path}: {why}: {text}"))
    }

    fn messages(&self, key: &str) -> Value {
        self.get(&format!("/session/{}/message", self.id(key)))
    }

    fn status(&self) -> Value {
        self.get(&format!("/session/status?directory={}/work", self.root))
    }

    fn writes(&self) -> Vec<String> {
        let requests = self.sim.requests().into_iter();
        let writes = requests.filter(|it| it.method != "GET");
        writes
            .map(|it| format!("{} {}", it.method, it.path))
            .collect()
    }
}

/// The states of all tool parts, blanked: what is left must not differ.
fn without_states(messages: &Value) -> (Value, Vec<String>) {
    let mut rest = messages.clone();
    let mut states = Vec::new();
    for message in rest.as_array_mut().expect("messages") {
        for part in message["parts"].as_array_mut().expect("parts") {
            if let Some(state) = part.get_mut("state") {
                let state = std::mem::take(state);
                states.push(state["status"].as_str().expect("a status").to_owned());
            }
        }
    }
    (rest, states)
}

#[test]
fn an_interrupted_session_is_exported_and_its_part_set_to_error_and_nothing_else_changes() {
    let world = World::new(ORPHAN);
    let before = world.messages("orphan");
    let dry = world.reset("orphan", &["--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry:#?}");
    for line in [
        "1 export 4 messages to ",
        "2 nothing runs",
        "mark a tool part as aborted (bash ./start.sh, running since 3 h)",
        "may still run on the host",
    ] {
        assert!(dry.out.contains(line), "{line}: {dry:#?}");
    }
    assert_eq!(world.writes(), Vec::<String>::new());
    assert_eq!(world.messages("orphan"), before);

    let ran = world.reset("orphan", &["--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        ran.out
            .contains("reset: done: 1 tool part marked as aborted"),
        "{ran:#?}"
    );
    let after = world.messages("orphan");
    let ((old, was), (new, is)) = (without_states(&before), without_states(&after));
    assert_eq!(old, new, "only the state differs");
    assert_eq!(
        (was, is),
        (vec!["running".to_owned()], vec!["error".to_owned()])
    );
    let document = world
        .home
        .run(&["status", "--json", &world.sim.url()])
        .json();
    let row = &document["sessions"][0];
    assert_eq!(
        (&row["level"], &row["activity"]["state"]),
        (&"ok".into(), &"ended-early".into()),
        "{row:#}"
    );
    let saved = ran.out.split("saved to ").nth(1).expect("a path").trim();
    let saved: Value =
        serde_json::from_slice(&std::fs::read(saved).expect("a file")).expect("JSON");
    assert_eq!(saved["messages"], before, "the export holds it as it was");
    assert_eq!(world.writes().len(), 1, "{:?}", world.writes());

    let again = world.reset("orphan", &["--yes"]);
    assert_eq!(again.code, Some(0), "{again:#?}");
    assert!(
        again
            .out
            .contains("nothing to repair: the next prompt continues"),
        "{again:#?}"
    );
}

#[test]
fn a_hung_tool_is_stopped_and_others_go_on() {
    let world = World::new(RUNNING);
    let ran = world.reset("hung", &["--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.out.contains("reset: done: stopped"), "{ran:#?}");
    let status = world.status();
    assert!(status.get(world.id("hung")).is_none(), "{status}");
    assert!(status.get(world.id("other")).is_some(), "{status}");
    let (_, states) = without_states(&world.messages("hung"));
    assert!(!states.contains(&"running".to_owned()), "{states:?}");
}

#[test]
fn an_abort_that_is_ignored_leads_to_the_next_rung_and_only_with_consent() {
    let world = World::new(RUNNING);
    let path = format!("/session/{}/abort", world.id("hung"));
    world.sim.fault(&path, Fault::Json("true".to_owned()));
    let ran = world.reset("hung", &["--yes"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    for words in [
        "no effect",
        "reported busy",
        "dispose the project",
        "--allow dispose",
    ] {
        assert!(ran.err.contains(words), "{words}: {ran:#?}");
    }
    assert!(world.status().get(world.id("other")).is_some());
    let ran = world.reset("hung", &["--yes", "--allow", "dispose,fork"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.out.contains("project disposed"), "{ran:#?}");
    assert_eq!(world.status(), serde_json::json!({}));
}

#[test]
fn every_exit_code() {
    let world = World::new(RUNNING);
    let done = world.reset("done", &["--yes"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    let usage = world.reset("done", &[]);
    assert_eq!(usage.code, Some(2), "{usage:#?}");
    assert!(usage.err.contains("--yes"), "{usage:#?}");
    let wrong = world.reset("done", &["--yes", "--allow", "everything"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    let url = world.sim.url();
    let none = world
        .home
        .run(&["reset", "ses_nothing", "--yes", "--server", &url]);
    assert_eq!(none.code, Some(4), "{none:#?}");
    world.sim.stop();
    let lost = world.reset("done", &["--yes"]);
    assert_eq!(lost.code, Some(3), "{lost:#?}");
}

#[test]
fn nothing_is_changed_when_the_export_fails() {
    let world = World::new(ORPHAN);
    let state = world.home.path().join("state/ocwatch");
    std::fs::create_dir_all(&state).expect("a folder");
    std::fs::write(state.join("exports"), "in the way").expect("a file");
    let ran = world.reset("orphan", &["--yes"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.err
            .contains("the export failed, so nothing was changed"),
        "{ran:#?}"
    );
    assert_eq!(world.writes(), Vec::<String>::new());
}

/// Kills the program when the server has got a request that it never answers.
fn kill_at(world: &World, path: &str, method: &str, key: &str) {
    let asked = |world: &World| {
        let requests = world.sim.requests().into_iter();
        requests
            .filter(|it| it.method == method && it.path.starts_with(path))
            .count()
    };
    let before = asked(world);
    let pattern = format!("{}*", path.trim_end_matches('?'));
    world.sim.fault_times(&pattern, Fault::Stall, 1);
    let url = world.sim.url();
    let args = ["reset", world.id(key), "--yes", "--server", url.as_str()];
    let mut child = world
        .home
        .command(&args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    until(&format!("{method} {path}"), || asked(world) != before);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    world.sim.clear_faults();
}

/// Every file that has a final name is whole.
fn saved(world: &World) -> usize {
    let dir = world.home.path().join("state/ocwatch/exports");
    let Ok(files) = std::fs::read_dir(dir) else {
        return 0;
    };
    let names = files.map(|it| it.expect("a file").path());
    let json = names.filter(|it| it.extension().is_some_and(|it| it == "json"));
    json.map(|it| {
        let text = std::fs::read(&it).expect("a file");
        let whole: Value =
            serde_json::from_slice(&text).unwrap_or_else(|why| panic!("{}: {why}", it.display()));
        assert!(
            whole["messages"].is_array() && whole["info"].is_object(),
            "{}",
            it.display()
        );
    })
    .count()
}

#[test]
fn killed_in_the_middle_of_any_step_it_leaves_no_half_file_and_a_second_run_finishes() {
    let world = World::new(ORPHAN);
    let before = world.messages("orphan");
    let last = before
        .as_array()
        .and_then(|it| it.last())
        .expect("messages");
    let last = last["info"]["id"].as_str().expect("an id");
    let session = format!("/session/{}", world.id("orphan"));
    let steps = [
        ("GET", format!("{session}/children")),
        ("GET", format!("{session}/message?")),
        ("GET", format!("{session}/message/{last}")),
        ("PATCH", format!("{session}/message/{last}/part/")),
    ];
    for (method, path) in steps {
        kill_at(&world, &path, method, "orphan");
        saved(&world);
    }
    let ran = world.reset("orphan", &["--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(saved(&world) > 0);
    let after = world.messages("orphan");
    assert_eq!(without_states(&before).0, without_states(&after).0);

    let world = World::new(RUNNING);
    let id = world.id("hung").to_owned();
    for path in ["abort", "message"] {
        let method = if path == "abort" { "POST" } else { "GET" };
        kill_at(&world, &format!("/session/{id}/{path}"), method, "hung");
        saved(&world);
    }
    let ran = world.reset("hung", &["--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn what_moves_while_it_is_looked_at_is_left_alone() {
    let world = World::new(ORPHAN);
    // Idle by its status, and yet its output grows: another OpenCode on this data runs it.
    let idle = Fault::Json("{}".to_owned());
    world.sim.fault("/session/status*", idle);
    let chatter = (0..600).map(|n| format!("line {n}")).collect();
    let step = Step::Bash(BashStep {
        command: "make all".to_owned(),
        lines: chatter,
        every: Dur(100),
        ..BashStep::default()
    });
    assert!(world.sim.play(world.id("orphan"), "go on", vec![step]));
    let running = || without_states(&world.messages("orphan")).1.len() == 2;
    until("it begins", running);
    let ran = world.reset("orphan", &["--yes", "--allow", "elsewhere"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.err.contains("moved while it was looked at"), "{ran:#?}");
    let writes = world.writes();
    assert!(
        !writes.iter().any(|it| it.starts_with("PATCH")),
        "{writes:?}"
    );
}

#[test]
fn a_change_that_the_server_only_says_it_took_is_not_done() {
    let world = World::new(ORPHAN);
    let path = format!("/session/{}/message/*", world.id("orphan"));
    let before = world.messages("orphan");
    let last = before
        .as_array()
        .and_then(|it| it.last())
        .expect("messages");
    let last = last["info"]["id"].as_str().expect("an id");
    let part = path.replace('*', &format!("{last}/part/*"));
    world.sim.fault(&part, Fault::Json("{}".to_owned()));
    let ran = world.reset("orphan", &["--yes"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.err.contains("stayed as they were"), "{ran:#?}");
    assert!(!ran.err.contains("marked"), "{ran:#?}");
}

#[test]
fn a_plan_names_who_else_ends_when_disposing_was_agreed_to() {
    let world = World::new(RUNNING);
    let ran = world.reset("hung", &["--dry-run", "--allow", "dispose"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for words in ["dispose the project", "this ends also", "Works on"] {
        assert!(ran.out.contains(words), "{words}: {ran:#?}");
    }
    let without = world.reset("hung", &["--dry-run"]);
    assert!(!without.out.contains("Works on"), "{without:#?}");
}
