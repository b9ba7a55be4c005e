//! What the tests share: a clock, a client, a listener, and ways to compare with recordings.

use crate::http::http;
use futures_util::StreamExt;
use ocwatch::core::time::{Clock, UnixMs};
use ocwatch::sim::{Config, Sim};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const DEADLINE: Duration = Duration::from_secs(30);

pub fn clock() -> Clock {
    let start = tokio::time::Instant::now();
    Arc::new(move || {
        let ms = i64::try_from(start.elapsed().as_millis()).unwrap();
        UnixMs(1_795_978_781_309 + ms)
    })
}

pub fn config() -> Config {
    Config {
        boot: Duration::from_millis(1),
        retry_unit: Duration::from_millis(150),
        ..Config::new(clock())
    }
}

/// Waits until `look` finds something; says what was seen last when it gives up.
pub async fn until<T, F: Future<Output = Result<T, String>>>(mut look: impl FnMut() -> F) -> T {
    let mut seen = String::new();
    let found = tokio::time::timeout(DEADLINE, async {
        loop {
            match look().await {
                Ok(found) => return found,
                Err(now) => seen = now,
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let found = found.await.ok();
    found.unwrap_or_else(|| panic!("not within {DEADLINE:?}; last seen: {seen}"))
}

pub struct Api {
    pub url: String,
    pub http: reqwest::Client,
}

impl Api {
    pub fn new(sim: &Sim) -> Self {
        Self {
            url: sim.url(),
            http: http().build().unwrap(),
        }
    }
    pub async fn get(&self, path: &str) -> reqwest::Response {
        let url = format!("{}{path}", self.url);
        self.http.get(url).send().await.unwrap()
    }
    pub async fn json(&self, path: &str) -> Value {
        self.get(path).await.json().await.unwrap()
    }
    pub async fn post(&self, path: &str, body: Value) -> reqwest::Response {
        let url = format!("{}{path}", self.url);
        self.http.post(url).json(&body).send().await.unwrap()
    }
    pub async fn create(&self, directory: &str, body: Value) -> String {
        let path = format!("/session?directory={directory}");
        let session: Value = self.post(&path, body).await.json().await.unwrap();
        session["id"].as_str().unwrap().to_owned()
    }
    pub async fn prompt(&self, session: &str, text: &str) {
        let body = json!({"parts": [{"type": "text", "text": text}]});
        let path = format!("/session/{session}/prompt_async");
        assert_eq!(self.post(&path, body).await.status(), 204);
    }
    pub async fn messages(&self, session: &str) -> Value {
        self.json(&format!("/session/{session}/message")).await
    }
    pub async fn idle(&self, directory: &str, session: &str) {
        until(|| async {
            let status = self
                .json(&format!("/session/status?directory={directory}"))
                .await;
            let messages = self.messages(session).await;
            let last = messages
                .as_array()
                .unwrap()
                .last()
                .cloned()
                .unwrap_or_default();
            let done =
                last["info"]["time"]["completed"].is_number() && status.get(session).is_none();
            if done {
                Ok(())
            } else {
                Err(format!("{status} {last}"))
            }
        })
        .await;
    }
    pub async fn busy(&self, directory: &str, session: &str) {
        until(|| async {
            let map = self
                .json(&format!("/session/status?directory={directory}"))
                .await;
            if map.get(session).is_some() {
                Ok(())
            } else {
                Err(map.to_string())
            }
        })
        .await;
    }
    pub async fn child_of(&self, parent: &str) -> String {
        until(|| async {
            let children = self.json(&format!("/session/{parent}/children")).await;
            let child = children[0]["id"].as_str().map(str::to_owned);
            child.ok_or_else(|| children.to_string())
        })
        .await
    }
    pub async fn ask(&self, kind: &str, directory: &str) -> Value {
        until(|| async {
            let list = self.json(&format!("/{kind}?directory={directory}")).await;
            list.get(0).cloned().ok_or_else(|| list.to_string())
        })
        .await
    }
}

/// Everything that one stream sends.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<(Vec<Value>, bool)>>);

impl Heard {
    pub async fn listen(api: &Api, path: &str) -> Self {
        let heard = Self::default();
        let mut body = api.get(path).await.bytes_stream();
        let own = heard.clone();
        tokio::spawn(async move {
            let mut text: Vec<u8> = Vec::new();
            while let Some(Ok(bytes)) = body.next().await {
                let mut from = text.len().saturating_sub(1);
                text.extend_from_slice(&bytes);
                while let Some(end) = text[from..].windows(2).position(|two| two == b"\n\n") {
                    let frame: Vec<u8> = text.drain(..from + end + 2).collect();
                    let event = serde_json::from_slice(frame.strip_prefix(b"data: ").unwrap());
                    own.0.lock().unwrap().0.push(event.unwrap());
                    from = 0;
                }
            }
            own.0.lock().unwrap().1 = true;
        });
        heard.until(|events| !events.is_empty()).await;
        heard
    }
    pub fn events(&self) -> Vec<Value> {
        self.0.lock().unwrap().0.clone()
    }
    pub fn ended(&self) -> bool {
        self.0.lock().unwrap().1
    }
    pub async fn until(&self, look: impl Fn(&[Value]) -> bool) {
        until(|| async {
            let events = &self.0.lock().unwrap().0;
            if look(events) {
                return Ok(());
            }
            let newest: Vec<_> = events.iter().rev().take(80).map(kind).collect();
            Err(format!("{} events, newest first: {newest:?}", events.len()))
        })
        .await;
    }
}

/// `session.status busy`, `sync message.updated.1`, `message.part.updated tool running`, …
pub fn kind(event: &Value) -> String {
    let payload = &event["payload"];
    let name = payload["type"].as_str().unwrap_or("?");
    let properties = &payload["properties"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let more = match name {
        "sync" => text(&payload["syncEvent"]["type"]),
        "session.status" => text(&properties["status"]["type"]),
        "message.updated" => {
            let info = &properties["info"];
            let completed = if info["time"]["completed"].is_null() {
                ""
            } else {
                " completed"
            };
            let error = text(&info["error"]["name"]);
            format!(
                "{}{completed} {} {error}",
                text(&info["role"]),
                text(&info["finish"])
            )
        }
        "message.part.updated" => {
            let part = &properties["part"];
            format!("{} {}", text(&part["type"]), text(&part["state"]["status"]))
        }
        _ => String::new(),
    };
    format!("{name} {more}").trim().to_owned()
}

pub fn recording(name: &str) -> String {
    let path = format!("{}/tests/recordings/v1/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

pub fn recorded_kinds(name: &str) -> Vec<String> {
    let text = recording(name);
    let frames = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = frames
        .map(|json| serde_json::from_str(json).unwrap())
        .collect();
    turn_kinds(&events)
}

/// From the prompt on, without what happens at any time; the deltas of a text are one, for their number is
/// up to the model.
pub fn turn_kinds(events: &[Value]) -> Vec<String> {
    let noise = [
        "server.heartbeat",
        "plugin.added",
        "project.updated",
        "catalog.updated",
    ];
    let noise = [&noise[..], &["integration.updated", "reference.updated"]].concat();
    let kinds = events.iter().map(kind);
    let kinds = kinds.skip_while(|kind| kind != "session.updated");
    let mut kinds: Vec<_> = kinds
        .filter(|kind| !noise.contains(&kind.as_str()))
        .collect();
    kinds.dedup_by(|a, b| a == b && a == "message.part.delta");
    kinds
}

/// All key paths of a value, array elements as one, with the kind of each leaf.
pub fn keys(value: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => map
                .iter()
                .for_each(|(k, v)| walk(v, &format!("{path}.{k}"), out)),
            Value::Array(list) => list.iter().for_each(|v| walk(v, &format!("{path}[]"), out)),
            Value::String(_) => drop(out.insert(format!("{path}: text"))),
            Value::Number(_) => drop(out.insert(format!("{path}: number"))),
            other => drop(out.insert(format!("{path}: {other}"))),
        }
    }
    let mut out = BTreeSet::new();
    walk(value, "", &mut out);
    out
}

/// Key paths by kind of message and part.
pub fn shapes(messages: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for message in messages.as_array().unwrap() {
        let role = message["info"]["role"].as_str().unwrap().to_owned();
        out.entry(role.clone())
            .or_default()
            .extend(keys(&message["info"]));
        for part in message["parts"].as_array().unwrap() {
            let state = part["state"]["status"].as_str().unwrap_or_default();
            let name = format!("{role} {} {state}", part["type"].as_str().unwrap());
            out.entry(name).or_default().extend(keys(part));
        }
    }
    out
}
