//! `ocwatch reset` against simulated servers over real sockets.
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
use program::{Home, Ran};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

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
