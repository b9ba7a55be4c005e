//! `ocwatch answer` against simulated servers: every flag, what exactly is sent and where to, every
//! exit code.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

use ocwatch::core::app::Outcome;
use ocwatch::core::id::{ServerId, SessionKey};
use ocwatch::core::plan::{ActionName, Plan, Step};
use ocwatch::core::wire::AskKind;
use ocwatch::net::client::{Address, Client, Waits};
use ocwatch::shell::act::abort::Patience;
use ocwatch::shell::act::answer::answer;
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Fault, Sim};
use program::{Home, Ran};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A simulated server whose folders exist, and the program's home.
struct World {
    sim: Sim,
    ids: BTreeMap<String, String>,
    home: Home,
    root: String,
}

impl World {
    fn new(sessions: &str) -> Self {
        let home = Home::new();
        for name in ["work", "other"] {
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

    fn answer(&self, key: &str, flags: &[&str]) -> Ran {
        let (id, url) = (self.id(key), self.sim.url());
        let mut args = vec!["answer", id];
        args.extend(flags);
        args.extend(["--server", url.as_str()]);
        self.home.run(&args)
    }

    /// The replies that were sent: path with query, and body.
    fn sent(&self) -> Vec<(String, String)> {
        let all = self.sim.requests().into_iter();
        let posts = all.filter(|it| it.method == "POST" && !it.path.starts_with("/sync"));
        posts.map(|it| (it.path, it.body)).collect()
    }

    /// The only reply: that it went to the session's own directory, and its body.
    fn reply(&self, path: &str, folder: &str) -> Value {
        let sent = self.sent();
        let [(to, body)] = sent.as_slice() else {
            panic!("{sent:#?}");
        };
        assert!(to.starts_with(path), "{to}");
        let directory = format!("{}/{folder}", self.root).replace('/', "%2F");
        assert!(to.ends_with(&format!("directory={directory}")), "{to}");
        serde_json::from_str(body).unwrap_or(Value::Null)
    }

    fn status(&self) -> Value {
        let url = self.sim.url();
        let args = ["status", "--json", "--settle", "0", &url];
        self.home.run(&args).json()
    }

    /// Waits until what the status says of a session is as wanted.
    fn until(&self, key: &str, what: &str, wanted: impl Fn(&Value) -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let document = self.status();
            let all = document["sessions"].as_array().expect("sessions");
            let row = all.iter().find(|row| row["id"] == self.id(key));
            let row = row.expect("the session");
            if wanted(row) {
                return;
            }
            assert!(Instant::now() < end, "never {what}: {row:#}");
        }
    }

    fn asks(&self) -> Vec<String> {
        let document = self.status();
        let all = document["sessions"].as_array().expect("sessions").iter();
        let own = |row: &Value| {
            let asks = row["asks"].as_array().expect("asks").clone().into_iter();
            let id = row["id"].clone();
            asks.filter(move |ask| ask["session"] == id)
                .map(|ask| ask["id"].as_str().expect("an id").to_owned())
                .collect::<Vec<_>>()
        };
        all.flat_map(own).collect()
    }
}

fn contains(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    let text = format!("{}{}", ran.out, ran.err);
    for word in words {
        assert!(text.contains(word), "{word}: {ran:#?}");
    }
}

/// One session that asks by this step.
fn asking(folder: &str, step: &str) -> World {
    World::new(&session("asks", folder, step))
}

fn session(key: &str, folder: &str, step: &str) -> String {
    format!(
        r#"
[[session]]
key = "{key}"
title = "The {key}"
directory = "$ROOT/{folder}"
then = [{{ text = {{ text = "I go on." }} }}]
[[session.turn]]
age = "2m"
prompt = "go"
end = "open"
step = [{{ open = true, do = {step} }}]
"#
    )
}

const BASH: &str = r#"{ bash = { command = "rm -r build", ask = true, lines = ["gone"] } }"#;
const PORT: &str = r#"{ question = { question = "Which port?", header = "Port", options = [{ label = "8080", description = "as now" }, { label = "3000", description = "new" }, { label = "Ask at start", description = "no default" }] } }"#;
const TWO: &str = r#"{ question = [
  { question = "Which port?", header = "Port", options = [{ label = "8080", description = "as now" }, { label = "3000", description = "new" }] },
  { question = "Which languages?", header = "Languages", multiple = true, options = [{ label = "German", description = "" }, { label = "Greek", description = "" }, { label = "Danish", description = "" }] },
  { question = "What name?", header = "Name", options = [] }] }"#;

