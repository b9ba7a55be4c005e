//! The metrics over HTTP, for whoever asks.
//!
//! What it does: `GET /metrics` and a short text at `/`; 404 and 405 else. What it does not: know what
//! is told, or let anyone change anything. Invariants: so many connections at once and no more, each
//! for one request and a limited time, with a head of limited size; a reader that is slow or silent
//! holds up neither the watching nor for long another reader.

use super::actions::Actions;
use super::encode::{Format, Samples};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};

/// Connections at once; more wait until one has ended.
const MOST: usize = 16;
/// From accepting a connection to the end of its answer. Prometheus itself gives up after 10 s.
const LONGEST: Duration = Duration::from_secs(10);
/// For the head of a request.
const HEAD: Duration = Duration::from_secs(5);
/// Of a request's head, in bytes; the smallest that the library takes.
const HEAD_SIZE: usize = 8192;
/// After a connection could not be accepted: out of file descriptors, say.
const PAUSE: Duration = Duration::from_millis(200);

/// A question to the loop that holds the model: what is so now.
pub type Scrape = oneshot::Sender<Samples>;

/// What every connection needs.
#[derive(Clone)]
pub struct Desk {
    scrapes: mpsc::Sender<Scrape>,
    actions: Arc<Mutex<Actions>>,
}

impl Desk {
    /// Samples come from the loop at the other end of `scrapes`.
    pub fn new(scrapes: mpsc::Sender<Scrape>, actions: Actions) -> Self {
        Self {
            scrapes,
            actions: Arc::new(Mutex::new(actions)),
        }
    }

    async fn metrics(&self, format: Format) -> Option<String> {
        let (ask, told) = oneshot::channel();
        self.scrapes.send(ask).await.ok()?;
        let mut samples = told.await.ok()?;
        let actions = self.actions.clone();
        // A disk that hangs holds up this answer, not the loop.
        let actions = spawn_blocking(move || {
            let mut actions = actions.lock().unwrap_or_else(PoisonError::into_inner);
            actions.look();
            actions.clone()
        });
        actions.await.ok()?.tell(&mut samples);
        samples.write(format).ok()
    }
}

/// Serves until it is dropped; then every connection is closed.
pub async fn serve(listener: TcpListener, desk: Desk) {
    let room = Arc::new(Semaphore::new(MOST));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = room.clone().acquire_owned().await else {
            return;
        };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let desk = desk.clone();
                connections.spawn(async move {
                    // What goes wrong on a connection is the reader's business.
                    timeout(LONGEST, answer(stream, desk)).await.ok();
                    drop(place);
                });
            }
            Err(why) => {
                tracing::warn!(%why, "a connection could not be accepted");
                sleep(PAUSE).await;
            }
        }
    }
}

async fn answer(stream: TcpStream, desk: Desk) {
    let service = service_fn(|request: Request<Incoming>| {
        let desk = desk.clone();
        async move { Ok::<_, Infallible>(respond(&request, &desk).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_SIZE)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(why) = served.await {
        tracing::debug!(%why, "a reader of the metrics");
    }
}

async fn respond(request: &Request<Incoming>, desk: &Desk) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if !matches!(path, "/" | "/metrics") {
        return text(
            StatusCode::NOT_FOUND,
            "not found: the metrics are at /metrics\n",
        );
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        let allowed = HeaderValue::from_static("GET, HEAD");
        refused.headers_mut().insert(ALLOW, allowed);
        return refused;
    }
    if path == "/" {
        let hello = concat!(
            "ocwatch ",
            env!("CARGO_PKG_VERSION"),
            "\n/metrics  for Prometheus (OpenMetrics)\n"
        );
        return text(StatusCode::OK, hello);
    }
    let mut accept = String::new();
    for value in request.headers().get_all(ACCEPT) {
        accept.push_str(value.to_str().unwrap_or_default());
        accept.push(',');
    }
    let format = Format::accepted(&accept);
    match desk.metrics(format).await {
        Some(metrics) => with_type(StatusCode::OK, metrics, format.content_type()),
        None => text(StatusCode::SERVICE_UNAVAILABLE, "ocwatch is ending\n"),
    }
}

fn text(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    with_type(status, body, "text/plain; charset=utf-8")
}

fn with_type(
    status: StatusCode,
    body: impl Into<Bytes>,
    kind: &'static str,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
