//! A server that answers as OpenCode 1.18.33 does, for a fixed set of sessions: a second reading of the
//! API's documents that shares nothing with the simulated server of the program.
//!
//! What it does: lists, status, asks, messages with cursors, the event stream, Basic auth, a clock that is
//! off, `/permission` that answers 400; note every request that would start an asleep project or change
//! something. What it does not: run turns; nothing changes while it serves.

use crate::story::{Ask, Story};
use axum::body::Body;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const VERSION: &str = "1.18.33";
const HEARTBEAT: Duration = Duration::from_secs(10);
const PAGE: &str =
    "<!doctype html>\n<html lang=\"en\"><head><title>OpenCode</title></head><body></body></html>\n";

/// A directory of the set.
#[derive(Debug, Clone)]
pub struct Place {
    pub path: String,
    /// `id` and `worktree` of its project.
    pub project: (String, String),
    /// Nobody may ask it: it is asleep, or gone.
    pub forbidden: bool,
    /// `/permission` always answers 400 here, naming this field.
    pub unreadable: Option<&'static str>,
}

/// What a run changes.
#[derive(Debug, Clone, Default)]
pub struct Variant {
    pub name: &'static str,
    /// The server's clock minus ours, in ms.
    pub skew: i64,
    pub password: Option<&'static str>,
    pub no_permissions: bool,
    /// `/api/*` answers like any unknown path.
    pub no_preview: bool,
    /// Messages do not name their session, and parts neither it nor their message nor themselves.
    pub bare: bool,
}

/// The set, as the server holds it.
pub struct World {
    pub places: BTreeMap<String, Place>,
    pub cwd: String,
    pub stories: Vec<Story>,
    /// Ids that are busy in a directory (by name) though their session was deleted.
    pub zombies: Vec<(String, String)>,
    pub variant: Variant,
    pub clock: fn() -> i64,
    witness: Mutex<BTreeSet<String>>,
}

type Answer = Response<Body>;

/// A running server; it ends with this value.
pub struct Serving {
    pub world: Arc<World>,
    pub port: u16,
    _runtime: tokio::runtime::Runtime,
}

impl World {
    pub fn new(cwd: &str, variant: Variant, clock: fn() -> i64) -> Self {
        Self {
            places: BTreeMap::new(),
            cwd: cwd.to_owned(),
            stories: Vec::new(),
            zombies: Vec::new(),
            variant,
            clock,
            witness: Mutex::default(),
        }
    }

    pub fn serve(self) -> Serving {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let world = Arc::new(self);
        let shared = world.clone();
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let router =
            axum::Router::new().fallback(move |method: Method, uri: Uri, headers: HeaderMap| {
                let world = shared.clone();
                async move { world.answer(&method, &uri, &headers) }
            });
        runtime.spawn(async move { axum::serve(listener, router).await });
        Serving {
            world,
            port,
            _runtime: runtime,
        }
    }

    /// What was asked that nobody may ask.
    pub fn witnessed(&self) -> Vec<String> {
        let witness = self.witness.lock().expect("no test panics with it");
        witness.iter().cloned().collect()
    }

    fn note(&self, what: String) {
        let mut witness = self.witness.lock().expect("no test panics with it");
        witness.insert(what);
    }

    /// The path of a directory by its name.
    pub fn path(&self, name: &str) -> &str {
        &self.places[name].path
    }

    fn story(&self, id: &str) -> Option<&Story> {
        self.stories.iter().find(|s| s.id == id)
    }

    fn answer(self: &Arc<Self>, method: &Method, uri: &Uri, headers: &HeaderMap) -> Answer {
        let mut answer = if self.may(headers) {
            self.route(method, uri, headers)
        } else {
            unauthorized(uri.path())
        };
        let now = jiff::Timestamp::from_millisecond((self.clock)() + self.variant.skew)
            .expect("a time of our age");
        let date = now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let headers = answer.headers_mut();
        headers.insert("date", date.parse().expect("ascii"));
        headers.insert("vary", "Origin".parse().expect("ascii"));
        answer
    }

