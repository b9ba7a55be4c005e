//! Servers of `ssh://`, with a program in place of `ssh` that forwards as it does.

use crate::lines::{Running, signal};
use crate::screen::Screen;
use crate::until::until;
use crate::{SECRET, World};
use portable_pty::CommandBuilder;
use serde_json::Value;
use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

/// Writes down its arguments and environment, says what the file `say` tells it to and fails, or else
/// forwards, as a test of this very program.
const SCRIPT: &str = r#"#!/bin/sh
cd "$(dirname "$0")" || exit 1
{ printf '%s\n' "$*"; env; } >> ssh.log
echo $$ >> ssh.pids
echo "** a banner **" >&2
if [ -e say ]; then cat say >&2; exit 255; fi
while [ "$1" != -L ]; do shift; done
FAKE_SSH=$2 exec "$FAKE" ssh::forwards --exact --nocapture
"#;

/// Not a test of its own: what [`SCRIPT`] runs.
#[test]
fn forwards() {
    let Ok(forward) = std::env::var("FAKE_SSH") else {
        return;
    };
    let (socket, target) = forward.split_once(':').unwrap();
    let listener = UnixListener::bind(socket).unwrap();
    for near in listener.incoming() {
        let near = near.unwrap();
        let Ok(far) = TcpStream::connect(target) else {
            eprintln!("channel 1: open failed: connect failed: Connection refused");
            continue;
        };
        let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || {
            copy(&mut from, &mut to).ok();
            to.shutdown(Shutdown::Write).ok();
        });
        std::thread::spawn(move || back(far, near));
    }
}

fn back(mut far: TcpStream, mut near: UnixStream) {
    copy(&mut far, &mut near).ok();
    near.shutdown(Shutdown::Both).ok();
}

/// A world whose server is behind that program, with the password in a variable.
fn world() -> World {
    let world = World::new();
    let script = world.file("ssh", SCRIPT);
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let port = world.sim.addr().port();
    let text = format!(
        "[ssh]\ncommand = [\"{}\"]\n[[server]]\nname = \"far\"\nurl = \"ssh://me@nas:22/{port}\"\npassword_env = \"FAR_PASSWORD\"\n",
        script.display()
    );
    world.file("config.toml", &text);
    world
}

fn command(world: &World, args: &[&str]) -> Command {
    let mut command = world
        .home
        .command(&[&["--config", "config.toml"], args].concat());
    command
        .env("FAR_PASSWORD", SECRET)
        .env("OPENCODE_SERVER_PASSWORD", SECRET)
        .env("FAKE", std::env::current_exe().unwrap())
        .env("PATH", std::env::var("PATH").unwrap());
    command
}

fn look(world: &World) -> (Option<i32>, Value, String) {
    let ran = command(world, &["status", "--json", "--settle", "0"]).output();
    let ran = crate::program::Ran::new(&ran.unwrap());
    assert!(!format!("{ran:?}").contains(SECRET));
    (ran.code, ran.json(), ran.err)
}

fn pids(world: &World) -> Vec<u32> {
    let text = std::fs::read_to_string(world.home.path().join("ssh.pids"));
    let text = text.unwrap_or_default();
    text.lines().map(|it| it.parse().unwrap()).collect()
}

/// The dashboard, in a terminal.
fn dashboard(world: &World) -> Screen {
    let of = command(world, &[]);
    let mut command = CommandBuilder::new(of.get_program());
    command.env_clear();
    for (name, value) in of.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.cwd(world.home.path());
    command.args(of.get_args());
    Screen::start(command)
}

fn runs(pid: u32) -> bool {
    // One that was ended and that nobody has waited for yet runs no more.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|it| !it.contains(") Z "))
}

/// All that were started have ended, and their folders are gone.
fn all_gone(world: &World) {
    let pids = pids(world);
    assert!(!pids.is_empty());
    until("ssh has ended", || !pids.iter().any(|it| runs(*it)));
    let log = std::fs::read_to_string(world.home.path().join("ssh.log")).unwrap();
    let sockets = log.lines().filter_map(|it| it.split(" -L ").nth(1));
    for socket in sockets.map(|it| it.split(':').next().unwrap()) {
        let folder = Path::new(socket).parent().unwrap();
        until("its folder is gone", || !folder.exists());
    }
}

