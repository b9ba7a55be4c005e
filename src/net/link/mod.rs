//! One task per server: keeps everything known that may be known, and says what it lost.
//!
//! ```text
//! Connecting -> probe -> stream open -> snapshot (events kept) -> kept events -> Live -> follow
//!     ^                                                                                   |
//!     +---------------- wait (back-off, RetryNow) <- Lost{cause, retry_at} <--------------+
//! ```
//!
//! What it does: joins reads and events into [`Input`]s, each read with the time before it was
//! asked. What it does not: judge. Invariants: the stream is opened before the first read, so there
//! is no gap; the stream is read always, however slow the consumer is; a directory that the policy
//! leaves asleep is never named to the server, nor any session in it. A clock that jumped is said at
//! once and everything is read again; after a pause of the whole process, which watched nothing, the
//! connection begins anew. Neither calls the server lost, nor does a stream that ends at once: then
//! everything is read again and again instead, and the stream is tried later.

mod again;
mod answers;
mod backoff;
mod follow;
mod inspect;
mod jobs;
mod loss;
mod outlet;
mod pending;
mod projects;
mod pulse;
mod roster;
mod snapshot;
mod spec;
mod tail;
mod todo;
mod two;
mod wants;
mod watch;

pub use inspect::{Choice, Facts, Policy};
pub use spec::{Inspect, LinkCommand, LinkSpec, Pace};

use crate::core::id::{Directory, Epoch};
use crate::core::time::{Clock, Span};
use crate::core::wire::{Input, LinkReport, LostCause};
use crate::net::client::ClientError;
use loss::Loss;
use outlet::Outlet;
use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

/// How much longer than others a server is waited for to which `ssh` still logs in.
const LOGIN: Duration = Duration::from_secs(6);

/// Starts the task. It ends on [`LinkCommand::Shutdown`] or when nobody receives its inputs any
/// more; dropping the sender of commands does not end it.
pub fn spawn(
    spec: LinkSpec,
    clock: Clock,
    inputs: Sender<Input>,
    commands: Receiver<LinkCommand>,
) -> JoinHandle<()> {
    let outlet = Outlet::new(spec.server, clock, inputs);
    let link = Link {
        spec,
        outlet,
        orders: Orders {
            commands,
            open: true,
        },
        commanded: HashSet::new(),
    };
    tokio::spawn(link.run())
}

/// For finding out whether a server that is given up has an open port.
const CONNECTS_WITHIN: Duration = Duration::from_millis(300);

struct Link {
    spec: LinkSpec,
    outlet: Outlet,
    orders: Orders,
    /// Directories that a person asked for.
    commanded: HashSet<Directory>,
}

/// Commands, until their sender is gone.
struct Orders {
    commands: Receiver<LinkCommand>,
    open: bool,
}

impl Orders {
    /// The next; never ready once the sender is gone. May be dropped without loss.
    async fn next(&mut self) -> LinkCommand {
        if self.open {
            if let Some(command) = self.commands.recv().await {
                return command;
            }
            self.open = false;
        }
        std::future::pending().await
    }
}

/// Why one connection ended.
enum End {
    Shutdown,
    /// The connection is made anew without calling the server lost. This process did not run for a
    /// while: what happened meanwhile was not watched, and the events that the server kept for us
    /// would all seem to come now. Or there was no stream, and there may be one by now.
    Anew,
    /// `lived`: it had been live.
    Lost {
        loss: Loss,
        lived: bool,
    },
}

/// What broke a wait.
enum Break {
    Shutdown,
    Retry,
    GiveUp,
}

impl Link {
    async fn run(mut self) {
        let mut attempt = 0;
        let mut lost_since = Instant::now();
        loop {
            attempt += 1;
            self.outlet.epoch = Epoch(self.outlet.epoch.0 + 1);
            self.outlet.report(LinkReport::Connecting { attempt });
            self.outlet.beat();
            let loss = match self.connection().await {
                End::Shutdown => return,
                End::Anew => {
                    tracing::info!(server = self.spec.server.0, "begins anew");
                    attempt = 0;
                    lost_since = Instant::now();
                    continue;
                }
                End::Lost { loss, lived } => {
                    if lived {
                        attempt = 0;
                        lost_since = Instant::now();
                    }
                    self.with_tunnel(loss).await
                }
            };
            // What a person must mend is not mended by asking often.
            let lost_for = match loss.cause {
                LostCause::Unauthorized | LostCause::NotOpencode => Duration::MAX,
                _ => lost_since.elapsed(),
            };
            let wait = backoff::wait(attempt, lost_for, fastrand::f64());
            tracing::info!(server = self.spec.server.0, attempt, cause = ?loss.cause, ?wait, "lost");
            self.report_loss(loss, wait);
            match self.interruptible(sleep(wait)).await {
                Ok(()) | Err(Break::Retry) => {}
                // It is lost, which was said.
                Err(Break::Shutdown | Break::GiveUp) => return,
            }
        }
    }