    fn may(&self, headers: &HeaderMap) -> bool {
        let Some(password) = self.variant.password else {
            return true;
        };
        let wanted = format!("Basic {}", STANDARD.encode(format!("opencode:{password}")));
        headers.get("authorization").and_then(|h| h.to_str().ok()) == Some(&wanted)
    }

    fn route(self: &Arc<Self>, method: &Method, uri: &Uri, headers: &HeaderMap) -> Answer {
        let query = Query::of(uri, headers);
        let steps: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
        if method != Method::GET && steps != ["sync", "history"] {
            self.note(format!("{method} {uri}: looking never writes"));
        }
        match steps.as_slice() {
            ["global", "health"] => reply(&json!({"healthy": true, "version": VERSION})),
            ["api", ..] if self.variant.no_preview => html(),
            ["api", "health"] => reply(&json!({"healthy": true})),
            ["global", "event"] => events(),
            ["doc"] => reply(&json!({"openapi": "3.1.0",
                "info": {"title": "opencode", "version": "1.0.0"}, "paths": {}})),
            ["experimental", "session"] => self.everywhere(&query),
            ["api", "session"] => self.preview(&query),
            ["api", "session", "active"] => reply(&json!({"data": {}})),
            ["api", "session", ..] => {
                self.note(format!("{uri}: starts a second kind of service"));
                html()
            }
            ["sync", "history"] => reply(&json!([])),
            ["project"] => reply(&self.projects()),
            ["session", id, rest @ ..] if *id != "status" => self.one(id, rest, &query),
            _ => self.scoped(&steps, &query),
        }
    }

    /// Calls that start the instance of the directory that they name.
    fn scoped(self: &Arc<Self>, steps: &[&str], query: &Query) -> Answer {
        let known: &[&[&str]] = &[
            &["session"],
            &["session", "status"],
            &["question"],
            &["permission"],
            &["path"],
            &["mcp"],
            &["event"],
        ];
        if !known.contains(&steps) {
            return html();
        }
        let directory = query
            .directory
            .clone()
            .unwrap_or_else(|| self.path(&self.cwd).to_owned());
        let directory = directory.trim_end_matches('/').to_owned();
        let place = self.places.iter().find(|(_, p)| p.path == directory);
        if place.is_none_or(|(_, p)| p.forbidden) {
            self.note(format!("/{} of {directory}", steps.join("/")));
        }
        let name = place.map_or("", |(name, _)| name.as_str());
        match steps {
            ["session"] => self.list(name, query),
            ["session", "status"] => reply(&self.status(name)),
            ["question"] => reply(&self.asks(name, false)),
            ["permission"] => self.permissions(name),
            ["mcp"] => reply(&json!({"github": {"status": "connected"},
                "my.srv-one": {"status": "connected"}})),
            ["event"] => events(),
            _ => reply(
                &json!({"home": "/home/someone", "state": "/home/someone/.local/state/opencode",
                "config": "/home/someone/.config/opencode", "worktree": directory,
                "directory": directory}),
            ),
        }
    }

    fn status(&self, place: &str) -> Value {
        let busy = self
            .stories
            .iter()
            .filter(|s| s.place == place)
            .filter_map(|s| Some((s.id.clone(), s.status.clone()?)));
        let zombies = self
            .zombies
            .iter()
            .filter(|(_, at)| at == place)
            .map(|(id, _)| (id.clone(), json!({"type": "busy"})));
        Value::Object(busy.chain(zombies).collect())
    }

    fn asks(&self, place: &str, permissions: bool) -> Value {
        self.stories
            .iter()
            .filter(|s| s.place == place)
            .flat_map(|s| &s.asks)
            .filter_map(|ask| match ask {
                Ask::Permission(ask) => permissions.then(|| ask.clone()),
                Ask::Question(ask) => (!permissions).then(|| ask.clone()),
            })
            .collect()
    }

