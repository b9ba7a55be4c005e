//! The audit log: what is done is recorded before and after, and what cannot be recorded is not done.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

use ocwatch::core::app::Outcome;
use ocwatch::core::id::SessionId;
use ocwatch::shell::audit::read::{Log, UNFINISHED, read};
use ocwatch::shell::audit::{Audit, Ending, Entry, FILE, recorded};
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Sim};
use program::{Home, Ran};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const PASSWORD: &str = "hunter2";

const BUSY: &str = r#"
name = "home"
version = "1.18.33"
cwd = "/"
[[session]]
key = "hung"
title = "Hangs \u001b[2J"
directory = "/usr"
then = []
[[session.turn]]
age = "12m"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "make all", hold = true } } }]

[[session]]
key = "done"
title = "Done"
directory = "/usr"
[[session.turn]]
age = "1h"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]
"#;

struct World {
    sim: Sim,
    ids: BTreeMap<String, String>,
    home: Home,
}

impl World {
    fn new() -> Self {
        let sim = Sim::start(Config {
            cwd: "/".to_owned(),
            auth: Some(("opencode".to_owned(), PASSWORD.to_owned())),
            ..Config::new(system_clock())
        })
        .expect("a simulated server");
        let ids = sim.load(&Scenario::parse(BUSY).expect("a scenario"));
        Self {
            sim,
            ids: ids.into_iter().collect(),
            home: Home::new(),
        }
    }

    fn abort(&self, key: &str, more: &[&str]) -> Ran {
        let url = self.sim.url();
        let url = url.replace("http://", &format!("http://opencode:{PASSWORD}@"));
        let mut args = vec!["abort", "--yes", &self.ids[key], "--server", &url];
        args.extend(more);
        self.home.run(&args)
    }

    fn dir(&self) -> PathBuf {
        self.home.path().join("state/ocwatch")
    }

    /// The place of the log, its folder made.
    fn file(&self) -> PathBuf {
        std::fs::create_dir_all(self.dir()).expect("a folder");
        self.dir().join(FILE)
    }

    fn acted(&self) -> bool {
        let requests = self.sim.requests();
        requests.iter().any(|it| it.method != "GET")
    }

    /// The documents of `ocwatch log --json`.
    fn log(&self, more: &[&str]) -> Vec<Value> {
        let mut args = vec!["log", "--json"];
        args.extend(more);
        let ran = self.home.run(&args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
        let lines = ran.out.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("a document"))
            .collect()
    }
}

#[test]
fn an_action_is_recorded_with_before_after_and_outcome() {
    let world = World::new();
    let empty = world.home.run(&["log"]);
    assert_eq!(empty.code, Some(0), "{empty:#?}");
    assert!(empty.err.contains("nothing was recorded yet"), "{empty:#?}");

    let hung = world.abort("hung", &[]);
    assert_eq!(hung.code, Some(0), "{hung:#?}");
    let done = world.abort("done", &[]);
    assert_eq!(done.code, Some(1), "{done:#?}");
    let url = world.sim.url();
    world.sim.stop();

    let meta = std::fs::metadata(world.file()).expect("the file");
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(world.file()).expect("the file");
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(
        !text.contains(PASSWORD) && !text.contains('\u{1b}'),
        "{text}"
    );

    let log = world.log(&[]);
    assert_eq!(log.len(), 2, "{log:#?}");
    let first = &log[0];
    assert_eq!(first["schema"], "ocwatch.audit/1");
    assert_eq!(first["url"], url.as_str());
    assert_eq!(first["session"], world.ids["hung"].as_str());
    assert_eq!(first["title"], "Hangs ␛[2J");
    assert_eq!(
        (&first["action"], &first["outcome"]),
        (&"abort".into(), &"done".into())
    );
    assert_eq!(first["before"]["reported"], "busy");
    assert_eq!(first["before"]["finding"], "hung-tool");
    assert_eq!(first["before"]["level"], "stuck");
    assert_eq!(first["after"]["reported"], "idle");
    assert_eq!(first["after"]["activity"], "aborted");
    assert!(
        first["plan"][0]
            .as_str()
            .is_some_and(|it| it.contains("make all"))
    );
    assert!(first["ended"].as_i64() >= first["at"].as_i64());
    assert_eq!(log[1]["outcome"], "no-effect");

    let table = world.home.run(&["log"]);
    assert_eq!(
        (table.code, table.err.as_str()),
        (Some(0), ""),
        "{table:#?}"
    );
    let lines: Vec<&str> = table.out.lines().collect();
    assert!(lines[0].starts_with("TIME"), "{table:#?}");
    assert!(
        lines[1].contains("Hangs ␛[2J") && lines[1].contains(" done "),
        "{table:#?}"
    );
    assert!(lines[2].contains("no-effect"), "newest last: {table:#?}");
    let newest = world.home.run(&["log", "--json", "--last", "1"]);
    assert_eq!(newest.json(), log[1]);
    assert_eq!(world.log(&["--session", &world.ids["hung"]]), log[..1]);
}

