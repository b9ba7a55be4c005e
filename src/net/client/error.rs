//! Why a request gave nothing, in words that a person can act on.
//!
//! What it does: name the cause. What it does not: carry URLs, headers or passwords.

use std::error::Error as _;
use std::io;
use std::time::Duration;

/// Fits after "failed to read … : ". One line, no credentials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The address is not one.
    #[error("not a usable address: {0}")]
    Address(String),
    /// The client is only reading: nothing was sent.
    #[error("nothing was sent: this server is read only")]
    ReadOnly,
    /// Nobody listens at the port.
    #[error("connection refused: nothing listens there")]
    Refused,
    /// No route, no such host, the connection broke before an answer.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// TLS did not come about: what is wrong with the certificate, and what to do.
    #[error("not trusted: {0}")]
    Certificate(String),
    /// Nothing came for so long.
    #[error("no answer within {:.1} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// Something comes all the time, but no end of it.
    #[error("no whole answer within {:.1} s ({bytes} bytes came)", .after.as_secs_f32())]
    Trickle {
        /// How much had come.
        bytes: usize,
        /// Since the head.
        after: Duration,
    },
    /// 401.
    #[error("user or password missing or wrong (401)")]
    Unauthorized,
    /// 200 with a web page or another type of content: no such endpoint, or no OpenCode.
    #[error("answered {found} instead of {expected}")]
    ContentType {
        /// The content type, or `no content type`.
        found: String,
        /// What was needed.
        expected: &'static str,
    },
    /// JSON of another shape.
    #[error("{0}")]
    Shape(#[from] crate::core::wire::v1::WireError),
    /// Another status than success.
    #[error("answered {code}{}", said(.message.as_deref()))]
    Status {
        /// The HTTP status.
        code: u16,
        /// What the server said about it.
        message: Option<String>,
    },
    /// The connection ended in the middle of a body.
    #[error("the answer was cut off after {bytes} bytes")]
    Cut {
        /// How much had come.
        bytes: usize,
    },
    /// More than is read of such an answer.
    #[error("the answer is larger than {cap} bytes")]
    TooLarge {
        /// The limit.
        cap: usize,
    },
}

fn said(message: Option<&str>) -> String {
    message.map_or_else(String::new, |it| format!(": {it}"))
}

impl ClientError {
    /// The HTTP status, if there was an answer that says one.
    pub fn status(&self) -> Option<u16> {
        match self {
            ClientError::Status { code, .. } => Some(*code),
            ClientError::Unauthorized => Some(401),
            ClientError::ContentType { .. } | ClientError::Shape(_) => Some(200),
            _ => None,
        }
    }

    /// Whether the server says that the thing itself does not exist: 404 with words of OpenCode's
    /// (`NotFoundError`). A bare 404 is of something that does not know the endpoint.
    pub fn is_not_found(&self) -> bool {
        matches!(
            self,
            ClientError::Status {
                code: 404,
                message: Some(_)
            }
        )
    }

    /// Whether the server does not know this endpoint (rather than failing at it).
    pub fn is_missing(&self) -> bool {
        match self {
            ClientError::ContentType { .. } | ClientError::Shape(_) => true,
            ClientError::Status { code, .. } => matches!(code, 404 | 405 | 500 | 501),
            _ => false,
        }
    }

    /// Whether the answer did not come in time.
    pub fn is_late(&self) -> bool {
        matches!(self, ClientError::Timeout(_) | ClientError::Trickle { .. })
    }

    /// Whether the server itself is gone, so that asking for something else is in vain.
    pub fn is_loss(&self) -> bool {
        matches!(
            self,
            ClientError::Refused | ClientError::Unreachable(_) | ClientError::Certificate(_)
        )
    }

    /// From sending a request.
    pub(super) fn from_send(error: &reqwest::Error, connect: Duration) -> Self {
        if root_io(error).is_some_and(|it| it == io::ErrorKind::ConnectionRefused) {
            return ClientError::Refused;
        }
        if let Some(trouble) = super::trust::trouble(error) {
            return ClientError::Certificate(trouble);
        }
        if error.is_timeout() {
            let wait = connect.as_secs_f32();
            return ClientError::Unreachable(format!("no connection within {wait:.1} s"));
        }
        if error.is_builder() {
            return ClientError::Address(innermost(error));
        }
        ClientError::Unreachable(innermost(error))
    }
}

/// The kind of the I/O error somewhere behind it.
fn root_io(error: &reqwest::Error) -> Option<io::ErrorKind> {
    let mut source = error.source();
    while let Some(it) = source {
        if let Some(io) = it.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        source = it.source();
    }
    None
}

/// The words of the last cause; never the URL, which only the outermost carries.
fn innermost(error: &reqwest::Error) -> String {
    let mut text = String::from("the request failed");
    let mut source = error.source();
    while let Some(it) = source {
        text = it.to_string();
        source = it.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
