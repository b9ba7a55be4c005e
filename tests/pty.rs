//! The dashboard in a real terminal (a pseudo-terminal and an emulator): it starts, answers keys,
//! and gives the terminal back however it ends.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

#[path = "pty/attach.rs"]
mod attach;
mod program;
#[path = "program/screen.rs"]
mod screen;
#[cfg(target_os = "linux")]
#[path = "program/stuck.rs"]
mod stuck;
#[path = "program/until.rs"]
mod until;

use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Sim};
use portable_pty::{Child, CommandBuilder};
use program::Home;
use screen::{LONGEST, Screen};
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

/// The program in a terminal and a home of its own.
struct Terminal {
    screen: Screen,
    home: Home,
}

impl Deref for Terminal {
    type Target = Screen;
    fn deref(&self) -> &Screen {
        &self.screen
    }
}

impl DerefMut for Terminal {
    fn deref_mut(&mut self) -> &mut Screen {
        &mut self.screen
    }
}

impl Terminal {
    fn start(args: &[&str]) -> Self {
        Self::start_in(Home::new(), args)
    }

    fn start_in(home: Home, args: &[&str]) -> Self {
        Self {
            screen: Screen::start(command_of(&home, args)),
            home,
        }
    }

    fn assert_given_back(&self) {
        let screen = self.emulator.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.bracketed_paste(), "paste is still bracketed");
        let mouse = screen.mouse_protocol_mode();
        assert_eq!(mouse, vt100::MouseProtocolMode::None, "the mouse is kept");
    }

    fn signal(&self, name: &str) {
        send(self.child.as_ref(), name);
    }

    /// `T` when stopped; from the kernel.
    fn is_stopped(&self) -> bool {
        let pid = self.child.process_id().expect("a process");
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next());
        state == Some('T')
    }

    fn until_stopped(&mut self) {
        self.until("the end of the alternate screen", |screen| {
            !screen.alternate_screen()
        });
        let begun = Instant::now();
        while !self.is_stopped() {
            assert!(begun.elapsed() < LONGEST, "it does not stop");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

/// The program as it is started in a terminal.
fn command_of(home: &Home, args: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ocwatch"));
    command.env_clear();
    for (name, value) in home.variables() {
        command.env(name, value);
    }
    command.cwd(home.path());
    command.args(args);
    command
}

fn send(child: &dyn Child, signal: &str) {
    let pid = child.process_id().expect("a process");
    let sent = std::process::Command::new("sh")
        .args(["-c", &format!("kill -{signal} {pid}")])
        .status()
        .expect("a shell");
    assert!(sent.success());
}

/// Rows with a mark that says what the session is.
fn judged(screen: &vt100::Screen) -> usize {
    let rows = screen.contents();
    let marks = ["✖", "◆", "▲", "◌", "●", "·"];
    // Below the two header lines, the rule and the headings.
    let rows = rows.lines().skip(4);
    rows.filter(|row| marks.iter().any(|mark| row.trim_start().starts_with(mark)))
        .count()
}

#[test]
fn the_demo_shows_judged_sessions_and_q_quits() {
    let mut terminal = Terminal::start(&["--demo"]);
    terminal.until("eight judged sessions", |screen| judged(screen) >= 8);
    assert!(terminal.emulator.screen().alternate_screen());
    terminal.until_text("≠");
    terminal.press("?");
    terminal.until_text("abort the session, verified");
    terminal.press("q");
    terminal.until("the table again", |screen| judged(screen) >= 8);
    terminal.press("q");
    assert_eq!(terminal.end(), 0);
    terminal.assert_given_back();
}

#[test]
fn a_question_is_answered_in_the_form_and_its_session_goes_on() {
    let mut terminal = Terminal::start(&["--demo", "--filter", "\"Web2Epub: s\""]);
    terminal.until_text("waiting-question");
    // A key is not taken before what is asked has been on the screen for a moment.
    let begun = Instant::now();
    while !terminal.text().contains("Which port should") {
        assert!(begun.elapsed() < LONGEST, "{}", terminal.text());
        terminal.press("r");
        let answered = |screen: &vt100::Screen| {
            let text = screen.contents();
            text.contains("Which port should") || text.contains("press it again")
        };
        terminal.until("an answer to the key", answered);
        if !terminal.text().contains("Which port should") {
            terminal.press("g");
            terminal.until("the notice gone", |screen| {
                !screen.contents().contains("press it again")
            });
        }
    }
    terminal.press("2");
    terminal.until_text("> (*) 2 3000");
    terminal.press("\r");
    terminal.until_text("answer done: answered");
    terminal.press("Q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn signals_give_the_terminal_back() {
    for (name, code) in [("TERM", 143), ("INT", 130), ("HUP", 129), ("QUIT", 131)] {
        let mut terminal = Terminal::start(&["--demo"]);
        terminal.until("a table", |screen| judged(screen) >= 1);
        terminal.signal(name);
        assert_eq!(terminal.end(), code, "{name}");
        terminal.assert_given_back();
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_gives_the_terminal_back_and_is_readable() {
    let mut terminal = Terminal::start(&["--demo", "--panic-for-test"]);
    assert_eq!(terminal.end(), 101);
    terminal.assert_given_back();
    assert!(
        terminal.text().contains("panic for test"),
        "{}",
        terminal.text()
    );
}

#[test]
fn ctrl_z_stops_and_fg_comes_back() {
    let mut terminal = Terminal::start(&["--demo"]);
    terminal.until("a table", |screen| judged(screen) >= 8);
    terminal.press("\x1a");
    terminal.until_stopped();
    terminal.assert_given_back();
    terminal.signal("CONT");
    terminal.until("the table again", |screen| {
        screen.alternate_screen() && judged(screen) >= 8
    });
    terminal.signal("TSTP");
    terminal.until_stopped();
    terminal.signal("CONT");
    terminal.until("the table again", |screen| {
        screen.alternate_screen() && judged(screen) >= 8
    });
    let mode = terminal.emulator.screen().mouse_protocol_mode();
    assert_eq!(mode, vt100::MouseProtocolMode::PressRelease, "taken again");
    terminal.press("Q");
    assert_eq!(terminal.end(), 0);
    terminal.assert_given_back();
}

#[test]
fn one_key_unsticks_and_one_key_exports() {
    let mut terminal = Terminal::start(&["--demo", "--filter", "Rebuild"]);
    terminal.until_text("hung-tool");
    terminal.press("e");
    terminal.until_text("messages to");
    let home = terminal.home.path();
    let exports = std::fs::read_dir(home).expect("the home").flatten();
    let exports = exports.filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("ses_") && name.to_string_lossy().ends_with(".json")
    });
    assert_eq!(exports.count(), 1);
    terminal.press("a");
    terminal.until_text("ended after");
    terminal.press("Q");
    assert_eq!(terminal.end(), 0);
}

fn sim(sessions: &str) -> (Sim, std::collections::BTreeMap<String, String>) {
    let sim = Sim::start(Config {
        cwd: "/".to_owned(),
        ..Config::new(system_clock())
    })
    .expect("a simulated server");
    let text = format!("name = \"home\"\nversion = \"1.18.33\"\ncwd = \"/\"\n{sessions}");
    let keys = sim.load(&Scenario::parse(&text).expect("a scenario"));
    (sim, keys.into_iter().collect())
}

const STREAMS: &str = r#"
[[session]]
key = "writes"
title = "Writes and writes"
directory = "/usr"
then = []
[[session.turn]]
age = "5s"
prompt = "go"
end = "open"
step = [{ open = true, do = { text = { every = "1h", text = "one word an hour" } } }]
"#;

#[test]
fn a_key_does_nothing_that_cannot_be_recorded() {
    let (sim, _) = sim(STREAMS);
    let home = Home::new();
    let dir = home.path().join("state/ocwatch");
    std::fs::create_dir_all(&dir).expect("a folder");
    // A disk without room, as the kernel tells it.
    std::os::unix::fs::symlink("/dev/full", dir.join("audit.jsonl")).expect("a link");
    let mut terminal = Terminal::start_in(home, &[&sim.url()]);
    terminal.until_text("streaming");
    terminal.press("a");
    terminal.until_text("Abort");
    terminal.press("y");
    terminal.until_text("nothing was done");
    let requests = sim.requests();
    assert!(
        requests.iter().all(|it| it.method == "GET"),
        "{requests:#?}"
    );
    terminal.press("Q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_server_that_dies_is_unknown_and_one_that_returns_is_live() {
    let (sim, _) = sim(STREAMS);
    let mut terminal = Terminal::start(&[&sim.url()]);
    terminal.until_text("streaming");
    sim.stop();
    terminal.until("unknown", |screen| {
        let text = screen.contents();
        text.contains("unreachable") && text.contains("unknown") && !text.contains("busy ")
    });
    sim.restart().expect("the same port");
    terminal.until("what is cut off", |screen| {
        let text = screen.contents();
        text.contains("1.18.33") && text.contains("idle") && text.contains("≠")
    });
}

#[test]
fn a_flood_of_events_does_not_hold_up_a_key() {
    let (sim, ids) = sim(STREAMS);
    let mut terminal = Terminal::start(&[&sim.url()]);
    terminal.until_text("streaming");
    assert_eq!(sim.flood(&ids["writes"], 20_000), 20_000);
    terminal.press("?");
    let took = terminal.until_text("abort the session, verified");
    // 100 ms is the aim of a release build on a machine of its own; this one is neither.
    assert!(took < Duration::from_secs(1), "{took:?}");
    terminal.press("Q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn results_off_a_terminal_hold_no_escape_sequences() {
    let home = Home::new();
    let ran = home.run(&["status", "--demo", "--settle", "0"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.lines().count() > 10, "{ran:#?}");
    assert!(!ran.out.contains('\x1b'), "{ran:#?}");
    let json = home.run(&["status", "--demo", "--settle", "0", "--json"]);
    assert!(json.json()["sessions"].is_array());
}

#[test]
fn what_the_screen_shows_is_saved_whole() {
    let mut terminal = Terminal::start(&["--demo"]);
    terminal.until("eight judged sessions", |screen| judged(screen) >= 8);
    terminal.press("?");
    terminal.until_text("Keys");
    terminal.press("w");
    terminal.until_text("saved to");
    let files = std::fs::read_dir(terminal.home.path()).expect("its folder");
    let names = files.map(|entry| entry.expect("an entry").path());
    let is_saved = |path: &std::path::PathBuf| path.extension().is_some_and(|it| it == "txt");
    let saved = { names }.find(is_saved).expect("a file");
    let text = std::fs::read_to_string(saved).expect("its text");
    assert!(text.lines().count() > 40, "more than fits: {text}");
    assert!(text.contains("the last answer is finished"), "{text}");
    terminal.press("Q");
    assert_eq!(terminal.end(), 0);
}

/// A press of the left button at this cell, from 0, as a terminal reports it (SGR, mode 1006).
fn click(x: u16, y: u16) -> String {
    format!("\x1b[<0;{0};{1}M\x1b[<0;{0};{1}m", x + 1, y + 1)
}

#[test]
fn a_click_selects_and_the_mouse_is_given_back() {
    let mut terminal = Terminal::start(&["--demo"]);
    terminal.until("eight judged sessions", |screen| judged(screen) >= 8);
    let mode = terminal.emulator.screen().mouse_protocol_mode();
    assert_eq!(mode, vt100::MouseProtocolMode::PressRelease);
    let pointer = |screen: &vt100::Screen, y| {
        let cell = screen.cell(y, 0).map(|cell| cell.contents().to_owned());
        cell.as_deref() == Some("▌")
    };
    // Nothing moves under the pointer.
    terminal.press("p");
    terminal.until_text("frozen");
    let selected = (4..20).find(|y| pointer(terminal.emulator.screen(), *y));
    let selected = selected.expect("a row that is selected");
    let other = if selected == 6 { 7 } else { 6 };
    terminal.press(&click(20, other));
    terminal.until("the row is pointed at", |screen| pointer(screen, other));
    terminal.press("m");
    terminal.until("the mouse is left", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    });
    terminal.press("m");
    terminal.until("the mouse is taken", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
    });
    terminal.press("Q");
    assert_eq!(terminal.end(), 0);
    terminal.assert_given_back();
}

#[test]
fn without_the_mouse_no_mode_of_it_is_set() {
    let mut terminal = Terminal::start(&["--demo", "--no-mouse"]);
    terminal.until("eight judged sessions", |screen| judged(screen) >= 8);
    let mode = terminal.emulator.screen().mouse_protocol_mode();
    assert_eq!(mode, vt100::MouseProtocolMode::None);
    terminal.press("Q");
    assert_eq!(terminal.end(), 0);
}
