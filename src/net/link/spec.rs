//! What a link is told: which server, what may be asked of it, how often; and the commands that it
//! takes while it runs.

use crate::core::id::{Directory, ServerId, SessionId};
use crate::core::time::Span;
use crate::net::client::Client;
use std::time::Duration;

/// Which directories are asked. Asking one that is not loaded starts its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inspect {
    /// The server's cwd, and what is seen on its event stream.
    Loaded,
    /// Also those with a session that changed within the window.
    Recent {
        /// Back from now; server's clock.
        window: Span,
    },
    /// Every directory of a session.
    All,
}

impl Default for Inspect {
    fn default() -> Self {
        Inspect::Recent {
            window: Span::hours(24),
        }
    }
}

/// How often is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Status of a loaded directory while the stream is live.
    pub status: Duration,
    /// Its asks.
    pub asks: Duration,
    /// The stream counts as quiet after so long without an event; all three intervals then double.
    pub quiet_after: Duration,
    /// Status while there is no stream.
    pub blind_status: Duration,
    /// Asks while there is no stream.
    pub blind_asks: Duration,
    /// From being live to status, asks and lists once more: the server says `server.connected` a
    /// moment before it hands events on (1.18.33: up to 2 s under load), so some may be lost then.
    pub after_live: Duration,
    /// The session list, for what other processes on the same data did.
    pub lists: Duration,
    /// From a session's turn to idle to the tail that is read again.
    pub settle: Duration,
    /// From the first look at a question that runs to the lists in which it is looked for again.
    pub question_again: [Duration; 2],
    /// From a look at a session that something is open in, but that does not run here, to the next;
    /// doubled while nothing changes in it.
    pub elsewhere: Duration,
    /// But never longer than this.
    pub elsewhere_most: Duration,
    /// Between two such looks, of whatever sessions.
    pub elsewhere_apart: Duration,
    /// Sessions that changed within this get a tail.
    pub tail_window: Span,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            status: Duration::from_secs(15),
            asks: Duration::from_secs(60),
            quiet_after: Duration::from_secs(600),
            blind_status: Duration::from_secs(5),
            blind_asks: Duration::from_secs(15),
            after_live: Duration::from_secs(3),
            lists: Duration::from_secs(60),
            settle: Duration::from_secs(1),
            question_again: [Duration::from_millis(1500), Duration::from_secs(10)],
            elsewhere: Duration::from_secs(15),
            elsewhere_most: Duration::from_secs(360),
            elsewhere_apart: Duration::from_secs(4),
            tail_window: Span::days(7),
        }
    }
}

/// One server and how to treat it.
#[derive(Debug, Clone)]
pub struct LinkSpec {
    /// Its place in the user's list.
    pub server: ServerId,
    /// Its client.
    pub client: Client,
    /// What may be asked.
    pub inspect: Inspect,
    /// Only these directories, if any are named.
    pub directories: Vec<Directory>,
    /// How often.
    pub pace: Pace,
    /// The server's folders are this machine's: missing ones are told, symbolic links are joined.
    /// Not so for simulated servers, or through a tunnel.
    pub local_folders: bool,
}

impl LinkSpec {
    /// With the default policy and pace.
    pub fn new(server: ServerId, client: Client) -> Self {
        Self {
            server,
            local_folders: client.address().is_loopback(),
            client,
            inspect: Inspect::default(),
            directories: Vec::new(),
            pace: Pace::default(),
        }
    }
}

/// What a running link may be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkCommand {
    /// Do not wait for the planned attempt.
    RetryNow,
    /// Others do not wait for this server: if it has said nothing yet, say so and end.
    GiveUp,
    /// A person asked for this project although that starts it; holds for the life of the link.
    LoadDirectory(Directory),
    /// Read this session's row and tail now. Starts its project.
    ReadSession(SessionId),
    /// Somebody looks at this session: read its list of things to do, unless that would start its
    /// project.
    ReadTodo(SessionId),
    /// Read status and asks of a directory now, to verify an action.
    Refresh(Directory),
    /// End.
    Shutdown,
}
