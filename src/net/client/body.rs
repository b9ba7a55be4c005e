//! Bodies of answers: read piece by piece, each with a time limit, all with a size limit.

use super::ClientError;
use crate::net::squeeze::Squeezer;
use bytes::Bytes;
use reqwest::Response;
use std::time::Duration;
use tokio::time::timeout;

/// Of an error's body.
pub(super) const PROBLEM_CAP: usize = 64 * 1024;
/// Of lists.
pub(super) const LIST_CAP: usize = 16 * 1024 * 1024;
/// Of a page of messages, after its long strings were shortened.
pub(super) const MESSAGES_CAP: usize = 8 * 1024 * 1024;

async fn piece(
    response: &mut Response,
    wait: Duration,
    so_far: usize,
) -> Result<Option<Bytes>, ClientError> {
    match timeout(wait, response.chunk()).await {
        Err(_) => Err(ClientError::Timeout(wait)),
        Ok(Err(error)) if error.is_timeout() => Err(ClientError::Timeout(wait)),
        Ok(Err(_)) => Err(ClientError::Cut { bytes: so_far }),
        Ok(Ok(chunk)) => Ok(chunk),
    }
}

/// The whole body as it is.
pub(super) async fn read(
    mut response: Response,
    wait: Duration,
    cap: usize,
) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    while let Some(chunk) = piece(&mut response, wait, body.len()).await? {
        if body.len() + chunk.len() > cap {
            return Err(ClientError::TooLarge { cap });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The whole body with its long strings shortened in flight.
pub(super) async fn read_squeezed(
    mut response: Response,
    wait: Duration,
    cap: usize,
) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    let mut squeezer = Squeezer::default();
    let mut received = 0;
    while let Some(chunk) = piece(&mut response, wait, received).await? {
        received += chunk.len();
        squeezer.feed(&chunk, &mut body);
        if body.len() > cap {
            return Err(ClientError::TooLarge { cap });
        }
    }
    Ok(body)
}

/// A body that is handed on piece by piece, unchanged.
#[derive(Debug)]
pub struct RawBody {
    response: Response,
    wait: Duration,
    received: usize,
}

impl RawBody {
    pub(super) fn new(response: Response, wait: Duration) -> Self {
        Self {
            response,
            wait,
            received: 0,
        }
    }

    /// The length that the server announced, where it did.
    pub fn announced(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The next piece; none at a proper end.
    ///
    /// # Errors
    /// [`ClientError::Timeout`], or [`ClientError::Cut`] when the connection ends in the middle.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ClientError> {
        let chunk = piece(&mut self.response, self.wait, self.received).await?;
        self.received += chunk.as_ref().map_or(0, Bytes::len);
        Ok(chunk)
    }

    /// All of it, up to a cap in bytes.
    ///
    /// # Errors
    /// As [`RawBody::chunk`], and [`ClientError::TooLarge`].
    pub async fn all(mut self, cap: usize) -> Result<Vec<u8>, ClientError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > cap {
                return Err(ClientError::TooLarge { cap });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}
