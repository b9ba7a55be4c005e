//! Families under way: sessions are born, adopted, orphaned and deleted, ask and are answered, get
//! stuck and go on, on two servers with the same sessions. After each event, and after each change
//! of more than one thing at a time, the cache equals a judgement from scratch.

use super::{BASE, ageless, config, empty, failure, input, to};
use ocwatch::core::id::{
    AskId, CallId, Directory, Epoch, MessageId, PartId, ServerId, SessionId, SessionKey,
};
use ocwatch::core::judge::{Judge, Level, Limits, judge_all};
use ocwatch::core::store::{Change, Store};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Endpoint, Event,
    EventKind, Input, LinkReport, LostCause, Message, Part, PartBody, ReadFailed, Role,
    SessionInfo, SessionRead, Status, StatusRead, TailRead, Tokens, ToolOutput, ToolPart, ToolRef,
    ToolState,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// So many sessions; one more number stands for one that is never known.
const SESSIONS: usize = 7;
/// The error of an answer that was aborted (1.18.33).
const ABORTED: &str = "MessageAbortedError";

/// A session's parent.
#[derive(Debug, Clone)]
enum Parent {
    /// The session whose number is one less.
    Before,
    Is(Option<usize>),
}

impl Parent {
    fn of(&self, n: usize) -> Option<usize> {
        match self {
            Parent::Before => n.checked_sub(1),
            Parent::Is(parent) => *parent,
        }
    }
}

