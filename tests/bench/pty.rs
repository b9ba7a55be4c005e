//! A program in a pseudo terminal, seen as a person sees it. Used by `screenshots/shot.rs` and by the
//! latency benchmark.
//!
//! What it does: start, send keys, wait until the screen shows something. What it does not: sleep.
//! Invariants: a screen is looked at only between synchronized updates, so never half drawn; a wait
//! that fails carries the last screen; the program ends with the value.

use portable_pty::{Child, CommandBuilder, MasterPty, NativePtySystem, PtySize, PtySystem};
use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Any error, in words.
pub type Failure = Box<dyn Error + Send + Sync>;

/// End of a synchronized update: the frame is whole.
const FRAME_END: &[u8] = b"\x1b[?2026l";

/// A running program and its screen.
pub struct Pty {
    /// The process.
    pub child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    /// Kept open: the program would get SIGHUP.
    _master: Box<dyn MasterPty + Send>,
    output: Receiver<Vec<u8>>,
    /// Received and not yet on the screen.
    pending: Vec<u8>,
    /// All that the program wrote so far, in bytes.
    pub received: u64,
    parser: vt100::Parser<Updates>,
}

/// Follows synchronized updates.
#[derive(Default)]
struct Updates {
    open: bool,
}

impl vt100::Callbacks for Updates {
    fn unhandled_csi(
        &mut self,
        _: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        if first == Some(b'?') && params.first().is_some_and(|p| **p == [2026]) {
            self.open = last == 'h';
        }
    }
}

impl Pty {
    /// Starts `program` on a screen of so many columns and rows. `home` takes all that it writes, so
    /// that nothing of the person at the keyboard shows.
    pub fn start(
        program: &Path,
        args: &[String],
        (cols, rows): (u16, u16),
        home: &Path,
    ) -> Result<Self, Failure> {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = NativePtySystem::default()
            .openpty(size)
            .map_err(|e| e.to_string())?;
        let child = pair
            .slave
            .spawn_command(command(program, args, home))
            .map_err(|e| e.to_string())?;
        let reader = pair.master.try_clone_reader().map_err(|e| e.to_string())?;
        let writer = pair.master.take_writer().map_err(|e| e.to_string())?;
        Ok(Self {
            child,
            writer,
            _master: pair.master,
            output: read_all(reader),
            pending: Vec::new(),
            received: 0,
            parser: vt100::Parser::new_with_callbacks(rows, cols, 0, Updates::default()),
        })
    }

    /// Types these bytes.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.writer.write_all(bytes)?;
        self.writer.flush()?;
        Ok(())
    }

    /// The screen as it stands.
    pub fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// Follows the output until a whole frame is as wanted. `what` says it in words.
    pub fn wait(
        &mut self,
        what: &str,
        limit: Duration,
        wanted: impl Fn(&vt100::Screen) -> bool,
    ) -> Result<(), Failure> {
        if self.watch(limit, wanted)? {
            Ok(())
        } else {
            let screen = self.screen().contents();
            Err(format!("{what}: not seen in time; the last screen was:\n{screen}").into())
        }
    }

    /// Follows the output for so long, or until a screen is wanted, and says whether one was.
    /// `wanted` sees the screen as it is, then each whole frame.
    pub fn watch(
        &mut self,
        time: Duration,
        mut wanted: impl FnMut(&vt100::Screen) -> bool,
    ) -> Result<bool, Failure> {
        let deadline = now() + time;
        let mut new = true;
        loop {
            if new && !self.parser.callbacks().open && wanted(self.parser.screen()) {
                return Ok(true);
            }
            new = self.next_frame();
            if new {
                continue;
            }
            let left = deadline.saturating_duration_since(now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => {
                    self.received += bytes.len() as u64;
                    self.pending.extend(bytes);
                }
                Err(RecvTimeoutError::Timeout) => return Ok(false),
                Err(RecvTimeoutError::Disconnected) => {
                    let screen = self.screen().contents();
                    return Err(format!("the program ended; the last screen was:\n{screen}").into());
                }
            }
        }
    }

    /// Shows what is pending up to the end of a frame. `false`: nothing was.
    fn next_frame(&mut self) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let end = self
            .pending
            .windows(FRAME_END.len())
            .position(|w| w == FRAME_END);
        let end = end.map_or(self.pending.len(), |at| at + FRAME_END.len());
        self.parser.process(&self.pending[..end]);
        self.pending.drain(..end);
        true
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn command(program: &Path, args: &[String], home: &Path) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    command.args(args);
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"] {
        command.env(name, home);
    }
    command.env("TERM", "xterm-256color");
    command.env("LC_ALL", "C.UTF-8");
    for name in ["NO_COLOR", "OPENCODE_SERVER_PASSWORD", "COLORTERM"] {
        command.env_remove(name);
    }
    command.cwd(home);
    command
}

fn read_all(mut reader: Box<dyn Read + Send>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The real time: what is measured here is what a person waits.
#[expect(
    clippy::disallowed_methods,
    reason = "a program in a terminal runs in real time"
)]
pub fn now() -> Instant {
    Instant::now()
}
