//! Everything that is read: session lists, status, asks, messages.
//!
//! What it does: one method per endpoint, and the walk through all pages of the session list. What
//! it does not: protect a project from being started; naming a directory or a session that is not
//! loaded starts it (all but [`Client::sessions_page`], which starts nothing).

use super::{Ask as Request, Client, ClientError, RawBody, body};
use crate::core::id::{Directory, MessageId, SessionId};
use crate::core::wire::v1::{self, Decoded, MessageRows, SessionPage};
use crate::core::wire::{Ask, SessionInfo, Status, TodoItem};
use reqwest::{Method, Response};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashSet};

/// Rows per page of a session list.
const PAGE: &str = "1000";
/// No server has more pages than this; a list that does not end is not one.
const MAX_PAGES: usize = 200;

/// A walk through all pages of a session list.
#[derive(Debug, Clone, PartialEq)]
pub struct AllSessions {
    /// The rows, each session once.
    pub rows: Decoded<Vec<SessionInfo>>,
    /// Nothing is missing: what is not in it does not exist any more.
    pub complete: bool,
    /// It is of all projects, not of one directory.
    pub everywhere: bool,
}

/// A page of messages.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesPage {
    /// Ascending.
    pub messages: MessageRows,
    /// For `before` of the next older page; none at the beginning of the session.
    pub next: Option<String>,
}

/// A page of messages as bytes, for export.
#[derive(Debug)]
pub struct RawPage {
    /// The JSON array, unchanged.
    pub body: RawBody,
    /// For `before` of the next older page; none at the beginning of the session.
    pub next: Option<String>,
}

impl Client {
    /// A page of `GET /api/session`: all projects, archived ones too, newest first. Starts nothing.
    ///
    /// # Errors
    /// Any [`ClientError`]; before 1.14 the endpoint is missing.
    pub async fn sessions_page(&self, cursor: Option<&str>) -> Result<SessionPage, ClientError> {
        let mut query = vec![("limit", PAGE)];
        query.extend(cursor.map(|it| ("cursor", it)));
        let response = self.get(&["api", "session"], &query).await?;
        Ok(v1::decode_api_sessions(&self.list(response).await?)?)
    }

    /// All sessions of all projects, by the gentlest endpoint that this server has: `/api/session`
    /// (1.14), else `/experimental/session` (1.2, starts the cwd), else the cwd's own `/session`.
    ///
    /// # Errors
    /// Any [`ClientError`] of the last endpoint tried.
    pub async fn all_sessions(&self) -> Result<AllSessions, ClientError> {
        match self.api_sessions().await {
            Err(error) if error.is_missing() => {}
            other => return other,
        }
        match self.experimental_sessions().await {
            Err(error) if error.is_missing() => {}
            other => return other,
        }
        self.directory_sessions(None).await
    }