    /// Where `ssh` ended, that is why.
    async fn with_tunnel(&self, loss: Loss) -> Loss {
        let Some(tunnel) = self.spec.client.tunnel() else {
            return loss;
        };
        match tunnel.ended().await {
            Some(why) => ClientError::Unreachable(why).into(),
            None => loss,
        }
    }

    /// Who is not let in is told which password was shown, or how to give one.
    fn with_way_in(&self, cause: LostCause, text: String) -> String {
        match self.spec.client.credentials() {
            _ if cause != LostCause::Unauthorized => text,
            Some(it) => format!("{text}: the password is that of {}", it.source),
            None => format!(
                "{text}: OPENCODE_SERVER_PASSWORD gives the password, or password_env in the configuration"
            ),
        }
    }

    fn report_loss(&mut self, loss: Loss, wait: Duration) {
        let wait = Span(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
        let retry_at = self.outlet.now() + wait;
        self.outlet.asked(self.spec.client.requests());
        self.outlet.report(LinkReport::Lost {
            cause: loss.cause,
            text: self.with_way_in(loss.cause, loss.text),
            retry_at,
        });
    }

    /// Waits for something while inputs flow and commands are heard.
    async fn interruptible<F: Future>(&mut self, future: F) -> Result<F::Output, Break> {
        let mut future = pin!(future);
        loop {
            if self.outlet.closed {
                return Err(Break::Shutdown);
            }
            tokio::select! {
                output = &mut future => return Ok(output),
                () = self.outlet.send(), if !self.outlet.is_empty() => {}
                command = self.orders.next() => match command {
                    LinkCommand::Shutdown => return Err(Break::Shutdown),
                    LinkCommand::RetryNow => return Err(Break::Retry),
                    LinkCommand::GiveUp => return Err(Break::GiveUp),
                    LinkCommand::LoadDirectory(it) => { self.commanded.insert(it); }
                    LinkCommand::ReadSession(_)
                    | LinkCommand::ReadTodo(_)
                    | LinkCommand::Refresh(_) => {}
                },
            }
        }
    }

    /// As [`Link::interruptible`] for steps of connecting: a retry means going on.
    async fn step<F: Future>(&mut self, future: F) -> Result<F::Output, ()> {
        let mut future = pin!(future);
        loop {
            match self.interruptible(&mut future).await {
                Ok(output) => return Ok(output),
                Err(Break::Retry) => {}
                Err(Break::GiveUp) => {
                    // A login takes longer than an answer.
                    if self.logs_in()
                        && let Ok(output) = timeout(LOGIN, &mut future).await
                    {
                        return Ok(output);
                    }
                    self.give_up().await;
                    return Err(());
                }
                Err(Break::Shutdown) => return Err(()),
            }
        }
    }

    fn logs_in(&self) -> bool {
        let tunnel = self.spec.client.tunnel();
        tunnel.is_some_and(|it| !it.is_up())
    }

    /// Says that nothing was said in time, and passes that on before the end.
    async fn give_up(&mut self) {
        let is_open = self.spec.client.connects(CONNECTS_WITHIN).await;
        let (cause, text) = if is_open {
            let text = "the port is open, but no answer came in time";
            (LostCause::Wedged, text)
        } else {
            let text = if self.logs_in() {
                "ssh did not log in in time"
            } else {
                "no answer in time"
            };
            (LostCause::Unreachable, text)
        };
        let loss = Loss::new(cause, text);
        // Nobody waits for another try.
        self.report_loss(loss, Duration::ZERO);
        while !(self.outlet.closed || self.outlet.is_empty()) {
            self.outlet.send().await;
        }
    }
}
