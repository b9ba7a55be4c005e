//! The event streams: `/global/event` of everything, `/event` of one directory.
//!
//! What it does: `server.connected` first, then what the hub sends, with a heartbeat of its own. What it
//! does not: replay; who comes late has missed it.

use super::super::events::server_frame;
use super::super::server::Server;
use super::place::Place;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, Interval, interval_at};

/// `GET /global/event`; loads nothing.
pub(crate) async fn global(State(server): State<Arc<Server>>) -> Response {
    open(server, None)
}

/// `GET /event`; loads its directory's instance.
pub(crate) async fn directory(place: Place) -> Response {
    place.boot().await;
    open(place.server, Some(place.directory))
}

struct Reader {
    server: Arc<Server>,
    queue: UnboundedReceiver<Bytes>,
    pulse: Interval,
    global: bool,
}

fn open(server: Arc<Server>, directory: Option<String>) -> Response {
    let global = directory.is_none();
    let (first, queue) = server.world(|w| {
        let id = w.ids.ascending("evt", w.now());
        let queue = w.hub.subscribe(directory);
        (server_frame(&id, "server.connected", global), queue)
    });
    let every = server.config.heartbeat;
    let reader = Reader {
        pulse: interval_at(Instant::now() + every, every),
        server,
        queue,
        global,
    };
    let body = stream::iter([Ok(first)]).chain(frames(reader));
    let headers = [
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, Body::from_stream(body)).into_response()
}

fn frames(reader: Reader) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(reader, |mut reader| async move {
        loop {
            tokio::select! {
                biased;
                frame = reader.queue.recv() => return Some((Ok(frame?), reader)),
                _ = reader.pulse.tick() => {
                    if let Some(frame) = reader.heartbeat() {
                        return Some((Ok(frame), reader));
                    }
                }
            }
        }
    })
}

impl Reader {
    fn heartbeat(&self) -> Option<Bytes> {
        self.server.world(|w| {
            let id = w.ids.ascending("evt", w.now());
            let frame = server_frame(&id, "server.heartbeat", self.global);
            (!w.hub.silent).then_some(frame)
        })
    }
}
