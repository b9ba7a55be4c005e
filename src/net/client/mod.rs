//! Requests to one server: one method per endpoint.
//!
//! What it does: send, check status, content type and shape before anything is believed, decode.
//! What it does not: retry, or decide what may be asked (that is `link::inspect`). Any path may
//! answer 200 with a web page, so a 200 alone means nothing. Invariants: every wait has a limit;
//! redirects are not followed, and a proxy is used only where it cannot read the password or was named for
//! that server, so the password goes to no other host; a client that is only reading sends no method but GET.

mod act;
mod address;
mod body;
mod error;
mod probe;
mod prompt;
mod proxy;
mod read;
mod route;
mod sent;
mod trust;
mod two;

pub use act::PermissionReply;
pub use address::{Address, Credentials};
pub use body::RawBody;
pub use error::ClientError;
pub use probe::Identity;
pub use proxy::{Proxies, Proxy};
pub use read::{AllSessions, MessagesPage, RawPage};
pub use route::Route;
pub use sent::Sent;
pub use trust::Trust;

use crate::core::time::Clock;
use crate::net::tunnel::Tunnel;
use reqwest::{Method, RequestBuilder, Response, header};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// For a connection.
    pub connect: Duration,
    /// For the head of an answer, and for each piece of its body; six of it for a whole body, and
    /// longer while it moves.
    pub read: Duration,
    /// For the head of an answer while finding out what a server is.
    pub probe: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(2),
            read: Duration::from_secs(5),
            probe: Duration::from_secs(2),
        }
    }
}

/// Between two pings of an HTTP/2 connection.
const PING: Duration = Duration::from_secs(20);

/// A client of one server. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    pooled: reqwest::Client,
    fresh: reqwest::Client,
    address: Address,
    tunnel: Option<Tunnel>,
    proxy: Option<Proxy>,
    credentials: Option<Credentials>,
    waits: Waits,
    clock: Clock,
    read_only: bool,
    exposed: bool,
    /// Sent so far, by all clones.
    sent: Arc<Sent>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({})", self.address.shown())
    }
}

/// Whether a kept connection may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    /// Yes.
    Pool,
    /// No: a request sent right after the port opened can hang for ever on its connection.
    Fresh,
}

/// A request in words.
struct Ask<'a> {
    method: Method,
    via: Via,
    wait: Duration,
    path: &'a [&'a str],
    query: &'a [(&'a str, &'a str)],
    json: Option<serde_json::Value>,
    /// A large body that is handed on: on this machine, packing and unpacking it costs more than it
    /// saves.
    bulk: bool,
}

impl Client {
    /// For the server at this address. `credentials` win over those in the address.
    ///
    /// # Errors
    /// [`ClientError::Address`] when no client can be made.
    pub fn new(
        address: Address,
        credentials: Option<Credentials>,
        waits: Waits,
        clock: Clock,
    ) -> Result<Self, ClientError> {
        Self::by(address, credentials, waits, clock, &Route::default())
    }

