//! The terminal as a guard: entered, left, and restored whatever happens.
//!
//! What it does: raw mode, the alternate screen, bracketed paste, reports of the focus, synchronized
//! drawing. What it does not: read keys, decide what is drawn, or wait for the terminal
//! ([`output`] does that). Invariant: what [`Terminal::new`] changed is
//! undone exactly once: on drop, by [`restore`], or by the panic hook, whichever comes first.

use super::canvas::Canvas;
use super::mouse;
use super::output;
use super::theme::Theme;
use crate::core::present::Screen;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
};
use crossterm::queue;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;
use std::io::{self, IsTerminal, Write, stdin, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

/// The terminal is ours at the moment.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Why the terminal could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The output goes to a file or a pipe.
    #[error("stdout is not a terminal, so there is no dashboard: use `ocwatch status`")]
    NotATerminal,
    /// Neither stdin nor the session has a terminal.
    #[error("there is no terminal to read keys from: use `ocwatch status`")]
    NoKeys,
    /// The terminal refused.
    #[error("the terminal refused: {0}")]
    Io(#[from] io::Error),
}

/// The terminal while it is ours. Dropping it gives it back.
pub struct Terminal {
    inner: ratatui::Terminal<Canvas>,
    /// Clicks and the wheel are reported to us.
    mouse: bool,
}

impl Terminal {
    /// Takes the terminal over: raw mode, alternate screen, bracketed paste, no cursor. `free` is
    /// called, from a thread of its own, whenever the terminal has taken all that it was given.
    pub fn new(free: impl Fn() + Send + Sync + 'static) -> Result<Self, TerminalError> {
        if !stdout().is_terminal() {
            return Err(TerminalError::NotATerminal);
        }
        output::start(free)?;
        // Keys come from the session's terminal where stdin is none, as in `echo | ocwatch`.
        take_over().map_err(|why| {
            if stdin().is_terminal() {
                TerminalError::Io(why)
            } else {
                TerminalError::NoKeys
            }
        })?;
        match ratatui::Terminal::new(Canvas::default()) {
            Ok(inner) => Ok(Self {
                inner,
                mouse: false,
            }),
            Err(error) => {
                restore();
                Err(error.into())
            }
        }
    }

    /// Whether the terminal has taken all that it was given. Until then nothing is drawn: the newest
    /// state is what counts when it can take more.
    pub fn is_free(&self) -> bool {
        output::is_free()
    }

    /// Draws a screen as one update that a terminal shows at once. Never waits for the terminal;
    /// a screen that looks as the one before costs it nothing.
    pub fn draw(&mut self, screen: &Screen, theme: &Theme) -> Result<(), TerminalError> {
        self.inner.draw(|frame| super::draw(frame, screen, theme))?;
        let cells = self.inner.backend_mut().take();
        if cells.is_empty() {
            return Ok(());
        }
        let mut frame = Vec::with_capacity(cells.len() + 16);
        queue!(frame, BeginSynchronizedUpdate)?;
        frame.extend(cells);
        queue!(frame, EndSynchronizedUpdate)?;
        Ok(output::put(&frame)?)
    }

    /// Writes a sequence that changes no cell, between two frames: a bell, the clipboard, a
    /// notification. Whoever calls it has made sure that nothing of a server stands in it raw. Never
    /// waits; what a terminal that takes nothing has no room for is given up.
    pub fn say(&mut self, bytes: &[u8]) -> Result<(), TerminalError> {
        output::put_if_room(bytes)?;
        Ok(())
    }

    /// The size now, from 0,0.
    pub fn area(&self) -> Result<Rect, TerminalError> {
        let size = self.inner.size()?;
        Ok(Rect::new(0, 0, size.width, size.height))
    }

    /// Forgets what is on screen: the next draw writes every cell.
    pub fn clear(&mut self) -> Result<(), TerminalError> {
        // Not `clear`: that asks the terminal for its cursor.
        let area = self.area()?;
        Ok(self.inner.resize(area)?)
    }

    /// Gives the terminal back for a while (suspend, another program). Waits until it has it, but
    /// not for ever.
    pub fn leave(&mut self) {
        restore();
    }

    /// Has clicks and the wheel reported here (true), or leaves them to the terminal. Holds until it is
    /// said otherwise, also after another program had the terminal.
    pub fn take_mouse(&mut self, taken: bool) -> Result<(), TerminalError> {
        let changes = std::mem::replace(&mut self.mouse, taken) != taken;
        if changes && ENTERED.load(Ordering::SeqCst) {
            output::put(if taken { mouse::TAKE } else { mouse::LEAVE })?;
        }
        Ok(())
    }

    /// Takes it over again and forgets what was on screen.
    pub fn enter(&mut self) -> Result<(), TerminalError> {
        take_over()?;
        output::put(mouse::LEFT_BEHIND)?;
        if self.mouse {
            output::put(mouse::TAKE)?;
        }
        self.inner.backend_mut().forget();
        self.clear()
    }
}

impl Terminal {
    /// Takes it over anew, whatever was done to it meanwhile.
    pub fn retake(&mut self) -> Result<(), TerminalError> {
        self.leave();
        self.enter()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

fn take_over() -> io::Result<()> {
    if ENTERED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let mut bytes = Vec::new();
    let entered = enable_raw_mode()
        .and_then(|()| write_enter(&mut bytes))
        .and_then(|()| output::put(&bytes));
    if entered.is_err() {
        restore();
    }
    entered
}

/// Gives the terminal back; does nothing when it is not ours. A terminal that is gone is no error,
/// and one that takes nothing is waited for only so long.
pub fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut bytes = Vec::new();
    // Both are tried: a closed output must not keep raw mode on.
    let composed = write_leave(&mut bytes);
    output::put_last(&bytes);
    let cooked = disable_raw_mode();
    drop((composed, cooked));
}

/// Makes a panic give the terminal back first, then do what it did before. Call once, early.
pub fn install_panic_hook() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        previous(info);
    }));
}

