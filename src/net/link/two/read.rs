//! The reads of a 2.x link, and how each is carried out.
//!
//! What it does: read the newest messages back to the last prompt, with the inbox, as one thing;
//! read the asks of those locations that are loaded at that moment. What it does not: decide what
//! is read. None of it loads a location.

use crate::core::id::{Directory, SessionId};
use crate::core::wire::v1::{Decoded, Health};
use crate::core::wire::v2::{self, MessagePage};
use crate::core::wire::{Ask, InboxItem, Message, Retry, SessionInfo, Status};
use crate::net::client::{AllSessions, Client, ClientError, Identity};
use crate::net::link::jobs::Work;
use std::collections::BTreeMap;

const PAGE: usize = 20;
/// A tail is never longer, wherever the last prompt is.
const MOST: usize = 200;

/// Something to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Read {
    /// All sessions.
    Sessions,
    /// Who runs.
    Active,
    /// What is asked in these locations, as far as they are loaded.
    Asks(Vec<Directory>),
    /// A row.
    Row(SessionId),
    /// The newest messages, and the inbox.
    Tail(SessionId),
    /// A sign of life.
    Health,
    /// Who it is, and how its clock stands.
    Identity,
}

/// What came of it.
pub(super) enum Answer {
    Sessions(Result<AllSessions, ClientError>),
    Active(Result<Decoded<BTreeMap<SessionId, Status>>, ClientError>),
    Asks(Result<Vec<(Directory, Option<Asked>)>, ClientError>),
    Row(Result<SessionInfo, ClientError>),
    Tail(Result<Tail, ClientError>),
    Health(Result<Health, ClientError>),
    Identity(Result<Identity, ClientError>),
}

/// Both lists of a loaded location.
pub(super) struct Asked {
    pub(super) permissions: Result<Decoded<Vec<Ask>>, ClientError>,
    pub(super) forms: Result<Decoded<Vec<Ask>>, ClientError>,
}

/// The newest messages of a session, and what waits to go in.
pub(super) struct Tail {
    /// Ascending and folded.
    pub(super) messages: Vec<Message>,
    /// It begins with the session's first message, and nothing was left out.
    pub(super) whole: bool,
    /// Messages and their content that did not decode, of the newest answer or after it.
    pub(super) missing: usize,
    /// What did not decode.
    pub(super) skipped: usize,
    /// Why the first of it did not.
    pub(super) why: Option<String>,
    /// Its newest answer names a retry.
    pub(super) retry: Option<Retry>,
    /// In the server's order.
    pub(super) inbox: Vec<InboxItem>,
}

impl Work for Read {
    type Answer = Answer;

    fn is_pressing(&self) -> bool {
        *self == Read::Health
    }

    async fn perform(&self, client: &Client) -> Answer {
        match self {
            Read::Sessions => Answer::Sessions(client.sessions_v2().await),
            Read::Active => Answer::Active(client.active().await),
            Read::Asks(wanted) => Answer::Asks(asks(client, wanted).await),
            Read::Row(session) => Answer::Row(client.session_v2(session).await),
            Read::Tail(session) => Answer::Tail(tail(client, session).await),
            Read::Health => Answer::Health(client.info().await),
            Read::Identity => Answer::Identity(client.probe().await),
        }
    }
}

/// Which are loaded is asked just before: a location that was shut down must not be named. A
/// pending ask implies that its location is loaded.
async fn asks(
    client: &Client,
    wanted: &[Directory],
) -> Result<Vec<(Directory, Option<Asked>)>, ClientError> {
    let mut out = Vec::new();
    for directory in wanted {
        let loaded = client.locations().await?.items.contains(directory);
        let asked = if loaded {
            Some(Asked {
                permissions: client.permission_requests(directory).await,
                forms: client.forms(directory).await,
            })
        } else {
            None
        };
        out.push((directory.clone(), asked));
    }
    Ok(out)
}

/// The inbox is read first: a prompt that goes in meanwhile is then seen twice, not lost.
async fn tail(client: &Client, session: &SessionId) -> Result<Tail, ClientError> {
    let inbox = client.inbox(session).await?;
    let mut tail = Tail {
        messages: Vec::new(),
        whole: false,
        missing: 0,
        skipped: inbox.skipped,
        why: inbox.why,
        retry: None,
        inbox: inbox.items,
    };
    let mut limit = PAGE;
    let mut hidden = 0;
    let mut cursor: Option<String> = None;
    loop {
        let page = fitting_page(client, session, &mut limit, cursor.as_deref()).await?;
        if cursor.is_none() {
            tail.retry = page.retry;
        }
        if !tail.messages.iter().any(Message::is_assistant) {
            tail.missing += page.missing;
        }
        hidden += page.messages.skipped;
        tail.why = tail.why.or(page.messages.why);
        tail.messages.extend(page.messages.items);
        // Only an empty page has no cursor.
        tail.whole = page.count < limit || page.next.is_none();
        let reached = tail.messages.iter().any(Message::is_user);
        if tail.whole || reached || tail.messages.len() >= MOST || page.next == cursor {
            break;
        }
        cursor = page.next;
    }
    tail.skipped += hidden;
    tail.whole &= hidden == 0;
    tail.messages
        .sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    tail.messages = v2::fold(tail.messages);
    Ok(tail)
}

/// A page that is too large is asked again with fewer messages.
async fn fitting_page(
    client: &Client,
    session: &SessionId,
    limit: &mut usize,
    cursor: Option<&str>,
) -> Result<MessagePage, ClientError> {
    loop {
        match client.messages_v2(session, *limit, cursor).await {
            Err(ClientError::TooLarge { .. }) if *limit > 1 => *limit = (*limit / 4).max(1),
            other => return other,
        }
    }
}
