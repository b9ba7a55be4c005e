//! No key, dialog or command writes to a server that is only read. Keys come from the key table and
//! commands from the command line's own definition, so that what is new is walked too; and the same
//! walk without the protection must write, so that it can fail.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

use clap::CommandFactory;
use ocwatch::cli::args::Cli;
use ocwatch::core::app::keymap::{Action, Binding, Key, keymap};
use ocwatch::core::app::{App, AppOptions, DialogState, Msg, Stage, update};
use ocwatch::core::id::{AskId, Directory, MessageId, PartId, ServerId, SessionId, SessionKey};
use ocwatch::core::present::screen;
use ocwatch::core::store::ReadOnly;
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::feed::live::{self, LiveFeed};
use ocwatch::net::client::{Address, Client, ClientError, PermissionReply, Route};
use ocwatch::net::link::LinkSpec;
use ocwatch::shell::audit::read::{UNFINISHED, read};
use ocwatch::shell::audit::{Asked, Audit, standings};
use ocwatch::shell::clock::system_clock;
use ocwatch::shell::effects::{Attaching, Effects};
use ocwatch::shell::target::Target;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Sim};
use program::{Home, Ran};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// Long enough for a busy machine; a test that works never waits for it.
const LONGEST: Duration = Duration::from_secs(60);
/// A hand is slower than what guards against one that slips.
const A_MOMENT: Span = Span::secs(2);

const SESSIONS: &str = r#"
name = "home"
version = "1.18.33"
cwd = "/"

[[session]]
key = "stuck"
title = "Hangs"
directory = "/usr"
then = []
[[session.turn]]
age = "12m"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "make all", hold = true } } }]

[[session]]
key = "waiting"
title = "Asks"
directory = "/usr"
then = []
[[session.turn]]
age = "10m"
prompt = "go"
end = "open"
step = [{ open = true, do = { question = { question = "Which?", header = "W", options = [{ label = "A", description = "a" }] } } }]

[[session]]
key = "idle"
title = "Done"
directory = "/usr"
[[session.turn]]
age = "1h"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]

[[session]]
key = "permission"
title = "Wants to"
directory = "/usr"
then = []
[[session.turn]]
age = "9m"
prompt = "go"
end = "open"
step = [{ open = true, do = { bash = { command = "rm -r build", ask = true } } }]

[[session]]
key = "unanswered"
title = "Never answered"
directory = "/usr"
[[session.turn]]
age = "20m"
prompt = "go"
end = "unanswered"

[[session]]
key = "asleep"
title = "Old"
directory = "/etc"
[[session.turn]]
age = "3d"
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
            ..Config::new(system_clock())
        })
        .expect("a simulated server");
        let ids = sim.load(&Scenario::parse(SESSIONS).expect("a scenario"));
        Self {
            sim,
            ids: ids.into_iter().collect(),
            home: Home::new(),
        }
    }

    fn target(&self, read_only: Option<ReadOnly>) -> Target {
        Target {
            name: "home".to_owned(),
            address: Address::parse(&self.sim.url()).expect("an address"),
            credentials: None,
            directories: Vec::new(),
            source: String::new(),
            read_only,
            route: Route::default(),
        }
    }

    /// What was sent that could change something.
    fn writes(&self) -> Vec<String> {
        let requests = self.sim.requests().into_iter();
        requests
            .filter(|it| it.method != "GET")
            .map(|it| format!("{} {}", it.method, it.path))
            .collect()
    }
}

/// The dashboard without a terminal: the model, real links and real effects.
struct Desk {
    app: App,
    feed: LiveFeed,
    effects: Effects,
    answers: mpsc::Receiver<Msg>,
    asked: mpsc::Receiver<Asked>,
    waiting: Vec<Asked>,
    /// How much later it is for the model than in truth.
    ahead: Span,
}

