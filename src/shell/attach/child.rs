//! The program that has our terminal.
//!
//! What it does: wait for it in threads of its own, so that the links go on; pass on what it says on
//! stderr and keep its last line, which tells why it failed; give the terminal its modes back. What
//! it does not: decide what the loop does meanwhile. It shares our process group, so that Ctrl-Z in it
//! puts both in the background and `fg` brings both back.

use super::Errand;
use crate::core::id::SessionKey;
use crate::core::present::clean;
use crate::net::said::{AFTERWARDS, SAID, keep_end, last_words};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpgid, getpgrp, getppid, getsid, kill_process, waitpid,
};
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write, stderr, stdin};
use std::process::{ChildStderr, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as threads};
use tokio::sync::mpsc;

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It stopped itself, or was stopped.
    Stopped,
    /// It ended; why, unless all went well.
    Ended(Result<(), String>),
}

/// A program that has our terminal.
pub struct Attached {
    /// For which session.
    pub key: SessionKey,
    /// The signal that ends us once it has ended.
    pub leaving: Option<u8>,
    pid: Pid,
    changes: mpsc::UnboundedReceiver<Change>,
    /// The terminal, and the modes that it had before.
    modes: Option<(File, Termios)>,
}

impl Attached {
    /// Starts it. The terminal must have been left, and nobody may read keys. The error fits after
    /// "attach: ".
    pub fn start(key: SessionKey, errand: &Errand) -> Result<Self, String> {
        let terminal = File::open("/dev/tty").ok();
        let modes = terminal.and_then(|it| tcgetattr(&it).ok().map(|modes| (it, modes)));
        let mut command = errand.command();
        // Where our stdin is a pipe, as in `echo | ocwatch`, the program reads keys where we do.
        let keys = modes.as_ref().filter(|_| !stdin().is_terminal());
        if let Some(keys) = keys.and_then(|(terminal, _)| terminal.try_clone().ok()) {
            command.stdin(keys);
        }
        let spawned = command.stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|why| errand.unstarted(&why))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| "it has no process id".to_owned())?;
        let (tell, changes) = mpsc::unbounded_channel();
        let over = Arc::new(AtomicBool::new(false));
        let heard = child.stderr.take().map(|it| hear(it, Arc::clone(&over)));
        let program = clean(errand.program());
        std::thread::spawn(move || {
            let ended = watch(pid, &program, heard.as_ref(), &tell);
            // From here on the terminal is ours: what was left running may still write.
            over.store(true, Ordering::SeqCst);
            // Nobody hears it: ocwatch is ending.
            tell.send(Change::Ended(ended)).ok();
        });
        Ok(Self {
            key,
            leaving: None,
            pid,
            changes,
            modes,
        })
    }

    /// Passes a signal on.
    pub fn signal(&self, number: u8) {
        if let Some(signal) = Signal::from_named_raw(i32::from(number)) {
            // One that has ended just now is no error.
            kill_process(self.pid, signal).ok();
        }
    }

    /// Has it go on after a stop.
    pub fn go_on(&self) {
        kill_process(self.pid, Signal::CONT).ok();
    }

    /// Gives the terminal the modes that it had before, and forgets what was typed and read by nobody.
    pub fn give_back(&self) {
        if let Some((terminal, modes)) = &self.modes {
            // A terminal that is gone is noticed by whoever reads it next.
            tcsetattr(terminal, OptionalActions::Now, modes).ok();
            tcflush(terminal, QueueSelector::IFlush).ok();
        }
    }
}

/// The next change of a program that is there; never without one. May be dropped and called again
/// without loss.
pub async fn change(attached: &mut Option<Attached>) -> Change {
    match attached {
        Some(attached) => {
            let change = attached.changes.recv().await;
            change.unwrap_or_else(|| Change::Ended(Err("nobody saw its end".to_owned())))
        }
        None => std::future::pending().await,
    }
}

/// Whether a stop would be for ever: no shell is there that could bring us back. The kernel then
/// ignores what a terminal sends to stop programs.
pub fn is_orphaned() -> bool {
    let Some(parent) = getppid() else {
        return true;
    };
    let same_session = getsid(Some(parent)).ok() == getsid(None).ok();
    let other_group = getpgid(Some(parent)).is_ok_and(|group| group != getpgrp());
    !(same_session && other_group)
}

/// Tells every stop; answers how it ended.
fn watch(
    pid: Pid,
    program: &str,
    heard: Option<&threads::Receiver<Vec<u8>>>,
    tell: &mpsc::UnboundedSender<Change>,
) -> Result<(), String> {
    loop {
        match waitpid(Some(pid), WaitOptions::UNTRACED) {
            // Nobody hears it: ocwatch is ending.
            Ok(Some((_, status))) if status.stopped() => drop(tell.send(Change::Stopped)),
            Ok(Some((_, status))) => return how(program, status, heard),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(why) => return Err(format!("{program} cannot be waited for: {why}")),
        }
    }
}

fn how(
    program: &str,
    status: WaitStatus,
    heard: Option<&threads::Receiver<Vec<u8>>>,
) -> Result<(), String> {
    if status.exit_status() == Some(0) {
        return Ok(());
    }
    let how = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("{program} ended with {code}"),
        (None, Some(signal)) => format!("{program} was ended by signal {signal}"),
        (None, None) => format!("{program} ended"),
    };
    // What it left running may hold its stderr open.
    let said = heard.and_then(|heard| heard.recv_timeout(AFTERWARDS).ok());
    match last_words(&said.unwrap_or_default()) {
        Some(words) => Err(format!("{how}: {words}")),
        None => Err(how),
    }
}

/// Passes on what it says on stderr until it is over, and gives the end of it once it is closed.
fn hear(mut from: ChildStderr, over: Arc<AtomicBool>) -> threads::Receiver<Vec<u8>> {
    let (tell, heard) = threads::channel();
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let mut buffer = vec![0; SAID];
        while let Ok(count @ 1..) = read(&mut from, &mut buffer) {
            if !over.load(Ordering::SeqCst) {
                // The terminal is gone: still it must not be held up.
                stderr().write_all(&buffer[..count]).ok();
            }
            keep_end(&mut said, &buffer[..count]);
        }
        // Nobody hears it: all went well.
        tell.send(said).ok();
    });
    heard
}

fn read(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(buffer) {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
