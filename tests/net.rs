//! Requests and links against a server that misbehaves on purpose, over real sockets on 127.0.0.1.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

#[path = "net/acts.rs"]
mod acts;
#[path = "net/again.rs"]
mod again;
#[path = "net/broken.rs"]
mod broken;
#[path = "net/exposed.rs"]
mod exposed;
#[path = "net/fewer.rs"]
mod fewer;
#[path = "net/gently.rs"]
mod gently;
#[path = "net/holes.rs"]
mod holes;
#[path = "net/jumps.rs"]
mod jumps;
#[path = "net/strangers.rs"]
mod strangers;

use ocwatch::core::id::{Directory, ServerId, SessionId};
use ocwatch::core::time::{Clock, UnixMs};
use ocwatch::core::wire::{
    Body, DirectoryState, Endpoint, EventKind, Input, LinkReport, LostCause,
};
use ocwatch::net::client::{Address, Client, ClientError, Credentials, Waits};
use ocwatch::net::link::{Inspect, LinkCommand, LinkSpec, Pace, spawn};
use ocwatch::net::stream::{Ending, Events};
use pretty_assertions::assert_eq;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, broadcast, mpsc};
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(10);

/// A clock that moves one millisecond each time it is asked.
fn clock() -> Clock {
    let now = Arc::new(AtomicI64::new(1_796_000_000_000));
    Arc::new(move || UnixMs(now.fetch_add(1, Ordering::Relaxed)))
}

fn client(port: u16) -> Client {
    client_by(port, clock())
}

fn client_by(port: u16, clock: Clock) -> Client {
    let waits = Waits {
        connect: Duration::from_secs(1),
        read: Duration::from_millis(400),
        probe: Duration::from_millis(300),
    };
    let address = Address::parse(&format!("http://me:sesame@127.0.0.1:{port}")).unwrap();
    Client::new(address, None, waits, clock).unwrap()
}

/// What a request is answered with: bytes on the wire, then whether the connection stays open.
#[derive(Clone)]
struct Reply(Vec<u8>, bool);

fn reply(status: &str, content_type: &str, body: &str) -> Reply {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    Reply(head.into_bytes(), false)
}

fn json(body: &str) -> Reply {
    reply("200 OK", "application/json", body)
}

fn html() -> Reply {
    reply("200 OK", "text/html", "<!doctype html>")
}

/// A server of canned answers by path (with query), and an event stream that tests write to.
struct Fake {
    port: u16,
    replies: Arc<Mutex<HashMap<String, Reply>>>,
    asked: Arc<Asked>,
    events: broadcast::Sender<Frame>,
    task: tokio::task::JoinHandle<()>,
}

/// The paths that were asked for, in order.
#[derive(Default)]
struct Asked {
    paths: Mutex<Vec<String>>,
    news: Notify,
}

