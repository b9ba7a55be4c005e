//! A desk without a terminal: what links, keys and time say goes in as messages.

use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{App, AppOptions, Effect, Msg, update};
use ocwatch::core::id::{Epoch, ServerId};
use ocwatch::core::store::ServerSpec;
use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Input, LinkReport,
    Message, SessionInfo, SessionList, Status, StatusRead, TailRead, v1,
};

/// The directory of all that is not said to be elsewhere.
pub const HOME: &str = "/srv/a";

pub struct Desk {
    pub app: App,
    pub now: i64,
    /// Of the connection that what is fed comes by.
    pub epoch: u64,
    /// All that was asked for so far.
    pub effects: Vec<Effect>,
}

impl Desk {
    /// Over servers of these names, none of which has answered yet.
    pub fn over(names: &[&str], options: AppOptions, now: i64) -> Self {
        let spec = |name: &&str| ServerSpec {
            name: (*name).into(),
            url: "http://h".into(),
            read_only: None,
        };
        Self {
            app: App::new(names.iter().map(spec).collect(), options),
            now,
            epoch: 1,
            effects: Vec::new(),
        }
    }

    pub fn msg(&mut self, msg: Msg) -> Vec<Effect> {
        let effects = update(&mut self.app, msg, UnixMs(self.now));
        self.effects.extend(effects.iter().cloned());
        effects
    }

    /// What the link to the first server says.
    pub fn feed(&mut self, bodies: Vec<Body>) {
        let (at, epoch) = (UnixMs(self.now), Epoch(self.epoch));
        let input = |body| Input {
            server: ServerId(0),
            epoch,
            at,
            body,
        };
        self.msg(Msg::Feed(bodies.into_iter().map(input).collect()));
    }

    pub fn key(&mut self, key: Key) -> Vec<Effect> {
        self.msg(Msg::Key(key))
    }

    pub fn keys(&mut self, text: &str) {
        for c in text.chars() {
            self.key(Key::Char(c));
        }
    }

    pub fn wait(&mut self, ms: i64) {
        self.now += ms;
        self.msg(Msg::Tick);
    }
}

/// A server answers and says what it is.
pub fn hello() -> Vec<Body> {
    vec![
        Body::Link(LinkReport::Connecting { attempt: 1 }),
        Body::Link(LinkReport::Identified {
            dialect: Dialect::V1,
            version: Some("1.18.33".into()),
            skew: None,
            unsecured: false,
        }),
    ]
}

pub fn directory(path: &str, state: DirectoryState) -> Body {
    Body::Directory(DirectoryReport {
        directory: path.into(),
        state,
    })
}

pub fn sessions(rows: Vec<SessionInfo>, asked_at: UnixMs, complete: bool) -> Body {
    Body::Sessions(SessionList {
        rows,
        asked_at,
        complete,
    })
}

/// Of the sessions at home these are busy, and no other.
pub fn status(busy: &[&str], asked_at: UnixMs) -> Body {
    let entries = busy.iter().map(|id| ((*id).into(), Status::Busy));
    Body::Status(StatusRead {
        directory: HOME.into(),
        asked_at,
        entries: entries.collect(),
    })
}

/// All of this kind that is asked at home.
pub fn asks(kind: AskKind, asked_at: UnixMs, asks: Vec<Ask>) -> Body {
    Body::Asks(AsksRead {
        directory: HOME.into(),
        kind,
        asked_at,
        asks,
    })
}

/// All messages of a session.
pub fn tail(session: &str, messages: Vec<Message>, asked_at: UnixMs) -> Body {
    Body::Tail(TailRead {
        session: session.into(),
        asked_at,
        messages,
        whole: true,
        missing: 0,
    })
}

/// A session at home, begun and last changed at a time.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
pub fn row(id: &str, at: UnixMs) -> SessionInfo {
    let (title, at) = (format!("title of {id}"), at.0);
    let time = serde_json::json!({ "created": at, "updated": at });
    let row = serde_json::json!({ "id": id, "title": title, "directory": HOME, "time": time });
    v1::decode_session(row.to_string().as_bytes()).unwrap()
}
