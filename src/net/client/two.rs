//! What is read of a server that speaks the API of OpenCode 2.x.
//!
//! What it does: one method per endpoint, all of them `GET`. What it does not: load a location. Of
//! these only [`Client::permission_requests`] and [`Client::forms`] would load the one that they
//! name, so whoever calls them asks [`Client::locations`] first.

use super::{AllSessions, Client, ClientError, body};
use crate::core::id::{Directory, SessionId};
use crate::core::wire::v1::{Decoded, Health, decode_info};
use crate::core::wire::v2::{self, MessagePage};
use crate::core::wire::{Ask, InboxItem, SessionInfo, Status};
use reqwest::Response;
use std::collections::BTreeMap;

impl Client {
    /// `GET /api/info` over a connection of its own: a sign of life of a 2.x server.
    ///
    /// # Errors
    /// Any [`ClientError`]; a timeout means wedged.
    pub async fn info(&self) -> Result<Health, ClientError> {
        let tried = self.try_one(&["api", "info"], decode_info, self.waits.read);
        Ok(tried.await?.0)
    }

    /// All pages of `GET /api/session`: all projects, archived ones too.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn sessions_v2(&self) -> Result<AllSessions, ClientError> {
        self.api_sessions().await
    }

    /// `GET /api/session/:id`.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when it does not exist.
    pub async fn session_v2(&self, session: &SessionId) -> Result<SessionInfo, ClientError> {
        let path = ["api", "session", session.as_str()];
        let body = self.list(self.get(&path, &[]).await?).await?;
        Ok(v2::decode_session(&body)?)
    }

    /// `GET /api/session/active`: who runs, in the whole process.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn active(&self) -> Result<Decoded<BTreeMap<SessionId, Status>>, ClientError> {
        let response = self.get(&["api", "session", "active"], &[]).await?;
        Ok(v2::decode_active(&self.list(response).await?)?)
    }

    /// `GET /api/debug/location`: the locations that are loaded now.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn locations(&self) -> Result<Decoded<Vec<Directory>>, ClientError> {
        let response = self.get(&["api", "debug", "location"], &[]).await?;
        Ok(v2::decode_locations(&self.list(response).await?)?)
    }

    /// `GET /api/permission/request` of one location. **Loads it.**
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn permission_requests(
        &self,
        location: &Directory,
    ) -> Result<Decoded<Vec<Ask>>, ClientError> {
        let path = ["api", "permission", "request"];
        let response = self.of_location(&path, location).await?;
        Ok(v2::decode_permissions(&self.list(response).await?)?)
    }

    /// `GET /api/form` of one location. **Loads it.**
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn forms(&self, location: &Directory) -> Result<Decoded<Vec<Ask>>, ClientError> {
        let response = self.of_location(&["api", "form"], location).await?;
        Ok(v2::decode_forms(&self.list(response).await?)?)
    }

    /// `GET /api/session/:id/message`: the newest `limit`, newest first; or the page of a cursor,
    /// which keeps the order. Long texts are shortened in flight.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when the session does not exist.
    pub async fn messages_v2(
        &self,
        session: &SessionId,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<MessagePage, ClientError> {
        let limit = limit.clamp(1, 200).to_string();
        let place = match cursor {
            Some(cursor) => ("cursor", cursor),
            None => ("order", "desc"),
        };
        let query = [("limit", limit.as_str()), place];
        let path = ["api", "session", session.as_str(), "message"];
        let response = self.get(&path, &query).await?;
        let body = body::read_squeezed(response, self.waits.read, body::MESSAGES_CAP).await?;
        Ok(v2::decode_messages(&body, session)?)
    }

    /// `GET /api/session/:id/inbox`: what waits to go in.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn inbox(&self, session: &SessionId) -> Result<Decoded<Vec<InboxItem>>, ClientError> {
        let path = ["api", "session", session.as_str(), "inbox"];
        let response = self.get(&path, &[]).await?;
        let body = body::read_squeezed(response, self.waits.read, body::MESSAGES_CAP).await?;
        Ok(v2::decode_inbox(&body)?)
    }

    async fn of_location(
        &self,
        path: &[&str],
        location: &Directory,
    ) -> Result<Response, ClientError> {
        let query = [("location[directory]", location.as_str())];
        self.get(path, &query).await
    }
}
