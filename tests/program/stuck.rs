//! A terminal that takes nothing: a stalled line, a paused window.

use super::screen::LONGEST;
use super::until::until;
use super::{command_of, send, sim};
use crate::program::Home;
use ocwatch::sim::Sim;
use ocwatch::sim::seed::SessionSeed;
use portable_pty::{Child, MasterPty, PtySize, native_pty_system};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// More than a frame and what the kernel keeps, far less than all that was asked to be drawn.
const MOST_WAITING: usize = 400_000;
/// What the kernel keeps of what nobody reads.
const FEWEST_WAITING: usize = 4096;
/// While sessions stream there may be no pause.
const LONG: Duration = Duration::from_secs(5);
const SESSIONS: usize = 60;
const ROWS: u16 = 70;
const COLUMNS: u16 = 300;

fn wide(key: &str, title: &str, directory: &str) -> String {
    let mut text = String::new();
    let turn = "[[session.turn]]\nage = \"5s\"\nprompt = \"go\"\nend = \"open\"";
    let step = "step = [{ open = true, do = { text = { every = \"500ms\", text = \"TEXT\" } } }]";
    let step = step.replace("TEXT", &"word ".repeat(5000));
    write!(
        text,
        "[[session]]\nkey = \"{key}\"\ntitle = \"{title}\"\ndirectory = \"{directory}\"\nthen = []\n{turn}\n{step}\n"
    )
    .expect("a string has room");
    text
}

fn streaming() -> Sim {
    let long = "a very long title ".repeat(14);
    let sessions = (0..SESSIONS).map(|n| wide(&format!("s{n}"), &format!("{n} {long}"), "/usr"));
    sim(&sessions.collect::<String>()).0
}

/// The program in a terminal whose owner may stop reading.
struct Stalling {
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
    _home: Home,
    keys: Box<dyn Write + Send>,
    /// While it is locked nothing is read.
    gate: Arc<Mutex<()>>,
    output: Receiver<Vec<u8>>,
    emulator: vt100::Parser,
}

impl Stalling {
    fn start(sim: &Sim) -> Self {
        let size = PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let home = Home::new();
        let command = command_of(&home, &[&sim.url()]);
        let child = pair.slave.spawn_command(command).expect("the program");
        let mut reader = pair.master.try_clone_reader().expect("its output");
        let (to_test, output) = channel();
        let gate = Arc::new(Mutex::new(()));
        let at_gate = Arc::clone(&gate);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                drop(at_gate.lock());
                if to_test.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keys: pair.master.take_writer().expect("its keys"),
            _master: pair.master,
            _home: home,
            gate,
            output,
            emulator: vt100::Parser::new(ROWS, COLUMNS, 0),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("a key");
    }

    /// Takes what was written, until there is a pause or it was long; says how much it was.
    fn take(&mut self) -> usize {
        let (mut taken, begun) = (0, Instant::now());
        while begun.elapsed() < LONG
            && let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(100))
        {
            taken += bytes.len();
            self.emulator.process(&bytes);
        }
        taken
    }

    fn until_text(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            self.take();
            let contents = self.emulator.screen().contents();
            if contents.contains(text) {
                return;
            }
            assert!(begun.elapsed() < LONGEST, "no {text} on:\n{contents}");
        }
    }

    fn until_ended(&mut self) -> u32 {
        let mut end = None;
        until("its end", || {
            end = self.child.try_wait().expect("a process");
            end.is_some()
        });
        end.map_or(0, |it| it.exit_code())
    }

    /// Asks for whole screens until long after the kernel takes no more.
    fn stuff(&mut self) {
        for _ in 0..120 {
            self.press("\x0c");
            std::thread::park_timeout(Duration::from_millis(40));
        }
    }

    fn assert_given_back(&mut self) {
        self.take();
        let screen = self.emulator.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.bracketed_paste(), "paste is still bracketed");
        let mouse = screen.mouse_protocol_mode();
        assert_eq!(mouse, vt100::MouseProtocolMode::None, "the mouse is kept");
    }
}

impl Drop for Stalling {
    fn drop(&mut self) {
        self.child.kill().ok();
    }
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_neither_keys_nor_links() {
    let sim = streaming();
    let mut terminal = Stalling::start(&sim);
    terminal.until_text("a very long title");
    let gate = Arc::clone(&terminal.gate);
    let closed = gate.lock().expect("a gate");
    terminal.stuff();
    let before = sim.requests().len();
    terminal.press("\r");
    until("the request of a key", || {
        let later = &sim.requests()[before..];
        later.iter().any(|it| it.path.contains("/message"))
    });
    let fresh = sim.add_session(&SessionSeed::new("Came meanwhile", "/usr"));
    sim.prompt(&fresh, "hello");
    until("what the link reads by itself", || {
        let all = sim.requests();
        all.iter().any(|it| it.path.contains(&fresh))
    });
    drop(closed);
    let waited = terminal.take();
    assert!(waited < MOST_WAITING, "{waited} bytes were kept");
    assert!(waited > FEWEST_WAITING, "{waited} bytes: it was not stuck");
    terminal.press("\r");
    terminal.until_text("Came meanwhile");
    terminal.press("Q");
    assert_eq!(terminal.until_ended(), 0);
    terminal.assert_given_back();
}

#[test]
fn a_terminal_that_takes_nothing_is_given_back_too() {
    let sim = streaming();
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let mut terminal = Stalling::start(&sim);
        terminal.until_text("a very long title");
        let gate = Arc::clone(&terminal.gate);
        let closed = gate.lock().expect("a gate");
        terminal.stuff();
        send(terminal.child.as_ref(), signal);
        assert_eq!(terminal.until_ended(), code);
        drop(closed);
        terminal.assert_given_back();
    }
}