impl Desk {
    async fn new(world: &World, read_only: Option<ReadOnly>) -> Self {
        let clock = system_clock();
        let target = world.target(read_only);
        let client = target.client(&clock).expect("a client");
        let spec = LinkSpec::new(ServerId(0), client.clone());
        let feed = live::start(vec![spec], &clock);
        let (to_desk, answers) = mpsc::channel(256);
        let (standings, asked) = standings();
        let effects = Effects {
            attaching: Attaching::default(),
            clients: [client].into(),
            commands: feed.commands.clone(),
            export_dir: world.home.path().to_owned(),
            save_dir: world.home.path().join("saved"),
            audit: Audit::open(Some(world.home.path().to_owned()), false, clock.clone()),
            standings,
            keeper: ocwatch::shell::memory::Keeper::forgetful(),
            ways: ocwatch::shell::notify::Ways::default(),
            clock,
            answers: to_desk,
        };
        let mut desk = Self {
            app: App::new(vec![target.spec()], AppOptions::default()),
            feed,
            effects,
            answers,
            asked,
            waiting: Vec::new(),
            ahead: Span::ZERO,
        };
        desk.until("six sessions, judged", |app| {
            let known = |key: &str| {
                let key = key_of(world, key);
                let read = app.store.session(&key).is_some_and(|it| it.tail.is_read());
                read && app.verdict(&key).is_some_and(|it| it.reported.is_known())
            };
            let awake = ["stuck", "waiting", "permission", "idle", "unanswered"];
            app.rows.len() == 6 && awake.into_iter().all(known)
        })
        .await;
        desk
    }

    fn now(&self) -> UnixMs {
        system_clock()() + self.ahead
    }

    fn take(&mut self, msg: Msg) {
        let now = self.now();
        for effect in update(&mut self.app, msg, now) {
            self.effects.run(&self.app, effect);
        }
    }

    fn press(&mut self, key: Key) {
        self.ahead = self.ahead + A_MOMENT;
        self.take(Msg::Key(key));
    }

    /// Takes what comes until it is as wanted.
    async fn until(&mut self, what: &str, wanted: impl Fn(&App) -> bool) {
        let end = Instant::now() + LONGEST;
        while !wanted(&self.app) {
            assert!(Instant::now() < end, "not in time: {what}");
            let wait = Duration::from_millis(50);
            let next = async {
                tokio::select! {
                    Some(answer) = self.answers.recv() => answer,
                    Some(input) = self.feed.inputs.recv() => Msg::Feed(vec![input]),
                }
            };
            let msg = timeout(wait, next).await.unwrap_or(Msg::Tick);
            self.take(msg);
            self.waiting.extend(self.asked.try_recv());
            let waiting = self.waiting.drain(..);
            self.waiting = waiting.filter_map(|it| it.try_answer(&self.app)).collect();
        }
    }

    /// Goes back to the table, whatever is open, and to this row.
    fn select(&mut self, key: &SessionKey) {
        for _ in 0..6 {
            self.press(Key::Esc);
        }
        self.press(Key::Char('g'));
        for _ in 0..self.app.rows.len() {
            if self.app.ui.selected.as_ref() != Some(key) {
                self.press(Key::Char('j'));
            }
        }
        assert_eq!(self.app.ui.selected.as_ref(), Some(key));
    }

    /// Presses keys on a row, and says yes to all that they ask, in both ways.
    async fn try_out(&mut self, row: &SessionKey, keys: &[Key]) {
        for yes in [Key::Char('y'), Key::Enter] {
            self.select(row);
            for key in keys {
                self.press(*key);
            }
            self.until("what a dialog reads first", |app| match &app.ui.dialog {
                Some(DialogState::Reset(it)) => it.stage != Stage::Reading,
                Some(DialogState::Resend(it)) => it.read_at.is_some(),
                _ => true,
            })
            .await;
            for _ in 0..5 {
                if self.app.ui.reply.is_some() {
                    self.press(Key::Char('1'));
                }
                if self.app.ui.dialog.is_some() || self.app.ui.reply.is_some() {
                    self.press(yes);
                }
            }
            self.until("the end of what was begun", |app| app.running.is_empty())
                .await;
        }
    }
}

fn key_of(world: &World, key: &str) -> SessionKey {
    SessionKey::new(ServerId(0), SessionId::from(world.ids[key].as_str()))
}

/// Every key, or without one its name, but for those that only leave the program.
fn ways(binding: &Binding) -> Vec<Vec<Key>> {
    let leaves = matches!(
        binding.action,
        Action::Quit | Action::Back | Action::Suspend
    );
    if leaves {
        return Vec::new();
    }
    if binding.keys.is_empty() {
        let name = format!(":{}", binding.name);
        let typed = name.chars().map(Key::Char).chain([Key::Enter]);
        return vec![typed.collect()];
    }
    binding.keys.iter().map(|key| vec![*key]).collect()
}

