//! A reverse proxy with TLS in front of a simulated server, as nginx would be one: HTTP/2 or 1.1 by ALPN, and
//! a base path that is taken off.

use crate::http::http;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Version, header};
use axum::response::Response;
use axum::serve::Listener;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::server::TlsStream;

/// An authority of its own, and what it signs.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// What a server shows, and its key.
pub struct Shown {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Authority {
    pub fn new() -> Self {
        let mut of = CertificateParams::new(Vec::new()).unwrap();
        of.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(of, key).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for this name that is valid for these years.
    pub fn sign(&self, name: &str, years: (i32, i32)) -> Shown {
        let mut of = CertificateParams::new([name.to_owned()]).unwrap();
        of.not_before = rcgen::date_time_ymd(years.0, 1, 1);
        of.not_after = rcgen::date_time_ymd(years.1, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = of.signed_by(&key, &self.0).unwrap();
        Shown::new(certificate.der().clone(), &key)
    }

    /// Its own certificate, as `openssl req -x509` makes one for a server.
    pub fn itself(&self) -> Shown {
        Shown::new(self.0.der().clone(), self.0.key())
    }
}

impl Shown {
    fn new(certificate: CertificateDer<'static>, key: &KeyPair) -> Self {
        Self {
            chain: vec![certificate],
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        }
    }
}

/// The running proxy. Dropping it cuts every connection.
pub struct Front {
    pub port: u16,
    log: Arc<Mutex<Vec<(Version, String)>>>,
    _runtime: Runtime,
}

#[derive(Clone)]
struct To {
    server: String,
    base: &'static str,
    http: reqwest::Client,
    log: Arc<Mutex<Vec<(Version, String)>>>,
}

impl Front {
    /// On a port of 127.0.0.1 (0: any), before the server at this URL; `base` is like `/code`, or empty.
    pub fn start(shown: Shown, protocols: &[&str], server: &str, base: &'static str) -> Self {
        Self::at(0, shown, protocols, server, base)
    }

    /// The same at a port.
    pub fn at(
        port: u16,
        shown: Shown,
        protocols: &[&str],
        server: &str,
        base: &'static str,
    ) -> Self {
        let mut tls = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(shown.chain, shown.key)
            .unwrap();
        tls.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        let log = Arc::<Mutex<Vec<_>>>::default();
        let to = To {
            server: server.to_owned(),
            base,
            http: http().build().unwrap(),
            log: Arc::clone(&log),
        };
        let runtime = Runtime::new().unwrap();
        let tcp = runtime
            .block_on(TcpListener::bind(("127.0.0.1", port)))
            .unwrap();
        let port = tcp.local_addr().unwrap().port();
        let listener = Tls(tcp, TlsAcceptor::from(Arc::new(tls)));
        let app = axum::Router::new().fallback(pass).with_state(to);
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self {
            port,
            log,
            _runtime: runtime,
        }
    }

    /// What was asked, by which HTTP.
    pub fn asked(&self) -> Vec<(Version, String)> {
        self.log.lock().unwrap().clone()
    }
}

struct Tls(TcpListener, TlsAcceptor);

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (socket, from) = self.0.accept().await.unwrap();
            if let Ok(it) = self.1.accept(socket).await {
                return (it, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

async fn pass(State(to): State<To>, request: Request) -> Response {
    let path = request.uri().path_and_query().unwrap().as_str().to_owned();
    to.log
        .lock()
        .unwrap()
        .push((request.version(), path.clone()));
    let Some(path) = path.strip_prefix(to.base) else {
        return answer(StatusCode::NOT_FOUND, &HeaderMap::new(), Body::empty());
    };
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let mut forward = to
        .http
        .request(head.method, format!("{}{path}", to.server))
        .body(body);
    for name in [header::AUTHORIZATION, header::CONTENT_TYPE, header::ACCEPT] {
        if let Some(value) = head.headers.get(&name) {
            forward = forward.header(name, value);
        }
    }
    match forward.send().await {
        Err(_) => answer(StatusCode::BAD_GATEWAY, &HeaderMap::new(), Body::empty()),
        Ok(it) => {
            let (status, headers) = (it.status(), it.headers().clone());
            answer(status, &headers, Body::from_stream(it.bytes_stream()))
        }
    }
}

fn answer(status: StatusCode, headers: &HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for name in [header::CONTENT_TYPE, header::DATE] {
        if let Some(value) = headers.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}
