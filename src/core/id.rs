//! Names of things: newtypes over the ids that an OpenCode server gives.
//!
//! What it does: makes it impossible to pass a message id where a session id is meant, cheaply
//! cloneable (`Arc<str>`). What it does not: validate. An id is whatever the server said.
//! Invariant: identity of a session is always the pair [`SessionKey`], never a row number.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the text as it came.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }
            /// The text as it came.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), &*self.0)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::new(text)
            }
        }
    };
}

name!(
    /// `ses_…`. Descending with time of creation, so never sort by it.
    SessionId
);
name!(
    /// `msg_…`. Order messages by `time.created`, then by this.
    MessageId
);
name!(
    /// `prt_…`.
    PartId
);
name!(
    /// `per_…` of a permission or `que_…` of a question.
    AskId
);
name!(
    /// The id that a model gave its tool call; links an ask to its tool part.
    CallId
);
name!(
    /// An absolute directory on the server's machine; each has one instance (opencode-api: scope).
    Directory
);

/// The place of a server in the list that the user named. Stable for the life of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServerId(pub u16);

/// What a session is known by everywhere: two servers may hold the same session id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    /// Which server says it.
    pub server: ServerId,
    /// Which session.
    pub session: SessionId,
}

impl SessionKey {
    /// Joins the two halves.
    pub fn new(server: ServerId, session: SessionId) -> Self {
        Self { server, session }
    }
}

/// Number of a connection to one server; grows with each new connection. Inputs and answers of
/// an older epoch are counted and dropped.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct Epoch(pub u64);
