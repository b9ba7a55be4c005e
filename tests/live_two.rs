//! ocwatch against a real server of the OpenCode 2.0.14 generation that runs a scripted model.
//!
//! What it does: fetch a prebuilt server through npm into `target/` (a third party's build: upstream's own is
//! not on the registry), start it with a home of its own, drive it over HTTP, and compare with what
//! `ocwatch status --json` says. What it does not: run unasked. `OCWATCH_LIVE_V2=1` asks for it; without
//! it the test says that it was left out. No script of the package runs, nothing outside `target/` and a
//! temporary directory is touched, and nothing but 127.0.0.1 is talked to once the package is there.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

mod http;
#[path = "live/support.rs"]
#[expect(dead_code, reason = "shared with the live tests of 1.x")]
mod support;

use http::http;
use ocwatch::sim::model::ScriptedModel;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use support::{PATIENCE, block_on, eventually, say, variable};

const PACKAGE: &str = "shuvcode-linux-x64-baseline";
const VERSION: &str = "2.0.14-shuv.1";
const PASSWORD: &str = "secret";

/// Starts what follows, kills it at the first line or the end of stdin, removes its files unless told to keep them.
const KEEPER: &str = r#"
"$@" </dev/null >>"$LIVE_ROOT/log" 2>&1 &
child=$!
read -r word
kill -9 $child 2>/dev/null
wait $child 2>/dev/null
[ "$word" = keep ] || rm -rf "$LIVE_ROOT"
"#;

/// The server, fetched on first use. A partial installation never has the final name.
fn program() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let home = target.join(format!("{PACKAGE}-{VERSION}"));
    if !home.exists() {
        let partial = tempfile::tempdir_in(target).unwrap();
        let done = Command::new("npm")
            .args(["install", "--prefix"])
            .arg(partial.path())
            .args(["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"])
            .args([
                "--fetch-retries=3",
                "--fetch-retry-mintimeout=1000",
                "--fetch-retry-maxtimeout=5000",
                "--fetch-timeout=120000",
            ])
            .arg(format!("{PACKAGE}@{VERSION}"))
            .output()
            .expect("npm");
        assert!(done.status.success(), "npm could not install it: {done:?}");
        fs::rename(partial.keep(), &home).unwrap();
    }
    home.join("node_modules").join(PACKAGE).join("bin/shuvcode")
}

struct Server {
    root: PathBuf,
    project: PathBuf,
    port: u16,
    model: ScriptedModel,
    keeper: Option<Child>,
}

impl Server {
    fn start() -> Self {
        let root = tempfile::Builder::new()
            .prefix("ocwatch-live-two-")
            .tempdir();
        let root = root.unwrap().keep().canonicalize().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut server = Self {
            project: root.join("project"),
            port: listener.local_addr().unwrap().port(),
            model: ScriptedModel::start().unwrap(),
            keeper: None,
            root,
        };
        drop(listener);
        fs::create_dir_all(&server.project).unwrap();
        server.configure();
        server.run();
        server
    }

    /// The scripted model only; the second provider would else be asked for over the network.
    fn configure(&self) {
        let folder = self.root.join("home/.config/shuvcode");
        fs::create_dir_all(&folder).unwrap();
        let config = json!({
            "model": "scripted/scripted", "share": "disabled", "update": "disable", "websearch": false,
            "providers": {
                "scripted": {
                    "name": "Scripted", "package": "@opencode/ai/providers/openai-compatible",
                    "settings": {"baseURL": self.model.base_url(), "apiKey": "none"},
                    "models": {"scripted": {
                        "name": "scripted", "limit": {"context": 200_000, "output": 8000},
                        "capabilities": {"tools": true, "input": ["text"], "output": ["text"]},
                    }},
                },
                "opencode": {"settings": {"baseURL": "http://127.0.0.1:9/v1"}},
            },
        });
        fs::write(folder.join("opencode.json"), config.to_string()).unwrap();
    }

