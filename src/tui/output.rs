//! The bytes on their way to the terminal.
//!
//! What it does: a thread of its own writes them, so that a terminal that takes nothing (a stalled
//! line, a paused window) holds up neither keys nor links. What it does not: know what they say.
//! Invariants: bytes go out in the order in which they were put; whoever composes frames waits until
//! the one before is out ([`is_free`]), so that never more than one of them waits; giving the
//! terminal back takes a bounded time, whatever it does.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, ttyname};
use std::fs::File;
use std::io::{self, ErrorKind, Write, stdout};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many bytes may wait before more of what is no frame is given up.
const MOST_WAITING: usize = 256 * 1024;
/// A terminal that is to be given back is waited for so long.
const PATIENCE: Duration = Duration::from_secs(1);
/// And so long after what it had not taken yet was thrown away,
const LAST_TRY: Duration = Duration::from_millis(30);
/// so many times: the rest of a frame that is being written fills what was made free.
const LAST_TRIES: u8 = 40;

/// A writer that waits looks up so often whether it is still wanted.
const LOOK_UP: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 25_000_000,
};

/// Told when all is out.
type Told = Arc<dyn Fn() + Send + Sync>;

struct State {
    waiting: Vec<u8>,
    /// Some of it is being written.
    writing: bool,
    /// The terminal is gone.
    gone: Option<ErrorKind>,
    told: Option<Told>,
    started: bool,
    /// The rest of what is being written is not wanted any more.
    given_up: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    waiting: Vec::new(),
    writing: false,
    gone: None,
    told: None,
    started: false,
    given_up: false,
});
/// Something was put, or is out.
static CHANGED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn is_out(&self) -> bool {
        self.gone.is_some() || (self.waiting.is_empty() && !self.writing)
    }
}

/// Begins to write what is put; `told` is called whenever all of it is out.
pub(super) fn start(told: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    let mut state = state();
    state.told = Some(Arc::new(told));
    if !state.started {
        let terminal = opened_anew()?;
        let thread = thread::Builder::new().name("terminal".to_owned());
        thread.spawn(move || write_for_ever(terminal))?;
        state.started = true;
    }
    Ok(())
}

/// The terminal once more, so that a write returns where it would wait and nobody else's writes do:
/// a writer that waits inside a write keeps everyone else from writing, the last bytes too.
fn opened_anew() -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let name = ttyname(stdout(), Vec::new());
    match name.and_then(|name| open(name, flags, Mode::empty())) {
        Ok(own) => Ok(File::from(own)),
        // A terminal of another name space has none: then its writes wait.
        Err(_) => Ok(File::from(stdout().as_fd().try_clone_to_owned()?)),
    }
}

/// Whether all that was put is out.
pub(super) fn is_free() -> bool {
    state().is_out()
}

/// Hands bytes over. Never waits.
///
/// # Errors
/// The terminal is gone.
pub(super) fn put(bytes: &[u8]) -> io::Result<()> {
    let mut state = state();
    if let Some(gone) = state.gone {
        return Err(gone.into());
    }
    state.waiting.extend_from_slice(bytes);
    CHANGED.notify_all();
    Ok(())
}

/// As [`put`] for what may be given up when too much waits. Says whether it was taken.
pub(super) fn put_if_room(bytes: &[u8]) -> io::Result<bool> {
    let room = MOST_WAITING.saturating_sub(state().waiting.len());
    if bytes.len() > room {
        return Ok(false);
    }
    put(bytes).map(|()| true)
}

/// Hands the last bytes over and waits until they are out. Of a terminal that takes nothing, what
/// it has not taken is thrown away (in the kernel too), so that these still reach it.
pub(super) fn put_last(bytes: &[u8]) {
    if put(bytes).is_err() || settle(PATIENCE) {
        return;
    }
    {
        let mut state = state();
        state.waiting = bytes.to_vec();
        state.given_up = true;
    }
    for _ in 0..LAST_TRIES {
        // Where it does not help, nothing does.
        tcflush(stdout(), QueueSelector::OFlush).ok();
        if settle(LAST_TRY) {
            break;
        }
    }
    state().given_up = false;
}

fn settle(longest: Duration) -> bool {
    let waited = CHANGED.wait_timeout_while(state(), longest, |state| !state.is_out());
    let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
    state.is_out()
}

fn write_for_ever(mut terminal: File) {
    loop {
        let bytes = next();
        written(write_whole(&mut terminal, &bytes));
    }
}

fn next() -> Vec<u8> {
    let waited = CHANGED.wait_while(state(), |state| state.waiting.is_empty());
    let mut state = waited.unwrap_or_else(PoisonError::into_inner);
    state.writing = true;
    std::mem::take(&mut state.waiting)
}

fn written(done: io::Result<()>) {
    let mut state = state();
    state.writing = false;
    state.gone = done.err().map(|it| it.kind());
    CHANGED.notify_all();
    let told = state.told.clone().filter(|_| state.is_out());
    drop(state);
    if let Some(told) = told {
        told();
    }
}

fn write_whole(terminal: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match terminal.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) if why.kind() == ErrorKind::WouldBlock => {
                let mut ready = [PollFd::new(terminal, PollFlags::OUT)];
                match poll(&mut ready, Some(&LOOK_UP)) {
                    // A signal to this thread says nothing of the terminal.
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(why) => return Err(why.into()),
                }
                if std::mem::take(&mut state().given_up) {
                    return Ok(());
                }
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}
