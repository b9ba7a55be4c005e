//! `ocwatch metrics` against simulated servers over real sockets: what a scrape tells, to whom, and how
//! it ends; the alert rules and the dashboard are those of these metrics.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

#[path = "program/lines.rs"]
#[expect(dead_code, reason = "shared with tests that read documents")]
mod lines;
#[path = "metrics/names.rs"]
mod names;
#[expect(dead_code, reason = "shared with tests that read documents")]
mod program;
#[path = "metrics/scrape.rs"]
mod scrape;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Fault, Sim};
use program::Home;
use scrape::{Exporter, Scrape};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// A simulated server with one session of each kind, and the program's home.
struct World {
    sim: Sim,
    home: Home,
    ids: BTreeMap<String, String>,
}

const SESSIONS: &str = r#"
[[session]]
key = "orphan"
title = "Cut off"
directory = "$ROOT"
[[session.turn]]
age = "3h"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "./start.sh", hold = true } } }]

[[session]]
key = "done"
title = "Done"
directory = "$ROOT"
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

impl World {
    fn new() -> Self {
        Self::with(SESSIONS)
    }

    fn with(sessions: &str) -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("asleep")).expect("a folder");
        let root = home.path().canonicalize().expect("a path");
        let root = root.display().to_string();
        let sim = Sim::start(Config {
            cwd: root.clone(),
            ..Config::new(system_clock())
        })
        .expect("a simulated server");
        let text = format!("name = \"home\"\nversion = \"1.18.33\"\ncwd = \"{root}\"\n{sessions}");
        let scenario = Scenario::parse(&text.replace("$ROOT", &root)).expect("a scenario");
        let ids = sim.load(&scenario).into_iter().collect();
        Self { sim, home, ids }
    }

    fn id(&self, key: &str) -> &str {
        &self.ids[key]
    }

    /// What the server is called.
    fn name(&self) -> String {
        self.sim.addr().to_string()
    }

    fn start(&self, more: &[&str]) -> Exporter {
        let url = self.sim.url();
        Exporter::start(&self.home, &[&[url.as_str()], more].concat())
    }

    /// A scrape once everything is read and judged.
    fn settled(&self, exporter: &Exporter) -> Scrape {
        let name = self.name();
        exporter.until("all is judged", |it| {
            let followed = of(it, "ocwatch_server_up", &name) == Some(1.0);
            followed && it.levels(&name) == [1, 0, 0, 1, 1]
        })
    }
}

/// One value of a server.
fn of(scrape: &Scrape, name: &str, server: &str) -> Option<f64> {
    scrape.value(name, &[("server", server)])
}

#[test]
fn a_scrape_tells_what_is_so_at_its_moment() {
    let world = World::new();
    let (exporter, name) = (world.start(&[]), world.name());
    let told = world.settled(&exporter);
    let server = |label, value| [("server", name.as_str()), (label, value)];
    let value = |it: &Scrape, name, label, value| it.value(name, &server(label, value));
    for (metric, label, word, want) in [
        ("ocwatch_sessions_ok", "doing", "at-rest", 1.0),
        ("ocwatch_sessions_ok", "doing", "working", 0.0),
        ("ocwatch_sessions_reported", "reported", "idle", 2.0),
        ("ocwatch_sessions_reported", "reported", "unknown", 1.0),
        ("ocwatch_server_state", "state", "live", 1.0),
        ("ocwatch_server_state", "state", "wedged", 0.0),
        ("ocwatch_server_directories", "state", "asleep", 1.0),
        ("ocwatch_server_info", "dialect", "v1", 1.0),
        ("ocwatch_asks", "kind", "question", 0.0),
    ] {
        assert_eq!(
            value(&told, metric, label, word),
            Some(want),
            "{metric} {word}"
        );
    }
    let finding = [("finding", "interrupted"), ("level", "stuck")];
    assert_eq!(told.value("ocwatch_sessions_finding", &finding), Some(1.0));
    assert_eq!(of(&told, "ocwatch_sessions_disagreeing", &name), Some(1.0));
    assert_eq!(of(&told, "ocwatch_server_up", &name), Some(1.0));
    let age = |it: &Scrape| value(it, "ocwatch_sessions_oldest_seconds", "level", "stuck");
    let stuck = age(&told).expect("an age");
    assert!((10_000.0..12_000.0).contains(&stuck), "about 3 h: {stuck}");
    exporter.until("ages move by themselves", |it| age(it) > Some(stuck));

    assert!(world.sim.prompt(world.id("done"), "question"));
    let asks = exporter.until("it asks", |it| it.levels(&name)[1] == 1);
    assert_eq!(value(&asks, "ocwatch_asks", "kind", "question"), Some(1.0));
    assert_eq!(
        value(&asks, "ocwatch_sessions_reported", "reported", "busy"),
        Some(1.0)
    );
    exporter.until("the ask gets older", |it| {
        of(it, "ocwatch_asks_oldest_seconds", &name) > Some(0.0)
    });
    let sent = world.sim.requests();
    let other: Vec<_> = sent.iter().filter(|it| it.method != "GET").collect();
    assert!(other.is_empty(), "it only reads: {other:#?}");
    let acting = told.value("ocwatch_requests_total", &server("about", "acting"));
    assert_eq!(acting, Some(0.0));
    let counted = |it: &Scrape| -> f64 {
        let all = it
            .samples()
            .filter(|it| it.name == "ocwatch_requests_total");
        all.map(|it| it.value).sum()
    };
    exporter.until("all are counted", |it| {
        let many = world.sim.requests().len();
        format!("{many}") == format!("{}", counted(it))
    });
    let asleep = sent.iter().filter(|it| it.path.contains("asleep"));
    assert_eq!(asleep.count(), 0, "a project that sleeps is not asked");
}

