//! A program in a pseudo-terminal, and an emulator that shows what a person would see.
#![expect(
    clippy::disallowed_methods,
    reason = "a terminal is watched in real time"
)]

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Nothing on the screen takes longer, however busy the machine is.
pub const LONGEST: Duration = Duration::from_secs(60);
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// The program in a terminal; dropping it kills it.
pub struct Screen {
    pub child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    pub emulator: vt100::Parser,
}

impl Screen {
    pub fn start(command: CommandBuilder) -> Self {
        let size = PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let child = pair
            .slave
            .spawn_command(command)
            .expect("the program starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("its output");
        let (to_test, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if to_test.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keys: pair.master.take_writer().expect("its keys"),
            _master: pair.master,
            output,
            emulator: vt100::Parser::new(ROWS, COLUMNS, 0),
        }
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("a key");
        self.keys.flush().expect("a key");
    }

    pub fn text(&self) -> String {
        self.emulator.screen().contents()
    }

    /// Takes what the program writes until the screen is as wanted; gives how long that took.
    pub fn until(&mut self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) -> Duration {
        let begun = Instant::now();
        while !wanted(self.emulator.screen()) {
            assert!(begun.elapsed() < LONGEST, "no {what} on:\n{}", self.text());
            self.take(what);
        }
        begun.elapsed()
    }

    /// What the program has written, if it comes soon.
    pub fn take(&mut self, what: &str) {
        match self.output.recv_timeout(Duration::from_millis(200)) {
            Ok(bytes) => self.emulator.process(&bytes),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                panic!("it ended before {what}:\n{}", self.text())
            }
        }
    }

    pub fn until_text(&mut self, text: &str) -> Duration {
        self.until(text, |screen| screen.contents().contains(text))
    }

    /// Waits for the program's end, then looks at what it left. Gives the exit code.
    pub fn end(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            match self.output.recv_timeout(Duration::from_millis(200)) {
                Ok(bytes) => self.emulator.process(&bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            assert!(
                begun.elapsed() < LONGEST,
                "it does not end:\n{}",
                self.text()
            );
        }
        self.child.wait().expect("its end").exit_code()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.child.kill().ok();
    }
}
