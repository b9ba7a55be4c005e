//! `ocwatch export` whole: formats, redaction, subagents, what exists, what is killed, exit codes.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;
#[path = "program/until.rs"]
mod until;

use ocwatch::core::export::sanitize;
use ocwatch::net::client::{Address, Client, Waits};
use ocwatch::shell::act::export::export_into;
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::Step;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Fault, Sim};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use pretty_assertions::assert_eq;
use program::{Home, Ran};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use until::until;

/// A simulated server and the program's home.
struct World {
    sim: Sim,
    ids: BTreeMap<String, String>,
    home: Home,
}

impl World {
    fn new(sessions: &str) -> Self {
        let home = Home::new();
        let root = home.path().canonicalize().expect("a path");
        let work = root.join("work");
        fs::create_dir(&work).expect("a folder");
        let work = work.display().to_string();
        let sim = Sim::start(Config {
            cwd: work.clone(),
            ..Config::new(system_clock())
        })
        .expect("a simulated server");
        let text = format!("name = \"home\"\nversion = \"1.18.33\"\ncwd = \"{work}\"\n{sessions}");
        let scenario = Scenario::parse(&text.replace("$WORK", &work)).expect("a scenario");
        let ids = sim.load(&scenario).into_iter().collect();
        Self { sim, ids, home }
    }

    fn id(&self, key: &str) -> &str {
        &self.ids[key]
    }

    fn export(&self, args: &[&str]) -> Ran {
        let url = self.sim.url();
        let mut all = vec!["export", "--server", &url];
        all.extend(args);
        self.home.run(&all)
    }

    /// An export that must be done; what it wrote.
    fn exported(&self, args: &[&str]) -> String {
        let ran = self.export(args);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert_eq!(ran.err, "", "off a terminal nothing is told");
        fs::read_to_string(self.path(ran.out.trim())).expect("the file")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// What exports left in the home: neither folders of the test nor of the program.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.home.path()).expect("the home").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let own = ["work", "state", "config", "data"];
        let mut names: Vec<String> = names.filter(|name| !own.contains(&&**name)).collect();
        names.sort();
        names
    }

    /// How many pages of messages an export has asked for.
    fn pages(&self, id: &str) -> usize {
        let begin = format!("/session/{id}/message?limit=100");
        let requests = self.sim.requests();
        requests
            .iter()
            .filter(|it| it.path.starts_with(&begin))
            .count()
    }

    /// Starts an export and waits for a condition; then it is killed without a chance to clean up.
    fn kill_when(&self, args: &[&str], what: &str, reached: impl Fn() -> bool) {
        let url = self.sim.url();
        let mut all = vec!["export", "--server", &url];
        all.extend(args);
        let mut command = self.home.command(&all);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        until(what, reached);
        child.kill().expect("killed");
        child.wait().expect("its end");
    }
}

fn long(turns: usize) -> String {
    let mut text =
        String::from("[[session]]\nkey = \"long\"\ntitle = \"Long\"\ndirectory = \"$WORK\"\n");
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

/// Ids of all messages in a document; each once, ascending by time and id.
fn ascending(document: &Value) -> Vec<String> {
    let messages = document["messages"].as_array().expect("messages");
    let key = |it: &Value| {
        let info = &it["info"];
        let created = info["time"]["created"].as_i64().expect("a time");
        (created, info["id"].as_str().expect("an id").to_owned())
    };
    let keys: Vec<_> = messages.iter().map(key).collect();
    assert!(keys.windows(2).all(|two| two[0] < two[1]), "{keys:?}");
    keys.into_iter().map(|(_, id)| id).collect()
}

const RICH: &str = r#"
[[session]]
key = "rich"
title = "Port <script> # the *secret* parser"
directory = "$WORK"
[[session.turn]]
age = "2h"
prompt = "a secret prompt with <details> and\n```rust\nVec<u8>\n"
step = [
  { took = "4s", do = { think = { text = "secret thoughts" } } },
  { took = "2s", do = { bash = { command = "make secret", lines = ["secret output", "```", "</details>"] } } },
  { do = { text = { text = "a secret answer" } } },
]
[[session.turn]]
age = "1h"
prompt = "again"
end = { error = { message = "quota is used up", status = 429 } }
[[session.turn]]
age = "50m"
prompt = "and again"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "./start.sh", hold = true } } }]

