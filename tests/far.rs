//! The program and servers that are not simply there: behind TLS, a base path, a proxy, or `ssh`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod http;
mod program;

#[path = "far/front.rs"]
mod front;
#[path = "program/lines.rs"]
mod lines;
#[path = "far/proxy.rs"]
mod proxy;
#[path = "program/screen.rs"]
mod screen;
#[path = "far/ssh.rs"]
mod ssh;
#[path = "far/tls.rs"]
mod tls;
#[path = "program/until.rs"]
mod until;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::SessionSeed;
use ocwatch::sim::{Config, Sim};
use program::{Home, Ran};
use serde_json::Value;
use std::path::PathBuf;

/// A password that must be nowhere but in requests.
const SECRET: &str = "open-sesame-17";

/// A simulated server that wants [`SECRET`], with one session.
struct World {
    sim: Sim,
    home: Home,
    session: String,
}

impl World {
    fn new() -> Self {
        let home = Home::new();
        let cwd = home.path().canonicalize().expect("a path");
        let sim = Sim::start(Config {
            cwd: cwd.display().to_string(),
            auth: Some(("opencode".to_owned(), SECRET.to_owned())),
            ..Config::new(system_clock())
        })
        .expect("a simulated server");
        let session = sim.add_session(&SessionSeed::new("Far away", cwd.display().to_string()));
        Self { sim, home, session }
    }

    /// Writes a file into the home.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.home.path().join(name);
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("its mode");
        path
    }

    /// A configuration with the one server `far`, its password in a file.
    fn configure(&self, url: &str, more: &str) {
        let password = self.file("password", SECRET);
        let text = format!(
            "[[server]]\nname = \"far\"\nurl = \"{url}\"\npassword_file = \"{}\"\n{more}\n",
            password.display()
        );
        self.file("config.toml", &text);
    }

    /// Runs the program with that configuration.
    fn run(&self, args: &[&str]) -> Ran {
        let ran = self
            .home
            .run(&[&["--config", "config.toml"], args].concat());
        let said = format!("{}{}", ran.out, ran.err);
        assert!(!said.contains(SECRET), "{said}");
        ran
    }

    /// What `status` says of the only server, after it has ended as it should.
    fn server(&self) -> Value {
        let ran = self.run(&["status", "--json", "--settle", "0"]);
        let document = ran.json();
        let server = document["servers"][0].clone();
        let live = server["state"] == "live";
        assert_eq!(ran.code, Some(if live { 0 } else { 3 }), "{ran:#?}");
        assert!(!live || document["sessions"][0]["id"] == self.session.as_str());
        server
    }
}
