//! Everything that changes something.
//!
//! What it does: one method per endpoint; success means that the server accepted it, nothing more
//! (`abort` answers 200 for ids that do not exist). What it does not: verify; only reading again
//! proves anything.

use super::{Ask, Client, ClientError, body};
use crate::core::id::{AskId, Directory, MessageId, PartId, SessionId};
use crate::core::wire::{SessionInfo, v1};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// An action may wait for a run to wind down.
const ACTION_WAIT: Duration = Duration::from_secs(10);

/// An answer to a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionReply {
    /// This once.
    Once,
    /// From now on, for the ask's `always` patterns.
    Always,
    /// No. Without a message the turn ends; with one the agent goes on.
    Reject(Option<String>),
}

impl Client {
    /// `POST /session/:id/abort`. Always answers `true`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn abort(
        &self,
        session: &SessionId,
        directory: Option<&Directory>,
    ) -> Result<(), ClientError> {
        let path = ["session", session.as_str(), "abort"];
        self.act(Method::POST, &path, directory, None).await
    }

    /// `POST /question/:id/reject`. Ends the turn; harmless on a ghost.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when it is not pending in that directory.
    pub async fn reject_question(
        &self,
        ask: &AskId,
        directory: &Directory,
    ) -> Result<(), ClientError> {
        let path = ["question", ask.as_str(), "reject"];
        self.act(Method::POST, &path, Some(directory), None).await
    }

    /// `POST /question/:id/reply`: one list of labels (or free text) per question.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when it is not pending in that directory.
    pub async fn reply_question(
        &self,
        ask: &AskId,
        directory: &Directory,
        answers: &[Vec<String>],
    ) -> Result<(), ClientError> {
        let path = ["question", ask.as_str(), "reply"];
        let json = json!({ "answers": answers });
        self.act(Method::POST, &path, Some(directory), Some(json))
            .await
    }

    /// `POST /permission/:id/reply`.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when it is not pending in that directory.
    pub async fn reply_permission(
        &self,
        ask: &AskId,
        directory: &Directory,
        reply: &PermissionReply,
    ) -> Result<(), ClientError> {
        let json = match reply {
            PermissionReply::Once => json!({"reply": "once"}),
            PermissionReply::Always => json!({"reply": "always"}),
            PermissionReply::Reject(None) => json!({"reply": "reject"}),
            PermissionReply::Reject(Some(it)) => json!({"reply": "reject", "message": it}),
        };
        let path = ["permission", ask.as_str(), "reply"];
        self.act(Method::POST, &path, Some(directory), Some(json))
            .await
    }

    /// [`Client::reply_permission`] with a plain no. Rejects the session's other permissions too.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn reject_permission(
        &self,
        ask: &AskId,
        directory: &Directory,
    ) -> Result<(), ClientError> {
        let reply = PermissionReply::Reject(None);
        self.reply_permission(ask, directory, &reply).await
    }

    /// `POST /session/:id/prompt_async`: 204 guarantees nothing. `model` is `(provider, model)`; without
    /// one the session's last is taken, but without an agent the server's default (1.18.33).
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn prompt(
        &self,
        session: &SessionId,
        text: &str,
        agent: Option<&str>,
        model: Option<(&str, &str)>,
    ) -> Result<(), ClientError> {
        let mut json = json!({"parts": [{"type": "text", "text": text}]});
        if let Some(agent) = agent {
            json["agent"] = json!(agent);
        }
        if let Some((provider, model)) = model {
            json["model"] = json!({"providerID": provider, "modelID": model});
        }
        let path = ["session", session.as_str(), "prompt_async"];
        self.act(Method::POST, &path, None, Some(json)).await
    }

    /// `PATCH /session/:id/message/:id/part/:id` with the whole part. Never while busy.
    ///
    /// # Errors
    /// Any [`ClientError`]; 400 names the missing key.
    pub async fn patch_part(
        &self,
        session: &SessionId,
        message: &MessageId,
        part: &PartId,
        json: Value,
    ) -> Result<(), ClientError> {
        let path = [
            "session",
            session.as_str(),
            "message",
            message.as_str(),
            "part",
            part.as_str(),
        ];
        self.act(Method::PATCH, &path, None, Some(json)).await
    }

    /// `POST /session/:id/fork`: a new session without the messages from that id on.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn fork(
        &self,
        session: &SessionId,
        before: Option<&MessageId>,
    ) -> Result<SessionInfo, ClientError> {
        let json = before.map_or_else(|| json!({}), |it| json!({"messageID": it.as_str()}));
        let path = ["session", session.as_str(), "fork"];
        let ask = Ask {
            json: Some(json),
            wait: ACTION_WAIT,
            ..self.ask(Method::POST, &path, &[])
        };
        let response = self.json(ask).await?;
        let body = body::read(response, self.waits.read, body::LIST_CAP).await?;
        Ok(v1::decode_session(&body)?)
    }

    /// `POST /session/:id/unrevert`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn unrevert(&self, session: &SessionId) -> Result<(), ClientError> {
        let path = ["session", session.as_str(), "unrevert"];
        self.act(Method::POST, &path, None, None).await
    }

    /// `POST /instance/dispose`: aborts every run of that directory and clears its asks.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn dispose(&self, directory: &Directory) -> Result<(), ClientError> {
        let path = ["instance", "dispose"];
        self.act(Method::POST, &path, Some(directory), None).await
    }

    /// A web page as answer means that the endpoint does not exist; 204 has no content type.
    async fn act(
        &self,
        method: Method,
        path: &[&str],
        directory: Option<&Directory>,
        json: Option<Value>,
    ) -> Result<(), ClientError> {
        let query: Vec<_> = directory
            .map(|it| ("directory", it.as_str()))
            .into_iter()
            .collect();
        let ask = Ask {
            json,
            wait: ACTION_WAIT,
            ..self.ask(method, path, &query)
        };
        let response = self.successful(ask).await?;
        if response.status().as_u16() == 204 {
            return Ok(());
        }
        super::require_type(response, "application/json", "JSON").map(|_| ())
    }
}
