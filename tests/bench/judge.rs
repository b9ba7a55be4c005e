//! How long judging takes: 10,000 sessions from scratch, and again after one event. The yardstick is
//! a plain clone of the same store: what the machine needs to touch all of it once.
//!
//! `cargo bench --bench judge`
//!
//! The sessions have the tails that a real server gave (`tests/recordings/v1`). Each event comes to
//! another session than the one before. What counts is the time from an event until the judgement
//! is right again; what of it is the store's and what the judge's is measured as well. The clock
//! stands still: what is due by time alone is not the event's.

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion};
use ocwatch::core::id::{AskId, Directory, Epoch, ServerId, SessionId};
use ocwatch::core::judge::{Judge, Judgement, Level, Limits, judge_all};
use ocwatch::core::store::{Change, ServerSpec, Store};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::v1::{WireError, decode_messages};
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Event, EventKind,
    Input, LinkReport, Message, SessionInfo, SessionList, Status, StatusRead, TailRead, Tokens,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

const SESSIONS: usize = 10_000;
const DIRECTORIES: usize = 20;
/// So many sessions are neighbours: the second is a subagent of the first, the third one of the
/// second. Of every tenth such group all are reported busy.
const GROUP: usize = 10;
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

/// A family lives in one directory.
fn directory(n: usize) -> Directory {
    Directory::new(format!("/srv/project-{}", n / GROUP % DIRECTORIES))
}

fn parent(n: usize) -> Option<SessionId> {
    matches!(n % GROUP, 1 | 2).then(|| session(n - 1))
}

fn is_busy(n: usize) -> bool {
    (n / GROUP).is_multiple_of(GROUP)
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

    fn event(&mut self, kind: EventKind) -> Change {
        self.say(Body::Event(Event {
            directory: None,
            kind,
        }))
    }
}

fn world() -> Result<World, WireError> {
    let mut tails = Vec::new();
    for body in BODIES {
        tails.push(
            decode_messages(body.as_bytes(), &SessionId::from("ses_1"))?
                .rows
                .items,
        );
    }
    let newest = tails.iter().flatten().map(|m| m.created).max();
    let at = newest.unwrap_or_default() + Span::mins(30);
    let spec = ServerSpec {
        name: "home".into(),
        url: "http://127.0.0.1:4096".into(),
        read_only: None,
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
            messages: owned(&tails[(n + n / GROUP) % tails.len()], n),
            whole: true,
            missing: 0,
        }));
    }
    world.say(Body::Link(LinkReport::Live));
    Ok(world)
}