#[test]
fn a_permission_is_granted_once() {
    let world = asking("other", BASH);
    let ran = world.answer("asks", &["--once"]);
    contains(
        &ran,
        0,
        &["allow once: bash rm -r build", "done: allowed once after"],
    );
    assert!(ran.out.contains("answer: done"), "{ran:#?}");
    assert_eq!(world.reply("/permission/per_", "other")["reply"], "once");
    world.until("asks", "done", |row| row["activity"]["state"] == "done");
}

#[test]
fn an_answer_is_recorded_and_a_server_that_is_only_read_is_not_answered() {
    let world = asking("work", BASH);
    contains(
        &world.answer("asks", &["--once", "--read-only"]),
        1,
        &["read"],
    );
    let shown = world.answer("asks", &["--read-only"]);
    contains(&shown, 1, &["rm -r build"]);
    assert!(!shown.out.contains("--once"), "{shown:#?}");
    assert!(world.sent().is_empty());
    contains(&world.answer("asks", &["--once"]), 0, &["allowed once"]);
    let log = world.home.run(&["log", "--json"]).json();
    assert_eq!(
        (&log["action"], &log["outcome"]),
        (&"answer".into(), &"done".into())
    );
    assert!(
        log["plan"][0]
            .as_str()
            .expect("a plan")
            .contains("allow once")
    );
}

#[test]
fn a_permission_is_granted_from_now_on() {
    let world = asking("work", BASH);
    let ran = world.answer("asks", &["--always"]);
    contains(&ran, 0, &["always: ", "done: allowed from now on"]);
    assert_eq!(world.reply("/permission/per_", "work")["reply"], "always");
}

#[test]
fn a_rejection_ends_the_turn_and_one_with_words_does_not() {
    let world = asking("other", BASH);
    let ran = world.answer("asks", &["--reject"]);
    contains(
        &ran,
        0,
        &["the turn ends", "rejected after", "; the turn has ended"],
    );
    let body = world.reply("/permission/per_", "other");
    assert_eq!(body, serde_json::json!({"reply": "reject"}));

    let world = asking("other", BASH);
    let ran = world.answer("asks", &["--reject", "use the scratch folder"]);
    contains(
        &ran,
        0,
        &["hears \"use the scratch folder\"", "rejected with words"],
    );
    let body = world.reply("/permission/per_", "other");
    assert_eq!(body["message"], "use the scratch folder");
    world.until("asks", "done", |row| row["activity"]["state"] == "done");
}

#[test]
fn a_question_is_answered_by_label_by_its_beginning_and_in_own_words() {
    for (flags, answer) in [
        (["--choose", "3000"], "3000"),
        (["--choose", "ask"], "Ask at start"),
        (["--answer", "9000 = mine"], "9000 = mine"),
        (["--answer", "1=2=two"], "2=two"),
    ] {
        let world = asking("other", PORT);
        let ran = world.answer("asks", &flags);
        contains(&ran, 0, &["answer \"Which port?\": ", "done: answered"]);
        let body = world.reply("/question/que_", "other");
        assert_eq!(body, serde_json::json!({"answers": [[answer]]}));
    }
}

#[test]
fn several_questions_are_answered_by_number_and_the_rest_is_left_unanswered() {
    let world = asking("work", TWO);
    let flags = [
        "--choose", "2=Greek", "--choose", "2=dan", "--answer", "3=Ada",
    ];
    let ran = world.answer("asks", &flags);
    contains(
        &ran,
        0,
        &["answer \"Which port?\": left unanswered", "Greek, Danish"],
    );
    let body = world.reply("/question/que_", "work");
    let want = serde_json::json!({"answers": [[], ["Greek", "Danish"], ["Ada"]]});
    assert_eq!(body, want);
    world.until("asks", "done", |row| row["activity"]["state"] == "done");
}

