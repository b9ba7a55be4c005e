//! Servers that nobody named: processes of this machine, the service file of 2.x, and what is said
//! when there are none.
//!
//! A server's process is this test itself, started anew under the name `opencode`, in a folder of
//! its own; only processes below that folder are looked at.
#![cfg(target_os = "linux")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, watch the real time, and one is told by a variable to be a server"
)]

mod program;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::SessionSeed;
use ocwatch::sim::{Config, Sim};
use program::{Home, Ran};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Tells the test that is started anew to be a server: its password, or nothing.
const SERVE: &str = "OCWATCH_TEST_SERVES";

/// No test by itself: a server as long as somebody holds the other end of stdin.
#[test]
fn serve_when_told_to() {
    let Ok(password) = std::env::var(SERVE) else {
        return;
    };
    let auth = Some(password).filter(|it| !it.is_empty());
    let sim = Sim::start(Config {
        auth: auth.map(|it| ("opencode".to_owned(), it)),
        ..Config::new(system_clock())
    })
    .expect("a simulated server");
    sim.add_session(&SessionSeed::new("Found me", "/srv/dev"));
    println!("port={}", sim.addr().port());
    std::io::stdin().lines().for_each(drop);
}

/// A process named `opencode` that listens.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start(folder: &Path, password: &str) -> Self {
        std::fs::create_dir_all(folder).expect("a folder");
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .arg0("opencode")
            .args(["serve_when_told_to", "--exact", "--nocapture"])
            .env(SERVE, password)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut ports = lines.map_while(Result::ok).filter_map(|line| {
            let (_, port) = line.split_once("port=")?;
            port.parse().ok()
        });
        let port = ports.next().expect("its port");
        Self { child, port }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A port that nothing listens on, and stays so as long as this is held.
fn closed() -> Sim {
    let sim = Sim::start(Config::new(system_clock())).expect("a simulated server");
    sim.stop();
    sim
}

fn status(home: &Home, more: &[&str]) -> Ran {
    let usual = closed();
    let port = usual.addr().port().to_string();
    let below = home.path().canonicalize().expect("a path");
    let below = below.display().to_string();
    let mut args = vec!["status", "--json", "--settle", "0"];
    args.extend([
        "--usual-port-for-test",
        &port,
        "--processes-for-test",
        &below,
    ]);
    args.extend(more);
    home.run(&args)
}

/// Name and state of each server.
fn servers(ran: &Ran) -> BTreeMap<String, String> {
    let document = ran.json();
    let all = document["servers"].as_array().expect("servers").clone();
    let text = |it: &serde_json::Value| it.as_str().expect("a text").to_owned();
    all.iter()
        .map(|it| (text(&it["name"]), text(&it["state"])))
        .collect()
}

#[test]
fn processes_that_listen_are_found_under_the_names_of_their_folders() {
    let home = Home::new();
    let _app = Served::start(&home.path().join("app"), "");
    let one = Served::start(&home.path().join("a/site"), "");
    let other = Served::start(&home.path().join("b/site"), "locked");
    let ran = status(&home, &[]);
    let name = |served: &Served| format!("site-{}", served.port);
    let wanted = [
        ("app".to_owned(), "live".to_owned()),
        (name(&one), "live".to_owned()),
        (name(&other), "unauthorized".to_owned()),
    ];
    assert_eq!(servers(&ran), BTreeMap::from(wanted), "{ran:#?}");
    assert_eq!(ran.code, Some(3), "one wants a password: {ran:#?}");
    for folder in ["app", "a/site", "b/site"] {
        let why = format!("in {}", home.path().join(folder).display());
        assert!(ran.err.contains(&why), "{}", ran.err);
    }
    assert!(ran.err.contains("listens there"), "{}", ran.err);
    let titles = ran.json()["sessions"].to_string();
    assert_eq!(titles.matches("Found me").count(), 2, "{titles}");
}

#[test]
fn nothing_found_is_explained() {
    let home = Home::new();
    let ran = status(&home, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:#?}");
    for told in [
        "no OpenCode server found: nothing listens on 127.0.0.1:",
        "no opencode process of yours runs",
        "the local network was not asked (--mdns)",
        "opencode serve --port",
        "ocwatch --demo",
    ] {
        assert!(ran.err.contains(told), "no {told:?} in {}", ran.err);
    }
}

fn service_file(home: &Home, url: &str, pid: u32, mode: u32) {
    let folder = home.path().join("state/opencode");
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut text = String::new();
    write!(
        text,
        r#"{{"id":"x","version":"2.0.14","url":"{url}","pid":{pid},"password":"sesame"}}"#
    )
    .expect("text");
    let path = folder.join("service.json");
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn a_service_is_found_by_its_file_and_gets_its_password() {
    let home = Home::new();
    let auth = Some(("opencode".to_owned(), "sesame".to_owned()));
    let sim = Sim::start(Config {
        auth,
        ..Config::new(system_clock())
    })
    .expect("a simulated server");
    service_file(&home, &sim.url(), std::process::id(), 0o600);
    let ran = status(&home, &[]);
    let found = servers(&ran);
    assert_eq!(
        found.get("service").map(String::as_str),
        Some("live"),
        "{ran:#?}"
    );
    assert!(!format!("{ran:?}").contains("sesame"), "{ran:#?}");
}

#[test]
fn a_stale_or_open_service_file_is_said_and_its_password_goes_nowhere() {
    let home = Home::new();
    let sim = Sim::start(Config::new(system_clock())).expect("a simulated server");
    let mut gone = Command::new("true").spawn().expect("a process");
    gone.wait().expect("its end");
    for (pid, mode, told) in [
        (gone.id(), 0o600, "is stale"),
        (std::process::id(), 0o644, "others can read its password"),
    ] {
        service_file(&home, &sim.url(), pid, mode);
        let ran = status(&home, &[]);
        assert_eq!(ran.code, Some(3), "{ran:#?}");
        assert!(ran.err.contains(told), "no {told:?} in {}", ran.err);
        assert!(!ran.err.contains("sesame"), "{}", ran.err);
    }
    assert!(sim.requests().is_empty(), "{:?}", sim.requests());
}

#[test]
fn what_is_named_or_configured_is_all_that_is_watched() {
    let home = Home::new();
    let _app = Served::start(&home.path().join("app"), "");
    let sim = Sim::start(Config::new(system_clock())).expect("a simulated server");
    let ran = status(&home, &["--server", &sim.url()]);
    assert_eq!(servers(&ran).len(), 1, "{ran:#?}");
    assert_eq!(ran.err, "");
}
