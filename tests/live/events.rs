//! The server's own event stream, heard by the test itself: the measure for how soon ocwatch tells.
//!
//! A stream misses what happens after its `server.connected`, until the server has really subscribed
//! it: measured up to 2 s on a busy machine. So it counts as open when it has told something else.

use crate::http::http;
use crate::server::OpenCode;
use crate::support::{PATIENCE, block_on, eventually};
use ::ocwatch::shell::clock::system_clock;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// For the event of a probe.
const PROBE: Duration = Duration::from_millis(500);

/// An open `/global/event`; ends with the server or when it is dropped.
pub struct Events(Receiver<(Instant, Value)>);

impl Events {
    /// Hears everything from now on.
    pub fn listen(server: &OpenCode) -> Self {
        let (to_test, heard) = channel();
        let url = format!("{}/global/event", server.url);
        std::thread::spawn(move || block_on(pass_on(&url, &to_test)));
        let events = Self(heard);
        eventually("the stream tells what happens", PATIENCE, || {
            let probe = server.probe();
            let told = events.within(PROBE, |event| {
                event["properties"]["info"]["id"] == probe.as_str()
            });
            told.map(|_| ()).ok_or_else(|| "nothing".to_owned())
        });
        events
    }

    /// Keeps everything that is heard from now on.
    pub fn kept(self) -> Heard {
        let log = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::downgrade(&log);
        std::thread::spawn(move || {
            while let Ok(event) = self.0.recv()
                && let Some(log) = into.upgrade()
            {
                lock(&log).push(event);
            }
        });
        Heard(log)
    }

    /// When the next event that is `wanted` was heard, and its payload.
    fn within(
        &self,
        patience: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<(Instant, Value)> {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let (at, event) = self.0.recv_timeout(left).ok()?;
            if wanted(&event) {
                return Some((at, event));
            }
        }
    }

    /// When the next event of this type of a session was heard, and its payload.
    pub fn of(&self, session: &str, kind: &str) -> (Instant, Value) {
        let heard = self.within(PATIENCE, |event| {
            event["type"] == kind && event["properties"]["sessionID"] == session
        });
        heard.unwrap_or_else(|| panic!("no {kind} of {session}"))
    }
}

/// Every event since it was begun, with when it was heard.
pub struct Heard(Arc<Mutex<Vec<(Instant, Value)>>>);

impl Heard {
    /// When the turn ended that was begun at `sent`, after so many prompts of this session in all: its
    /// last answer completed, its status idle. A `refused` prompt has an error instead of an answer.
    pub fn end_of(&self, session: &str, sent: i64, prompts: usize, refused: bool) -> Option<i64> {
        let mut turn = Turn::default();
        let mut ended = None;
        let log = lock(&self.0);
        for (_, event) in log.iter().filter(|(_, event)| is_of(event, session)) {
            let at = made_at(event);
            turn.take(event);
            let over = at >= sent && turn.is_over(prompts, refused);
            ended = ended.filter(|_| over).or(over.then_some(at));
        }
        ended
    }

    /// An answer of a session was begun.
    pub fn answers_since(&self, session: &str, from: i64) -> bool {
        let log = lock(&self.0);
        let mut since = log.iter().filter(|(_, event)| made_at(event) >= from);
        since.any(|(_, event)| {
            let info = &event["properties"]["info"];
            is_of(event, session) && info["role"] == "assistant"
        })
    }

    /// What was heard of a session, a line each.
    pub fn story(&self, session: &str, from: i64) -> String {
        let log = lock(&self.0);
        let of = log.iter().map(|(_, event)| event);
        let since = of.filter(|event| made_at(event) >= from && is_of(event, session));
        let line = |event: &Value| {
            let info = &event["properties"]["info"];
            let status = &event["properties"]["status"]["type"];
            let (role, end, id) = (&info["role"], &info["time"]["completed"], &info["id"]);
            let after = made_at(event) - from;
            format!("{after} ms {} {status} {role} {id} {end}", event["type"])
        };
        since.map(line).collect::<Vec<_>>().join("\n")
    }
}

/// When the server made an event, by its clock, which is ours: its id begins with that time. When it
/// is heard says less, on a busy machine up to half a second.
fn made_at(event: &Value) -> i64 {
    let id = event["id"].as_str().and_then(|id| id.get(4..16));
    let number = id.and_then(|hex| i64::from_str_radix(hex, 16).ok());
    let made = number.expect("an event's id begins with its time") / 4096;
    // Of the time the lowest 36 bits.
    let now = system_clock()().0;
    now - (now - made).rem_euclid(1 << 36)
}

fn lock<T>(log: &Mutex<T>) -> MutexGuard<'_, T> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_of(event: &Value, session: &str) -> bool {
    let properties = &event["properties"];
    properties["sessionID"] == session || properties["info"]["sessionID"] == session
}

/// A turn as the stream tells it.
#[derive(Default)]
struct Turn {
    busy: bool,
    failed: bool,
    prompts: Vec<String>,
    /// Whose answer each is, and whether it is completed.
    answers: BTreeMap<String, (String, bool)>,
}

impl Turn {
    fn take(&mut self, event: &Value) {
        let info = &event["properties"]["info"];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match event["type"].as_str() {
            Some("session.status") => {
                self.busy = event["properties"]["status"]["type"] != "idle";
            }
            Some("session.idle") => self.busy = false,
            Some("session.error") => self.failed = true,
            Some("message.updated") if info["role"] == "user" => {
                let id = word(&info["id"]);
                if !self.prompts.contains(&id) {
                    self.failed = false;
                    self.prompts.push(id);
                }
            }
            Some("message.updated") => {
                let completed = info["time"]["completed"].is_number();
                let answer = (word(&info["parentID"]), completed);
                self.answers.insert(word(&info["id"]), answer);
            }
            _ => {}
        }
    }

    fn is_over(&self, prompts: usize, refused: bool) -> bool {
        let Some(last) = self.prompts.last() else {
            return false;
        };
        let answered = self.answers.values().any(|(parent, _)| parent == last);
        let closed = self.answers.values().all(|(_, completed)| *completed);
        let ended = answered || (refused && self.failed);
        self.prompts.len() == prompts && ended && closed && !self.busy
    }
}

/// Frames are `data: JSON` and an empty line.
async fn pass_on(url: &str, to_test: &Sender<(Instant, Value)>) -> Option<()> {
    let client = http().build().ok()?;
    let mut answer = client.get(url).send().await.ok()?;
    let mut buffer = Vec::new();
    while let Some(chunk) = answer.chunk().await.ok()? {
        buffer.extend_from_slice(&chunk);
        while let Some(end) = buffer.windows(2).position(|two| two == b"\n\n") {
            let frame: Vec<u8> = buffer.drain(..end + 2).collect();
            let data = frame.strip_prefix(b"data: ")?;
            let mut event: Value = serde_json::from_slice(data).ok()?;
            to_test
                .send((Instant::now(), event["payload"].take()))
                .ok()?;
        }
    }
    None
}