fn row(n: usize, at: UnixMs) -> SessionInfo {
    SessionInfo {
        id: session(n),
        title: format!("Session number {n}"),
        directory: directory(n),
        parent: parent(n),
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

fn read_directory(world: &mut World, n: usize) {
    let directory = directory(n * GROUP);
    world.say(Body::Directory(DirectoryReport {
        directory: directory.clone(),
        state: DirectoryState::Loaded,
    }));
    let here = (0..SESSIONS).filter(|n| self::directory(*n) == directory);
    let busy = here.filter(|n| is_busy(*n));
    let entries: BTreeMap<_, _> = busy.map(|n| (session(n), Status::Busy)).collect();
    for kind in [AskKind::Permission, AskKind::Question] {
        world.say(Body::Asks(AsksRead {
            directory: directory.clone(),
            kind,
            asked_at: world.at,
            asks: Vec::new(),
        }));
    }
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

/// A token of an answer that a busy session writes.
fn deltas(store: &Store) -> impl Fn(usize) -> EventKind + use<> {
    let mut live = Vec::new();
    for n in (0..SESSIONS).filter(|n| is_busy(*n)) {
        let server = store.server(SERVER);
        let known = server.and_then(|server| server.sessions.get(&session(n)));
        let part = known.and_then(|known| known.tail.live_parts().next());
        live.extend(part.map(|part| (part.session.clone(), part.message.clone(), part.id.clone())));
    }
    move |turn| {
        let (session, message, part) = live[turn % live.len()].clone();
        let text = "word ".to_owned();
        EventKind::Delta {
            session,
            message,
            part,
            text,
        }
    }
}

/// A subagent of a subagent asks, and is answered at the next turn.
fn asks(turn: usize) -> EventKind {
    let families = SESSIONS / GROUP / GROUP;
    let (ask, answered) = (turn / 2, turn % 2 == 1);
    let session = session(ask % families * GROUP * GROUP + 2);
    let id = AskId::new(format!("per_{ask}"));
    if answered {
        return EventKind::AskClosed { session, ask: id };
    }
    EventKind::Asked(Box::new(Ask {
        id,
        session,
        kind: AskKind::Permission,
        tool: None,
        permission: Some("bash".into()),
        patterns: vec!["rm -r build".into()],
        always: Vec::new(),
        command: None,
        diff: None,
        questions: Vec::new(),
    }))
}

/// A session where nothing runs is given another title.
fn rows(turn: usize, at: UnixMs) -> EventKind {
    let quiet = turn * 7 % SESSIONS / GROUP * GROUP + 5;
    let quiet = if is_busy(quiet) { quiet + GROUP } else { quiet };
    EventKind::SessionUpdated(Box::new(SessionInfo {
        title: format!("Title number {turn}"),
        ..row(quiet, at)
    }))
}

/// A subagent begins, and is deleted at the next turn.
fn births(turn: usize, at: UnixMs) -> EventKind {
    let new = SessionId::new(format!("ses_new{}", turn / 2));
    if turn % 2 == 1 {
        return EventKind::SessionDeleted(new);
    }
    let parent = turn / 2 % (SESSIONS / GROUP) * GROUP;
    EventKind::SessionUpdated(Box::new(SessionInfo {
        id: new,
        parent: Some(session(parent)),
        ..row(parent, at)
    }))
}

/// One kind of event: the store's share, the judge's, and both.
fn one_event(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    world: &mut World,
    event: impl Fn(usize) -> EventKind,
) {
    let mut judge = Judge::new(Limits::default());
    judge.update(&world.store, &[], world.at);
    let mut turn = 0;
    let mut next = || {
        turn += 1;
        event(turn - 1)
    };
    group.bench_function(format!("{name}: until the judgement is right"), |b| {
        b.iter_batched(
            &mut next,
            |kind| {
                let change = world.event(kind);
                judge.update(&world.store, &[change], world.at);
            },
            BatchSize::SmallInput,
        );
    });
    let both = RefCell::new((&mut *world, &mut judge));
    group.bench_function(format!("{name}: judging alone"), |b| {
        b.iter_batched(
            || both.borrow_mut().0.event(next()),
            |change| {
                let (world, judge) = &mut *both.borrow_mut();
                judge.update(&world.store, &[change], world.at);
            },
            BatchSize::PerIteration,
        );
    });
    // The judge is told as well, outside of what is measured, so that it stays right.
    let untold = RefCell::new(None);
    let both = RefCell::new((&mut *world, &mut judge));
    group.bench_function(format!("{name}: applying alone"), |b| {
        b.iter_batched(
            || {
                let (world, judge) = &mut *both.borrow_mut();
                judge.update(&world.store, untold.take().as_slice(), world.at);
                next()
            },
            |kind| *untold.borrow_mut() = Some(both.borrow_mut().0.event(kind)),
            BatchSize::PerIteration,
        );
    });
    judge.update(&world.store, untold.take().as_slice(), world.at);
    let fresh = judge_all(&world.store, world.at, &Limits::default());
    assert_eq!(levels(judge.judgement()), levels(&fresh), "after {name}");
}

fn levels(judgement: &Judgement) -> Vec<Level> {
    judgement.verdicts.values().map(|v| v.level).collect()
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
    group.warm_up_time(Duration::from_secs(1));
    group.measurement_time(Duration::from_secs(2));
    let at = world.at;
    let delta = deltas(&world.store);
    one_event(&mut group, "a delta of a busy session", &mut world, delta);
    one_event(&mut group, "a subagent asks", &mut world, asks);
    let rows = |turn| rows(turn, at);
    one_event(&mut group, "a quiet session's row", &mut world, rows);
    let births = |turn| births(turn, at);
    one_event(&mut group, "a session comes or goes", &mut world, births);
    group.finish();
}

/// What the events are to show is there: otherwise the numbers would be of something else.
fn check(world: &mut World) -> Result<(), Box<dyn Error>> {
    let judged = |world: &World| judge_all(&world.store, world.at, &Limits::default());
    let asking = |judgement: &Judgement| {
        let findings = judgement.verdicts.values().flat_map(|v| &v.findings);
        findings.filter(|f| f.name == "subagent-needs-you").count()
    };
    let before = judged(world);
    if before.verdicts.len() != SESSIONS {
        return Err("not every session was judged".into());
    }
    let busy = before.verdicts.values().filter(|v| v.reported.is_running());
    if busy.count() != SESSIONS / GROUP {
        return Err("not every tenth session is busy".into());
    }
    world.event(asks(0));
    if asking(&judged(world)) != asking(&before) + 2 {
        return Err("an ask does not concern both sessions above it".into());
    }
    world.event(asks(1));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = world()?;
    check(&mut world)?;
    let mut criterion = Criterion::default().configure_from_args();
    benches(&mut criterion, world);
    criterion.final_summary();
    Ok(())
}
