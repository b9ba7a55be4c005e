//! Proxies between us and a server.
//!
//! What it does: say which one the environment names for a server, and keep its password out of sight.
//! What it does not: read the environment. Invariants: what is on this machine, or behind `ssh`, is
//! reached straight; a server's password goes to no proxy that could read it unless the user named that
//! proxy for that server.

use super::{Address, ClientError, Credentials};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;
use std::fmt;

/// What the environment says; of what it does not say, nothing.
#[derive(Clone, Default)]
pub struct Proxies {
    /// `HTTP_PROXY`.
    pub http: Option<String>,
    /// `HTTPS_PROXY`.
    pub https: Option<String>,
    /// `ALL_PROXY`, for what neither of them is for.
    pub all: Option<String>,
    /// `NO_PROXY`: hosts, domains, addresses and networks that are reached straight.
    pub no: Option<String>,
}

/// The proxy that a server is reached through.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// May hold a password: never shown.
    url: String,
    /// Named for this very server.
    is_wanted: bool,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.shown())
    }
}

impl Proxies {
    /// The one for this server, if any.
    pub fn of(&self, address: &Address) -> Option<Proxy> {
        if !address.is_exposed() {
            return None;
        }
        let own = if address.is_tls() {
            &self.https
        } else {
            &self.http
        };
        let url = own.as_ref().or(self.all.as_ref())?;
        let no = self.no.clone().unwrap_or_default();
        let matcher = Matcher::builder().all(url.clone()).no(no).build();
        let to = address.shown().parse().ok()?;
        matcher.intercept(&to).map(|_| Proxy {
            url: url.clone(),
            is_wanted: false,
        })
    }
}

impl Proxy {
    /// The one that was named for a server.
    ///
    /// # Errors
    /// What it must look like.
    pub fn wanted(url: &str) -> Result<Self, String> {
        const FORM: &str = "must be \"none\" or like \"http://proxy:3128\"";
        let parsed = Url::parse(url).map_err(|_| FORM.to_owned())?;
        let known = matches!(parsed.scheme(), "http" | "https" | "socks5" | "socks5h");
        if !known || !parsed.has_host() {
            return Err(FORM.to_owned());
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            let why =
                "must hold no password: set HTTPS_PROXY or HTTP_PROXY in the environment instead";
            return Err(why.to_owned());
        }
        Ok(Self {
            url: url.to_owned(),
            is_wanted: true,
        })
    }

    /// Its host and port, without a password.
    pub fn shown(&self) -> String {
        let rest = self.url.split_once("://").map_or(&*self.url, |it| it.1);
        let host = rest.rsplit_once('@').map_or(rest, |it| it.1);
        crate::core::present::clean(host.trim_end_matches('/'))
    }

    /// Whether TLS is spoken with the proxy itself.
    pub(super) fn is_tls(&self) -> bool {
        self.url.starts_with("https://")
    }

    /// Why nothing may be sent through it.
    pub(super) fn refusal(
        &self,
        address: &Address,
        who: Option<&Credentials>,
    ) -> Option<ClientError> {
        if self.is_wanted || address.is_tls() || who.is_none() {
            return None;
        }
        Some(ClientError::Unreachable(format!(
            "the proxy {} of the environment could read the password, since http:// is not encrypted: \
             name the host in NO_PROXY or set proxy = \"none\" for this server to go straight, \
             or name the proxy there",
            self.shown()
        )))
    }

    /// What it looks like to those who send.
    pub(super) fn of_reqwest(&self) -> Result<reqwest::Proxy, ClientError> {
        let bad = |_| ClientError::Unreachable(format!("{} is no proxy", self.shown()));
        reqwest::Proxy::all(&self.url).map_err(bad)
    }

    /// A failure on the way is the proxy's as well.
    pub(super) fn blame(&self, error: ClientError) -> ClientError {
        let proxy = self.shown();
        match error {
            ClientError::Refused => {
                ClientError::Unreachable(format!("nothing listens at the proxy {proxy}"))
            }
            ClientError::Unreachable(why) => {
                ClientError::Unreachable(format!("through the proxy {proxy}: {why}"))
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies() -> Proxies {
        Proxies {
            http: Some("http://plain:1".to_owned()),
            https: Some("me:secret@safe:2".to_owned()),
            all: Some("socks5://all:3".to_owned()),
            no: Some("near.example,10.0.0.0/8".to_owned()),
        }
    }

    fn chosen(proxies: &Proxies, url: &str) -> Option<String> {
        let proxy = proxies.of(&Address::parse(url).unwrap());
        assert!(!format!("{proxy:?}").contains("secret"));
        proxy.map(|it| it.shown())
    }

    #[test]
    fn the_environment_names_one_by_scheme_and_never_for_this_machine() {
        let all = proxies();
        let only = Proxies {
            all: all.all.clone(),
            ..Proxies::default()
        };
        for (url, want, rest) in [
            ("http://far:4096", Some("plain:1"), Some("all:3")),
            ("https://far", Some("safe:2"), Some("all:3")),
            ("https://near.example", None, Some("all:3")),
            ("https://a.near.example", None, Some("all:3")),
            ("http://10.1.2.3:4096", None, Some("all:3")),
            ("http://127.0.0.1:4096", None, None),
            ("http://localhost:4096", None, None),
            ("https://[::1]:4096", None, None),
            ("ssh://far", None, None),
        ] {
            assert_eq!(chosen(&all, url).as_deref(), want, "{url}");
            assert_eq!(chosen(&only, url).as_deref(), rest, "{url}");
        }
    }

    #[test]
    fn a_password_goes_unencrypted_only_through_a_proxy_that_was_named_for_the_server() {
        let [plain, tls] = ["http://far:1", "https://far"].map(|it| Address::parse(it).unwrap());
        let who = Credentials::new(None, "secret");
        let found = proxies().of(&plain).unwrap();
        let refused = found.refusal(&plain, Some(&who)).unwrap().to_string();
        assert!(
            refused.contains("plain:1") && refused.contains("NO_PROXY"),
            "{refused}"
        );
        assert_eq!(found.refusal(&plain, None), None);
        assert_eq!(proxies().of(&tls).unwrap().refusal(&tls, Some(&who)), None);
        let wanted = Proxy::wanted("http://plain:1").unwrap();
        assert_eq!(wanted.refusal(&plain, Some(&who)), None);
        for bad in [
            "plain:1",
            "ftp://plain",
            "http://me:secret@plain:1",
            "http://",
        ] {
            let why = Proxy::wanted(bad).unwrap_err();
            assert!(
                why.starts_with("must") && !why.contains("secret"),
                "{bad}: {why}"
            );
        }
    }
}