#[test]
fn a_question_is_rejected() {
    let world = asking("other", PORT);
    let ran = world.answer("asks", &["--reject"]);
    contains(
        &ran,
        0,
        &[
            "reject \"Which port?\": the turn ends",
            "the turn has ended",
        ],
    );
    world.reply("/question/que_", "other");
}

#[test]
fn without_a_flag_it_says_what_is_asked_and_how_to_answer() {
    let world = asking("work", TWO);
    let ran = world.answer("asks", &[]);
    let id = world.asks().remove(0);
    let (name, url) = (world.id("asks"), world.sim.url());
    let command = format!("ocwatch answer {name} --server {url} --ask {id}");
    contains(
        &ran,
        2,
        &[
            "Which port?",
            "- 8080  as now",
            "Which languages?  (one or more)",
            "- Danish",
            "What name?  (in your own words)",
            &format!("{command} --choose 1=8080 --choose 2=German --answer 3=TEXT"),
            &format!("{command} --reject"),
            "say how",
        ],
    );
    let world = asking("work", BASH);
    let ran = world.answer("asks", &[]);
    contains(
        &ran,
        2,
        &[
            "permission for bash",
            "rm -r build",
            "always would allow",
            "--once",
        ],
    );
    assert!(world.sent().is_empty(), "nothing was sent");
}

#[test]
fn what_does_not_fit_the_ask_is_wrong_usage_and_sends_nothing() {
    let world = asking("work", PORT);
    for (flags, words) in [
        (&["--choose", "9"][..], "has no option \"9\"; it has: 8080"),
        (&["--choose", "2=3000"], "there is no question 2"),
        (
            &["--choose", "8080", "--choose", "3000"],
            "takes one answer",
        ),
        (&["--once"], "it asks a question"),
        (&["--always"], "it asks a question"),
        (&["--reject", "why"], "takes no words"),
        (&["--dismiss"], "--reject"),
        (&["--once", "--reject"], "cannot be used with"),
        (&["--once", "--choose", "8080"], "cannot be used with"),
    ] {
        contains(&world.answer("asks", flags), 2, &[words]);
    }
    assert!(world.sent().is_empty(), "{:?}", world.sent());
    let world = asking("work", BASH);
    contains(
        &world.answer("asks", &["--choose", "x"]),
        2,
        &["a permission"],
    );
    assert!(world.sent().is_empty());
}

#[test]
fn a_dry_run_prints_the_plan_and_does_nothing() {
    let world = asking("work", BASH);
    let ran = world.answer("asks", &["--once", "--dry-run"]);
    contains(
        &ran,
        0,
        &["Answer \"The asks\"", "allow once: bash rm -r build"],
    );
    assert!(ran.err.is_empty(), "{ran:#?}");
    assert!(world.sent().is_empty());
}

const FAMILY: &str = r#"
[[session]]
key = "root"
title = "The root"
directory = "$ROOT/work"
then = [{ text = { text = "All done." } }]
[[session.turn]]
age = "4m"
prompt = "go"
end = "open"
step = [{ open = true, do = { task = { description = "look", prompt = "Look.", child = "child" } } }]

[[session]]
key = "child"
title = "The child"
parent = "root"
directory = "$ROOT/other"
then = [{ text = { text = "Seen." } }]
[[session.turn]]
age = "3m"
prompt = "Look."
end = "open"
step = [{ open = true, do = { bash = { command = "ls /", ask = true, lines = ["bin"] } } }]
"#;

#[test]
fn on_an_ancestor_the_only_ask_below_is_answered() {
    let world = World::new(FAMILY);
    let ran = world.answer("root", &["--once"]);
    contains(
        &ran,
        0,
        &["Answer \"The child\"", world.id("child"), "ls /"],
    );
    assert_eq!(world.reply("/permission/per_", "other")["reply"], "once");

    let world = World::new(FAMILY);
    let ran = world.answer("root", &["--reject"]);
    contains(&ran, 0, &["its parent goes on without it"]);
}

