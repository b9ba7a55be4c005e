//! What the program says and how it exits when things are not as they should be: one clear line
//! that names the server and the cause, never a password.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;

use program::{Home, Ran};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// A server that answers every connection with the same bytes, then closes it.
struct Fake {
    port: u16,
}

impl Fake {
    fn answering(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = answer.clone();
                std::thread::spawn(move || serve(stream, &*answer));
            }
        });
        Self { port }
    }

    fn url(&self) -> String {
        format!("http://someone:hunter2@127.0.0.1:{}", self.port)
    }
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(&str) -> String) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => request.push(byte[0]),
            _ => return,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    stream.write_all(answer(&request).as_bytes()).ok();
}

fn response(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn one_line(ran: &Ran, names: &[&str]) {
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines.len(), 1, "{ran:#?}");
    assert!(lines[0].starts_with("ocwatch: "), "{ran:#?}");
    for name in names {
        assert!(lines[0].contains(name), "{name}: {ran:#?}");
    }
    for text in [&ran.err, &ran.out] {
        assert!(!text.contains("hunter2"), "{ran:#?}");
    }
}

#[test]
fn wrong_usage_is_exit_2() {
    let home = Home::new();
    for args in [
        &["--bogus"][..],
        &["status", "--settle", "-1"],
        &["abort"],
        &["status", "--inspect", "everything"],
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:#?}");
        assert!(ran.out.is_empty() && ran.err.contains("--help"), "{ran:#?}");
    }
    for bad in ["http://me:hunter2@host:99999", "nas", "ftp://x:hunter2@h:1"] {
        let ran = home.run(&["status", bad]);
        assert_eq!(ran.code, Some(2), "{bad}: {ran:#?}");
        one_line(&ran, &["is not a server"]);
    }
    let late = home.run(&["http://me:hunter2@h:1", "status", "--json"]);
    assert_eq!(late.code, Some(2), "{late:#?}");
    one_line(&late, &["put the command first: ocwatch status http://h:1"]);
    let late = home.run(&["h:1", "explain", "ses_1"]);
    assert_eq!(late.code, Some(2), "{late:#?}");
    one_line(&late, &["first: ocwatch explain SESSION --server h:1"]);
    let ran = home.run(&["abort", "ses_1", "http://me:hunter2@h:1", "--yes"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    one_line(&ran, &["put --server before it"]);
    let ran = home.run(&["abort", "ses_1", "--server", "127.0.0.1:1"]);
    assert_eq!(ran.code, Some(2));
    one_line(&ran, &["--yes"]);
    let ran = home.run(&["--demo"]);
    assert_eq!(ran.code, Some(2));
    one_line(&ran, &["not a terminal", "ocwatch status"]);
}

#[test]
fn a_configuration_mistake_names_file_and_line() {
    let home = Home::new();
    let path = home.path().join("mine.toml");
    std::fs::write(&path, "inspect = \"recent\"\n\n[[servers]]\n").expect("write");
    let named = path.display().to_string();
    let ran = home.run(&["status", "--config", &named]);
    assert_eq!(ran.code, Some(2));
    one_line(&ran, &["mine.toml:3", "servers"]);
    let missing = home.run(&["status", "--config", "/nonexistent.toml"]);
    assert_eq!(missing.code, Some(2));
    one_line(&missing, &["/nonexistent.toml"]);
}

#[test]
fn a_closed_port_is_named() {
    let home = Home::new();
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("its address").port()
    };
    let url = format!("http://someone:hunter2@127.0.0.1:{port}");
    let ran = home.run(&["status", &url]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    one_line(&ran, &[&format!("http://127.0.0.1:{port}"), "refused"]);
    let json = home.run(&["status", "--json", &url]);
    assert_eq!(json.code, Some(3));
    let document = json.json();
    assert_eq!(document["servers"][0]["state"], "unreachable");
    assert!(document["servers"][0]["error"].is_string());
    let explain = home.run(&["explain", "ses_1", "--server", &url]);
    assert_eq!(explain.code, Some(3), "{explain:#?}");
    one_line(&explain, &["refused"]);
}

#[test]
fn a_wrong_password_is_named() {
    let fake = Fake::answering(|_| {
        "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Basic realm=\"Secure Area\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
    });
    let ran = Home::new().run(&["status", &fake.url()]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    one_line(&ran, &["password", "401"]);
    assert!(ran.out.contains("unauthorized"), "{ran:#?}");
}

#[test]
fn another_program_on_the_port_is_named() {
    let fake = Fake::answering(|_| response("200 OK", "text/html", "<html>hunter1</html>"));
    let ran = Home::new().run(&["status", &fake.url()]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    one_line(&ran, &["text/html"]);
    assert!(
        ran.out.contains("not-opencode") || ran.out.contains("not OpenCode"),
        "{ran:#?}"
    );
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_body_is_named() {
    let fake = Fake::answering(|request| {
        if request.starts_with("GET /global/health") {
            let body = "{\"healthy\":true,\"version\":\"1.18.33\"}";
            return response("200 OK", "application/json", body);
        }
        if request.starts_with("GET /global/event") {
            return "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {\"payload\":{\"type\":\"server.connected\",\"properties\":{}}}\n\n".to_owned();
        }
        if request.starts_with("GET /api/info") {
            return response("200 OK", "text/html", "<html></html>");
        }
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\nconnection: close\r\n\r\n{\"data\":[{\"id\":".to_owned()
    });
    let ran = Home::new().run(&["status", &fake.url()]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    one_line(&ran, &["127.0.0.1"]);
}

#[test]
fn no_server_at_all_says_how_to_get_one() {
    // Nothing listens on a port that was free just now; processes are then not looked at.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let port = free.expect("a free port").port().to_string();
    let ran = Home::new().run(&["status", "--usual-port-for-test", &port]);
    assert_eq!(ran.code, Some(3));
    one_line(&ran, &["opencode serve", "--demo"]);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let home = Home::new();
    let mut child = home
        .command(&["status", "--demo", "--json", "--settle", "0"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let ran = Ran::new(&child.wait_with_output().expect("its end"));
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.err.is_empty(), "{ran:#?}");
}

#[test]
fn the_log_tells_what_happened_and_no_password() {
    let home = Home::new();
    let ran = home.run(&[
        "status",
        "http://someone:hunter2@127.0.0.1:1",
        "--log-level",
        "trace",
    ]);
    assert_eq!(ran.code, Some(3));
    let logs = home.path().join("state").join("ocwatch");
    let mut text = String::new();
    for entry in std::fs::read_dir(logs).expect("a log directory").flatten() {
        text += &std::fs::read_to_string(entry.path()).expect("a log file");
    }
    assert!(text.contains("lost"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}