#[test]
fn no_key_and_no_dialog_writes_to_a_server_that_is_only_read() {
    let world = World::new();
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut desk = Desk::new(&world, Some(ReadOnly::Configuration)).await;
        for row in world.ids.keys() {
            let row = key_of(&world, row);
            for binding in keymap() {
                for keys in ways(binding) {
                    desk.try_out(&row, &keys).await;
                    let writes = world.writes();
                    assert!(writes.is_empty(), "{} on {row:?}: {writes:?}", binding.name);
                }
                if binding.action.changes() {
                    desk.select(&row);
                    desk.press(binding.keys[0]);
                    let why = "home is read only (read_only in the configuration)";
                    assert_eq!(desk.app.ui.notice.as_deref(), Some(why), "{}", binding.name);
                }
            }
        }
        let shown = screen(&desk.app, desk.now());
        assert_eq!(shown.servers[0].text, "1.18.33 read-only");
        let offers = |words: &str| shown.footer.iter().any(|hint| hint.words == words);
        assert!(!offers("abort") && offers("export"), "{:?}", shown.footer);
    });
    let exported = std::fs::read_dir(world.home.path()).expect("the home");
    let exported = exported.flatten().filter(|it| {
        let name = it.file_name();
        name.to_string_lossy().starts_with("ses_")
    });
    assert!(exported.count() >= 4, "an export changes nothing there");
}

/// Without it the test above could not fail: each key that changes something does so on some row.
#[test]
fn the_same_keys_write_where_they_may() {
    let runtime = Runtime::new().expect("a runtime");
    for binding in keymap().filter(|it| it.action.changes()) {
        let world = World::new();
        runtime.block_on(async {
            let mut desk = Desk::new(&world, None).await;
            for row in world.ids.keys() {
                for keys in ways(binding) {
                    desk.try_out(&key_of(&world, row), &keys).await;
                }
            }
        });
        assert!(!world.writes().is_empty(), "{}", binding.name);
        let log = read(world.home.path()).expect("a log").expect("a file");
        let recorded = log.actions.iter().map(|it| it.clone().into_json());
        // Whatever is said to an ask is an answer.
        let name = match binding.name {
            "reply" | "allow-once" | "allow-always" | "deny" => "answer",
            name => name,
        };
        let recorded = recorded.filter(|it| it["action"] == name);
        let recorded: Vec<_> = recorded.collect();
        assert!(!recorded.is_empty(), "{} is not recorded", binding.name);
        for action in recorded {
            assert_ne!(action["outcome"], UNFINISHED, "{action:#}");
            assert!(action["before"]["reported"].is_string(), "{action:#}");
            assert!(action["after"]["reported"].is_string(), "{action:#}");
        }
    }
}

#[test]
fn a_client_that_is_only_reading_sends_nothing_else() {
    let world = World::new();
    let runtime = Runtime::new().expect("a runtime");
    let (session, directory) = (SessionId::from(world.ids["stuck"].as_str()), "/usr");
    let directory = Directory::from(directory);
    let (ask, message, part) = (AskId::from("que_1"), MessageId::from("msg_1"), "prt_1");
    let part = PartId::from(part);
    runtime.block_on(async {
        let client = world.target(Some(ReadOnly::Option)).client(&system_clock());
        let client: Client = client.expect("a client");
        let once = PermissionReply::Once;
        let json = serde_json::json!({});
        let ends = [
            client.abort(&session, Some(&directory)).await,
            client.reject_question(&ask, &directory).await,
            client.reply_question(&ask, &directory, &[]).await,
            client.reply_permission(&ask, &directory, &once).await,
            client.reject_permission(&ask, &directory).await,
            client.prompt(&session, "go", None, None).await,
            client.patch_part(&session, &message, &part, json).await,
            client.fork(&session, None).await.map(|_| ()),
            client.unrevert(&session).await,
            client.dispose(&directory).await,
        ];
        for end in ends {
            assert_eq!(end, Err(ClientError::ReadOnly));
        }
        assert!(client.status(Some(&directory)).await.is_ok(), "it reads");
    });
    assert!(world.writes().is_empty(), "{:?}", world.writes());
}

/// What a command is to the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Changes something of a session.
    Acts,
    /// Reads a session.
    Reads,
    /// Is about no session of its own.
    Looks,
}

fn kind(command: &str) -> Kind {
    match command {
        "abort" | "reset" | "answer" | "resend" => Kind::Acts,
        "explain" | "export" | "wait" => Kind::Reads,
        "status" | "check" | "watch" | "replay" | "log" | "metrics" | "config" | "completions"
        | "man" => Kind::Looks,
        other => panic!("say here what {other} is"),
    }
}