#[test]
fn of_several_asks_one_must_be_named() {
    let world = World::new(&format!(
        "{FAMILY}{}",
        session("second", "work", BASH).replace("title =", "parent = \"root\"\ntitle =")
    ));
    let ran = world.answer("root", &["--once"]);
    let asks = world.asks();
    assert_eq!(asks.len(), 2, "{asks:?}");
    contains(
        &ran,
        2,
        &["2 asks are pending here", "--ask", &asks[0], &asks[1]],
    );
    assert!(world.sent().is_empty());
    let beginning = &asks[0][..4];
    let ran = world.answer("root", &["--once", "--ask", beginning]);
    contains(&ran, 2, &["2 asks are pending here"]);
    let ran = world.answer("root", &["--once", "--ask", "per_none"]);
    contains(&ran, 1, &["no ask \"per_none\" is pending here"]);
    let ran = world.answer("root", &["--once", "--ask", &asks[1]]);
    contains(&ran, 0, &["allowed once"]);
    assert!(world.sent()[0].0.contains(&asks[1]), "{:?}", world.sent());
}

#[test]
fn rejecting_one_permission_says_how_many_others_go_with_it() {
    // Both asks stand in one message; the second is a ghost of the same session.
    let two = session("asks", "work", BASH).replace(
        "step = [",
        "step = [{ ghost = true, do = { bash = { command = \"ls\", ask = true } } }, ",
    );
    let world = World::new(&two);
    let ran = world.answer("asks", &["--reject", "--dry-run"]);
    contains(
        &ran,
        0,
        &["1 other permission of this session is rejected with it"],
    );
}

const GHOST: &str = r#"
[[session]]
key = "ghost"
title = "The ghost"
directory = "$ROOT/other"
[[session.turn]]
age = "12m"
prompt = "go"
end = "aborted"
step = [{ ghost = true, do = { bash = { command = "rm -r build", ask = true } } }]
"#;

#[test]
fn a_ghost_can_only_be_dismissed() {
    let world = World::new(GHOST);
    let ran = world.answer("ghost", &["--once"]);
    contains(&ran, 1, &["nobody waits", "--dismiss"]);
    let ran = world.answer("ghost", &[]);
    contains(&ran, 2, &["--dismiss"]);
    assert!(!ran.out.contains("--once"), "{ran:#?}");
    assert!(world.sent().is_empty());
    let ran = world.answer("ghost", &["--dismiss"]);
    contains(
        &ran,
        0,
        &["nobody waits for it any more", "done: dismissed"],
    );
    assert_eq!(world.reply("/permission/per_", "other")["reply"], "reject");
    assert!(world.asks().is_empty());
}

#[test]
fn nothing_asked_and_a_lost_question_are_told_apart() {
    let world = World::new(&GHOST.replace("ghost = true, ", ""));
    contains(
        &world.answer("ghost", &["--once"]),
        1,
        &["nothing is asked here"],
    );
    contains(&world.answer("ghost", &[]), 1, &["nothing is asked here"]);

    let world = asking("work", PORT);
    world.sim.fault("/question", Fault::Json("[]".to_owned()));
    for flags in [&["--choose", "8080"][..], &[]] {
        let ran = world.answer("asks", flags);
        let words = [
            "the server has lost the question",
            "Which port? [8080, 3000, Ask at start]",
            "ocwatch abort",
        ];
        contains(&ran, 1, &words);
    }
    assert!(world.sent().is_empty());
}

#[test]
fn what_was_answered_meanwhile_is_no_effect() {
    // The list still names it, the reply finds it gone: as when somebody is faster.
    let world = asking("work", BASH);
    let id = world.asks().remove(0);
    let ask = serde_json::json!([{
        "id": "per_gone", "sessionID": world.id("asks"), "permission": "bash",
        "patterns": ["ls"], "metadata": {}, "always": [],
    }]);
    world.sim.fault("/permission", Fault::Json(ask.to_string()));
    let ran = world.answer("asks", &["--once"]);
    contains(&ran, 1, &["no effect: it was answered meanwhile"]);
    assert_eq!(world.sent().len(), 1);
    world.sim.clear_faults();
    assert_eq!(world.asks(), [id], "the other one still stands");
}

const FETCH: &str =
    r#"{ tool = { name = "webfetch", ask = true, unreadable = true, output = "page" } }"#;