    /// The same, by a way of its own.
    ///
    /// # Errors
    /// As [`Client::new`], and when the system's certificates cannot be read.
    pub fn by(
        address: Address,
        credentials: Option<Credentials>,
        waits: Waits,
        clock: Clock,
        route: &Route,
    ) -> Result<Self, ClientError> {
        let proxy = route.proxy.clone();
        let proxy_is_tls = proxy.as_ref().is_some_and(Proxy::is_tls);
        let tls = if address.is_tls() || proxy_is_tls {
            route.trust.config()?
        } else {
            Trust::nobody()?
        };
        let tunnel = tunnel(&address, route)?;
        let build = |idle: usize| {
            let mut builder = reqwest::Client::builder();
            if let Some(tunnel) = &tunnel {
                builder = builder.unix_socket(tunnel.socket());
            }
            // The environment is not asked: it is read elsewhere.
            builder = match &proxy {
                Some(proxy) => builder.proxy(proxy.of_reqwest()?),
                None => builder.no_proxy(),
            };
            builder
                .tls_backend_preconfigured(tls.clone())
                // Of HTTP/2: what a middle box forgot is noticed, also while nothing is asked.
                .http2_keep_alive_interval(PING)
                .http2_keep_alive_timeout(waits.read)
                .http2_keep_alive_while_idle(true)
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(waits.connect)
                .pool_max_idle_per_host(idle)
                .pool_idle_timeout(Duration::from_secs(5))
                .tcp_keepalive(Duration::from_secs(30))
                .user_agent(concat!("ocwatch/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|_| ClientError::Address("no HTTP client can be made".to_owned()))
        };
        Ok(Self {
            pooled: build(8)?,
            fresh: build(0)?,
            credentials: credentials.or_else(|| address.credentials.clone()),
            address,
            tunnel,
            proxy,
            waits,
            clock,
            read_only: false,
            exposed: false,
            sent: Arc::default(),
        })
    }

    /// The same, but it sends nothing that could change something.
    #[must_use]
    pub fn only_reading(self) -> Self {
        Self {
            read_only: true,
            ..self
        }
    }

    /// The same; other machines can reach the server too, although its address is of this one.
    #[must_use]
    pub fn exposed(self) -> Self {
        Self {
            exposed: true,
            ..self
        }
    }

    /// How many requests were sent, by this client and its clones.
    pub fn requests(&self) -> u64 {
        self.sent.counts().map(|(_, many)| many).sum()
    }

    /// The same, by what they were about.
    pub fn sent(&self) -> &Sent {
        &self.sent
    }

    /// Where it is, without credentials.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The way to it, if `ssh` is one.
    pub fn tunnel(&self) -> Option<&Tunnel> {
        self.tunnel.as_ref()
    }

    /// What it says to the server of who it is.
    pub fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    fn request(&self, ask: &Ask) -> RequestBuilder {
        let http = match ask.via {
            Via::Pool => &self.pooled,
            Via::Fresh => &self.fresh,
        };
        let url = self.address.endpoint(ask.path, ask.query);
        let mut request = http.request(ask.method.clone(), url);
        if let Some(it) = &self.credentials {
            request = request.basic_auth(&it.user, Some(&it.password));
        }
        if ask.bulk && self.address.is_loopback() {
            request = request.header(header::ACCEPT_ENCODING, "identity");
        }
        match &ask.json {
            Some(json) => request.json(json),
            None => request,
        }
    }

    /// Sends and waits for the head of the answer.
    async fn send(&self, request: RequestBuilder, ask: &Ask<'_>) -> Result<Response, ClientError> {
        let proxy = self.proxy.as_ref();
        let credentials = self.credentials.as_ref();
        if let Some(refusal) = proxy.and_then(|it| it.refusal(&self.address, credentials)) {
            return Err(refusal);
        }
        if let Some(tunnel) = &self.tunnel {
            tunnel.ready().await.map_err(ClientError::Unreachable)?;
        }
        // Not before: what a refusal or the way held back was not sent.
        self.sent.note(&ask.method, ask.path);
        let wait = ask.wait;
        let error = match timeout(wait, request.send()).await {
            Err(_) => return Err(ClientError::Timeout(wait)),
            Ok(Ok(response)) => return Ok(response),
            Ok(Err(error)) => ClientError::from_send(&error, self.waits.connect),
        };
        let error = match proxy {
            Some(proxy) => proxy.blame(error),
            None => error,
        };
        Err(match self.tunnel_trouble().await {
            Some(why) => ClientError::Unreachable(why),
            None => error,
        })
    }

    /// Why what was under way failed, if the way to the server did.
    pub(super) async fn tunnel_trouble(&self) -> Option<String> {
        self.tunnel.as_ref()?.trouble().await
    }

    /// Sends; anything but a success is an error. All that is not the event stream goes through here.
    async fn successful(&self, ask: Ask<'_>) -> Result<Response, ClientError> {
        if self.read_only && ask.method != Method::GET {
            return Err(ClientError::ReadOnly);
        }
        let response = self.send(self.request(&ask), &ask).await?;
        self.check_status(response).await
    }

    async fn check_status(&self, response: Response) -> Result<Response, ClientError> {
        let code = response.status().as_u16();
        match code {
            200..=299 => Ok(response),
            401 => Err(ClientError::Unauthorized),
            _ => {
                let body = body::read(response, self.waits.read, body::PROBLEM_CAP).await;
                let message = body
                    .ok()
                    .and_then(|it| crate::core::wire::v1::decode_problem(&it));
                Err(ClientError::Status { code, message })
            }
        }
    }

    /// Sends; the answer must be JSON.
    async fn json(&self, ask: Ask<'_>) -> Result<Response, ClientError> {
        let response = self.successful(ask).await?;
        require_type(response, "application/json", "JSON")
    }

    /// A `GET` of JSON over a kept connection.
    async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Response, ClientError> {
        self.json(self.ask(Method::GET, path, query)).await
    }

    fn ask<'a>(
        &self,
        method: Method,
        path: &'a [&'a str],
        query: &'a [(&'a str, &'a str)],
    ) -> Ask<'a> {
        Ask {
            method,
            via: Via::Pool,
            wait: self.waits.read,
            path,
            query,
            json: None,
            bulk: false,
        }
    }

    /// Opens an event stream (`/global/event`, in 2.x `/api/event`): the head of the answer has
    /// come and says event stream.
    pub(super) async fn open_events(&self, path: &[&str]) -> Result<Response, ClientError> {
        let ask = Ask {
            via: Via::Fresh,
            ..self.ask(Method::GET, path, &[])
        };
        let request = self
            .request(&ask)
            .header(header::ACCEPT, "text/event-stream")
            .header(header::CACHE_CONTROL, "no-cache");
        let response = self.send(request, &ask).await?;
        let response = self.check_status(response).await?;
        require_type(response, "text/event-stream", "an event stream")
    }
}

fn tunnel(address: &Address, route: &Route) -> Result<Option<Tunnel>, ClientError> {
    let Some(place) = address.place() else {
        return Ok(None);
    };
    let tunnel = Tunnel::new(route.ssh.clone(), place.clone());
    tunnel.map(Some).map_err(|why| {
        ClientError::Address(format!("no folder for ssh's socket can be made: {why}"))
    })
}

fn require_type(
    response: Response,
    mime: &str,
    expected: &'static str,
) -> Result<Response, ClientError> {
    let found = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok())
        .unwrap_or("no content type");
    let bare = found.split(';').next().unwrap_or_default().trim();
    if bare.eq_ignore_ascii_case(mime) {
        return Ok(response);
    }
    Err(ClientError::ContentType {
        found: bare.chars().take(80).collect(),
        expected,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_was_sent_is_counted() {
        let mut route = Route::default();
        route.ssh.command = vec!["false".to_owned()];
        let address = Address::parse("ssh://nas").unwrap();
        let clock: Clock = Arc::new(|| crate::core::time::UnixMs(0));
        let client = Client::by(address, None, Waits::default(), clock, &route).unwrap();
        let said = client.probe().await.unwrap_err();
        assert!(matches!(said, ClientError::Unreachable(_)), "{said}");
        assert_eq!(client.requests(), 0);
    }
}
