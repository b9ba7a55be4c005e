//! How long judging takes: 10,000 sessions from scratch, and again after one event. The yardstick is
//! a plain clone of the same store: what the machine needs to touch all of it once.
//!
//! `cargo bench --bench judge`
//!
//! The sessions have the tails that a real server gave (`tests/recordings/v1`).

use criterion::{BatchSize, Criterion};
use ocwatch::core::id::{Directory, Epoch, ServerId, SessionId};
use ocwatch::core::judge::{Judge, Limits, judge_all};
use ocwatch::core::store::{Change, ServerSpec, Store};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::v1::{WireError, decode_messages};
use ocwatch::core::wire::{
    Body, Dialect, DirectoryReport, DirectoryState, Event, EventKind, Input, LinkReport, Message,
    SessionInfo, SessionList, Status, StatusRead, TailRead, Tokens,
};
use std::collections::BTreeMap;
use std::error::Error;

const SESSIONS: usize = 10_000;
const DIRECTORIES: usize = 20;
/// Every so many sessions: a subagent of the one before it, and one that is reported busy.
const EVERY: usize = 10;
const SERVER: ServerId = ServerId(0);

const BODIES: [&str; 8] = [
    include_str!("../recordings/v1/v1-messages-text.json"),
    include_str!("../recordings/v1/v1-messages-bash.json"),
    include_str!("../recordings/v1/v1-messages-bash-running.json"),
    include_str!("../recordings/v1/v1-messages-dangling-after-sigkill.json"),
    include_str!("../recordings/v1/v1-messages-question.json"),
    include_str!("../recordings/v1/v1-messages-permission-rejected.json"),
    include_str!("../recordings/v1/v1-messages-subagent.json"),
    include_str!("../recordings/v1/v1-messages-aborted-tool.json"),
];

fn session(n: usize) -> SessionId {
    SessionId::new(format!("ses_{n:05}"))
}

fn directory(n: usize) -> Directory {
    Directory::new(format!("/srv/project-{}", n % DIRECTORIES))
}

/// A store under construction. All inputs come at one time.
struct World {
    store: Store,
    at: UnixMs,
}

impl World {
    fn say(&mut self, body: Body) -> Change {
        self.store.apply(Input {
            server: SERVER,
            epoch: Epoch(1),
            at: self.at,
            body,
        })
    }

    /// A status event a moment later.
    fn event(&mut self, n: usize, status: Status) -> Change {
        self.at = self.at + Span(1);
        self.say(Body::Event(Event {
            directory: Some(directory(n)),
            kind: EventKind::Status {
                session: session(n),
                status,
            },
        }))
    }
}

fn world() -> Result<World, WireError> {
    let mut tails = Vec::new();
    for body in BODIES {
        tails.push(decode_messages(body.as_bytes())?.items);
    }
    let newest = tails.iter().flatten().map(|m| m.created).max();
    let at = newest.unwrap_or_default() + Span::mins(30);
    let spec = ServerSpec {
        name: "home".into(),
        url: "http://127.0.0.1:4096".into(),
    };
    let store = Store::new(vec![spec]);
    let mut world = World { store, at };
    world.say(Body::Link(LinkReport::Connecting { attempt: 1 }));
    world.say(Body::Link(LinkReport::Identified {
        dialect: Dialect::V1,
        version: Some("1.18.33".into()),
        skew: Some(Span::ZERO),
        unsecured: false,
    }));
    world.say(Body::Sessions(SessionList {
        rows: (0..SESSIONS).map(|n| row(n, at)).collect(),
        asked_at: at,
        complete: true,
    }));
    (0..DIRECTORIES).for_each(|n| read_directory(&mut world, n));
    for n in 0..SESSIONS {
        world.say(Body::Tail(TailRead {
            session: session(n),
            asked_at: at,
            messages: owned(&tails[n % tails.len()], n),
            whole: true,
        }));
    }
    world.say(Body::Link(LinkReport::Live));
    Ok(world)
}

fn row(n: usize, at: UnixMs) -> SessionInfo {
    SessionInfo {
        id: session(n),
        title: format!("Session number {n}"),
        directory: directory(if is_child(n) { n - 1 } else { n }),
        parent: is_child(n).then(|| session(n - 1)),
        agent: Some("build".into()),
        model: None,
        created: UnixMs(at.0 - Span::hours(1).0),
        updated: UnixMs(at.0 - Span::mins(30).0),
        archived: None,
        reverted: false,
        cost: 0.0,
        tokens: Tokens::default(),
    }
}

fn is_child(n: usize) -> bool {
    n % EVERY == 1
}

fn read_directory(world: &mut World, n: usize) {
    let directory = directory(n);
    world.say(Body::Directory(DirectoryReport {
        directory: directory.clone(),
        state: DirectoryState::Loaded,
    }));
    let here = (n..SESSIONS).step_by(DIRECTORIES);
    let busy = here.filter(|n| (n / DIRECTORIES).is_multiple_of(EVERY));
    let entries: BTreeMap<_, _> = busy.map(|n| (session(n), Status::Busy)).collect();
    world.say(Body::Status(StatusRead {
        directory,
        asked_at: world.at,
        entries,
    }));
}

/// The recorded messages as messages of session `n`.
fn owned(messages: &[Message], n: usize) -> Vec<Message> {
    let mut messages = messages.to_vec();
    for message in &mut messages {
        message.session = session(n);
        for part in &mut message.parts {
            part.session = session(n);
        }
    }
    messages
}

fn benches(criterion: &mut Criterion, mut world: World) {
    let limits = Limits::default();
    let mut group = criterion.benchmark_group("10,000 sessions");
    group.sample_size(20);
    group.bench_function("yardstick: clone the store", |b| {
        b.iter_batched(|| (), |()| world.store.clone(), BatchSize::LargeInput);
    });
    group.bench_function("judge all from scratch", |b| {
        let judge = || judge_all(&world.store, world.at, &limits);
        b.iter_batched(|| (), |()| judge(), BatchSize::LargeInput);
    });
    let mut judge = Judge::new(limits.clone());
    judge.update(&world.store, &[Change::Server(SERVER)], world.at);
    let mut busy = false;
    group.bench_function("apply one event and judge again", |b| {
        b.iter(|| {
            busy = !busy;
            let status = if busy { Status::Busy } else { Status::Idle };
            let change = world.event(SESSIONS / 2, status);
            judge.update(&world.store, &[change], world.at);
        });
    });
    group.finish();
}

fn main() -> Result<(), Box<dyn Error>> {
    let world = world()?;
    let judgement = judge_all(&world.store, world.at, &Limits::default());
    if judgement.verdicts.len() != SESSIONS {
        return Err("not every session was judged".into());
    }
    let mut criterion = Criterion::default().configure_from_args();
    benches(&mut criterion, world);
    criterion.final_summary();
    Ok(())
}
