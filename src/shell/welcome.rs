//! The loop of the first screen: a server is looked for until there is one, or the user decides.
//!
//! What it does: show it, look again every few seconds and when asked. What it does not: send
//! anything: a look opens a connection to this machine and closes it.

use crate::core::app::keymap::Key;
use crate::core::present::{Welcome, welcome};
use crate::core::time::{Clock, Span};
use crate::shell::exit::Exit;
use crate::shell::interactive::DashboardError;
use crate::shell::signals::{Request, Signals, stop_here};
use crate::tui::{self, Terminal, Theme};
use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How long the usual port may take to answer before it counts as closed.
pub const PROBE: Duration = Duration::from_millis(500);
/// Between two looks.
const PAUSE: Duration = Duration::from_secs(3);

/// How the first screen ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// A server is there now.
    Found,
    /// The user wants the demo.
    Demo,
    /// The user, or a signal, wants to leave.
    Leave(Exit),
}

/// What the first screen works with.
pub struct First {
    /// Where a server is looked for.
    pub address: SocketAddr,
    /// Where the configuration belongs, as shown.
    pub config: Option<String>,
    /// How it looks.
    pub theme: Theme,
    /// The only clock.
    pub clock: Clock,
    /// Local time minus UTC.
    pub utc_offset: Span,
}

type Look = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Whether something listens there, after this time.
fn look(address: SocketAddr, pause: Duration) -> Look {
    Box::pin(async move {
        sleep(pause).await;
        let connected = timeout(PROBE, TcpStream::connect(address)).await;
        matches!(connected, Ok(Ok(_)))
    })
}

impl First {
    /// Shows it until it ends.
    pub async fn run(self) -> Result<Choice, DashboardError> {
        let mut signals = Signals::listen()?;
        let mut terminal = Terminal::new(|| {})?;
        let mut keys = EventStream::new();
        let mut next = look(self.address, PAUSE);
        let mut shown = Welcome {
            address: self.address.to_string(),
            port: self.address.port(),
            config: self.config.clone(),
            every: PAUSE.as_secs(),
            said: None,
        };
        let mut asked = false;
        loop {
            terminal.draw(&welcome(&shown), &self.theme)?;
            let key = tokio::select! {
                biased;
                request = signals.next() => match request {
                    Request::End(number) => return Ok(Choice::Leave(Exit::Signal(number))),
                    Request::Stop => Some(Key::Ctrl('z')),
                    Request::Continued => {
                        terminal.retake()?;
                        None
                    }
                },
                event = keys.next() => match event {
                    Some(Ok(Event::Key(event))) => tui::key(event),
                    Some(Ok(_)) => None,
                    Some(Err(_)) | None => return Ok(Choice::Leave(Exit::Failed)),
                },
                found = &mut next => {
                    if found {
                        return Ok(Choice::Found);
                    }
                    shown.said = std::mem::take(&mut asked).then(|| self.still_nothing());
                    next = look(self.address, PAUSE);
                    None
                }
            };
            match key {
                Some(Key::Char('q' | 'Q') | Key::Esc | Key::Ctrl('c')) => {
                    return Ok(Choice::Leave(Exit::Done));
                }
                Some(Key::Char('d')) => return Ok(Choice::Demo),
                Some(Key::Char('r')) => {
                    asked = true;
                    next = look(self.address, Duration::ZERO);
                }
                Some(Key::Ctrl('z')) => suspend(&mut terminal)?,
                Some(Key::Ctrl('l')) => terminal.clear()?,
                _ => {}
            }
        }
    }

    fn still_nothing(&self) -> String {
        let clock = crate::core::present::clock((self.clock)(), self.utc_offset);
        format!("{clock}: still nothing on {}", self.address)
    }
}

fn suspend(terminal: &mut Terminal) -> Result<(), DashboardError> {
    terminal.leave();
    stop_here()?;
    Ok(terminal.retake()?)
}
