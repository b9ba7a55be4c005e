//! A fresh look at what an action is about: run state, last answer, pending asks.

use crate::core::id::AskId;
use crate::core::plan::{Settle, Step};
use crate::core::present::clean;
use crate::core::store::Tail;
use crate::core::wire::{AskKind, Message, Status};
use crate::net::client::{Client, ClientError};

/// How many of the newest messages are read: the last answer is among them unless more prompts
/// than this wait behind it.
const NEWEST: usize = 20;

/// What was seen of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// `busy`, `retry`, or another type; `None`: absent from a successful read, so idle.
    pub running: Option<String>,
    /// The last answer was never completed; in words what is open.
    pub open: Option<String>,
    /// How the last answer ended, in words.
    pub ended: String,
}

impl Seen {
    /// Absent from status and the last answer completed.
    pub fn is_settled(&self) -> bool {
        self.running.is_none() && self.open.is_none()
    }

    /// One phrase: `reported busy, last answer open in bash ./start.sh`.
    pub fn words(&self) -> String {
        let running = self.running.as_deref().unwrap_or("idle");
        match &self.open {
            Some(open) => format!("reported {running}, last answer still open{open}"),
            None => format!("reported {running}, last answer {}", self.ended),
        }
    }
}

/// What was seen of all that a plan is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    /// In the order of [`Plan::settle`].
    pub sessions: Vec<Seen>,
    /// Asks of the plan that are still listed.
    pub asks: usize,
}

impl Look {
    /// Everything is as it shall be afterwards.
    pub fn is_settled(&self) -> bool {
        self.asks == 0 && self.sessions.iter().all(Seen::is_settled)
    }
    /// Something is in the server's hands, or waits for a person.
    pub fn is_running(&self) -> bool {
        self.asks > 0 || self.sessions.iter().any(|seen| seen.running.is_some())
    }
    /// The first session that has not settled (else the first), in words.
    pub fn words(&self) -> String {
        let unsettled = self.sessions.iter().find(|seen| !seen.is_settled());
        let told = unsettled.or(self.sessions.first());
        let words = told.map_or_else(|| "nothing seen".to_owned(), Seen::words);
        match self.asks {
            0 => words,
            1 => format!("{words}, its ask still listed"),
            n => format!("{words}, {n} asks still listed"),
        }
    }
}

/// Reads it all again.
pub(super) async fn look(
    client: &Client,
    settle: &[Settle],
    steps: &[Step],
) -> Result<Look, ClientError> {
    let mut sessions = Vec::with_capacity(settle.len());
    for settle in settle {
        sessions.push(session(client, settle).await?);
    }
    let mut asks = 0;
    for step in steps {
        if let Step::Reject {
            kind,
            ask,
            directory,
            ..
        } = step
            && is_listed(client, *kind, ask, directory).await?
        {
            asks += 1;
        }
    }
    Ok(Look { sessions, asks })
}

pub(super) async fn session(client: &Client, settle: &Settle) -> Result<Seen, ClientError> {
    let status = client.status(Some(&settle.directory)).await?;
    let running = match status.items.get(&settle.session) {
        None | Some(Status::Idle) => None,
        Some(Status::Busy) => Some("busy".to_owned()),
        Some(Status::Retry(_)) => Some("retry".to_owned()),
        Some(Status::Other(name)) => Some(clean(name)),
    };
    if running.is_none() && status.skipped > 0 {
        // An entry that did not decode could be this one: its absence proves nothing.
        return Err(unread("a status entry"));
    }
    let tail = tail(client, settle).await?;
    let last = tail.last_assistant();
    let open = last.filter(|message| message.is_open());
    Ok(Seen {
        running,
        open: open.map(|_| open_in(&tail)),
        ended: last.map_or_else(|| "none".to_owned(), ended),
    })
}

fn unread(what: &str) -> ClientError {
    ClientError::Status {
        code: 200,
        message: Some(format!("{what} that cannot be understood")),
    }
}

async fn tail(client: &Client, settle: &Settle) -> Result<Tail, ClientError> {
    let page = client.messages_page(&settle.session, NEWEST, None).await;
    let mut messages = match page {
        Ok(page) if page.messages.missing > 0 => {
            return Err(unread("a part of the last answer"));
        }
        Ok(page) => page.messages.rows.items,
        Err(ClientError::Status { code: 404, .. }) => Vec::new(),
        Err(why) => return Err(why),
    };
    messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    let mut tail = Tail::default();
    tail.messages = messages;
    Ok(tail)
}

fn open_in(tail: &Tail) -> String {
    let tool = tail.live_parts().find_map(|part| part.tool());
    tool.map_or_else(String::new, |tool| {
        clean(&format!(" in {} {}", tool.tool, tool.subject))
            .trim_end()
            .to_owned()
    })
}

fn ended(message: &Message) -> String {
    match (&message.error, &message.finish) {
        (Some(error), _) if error.is_abort() => "aborted".to_owned(),
        (Some(error), _) => clean(&format!("failed ({})", error.name)),
        (None, Some(finish)) => clean(&format!("completed ({finish})")),
        (None, None) => "completed".to_owned(),
    }
}

pub(super) async fn is_listed(
    client: &Client,
    kind: AskKind,
    ask: &AskId,
    directory: &crate::core::id::Directory,
) -> Result<bool, ClientError> {
    let listed = match kind {
        AskKind::Permission => client.permissions(Some(directory)).await?,
        AskKind::Question => client.questions(Some(directory)).await?,
    };
    Ok(listed.items.iter().any(|known| known.id == *ask))
}