/// How a command is called so that it does all it can to this session.
fn call(command: &clap::Command, session: &str) -> Vec<String> {
    let name = command.get_name();
    let mut args = vec![name];
    match (kind(name), name) {
        (Kind::Reads, "wait") => args.extend([session, "--timeout", "1"]),
        (Kind::Acts | Kind::Reads, _) => args.push(session),
        (Kind::Looks, "watch") => args.extend(["--timeout", "1"]),
        // It asks no server: that it names a file that is not there is all.
        (Kind::Looks, "replay") => args.extend(["no-recording", "--json"]),
        (Kind::Looks, "metrics") => args.push("--once"),
        (Kind::Looks, "config") => args.push("path"),
        (Kind::Looks, "completions") => args.push("bash"),
        (Kind::Looks, _) => {}
    }
    let takes = |name: &str| {
        command
            .get_arguments()
            .any(|it| it.get_long() == Some(name))
    };
    if takes("choose") {
        args.extend(["--choose", "A"]);
    }
    if takes("text") {
        args.extend(["--text", "go on"]);
    }
    args.extend(takes("yes").then_some("--yes"));
    args.extend(takes("force").then_some("--force"));
    args.into_iter().map(str::to_owned).collect()
}

/// The exit codes of a command that did what it is for: of some they tell what was seen.
fn ends_of(command: &str) -> &'static [i32] {
    match command {
        "check" => &[0, 1, 2],
        "wait" => &[0, 1, 124],
        "replay" => &[1],
        _ => &[0],
    }
}

/// Every command on every session; gives the ends of those that act.
fn run_all(world: &World, more: &[&str]) -> Vec<Ran> {
    let mut acting = Vec::new();
    for command in Cli::command().get_subcommands() {
        let kind = kind(command.get_name());
        let sessions = if kind == Kind::Looks { 1 } else { usize::MAX };
        for session in world.ids.values().take(sessions) {
            let mut args = call(command, session);
            args.extend(more.iter().map(ToString::to_string));
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let ran = world.home.run(&args);
            if kind == Kind::Acts {
                acting.push(ran);
            } else {
                let code = ran.code.unwrap_or(-1);
                assert!(
                    ends_of(command.get_name()).contains(&code),
                    "{args:?}: {ran:#?}"
                );
            }
        }
    }
    assert!(!acting.is_empty());
    acting
}

#[test]
fn no_command_writes_to_a_server_that_is_only_read() {
    let world = World::new();
    let url = world.sim.url();
    for ran in run_all(&world, &["--read-only", "--server", &url]) {
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        assert!(ran.err.contains("is read only (--read-only)"), "{ran:#?}");
    }
    let id = world.ids.values().next().expect("a session");
    let mut abort = world
        .home
        .command(&["abort", id, "--yes", "--server", &url]);
    let ran = abort.env("OCWATCH_READ_ONLY", "1").output();
    let ran = Ran::new(&ran.expect("the program starts"));
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.err.contains("is read only"), "{ran:#?}");
    let config = format!("[[server]]\nname = \"home\"\nurl = \"{url}\"\nread_only = true\n");
    let dir = world.home.path().join("config/ocwatch");
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join("config.toml"), config).expect("a file");
    let by_another_name = url.replace("127.0.0.1", "localhost");
    for more in [
        &[][..],
        &["--server", &url],
        &["--server", &by_another_name],
    ] {
        for ran in run_all(&world, more) {
            assert_eq!(ran.code, Some(1), "{ran:#?}");
            let why = "is read only (read_only in the configuration)";
            assert!(ran.err.contains(why), "{ran:#?}");
        }
    }
    assert!(world.writes().is_empty(), "{:?}", world.writes());
    let status = world.home.run(&["status"]);
    assert!(status.out.contains("1.18.33 read-only"), "{status:#?}");
    let status = world.home.run(&["status", "--json"]).json();
    assert_eq!(status["servers"][0]["read_only"], true);
    let log = world.home.run(&["log"]);
    assert!(log.err.contains("nothing was recorded"), "{log:#?}");
}

#[test]
fn the_same_commands_write_where_they_may() {
    let world = World::new();
    let url = world.sim.url();
    run_all(&world, &["--server", &url]);
    assert!(!world.writes().is_empty());
}