[[session]]
key = "root"
title = "Family"
directory = "$WORK"
[[session.turn]]
age = "3h"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]

[[session]]
key = "child"
title = "../../child"
directory = "$WORK"
parent = "root"
archived = true
[[session.turn]]
age = "3h"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]

[[session]]
key = "grandchild"
title = "Grandchild"
directory = "$WORK"
parent = "child"
[[session.turn]]
age = "3h"
prompt = "secret"
step = [{ do = { text = { text = "done" } } }]

[[session]]
key = "bare"
title = "Nothing said"
directory = "$WORK"
"#;

#[test]
fn markdown_is_readable_and_nothing_in_it_breaks_out() {
    let world = World::new(RICH);
    let text = world.exported(&["Port", "--format", "md"]);
    assert_eq!(world.left(), [format!("{}.md", world.id("rich"))]);
    for words in [
        "# Port \\<script\\> \\# the \\*secret\\* parser\n\n- id: `ses_",
        "\n- model: `scripted/scripted`\n",
        "\n- cost: $",
        "\n- tokens: ",
        "\n## 1. Prompt, 20",
        "\n> a secret prompt with \\<details> and\n> ```rust\n> Vec<u8>\n> ```\n",
        "<summary>reasoning",
        "\n> secret thoughts\n",
        "\n#### Tool `bash`: `make secret`\n\ncompleted in ",
        "````text\nsecret output\n```\n</details>\n",
        "\n> a secret answer\n",
        "**error** `APIError` (429)\n\n```text\nquota is used up\n```\n",
        "\n**not ended: running since 20",
        " messages in 3 turns. **Still open when this was written: the last answer; `bash` is running.**\n",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let bare = world.exported(&["Nothing", "--format", "md"]);
    assert!(bare.ends_with("---\n\n0 messages in 0 turns.\n"), "{bare}");
}

#[test]
fn what_is_redacted_names_no_secret_in_any_format() {
    let world = World::new(RICH);
    let whole = world.exported(&["Port", "-o", "whole.json"]);
    assert!(whole.contains("secret"));
    let redacted = world.exported(&["Port", "--sanitize"]);
    let document: Value = serde_json::from_str(&redacted).expect("JSON");
    let before: Value = serde_json::from_str(&whole).expect("JSON");
    assert_eq!(ascending(&document), ascending(&before));
    let title = format!("[redacted:session-title:{}]", world.id("rich"));
    assert_eq!(document["info"]["title"], title);
    let piped = world.export(&["Port", "--sanitize", "-o", "-"]);
    assert_eq!(piped.json(), document);
    let text = world.exported(&["Port", "--sanitize", "--format", "md"]);
    for text in [redacted, text] {
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains("quota is used up"), "as the original: {text}");
    }
}

/// The recording is what `opencode export --sanitize` printed.
#[test]
fn redaction_is_that_of_the_original() {
    let recorded = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/v1");
        let text = fs::read_to_string(path.join(name)).expect("a recording");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let (told, theirs) = (
        recorded("every-part.json"),
        recorded("every-part-sanitized.json"),
    );
    let raw = |value: &Value| RawValue::from_string(value.to_string()).expect("JSON");
    let parsed = |text: String| serde_json::from_str::<Value>(&text).expect("JSON");
    let info = parsed(sanitize::session(&raw(&told["info"])).expect("an object"));
    let messages = told["messages"].as_array().expect("messages").iter();
    let messages = messages.map(|it| parsed(sanitize::message(&raw(it)).expect("an object")));
    let ours = json!({"info": info, "messages": messages.collect::<Vec<_>>()});
    assert_eq!(ours, theirs);
}