#[test]
fn sessions_of_a_lost_server_are_unknown_and_counters_go_on() {
    let world = World::new();
    let (exporter, name) = (world.start(&[]), world.name());
    let before = world.settled(&exporter);
    assert!(world.sim.prompt(world.id("done"), "perm:make"));
    exporter.until("it asks", |it| it.levels(&name)[1] == 1);
    world.sim.stop();
    let lost = exporter.until("the loss", |it| {
        of(it, "ocwatch_server_up", &name) == Some(0.0)
    });
    assert_eq!(lost.levels(&name), [0, 0, 0, 0, 3]);
    let value =
        |it: &Scrape, metric: &str, word| it.value(metric, &[("server", name.as_str()), word]);
    assert_eq!(
        value(&lost, "ocwatch_sessions_reported", ("reported", "unknown")),
        Some(3.0)
    );
    assert_eq!(
        value(&lost, "ocwatch_sessions_reported", ("reported", "idle")),
        Some(0.0)
    );
    assert_eq!(
        value(&lost, "ocwatch_server_state", ("state", "unreachable")),
        Some(1.0)
    );
    assert_eq!(
        value(&lost, "ocwatch_server_findings", ("finding", "unreachable")),
        Some(1.0)
    );
    let findings = lost
        .samples()
        .filter(|it| it.name == "ocwatch_sessions_finding");
    let findings: Vec<_> = findings.collect();
    assert!(findings.len() > 30, "all are told");
    assert!(findings.iter().all(|it| it.value == 0.0), "{}", lost.told());
    for absent in [
        "ocwatch_asks",
        "ocwatch_asks_oldest_seconds",
        "ocwatch_sessions_oldest_seconds",
    ] {
        let any = lost.samples().any(|it| it.name == absent);
        assert!(!any, "{absent} is not known:\n{}", lost.told());
    }
    assert_eq!(of(&lost, "ocwatch_server_losses_total", &name), Some(1.0));

    world.sim.restart().expect("the port is free");
    let back = exporter.until("it is back", |it| it.levels(&name)[4] == 1);
    assert_eq!(of(&back, "ocwatch_server_up", &name), Some(1.0));
    assert_eq!(of(&back, "ocwatch_server_connects_total", &name), Some(2.0));
    assert_eq!(of(&back, "ocwatch_server_losses_total", &name), Some(1.0));
    let events = |it| of(it, "ocwatch_events_total", &name);
    assert!(events(&back) > events(&before), "counters survive");
}

#[test]
fn a_flapping_server_is_counted_each_time() {
    let world = World::new();
    let (exporter, name) = (world.start(&[]), world.name());
    world.settled(&exporter);
    for lost in [1.0, 2.0, 3.0] {
        world.sim.stop();
        exporter.until("it is lost", |it| {
            of(it, "ocwatch_server_losses_total", &name) == Some(lost)
        });
        world.sim.restart().expect("the port is free");
        exporter.until("it is back", |it| {
            of(it, "ocwatch_server_connects_total", &name) == Some(lost + 1.0)
        });
    }
}

