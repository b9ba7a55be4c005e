//! The terminal as a guard: entered, left, and restored whatever happens.
//!
//! What it does: raw mode, the alternate screen, bracketed paste, synchronized drawing. What it
//! does not: read keys, or decide what is drawn. Invariant: what [`Terminal::new`] changed is
//! undone exactly once: on drop, by [`restore`], or by the panic hook, whichever comes first.

use super::theme::Theme;
use crate::core::present::Screen;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use std::io::{self, IsTerminal, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

/// The terminal is ours at the moment.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Why the terminal could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The output goes to a file or a pipe.
    #[error("stdout is not a terminal: use `ocwatch status`")]
    NotATerminal,
    /// The terminal refused.
    #[error("the terminal refused: {0}")]
    Io(#[from] io::Error),
}

/// The terminal while it is ours. Dropping it gives it back.
pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stdout>>,
}

impl Terminal {
    /// Takes the terminal over: raw mode, alternate screen, bracketed paste, no cursor.
    pub fn new() -> Result<Self, TerminalError> {
        if !stdout().is_terminal() {
            return Err(TerminalError::NotATerminal);
        }
        take_over()?;
        match ratatui::Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(inner) => Ok(Self { inner }),
            Err(error) => {
                restore();
                Err(error.into())
            }
        }
    }

    /// Draws a screen as one update that a terminal shows at once.
    pub fn draw(&mut self, screen: &Screen, theme: &Theme) -> Result<(), TerminalError> {
        queue!(stdout(), BeginSynchronizedUpdate)?;
        let drawn = self.inner.draw(|frame| super::draw(frame, screen, theme));
        execute!(stdout(), EndSynchronizedUpdate)?;
        drawn?;
        Ok(())
    }

    /// The size now, from 0,0.
    pub fn area(&self) -> Result<Rect, TerminalError> {
        let size = self.inner.size()?;
        Ok(Rect::new(0, 0, size.width, size.height))
    }

    /// Forgets what is on screen: the next draw writes every cell.
    pub fn clear(&mut self) -> Result<(), TerminalError> {
        Ok(self.inner.clear()?)
    }

    /// Gives the terminal back for a while (suspend, another program).
    pub fn leave(&mut self) {
        restore();
    }

    /// Takes it over again and forgets what was on screen.
    pub fn enter(&mut self) -> Result<(), TerminalError> {
        take_over()?;
        self.clear()
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
    let entered = enable_raw_mode().and_then(|()| write_enter(&mut stdout()));
    if entered.is_err() {
        restore();
    }
    entered
}

/// Gives the terminal back; does nothing when it is not ours. A terminal that is gone is no error.
pub fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    // Both are tried: a closed output must not keep raw mode on.
    let written = write_leave(&mut stdout());
    let cooked = disable_raw_mode();
    drop((written, cooked));
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
    execute!(out, EnterAlternateScreen, EnableBracketedPaste, Hide)
}

fn write_leave(out: &mut impl Write) -> io::Result<()> {
    execute!(
        out,
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_is_set_is_unset() {
        let (mut enter, mut leave) = (Vec::new(), Vec::new());
        write_enter(&mut enter).unwrap();
        write_leave(&mut leave).unwrap();
        let (enter, leave) = (
            String::from_utf8(enter).unwrap(),
            String::from_utf8(leave).unwrap(),
        );
        for mode in ["?1049", "?2004"] {
            assert!(enter.contains(&format!("\x1b[{mode}h")), "{enter:?}");
            assert!(leave.contains(&format!("\x1b[{mode}l")), "{leave:?}");
        }
        assert!(enter.contains("\x1b[?25l") && leave.contains("\x1b[?25h"));
    }

    #[test]
    fn restoring_what_was_never_taken_is_nothing() {
        restore();
        restore();
        assert!(!ENTERED.load(Ordering::SeqCst));
    }
}