#[derive(Clone, Debug)]
enum Frame {
    Data(Vec<u8>),
    Cut,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fake {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let replies: Arc<Mutex<HashMap<String, Reply>>> = Arc::default();
        let asked: Arc<Asked> = Arc::default();
        let (events, _) = broadcast::channel(4096);
        let state = (Arc::clone(&replies), Arc::clone(&asked), events.clone());
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                open.spawn(serve(
                    socket,
                    state.0.clone(),
                    state.1.clone(),
                    state.2.subscribe(),
                ));
            }
        });
        Self {
            port,
            replies,
            asked,
            events,
            task,
        }
    }

    /// One that looks like 1.18.33 with two projects: `/` relative to an existing folder.
    async fn opencode(sessions: &str) -> Self {
        let fake = Self::start().await;
        fake.set("/api/info", html());
        fake.set(
            "/global/health",
            json(r#"{"healthy":true,"version":"1.18.33"}"#),
        );
        fake.set("/path", json(r#"{"directory":"/srv","worktree":"/srv"}"#));
        fake.set("/api/session?limit=1000", json(sessions));
        for path in ["/session/status", "/session/status?directory=%2Fp"] {
            fake.set(path, json("{}"));
        }
        for path in [
            "/question",
            "/permission",
            "/question?directory=%2Fp",
            "/permission?directory=%2Fp",
        ] {
            fake.set(path, json("[]"));
        }
        fake
    }

    fn set(&self, path: &str, reply: Reply) {
        self.replies.lock().unwrap().insert(path.to_owned(), reply);
    }

    fn send(&self, payload: &str) {
        let frame = format!("data: {{\"directory\":\"/p\",\"payload\":{payload}}}\n\n");
        self.events.send(Frame::Data(frame.into_bytes())).unwrap();
    }

    fn asked(&self) -> Vec<String> {
        self.asked.paths.lock().unwrap().clone()
    }

    async fn until_asked(&self, prefix: &str, times: usize) {
        let wait = async {
            loop {
                let news = self.asked.news.notified();
                let fits = |it: &&String| it.starts_with(prefix);
                if self.asked().iter().filter(fits).count() >= times {
                    return;
                }
                news.await;
            }
        };
        timeout(DEADLINE * 3, wait).await.unwrap();
    }
}

async fn serve(
    mut socket: TcpStream,
    replies: Arc<Mutex<HashMap<String, Reply>>>,
    asked: Arc<Asked>,
    events: broadcast::Receiver<Frame>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match socket.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    asked.paths.lock().unwrap().push(path.clone());
    asked.news.notify_waiters();
    let found = replies.lock().unwrap().get(&path).cloned();
    match found {
        None if path == "/global/event" => stream(socket, events).await,
        None => drop(socket.write_all(&html().0).await),
        Some(Reply(bytes, stays)) => {
            drop(socket.write_all(&bytes).await);
            if stays {
                std::future::pending::<()>().await;
            }
        }
    }
}

async fn stream(mut socket: TcpStream, mut events: broadcast::Receiver<Frame>) {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let hello =
        "data: {\"payload\":{\"id\":\"e\",\"type\":\"server.connected\",\"properties\":{}}}\n\n";
    drop(socket.write_all(head.as_bytes()).await);
    let mut next = Ok(Frame::Data(hello.into()));
    while let Ok(Frame::Data(bytes)) = next {
        for piece in bytes.chunks(8192) {
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            if socket.write_all(&chunk).await.is_err() {
                return;
            }
        }
        next = events.recv().await;
    }
}

#[tokio::test]
async fn each_failure_has_its_name() {
    let fake = Fake::start().await;
    let ask = || async { client(fake.port).questions(None).await.unwrap_err() };

    fake.set("/question", html());
    assert!(matches!(ask().await, ClientError::ContentType { found, .. } if found == "text/html"));
    fake.set("/question", json("{\"a\":1}"));
    assert!(matches!(ask().await, ClientError::Shape(_)));
    fake.set(
        "/question",
        reply(
            "500 Error",
            "application/json",
            r#"{"name":"Oops","data":{"message":"it\nbroke"}}"#,
        ),
    );
    assert_eq!(ask().await.to_string(), "answered 500: it broke");
    fake.set("/question", reply("401 Unauthorized", "text/plain", ""));
    assert_eq!(ask().await, ClientError::Unauthorized);
    fake.set(
        "/question",
        Reply(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n[{"
                .to_vec(),
            false,
        ),
    );
    assert_eq!(ask().await, ClientError::Cut { bytes: 2 });
    fake.set(
        "/question",
        Reply(b"HTTP/1.1 200 OK\r\nContent-Ty".to_vec(), true),
    );
    assert!(matches!(ask().await, ClientError::Timeout(_)));
    fake.set(
        "/question",
        Reply(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n[{"
                .to_vec(),
            true,
        ),
    );
    assert!(matches!(ask().await, ClientError::Timeout(_)));

    let port = fake.port;
    drop(fake);
    let gone = until(|| async { client(port).questions(None).await.err() }).await;
    assert_eq!(gone, ClientError::Refused);
    for error in [gone, ClientError::Unauthorized] {
        assert!(!format!("{error} {error:?} {:?}", client(port)).contains("sesame"));
    }
}

/// Asks again until there is an answer of another kind than a broken connection.
async fn until<F: Future<Output = Option<ClientError>>>(ask: impl Fn() -> F) -> ClientError {
    let wait = async {
        loop {
            match ask().await {
                Some(ClientError::Unreachable(_)) | None => tokio::task::yield_now().await,
                Some(other) => return other,
            }
        }
    };
    timeout(DEADLINE, wait).await.unwrap()
}

#[tokio::test]
async fn a_probe_believes_no_bare_200() {
    let fake = Fake::start().await;
    let probe = || async { client(fake.port).probe().await };
    assert!(
        matches!(probe().await.unwrap_err(), ClientError::ContentType { .. }),
        "only web pages"
    );
    fake.set(
        "/global/health",
        json(r#"{"healthy":true,"version":"1.18.33"}"#),
    );
    let identity = probe().await.unwrap();
    assert_eq!(identity.version.as_deref(), Some("1.18.33"));
    assert!(!identity.unsecured);
    fake.set(
        "/global/health",
        reply("500 Error", "application/json", "{}"),
    );
    fake.set("/path", json(r#"{"directory":"/srv","worktree":"/srv"}"#));
    assert_eq!(
        probe().await.unwrap().version,
        None,
        "before 1.1 there is no health"
    );
    fake.set("/api/info", json(r#"{"version":"2.0.1","pid":7}"#));
    assert_eq!(
        probe().await.unwrap().dialect,
        ocwatch::core::wire::Dialect::V2
    );
    fake.set(
        "/api/info",
        reply("401 Unauthorized", "application/json", "{}"),
    );
    fake.set(
        "/global/health",
        reply("401 Unauthorized", "text/plain", ""),
    );
    assert_eq!(probe().await.unwrap_err(), ClientError::Unauthorized);
}

#[tokio::test]
async fn credentials_are_sent_as_basic() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = Address::parse(&format!("127.0.0.1:{port}")).unwrap();
    let credentials = Some(Credentials::new(None, "pw"));
    let client = Client::new(address, credentials, Waits::default(), clock()).unwrap();
    let (got, _) = tokio::join!(
        async {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut buffer = vec![0; 4096];
            let length = socket.read(&mut buffer).await.unwrap();
            String::from_utf8_lossy(&buffer[..length]).to_lowercase()
        },
        client.health(),
    );
    assert!(
        got.contains("authorization: basic b3blbmnvzgu6chc="),
        "{got}"
    ); // opencode:pw
}

#[tokio::test]
async fn pages_of_sessions_end_and_hold_each_once() {
    let row = |id: u32| {
        format!(r#"{{"id":"ses_{id}","time":{{"created":1}},"location":{{"directory":"/p"}}}}"#)
    };
    let fake = Fake::start().await;
    let page = |a, b, next: &str| {
        json(&format!(
            r#"{{"data":[{},{}],"cursor":{{"next":{next}}}}}"#,
            row(a),
            row(b)
        ))
    };
    fake.set("/api/session?limit=1000", page(1, 2, "\"x\""));
    fake.set("/api/session?limit=1000&cursor=x", page(2, 3, "\"y\""));
    fake.set(
        "/api/session?limit=1000&cursor=y",
        json(r#"{"data":[],"cursor":{"next":null}}"#),
    );
    let all = client(fake.port).all_sessions().await.unwrap();
    assert_eq!((all.rows.items.len(), all.complete), (3, true));

    fake.set("/api/session?limit=1000", html());
    fake.set(
        "/session?limit=1000",
        json(r#"[{"id":"ses_9","directory":"/p","time":{"created":1}}]"#),
    );
    let cwd_only = client(fake.port).all_sessions().await.unwrap();
    assert_eq!((cwd_only.rows.items.len(), cwd_only.complete), (1, false));
}

#[tokio::test]
async fn a_page_of_one_millisecond_hides_no_older_session() {
    let fake = Fake::start().await;
    fake.set("/api/session?limit=1000", html());
    let page = |ids: [u32; 2], next: Option<u32>| {
        let rows = ids.map(|id| {
            format!(r#"{{"id":"ses_{id}","directory":"/p","time":{{"created":1,"updated":7}}}}"#)
        });
        let body = rows.join(",");
        let Reply(bytes, open) = json(&format!("[{body}]"));
        let text = String::from_utf8(bytes).unwrap();
        let header = next.map_or_else(String::new, |it| format!("\r\nx-next-cursor: {it}"));
        Reply(
            text.replacen("\r\n\r\n", &format!("{header}\r\n\r\n"), 1)
                .into_bytes(),
            open,
        )
    };
    let path = "/experimental/session?limit=1000&archived=true";
    fake.set(path, page([1, 2], Some(7)));
    // As the same rows come again, the rest of that millisecond cannot be had: on with the older.
    fake.set(&format!("{path}&cursor=8"), page([1, 2], Some(7)));
    fake.set(&format!("{path}&cursor=7"), page([5, 6], None));
    let all = client(fake.port).all_sessions().await.unwrap();
    let ids: Vec<&str> = all.rows.items.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["ses_1", "ses_2", "ses_5", "ses_6"]);
    assert_eq!((all.complete, all.everywhere), (false, false));
}

#[tokio::test]
async fn streams_end_with_a_name() {
    let fake = Fake::start().await;
    let mut events = Events::open(&client(fake.port)).await.unwrap();
    assert!(events.next().await.unwrap().contains("server.connected"));
    fake.send(r#"{"id":"e","type":"session.idle","properties":{"sessionID":"ses_1"}}"#);
    assert!(events.next().await.unwrap().contains("session.idle"));
    fake.events.send(Frame::Cut).unwrap();
    assert_eq!(events.next().await.unwrap_err(), Ending::Cut);

    fake.set("/global/event", html());
    let ending = Events::open(&client(fake.port)).await.err().unwrap();
    assert!(matches!(
        ending,
        Ending::NotOpened(ClientError::ContentType { .. })
    ));
    fake.set(
        "/global/event",
        Reply(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                .to_vec(),
            false,
        ),
    );
    let mut events = Events::open(&client(fake.port)).await.unwrap();
    assert_eq!(events.next().await.unwrap_err(), Ending::Closed);
}

struct Watched {
    inputs: mpsc::Receiver<Input>,
    commands: mpsc::Sender<LinkCommand>,
}

impl Watched {
    fn start(fake: &Fake, change: impl FnOnce(&mut LinkSpec)) -> Self {
        Self::start_by(fake, clock(), change)
    }

    fn start_by(fake: &Fake, clock: Clock, change: impl FnOnce(&mut LinkSpec)) -> Self {
        let mut spec = LinkSpec::new(ServerId(0), client_by(fake.port, clock.clone()));
        spec.pace = Pace {
            settle: Duration::from_millis(20),
            ..Pace::default()
        };
        change(&mut spec);
        let (sender, inputs) = mpsc::channel(4);
        let (commands, orders) = mpsc::channel(4);
        spawn(spec, clock, sender, orders);
        Self { inputs, commands }
    }

    /// All inputs up to and with the first that fits.
    async fn upto(&mut self, fits: impl Fn(&Body) -> bool) -> Vec<Input> {
        let mut all = Vec::new();
        loop {
            match timeout(DEADLINE, self.inputs.recv()).await {
                Ok(Some(input)) => {
                    let found = fits(&input.body);
                    all.push(input);
                    if found {
                        return all;
                    }
                }
                _ => panic!("not among {all:#?}"),
            }
        }
    }

    async fn live(&mut self) -> Vec<Input> {
        self.upto(|it| *it == Body::Link(LinkReport::Live)).await
    }
}

fn asleep_project() -> String {
    let row = r#"{"id":"ses_1","title":"t","time":{"created":1,"updated":1},"location":{"directory":"/p"}}"#;
    format!(r#"{{"data":[{row}],"cursor":{{"next":null}}}}"#)
}

#[tokio::test]
async fn an_asleep_project_is_never_named_until_it_is_seen() {
    let fake = Fake::opencode(&asleep_project()).await;
    let mut link = Watched::start(&fake, |spec| spec.inspect = Inspect::Loaded);
    let snapshot = link.live().await;
    assert!(
        !fake
            .asked()
            .iter()
            .any(|it| it.contains("%2Fp") || it.contains("ses_1")),
        "{:?}",
        fake.asked()
    );
    assert!(snapshot.iter().all(|it| it.epoch == snapshot[0].epoch));
    assert!(
        snapshot
            .iter()
            .any(|it| matches!(&it.body, Body::Status(read) if read.directory.as_str() == "/srv"))
    );

    fake.set("/session/ses_1/message?limit=20", json("[]"));
    fake.send(r#"{"id":"e","type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"busy"}}}"#);
    let seen = link
        .upto(|it| matches!(it, Body::Tail(tail) if tail.whole))
        .await;
    let loaded = |it: &Input| matches!(&it.body, Body::Directory(it) if it.state == DirectoryState::Loaded && it.directory.as_str() == "/p");
    assert!(seen.iter().any(loaded), "{seen:#?}");

    fake.send(r#"{"type":"server.instance.disposed","properties":{"directory":"/p"}}"#);
    link.upto(|it| matches!(it, Body::Directory(it) if it.state == DirectoryState::Asleep))
        .await;
    let before = fake.asked().len();
    link.commands
        .send(LinkCommand::Refresh(Directory::from("/srv")))
        .await
        .unwrap();
    link.upto(|it| matches!(it, Body::Asks(_))).await;
    assert!(!fake.asked()[before..].iter().any(|it| it.contains("%2Fp")));
    link.commands.send(LinkCommand::Shutdown).await.unwrap();
}

#[tokio::test]
async fn a_missing_folder_is_gone_and_a_failing_read_stops_nothing() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set(
        "/permission",
        reply(
            "400 Bad",
            "application/json",
            r#"{"name":"BadRequest","data":{"message":"at [0]"}}"#,
        ),
    );
    let mut link = Watched::start(&fake, |spec| spec.inspect = Inspect::All);
    let snapshot = link.live().await;
    assert!(
        snapshot
            .iter()
            .any(|it| matches!(&it.body, Body::Directory(it) if it.state == DirectoryState::Gone))
    );
    let failed = snapshot.iter().find_map(|it| match &it.body {
        Body::Failed(failed) => Some(failed.clone()),
        _ => None,
    });
    let failed = failed.unwrap();
    assert_eq!(
        (failed.endpoint, failed.status),
        (Endpoint::Permission, Some(400))
    );
    assert_eq!(failed.directory, Some(Directory::from("/srv")));
    assert!(!fake.asked().iter().any(|it| it.contains("%2Fp")));
}

#[tokio::test]
async fn a_loss_is_said_at_once_and_a_return_is_noticed() {
    let fake = Fake::opencode(&asleep_project()).await;
    let mut link = Watched::start(&fake, |_| {});
    let first = link.live().await[0].epoch;
    fake.events.send(Frame::Cut).unwrap();
    let lost = timeout(
        Duration::from_millis(500),
        link.upto(|it| matches!(it, Body::Link(LinkReport::Lost { .. }))),
    );
    let lost = lost.await.unwrap();
    let Body::Link(LinkReport::Lost {
        cause, retry_at, ..
    }) = &lost.last().unwrap().body
    else {
        panic!()
    };
    assert_eq!(*cause, LostCause::Unreachable);
    assert!(*retry_at > lost.last().unwrap().at);
    link.commands.send(LinkCommand::RetryNow).await.unwrap();
    let again = link.live().await;
    assert!(again.last().unwrap().epoch > first);
    let anew = Body::Link(LinkReport::Connecting { attempt: 1 });
    assert!(
        again.iter().any(|it| it.body == anew),
        "attempts count from the loss"
    );
}

#[tokio::test]
async fn a_slow_consumer_gets_folded_deltas_and_no_gap() {
    let fake = Fake::opencode(&asleep_project()).await;
    let mut link = Watched::start(&fake, |_| {});
    link.live().await;
    fake.set("/session/ses_1/message?limit=20", json("[]"));
    for n in 0..3000 {
        fake.send(&format!(r#"{{"id":"e","type":"message.part.delta","properties":{{"sessionID":"ses_1","messageID":"m","partID":"p","field":"text","delta":"{n} "}}}}"#));
    }
    fake.send(r#"{"id":"e","type":"session.idle","properties":{"sessionID":"ses_1"}}"#);
    let idle = |it: &Body| matches!(it, Body::Event(event) if matches!(event.kind, EventKind::Status { .. }));
    // The channel holds four: all others wait in the link, folded.
    let all = link.upto(idle).await;
    let last = all.iter().rev().find_map(|it| match &it.body {
        Body::Event(event) => match &event.kind {
            EventKind::Delta { text, session, .. } => Some((text.clone(), session.clone())),
            _ => None,
        },
        _ => None,
    });
    let (text, session) = last.unwrap();
    assert!(text.ends_with("2998 2999 "), "{text}");
    assert_eq!(session, SessionId::from("ses_1"));
}

fn beat(fake: &Fake) {
    let frame =
        "data: {\"payload\":{\"id\":\"e\",\"type\":\"server.heartbeat\",\"properties\":{}}}\n\n";
    fake.events.send(Frame::Data(frame.into())).unwrap();
}

/// Two heartbeats in quick succession teach the link a short interval; then the server is silent.
async fn silence_after_heartbeats(fake: &Fake, link: &mut Watched) -> (LostCause, String) {
    let heartbeat =
        |it: &Body| matches!(it, Body::Event(event) if event.kind == EventKind::Heartbeat);
    for _ in 0..2 {
        beat(fake);
        link.upto(heartbeat).await;
    }
    let lost = link
        .upto(|it| matches!(it, Body::Link(LinkReport::Lost { .. })))
        .await;
    match lost.last().unwrap().body.clone() {
        Body::Link(LinkReport::Lost { cause, text, .. }) => (cause, text),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn silence_is_wedged_only_when_health_does_not_answer() {
    let fake = Fake::opencode(&asleep_project()).await;
    let mut link = Watched::start(&fake, |_| {});
    link.live().await;
    let (cause, text) = silence_after_heartbeats(&fake, &mut link).await;
    assert_eq!(cause, LostCause::Unreachable, "{text}");
    link.commands.send(LinkCommand::RetryNow).await.unwrap();
    link.live().await;
    fake.set("/global/health", Reply(Vec::new(), true));
    let (cause, text) = silence_after_heartbeats(&fake, &mut link).await;
    assert_eq!(cause, LostCause::Wedged, "{text}");
}

#[tokio::test]
async fn without_a_stream_it_polls() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set("/global/event", html());
    let mut link = Watched::start(&fake, |spec| {
        spec.pace.blind_status = Duration::from_millis(30);
    });
    let snapshot = link.live().await;
    assert!(
        snapshot
            .iter()
            .any(|it| matches!(&it.body, Body::Failed(it) if it.endpoint == Endpoint::Events))
    );
    for _ in 0..3 {
        link.upto(|it| matches!(it, Body::Status(_))).await;
    }
}

/// Its row waits with the events for the end of the snapshot, so what is read of it before comes to
/// nothing.
#[tokio::test]
async fn a_session_that_begins_during_the_snapshot_is_read_after_its_row() {
    let fake = Fake::opencode(&asleep_project()).await;
    let tail = "/session/ses_9/message?limit=20";
    fake.set(tail, json("[]"));
    // A read that is not answered keeps the snapshot open for a while.
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n";
    fake.set("/session/status", Reply(head.into(), true));
    let mut link = Watched::start(&fake, |_| {});
    fake.until_asked("/session/status", 1).await;
    fake.send(r#"{"id":"e1","type":"session.updated","properties":{"info":{"id":"ses_9","directory":"/p","title":"new","time":{"created":2,"updated":2}}}}"#);
    fake.send(r#"{"id":"e2","type":"session.status","properties":{"sessionID":"ses_9","status":{"type":"busy"}}}"#);
    let mut all = link.live().await;
    let is_row = |it: &Body| matches!(it, Body::Event(it) if matches!(&it.kind, EventKind::SessionUpdated(row) if row.id.as_str() == "ses_9"));
    let is_tail = |it: &Body| matches!(it, Body::Tail(it) if it.session.as_str() == "ses_9");
    let row = all.iter().position(|it| is_row(&it.body)).unwrap();
    if !all[row..].iter().any(|it| is_tail(&it.body)) {
        all.extend(link.upto(is_tail).await);
    }
    assert!(all[row..].iter().any(|it| is_tail(&it.body)));
}

/// A stream that says `server.connected`, or nothing, and ends: properly, or with the connection.
fn short_streams() -> [Reply; 3] {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    let hello = "data: {\"payload\":{\"type\":\"server.connected\",\"properties\":{}}}\n\n";
    let length = hello.len();
    let whole = [
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{hello}\r\n0\r\n\r\n"),
        format!("{head}Connection: close\r\n\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{hello}\r\n"),
    ];
    whole.map(|it| Reply(it.into_bytes(), false))
}

#[tokio::test]
async fn a_stream_that_ends_at_once_is_a_gap_and_no_loss() {
    for short in short_streams() {
        let fake = Fake::opencode(&asleep_project()).await;
        fake.set("/global/event", short);
        let mut link = Watched::start(&fake, |spec| {
            spec.pace.blind_status = Duration::from_millis(30);
        });
        let mut all = link.live().await;
        for _ in 0..3 {
            all.extend(link.upto(|it| matches!(it, Body::Status(_))).await);
        }
        let lost = |it: &Input| matches!(it.body, Body::Link(LinkReport::Lost { .. }));
        assert!(!all.iter().any(lost), "{all:#?}");
        let gap = |it: &Input| matches!(&it.body, Body::Failed(it) if it.endpoint == Endpoint::Events && it.text.contains("event stream"));
        assert_eq!(all.iter().filter(|it| gap(it)).count(), 1, "{all:#?}");
        let streams = |it: &&String| *it == "/global/event";
        assert_eq!(fake.asked().iter().filter(streams).count(), 1);
    }
}

/// Whoever dies while it is read is gone, and has no mere gap.
#[tokio::test]
async fn a_stream_that_ends_with_its_server_is_a_loss() {
    for short in [None, Some(short_streams()[0].clone())] {
        let fake = Fake::opencode(&asleep_project()).await;
        if let Some(short) = short {
            fake.set("/global/event", short);
        }
        fake.set("/path", Reply(Vec::new(), true));
        let mut link = Watched::start(&fake, |_| {});
        fake.until_asked("/path", 1).await;
        fake.task.abort();
        let lost = link.upto(|it| matches!(it, Body::Link(LinkReport::Lost { .. })));
        let lost = lost.await;
        let Some(Body::Link(LinkReport::Lost { cause, .. })) = lost.last().map(|it| &it.body)
        else {
            panic!("{lost:#?}")
        };
        assert_eq!(*cause, LostCause::Refused);
        let live = |it: &Input| it.body == Body::Link(LinkReport::Live);
        assert!(!lost.iter().any(live), "{lost:#?}");
    }
}

/// The server says that it is connected before it hands events on: what ended meanwhile is read.
#[tokio::test]
async fn what_happens_before_events_come_is_read_once_more() {
    let fake = Fake::opencode(&asleep_project()).await;
    fake.set("/session/status", json(r#"{"ses_1":{"type":"busy"}}"#));
    let mut link = Watched::start(&fake, |spec| {
        spec.pace.after_live = Duration::from_millis(100);
    });
    let busy = link.live().await;
    let named = |it: &Body| matches!(it, Body::Status(read) if !read.entries.is_empty());
    assert!(busy.iter().any(|it| named(&it.body)));
    fake.set("/session/status", json("{}"));
    let before = fake.asked().len();
    link.upto(|it| matches!(it, Body::Status(read) if read.entries.is_empty()))
        .await;
    let again = |path: &str| fake.asked()[before..].iter().any(|it| it.starts_with(path));
    assert!(again("/session/status"));
}

#[tokio::test]
async fn a_consumer_that_lost_the_thread_gets_everything_again() {
    let fake = Fake::opencode(&asleep_project()).await;
    let mut link = Watched::start(&fake, |spec| spec.inspect = Inspect::Loaded);
    link.live().await;
    let odd = "data: {\"payload\":{\"type\":\"moon.phase\",\"properties\":{}}}\n\n".repeat(18_000);
    fake.events.send(Frame::Data(odd.into())).unwrap();
    fake.until_asked("/api/session", 2).await;
    link.upto(|it| *it == Body::Link(LinkReport::Resynced))
        .await;
}

#[tokio::test]
async fn an_event_past_the_cap_is_counted_and_its_session_read() {
    let fake = Fake::opencode(&asleep_project()).await;
    let mut link = Watched::start(&fake, |spec| spec.inspect = Inspect::Loaded);
    link.live().await;
    fake.set("/session/ses_1/message?limit=20", json("[]"));
    let many = "1,".repeat(3_000_000);
    fake.send(&format!(r#"{{"id":"e","type":"message.part.updated","properties":{{"sessionID":"ses_1","x":[{many}1]}}}}"#));
    let all = link
        .upto(|it| matches!(it, Body::Tail(tail) if tail.session.as_str() == "ses_1"))
        .await;
    let malformed = |it: &Input| matches!(&it.body, Body::Event(event) if matches!(event.kind, EventKind::Malformed { .. }));
    assert_eq!(all.iter().filter(|it| malformed(it)).count(), 1);
}