#[test]
fn a_server_behind_ssh_is_read_and_acted_on_and_ssh_learns_no_password() {
    let world = world();
    let (code, document, err) = look(&world);
    assert_eq!(code, Some(0), "{document:#} {err}");
    let server = &document["servers"][0];
    let url = format!("ssh://me@nas:22/{}", world.sim.addr().port());
    assert_eq!(
        (server["state"].as_str(), server["url"].as_str()),
        (Some("live"), Some(url.as_str()))
    );
    assert_eq!(server["findings"], serde_json::json!([]), "not unsecured");
    assert_eq!(document["sessions"][0]["id"], world.session.as_str());
    world.sim.prompt(&world.session, "hang");
    for args in [
        &["abort", &world.session, "--yes"][..],
        &["export", &world.session],
    ] {
        let ran = command(&world, args).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    }
    let log = std::fs::read_to_string(world.home.path().join("ssh.log")).unwrap();
    assert!(log.contains("-o BatchMode=yes "), "{log}");
    assert!(
        log.contains(":127.0.0.1:") && log.contains(" -p 22 -l me -- nas\n"),
        "{log}"
    );
    assert!(
        log.contains("HOME=") && !log.contains("PASSWORD") && !log.contains(SECRET),
        "{log}"
    );
    all_gone(&world);
}

/// `opencode attach` speaks TCP only, and to no name of the ssh configuration.
#[test]
fn other_programs_come_to_a_server_behind_ssh_by_a_port_of_this_machine() {
    let world = world();
    let mut screen = dashboard(&world);
    screen.until_text("Far away");
    screen.press("C");
    screen.until_text("leads through ssh as long as this ocwatch runs");
    let text = screen.text();
    let port = text.split("http://127.0.0.1:").nth(1).unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    assert_ne!(port, world.sim.addr().port().to_string());
    let mut socket = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    socket
        .write_all(b"GET /session HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "its own: {answer}");
    screen.press("\x1b");
    screen.until("the dialog's end", |it| !it.contents().contains("Copied:"));
    screen.press("Q");
    assert_eq!(screen.end(), 0);
    all_gone(&world);
}

#[test]
fn what_ssh_says_last_is_why_there_is_no_server() {
    let world = world();
    let port = world.sim.addr().port();
    let missing = format!(
        "[ssh]\ncommand = [\"no-ssh\"]\n[[server]]\nname = \"far\"\nurl = \"ssh://nas/{port}\"\n"
    );
    let told = |want: &str| {
        let (code, document, err) = look(&world);
        let server = &document["servers"][0];
        assert_eq!(
            (code, server["state"].as_str()),
            (Some(3), Some("unreachable"))
        );
        let said = server["error"].as_str().unwrap();
        assert!(said.contains(want) && err.contains(want), "{want}: {said}");
    };
    world.file("say", "debug\nme@nas: Permission denied (publickey).\n");
    told("cannot be reached: ssh: me@nas: Permission denied (publickey).");
    world.file(
        "say",
        "No ED25519 host key is known.\nHost key verification failed.\n",
    );
    told("Log in once by hand (ssh me@nas:22)");
    std::fs::remove_file(world.home.path().join("say")).unwrap();
    world.sim.stop();
    told("Connection refused");
    all_gone(&world);
    world.file("config.toml", &missing);
    told("no-ssh is not there");
}

#[test]
fn it_is_started_again_when_it_ends_and_ends_with_the_program_however_that_ends() {
    for signal_name in ["TERM", "KILL", "HUP"] {
        let world = world();
        let mut watch = Running::start(&mut command(&world, &["watch", "--json"]));
        let state = |it: &Value, want: &str| it["id"].is_null() && it["to"]["state"] == want;
        watch.until("it is read", |it| state(it, "live"));
        let first = pids(&world)[0];
        signal(first, "KILL");
        let lost = watch.until("it is gone", |it| state(it, "unreachable"));
        assert!(lost["text"].as_str().unwrap().contains("ssh"), "{lost}");
        watch.until("it is there again", |it| state(it, "live"));
        assert_eq!(pids(&world).len(), 2, "one after the other");
        let ended = watch.end_by(signal_name);
        assert!(!format!("{:?}{}", ended.seen, ended.err).contains(SECRET));
        all_gone(&world);
    }
}
