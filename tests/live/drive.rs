//! The server's HTTP API, as far as the tests drive it: what must succeed panics where it does not.

use crate::http::http;
use crate::server::OpenCode;
use crate::support::block_on;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

impl OpenCode {
    /// JSON of a GET that must succeed.
    pub fn get(&self, path: &str) -> Value {
        self.json("GET", path, None)
    }

    /// JSON of a POST that must succeed; null where the answer has no body.
    pub fn post(&self, path: &str, body: &Value) -> Value {
        self.json("POST", path, Some(body))
    }

    /// JSON of a PATCH that must succeed.
    pub fn patch(&self, path: &str, body: &Value) -> Value {
        self.json("PATCH", path, Some(body))
    }

    fn json(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (status, text) = request(method, &self.url, path, body, 30)
            .unwrap_or_else(|why| panic!("{path}: {why}"));
        assert!(
            (200..300).contains(&status),
            "{method} {path}: {status} {text}"
        );
        if text.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
    }

    /// A new session in `directory`; its id.
    pub fn session(&self, directory: &Path, title: &str) -> String {
        let path = format!("/session?directory={}", directory.display());
        let created = self.post(&path, &json!({"title": title}));
        created["id"].as_str().expect("an id").to_owned()
    }

    /// A session that is nothing but an event; its id.
    pub fn probe(&self) -> String {
        self.session(&self.projects[0], "probe")
    }

    /// Sends a prompt and does not wait for its turn.
    pub fn prompt(&self, session: &str, text: &str) {
        let body = json!({"parts": [{"type": "text", "text": text}]});
        self.post(&format!("/session/{session}/prompt_async"), &body);
    }

    /// The same for a model that the server may not have.
    pub fn prompt_with_model(&self, session: &str, text: &str, model: &str) {
        let model = json!({"providerID": "scripted", "modelID": model});
        let body = json!({"parts": [{"type": "text", "text": text}], "model": model});
        self.post(&format!("/session/{session}/prompt_async"), &body);
    }

    /// The same for an agent that the server may not have.
    pub fn prompt_with_agent(&self, session: &str, text: &str, agent: &str) {
        let body = json!({"parts": [{"type": "text", "text": text}], "agent": agent});
        self.post(&format!("/session/{session}/prompt_async"), &body);
    }

    /// A new session in the first project with this prompt as its title and first message.
    pub fn begin(&self, prompt: &str) -> String {
        let session = self.session(&self.projects[0], prompt);
        self.prompt(&session, prompt);
        session
    }

    /// The server's own way to stop a run.
    pub fn abort(&self, session: &str) {
        let answer = self.post(&format!("/session/{session}/abort"), &json!({}));
        assert_eq!(answer, json!(true));
    }

    /// Answers the permission or question (`kind`) that is open in `directory` and belongs to `session`.
    pub fn reply(&self, kind: &str, directory: &Path, session: &str, answer: &Value) {
        let query = format!("?directory={}", directory.display());
        let open = self.open(kind, directory);
        let mut asks = open.as_array().expect("a list").iter();
        let ask = asks.find(|ask| ask["sessionID"] == session);
        let id = ask.expect("it is open")["id"].as_str().expect("an id");
        self.post(&format!("/{kind}/{id}/reply{query}"), answer);
    }

    /// The permissions or questions (`kind`) that are open in a directory.
    pub fn open(&self, kind: &str, directory: &Path) -> Value {
        self.get(&format!("/{kind}?directory={}", directory.display()))
    }

    /// The run state of a session as the server tells it: null when idle.
    pub fn run_state(&self, directory: &Path, session: &str) -> Value {
        let path = format!("/session/status?directory={}", directory.display());
        self.get(&path)[session].clone()
    }
}

/// One request on a connection of its own: status and body.
pub fn request(
    method: &str,
    url: &str,
    path: &str,
    body: Option<&Value>,
    seconds: u64,
) -> Result<(u16, String), String> {
    let client = http()
        .timeout(Duration::from_secs(seconds))
        .build()
        .map_err(|error| error.to_string())?;
    let method = method.parse().map_err(|_| "a bad method".to_owned())?;
    let mut request = client.request(method, format!("{url}{path}"));
    if let Some(body) = body {
        request = request.json(body);
    }
    block_on(async {
        let answer = request.send().await.map_err(|error| error.to_string())?;
        let status = answer.status().as_u16();
        let text = answer.text().await.map_err(|error| error.to_string())?;
        Ok((status, text))
    })
}