#[test]
fn a_permission_in_a_list_that_cannot_be_read_is_answered_by_its_id() {
    let world = asking("other", FETCH);
    let id = world.sim.pending().remove(0);
    let unread = world.answer("asks", &["--once"]);
    contains(&unread, 1, &["cannot be read", "abort or reset"]);
    contains(
        &world.answer("asks", &["--once", "--ask", &id]),
        0,
        &["allowed once"],
    );
    assert_eq!(world.reply("/permission/per_", "other")["reply"], "once");
    assert!(world.sim.pending().is_empty());

    // The one that breaks the list is another's: it stays broken.
    let both = session("asks", "other", BASH) + &session("breaks", "other", FETCH);
    let world = World::new(&both);
    let id = world.sim.pending().remove(0);
    let ran = world.answer("asks", &["--reject", "--ask", &id]);
    contains(
        &ran,
        0,
        &["the list itself cannot be read", "the turn has ended"],
    );
    assert_eq!(world.sim.pending().len(), 1);
    let gone = world.answer("asks", &["--once", "--ask", &id]);
    contains(&gone, 1, &["answered meanwhile"]);
}

/// A plan as it was made when the ask stood so; carried out with little patience.
fn act(world: &World, key: &str, step: Step, idle_before: bool) -> Outcome {
    let plan = Plan {
        action: ActionName::Answer,
        key: SessionKey::new(ServerId(0), world.id(key).into()),
        title: String::new(),
        steps: vec![step],
        settle: Vec::new(),
        lines: Vec::new(),
        newest: None,
        idle_before,
    };
    let address = Address::parse(&world.sim.url()).expect("an address");
    let client = Client::new(address, None, Waits::default(), system_clock()).expect("a client");
    let patience = Patience {
        running: Duration::from_millis(300),
        idle: Duration::from_millis(300),
        pause: Duration::from_millis(50),
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(answer(&client, &plan, patience))
}

#[test]
fn what_stays_listed_is_no_effect() {
    let world = asking("work", BASH);
    let id = world.sim.pending().remove(0);
    let listed = serde_json::json!([{
        "id": id, "sessionID": world.id("asks"), "permission": "bash",
        "patterns": ["ls"], "metadata": {}, "always": [],
    }]);
    world
        .sim
        .fault("/permission", Fault::Json(listed.to_string()));
    let step = Step::Allow {
        ask: id.as_str().into(),
        session: world.id("asks").into(),
        directory: format!("{}/work", world.root).as_str().into(),
        always: false,
    };
    let outcome = act(&world, "asks", step, false);
    assert!(
        matches!(&outcome, Outcome::NoEffect(text) if text.contains("still listed")),
        "{outcome:?}"
    );
}

#[test]
fn a_ghost_whose_session_runs_again_is_left_alone() {
    let world = asking("work", BASH);
    let step = |directory: &str| Step::Reject {
        kind: AskKind::Permission,
        ask: world.sim.pending().remove(0).as_str().into(),
        session: world.id("asks").into(),
        directory: format!("{}/{directory}", world.root).as_str().into(),
        message: None,
    };
    let outcome = act(&world, "asks", step("work"), true);
    assert!(
        matches!(&outcome, Outcome::NoEffect(text) if text.contains("runs again")),
        "{outcome:?}"
    );
    let outcome = act(&world, "asks", step("other"), false);
    assert!(
        matches!(&outcome, Outcome::NoEffect(text) if text.contains("no longer listed")),
        "another directory does not know it: {outcome:?}"
    );
    assert!(world.sent().is_empty(), "{:?}", world.sent());
}

#[test]
fn a_server_that_fails_is_told_as_that() {
    let world = asking("work", BASH);
    world.sim.fault("/permission/*", Fault::Status(500));
    contains(&world.answer("asks", &["--once"]), 1, &["failed", "500"]);
    let dead = world
        .home
        .run(&["answer", "ses_1", "--once", "--server", "127.0.0.1:1"]);
    contains(&dead, 3, &["failed to read"]);
    let none = ["answer", "ses_none", "--once", "--server", &world.sim.url()];
    contains(&world.home.run(&none), 4, &["ses_none"]);
}