#[test]
fn events_that_are_not_understood_are_counted() {
    let world = World::new();
    let (exporter, name) = (world.start(&[]), world.name());
    let before = world.settled(&exporter);
    world
        .sim
        .push_event("/srv", "session.levitated", &serde_json::json!({}));
    world.sim.push_raw("data: {\"no json\n\n");
    let after = exporter.until("both are counted", |it| {
        of(it, "ocwatch_events_unknown_total", &name) == Some(1.0)
            && of(it, "ocwatch_events_malformed_total", &name) == Some(1.0)
    });
    let events = |it| of(it, "ocwatch_events_total", &name).expect("events");
    assert!(events(&after) >= events(&before) + 2.0, "{}", after.told());
}

#[test]
fn a_server_that_hangs_holds_up_no_scrape_and_hides_no_other() {
    let (world, hung) = (World::new(), World::new());
    hung.sim.fault("*", Fault::Stall);
    let exporter = world.start(&[&hung.sim.url()]);
    let told = world.settled(&exporter);
    let name = hung.name();
    assert_eq!(of(&told, "ocwatch_server_up", &name), Some(0.0));
    assert_eq!(told.levels(&name), [0; 5], "nothing is known of it");
    assert_eq!(
        told.value("ocwatch_asks", &[("server", &name), ("kind", "question")]),
        None
    );
    exporter.until("it is called by its name", |it| {
        let wedged = [("server", name.as_str()), ("state", "wedged")];
        it.value("ocwatch_server_state", &wedged) == Some(1.0)
    });
}

#[test]
fn once_prints_what_was_read_and_says_what_was_not() {
    let world = World::new();
    let url = world.sim.url();
    let ran = world.home.run(&["metrics", "--once", &url]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    assert!(ran.out.ends_with("# EOF\n"), "{ran:#?}");
    let name = world.name();
    assert_eq!(Scrape::of(&ran).levels(&name), [1, 0, 0, 1, 1]);

    let ran = world.home.run(&["metrics", "--once", &url, "127.0.0.1:1"]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert!(ran.err.contains("failed to read 127.0.0.1:1"), "{ran:#?}");
    let told = Scrape::of(&ran);
    assert_eq!(told.levels(&name)[0], 1);
    assert_eq!(of(&told, "ocwatch_server_up", "127.0.0.1:1"), Some(0.0));
    assert_eq!(of(&told, "ocwatch_server_up", &name), Some(1.0));
}

#[test]
fn ids_are_told_only_when_asked_for() {
    let world = World::new();
    let told = world.settled(&world.start(&[]));
    for key in ["orphan", "done", "asleep"] {
        assert!(!told.0.contains(world.id(key)), "{}", told.0);
    }
    assert!(!told.0.contains("Cut off"), "nor titles");
    let root = world.home.path().display().to_string();
    assert!(!told.0.contains(&root), "nor folders");

    let told = world.settled(&world.start(&["--session-ids"]));
    let orphan = [
        ("session", world.id("orphan")),
        ("level", "stuck"),
        ("finding", "interrupted"),
    ];
    let age = told.value("ocwatch_session_attention_seconds", &orphan);
    assert!(age > Some(10_000.0), "{age:?}");
    assert!(!told.0.contains(world.id("done")), "it needs nobody");
}

#[test]
fn however_many_are_stuck_a_hundred_ids_are_told() {
    let one = SESSIONS.split("\n\n").next().expect("a session");
    let all = (0..105).map(|n| one.replace("\"orphan\"", &format!("\"{n}\"")) + "\n\n");
    let world = World::with(&all.collect::<String>());
    let (exporter, name) = (world.start(&["--session-ids"]), world.name());
    let told = exporter.until("all are judged", |it| it.levels(&name)[0] == 105);
    let mut told: Vec<_> = told.samples().collect();
    told.retain(|it| it.name == "ocwatch_session_attention_seconds");
    assert_eq!(told.len(), 100);
}

#[test]
fn http_is_answered_as_it_should_be() {
    let world = World::new();
    let exporter = world.start(&[]);
    let metrics = exporter.get("/metrics?x=1");
    let kind = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(metrics.head().contains(kind), "{}", metrics.head());
    assert!(metrics.body().ends_with("# EOF\n"));
    let plain = "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain\r\n\r\n";
    let plain = exporter.ask(plain);
    assert!(
        plain
            .head()
            .contains("content-type: text/plain; version=0.0.4"),
        "{plain:?}"
    );
    assert!(!plain.body().contains("# EOF"), "{plain:?}");
    let root = exporter.get("/");
    assert_eq!(root.status(), 200);
    assert!(root.body().contains("/metrics"), "{root:?}");
    assert_eq!(exporter.get("/nothing").status(), 404);
    let post = exporter.ask("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(post.status(), 405, "{post:?}");
    assert!(post.head().contains("allow: GET, HEAD"), "{post:?}");
    let head = exporter.ask("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!((head.status(), head.body()), (200, ""));
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let refused = exporter.ask(&long);
    assert!(
        refused.0.is_empty() || refused.status() == 431,
        "{refused:?}"
    );
    let junk = exporter.ask("\u{1}\u{2}\r\n\r\n");
    assert!(junk.0.is_empty() || junk.status() == 400, "{junk:?}");
    assert_eq!(exporter.get("/metrics").status(), 200, "it goes on");
}

#[test]
fn silent_slow_and_vanished_readers_do_not_keep_others_waiting_for_long() {
    let world = World::new();
    let exporter = world.start(&[]);
    let silent: Vec<_> = (0..20).map(|_| exporter.connect()).collect();
    for _ in 0..40 {
        // Gone before the answer.
        let mut vanished = exporter.connect();
        vanished
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            .ok();
    }
    let begun = Instant::now();
    assert_eq!(exporter.get("/metrics").status(), 200);
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(40), "{waited:?}");
    let mut first = silent.into_iter().next().expect("a connection");
    let closed = first.read(&mut [0; 1024]);
    assert!(closed.is_ok(), "who says nothing is closed: {closed:?}");
}

#[test]
fn many_scrapes_at_once_are_all_answered() {
    let world = World::new();
    let exporter = world.start(&[]);
    world.settled(&exporter);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..60)
            .map(|_| scope.spawn(|| exporter.scrape().levels(&world.name())))
            .collect();
        for one in all {
            assert_eq!(one.join().expect("a scrape"), [1, 0, 0, 1, 1]);
        }
    });
}

