//! Where a server is, and with what password: told apart at once, so that the password cannot
//! travel inside a URL.

use super::ClientError;
use crate::net::tunnel::Place;
use reqwest::Url;
use std::fmt;
use std::net::IpAddr;

/// User and password for HTTP Basic.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// `opencode` unless the server was told otherwise.
    pub user: String,
    /// Never shown.
    pub password: String,
    /// Where the password was taken from, for people: `the URL`, `$HOME_PASSWORD`.
    pub source: String,
}

impl Credentials {
    /// With the default user when none is given.
    pub fn new(user: Option<&str>, password: impl Into<String>) -> Self {
        Self {
            user: user
                .filter(|it| !it.is_empty())
                .unwrap_or("opencode")
                .to_owned(),
            password: password.into(),
            source: "the URL".to_owned(),
        }
    }

    /// The same, taken from elsewhere.
    #[must_use]
    pub fn taken_from(self, source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            ..self
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({}, …)", self.user)
    }
}

/// A server's address without credentials, and the credentials that stood in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    url: Url,
    /// Where `ssh` goes first; the URL is then what is there.
    ssh: Option<Place>,
    /// From the URL's user and password, if it had a password.
    pub credentials: Option<Credentials>,
}

impl Address {
    /// Takes `http://user:password@host:port/prefix`, `host:port`, or `ssh://…` (see [`Place`]).
    ///
    /// # Errors
    /// [`ClientError::Address`], without repeating what was given (it may hold a password).
    pub fn parse(text: &str) -> Result<Self, ClientError> {
        let text = text.trim();
        if let Some(place) = text.strip_prefix("ssh://") {
            let (place, path) = Place::parse(place).map_err(wrong)?;
            let there = format!("http://{}/{path}", place.target());
            return Ok(Self {
                ssh: Some(place),
                ..Self::parse(&there)?
            });
        }
        let whole = if text.contains("://") {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        let mut url = Url::parse(&whole).map_err(|it| ClientError::Address(it.to_string()))?;
        match url.scheme() {
            "http" | "https" => {}
            _ => return Err(wrong("only http, https and ssh are spoken")),
        }
        let password = url.password().map(percent_decoded);
        let user = percent_decoded(url.username());
        let stripped = url.set_password(None).and_then(|()| url.set_username(""));
        stripped.map_err(|()| wrong("it has no host"))?;
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self {
            url,
            ssh: None,
            credentials: password.map(|it| Credentials::new(Some(&user), it)),
        })
    }

    /// For people: no credentials, no slash at the end.
    pub fn shown(&self) -> String {
        let path = self.url.path().trim_end_matches('/');
        match &self.ssh {
            Some(place) => format!("{}{path}", place.shown(!path.is_empty())),
            None => self.url.as_str().trim_end_matches('/').to_owned(),
        }
    }

    /// Where `ssh` has to go first.
    pub fn place(&self) -> Option<&Place> {
        self.ssh.as_ref()
    }

    /// The URL at a port of this machine that leads to the server.
    pub fn at_port(&self, port: u16) -> String {
        let path = self.url.path().trim_end_matches('/');
        format!("http://127.0.0.1:{port}{path}")
    }

    /// Whether it can be reached from beyond the machine that it is on, as far as the address tells.
    pub fn is_exposed(&self) -> bool {
        self.ssh.is_none() && !self.is_loopback()
    }

    /// Whether TLS is spoken with it.
    pub fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether the server is on this machine, as far as the address tells.
    pub fn is_loopback(&self) -> bool {
        if self.ssh.is_some() {
            return false;
        }
        let host = self.url.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
    }

    /// Host (without brackets) and port to connect to.
    pub fn host_and_port(&self) -> Option<(String, u16)> {
        let host = self.url.host_str()?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        Some((bare.to_owned(), self.url.port_or_known_default()?))
    }

    /// Whether both can lead to the same server: the same address, or this machine's by two names.
    pub fn may_be(&self, other: &Address) -> bool {
        let rest = |it: &Address| {
            let port = it.url.port_or_known_default();
            (port, it.url.path().trim_end_matches('/').to_owned())
        };
        let near = self.is_loopback() && other.is_loopback();
        self.shown() == other.shown() || (near && rest(self) == rest(other))
    }

    /// The URL of an endpoint. Segments and values are data and are encoded.
    pub(super) fn endpoint(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }
}

fn wrong(why: &str) -> ClientError {
    ClientError::Address(why.to_owned())
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = |it: &u8| char::from(*it).to_digit(16);
        let pair = match tail {
            [high, low, ..] if *first == b'%' => hex(high).zip(hex(low)),
            _ => None,
        };
        if let Some(byte) = pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_leaves_the_url_at_once() {
        let address = Address::parse("http://me:p%40ss@127.0.0.1:4096/").unwrap();
        assert_eq!(address.shown(), "http://127.0.0.1:4096");
        assert_eq!(
            address.credentials,
            Some(Credentials::new(Some("me"), "p@ss"))
        );
        assert!(!format!("{address:?}").contains("p@ss"));
        assert!(!format!("{address:?}").contains("p%40ss"));
        let bad = Address::parse("http://me:secret@").unwrap_err();
        assert!(!bad.to_string().contains("secret"));
    }

    #[test]
    fn what_ssh_leads_to_is_not_on_this_machine() {
        let address = Address::parse("ssh://me@nas/4097/code/").unwrap();
        assert_eq!(address.shown(), "ssh://me@nas/4097/code");
        assert!(!address.is_loopback() && !address.is_exposed());
        let url = address.endpoint(&["session"], &[]);
        assert_eq!(url.as_str(), "http://127.0.0.1:4097/code/session");
        assert_eq!(address.at_port(7), "http://127.0.0.1:7/code");
        let near = Address::parse("http://127.0.0.1:4097/code").unwrap();
        assert!(!address.may_be(&near) && !near.may_be(&address));
        assert!(Address::parse("ssh://localhost").unwrap().shown() == "ssh://localhost");
        let refused = Address::parse("ssh://me:secret@nas")
            .unwrap_err()
            .to_string();
        assert!(refused.contains("no password") && !refused.contains("secret"));
    }

    #[test]
    fn this_machine_has_several_names() {
        let is = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|it| Address::parse(it).unwrap());
            one.may_be(&other)
        };
        assert!(is("localhost:4096", "http://127.0.0.1:4096/"));
        assert!(is("http://[::1]/a", "localhost:80/a/"));
        assert!(is("http://nas:1/", "u:p@nas:1"));
        assert!(!is("localhost:4096", "127.0.0.1:4097"));
        assert!(!is("localhost:1/a", "localhost:1/b"));
        assert!(!is("localhost:1", "nas:1"));
    }

    #[test]
    fn hosts_and_paths() {
        for loopback in ["localhost:4096", "127.0.0.9:1", "http://[::1]:4096"] {
            assert!(
                Address::parse(loopback).unwrap().is_loopback(),
                "{loopback}"
            );
        }
        let remote = Address::parse("http://192.0.2.7:4096/prefix").unwrap();
        assert!(!remote.is_loopback());
        let url = remote.endpoint(&["session", "a/../b"], &[("directory", "/x y&z")]);
        assert_eq!(
            url.as_str(),
            "http://192.0.2.7:4096/prefix/session/a%2F..%2Fb?directory=%2Fx+y%26z"
        );
        assert!(Address::parse("ftp://x").is_err());
    }
}
