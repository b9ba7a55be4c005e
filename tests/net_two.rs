//! A link to a server that speaks the API of OpenCode 2.x, over real sockets on 127.0.0.1: what it
//! asks, what it must never ask, and what is known in the end.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use axum::Router;
use axum::body::Body as Reply;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use ocwatch::core::id::{Directory, ServerId, SessionId, SessionKey};
use ocwatch::core::judge::{Limits, Verdict, judge_all};
use ocwatch::core::store::{LinkState, Reported, ServerSpec, Session, Store};
use ocwatch::core::time::{Clock, UnixMs};
use ocwatch::core::wire::{AskKind, Dialect};
use ocwatch::net::client::{Address, Client, ClientError, Waits};
use ocwatch::net::link::{LinkCommand, LinkSpec, Pace, spawn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(20);
const BASE: i64 = 1_796_000_000_000;
/// The same in the servers' own words: their clock is ours.
const DATE: &str = "Mon, 30 Nov 2026 00:53:20 GMT";

/// A clock that moves one millisecond each time it is asked.
fn clock() -> Clock {
    let now = Arc::new(AtomicI64::new(BASE));
    Arc::new(move || UnixMs(now.fetch_add(1, Ordering::Relaxed)))
}

/// Canned answers by decoded path and query, an event stream, and a list of what was asked.
#[derive(Clone)]
struct Fake {
    port: u16,
    answers: Arc<Mutex<HashMap<String, (u16, Value)>>>,
    asked: Arc<Mutex<Vec<String>>>,
    events: broadcast::Sender<Option<String>>,
}

impl Fake {
    /// One with these sessions, all of `/p`, none of which runs, and nothing loaded.
    async fn start(sessions: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Self {
            port: listener.local_addr().unwrap().port(),
            answers: Arc::default(),
            asked: Arc::default(),
            events: broadcast::channel(256).0,
        };
        fake.set("/api/info", json!({"version": "2.0.14", "pid": 7}));
        let rows: Vec<Value> = sessions.iter().map(|id| row(id, "/p")).collect();
        fake.set(
            "/api/session",
            json!({"data": rows, "cursor": {"next": null}}),
        );
        fake.set("/api/session/active", json!({"data": {}}));
        fake.set("/api/debug/location", json!([]));
        for id in sessions {
            fake.set(
                &format!("/api/session/{id}"),
                json!({"data": row(id, "/p")}),
            );
            fake.tail(id, &json!([]));
        }
        let router = Router::new().fallback(answer).with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        fake
    }

    fn set(&self, path: &str, body: Value) {
        self.answers
            .lock()
            .unwrap()
            .insert(path.to_owned(), (200, body));
    }

    fn break_down(&self, path: &str) {
        let broken = (500, json!({"_tag": "Oops", "message": "it broke"}));
        self.answers.lock().unwrap().insert(path.to_owned(), broken);
    }

    /// Messages of a session, newest first; its inbox is empty.
    fn tail(&self, id: &str, messages: &Value) {
        let page = json!({"data": messages, "cursor": {"next": "x"}});
        self.set(&format!("/api/session/{id}/message"), page);
        self.set(&format!("/api/session/{id}/inbox"), json!({"data": []}));
    }

    /// These run, and their location is loaded.
    fn run(&self, ids: &[&str]) {
        let running: serde_json::Map<String, Value> = ids
            .iter()
            .map(|id| ((*id).to_owned(), json!({"type": "running"})))
            .collect();
        self.set("/api/session/active", json!({"data": running}));
        self.set("/api/debug/location", json!([{"directory": "/p"}]));
        self.asks(&json!([]), &json!([]));
    }

    fn asks(&self, permissions: &Value, forms: &Value) {
        let list = |rows: &Value| json!({"location": {"directory": "/p"}, "data": rows});
        self.set("/api/permission/request /p", list(permissions));
        self.set("/api/form /p", list(forms));
    }

    fn send(&self, kind: &str, data: &Value) {
        let event = json!({"id": "evt_1", "created": BASE, "type": kind, "data": data});
        self.events
            .send(Some(format!("data: {event}\n\n")))
            .unwrap();
    }

    /// The end of every stream.
    fn hang_up(&self) {
        self.events.send(None).unwrap();
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn client(&self) -> Client {
        let address = Address::parse(&format!("http://127.0.0.1:{}", self.port)).unwrap();
        Client::new(address, None, Waits::default(), clock()).unwrap()
    }
}

fn row(id: &str, directory: &str) -> Value {
    json!({"id": id, "title": id, "cost": 0, "time": {"created": BASE - 60_000, "updated": BASE - 50_000},
           "location": {"directory": directory}})
}

async fn answer(State(fake): State<Fake>, uri: Uri) -> Response {
    let query = uri.query().unwrap_or_default();
    let place = query.strip_prefix("location%5Bdirectory%5D=");
    let path = match place {
        Some(place) => format!("{} {}", uri.path(), place.replace("%2F", "/")),
        None => uri.path().to_owned(),
    };
    fake.asked.lock().unwrap().push(path.clone());
    if path == "/api/event" {
        return events(&fake);
    }
    let found = fake.answers.lock().unwrap().get(&path).cloned();
    match found {
        Some((code, body)) => {
            let code = StatusCode::from_u16(code).unwrap();
            (code, [(header::DATE, DATE)], axum::Json(body)).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn events(fake: &Fake) -> Response {
    let hello =
        "data: {\"id\":\"evt_0\",\"type\":\"server.connected\",\"data\":{}}\n\n: heartbeat\n\n";
    let hello = stream::once(async { Some(hello.to_owned()) });
    let rest = stream::unfold(fake.events.subscribe(), |mut events| async {
        let next = events.recv().await.ok().flatten();
        Some((next, events))
    });
    let frames = hello
        .chain(rest)
        .take_while(|it| std::future::ready(it.is_some()));
    let frames = frames.map(|it| Ok::<_, Infallible>(it.unwrap_or_default()));
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Reply::from_stream(frames)).into_response()
}

/// A link, and what its inputs add up to.
struct Watched {
    store: Store,
    inputs: mpsc::Receiver<ocwatch::core::wire::Input>,
    commands: mpsc::Sender<LinkCommand>,
}

impl Watched {
    fn start(fake: &Fake, polls: Duration) -> Self {
        let mut spec = LinkSpec::new(ServerId(0), fake.client());
        spec.pace = Pace {
            status: polls,
            asks: polls,
            elsewhere: Duration::from_millis(40),
            elsewhere_apart: Duration::from_millis(20),
            ..Pace::default()
        };
        let (sender, inputs) = mpsc::channel(64);
        let (commands, receiver) = mpsc::channel(4);
        spawn(spec, clock(), sender, receiver);
        let server = ServerSpec {
            name: "two".into(),
            url: "http://127.0.0.1".into(),
            read_only: None,
        };
        Self {
            store: Store::new(vec![server]),
            inputs,
            commands,
        }
    }

    /// Takes inputs until it is so.
    async fn until(&mut self, what: &str, so: impl Fn(&Store) -> bool) {
        let wait = async {
            while !so(&self.store) {
                let input = self.inputs.recv().await.unwrap();
                self.store.apply(input);
            }
        };
        let soon = timeout(DEADLINE, wait).await.is_ok();
        let server = self.store.server(ServerId(0));
        assert!(soon, "never so: {what}\n{server:#?}");
    }

    async fn live(fake: &Fake) -> Self {
        Self::polling_each(fake, Duration::from_millis(80)).await
    }

    async fn polling_each(fake: &Fake, polls: Duration) -> Self {
        let mut watched = Self::start(fake, polls);
        watched.until("live", is_live).await;
        watched
    }

    fn session(&self, id: &str) -> &Session {
        session(&self.store, id).unwrap_or_else(|| panic!("no {id}"))
    }

    fn reported(&self, id: &str) -> Reported {
        reported(&self.store, id).unwrap()
    }

    fn verdict(&self, id: &str, now: UnixMs) -> Verdict {
        let key = SessionKey::new(ServerId(0), SessionId::from(id));
        let mut all = judge_all(&self.store, now, &Limits::default());
        all.verdicts.remove(&key).unwrap()
    }
}

fn is_live(store: &Store) -> bool {
    store.server(ServerId(0)).unwrap().link == LinkState::Live
}

fn session<'a>(store: &'a Store, id: &str) -> Option<&'a Session> {
    store.session(&SessionKey::new(ServerId(0), SessionId::from(id)))
}

fn reported(store: &Store, id: &str) -> Option<Reported> {
    let server = store.server(ServerId(0)).unwrap();
    session(store, id).map(|row| server.reported(row))
}

fn prompt() -> Value {
    json!({"id": "msg_1", "type": "user", "text": "go", "time": {"created": BASE - 50_000}})
}

fn shell(state: &str) -> Value {
    let state = match state {
        "running" => json!({"status": "running", "input": {"command": "ls"}, "metadata": {}}),
        _ => {
            json!({"status": state, "input": {"command": "ls"}, "error": {"type": "aborted", "message": "no"}})
        }
    };
    json!({"id": "msg_2", "type": "assistant", "agent": "build", "time": {"created": BASE - 49_000, "streamed": BASE - 48_000},
           "content": [{"type": "tool", "id": "call_1", "name": "shell", "state": state,
                        "time": {"created": BASE - 48_500, "ran": BASE - 48_400}}]})
}

fn permission() -> Value {
    json!({"id": "per_1", "sessionID": "ses_1", "action": "shell", "resources": ["ls"],
           "source": {"type": "tool", "messageID": "msg_2", "id": "call_1"}})
}

#[tokio::test]
async fn a_closed_server_is_told_from_one_that_is_not_opencode() {
    let fake = Fake::start(&[]).await;
    let identity = fake.client().probe().await.unwrap();
    assert_eq!((identity.dialect, identity.unsecured), (Dialect::V2, false));
    // Everything beyond `/api` is a web page, here an answer without one.
    let closed = (401, Value::Null);
    fake.answers
        .lock()
        .unwrap()
        .insert("/api/info".to_owned(), closed);
    assert_eq!(
        fake.client().probe().await.unwrap_err(),
        ClientError::Unauthorized
    );
}

#[tokio::test]
async fn the_first_look_knows_everything_and_loads_nothing() {
    let fake = Fake::start(&["ses_1", "ses_2"]).await;
    fake.run(&["ses_1"]);
    fake.asks(&json!([permission()]), &json!([]));
    fake.tail("ses_1", &json!([shell("running"), prompt()]));
    let list = [
        row("ses_1", "/p"),
        row("ses_2", "/p"),
        row("ses_3", "/asleep"),
    ];
    fake.set(
        "/api/session",
        json!({"data": list, "cursor": {"next": null}}),
    );
    fake.tail("ses_3", &json!([]));
    let watched = Watched::live(&fake).await;

    let server = watched.store.server(ServerId(0)).unwrap();
    assert_eq!(server.dialect, Some(Dialect::V2));
    assert_eq!(watched.reported("ses_1"), Reported::Busy);
    assert_eq!(watched.reported("ses_2"), Reported::Idle);
    assert_eq!(watched.reported("ses_3"), Reported::Idle);
    let now = UnixMs(BASE + 1000);
    let verdict = watched.verdict("ses_1", now);
    let names: Vec<&str> = verdict.findings.iter().map(|f| f.name).collect();
    assert_eq!(names, ["waiting-permission"]);
    assert_eq!(watched.verdict("ses_3", now).level.word(), "ok");

    let gentle = |path: &String| {
        let allowed = [
            "/api/info",
            "/api/event",
            "/api/session",
            "/api/debug/location",
            "/api/permission/request /p",
            "/api/form /p",
        ];
        allowed.contains(&path.as_str()) || path.starts_with("/api/session/")
    };
    let rough: Vec<String> = fake.asked().into_iter().filter(|it| !gentle(it)).collect();
    assert!(rough.is_empty(), "{rough:?}");
}

#[tokio::test]
async fn a_location_that_is_not_loaded_is_never_named() {
    let fake = Fake::start(&["ses_1"]).await;
    fake.run(&["ses_1"]);
    fake.set("/api/debug/location", json!([{"directory": "/elsewhere"}]));
    fake.tail("ses_1", &json!([shell("running"), prompt()]));
    let mut watched = Watched::live(&fake).await;
    let known = |store: &Store| {
        let view = &store.server(ServerId(0)).unwrap().directories[&Directory::from("/p")];
        view.ask_reads(AskKind::Permission)[1].is_some()
    };
    watched.until("asked again", known).await;
    assert!(
        fake.asked().iter().all(|path| !path.contains(' ')),
        "{:?}",
        fake.asked()
    );
    assert!(
        fake.asked()
            .iter()
            .filter(|it| *it == "/api/debug/location")
            .count()
            > 1
    );
    // Nothing can be asked there, so the command runs.
    let verdict = watched.verdict("ses_1", UnixMs(BASE + 10_000));
    assert_eq!(verdict.activity.state.word(), "running-tool");
    assert_eq!(verdict.level.word(), "ok", "{verdict:#?}");
}

#[tokio::test]
async fn who_runs_is_not_known_while_that_cannot_be_read() {
    let fake = Fake::start(&["ses_1"]).await;
    fake.break_down("/api/session/active");
    let mut watched = Watched::live(&fake).await;
    assert!(matches!(watched.reported("ses_1"), Reported::Unknown(_)));
    assert_eq!(
        watched.verdict("ses_1", UnixMs(BASE + 1000)).level.word(),
        "unknown"
    );
    fake.set("/api/session/active", json!({"data": {}}));
    let idle = |store: &Store| reported(store, "ses_1") == Some(Reported::Idle);
    watched.until("read again", idle).await;
    assert!(watched.store.server(ServerId(0)).unwrap().gaps.is_empty());
}

#[tokio::test]
async fn an_inbox_that_cannot_be_read_leaves_the_session_unknown() {
    let fake = Fake::start(&["ses_1"]).await;
    fake.break_down("/api/session/ses_1/inbox");
    let watched = Watched::live(&fake).await;
    assert_eq!(
        watched.verdict("ses_1", UnixMs(BASE + 1000)).level.word(),
        "unknown"
    );
}

#[tokio::test]
async fn events_tell_who_runs_at_once_and_have_the_rest_read_again() {
    let fake = Fake::start(&["ses_1"]).await;
    // Nothing is polled: only events tell.
    let mut watched = Watched::polling_each(&fake, DEADLINE * 2).await;
    fake.run(&["ses_1"]);
    fake.tail("ses_1", &json!([shell("running"), prompt()]));
    fake.send("session.execution.started", &json!({"sessionID": "ses_1"}));
    let runs = |store: &Store| {
        let tail = &session(store, "ses_1").unwrap().tail;
        reported(store, "ses_1") == Some(Reported::Busy) && tail.messages.len() == 2
    };
    watched.until("runs", runs).await;

    fake.send("permission.asked", &permission());
    watched
        .until("asks", |store| {
            session(store, "ses_1").unwrap().asks.len() == 1
        })
        .await;
    // An interrupt ends a permission without a word of it.
    fake.set("/api/session/active", json!({"data": {}}));
    fake.tail("ses_1", &json!([shell("error"), prompt()]));
    fake.send(
        "session.tool.failed",
        &json!({"sessionID": "ses_1", "id": "call_1", "assistantMessageID": "msg_2"}),
    );
    watched
        .until("closed", |store| {
            session(store, "ses_1").unwrap().asks.is_empty()
        })
        .await;
    fake.send(
        "session.execution.interrupted",
        &json!({"sessionID": "ses_1", "reason": "user"}),
    );
    let idle = |store: &Store| reported(store, "ses_1") == Some(Reported::Idle);
    watched.until("idle", idle).await;
}

#[tokio::test]
async fn what_only_events_tell_of_a_call_is_kept_for_the_next_read() {
    let fake = Fake::start(&["ses_1"]).await;
    fake.run(&["ses_1"]);
    fake.tail("ses_1", &json!([shell("running"), prompt()]));
    let mut watched = Watched::live(&fake).await;
    let tool = |store: &Store| {
        let message = session(store, "ses_1")
            .unwrap()
            .tail
            .last()
            .unwrap()
            .clone();
        message.parts[0].tool().unwrap().clone()
    };
    assert!(!tool(&watched.store).output.present);
    let progress = json!({"sessionID": "ses_1", "id": "call_1", "metadata": {"shellID": "sh_1", "sessionID": "ses_9"}});
    fake.send("session.tool.progress", &progress);
    watched
        .until("begun", |store| tool(store).output.present)
        .await;
    assert_eq!(tool(&watched.store).child, Some(SessionId::from("ses_9")));
}

#[tokio::test]
async fn the_end_of_a_run_is_told_with_what_it_left() {
    let fake = Fake::start(&["ses_1"]).await;
    fake.run(&["ses_1"]);
    fake.tail("ses_1", &json!([shell("running"), prompt()]));
    let mut watched = Watched::polling_each(&fake, DEADLINE * 2).await;
    let ended = |store: &Store| {
        let last = session(store, "ses_1")
            .unwrap()
            .tail
            .last_assistant()
            .cloned();
        last.is_some_and(|answer| answer.completed.is_some())
    };
    let mut answer = shell("error");
    answer["time"]["completed"] = json!(BASE);
    fake.tail("ses_1", &json!([answer, prompt()]));
    fake.send(
        "session.execution.succeeded",
        &json!({"sessionID": "ses_1"}),
    );
    let idle = |store: &Store| reported(store, "ses_1") == Some(Reported::Idle);
    watched.until("over", idle).await;
    assert!(
        ended(&watched.store),
        "idle with an open answer looks cut off"
    );

    // What cannot be read does not keep the report back.
    fake.send("session.execution.started", &json!({"sessionID": "ses_1"}));
    watched.until("again", |store| !idle(store)).await;
    fake.break_down("/api/session/ses_1/message");
    fake.send(
        "session.execution.succeeded",
        &json!({"sessionID": "ses_1"}),
    );
    watched.until("over again", idle).await;
}

#[tokio::test]
async fn what_is_open_and_does_not_run_here_is_read_again() {
    let fake = Fake::start(&["ses_1"]).await;
    fake.tail("ses_1", &json!([shell("running"), prompt()]));
    let mut watched = Watched::polling_each(&fake, DEADLINE * 2).await;
    // Another process on the same data ends it: no event comes of that.
    let mut answer = shell("error");
    answer["time"]["completed"] = json!(BASE);
    fake.tail("ses_1", &json!([answer, prompt()]));
    let ended = |store: &Store| {
        let last = session(store, "ses_1")
            .unwrap()
            .tail
            .last_assistant()
            .cloned();
        last.is_some_and(|answer| answer.completed.is_some())
    };
    assert!(!ended(&watched.store));
    watched.until("ended elsewhere", ended).await;
}

#[tokio::test]
async fn a_retry_is_told_beside_running() {
    let fake = Fake::start(&["ses_1"]).await;
    fake.run(&["ses_1"]);
    let mut waiting = shell("running");
    waiting["content"] = json!([]);
    waiting["retry"] = json!({"attempt": 3, "at": BASE + 3_600_000, "error": {"type": "provider.internal", "message": "busy"}});
    fake.tail("ses_1", &json!([waiting, prompt()]));
    let mut watched = Watched::live(&fake).await;
    let Reported::Retry(retry) = watched.reported("ses_1") else {
        panic!("{:?}", watched.reported("ses_1"))
    };
    assert_eq!((retry.attempt, retry.message.as_str()), (2, "busy"));
    // The step begins: what the answer still names is over.
    fake.send("session.step.started", &json!({"sessionID": "ses_1"}));
    let busy = |store: &Store| reported(store, "ses_1") == Some(Reported::Busy);
    watched.until("tries again", busy).await;
    let later = json!({"sessionID": "ses_1", "attempt": 4, "at": BASE + 7_200_000, "error": {"message": "still busy"}});
    fake.send("session.retry.scheduled", &later);
    let waits = |store: &Store| matches!(reported(store, "ses_1"), Some(Reported::Retry(it)) if it.attempt == 3);
    watched.until("waits again", waits).await;
}

#[tokio::test]
async fn a_session_that_no_list_named_is_read_for_itself() {
    let fake = Fake::start(&["ses_1"]).await;
    let mut watched = Watched::live(&fake).await;
    fake.set("/api/session/ses_7", json!({"data": row("ses_7", "/q")}));
    fake.tail("ses_7", &json!([shell("running"), prompt()]));
    fake.run(&["ses_7"]);
    let runs = |store: &Store| {
        let read = session(store, "ses_7").is_some_and(|it| it.tail.is_read());
        read && reported(store, "ses_7") == Some(Reported::Busy)
    };
    watched.until("found", runs).await;
}

#[tokio::test]
async fn after_a_lost_stream_everything_is_read_anew() {
    let fake = Fake::start(&["ses_1"]).await;
    let mut watched = Watched::live(&fake).await;
    let epoch = |store: &Store| store.server(ServerId(0)).unwrap().epoch;
    let first = epoch(&watched.store);
    fake.hang_up();
    watched.until("lost", |store| !is_live(store)).await;
    assert!(matches!(watched.reported("ses_1"), Reported::Unknown(_)));
    fake.run(&["ses_1"]);
    watched.commands.send(LinkCommand::RetryNow).await.unwrap();
    watched.until("back", is_live).await;
    assert!(epoch(&watched.store) > first);
    assert_eq!(watched.reported("ses_1"), Reported::Busy);
    let tail = &watched.session("ses_1").tail;
    assert_eq!(tail.epoch, epoch(&watched.store));
}