#[test]
fn an_action_that_cannot_be_recorded_is_not_done_unless_forced() {
    let world = World::new();
    // A disk without room, as the kernel tells it.
    symlink("/dev/full", world.file()).expect("a link");
    let refused = world.abort("hung", &[]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    for words in [
        "nothing was done",
        "audit.jsonl",
        "No space left",
        "--force",
    ] {
        assert!(refused.err.contains(words), "{words}: {refused:#?}");
    }
    assert!(!world.acted(), "{:#?}", world.sim.requests());

    let forced = world.abort("hung", &["--force"]);
    assert_eq!(forced.code, Some(0), "{forced:#?}");
    assert!(forced.out.contains("done"), "{forced:#?}");
    assert!(forced.err.contains("is not recorded"), "{forced:#?}");
    assert!(world.acted());
}

#[test]
fn a_folder_that_cannot_be_made_stops_an_action_too() {
    let world = World::new();
    std::fs::write(world.home.path().join("state"), "").expect("a file in its place");
    let refused = world.abort("hung", &[]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    assert!(refused.err.contains("nothing was done"), "{refused:#?}");
    assert!(!world.acted());
    let log = world.home.run(&["log"]);
    assert_eq!(log.code, Some(1), "{log:#?}");
    assert!(log.err.contains("failed to read the audit log"), "{log:#?}");
}

fn entry(session: &str) -> Entry {
    Entry {
        server: "home".to_owned(),
        url: "http://h:1".to_owned(),
        session: SessionId::from(session),
        title: String::new(),
        action: "abort",
        plan: Vec::new(),
        sent: None,
        before: None,
    }
}

fn ending() -> Ending {
    Ending {
        outcome: Outcome::Done("ended".to_owned()),
        after: None,
    }
}

fn audit(dir: &Path, force: bool) -> Audit {
    Audit::open(Some(dir.to_owned()), force, system_clock())
}

fn log(dir: &Path) -> Log {
    read(dir).expect("a log").expect("a file")
}

#[test]
fn a_torn_line_spoils_no_other_and_is_counted() {
    let home = Home::new();
    let dir = home.path().join("state/ocwatch");
    let whole = audit(&dir, false).begin(&entry("ses_1")).expect("a ticket");
    whole.end(&ending()).expect("recorded");
    let text = std::fs::read_to_string(dir.join(FILE)).expect("the file");
    std::fs::write(dir.join(FILE), &text[..text.len() - 20]).expect("torn");
    let next = audit(&dir, false).begin(&entry("ses_2")).expect("a ticket");
    next.end(&ending()).expect("recorded");

    let log = log(&dir);
    let told = log.actions.iter().map(|it| it.text("outcome"));
    assert_eq!(told.collect::<Vec<_>>(), [UNFINISHED, "done"]);
    assert_eq!(log.malformed, 1);
    let shown = home.run(&["log"]);
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    assert!(shown.out.contains(UNFINISHED), "{shown:#?}");
    assert!(shown.err.contains("1 line of"), "{shown:#?}");
}

#[test]
fn many_write_at_once_and_no_line_is_lost() {
    let home = Home::new();
    let dir = home.path();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let audit = audit(dir, false);
                for n in 0..20 {
                    let entry = entry(&format!("ses_{thread}_{n}"));
                    let ticket = audit.begin(&entry).expect("a ticket");
                    ticket.end(&ending()).expect("recorded");
                }
            });
        }
    });
    let log = log(dir);
    assert_eq!((log.actions.len(), log.malformed), (80, 0));
    assert!(log.actions.iter().all(|it| it.text("outcome") == "done"));
}

#[tokio::test]
async fn an_end_that_cannot_be_recorded_is_told_beside_the_outcome() {
    let home = Home::new();
    let dir = home.path();
    let log = audit(dir, false);
    let done = recorded(&log, entry("ses_1"), async {
        std::fs::rename(dir.join(FILE), dir.join("kept")).expect("its file");
        symlink("/dev/full", dir.join(FILE)).expect("a link");
        Outcome::Done("ended".to_owned())
    })
    .await;
    assert_eq!(done.outcome, Outcome::Done("ended".to_owned()));
    let warning = done.warning.as_deref().expect("a warning");
    assert!(
        warning.starts_with("how it ended is not recorded: "),
        "{warning}"
    );
    match done.told() {
        Outcome::Done(text) => assert!(text.contains("not recorded"), "{text}"),
        other => panic!("{other:?}"),
    }

    let begun = std::cell::Cell::new(false);
    let work = async {
        begun.set(true);
        Outcome::Done(String::new())
    };
    let refused = recorded(&log, entry("ses_1"), work).await;
    assert!(matches!(refused.outcome, Outcome::Failed(_)), "{refused:?}");
    assert!(!begun.get(), "not recorded, so not done");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = Home::new();
    let dir = home.path().join("state/ocwatch");
    let log = audit(&dir, false);
    for n in 0..3 {
        let ticket = log.begin(&entry(&format!("ses_{n}"))).expect("a ticket");
        ticket.end(&ending()).expect("recorded");
    }
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = home.command(&["log"]);
    let output = command.stdout(writer).output().expect("its end");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