#[test]
fn a_family_is_one_folder_with_an_index() {
    let world = World::new(RICH);
    let ran = world.export(&["Family", "--children"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let root = world.id("root");
    assert_eq!(ran.out.trim(), format!("./{root}"));
    assert_eq!(world.left(), [root]);
    let read = |name: &str| {
        let text = fs::read_to_string(world.path(root).join(name)).expect("a file");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let index = read("index.json");
    assert_eq!(
        (&index["schema"], &index["sanitized"]),
        (&json!("ocwatch.export/1"), &json!(false))
    );
    let entries = index["sessions"].as_array().expect("a list");
    let keys: Vec<&Value> = entries.iter().map(|it| &it["id"]).collect();
    assert_eq!(keys, [root, world.id("child"), world.id("grandchild")]);
    assert_eq!(entries[1]["title"], "../../child");
    assert_eq!(entries[2]["parent"], world.id("child"));
    for entry in entries {
        let file = entry["file"].as_str().expect("a name");
        let whole = read(file);
        assert_eq!(whole["info"]["id"], entry["id"]);
        let messages = whole["messages"].as_array().map(Vec::len);
        assert_eq!(messages.map(Value::from), Some(entry["messages"].clone()));
    }

    let again = world.export(&["Family", "--children"]);
    assert_eq!(again.code, Some(1), "{again:#?}");
    assert!(again.err.contains("--force"), "{again:#?}");
    let forced = [
        "Family",
        "--children",
        "--force",
        "--format",
        "md",
        "--sanitize",
    ];
    let forced = world.export(&forced);
    assert_eq!(forced.code, Some(0), "{forced:#?}");
    let index = fs::read_to_string(world.path(root).join("index.md")).expect("an index");
    assert!(
        index.contains(&format!("]({}.md) ", world.id("grandchild"))),
        "{index}"
    );
    let files = fs::read_dir(world.path(root)).expect("a folder").count();
    assert_eq!(
        (files, world.left()),
        (5, vec![root.to_owned()]),
        "the older one is gone"
    );

    fs::write(world.path(root).join("notes.txt"), "mine").expect("written");
    let foreign = world.export(&["Family", "--children", "--force"]);
    assert_eq!(foreign.code, Some(1), "{foreign:#?}");
    assert!(foreign.err.contains("not replaced"), "{foreign:#?}");
    assert!(world.path(root).join("notes.txt").exists());
}

#[test]
fn a_family_that_cannot_be_read_whole_leaves_nothing() {
    let world = World::new(RICH);
    let path = format!("/session/{}", world.id("grandchild"));
    world.sim.fault(&path, Fault::Status(500));
    let ran = world.export(&["Family", "--children"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(world.left().is_empty(), "{:?}", world.left());
    world.sim.clear_faults();
    // What the server does not tell, its session list does.
    let path = format!("/session/{}/children", world.id("root"));
    world.sim.fault(&path, Fault::Html);
    let ran = world.export(&["Family", "--children", "-o", "all"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(
        fs::read_dir(world.path("all")).expect("a folder").count(),
        4
    );
}

#[test]
fn a_message_that_comes_while_it_is_read_neither_doubles_nor_tears() {
    let world = World::new(&long(150));
    let id = world.id("long").to_owned();
    let path = format!("/session/{id}/message");
    world
        .sim
        .fault(&path, Fault::Delay(Duration::from_millis(300)));
    let text = std::thread::scope(|scope| {
        let export = scope.spawn(|| world.exported(&["Long"]));
        for page in 1..=3 {
            until("a page is asked for", || world.pages(&id) >= page);
            assert!(world.sim.play(&id, "late", vec![Step::say("late")]));
        }
        export.join().expect("an export")
    });
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let ids = ascending(&document);
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
    assert!(ids.len() >= 300, "nothing old is missing: {}", ids.len());
    let first = &document["messages"][0]["parts"][0]["text"];
    assert_eq!(first, "prompt 0");
}

/// A server whose every page names the same next one.
fn circle() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let count = stream.read(&mut request).unwrap_or(0);
            let asked = String::from_utf8_lossy(&request[..count]).contains("/message");
            let (head, body) = if asked {
                ("x-next-cursor: again\r\n", "[]")
            } else {
                ("", "{}")
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n{head}\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).ok();
        }
    });
    url
}

#[tokio::test]
async fn pages_that_go_in_a_circle_are_given_up() {
    let address = Address::parse(&circle()).expect("an address");
    let client = Client::new(address, None, Waits::default(), system_clock());
    let home = Home::new();
    let into = home.path().join("exports");
    let id = "ses_1".into();
    let ended = export_into(&client.expect("a client"), &id, &into).await;
    let why = ended.expect_err("no end").to_string();
    assert!(why.contains("its pages do not end"), "{why}");
    assert_eq!(fs::read_dir(&into).expect("it was made").count(), 0);
    let mode = fs::metadata(&into).expect("a folder").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// Before 1.2 a server gives no cursor: of a full page nobody can tell whether it is all.
#[tokio::test]
async fn a_full_page_without_a_cursor_is_not_taken_for_all() {
    let world = World::new(&long(115));
    let id = world.id("long").to_owned();
    let whole: Value = serde_json::from_str(&world.exported(&[&id])).expect("JSON");
    let all = whole["messages"].as_array().expect("messages");
    assert_eq!(all.len(), 230);
    let newest = json!(all[130..]).to_string();
    let path = format!("/session/{id}/message");
    world.sim.fault_times(&path, Fault::Json(newest), 1);
    let address = Address::parse(&world.sim.url()).expect("an address");
    let client = Client::new(address, None, Waits::default(), system_clock());
    let into = world.path("old");
    let done = export_into(&client.expect("a client"), &id.as_str().into(), &into).await;
    let text = fs::read(done.expect("an export").path).expect("a file");
    let old: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(
        old["messages"], whole["messages"],
        "each once, in their order"
    );
}

#[test]
fn a_page_that_is_cut_once_is_read_again() {
    let world = World::new(&long(150));
    let id = world.id("long").to_owned();
    // One of them meets the tail that is read before.
    let path = format!("/session/{id}/message");
    world.sim.fault_times(&path, Fault::Cut, 2);
    let document: Value = serde_json::from_str(&world.exported(&["Long"])).expect("JSON");
    assert_eq!(ascending(&document).len(), 300);
    assert_eq!(world.pages(&id), 4, "three, and one again");
}

#[test]
fn a_killed_export_leaves_no_half_file_and_the_next_one_does_it() {
    for stage in 0..=3_usize {
        let world = World::new(&long(150));
        let id = world.id("long").to_owned();
        let path = format!("/session/{id}/message");
        if stage == 0 {
            world.sim.fault(&format!("/session/{id}"), Fault::Stall);
        } else {
            // Each page is under way for so long that the next can be held up.
            let delay = Fault::Delay(Duration::from_millis(400));
            world.sim.fault(&path, delay);
        }
        world.kill_when(&["Long"], "the stage", || match stage {
            0 => world
                .sim
                .requests()
                .iter()
                .any(|it| it.path == format!("/session/{id}")),
            stage => world.pages(&id) >= stage,
        });
        assert!(world.left().is_empty(), "stage {stage}: {:?}", world.left());
        world.sim.clear_faults();
        let document: Value = serde_json::from_str(&world.exported(&["Long"])).expect("JSON");
        assert_eq!(ascending(&document).len(), 300, "stage {stage}");
        assert_eq!(world.left(), [format!("{id}.json")]);
    }
}

#[test]
fn a_killed_family_has_no_name_and_the_next_run_clears_it() {
    let world = World::new(RICH);
    let path = format!("/session/{}", world.id("grandchild"));
    world.sim.fault(&path, Fault::Stall);
    let stalled = || world.sim.requests().iter().any(|it| it.path == path);
    world.kill_when(&["Family", "--children"], "the last of them", stalled);
    let left = world.left();
    assert!(
        left.len() == 1 && left[0].starts_with(".ocwatch-"),
        "{left:?}"
    );
    world.sim.clear_faults();
    let ran = world.export(&["Family", "--children"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(world.left(), [world.id("root")]);
    let files = fs::read_dir(world.path(world.id("root"))).expect("a folder");
    assert_eq!(files.count(), 4);
}

#[test]
fn every_exit_code_has_its_cause() {
    let world = World::new(RICH);
    let id = world.id("rich").to_owned();
    let code = |args: &[&str]| {
        let ran = world.export(args);
        assert_eq!(ran.out.is_empty(), ran.code != Some(0), "{ran:#?}");
        (ran.code, ran.err)
    };
    assert_eq!(code(&["Port"]), (Some(0), String::new()));
    for (args, words) in [
        (vec!["Port"], "--force"),
        (vec!["Port", "-o", "work/no/such/x.json"], "No such file"),
        (vec!["Port", "-o", "/dev/null"], "--force"),
        (vec!["Port", "-o", "/dev/null", "--force"], "regular file"),
        (vec!["Port", "--children", "-o", "work"], "--force"),
    ] {
        let (code, err) = code(&args);
        assert_eq!(code, Some(1), "{args:?}: {err}");
        assert!(err.contains(words), "{words}: {err}");
    }
    for args in [
        vec!["Port", "--children", "-o", "-"],
        vec!["Port", "Family", "-o", "one.json"],
        vec!["Port", "--format", "pdf"],
        vec![],
    ] {
        assert_eq!(code(&args).0, Some(2), "{args:?}");
    }
    assert_eq!(code(&["ses_nothing"]).0, Some(4));
    assert_eq!(code(&["ses_"]).0, Some(4));
    world
        .sim
        .fault(&format!("/session/{id}/message"), Fault::Cut);
    let (failed, err) = code(&["Port", "-o", "other.json"]);
    assert_eq!(failed, Some(1), "{err}");
    assert!(err.contains(&id), "{err}");
    world.sim.stop();
    assert_eq!(code(&["Port", "-o", "other.json"]).0, Some(3));
    assert_eq!(world.left(), [format!("{id}.json")]);
}

#[test]
fn one_that_fails_does_not_keep_the_others_from_being_written() {
    let world = World::new(RICH);
    let kept = format!("{}.json", world.id("rich"));
    fs::write(world.path(&kept), "mine").expect("written");
    let ran = world.export(&["Port", "Family"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert_eq!(ran.out.trim(), format!("./{}.json", world.id("root")));
    assert_eq!(fs::read_to_string(world.path(&kept)).expect("kept"), "mine");
}

/// Runs an export in a terminal, answers its question, and gives the exit code and all it showed.
fn on_a_terminal(world: &World, args: &[&str], question: &str, answer: &str) -> (u32, String) {
    let size = PtySize {
        rows: 24,
        cols: 100,
        ..PtySize::default()
    };
    let pair = native_pty_system().openpty(size).expect("a terminal");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ocwatch"));
    command.env_clear();
    for (name, value) in world.home.variables() {
        command.env(name, value);
    }
    command.cwd(world.home.path());
    command.args(["export", "--server", &world.sim.url()]);
    command.args(args);
    let mut child = pair.slave.spawn_command(command).expect("it starts");
    drop(pair.slave);
    let mut keys = pair.master.take_writer().expect("its keys");
    let mut output = pair.master.try_clone_reader().expect("its output");
    let mut shown = String::new();
    let mut buffer = [0; 4096];
    let mut asked = question.is_empty();
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if !asked && shown.contains(question) {
            asked = true;
            keys.write_all(answer.as_bytes()).expect("a key");
        }
    }
    (child.wait().expect("its end").exit_code(), shown)
}

#[test]
fn on_a_terminal_it_asks_and_shows_how_far_it_has_come() {
    let world = World::new(&long(150));
    let path = world.path("x.json");
    fs::write(&path, "mine").expect("written");
    let args = ["Long", "-o", "x.json"];
    let (code, shown) = on_a_terminal(&world, &args, "[y/N]", "n\r");
    assert_eq!(code, 1, "{shown}");
    assert!(
        shown.contains("x.json exists and would be replaced"),
        "{shown}"
    );
    assert!(shown.contains("left as it is"), "{shown}");
    assert_eq!(fs::read_to_string(&path).expect("kept"), "mine");
    let (code, shown) = on_a_terminal(&world, &args, "[y/N]", "y\r");
    assert_eq!(code, 0, "{shown}");
    let whole = fs::read_to_string(&path).expect("a file");
    let document: Value = serde_json::from_str(&whole).expect("JSON");
    assert_eq!(ascending(&document).len(), 300);

    let id = world.id("long");
    let delay = Fault::Delay(Duration::from_millis(500));
    world.sim.fault(&format!("/session/{id}/message"), delay);
    let (code, shown) = on_a_terminal(&world, &["Long", "-o", "y.json"], "", "");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(" messages, "), "{shown}");
}
