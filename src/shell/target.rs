//! A server as the user named it, with what is needed to speak to it.
//!
//! Invariant: `url` never holds credentials, and no `Debug` or `Display` of anything here shows a
//! password.

use std::fmt;
use std::net::IpAddr;

/// A password. Shown as `***` by every formatter.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
    /// The text itself, for the request that needs it and nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// User and password for HTTP Basic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// `opencode` unless said otherwise.
    pub user: String,
    /// Never shown.
    pub password: Secret,
}

/// A server to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Shown everywhere: from the configuration, else `host:port`.
    pub name: String,
    /// Base URL without credentials and without a slash at its end.
    pub url: String,
    /// If any are known.
    pub login: Option<Login>,
    /// Only these directories; empty: all.
    pub directories: Vec<String>,
}

/// Whether a URL's host is this machine.
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_from_others() {
        for host in ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "LOCALHOST"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["192.168.1.2", "nas", "localhost.evil.example", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let login = Login {
            user: "me".to_owned(),
            password: Secret::new("hunter2"),
        };
        assert!(!format!("{login:?}").contains("hunter2"));
    }
}