    fn run(&mut self) {
        let mut command = Command::new("sh");
        command
            .env_clear()
            .env("PATH", variable("PATH").unwrap_or_default())
            .env("HOME", self.root.join("home"))
            .env("LIVE_ROOT", &self.root)
            .env("OPENCODE_PASSWORD", PASSWORD)
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .args(["-c", KEEPER, "sh"])
            .arg(program())
            .args([
                "serve",
                "--hostname",
                "127.0.0.1",
                "--port",
                &self.port.to_string(),
            ])
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .process_group(0);
        self.keeper = Some(command.spawn().unwrap());
        eventually("the server answers", PATIENCE, || {
            match self.ask("GET", "/api/info", None) {
                Ok((200, _)) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        });
    }

    /// SIGKILL, and a plain `serve` on the same data.
    fn crash(&mut self) {
        self.end("keep\n");
        self.run();
    }

    fn end(&mut self, word: &str) {
        if let Some(mut keeper) = self.keeper.take() {
            if let Some(mut stdin) = keeper.stdin.take() {
                stdin.write_all(word.as_bytes()).ok();
            }
            keeper.wait().ok();
        }
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, String), String> {
        let client = http();
        let client = client.timeout(Duration::from_secs(20)).build().unwrap();
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let mut request = client.request(method.parse().unwrap(), url);
        request = request.basic_auth("opencode", Some(PASSWORD));
        if let Some(body) = body {
            request = request.json(body);
        }
        block_on(async {
            let answer = request.send().await.map_err(|error| error.to_string())?;
            let status = answer.status().as_u16();
            let text = answer.text().await.map_err(|error| error.to_string())?;
            Ok((status, text))
        })
    }

    /// A request that must succeed; null where the answer has no body.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = (method != "GET").then_some(body);
        let (status, text) = self.ask(method, path, body).unwrap();
        assert!(
            (200..300).contains(&status),
            "{method} {path}: {status} {text}"
        );
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// A new session that has been given this prompt; its commands need a permission.
    fn begin(&self, prompt: &str) -> String {
        let ask = json!([{"action": "shell", "resource": "*", "effect": "ask"}]);
        let new = json!({"location": {"directory": self.project}, "permissions": ask});
        let session = self.call("POST", "/api/session", &new);
        let id = session["data"]["id"].as_str().unwrap().to_owned();
        self.prompt(&id, prompt, "steer");
        id
    }

    fn prompt(&self, id: &str, text: &str, delivery: &str) {
        let body = json!({"text": text, "delivery": delivery});
        self.call("POST", &format!("/api/session/{id}/prompt"), &body);
    }

    fn locations(&self) -> Value {
        self.call("GET", "/api/debug/location", &Value::Null)
    }

    /// Exit code and document of `ocwatch status --json`.
    fn status(&self, password: &str) -> (Option<i32>, Value) {
        let output = Command::new(env!("CARGO_BIN_EXE_ocwatch"))
            .env_clear()
            .env("PATH", variable("PATH").unwrap_or_default())
            .env("HOME", self.root.join("watcher"))
            .env("OPENCODE_SERVER_PASSWORD", password)
            .args(["--server", &format!("http://127.0.0.1:{}", self.port)])
            .args(["--timeout", "60", "status", "--json", "--settle", "0"])
            .current_dir(&self.root)
            .output()
            .unwrap();
        let document = serde_json::from_slice(&output.stdout);
        (
            output.status.code(),
            document.unwrap_or_else(|_| panic!("{output:?}")),
        )
    }

    /// Looks until a session is reported, active and judged so: `idle done ok -`.
    fn until(&self, id: &str, want: &str) {
        eventually(&format!("{id} is {want}"), PATIENCE, || {
            let (code, document) = self.status(PASSWORD);
            let sessions = document["sessions"].as_array().unwrap();
            let seen = sessions.iter().find(|it| it["id"] == id);
            let is = seen.map(words).unwrap_or_default();
            if code == Some(0) && is == want {
                return Ok(());
            }
            Err(format!(
                "exit {code:?}: {is}\n{seen:#?}\n{:#}",
                document["servers"]
            ))
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end("");
    }
}

fn words(session: &Value) -> String {
    let finding = session["findings"][0]["name"].as_str().unwrap_or("-");
    let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let reported = word(&session["reported"]["type"]);
    let activity = word(&session["activity"]["state"]);
    format!(
        "{reported} {activity} {} {finding}",
        word(&session["level"])
    )
}

#[test]
fn a_server_of_2_0_14_is_seen_as_it_is() {
    if variable("OCWATCH_LIVE_V2").is_none_or(|value| value != "1") {
        say("skipped (set OCWATCH_LIVE_V2=1): a_server_of_2_0_14_is_seen_as_it_is");
        return;
    }
    let mut server = Server::start();
    let (code, document) = server.status("wrong");
    assert_eq!(
        (code, document["servers"][0]["state"].as_str()),
        (Some(3), Some("unauthorized"))
    );

    let done = server.begin("say:hello");
    server.until(&done, "idle done ok -");
    let hanging = server.begin("hang");
    server.until(&hanging, "busy streaming ok -");
    let failed = server.begin("err:400");
    server.until(&failed, "idle failed needs-you failed");
    let asking = server.begin("please question now");
    server.until(&asking, "busy asking needs-you waiting-question");
    let declined = declined(&server);
    let parked = parked(&server);

    server.crash();
    assert_eq!(server.locations(), json!([]));
    server.until(&done, "idle done ok -");
    server.until(&declined, "idle aborted watch will-resume");
    server.until(&parked, "idle aborted watch parked-prompt");
    // Cut off; whether another process runs it cannot be told for the first two minutes.
    server.until(&hanging, "idle streaming ok -");
    server.until(&asking, "idle running-tool ok -");
    assert_eq!(server.locations(), json!([]), "looking loads nothing");
}

/// A permission that was declined without a word stops the run and leaves it claimed.
fn declined(server: &Server) -> String {
    let id = server.begin(r#"tool:shell {"command":"echo permitted"}"#);
    server.until(&id, "busy asking needs-you waiting-permission");
    let asks = server.call(
        "GET",
        &format!("/api/session/{id}/permission"),
        &Value::Null,
    );
    let ask = asks["data"][0]["id"].as_str().unwrap();
    let path = format!("/api/session/{id}/permission/{ask}/reply");
    server.call("POST", &path, &json!({"decision": "reject"}));
    server.until(&id, "idle aborted watch will-resume");
    id
}

/// An interrupt leaves a queued prompt in the inbox.
fn parked(server: &Server) -> String {
    let id = server.begin("slow:300");
    server.until(&id, "busy streaming ok -");
    server.prompt(&id, "say:later", "queue");
    server.call("POST", &format!("/api/session/{id}/interrupt"), &json!({}));
    server.until(&id, "idle aborted watch parked-prompt");
    id
}
