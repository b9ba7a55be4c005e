//! A scripted, OpenAI-compatible model server, for running a real OpenCode without a real model.
//!
//! What it does: `POST …/chat/completions` streams what the last user message says. What it does not: think,
//! or keep a conversation. Invariant: answers depend on the request and on [`ScriptedModel::teach`] only, so several
//! sessions, and subagents with prompts of their own, can use one model at once.
//!
//! Directives, anywhere in the last user message: `say:TEXT`; `slow:N` (a token a second for N seconds);
//! `flood:N` (N tokens at once); `big:BYTES` (so much text in pieces of 4 KiB); `hang` (one token, then
//! silence); `ponder` (one token of reasoning, then silence); `half:NAME` (a call of a tool whose arguments
//! never end); `bash:CMD`; `question`; `tool:NAME JSON`; `err:CODE`. After a tool result it says
//! `tool finished`; without a directive `ok`; a request without tools (a title) gets `Scripted title`.

use super::directive::{after, number};
use super::process::serve;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::sleep;

#[derive(Default)]
struct Brain {
    /// Key in a prompt, directive instead of it, how often still.
    taught: Mutex<Vec<(String, String)>>,
    heard: Mutex<Vec<String>>,
    calls: AtomicU64,
}

/// A running model server; dropping it ends it.
pub struct ScriptedModel {
    addr: SocketAddr,
    brain: Arc<Brain>,
    runtime: Option<Runtime>,
}

impl ScriptedModel {
    /// Opens any port on 127.0.0.1.
    pub fn start() -> io::Result<Self> {
        let brain = Arc::new(Brain::default());
        let routes = Router::new()
            .route("/{*path}", get(list).post(complete))
            .with_state(brain.clone());
        let (addr, runtime) = serve(0, routes)?;
        Ok(Self {
            addr,
            brain,
            runtime: Some(runtime),
        })
    }

    /// What a provider's `baseURL` takes: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    /// From now on prompts that contain `key` are answered as if they were `directive`; the newest key
    /// that matches counts.
    pub fn teach(&self, key: &str, directive: &str) {
        let entry = (key.to_owned(), directive.to_owned());
        lock(&self.brain.taught).push(entry);
    }

    /// The last user message of each completion asked for, oldest first; titles are left out.
    pub fn prompts(&self) -> Vec<String> {
        lock(&self.brain.heard).clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn list() -> Json<Value> {
    Json(json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))
}

/// What is answered.
#[derive(Debug, PartialEq)]
enum Reply {
    Text {
        tokens: Vec<String>,
        every: Duration,
    },
    /// This piece of an answer, then nothing more for ever.
    Silence(Value),
    Call {
        name: String,
        arguments: Value,
    },
    Refuse(u16),
}

async fn complete(State(brain): State<Arc<Brain>>, body: Bytes) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return refuse(400);
    };
    let reply = brain.decide(&request);
    let call = brain.calls.fetch_add(1, Ordering::Relaxed);
    match reply {
        Reply::Refuse(code) => refuse(code),
        reply if request["stream"] == false => Json(whole(&reply, call)).into_response(),
        reply => streamed(&reply, call),
    }
}

