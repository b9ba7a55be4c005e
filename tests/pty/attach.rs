//! `t` in a real terminal: another program has it, and ocwatch comes back as it was.
use crate::program::Home;
use crate::screen::{LONGEST, Screen};
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Sim};
use portable_pty::CommandBuilder;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use vt100::MouseProtocolMode;

const SECRET: &str = "s3cret w0rd";

const SESSIONS: &str = r#"
name = "home"
version = "1.18.33"
cwd = "/"
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
[[session]]
key = "other"
title = "Another one"
directory = "/usr"
then = []
"#;

/// A program in the place of `opencode`: says what it was started with, then does what the test wants.
const FAKE: &str = r#"#!/bin/sh
printf '%s|%s' "$OPENCODE_SERVER_USERNAME" "$OPENCODE_SERVER_PASSWORD" > "$HOME/who"
printf 'attached with %s\r\n' "$*"
"#;

struct Desk {
    screen: Screen,
    home: Home,
    sim: Sim,
    id: String,
}

impl Desk {
    /// Watches a server with a password, filtered to one session; `t` runs the fake, which then does
    /// `then`.
    fn new(then: &str, more: &str) -> Self {
        let sim = Sim::start(Config {
            cwd: "/".to_owned(),
            auth: Some(("opencode".to_owned(), SECRET.to_owned())),
            ..Config::new(system_clock())
        });
        let sim = sim.expect("a simulated server");
        let keys = sim.load(&Scenario::parse(SESSIONS).expect("a scenario"));
        let id = keys["writes"].clone();
        let home = Home::new();
        let fake = script(&home, "fake", &format!("{FAKE}{then}\n"));
        let config = home.path().join("config/ocwatch");
        std::fs::create_dir_all(&config).expect("a folder");
        let command = format!(
            "[attach]\ncommand = [{:?}, \"attach\", \"{{url}}\", \"--session\", \"{{session}}\"]\n{more}\n",
            fake.display()
        );
        std::fs::write(config.join("config.toml"), command).expect("a file");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ocwatch"));
        command.env_clear();
        for (name, value) in home.variables() {
            command.env(name, value);
        }
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", home.path().display()));
        command.env("OPENCODE_SERVER_PASSWORD", SECRET);
        if more.contains("tmux") {
            command.env("TMUX", "/nowhere,1,0");
        }
        command.cwd(home.path());
        command.args([&sim.url(), "--filter", "Writes"]);
        let mut desk = Self {
            screen: Screen::start(command),
            home,
            sim,
            id,
        };
        desk.screen.until_text("streaming");
        desk
    }

    fn attach(&mut self) {
        self.screen.press("t");
        let text = format!(
            "attached with attach {} --session {}",
            self.sim.url(),
            self.id
        );
        self.screen.until(&text, |screen| {
            let shown: String = screen.contents().split('\n').collect();
            !screen.alternate_screen() && shown.contains(&text)
        });
        assert_eq!(self.mouse(), MouseProtocolMode::None, "it is the program's");
    }

    /// The table as it was, filter and all.
    fn until_back(&mut self) {
        self.screen.until("the table as it was", |screen| {
            let text = screen.contents();
            screen.alternate_screen()
                && text.contains("Writes and")
                && !text.contains("Another one")
        });
        assert!(self.screen.emulator.screen().bracketed_paste());
        assert_eq!(self.mouse(), MouseProtocolMode::PressRelease);
    }

    fn mouse(&self) -> MouseProtocolMode {
        self.screen.emulator.screen().mouse_protocol_mode()
    }

