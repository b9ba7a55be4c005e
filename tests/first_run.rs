//! The first minute of a new user, and terminals that are only half there: what is said when there
//! is no server, no stdout, no stdin.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod program;
#[path = "program/screen.rs"]
mod screen;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::{Config, Sim};
use portable_pty::CommandBuilder;
use program::Home;
use screen::Screen;

/// This program line of a shell in a terminal of its own.
fn shell(home: &Home, line: &str) -> Screen {
    let mut command = CommandBuilder::new("sh");
    command.env_clear();
    for (name, value) in home.variables() {
        command.env(name, value);
    }
    command.env("OCWATCH", env!("CARGO_BIN_EXE_ocwatch"));
    command.env("PATH", "/usr/bin:/bin");
    command.cwd(home.path());
    command.args(["-c", line]);
    Screen::start(command)
}

/// A port of this machine that nothing listens on, and the server that will.
fn away() -> (Sim, String) {
    let sim = Sim::start(Config::new(system_clock())).expect("a simulated server");
    sim.stop();
    let line = format!("exec $OCWATCH --usual-port-for-test {}", sim.addr().port());
    (sim, line)
}

const NOTHING: &str = "none is found on 127.0.0.1:";

#[test]
fn a_new_user_is_told_what_to_do_and_sees_the_server_as_soon_as_it_is_there() {
    let (sim, line) = away();
    let home = Home::new();
    let mut screen = shell(&home, &line);
    screen.until_text(NOTHING);
    for told in [
        "opencode serve --port",
        "ocwatch http://HOST:PORT",
        "config/ocwatch/config.toml",
        "press d for the demo",
        "q quit",
    ] {
        screen.until_text(told);
    }
    screen.press("r");
    screen.until_text("still nothing on 127.0.0.1:");
    sim.restart().expect("the same port");
    screen.until("the dashboard", |screen| {
        let text = screen.contents();
        text.contains("1.18.33") && !text.contains(NOTHING)
    });
    screen.press("q");
    assert_eq!(screen.end(), 0);
    assert!(!screen.emulator.screen().alternate_screen());
    let port = sim.addr().port().to_string();
    let status = ["status", "--json", "--settle", "0", "--usual-port-for-test"];
    let found = home.run(&[&status[..], &[&port]].concat()).json();
    assert_eq!(found["servers"][0]["version"], "1.18.33", "{found}");
}

#[test]
fn d_opens_the_demo_and_q_leaves() {
    let (_sim, line) = away();
    let home = Home::new();
    let mut screen = shell(&home, &line);
    screen.until_text(NOTHING);
    screen.press("d");
    screen.until_text("Rebuild the search");
    screen.press("q");
    assert_eq!(screen.end(), 0);
    let mut screen = shell(&home, &line);
    screen.until_text(NOTHING);
    screen.press("q");
    assert_eq!(screen.end(), 0);
    let left = screen.emulator.screen();
    assert!(!left.alternate_screen() && !left.hide_cursor());
}

#[test]
fn a_server_that_is_named_is_waited_for_in_the_dashboard() {
    let (sim, _) = away();
    let home = Home::new();
    let mut screen = shell(&home, &format!("exec $OCWATCH {}", sim.url()));
    screen.until_text("unreachable");
    assert!(!screen.text().contains(NOTHING));
    screen.press("q");
    assert_eq!(screen.end(), 0);
}

#[test]
fn off_a_terminal_the_other_way_is_named_at_once() {
    let (_sim, line) = away();
    let home = Home::new();
    for line in [
        format!("{line} | cat"),
        format!("{line} < /dev/null > file; cat file"),
    ] {
        let mut screen = shell(&home, &line.replace("exec ", ""));
        screen.until_text("stdout is not a terminal");
        assert!(
            screen.text().contains("`ocwatch status`"),
            "{}",
            screen.text()
        );
        screen.end();
    }
    let ran = home.run(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:#?}");
    assert!(ran.err.contains("stdout is not a terminal"), "{ran:#?}");
}

#[test]
fn keys_come_from_the_terminal_when_stdin_is_something_else() {
    let home = Home::new();
    let mut screen = shell(&home, "exec $OCWATCH --demo < /dev/null");
    screen.until_text("Rebuild the search");
    screen.press("q");
    assert_eq!(screen.end(), 0);
}

#[test]
fn without_any_terminal_to_read_keys_from_it_says_so() {
    let home = Home::new();
    let mut screen = shell(&home, "setsid -w $OCWATCH --demo < /dev/null; exit $?");
    screen.until_text("no terminal to read keys from: use `ocwatch status`");
    assert_eq!(screen.end(), 2);
}
