//! The loop while another program has the terminal: no key is read, nothing is drawn, all else goes on.

use super::{Dashboard, DashboardError, Show, come_back};
use crate::core::app::Msg;
use crate::core::id::SessionKey;
use crate::core::present::clean;
use crate::shell::attach::{Attached, Change, Errand, is_orphaned};
use crate::shell::exit::Exit;
use crate::shell::signals::{Request, SIGINT, SIGQUIT, stop_here};
use crossterm::event::{Event, EventStream, poll, read};
use futures_util::StreamExt;
use std::io::{self, Write, stdout};
use std::time::Duration;

/// Bytes for the terminal that are kept for the way back.
const HELD: usize = 16 * 1024;

/// What a program may leave switched on that died: mouse reports, bracketed paste, two ways to report
/// keys, colours, its own screen, no cursor. Also for the shell, when ocwatch ends with it.
const AFTERMATH: &str = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[>4;0m\x1b[0m\x1b[?1049l\x1b[?25h";

/// The next event of the terminal; never while it is not ours.
pub(super) async fn event(keys: &mut Option<EventStream>) -> Option<io::Result<Event>> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

impl Dashboard {
    /// Gives the terminal to another program.
    pub(super) fn attach(
        &mut self,
        show: &mut Show,
        key: SessionKey,
        errand: &Errand,
    ) -> Result<(), DashboardError> {
        if show.attached.is_some() {
            return Ok(());
        }
        // Dropped: nobody reads a key that is not ours.
        show.keys = None;
        show.terminal.leave();
        let line = clean(&errand.command.join(" "));
        write!(stdout(), "ocwatch: {line}\r\n")?;
        stdout().flush()?;
        match Attached::start(key.clone(), errand) {
            Ok(attached) => {
                show.attached = Some(attached);
                Ok(())
            }
            Err(why) => self.back(show, key, Err(why)),
        }
    }

    /// The program stopped, or it ended.
    pub(super) fn changed(
        &mut self,
        show: &mut Show,
        change: Change,
    ) -> Result<(), DashboardError> {
        let Some(attached) = &show.attached else {
            return Ok(());
        };
        let ended = match change {
            Change::Ended(ended) => ended,
            Change::Stopped => {
                // Its stop is that of the whole job, if there is a shell that brings it back.
                if !is_orphaned() {
                    stop_here()?;
                }
                attached.go_on();
                return Ok(());
            }
        };
        attached.give_back();
        if ended.is_err() {
            write!(stdout(), "{AFTERMATH}")?;
            stdout().flush()?;
        }
        let (key, leaving) = (attached.key.clone(), attached.leaving);
        show.attached = None;
        if let Some(number) = leaving {
            show.ended = Some(Exit::Signal(number));
            return Ok(());
        }
        self.back(show, key, ended)
    }

    fn back(
        &mut self,
        show: &mut Show,
        key: SessionKey,
        ended: Result<(), String>,
    ) -> Result<(), DashboardError> {
        come_back(show)?;
        show.back_at = Some((self.clock)());
        // What was typed for the program and read by nobody is not for us.
        while poll(Duration::ZERO)? {
            read()?;
        }
        show.keys = Some(EventStream::new());
        let held = std::mem::take(&mut show.held);
        show.terminal.say(&held)?;
        self.take(show, Msg::AttachEnded { key, ended })
    }
}

impl Show {
    /// Writes to the terminal when it is ours, else on the way back.
    pub(super) fn say(&mut self, bytes: &[u8]) -> Result<(), DashboardError> {
        if self.attached.is_none() {
            self.terminal.say(bytes)?;
        } else if self.held.len() + bytes.len() <= HELD {
            self.held.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// A signal while another program has the terminal. What the terminal sends to all is for that
    /// program; what ends us ends it first.
    pub(super) fn signal_attached(&mut self, request: Request) {
        let Some(attached) = &mut self.attached else {
            return;
        };
        let Request::End(number) = request else {
            return;
        };
        if number == SIGINT || number == SIGQUIT {
            return;
        }
        if attached.leaving.is_some() {
            self.ended = Some(Exit::Signal(number));
            return;
        }
        attached.leaving = Some(number);
        attached.signal(number);
        // One that is stopped hears nothing else.
        attached.go_on();
    }
}