impl Brain {
    fn decide(&self, request: &Value) -> Reply {
        let messages = request["messages"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let prompt = last_user_text(messages);
        let has_tools = request["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty());
        if !has_tools {
            return say("Scripted title");
        }
        let taught = lock(&self.taught);
        let known = taught
            .iter()
            .rfind(|(key, _)| prompt.contains(key.as_str()));
        let directive = known.map_or(prompt.as_str(), |(_, directive)| directive);
        let after_tool = messages.last().is_some_and(|m| m["role"] == "tool");
        let reply = reply_to(directive, after_tool);
        lock(&self.heard).push(prompt);
        reply
    }
}

fn last_user_text(messages: &[Value]) -> String {
    let last = messages.iter().rfind(|message| message["role"] == "user");
    match last.map(|message| &message["content"]) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

fn reply_to(prompt: &str, after_tool: bool) -> Reply {
    let word = |name: &str| prompt.split_whitespace().any(|w| w == name);
    if let Some(code) = number(prompt, "err:") {
        return Reply::Refuse(u16::try_from(code).unwrap_or(500));
    }
    if after_tool {
        return say("tool finished");
    }
    if let Some(silence) = silence(prompt) {
        return silence;
    }
    if let Some(seconds) = number(prompt, "slow:") {
        return tokens(seconds, Duration::from_secs(1));
    }
    if let Some(count) = number(prompt, "flood:") {
        return tokens(count, Duration::ZERO);
    }
    if let Some(bytes) = number(prompt, "big:") {
        return big(bytes);
    }
    if let Some((name, arguments)) = after(prompt, "tool:").and_then(tool) {
        return Reply::Call { name, arguments };
    }
    if let Some(command) = after(prompt, "bash:") {
        return bash(command);
    }
    if word("question") {
        return question();
    }
    say(after(prompt, "say:").unwrap_or("ok"))
}

fn silence(prompt: &str) -> Option<Reply> {
    let word = |name: &str| prompt.split_whitespace().any(|w| w == name);
    let piece = if word("hang") {
        json!({"content": "thinking"})
    } else if word("ponder") {
        json!({"reasoning_content": "thinking"})
    } else {
        let name = after(prompt, "half:")?.split_whitespace().next()?;
        let function = json!({"name": name, "arguments": "{\""});
        let call = json!({"index": 0, "id": "call_half", "type": "function", "function": function});
        json!({"tool_calls": [call]})
    };
    Some(Reply::Silence(piece))
}

fn say(text: &str) -> Reply {
    Reply::Text {
        tokens: vec![text.to_owned()],
        every: Duration::ZERO,
    }
}

fn tokens(count: u64, every: Duration) -> Reply {
    let tokens = (0..count.min(1_000_000))
        .map(|n| format!("tok{n} "))
        .collect();
    Reply::Text { tokens, every }
}

fn big(bytes: u64) -> Reply {
    let bytes = usize::try_from(bytes.min(256 << 20)).unwrap_or(0);
    let piece = |from: usize| "x".repeat((bytes - from).min(4096));
    Reply::Text {
        tokens: (0..bytes).step_by(4096).map(piece).collect(),
        every: Duration::ZERO,
    }
}

/// `NAME {…}`: the arguments reach to the last brace.
fn tool(rest: &str) -> Option<(String, Value)> {
    let (name, json) = rest.split_once(' ')?;
    let json = &json[json.find('{')?..=json.rfind('}')?];
    Some((name.to_owned(), serde_json::from_str(json).ok()?))
}

fn bash(command: &str) -> Reply {
    Reply::Call {
        name: "bash".to_owned(),
        arguments: json!({"command": command, "description": "scripted", "timeout": 600_000}),
    }
}

fn question() -> Reply {
    let options = json!([{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]);
    let question = json!({"question": "Which?", "header": "Pick", "options": options});
    Reply::Call {
        name: "question".to_owned(),
        arguments: json!({"questions": [question]}),
    }
}

fn refuse(code: u16) -> Response {
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let error =
        json!({"message": "scripted failure", "type": "server_error", "code": code.to_string()});
    (status, Json(json!({"error": error}))).into_response()
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})
}

fn tool_calls(name: &str, arguments: &Value, call: u64) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!([{"index": 0, "id": format!("call_{call:08}"), "type": "function", "function": function}])
}

/// The answer in one piece.
fn whole(reply: &Reply, call: u64) -> Value {
    let (message, finish) = match reply {
        Reply::Call { name, arguments } => {
            let calls = tool_calls(name, arguments, call);
            (
                json!({"role": "assistant", "content": null, "tool_calls": calls}),
                "tool_calls",
            )
        }
        Reply::Text { tokens, .. } => (
            json!({"role": "assistant", "content": tokens.concat()}),
            "stop",
        ),
        Reply::Silence(_) | Reply::Refuse(_) => {
            (json!({"role": "assistant", "content": ""}), "stop")
        }
    };
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    json!({"id": "c", "object": "chat.completion", "model": "scripted", "choices": [choice], "usage": usage()})
}

fn chunk(delta: &Value, finish: Option<&str>) -> Bytes {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let mut body = json!({
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1_795_978_781,
        "model": "scripted",
        "choices": [choice],
    });
    if finish.is_some() {
        body["usage"] = usage();
    }
    Bytes::from(format!("data: {body}\n\n"))
}

fn streamed(reply: &Reply, call: u64) -> Response {
    let mut frames = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
    let mut pause = Duration::ZERO;
    let mut finish = Some("stop");
    match reply {
        Reply::Text { tokens, every } => {
            pause = *every;
            frames.extend(
                tokens
                    .iter()
                    .map(|token| chunk(&json!({"content": token}), None)),
            );
        }
        Reply::Call { name, arguments } => {
            let calls = tool_calls(name, arguments, call);
            frames.push(chunk(&json!({"tool_calls": calls}), None));
            finish = Some("tool_calls");
        }
        Reply::Silence(piece) => {
            frames.push(chunk(piece, None));
            finish = None;
        }
        Reply::Refuse(_) => {}
    }
    if let Some(finish) = finish {
        frames.push(chunk(&json!({}), Some(finish)));
        frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
    }
    let paced = stream::iter(frames).then(move |frame| async move {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        Ok::<_, Infallible>(frame)
    });
    let silence = stream::once(async move {
        if finish.is_none() {
            std::future::pending::<()>().await;
        }
        Ok(Bytes::new())
    });
    let kind = HeaderValue::from_static("text/event-stream");
    let body = Body::from_stream(paced.chain(silence));
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str, tools: bool, last: &str) -> Value {
        let tools = if tools {
            json!([{"type": "function"}])
        } else {
            json!([])
        };
        let user = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        json!({"messages": [user, {"role": last, "content": text}], "tools": tools})
    }

    #[test]
    fn the_last_user_message_decides() {
        let brain = Brain::default();
        let decide = |text: &str| brain.decide(&asked(text, true, "system"));
        assert_eq!(decide("please say:hello you"), say("hello you"));
        assert_eq!(decide("err:429"), Reply::Refuse(429));
        let hang = json!({"content": "thinking"});
        assert_eq!(decide("hang"), Reply::Silence(hang));
        let half = format!("{:?}", decide("half:write soon"));
        assert!(half.contains("\"write\""), "{half}");
        assert_eq!(decide("change nothing"), say("ok"));
        let Reply::Text { tokens, .. } = decide("big:5000") else {
            panic!("no text");
        };
        assert_eq!(tokens.concat().len(), 5000);
        let task = r#"tool:task {"description":"child","prompt":"say:x {y}"}"#;
        let Reply::Call { name, arguments } = decide(task) else {
            panic!("no call");
        };
        assert_eq!(
            (name.as_str(), &arguments["prompt"]),
            ("task", &json!("say:x {y}"))
        );
        assert_eq!(
            brain.decide(&asked("say:x", false, "system")),
            say("Scripted title")
        );
        assert_eq!(
            brain.decide(&asked("bash:ls", true, "tool")),
            say("tool finished")
        );
        lock(&brain.taught).push(("#7".to_owned(), "bash:make".to_owned()));
        assert_eq!(brain.decide(&asked("do #7", true, "system")), bash("make"));
    }
}