#[test]
fn a_signal_and_time_that_is_over_are_an_end_in_order() {
    let world = World::new();
    for signal in ["TERM", "INT"] {
        let exporter = world.start(&[]);
        let open = exporter.connect();
        assert_eq!(exporter.end_by(signal), Some(0), "{signal}");
        drop(open);
    }
    let url = world.sim.url();
    let args = ["metrics", "--listen", "0", "--timeout", "0.5", &url];
    let ran = world.home.run(&args);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:#?}");
}

#[test]
fn an_address_that_cannot_be_used_is_told_before_anything_is_asked() {
    let world = World::new();
    let url = world.sim.url();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken
        .local_addr()
        .map(|it| (it.to_string(), taken))
        .expect("an address");
    let ran = world.home.run(&["metrics", "--listen", &taken.0, &url]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let want = format!("failed to listen on {}: ", taken.0);
    assert!(
        ran.err.contains(&want) && ran.err.contains("in use"),
        "{ran:#?}"
    );
    assert_eq!(ran.err.lines().count(), 1, "{ran:#?}");
    assert_eq!(world.sim.requests().len(), 0, "no server was asked");
    for wrong in [
        &["metrics", "--listen", "nas:1", &url][..],
        &["metrics", "--once", "--listen", "1", &url],
        &["metrics", "--yes", &url],
    ] {
        assert_eq!(world.home.run(wrong).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn an_address_that_others_can_reach_is_allowed_and_said() {
    let world = World::new();
    let url = world.sim.url();
    let args = ["metrics", "--listen", "0.0.0.0:0", &url];
    let mut exporter = Exporter::spawn(&mut world.home.command(&args));
    let line = exporter.next_line();
    assert!(
        line.contains("can be reached from other machines"),
        "{line}"
    );
    exporter.address = exporter.address.replace("0.0.0.0", "127.0.0.1");
    world.settled(&exporter);
}

#[test]
fn actions_of_every_ocwatch_of_this_user_are_counted() {
    let world = World::new();
    let exporter = world.start(&[]);
    let done = |it: &Scrape, outcome| {
        it.value(
            "ocwatch_actions_total",
            &[("action", "abort"), ("outcome", outcome)],
        )
    };
    let before = world.settled(&exporter);
    assert_eq!(done(&before, "done"), Some(0.0));
    let id = world.id("done");
    assert!(world.sim.prompt(id, "hang"));
    let url = world.sim.url();
    let abort = ["abort", id, "--yes", "--server", &url];
    let name = world.name();
    exporter.until("it works", |it| {
        it.value(
            "ocwatch_sessions_reported",
            &[("server", &name), ("reported", "busy")],
        ) == Some(1.0)
    });
    assert_eq!(world.home.run(&abort).code, Some(0));
    let after = exporter.scrape();
    assert_eq!(done(&after, "done"), Some(1.0), "{}", after.told());
    assert_eq!(done(&after, "failed"), Some(0.0));
    let begun = after.value("ocwatch_actions_begun_total", &[("action", "abort")]);
    assert_eq!(begun, Some(1.0));
}
