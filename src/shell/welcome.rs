//! The loop of the first screen: a server is looked for until there is one, or the user decides.
//!
//! What it does: show it and what was looked at, look again every few seconds and when asked. What
//! it does not: know where to look.

use crate::core::app::keymap::Key;
use crate::core::present::{Welcome, welcome};
use crate::core::time::{Clock, Span};
use crate::net::discover::Looked;
use crate::shell::exit::Exit;
use crate::shell::interactive::DashboardError;
use crate::shell::signals::{Request, Signals, stop_here};
use crate::tui::{self, Terminal, Theme};
use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::sleep;

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
    /// Where a server listens unless told otherwise.
    pub address: SocketAddr,
    /// What was looked at before.
    pub looked: Vec<String>,
    /// Looks once.
    pub look: Box<dyn Fn() -> Looks + Send + Sync>,
    /// Where the configuration belongs, as shown.
    pub config: Option<String>,
    /// How it looks.
    pub theme: Theme,
    /// The only clock.
    pub clock: Clock,
    /// Local time minus UTC.
    pub utc_offset: Span,
}

/// A look under way.
pub type Looks = Pin<Box<dyn Future<Output = Looked> + Send>>;

impl First {
    /// Shows it until it ends.
    pub async fn run(self) -> Result<Choice, DashboardError> {
        let mut signals = Signals::listen()?;
        let mut terminal = Terminal::new(|| {})?;
        let mut keys = EventStream::new();
        let mut next = self.look_after(PAUSE);
        let mut shown = Welcome {
            address: self.address.to_string(),
            looked: self.looked.clone(),
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
                looked = &mut next => {
                    if !looked.found.is_empty() {
                        return Ok(Choice::Found);
                    }
                    shown.looked = looked.notes;
                    shown.said = std::mem::take(&mut asked).then(|| self.still_nothing());
                    next = self.look_after(PAUSE);
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
                    next = self.look_after(Duration::ZERO);
                }
                Some(Key::Ctrl('z')) => suspend(&mut terminal)?,
                Some(Key::Ctrl('l')) => terminal.clear()?,
                _ => {}
            }
        }
    }

    /// A look after this time.
    fn look_after(&self, pause: Duration) -> Looks {
        let looked = (self.look)();
        Box::pin(async move {
            sleep(pause).await;
            looked.await
        })
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