fn write_enter(out: &mut impl Write) -> io::Result<()> {
    queue!(
        out,
        EnterAlternateScreen,
        EnableBracketedPaste,
        EnableFocusChange,
        Hide
    )
}

fn write_leave(out: &mut impl Write) -> io::Result<()> {
    out.write_all(mouse::LEAVE)?;
    queue!(
        out,
        EndSynchronizedUpdate,
        DisableFocusChange,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use std::io::Read;

    #[test]
    fn every_mode_that_is_set_is_unset() {
        let (mut enter, mut leave) = (Vec::new(), Vec::new());
        write_enter(&mut enter).unwrap();
        enter.extend_from_slice(mouse::TAKE);
        write_leave(&mut leave).unwrap();
        let (enter, leave) = (
            String::from_utf8(enter).unwrap(),
            String::from_utf8(leave).unwrap(),
        );
        for mode in ["?1049", "?2004", "?1004", "?1000", "?1006"] {
            assert!(enter.contains(&format!("\x1b[{mode}h")), "{enter:?}");
            assert!(leave.contains(&format!("\x1b[{mode}l")), "{leave:?}");
        }
        for motion in ["?1002", "?1003", "?1015"] {
            assert!(!enter.contains(motion), "{enter:?}");
        }
        assert!(enter.contains("\x1b[?25l") && leave.contains("\x1b[?25h"));
    }

    /// Takes the terminal over, gives it back and takes it again, then panics. Runs in [`in_a_pty`].
    #[test]
    #[ignore = "needs a terminal: run by the test below"]
    fn child_that_panics() {
        install_panic_hook();
        let mut terminal = Terminal::new(|| {}).unwrap();
        terminal.take_mouse(true).unwrap();
        terminal.leave();
        terminal.enter().unwrap();
        let screen = crate::tui::pacer::tests::screen("14:02:11");
        terminal.draw(&screen, &Theme::new(true, false)).unwrap();
        panic!("told after the screen is back");
    }

    /// Runs one ignored test of this file on a terminal of its own; answers all that it wrote.
    #[cfg(unix)]
    fn in_a_pty(test: &str) -> Vec<u8> {
        let pair = portable_pty::native_pty_system()
            .openpty(portable_pty::PtySize::default())
            .unwrap();
        let mut command = portable_pty::CommandBuilder::new(std::env::current_exe().unwrap());
        command.args([
            test,
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ]);
        command.env("RUST_BACKTRACE", "0");
        let mut child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let reading = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // The last read fails when the other end is gone; what came before is kept.
            drop(reader.read_to_end(&mut bytes));
            bytes
        });
        child.wait().unwrap();
        let modes = format!("{:?}", pair.master.get_termios().unwrap().local_flags);
        assert!(
            modes.contains("ICANON") && modes.contains("ECHO"),
            "{modes}"
        );
        drop(pair.slave);
        reading.join().unwrap()
    }

    #[test]
    #[cfg(unix)]
    fn a_panic_gives_the_terminal_back_first() {
        let bytes = in_a_pty("tui::terminal::tests::child_that_panics");
        let mut parser = vt100::Parser::new(24, 80, 0);
        parser.process(&bytes);
        let screen = parser.screen();
        let text = screen.contents();
        assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste());
        let mouse = screen.mouse_protocol_mode();
        assert_eq!(mouse, vt100::MouseProtocolMode::None);
        assert!(text.contains("told after the screen is back"), "{text}");
        assert!(!text.contains("14:02:11"), "{text}");
        let written = String::from_utf8_lossy(&bytes);
        let (_, drawn) = written.split_once("\x1b[?2026h").unwrap();
        assert!(drawn.contains("14:02:11"), "{written:?}");
        assert_eq!(written.matches("\x1b[?1049h").count(), 2, "{written:?}");
        assert_eq!(written.matches("\x1b[?1000h").count(), 2, "{written:?}");
        assert_eq!(written.matches("\x1b[?1049l").count(), 2, "{written:?}");
    }

    #[test]
    fn restoring_what_was_never_taken_is_nothing() {
        restore();
        restore();
        assert!(!ENTERED.load(Ordering::SeqCst));
    }
}
