//! What sending a prompt again needs to read: the prompt itself, whole, and the models to choose from.

use super::{Client, ClientError};
use crate::core::id::{Directory, MessageId, SessionId};
use crate::core::wire::v1;
use crate::core::wire::{ModelRef, WholePrompt};

impl Client {
    /// A user message, whole. Starts the session's project.
    ///
    /// # Errors
    /// Any [`ClientError`]; 404 when it does not exist.
    pub async fn whole_prompt(
        &self,
        session: &SessionId,
        message: &MessageId,
    ) -> Result<WholePrompt, ClientError> {
        let raw = self.message_raw(session, message).await?;
        Ok(v1::decode_prompt(raw.get())?)
    }

    /// `GET /config/providers` of one directory: the models that a prompt can name there.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn models(&self, directory: &Directory) -> Result<Vec<ModelRef>, ClientError> {
        let query = [("directory", directory.as_str())];
        let response = self.get(&["config", "providers"], &query).await?;
        let body = self.list(response).await?;
        Ok(v1::decode_models(&body)?)
    }
}
