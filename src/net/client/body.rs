//! Bodies of answers: read piece by piece, each with a time limit, all with a size limit. One that
//! trickles, so that each piece is in time and the end never comes, is given up; a large one may
//! take as long as it moves.

use super::ClientError;
use crate::net::squeeze::Squeezer;
use bytes::Bytes;
use reqwest::Response;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Of an error's body.
pub(super) const PROBLEM_CAP: usize = 64 * 1024;
/// Of lists.
pub(super) const LIST_CAP: usize = 16 * 1024 * 1024;
/// Of a page of messages, after its long strings were shortened.
pub(super) const MESSAGES_CAP: usize = 8 * 1024 * 1024;

/// A body as a whole may take so many waits for a piece.
const WAITS: u32 = 6;
/// And a second more for so many bytes that came: slower than any way to a server that is of use.
const BYTES_A_SECOND: usize = 4 * 1024;

/// How far a body has come.
#[derive(Debug)]
struct Progress {
    /// For each piece.
    wait: Duration,
    begun: Instant,
    /// For the whole, whatever comes.
    grace: Duration,
    /// Bytes.
    received: usize,
}

impl Progress {
    /// The head has come. A short body has no more time than one piece.
    fn new(wait: Duration, cap: usize) -> Self {
        Self {
            wait,
            begun: Instant::now(),
            grace: if cap > PROBLEM_CAP {
                wait * WAITS
            } else {
                wait
            },
            received: 0,
        }
    }

    async fn piece(&mut self, response: &mut Response) -> Result<Option<Bytes>, ClientError> {
        let earned = u64::try_from(self.received / BYTES_A_SECOND).unwrap_or(u64::MAX);
        let whole = self.begun + self.grace + Duration::from_secs(earned);
        let next = Instant::now() + self.wait;
        let chunk = match timeout_at(next.min(whole), response.chunk()).await {
            Err(_) if whole < next && self.received > 0 => return Err(self.trickles()),
            Err(_) => return Err(ClientError::Timeout(self.wait)),
            Ok(Err(error)) if error.is_timeout() => return Err(ClientError::Timeout(self.wait)),
            Ok(Err(_)) => {
                return Err(ClientError::Cut {
                    bytes: self.received,
                });
            }
            Ok(Ok(chunk)) => chunk,
        };
        self.received += chunk.as_ref().map_or(0, Bytes::len);
        Ok(chunk)
    }

    fn trickles(&self) -> ClientError {
        ClientError::Trickle {
            bytes: self.received,
            after: self.begun.elapsed(),
        }
    }
}

/// The whole body as it is.
pub(super) async fn read(
    mut response: Response,
    wait: Duration,
    cap: usize,
) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    let mut progress = Progress::new(wait, cap);
    while let Some(chunk) = progress.piece(&mut response).await? {
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
    let mut progress = Progress::new(wait, cap);
    while let Some(chunk) = progress.piece(&mut response).await? {
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
    progress: Progress,
}

impl RawBody {
    pub(super) fn new(response: Response, wait: Duration) -> Self {
        Self {
            response,
            progress: Progress::new(wait, usize::MAX),
        }
    }

    /// The length that the server announced, where it did.
    pub fn announced(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The next piece; none at a proper end.
    ///
    /// # Errors
    /// [`ClientError::Timeout`], [`ClientError::Trickle`], or [`ClientError::Cut`] when the
    /// connection ends in the middle.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ClientError> {
        self.progress.piece(&mut self.response).await
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