    /// The listing cannot be encoded while one ask in it has an input that is absent.
    fn permissions(&self, place: &str) -> Answer {
        let broken = self.places.get(place).and_then(|p| p.unreadable);
        let field = broken.or_else(|| self.variant.no_permissions.then(|| self.field(place)));
        let Some(field) = field else {
            return reply(&self.asks(place, true));
        };
        let message =
            format!("Expected JSON value, got undefined\n  at [0][\"metadata\"][\"{field}\"]");
        status(
            StatusCode::BAD_REQUEST,
            &json!({"name": "BadRequest", "data": {"message": message, "kind": "Body"}}),
        )
    }

    /// What a pending ask of this directory leaves out: webfetch its timeout, glob and grep their path.
    fn field(&self, place: &str) -> &'static str {
        let fetches = self.stories.iter().filter(|s| s.place == place).any(|s| {
            s.messages
                .iter()
                .flat_map(|m| &m.parts)
                .any(|p| p["tool"] == "webfetch" && p["state"]["status"] == "running")
        });
        if fetches { "timeout" } else { "path" }
    }

    fn projects(&self) -> Value {
        let mut projects: BTreeMap<&str, Value> = BTreeMap::new();
        for place in self.places.values() {
            let (id, worktree) = &place.project;
            projects.insert(
                id,
                json!({"id": id, "worktree": worktree, "vcs": "git",
                    "time": {"created": 1_795_000_000_000_i64, "updated": 1_795_000_000_000_i64},
                    "sandboxes": []}),
            );
        }
        projects.into_values().collect()
    }

    fn row(&self, story: &Story) -> Value {
        let place = &self.places[&story.place];
        let mut row = json!({"id": story.id, "slug": "calm-river", "projectID": place.project.0,
            "directory": place.path, "path": "", "title": story.title, "agent": story.agent,
            "model": {"id": "big-1", "providerID": "acme", "variant": "default"},
            "version": VERSION, "summary": {"additions": 0, "deletions": 0, "files": 0},
            "cost": 0, "tokens": {"input": 100, "output": 10, "reasoning": 0,
                "cache": {"read": 0, "write": 0}},
            "time": {"created": story.created, "updated": story.updated}});
        if let Some(parent) = &story.parent {
            row["parentID"] = json!(parent);
        }
        if let Some(at) = story.archived {
            row["time"]["archived"] = json!(at);
        }
        if let Some(revert) = &story.revert {
            row["revert"] = revert.clone();
        }
        row
    }

    /// The stories, the last changed first.
    fn sorted(&self) -> Vec<&Story> {
        let mut stories: Vec<&Story> = self.stories.iter().collect();
        stories.sort_by(|a, b| b.updated.cmp(&a.updated).then(b.id.cmp(&a.id)));
        stories
    }

    /// `/session`: one directory, archived ones too.
    fn list(&self, place: &str, query: &Query) -> Answer {
        let rows: Vec<Value> = self
            .sorted()
            .into_iter()
            .filter(|s| s.place == place)
            .take(query.limit.filter(|&n| n > 0).unwrap_or(100))
            .map(|s| self.row(s))
            .collect();
        reply(&json!(rows))
    }

    /// `/experimental/session`: all projects, the last changed first, without the archived.
    fn everywhere(&self, query: &Query) -> Answer {
        let limit = query.limit.filter(|&n| n > 0).unwrap_or(100);
        let before: Option<i64> = query.cursor.as_ref().and_then(|c| c.parse().ok());
        let rows: Vec<&Story> = self
            .sorted()
            .into_iter()
            .filter(|s| s.archived.is_none() || query.archived)
            .filter(|s| before.is_none_or(|at| s.updated < at))
            .collect();
        let page = &rows[..limit.min(rows.len())];
        let bodies: Vec<Value> = page
            .iter()
            .map(|s| {
                let mut row = self.row(s);
                let (id, worktree) = &self.places[&s.place].project;
                row["project"] = json!({"id": id, "worktree": worktree});
                row
            })
            .collect();
        let mut answer = reply(&json!(bodies));
        if let (true, Some(last)) = (rows.len() > limit, page.last()) {
            let cursor = last.updated.to_string().parse().expect("ascii");
            answer.headers_mut().insert("x-next-cursor", cursor);
        }
        answer
    }

    /// `/api/session`: all projects, the last created first, archived ones too; cursors in the body.
    fn preview(&self, query: &Query) -> Answer {
        let mut stories: Vec<&Story> = self.stories.iter().collect();
        stories.sort_by(|a, b| b.created.cmp(&a.created).then(b.id.cmp(&a.id)));
        let from = match &query.cursor {
            None => 0,
            Some(cursor) => match stories.iter().position(|s| cursor == &anchor(s)) {
                Some(at) => at + 1,
                None => {
                    return status(
                        StatusCode::BAD_REQUEST,
                        &json!({"_tag": "InvalidCursorError", "message": "Invalid cursor"}),
                    );
                }
            },
        };
        let page: Vec<&Story> = stories
            .into_iter()
            .skip(from)
            .take(query.limit.unwrap_or(50))
            .collect();
        let rows: Vec<Value> = page.iter().map(|s| self.preview_row(s)).collect();
        let cursor = match page.last() {
            Some(last) => json!({"previous": anchor(page[0]), "next": anchor(last)}),
            None => json!({}),
        };
        reply(&json!({"data": rows, "cursor": cursor}))
    }

    fn preview_row(&self, story: &Story) -> Value {
        let mut row = self.row(story);
        let fields = row.as_object_mut().expect("a row");
        for unknown in ["slug", "directory", "path", "version", "summary"] {
            fields.remove(unknown);
        }
        row["location"] = json!({"directory": self.places[&story.place].path});
        row
    }

    /// `/session/:id` and below: they start the directory of the session.
    fn one(&self, id: &str, rest: &[&str], query: &Query) -> Answer {
        let Some(story) = self.story(id) else {
            let message = format!("Session not found: {id}");
            return status(
                StatusCode::NOT_FOUND,
                &json!({"name": "NotFoundError", "data": {"message": message}}),
            );
        };
        if self.places[&story.place].forbidden {
            self.note(format!("/session/{id} of {}", self.path(&story.place)));
        }
        match rest {
            [] => reply(&self.row(story)),
            ["message"] => self.messages(story, query),
            ["todo"] => reply(&json!([])),
            ["children"] => {
                let children = self
                    .stories
                    .iter()
                    .filter(|s| s.parent.as_deref() == Some(id));
                reply(&children.map(|s| self.row(s)).collect())
            }
            _ => html(),
        }
    }

    /// The newest `limit` before the cursor, the oldest of them first.
    fn messages(&self, story: &Story, query: &Query) -> Answer {
        let mut all: Vec<Value> = story
            .messages
            .iter()
            .map(|m| json!({"info": m.info, "parts": m.parts}))
            .collect();
        let place = &story.place;
        if self.variant.bare {
            all.iter_mut().for_each(bare);
        }
        for message in &mut all {
            if let Some(path) = message["info"].get_mut("path") {
                *path = json!({"cwd": self.path(place), "root": self.path(place)});
            }
        }
        let Some(limit) = query.limit.filter(|&n| n > 0) else {
            if query.before.is_some() {
                return status(StatusCode::BAD_REQUEST, &json!({"_tag": "BadRequest"}));
            }
            return reply(&json!(all));
        };
        if let Some(before) = &query.before {
            let Some(end) = all.iter().position(|m| &cursor(m) == before) else {
                return status(StatusCode::BAD_REQUEST, &json!({"_tag": "BadRequest"}));
            };
            all.truncate(end);
        }
        let from = all.len().saturating_sub(limit);
        let page = &all[from..];
        let mut answer = reply(&json!(page));
        if from > 0 {
            let next = cursor(&page[0]);
            let link = format!(
                "<http://127.0.0.1/session/{}/message?limit={limit}&before={next}>; rel=\"next\"",
                story.id
            );
            let headers = answer.headers_mut();
            headers.insert("link", link.parse().expect("ascii"));
            headers.insert("x-next-cursor", next.parse().expect("ascii"));
        }
        answer
    }
}

