//! Signals as a stream of what they mean.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// End, as by this signal.
    End(u8),
    /// Stop until continued (a `SIGTSTP` from outside; Ctrl-Z is a key in raw mode).
    Stop,
    /// Continued: the terminal may look like anything.
    Continued,
}

/// The signals that are listened to.
pub struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
    quit: Signal,
    stop: Signal,
    cont: Signal,
}

const SIGHUP: u8 = 1;
/// Ctrl-C.
pub const SIGINT: u8 = 2;
/// Ctrl-\\.
pub const SIGQUIT: u8 = 3;
/// Nobody reads what is written.
pub const SIGPIPE: u8 = 13;
/// The polite way to end a program.
pub const SIGTERM: u8 = 15;

impl Signals {
    /// Listens from now on.
    pub fn listen() -> io::Result<Self> {
        let raw = |number| signal(SignalKind::from_raw(number));
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            int: signal(SignalKind::interrupt())?,
            hup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            stop: raw(signal_hook::consts::SIGTSTP)?,
            cont: raw(signal_hook::consts::SIGCONT)?,
        })
    }

    /// The next one. May be dropped and called again without loss.
    pub async fn next(&mut self) -> Request {
        tokio::select! {
            biased;
            _ = self.term.recv() => Request::End(SIGTERM),
            _ = self.int.recv() => Request::End(SIGINT),
            _ = self.hup.recv() => Request::End(SIGHUP),
            _ = self.quit.recv() => Request::End(SIGQUIT),
            _ = self.stop.recv() => Request::Stop,
            _ = self.cont.recv() => Request::Continued,
        }
    }
}

/// Stops this process until someone continues it.
pub fn stop_here() -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)
}