    fn until_file(&self, name: &str, text: &str) {
        let begun = Instant::now();
        let path = self.home.path().join(name);
        let read = || std::fs::read_to_string(&path).unwrap_or_default();
        while !read().contains(text) {
            assert!(begun.elapsed() < LONGEST, "{name}: {:?}", read());
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

fn script(home: &Home, name: &str, text: &str) -> PathBuf {
    let path = home.path().join(name);
    std::fs::write(&path, text).expect("a file");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");
    path
}

/// The arguments of every process of this machine that can be seen.
fn process_list() -> String {
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = all.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).into_owned() + "\n")
        .collect()
}

#[test]
fn it_comes_back_as_it_was_and_the_password_is_nowhere_to_be_seen() {
    // Reads a key as a full-screen program does, and leaves the terminal in a bad state.
    let mut desk = Desk::new(
        "stty raw -echo; dd bs=1 count=1 2>/dev/null > \"$HOME/key\"; exit 0",
        "",
    );
    desk.attach();
    let list = process_list();
    assert!(list.contains(&desk.id), "the fake is in the list\n{list}");
    assert!(!list.contains(SECRET), "{list}");
    desk.until_file("who", &format!("opencode|{SECRET}"));
    // The first is the program's; what it does not read is nobody's.
    desk.screen.press("qQ?");
    desk.until_back();
    desk.until_file("key", "q");
    desk.screen.press("x");
    desk.screen.until_text("Why: Writes and");
    desk.screen.press("q");
    desk.until_back();
    desk.screen.press("Q");
    assert_eq!(desk.screen.end(), 0);
}

#[test]
fn what_the_terminal_sends_to_all_is_for_the_program_and_its_last_words_are_told() {
    let mut desk = Desk::new(
        "trap 'echo caught > \"$HOME/caught\"; echo no such session >&2; exit 3' INT\necho yes > \"$HOME/ready\"\nwhile :; do read line; done",
        "",
    );
    desk.attach();
    desk.until_file("ready", "yes");
    // No shell is there that could bring us back: as the kernel does, a stop is not heard.
    desk.screen.press("\x1a");
    desk.screen.press("\x03");
    desk.until_file("caught", "caught");
    desk.until_back();
    desk.screen.until_text("fake ended with 3: no such session");
    desk.screen.press("Q");
    assert_eq!(desk.screen.end(), 0);
}

#[test]
fn a_program_that_is_not_there_is_told_with_what_helps() {
    let mut desk = Desk::new("", "");
    std::fs::remove_file(desk.home.path().join("fake")).expect("it was there");
    desk.screen.press("t");
    desk.screen.until_text("is not there: install it");
    desk.until_back();
    desk.screen.press("Q");
    assert_eq!(desk.screen.end(), 0);
}

#[test]
fn a_signal_that_ends_us_ends_the_program_first() {
    let mut desk = Desk::new(
        "trap 'echo ended > \"$HOME/ended\"; exit 1' TERM\necho yes > \"$HOME/ready\"\nwhile :; do read line; done",
        "",
    );
    desk.attach();
    desk.until_file("ready", "yes");
    let pid = desk.screen.child.process_id().expect("a process");
    program_signal(pid, "TERM");
    // A shell hears it once its read ends.
    desk.screen.press("\r");
    assert_eq!(desk.screen.end(), 143);
    desk.until_file("ended", "ended");
    assert!(!desk.screen.emulator.screen().alternate_screen());
}

fn program_signal(pid: u32, name: &str) {
    let mut shell = std::process::Command::new("sh");
    let sent = shell.args(["-c", &format!("kill -{name} {pid}")]).status();
    assert!(sent.expect("a shell").success());
}

#[test]
fn in_tmux_it_gets_a_window_and_the_password_goes_by_no_argument() {
    let mut desk = Desk::new("exit 0", "tmux = \"window\"");
    // In the place of tmux: notes how it was called, and runs what the window would.
    script(
        &desk.home,
        "tmux",
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$HOME/called\"\nshift 3\nunset OPENCODE_SERVER_PASSWORD\nexec \"$@\"\n",
    );
    desk.screen.press("t");
    desk.until_file("who", &format!("opencode|{SECRET}"));
    let called = std::fs::read_to_string(desk.home.path().join("called")).expect("a file");
    assert!(
        called.starts_with("new-window\n-n\nopencode\nsh\n-c\n"),
        "{called}"
    );
    assert!(
        called.contains(&desk.id) && !called.contains(SECRET),
        "{called}"
    );
    assert!(desk.screen.emulator.screen().alternate_screen());
    desk.screen.press("Q");
    assert_eq!(desk.screen.end(), 0);
}
