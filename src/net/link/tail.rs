//! The newest messages of one session, back to the last user message.
//!
//! What it does: page backwards, in bounded memory. What it does not: read a whole transcript.

use crate::core::id::SessionId;
use crate::core::wire::Message;
use crate::net::client::{Client, ClientError, MessagesPage};

/// Messages in one request.
pub(super) const PAGE: usize = 20;
/// A tail is never longer, wherever the last user message is.
const MOST: usize = 200;

/// A tail.
pub(super) struct Tail {
    /// Ascending.
    pub(super) messages: Vec<Message>,
    /// It begins with the session's first message, and nothing was left out.
    pub(super) whole: bool,
    /// Those that did not decode and belong to the newest answer, or come after it.
    pub(super) missing: usize,
    /// Messages or parts that did not decode.
    pub(super) skipped: usize,
    /// Why the first of them did not.
    pub(super) why: Option<String>,
}

/// Reads it. Starts the session's project.
pub(super) async fn read(client: &Client, session: &SessionId) -> Result<Tail, ClientError> {
    let mut limit = PAGE;
    let mut tail = Tail {
        messages: Vec::new(),
        whole: false,
        missing: 0,
        skipped: 0,
        why: None,
    };
    let mut before: Option<String> = None;
    loop {
        let page = fitting_page(client, session, &mut limit, before.as_deref()).await?;
        if !tail.messages.iter().any(Message::is_assistant) {
            tail.missing += page.messages.missing;
        }
        let rows = page.messages.rows;
        tail.skipped += rows.skipped;
        tail.why = tail.why.or(rows.why);
        let mut older = rows.items;
        older.append(&mut tail.messages);
        tail.messages = older;
        tail.whole = page.next.is_none();
        let reached = tail.messages.iter().any(Message::is_user);
        if tail.whole || reached || tail.messages.len() >= MOST || page.next == before {
            break;
        }
        before = page.next;
    }
    tail.whole &= tail.skipped == 0;
    tail.messages
        .sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    Ok(tail)
}

/// A page that is too large is asked again with fewer messages.
async fn fitting_page(
    client: &Client,
    session: &SessionId,
    limit: &mut usize,
    before: Option<&str>,
) -> Result<MessagesPage, ClientError> {
    loop {
        match client.messages_page(session, *limit, before).await {
            Err(ClientError::TooLarge { .. }) if *limit > 1 => *limit = (*limit / 4).max(1),
            other => return other,
        }
    }
}
