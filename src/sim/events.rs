//! The event hub: one unbounded queue per open stream, as the real server has.
//!
//! What it does: puts events into frames (`data: {json}\n\n`, nothing else) and into every stream that
//! wants them: `/global/event` gets the envelope and, for durable events, the `sync` double; `/event` of a
//! directory gets the bare payload. What it does not: drop or slow down for a slow reader.
//! Invariant: all streams see events in the order of the calls.

use axum::body::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// An event ready to be framed. `properties` is JSON text.
pub(crate) struct Event<'a> {
    pub(crate) id: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) properties: &'a str,
    /// Directory and project id; none for events of the whole server.
    pub(crate) place: Option<(&'a str, &'a str)>,
    /// Aggregate id and sequence number of a durable event.
    pub(crate) durable: Option<(&'a str, u64)>,
}

impl Event<'_> {
    fn payload(&self) -> String {
        let (id, kind, properties) = (json(self.id), json(self.kind), self.properties);
        format!(r#"{{"id":{id},"type":{kind},"properties":{properties}}}"#)
    }

    fn sync(&self) -> Option<String> {
        let (aggregate, seq) = self.durable?;
        let (id, aggregate) = (json(self.id), json(aggregate));
        let kind = json(&format!("{}.1", self.kind));
        let data = self.properties;
        Some(format!(
            r#"{{"type":"sync","syncEvent":{{"id":{id},"type":{kind},"seq":{seq},"aggregateID":{aggregate},"data":{data}}},"id":{id}}}"#
        ))
    }

    fn envelope(&self, payload: &str) -> Bytes {
        let place = self.place.map_or_else(String::new, |(directory, project)| {
            format!(
                r#""directory":{},"project":{},"#,
                json(directory),
                json(project)
            )
        });
        frame(&format!(r#"{{{place}"payload":{payload}}}"#))
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn frame(json: &str) -> Bytes {
    Bytes::from(format!("data: {json}\n\n"))
}

struct Subscriber {
    /// `None`: `/global/event`.
    directory: Option<String>,
    queue: UnboundedSender<Bytes>,
}

/// All open streams of one server.
#[derive(Default)]
pub(crate) struct Hub {
    subscribers: Vec<Subscriber>,
    /// Nothing is sent, heartbeats neither: a wedged server whose sockets stay open.
    pub(crate) silent: bool,
}

impl Hub {
    /// Opens a stream: of everything, or of one directory.
    pub(crate) fn subscribe(&mut self, directory: Option<String>) -> UnboundedReceiver<Bytes> {
        let (queue, receiver) = unbounded_channel();
        self.subscribers.push(Subscriber { directory, queue });
        receiver
    }

    /// How many streams are open.
    pub(crate) fn count(&mut self) -> usize {
        self.subscribers.retain(|s| !s.queue.is_closed());
        self.subscribers.len()
    }

    /// Sends one event to whoever may see it.
    pub(crate) fn send(&mut self, event: &Event<'_>) {
        if self.silent || self.count() == 0 {
            return;
        }
        let payload = event.payload();
        let mut frames = vec![event.envelope(&payload)];
        frames.extend(event.sync().map(|sync| event.envelope(&sync)));
        let bare = frame(&payload);
        for subscriber in &self.subscribers {
            match &subscriber.directory {
                None => frames.iter().for_each(|f| put(subscriber, f)),
                Some(directory) if event.place.is_some_and(|(d, _)| d == directory) => {
                    put(subscriber, &bare);
                }
                Some(_) => {}
            }
        }
    }

    /// Sends bytes as they are to every stream.
    pub(crate) fn send_raw(&mut self, bytes: &Bytes) {
        for subscriber in &self.subscribers {
            put(subscriber, bytes);
        }
    }

    /// Ends every stream cleanly.
    pub(crate) fn close_all(&mut self) {
        self.subscribers.clear();
    }

    /// Ends the `/event` streams of one directory cleanly.
    pub(crate) fn close_directory(&mut self, directory: &str) {
        self.subscribers
            .retain(|s| s.directory.as_deref() != Some(directory));
    }
}

/// A closed queue is a reader that went away; it is forgotten at the next count.
fn put(subscriber: &Subscriber, bytes: &Bytes) {
    drop(subscriber.queue.send(bytes.clone()));
}

/// A frame that only one stream gets: `server.connected`, `server.heartbeat`.
pub(crate) fn server_frame(id: &str, kind: &str, global: bool) -> Bytes {
    let event = Event {
        id,
        kind,
        properties: "{}",
        place: None,
        durable: None,
    };
    let payload = event.payload();
    if global {
        event.envelope(&payload)
    } else {
        frame(&payload)
    }
}