    pub(super) async fn api_sessions(&self) -> Result<AllSessions, ClientError> {
        let mut gathered = Gathered::default();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = self.sessions_page(cursor.as_deref()).await?;
            let ended = page.count == 0 || page.next.is_none() || page.next == cursor;
            gathered.add(page.rows);
            if ended {
                return Ok(gathered.finish(true));
            }
            cursor = page.next;
        }
        Ok(gathered.finish(false))
    }

    async fn experimental_sessions(&self) -> Result<AllSessions, ClientError> {
        let mut gathered = Gathered::default();
        let mut cursor: Option<i64> = None;
        // Rows of one millisecond that filled a page: those beyond it cannot be asked for here.
        let (mut lost, mut ended) = (false, false);
        for _ in 0..MAX_PAGES {
            let from = cursor.map(|it| it.to_string());
            let mut query = vec![("limit", PAGE), ("archived", "true")];
            query.extend(from.as_deref().map(|it| ("cursor", it)));
            let response = self.get(&["experimental", "session"], &query).await?;
            let next: Option<i64> = next_cursor(&response).and_then(|it| it.parse().ok());
            let fresh = gathered.add(v1::decode_sessions(&self.list(response).await?)?);
            ended = next.is_none() || (fresh == 0 && cursor == next);
            if ended {
                break;
            }
            // Rows of the same millisecond at the edge of a page would be skipped.
            let step = i64::from(fresh > 0);
            lost |= fresh == 0;
            cursor = next.map(|next| next.saturating_add(step));
        }
        let mut all = gathered.finish(ended && !lost);
        all.everywhere = !lost;
        Ok(all)
    }

    /// `GET /session` of one directory (none: the server's cwd). Never complete.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn directory_sessions(
        &self,
        directory: Option<&Directory>,
    ) -> Result<AllSessions, ClientError> {
        let mut query = vec![("limit", PAGE)];
        query.extend(directory.map(|it| ("directory", it.as_str())));
        let response = self.get(&["session"], &query).await?;
        let mut gathered = Gathered::default();
        gathered.add(v1::decode_sessions(&self.list(response).await?)?);
        let mut all = gathered.finish(false);
        all.everywhere = false;
        Ok(all)
    }

    /// `GET /project` without a directory: the folders of all projects, by name. Starts the cwd
    /// only.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn projects(&self) -> Result<Decoded<Vec<Directory>>, ClientError> {
        let response = self.get(&["project"], &[]).await?;
        Ok(v1::decode_projects(&self.list(response).await?)?)
    }

    /// `GET /path` without a directory: the server's cwd. Starts the cwd only.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn path(&self) -> Result<Directory, ClientError> {
        let response = self.get(&["path"], &[]).await?;
        Ok(v1::decode_path(&self.list(response).await?)?)
    }

    /// `GET /session/status` of one directory (none: the server's cwd).
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn status(
        &self,
        directory: Option<&Directory>,
    ) -> Result<Decoded<BTreeMap<SessionId, Status>>, ClientError> {
        let body = self.of_directory(&["session", "status"], directory).await?;
        Ok(v1::decode_status(&body)?)
    }

    /// `GET /permission` of one directory (none: the server's cwd). Answers 400 while some kinds of
    /// permission are pending.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn permissions(
        &self,
        directory: Option<&Directory>,
    ) -> Result<Decoded<Vec<Ask>>, ClientError> {
        let body = self.of_directory(&["permission"], directory).await?;
        Ok(v1::decode_permissions(&body)?)
    }

    /// `GET /question` of one directory (none: the server's cwd).
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn questions(
        &self,
        directory: Option<&Directory>,
    ) -> Result<Decoded<Vec<Ask>>, ClientError> {
        let body = self.of_directory(&["question"], directory).await?;
        Ok(v1::decode_questions(&body)?)
    }

    /// `GET /mcp` of one directory (none: the server's cwd): the names of its MCP servers. May start
    /// them where no run has done so yet.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn mcp(&self, directory: Option<&Directory>) -> Result<Vec<String>, ClientError> {
        let body = self.of_directory(&["mcp"], directory).await?;
        Ok(v1::decode_mcp(&body)?)
    }

    /// `GET /session/:id`. Starts the session's project. For one that was deleted the server looks
    /// at `directory` instead (none: its cwd).
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when it does not exist.
    pub async fn session(
        &self,
        session: &SessionId,
        directory: Option<&Directory>,
    ) -> Result<SessionInfo, ClientError> {
        let path = ["session", session.as_str()];
        let body = self.of_directory(&path, directory).await?;
        Ok(v1::decode_session(&body)?)
    }

    /// `GET /session/:id/children`: its direct subagents, archived ones too. Starts the
    /// session's project.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when it does not exist.
    pub async fn children(
        &self,
        session: &SessionId,
        directory: Option<&Directory>,
    ) -> Result<Decoded<Vec<SessionInfo>>, ClientError> {
        let path = ["session", session.as_str(), "children"];
        let body = self.of_directory(&path, directory).await?;
        Ok(v1::decode_sessions(&body)?)
    }

    /// `GET /session/:id/todo`: what its agent means to do. Starts the session's project.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when it does not exist.
    pub async fn todo(&self, session: &SessionId) -> Result<Decoded<Vec<TodoItem>>, ClientError> {
        let path = ["session", session.as_str(), "todo"];
        let body = self.list(self.get(&path, &[]).await?).await?;
        Ok(v1::decode_todo(&body)?)
    }

    /// The body of `GET /session/:id`, unchanged JSON, for export.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn session_raw(&self, session: &SessionId) -> Result<Vec<u8>, ClientError> {
        let response = self.get(&["session", session.as_str()], &[]).await?;
        self.list(response).await
    }

    /// `GET /session/:id/message`: the newest `limit` before a cursor; 0: all, for servers before 1.2,
    /// which give no cursor. Texts longer than [`crate::net::squeeze::LITERAL_LIMIT`] are shortened in
    /// flight.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when the session does not exist.
    pub async fn messages_page(
        &self,
        session: &SessionId,
        limit: usize,
        before: Option<&str>,
    ) -> Result<MessagesPage, ClientError> {
        let response = self
            .messages_response(session, limit, before, false)
            .await?;
        let next = next_cursor(&response);
        let body = body::read_squeezed(response, self.waits.read, body::MESSAGES_CAP).await?;
        Ok(MessagesPage {
            messages: v1::decode_messages(&body, session)?,
            next,
        })
    }

    /// As [`Client::messages_page`], as bytes and unchanged.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn messages_page_raw(
        &self,
        session: &SessionId,
        limit: usize,
        before: Option<&str>,
    ) -> Result<RawPage, ClientError> {
        let response = self.messages_response(session, limit, before, true).await?;
        Ok(RawPage {
            next: next_cursor(&response),
            body: RawBody::new(response, self.waits.read),
        })
    }

    /// One message with all of its parts as the server has it, for repairing a part.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn message_raw(
        &self,
        session: &SessionId,
        message: &MessageId,
    ) -> Result<Box<RawValue>, ClientError> {
        let path = ["session", session.as_str(), "message", message.as_str()];
        let body = self.list(self.get(&path, &[]).await?).await?;
        let raw = serde_json::from_slice(&body).map_err(|it| v1::WireError::Shape {
            expected: "a message",
            why: it.to_string(),
        })?;
        Ok(raw)
    }

    async fn messages_response(
        &self,
        session: &SessionId,
        limit: usize,
        before: Option<&str>,
        bulk: bool,
    ) -> Result<Response, ClientError> {
        let some = limit.to_string();
        let mut query = Vec::new();
        query.extend((limit > 0).then_some(("limit", some.as_str())));
        query.extend(before.map(|it| ("before", it)));
        let path = ["session", session.as_str(), "message"];
        let ask = self.ask(Method::GET, &path, &query);
        self.json(Request { bulk, ..ask }).await
    }

    async fn of_directory(
        &self,
        path: &[&str],
        directory: Option<&Directory>,
    ) -> Result<Vec<u8>, ClientError> {
        let query: Vec<_> = directory
            .map(|it| ("directory", it.as_str()))
            .into_iter()
            .collect();
        let response = self.get(path, &query).await?;
        self.list(response).await
    }

    pub(super) async fn list(&self, response: Response) -> Result<Vec<u8>, ClientError> {
        body::read(response, self.waits.read, body::LIST_CAP).await
    }
}

fn next_cursor(response: &Response) -> Option<String> {
    let value = response.headers().get("x-next-cursor")?;
    value.to_str().ok().map(str::to_owned)
}

/// Rows of several pages, each session once.
#[derive(Default)]
struct Gathered {
    rows: Vec<SessionInfo>,
    seen: HashSet<SessionId>,
    skipped: usize,
    why: Option<String>,
}

impl Gathered {
    /// Returns how many were new.
    fn add(&mut self, page: Decoded<Vec<SessionInfo>>) -> usize {
        self.skipped += page.skipped;
        self.why = self.why.take().or(page.why);
        let before = self.rows.len();
        let seen = &mut self.seen;
        self.rows.extend(
            page.items
                .into_iter()
                .filter(|it| seen.insert(it.id.clone())),
        );
        self.rows.len() - before
    }

    /// A row that did not decode still exists, so such a list is not complete.
    fn finish(self, complete: bool) -> AllSessions {
        AllSessions {
            complete: complete && self.skipped == 0,
            everywhere: true,
            rows: Decoded {
                items: self.rows,
                skipped: self.skipped,
                why: self.why,
            },
        }
    }
}
