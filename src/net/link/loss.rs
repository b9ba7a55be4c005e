//! Why a connection is not, or no longer, there; in one clear line.

use crate::core::wire::LostCause;
use crate::net::client::ClientError;
use crate::net::stream::Ending;

/// The end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) cause: LostCause,
    pub(super) text: String,
}

impl Loss {
    pub(super) fn new(cause: LostCause, text: impl Into<String>) -> Self {
        Self {
            cause,
            text: text.into(),
        }
    }
}

impl From<ClientError> for Loss {
    fn from(error: ClientError) -> Self {
        let cause = match &error {
            ClientError::Refused => LostCause::Refused,
            ClientError::Unauthorized => LostCause::Unauthorized,
            ClientError::Timeout(_) | ClientError::Trickle { .. } => LostCause::Wedged,
            // The last one is no loss, and of no link: links only read.
            ClientError::Unreachable(_)
            | ClientError::Certificate(_)
            | ClientError::Cut { .. }
            | ClientError::Address(_)
            | ClientError::ReadOnly => LostCause::Unreachable,
            ClientError::Status { code, .. } if (502..=504).contains(code) => {
                LostCause::Unreachable
            }
            ClientError::ContentType { .. }
            | ClientError::Shape(_)
            | ClientError::Status { .. }
            | ClientError::TooLarge { .. } => LostCause::NotOpencode,
        };
        let text = match cause {
            LostCause::NotOpencode => format!("not an OpenCode server: {error}"),
            LostCause::Wedged => format!("the port is open, but there is {error}"),
            _ => error.to_string(),
        };
        Self { cause, text }
    }
}

impl From<Ending> for Loss {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::NotOpened(error) => error.into(),
            other => Loss::new(LostCause::Unreachable, other.to_string()),
        }
    }
}