/// What happens to one session. Numbers are sessions.
#[derive(Debug, Clone)]
enum Deed {
    /// Its row, by an event or a read of it.
    Row {
        parent: Parent,
        title: bool,
        away: bool,
        read: bool,
    },
    Gone,
    Busy(bool),
    /// An open answer that runs this tool; a task with this child, else with the next session.
    Runs(&'static str, Option<usize>),
    /// The task with the next session went to the background.
    Background,
    /// Its answer ended; with this error.
    Ends(Option<&'static str>),
    Delta,
    Asked,
    Answered,
    /// The permissions of its directory cannot be read, or can again.
    Broken(bool),
    /// Its project's instance was disposed, which aborts this session and all of a higher number.
    Disposed,
    Strange,
    /// A new process answers.
    Restarted,
}

fn deed() -> impl Strategy<Value = Deed> {
    // Mostly the one that it has at the beginning.
    let parent = prop_oneof![3 => Just(Parent::Before), 2 => of(0..=SESSIONS).prop_map(Parent::Is)];
    let child = prop_oneof![3 => Just(None), 1 => (0..SESSIONS).prop_map(Some)];
    prop_oneof![
        4 => (parent, any::<bool>(), prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(parent, title, away, read)| Deed::Row { parent, title, away, read }),
        1 => Just(Deed::Gone),
        4 => any::<bool>().prop_map(Deed::Busy),
        2 => child.prop_map(|child| Deed::Runs("task", child)),
        2 => prop::sample::select(vec!["read", "bash", "webfetch"])
            .prop_map(|tool| Deed::Runs(tool, None)),
        1 => Just(Deed::Background),
        2 => prop::sample::select(vec![None, Some("APIError"), Some(ABORTED)])
            .prop_map(Deed::Ends),
        2 => Just(Deed::Delta),
        4 => Just(Deed::Asked),
        2 => Just(Deed::Answered),
        1 => any::<bool>().prop_map(Deed::Broken),
        1 => prop_oneof![
            3 => Just(Deed::Strange),
            2 => Just(Deed::Disposed),
            1 => Just(Deed::Restarted),
        ],
    ]
}

/// One deed: of which session on which server, and how long after the last one.
#[derive(Debug, Clone)]
struct Step {
    deed: Deed,
    session: usize,
    server: u16,
    wait: i64,
    /// Judged together with the next one.
    with_next: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let wait = prop_oneof![6 => 0..2_000i64, 2 => 0..40_000i64, 1 => 0..900_000i64];
    let server = prop_oneof![3 => Just(0), 1 => Just(1)];
    let together = prop::bool::weighted(0.2);
    (deed(), 0..SESSIONS, server, wait, together).prop_map(
        |(deed, session, server, wait, with_next)| Step {
            deed,
            session,
            server,
            wait,
            with_next,
        },
    )
}

fn id(n: usize) -> SessionId {
    SessionId::from(format!("s{n}"))
}

fn home(n: usize) -> Directory {
    Directory::from(if n.is_multiple_of(3) { "/two" } else { "/one" })
}

fn row(n: usize, parent: Option<usize>, now: UnixMs, (title, away): (bool, bool)) -> SessionInfo {
    SessionInfo {
        id: id(n),
        title: if title { "new" } else { "old" }.into(),
        directory: home(n),
        parent: parent.map(id),
        agent: None,
        model: None,
        created: UnixMs(BASE),
        updated: now,
        archived: away.then_some(now),
        reverted: false,
        cost: 0.0,
        tokens: Tokens::default(),
    }
}

fn answer(n: usize, now: UnixMs) -> Message {
    Message {
        id: MessageId::from(format!("m{n}")),
        session: id(n),
        role: Role::Assistant,
        parent: None,
        created: now,
        completed: None,
        finish: None,
        error: None,
        summary: false,
        structured: false,
        agent: None,
        model: None,
        cost: 0.0,
        tokens: Tokens::default(),
        parts: Vec::new(),
    }
}

fn tool(n: usize, name: &str, child: usize, now: UnixMs) -> Part {
    Part {
        id: PartId::from(format!("{name}{n}")),
        session: id(n),
        message: MessageId::from(format!("m{n}")),
        body: PartBody::Tool(Box::new(ToolPart {
            call: Some(CallId::from("c")),
            tool: name.into(),
            state: ToolState::Running,
            subject: String::new(),
            timeout_ms: None,
            input_keys: Vec::new(),
            input_digest: 0,
            questions: None,
            output: ToolOutput::default(),
            child: (name == "task").then(|| id(child)),
            interrupted: false,
            background: false,
            error: None,
            start: Some(now),
            end: None,
        })),
    }
}

fn ask(n: usize) -> Ask {
    Ask {
        id: AskId::from(format!("a{n}")),
        session: id(n),
        kind: AskKind::Permission,
        tool: n.is_multiple_of(2).then(|| ToolRef {
            message: MessageId::from(format!("m{n}")),
            call: CallId::from("c"),
        }),
        permission: None,
        patterns: Vec::new(),
        always: Vec::new(),
        command: None,
        diff: None,
        questions: Vec::new(),
    }
}

impl Step {
    fn bodies(&self, now: UnixMs) -> Vec<Body> {
        let n = self.session;
        let events = |kinds: Vec<EventKind>| kinds.into_iter().map(event).collect();
        match &self.deed {
            Deed::Row {
                parent,
                title,
                away,
                read,
            } => {
                let row = row(n, parent.of(n), now, (*title, *away));
                if *read {
                    return vec![Body::Session(Box::new(SessionRead { row, asked_at: now }))];
                }
                events(vec![EventKind::SessionUpdated(Box::new(row))])
            }
            Deed::Gone => events(vec![EventKind::SessionDeleted(id(n))]),
            Deed::Busy(busy) => events(vec![EventKind::Status {
                session: id(n),
                status: if *busy { Status::Busy } else { Status::Idle },
            }]),
            Deed::Runs(name, child) => events(vec![
                EventKind::MessageUpdated(Box::new(answer(n, now))),
                EventKind::PartUpdated(Box::new(tool(n, name, child.unwrap_or(n + 1), now))),
            ]),
            Deed::Background => events(vec![background(n, now)]),
            Deed::Ends(error) => events(vec![ended(n, *error, now)]),
            Deed::Delta => events(vec![EventKind::Delta {
                session: id(n),
                message: MessageId::from(format!("m{n}")),
                part: PartId::from(format!("read{n}")),
                text: "word".into(),
            }]),
            Deed::Asked => events(vec![EventKind::Asked(Box::new(ask(n)))]),
            Deed::Answered => events(vec![EventKind::AskClosed {
                session: id(n),
                ask: ask(n).id,
            }]),
            Deed::Broken(broken) => vec![permissions(n, *broken, now)],
            Deed::Disposed => events(disposed(n, now)),
            Deed::Strange => events(vec![EventKind::Unknown { kind: "new".into() }]),
            Deed::Restarted => vec![
                Body::Link(LinkReport::Connecting { attempt: 1 }),
                Body::Link(LinkReport::Live),
            ],
        }
    }
}

/// The directory is disposed, and with it the runs of a session and of those after it.
fn disposed(n: usize, now: UnixMs) -> Vec<EventKind> {
    let here = (n..SESSIONS).filter(|other| home(*other) == home(n));
    let ends = here.flat_map(|n| [ended(n, Some(ABORTED), now), idle(n)]);
    let first = EventKind::InstanceDisposed(home(n));
    std::iter::once(first).chain(ends).collect()
}

fn ended(n: usize, error: Option<&str>, now: UnixMs) -> EventKind {
    EventKind::MessageUpdated(Box::new(Message {
        completed: Some(now),
        error: error.map(failure),
        finish: Some("stop".into()),
        ..answer(n, now)
    }))
}

fn background(n: usize, now: UnixMs) -> EventKind {
    let mut part = tool(n, "task", n + 1, now);
    if let PartBody::Tool(tool) = &mut part.body {
        (tool.state, tool.end) = (ToolState::Completed, Some(now));
        tool.background = true;
    }
    EventKind::PartUpdated(Box::new(part))
}

fn idle(n: usize) -> EventKind {
    EventKind::Status {
        session: id(n),
        status: Status::Idle,
    }
}

fn event(kind: EventKind) -> Body {
    Body::Event(Event {
        directory: None,
        kind,
    })
}

fn permissions(n: usize, broken: bool, now: UnixMs) -> Body {
    if broken {
        return Body::Failed(ReadFailed {
            endpoint: Endpoint::Permission,
            directory: Some(home(n)),
            session: None,
            status: Some(400),
            text: "cannot be read".into(),
        });
    }
    Body::Asks(AsksRead {
        directory: home(n),
        kind: AskKind::Permission,
        asked_at: now,
        asks: Vec::new(),
    })
}

/// What a connection reads first: every session, in a line of parents, its messages read. Every
/// other one runs on the first server, none on the second.
fn snapshot(server: u16, at: UnixMs) -> Vec<Body> {
    let mut bodies = vec![Body::Link(LinkReport::Identified {
        dialect: Dialect::V1,
        version: Some("1.18.33".into()),
        skew: None,
        unsecured: false,
    })];
    for n in [0, 1] {
        let directory = home(n);
        bodies.push(Body::Directory(DirectoryReport {
            directory: directory.clone(),
            state: DirectoryState::Loaded,
        }));
        bodies.push(Body::Status(StatusRead {
            directory: directory.clone(),
            asked_at: at,
            entries: (0..SESSIONS)
                .filter(|s| home(*s) == directory && server == 0 && s.is_multiple_of(2))
                .map(|s| (id(s), Status::Busy))
                .collect(),
        }));
        bodies.extend([permissions(n, false, at), permissions(n, false, at)]);
    }
    for n in 0..SESSIONS {
        let parent = n.checked_sub(1);
        let row = row(n, parent, at, (false, false));
        bodies.push(Body::Session(Box::new(SessionRead { row, asked_at: at })));
        bodies.push(Body::Tail(TailRead {
            session: id(n),
            asked_at: at,
            messages: Vec::new(),
            whole: true,
            missing: 0,
        }));
    }
    bodies.push(Body::Link(LinkReport::Live));
    bodies
}

struct Pair {
    store: Store,
    cache: Judge,
    limits: Limits,
    epochs: [u64; 2],
    changes: Vec<Change>,
}

impl Pair {
    fn take(&mut self, server: u16, body: Body, at: UnixMs) {
        let epoch = Epoch(self.epochs[usize::from(server)]);
        let input: Input = to(server, input(body, at, epoch));
        let change = self.store.apply(input);
        self.changes.push(change);
    }

    fn step(&mut self, step: &Step, now: UnixMs) {
        if matches!(step.deed, Deed::Restarted) {
            let lost = LinkReport::Lost {
                cause: LostCause::Refused,
                text: "gone".into(),
                retry_at: now,
            };
            self.take(step.server, Body::Link(lost), now);
            self.epochs[usize::from(step.server)] += 1;
        }
        for body in step.bodies(now) {
            self.take(step.server, body, now);
        }
    }

    fn compare(&mut self, now: UnixMs) -> Result<(), TestCaseError> {
        self.cache.update(&self.store, &self.changes, now);
        self.changes.clear();
        let fresh = judge_all(&self.store, now, &self.limits);
        prop_assert_eq!(ageless(self.cache.judgement()), ageless(&fresh));
        Ok(())
    }
}

/// Both servers have read everything.
fn pair() -> Pair {
    let limits = Limits::default();
    let mut pair = Pair {
        store: empty(),
        cache: Judge::new(limits.clone()),
        limits,
        epochs: [1, 1],
        changes: Vec::new(),
    };
    for server in 0..2 {
        for body in snapshot(server, UnixMs(BASE)) {
            pair.take(server, body, UnixMs(BASE));
        }
    }
    pair
}

/// On the second server, where nothing runs, session 1 has an open task: it may run elsewhere for as
/// long as its child changes, until the child is somebody else's.
#[test]
fn a_child_that_moves_away_is_noticed() {
    let mut pair = pair();
    let row = |parent| Deed::Row {
        parent,
        title: false,
        away: false,
        read: false,
    };
    let minutes = |n| Span::mins(n).as_ms();
    let deeds = [
        (1, Deed::Runs("task", None), 0, Level::Ok),
        (2, row(Parent::Before), minutes(9), Level::Watch),
        (5, Deed::Delta, minutes(3), Level::Watch),
        // Past every limit, but nothing is called stuck from an old read.
        (2, row(Parent::Is(None)), 0, Level::Watch),
    ];
    let mut now = UnixMs(BASE);
    for (session, deed, wait, level) in deeds {
        now = now + Span(wait);
        let step = Step {
            deed,
            session,
            server: 1,
            wait,
            with_next: false,
        };
        pair.step(&step, now);
        pair.compare(now).unwrap();
        let key = SessionKey::new(ServerId(1), id(1));
        let verdict = &pair.cache.judgement().verdicts[&key];
        assert_eq!(verdict.level, level, "{step:?}: {verdict:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..config() })]

    #[test]
    fn a_family_is_judged_by_the_cache_as_from_scratch(steps in vec(step(), 0..50)) {
        let mut pair = pair();
        let mut now = UnixMs(BASE);
        pair.compare(now)?;
        for step in steps {
            now = now + Span(step.wait);
            pair.step(&step, now);
            if !step.with_next {
                pair.compare(now)?;
            }
        }
        now = now + Span::mins(20);
        pair.compare(now)?;
    }
}