/// The query of a request, decoded.
#[derive(Default)]
struct Query {
    directory: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
    before: Option<String>,
    archived: bool,
}

impl Query {
    fn of(uri: &Uri, headers: &HeaderMap) -> Self {
        let mut query = Self::default();
        for pair in uri.query().unwrap_or("").split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value);
            match key {
                "directory" => query.directory = Some(value),
                "limit" => query.limit = value.parse().ok(),
                "cursor" => query.cursor = Some(value),
                "before" => query.before = Some(value),
                "archived" => query.archived = value == "true",
                _ => {}
            }
        }
        let header = headers.get("x-opencode-directory");
        if let (None, Some(header)) = (&query.directory, header) {
            query.directory = header.to_str().ok().map(decoded);
        }
        query
    }
}

/// `%41` and `+`, as a query has them.
fn decoded(value: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let hex: String = bytes.by_ref().take(2).map(char::from).collect();
                out.push(u8::from_str_radix(&hex, 16).unwrap_or(b'?'));
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn anchor(story: &Story) -> String {
    let anchor = json!({"anchor": {"id": story.id, "time": story.created, "direction": "next"}});
    URL_SAFE_NO_PAD.encode(anchor.to_string())
}

fn bare(message: &mut Value) {
    let drop = |value: &mut Value, keys: &[&str]| {
        if let Some(object) = value.as_object_mut() {
            object.retain(|key, _| !keys.contains(&key.as_str()));
        }
    };
    drop(&mut message["info"], &["sessionID"]);
    for part in message["parts"].as_array_mut().into_iter().flatten() {
        drop(part, &["id", "sessionID", "messageID"]);
    }
}

fn cursor(message: &Value) -> String {
    let info = &message["info"];
    let cursor = json!({"id": info["id"], "time": info["time"]["created"]});
    URL_SAFE_NO_PAD.encode(cursor.to_string())
}

fn status(code: StatusCode, body: &Value) -> Answer {
    Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("a response")
}

fn reply(body: &Value) -> Answer {
    status(StatusCode::OK, body)
}

/// Any unknown path, whatever the method: the web page.
fn html() -> Answer {
    Response::builder()
        .header("content-type", "text/html")
        .body(Body::from(PAGE))
        .expect("a response")
}

fn unauthorized(path: &str) -> Answer {
    let mut answer = if path.starts_with("/api/") {
        let body = json!({"_tag": "UnauthorizedError", "message": "Authentication required"});
        status(StatusCode::UNAUTHORIZED, &body)
    } else {
        let mut empty = Response::new(Body::empty());
        *empty.status_mut() = StatusCode::UNAUTHORIZED;
        empty
    };
    let realm = "Basic realm=\"Secure Area\"".parse().expect("ascii");
    answer.headers_mut().insert("www-authenticate", realm);
    answer
}

/// `server.connected`, then a heartbeat every 10 s, for ever.
fn events() -> Answer {
    let frames = futures_util::stream::unfold(0_u64, |n| async move {
        let kind = if n == 0 {
            "server.connected"
        } else {
            tokio::time::sleep(HEARTBEAT).await;
            "server.heartbeat"
        };
        let id = crate::story::id("evt", 1_795_000_000_000, n);
        let frame = json!({"payload": {"id": id, "type": kind, "properties": {}}});
        Some((Ok::<_, Infallible>(format!("data: {frame}\n\n")), n + 1))
    });
    Response::builder()
        .header("content-type", "text/event-stream")
        .header("cache-control", "no-cache")
        .body(Body::from_stream(frames))
        .expect("a response")
}
