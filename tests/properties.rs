//! What must hold of any judgement, whatever a server says.
//!
//! Judging never panics; the cache equals a judgement from scratch; the order of reads, and that of
//! events once all is at rest, does not matter; a verdict rests on no other session than those that
//! it names; time alone never makes a session look better; evidence can be found in the store.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "properties/families.rs"]
mod families;

use ocwatch::core::id::{AskId, CallId, Directory, Epoch, MessageId, PartId, ServerId, SessionId};
use ocwatch::core::judge::{Judge, Judgement, Level, Limits, Settling, explain, judge, judge_all};
use ocwatch::core::store::{ServerSpec, Session, Store};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Endpoint, Event,
    EventKind, Failure, Input, LinkReport, LostCause, Message, Part, PartBody, Prose, ReadFailed,
    Retry, Role, SessionInfo, SessionList, Status, StatusRead, TailRead, Tokens, ToolOutput,
    ToolPart, ToolRef, ToolState,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

const BASE: i64 = 1_795_977_332_003;
const SERVERS: [&str; 2] = ["home", "away"];
const SESSIONS: [&str; 4] = ["a", "b", "c", "d"];

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Mostly the last hour, now and then days ago or absurd.
fn time() -> impl Strategy<Value = UnixMs> {
    prop_oneof![
        8 => (-3_600_000..10_000i64).prop_map(|ms| UnixMs(BASE + ms)),
        2 => (-900_000_000..0i64).prop_map(|ms| UnixMs(BASE + ms)),
    ]
}

fn absurd_time() -> impl Strategy<Value = UnixMs> {
    prop_oneof![
        4 => time(),
        1 => select(vec![UnixMs(i64::MIN), UnixMs(i64::MAX), UnixMs(0), UnixMs(-1)]),
    ]
}

fn name<T: for<'a> From<&'a str> + std::fmt::Debug + Clone + 'static>(
    names: &'static [&'static str],
) -> impl Strategy<Value = T> {
    select(names).prop_map(|name| T::from(name))
}

fn session_id() -> impl Strategy<Value = SessionId> {
    name(&SESSIONS)
}

fn prose(time: BoxedStrategy<UnixMs>) -> impl Strategy<Value = Prose> {
    let texts = ["", "hello", "The following tool was executed by the user"];
    (
        select(texts.to_vec()),
        any::<bool>(),
        of(time.clone()),
        of(time),
    )
        .prop_map(|(text, synthetic, start, end)| Prose {
            excerpt: text.to_owned(),
            bytes: text.len(),
            synthetic,
            start,
            end,
        })
}

fn tool(time: BoxedStrategy<UnixMs>) -> impl Strategy<Value = ToolPart> {
    let states = [
        ToolState::Pending,
        ToolState::Running,
        ToolState::Running,
        ToolState::Completed,
        ToolState::Error,
        ToolState::Other("new".into()),
    ];
    let names = ["bash", "task", "question", "read", "webfetch", "srv_tool"];
    let timeout = of(prop_oneof![
        Just(i64::MAX),
        Just(-1),
        Just(5_000),
        1..7_200_000i64
    ]);
    (
        (select(names.to_vec()), select(states.to_vec()), timeout),
        (of(name::<CallId>(&["c0", "c1"])), of(session_id())),
        (of(time.clone()), of(time), any::<bool>(), any::<u64>()),
    )
        .prop_map(
            |((tool, state, timeout_ms), (call, child), (start, end, present, digest))| ToolPart {
                background: state == ToolState::Completed && digest % 2 == 0,
                call,
                tool: tool.to_owned(),
                state,
                subject: String::new(),
                timeout_ms,
                input_keys: vec!["command".into()],
                input_digest: digest,
                questions: Some(serde_json::json!([{ "question": "Which?" }])),
                output: ToolOutput {
                    present,
                    bytes: 0,
                    digest,
                },
                child,
                interrupted: false,
                error: None,
                start,
                end,
            },
        )
}

fn body(time: BoxedStrategy<UnixMs>) -> impl Strategy<Value = PartBody> {
    prop_oneof![
        3 => tool(time.clone()).prop_map(|tool| PartBody::Tool(Box::new(tool))),
        1 => prose(time.clone()).prop_map(PartBody::Text),
        1 => prose(time).prop_map(PartBody::Reasoning),
        1 => Just(PartBody::StepStart),
        1 => Just(PartBody::Other("patch".into())),
    ]
}

fn part(
    session: SessionId,
    message: MessageId,
    n: usize,
    time: BoxedStrategy<UnixMs>,
) -> impl Strategy<Value = Part> {
    body(time).prop_map(move |body| Part {
        id: PartId::from(format!("{message}.{n}")),
        session: session.clone(),
        message: message.clone(),
        body,
    })
}

fn message(
    session: SessionId,
    n: usize,
    time: BoxedStrategy<UnixMs>,
) -> impl Strategy<Value = Message> {
    let id = MessageId::from(format!("{session}{n}"));
    let finishes = ["stop", "stop", "tool-calls", "length", "unknown"];
    let errors = ["MessageAbortedError", "APIError", "Refused"];
    let parts = (0..3usize).map(|n| part(session.clone(), id.clone(), n, time.clone()).boxed());
    let parts: Vec<_> = parts.collect();
    (
        (
            select(vec![Role::User, Role::Assistant, Role::Assistant]),
            time.clone(),
            of(time),
        ),
        (
            of(select(finishes.to_vec())),
            of(select(errors.to_vec())),
            any::<bool>(),
        ),
        (0..3usize, parts, 0..3usize),
    )
        .prop_map(
            move |((role, created, completed), (finish, error, summary), (keep, parts, parent))| {
                Message {
                    id: id.clone(),
                    session: session.clone(),
                    role,
                    parent: Some(MessageId::from(format!("{session}{parent}"))),
                    created,
                    completed,
                    finish: finish.map(str::to_owned),
                    error: error.map(failure),
                    summary,
                    structured: false,
                    agent: None,
                    model: None,
                    cost: 0.0,
                    tokens: Tokens::default(),
                    parts: parts.into_iter().take(keep).collect(),
                }
            },
        )
}

fn failure(name: &str) -> Failure {
    Failure {
        name: name.to_owned(),
        message: "boom".into(),
        status_code: (name == "Refused").then_some(400),
    }
}

fn status(time: BoxedStrategy<UnixMs>) -> impl Strategy<Value = Status> {
    prop_oneof![
        3 => Just(Status::Busy),
        2 => Just(Status::Idle),
        1 => Just(Status::Other("new".into())),
        1 => retry(time),
    ]
}

/// Mostly near, now and then hours ahead, or with something to be done first.
fn retry(time: BoxedStrategy<UnixMs>) -> impl Strategy<Value = Status> {
    let far = (0..8_000_000i64).prop_map(|ms| UnixMs(BASE + ms));
    let next = prop_oneof![6 => time.prop_map(Some), 3 => far.prop_map(Some), 1 => Just(None)];
    let action = prop_oneof![4 => Just(None), 1 => Just(Some("Log in".to_owned()))];
    (0..7u32, next, action).prop_map(|(attempt, next, action)| {
        Status::Retry(Retry {
            attempt,
            message: "Overloaded".into(),
            next,
            action,
        })
    })
}

fn ask() -> impl Strategy<Value = Ask> {
    let kinds = vec![AskKind::Permission, AskKind::Question];
    (
        session_id(),
        select(kinds),
        0..3usize,
        name::<CallId>(&["c0", "c1"]),
        any::<bool>(),
    )
        .prop_map(|(session, kind, message, call, tool)| Ask {
            id: AskId::from(format!("ask-{session}-{kind:?}-{call}")),
            tool: tool.then(|| ToolRef {
                message: MessageId::from(format!("{session}{message}")),
                call,
            }),
            session,
            kind,
            permission: None,
            patterns: Vec::new(),
            always: Vec::new(),
            command: None,
            diff: None,
            questions: Vec::new(),
        })
}

fn row(n: usize, time: BoxedStrategy<UnixMs>) -> impl Strategy<Value = SessionInfo> {
    let parents = of(name::<SessionId>(&["a", "b", "c", "d", "nobody"]));
    (parents, time.clone(), time.clone(), of(time), any::<bool>()).prop_map(
        move |(parent, created, updated, archived, reverted)| SessionInfo {
            id: SessionId::from(SESSIONS[n]),
            title: String::new(),
            directory: home(n),
            parent,
            agent: None,
            model: None,
            created,
            updated,
            archived: archived.filter(|at| at.0 % 4 == 0),
            reverted: reverted && updated.0 % 4 == 0,
            cost: 0.0,
            tokens: Tokens::default(),
        },
    )
}

/// Three sessions share a directory, one has its own.
fn home(n: usize) -> Directory {
    Directory::from(if n < 3 { "/one" } else { "/two" })
}

fn rows(time: &BoxedStrategy<UnixMs>) -> impl Strategy<Value = Vec<SessionInfo>> + use<> {
    let rows: Vec<_> = (0..4).map(|n| row(n, time.clone()).boxed()).collect();
    rows
}

fn tail(time: &BoxedStrategy<UnixMs>) -> impl Strategy<Value = TailRead> + use<> {
    let time = time.clone();
    session_id().prop_flat_map(move |session| {
        let one = |n| message(session.clone(), n, time.clone()).boxed();
        let messages: Vec<_> = (0..4).map(one).collect();
        let session = session.clone();
        let missing = prop_oneof![4 => Just(0usize), 1 => 1..3usize];
        (0..5usize, missing, messages).prop_map(move |(keep, missing, mut messages)| {
            messages.truncate(keep);
            messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
            TailRead {
                session: session.clone(),
                asked_at: UnixMs(BASE),
                messages,
                whole: true,
                missing,
            }
        })
    })
}

fn status_read(time: &BoxedStrategy<UnixMs>) -> impl Strategy<Value = StatusRead> + use<> {
    (0..4usize, vec((session_id(), status(time.clone())), 0..4)).prop_map(|(n, entries)| {
        StatusRead {
            directory: home(n),
            asked_at: UnixMs(BASE),
            entries: entries.into_iter().collect(),
        }
    })
}

fn asks_read() -> impl Strategy<Value = AsksRead> {
    let kinds = vec![AskKind::Permission, AskKind::Question];
    (0..4usize, select(kinds), vec(ask(), 0..3)).prop_map(|(n, kind, asks)| AsksRead {
        directory: home(n),
        kind,
        asked_at: UnixMs(BASE),
        asks: asks.into_iter().filter(|ask| ask.kind == kind).collect(),
    })
}

fn event(time: &BoxedStrategy<UnixMs>) -> impl Strategy<Value = EventKind> + use<> {
    let t = time.clone();
    let u = time.clone();
    let any_message = session_id()
        .prop_flat_map(move |session| (0..4usize, Just(session)))
        .prop_flat_map(move |(n, session)| message(session, n, t.clone()));
    let any_part = (session_id(), 0..4usize, 0..3usize).prop_flat_map(move |(session, n, p)| {
        let message = MessageId::from(format!("{session}{n}"));
        part(session, message, p, u.clone())
    });
    prop_oneof![
        (session_id(), status(time.clone()))
            .prop_map(|(session, status)| EventKind::Status { session, status }),
        any_message.prop_map(|mut message| {
            message.parts.clear();
            EventKind::MessageUpdated(Box::new(message))
        }),
        any_part.prop_map(|part| EventKind::PartUpdated(Box::new(part))),
        ask().prop_map(|ask| EventKind::Asked(Box::new(ask))),
        ask().prop_map(|ask| EventKind::AskClosed {
            session: ask.session,
            ask: ask.id,
        }),
        (
            session_id(),
            select(vec!["APIError", "MessageAbortedError"])
        )
            .prop_map(|(session, name)| EventKind::SessionError {
                session: Some(session),
                failure: failure(name),
            }),
        session_id().prop_map(EventKind::SessionDeleted),
        (0..4usize).prop_map(|n| EventKind::InstanceDisposed(home(n))),
    ]
}

fn link() -> impl Strategy<Value = LinkReport> {
    let lost = |cause| LinkReport::Lost {
        cause,
        text: "gone".into(),
        retry_at: UnixMs(BASE),
    };
    prop_oneof![
        Just(LinkReport::Live),
        Just(LinkReport::Connecting { attempt: 1 }),
        Just(lost(LostCause::Refused)),
        (-200_000..200_000i64).prop_map(|skew| LinkReport::Identified {
            dialect: Dialect::V1,
            version: Some("1.18.33".into()),
            skew: Some(Span(skew)),
            unsecured: false,
        }),
    ]
}

/// Anything that may be received, with the step in time before it and whether a new epoch begins.
fn step(time: &BoxedStrategy<UnixMs>) -> impl Strategy<Value = (Body, i64, bool, u16)> + use<> {
    let bodies = prop_oneof![
        2 => rows(time).prop_map(|rows| Body::Sessions(SessionList {
            rows,
            asked_at: UnixMs(BASE),
            complete: true,
        })),
        3 => status_read(time).prop_map(Body::Status),
        2 => asks_read().prop_map(Body::Asks),
        4 => tail(time).prop_map(Body::Tail),
        6 => event(time).prop_map(|kind| Body::Event(Event { directory: None, kind })),
        1 => session_id().prop_map(Body::AbortSent),
        1 => session_id().prop_map(Body::SessionGone),
        1 => Just(Body::ClockJumped),
        1 => link().prop_map(Body::Link),
        1 => failed().prop_map(Body::Failed),
        1 => session_id().prop_map(Body::AbortSent),
        1 => Just(Body::ClockJumped),
    ];
    let wait = prop_oneof![4 => 0..3_000i64, 1 => 0..700_000i64];
    let server = prop_oneof![3 => Just(0), 1 => Just(1)];
    (bodies, wait, prop::bool::weighted(0.03), server)
}

/// A list of asks, or the messages of a session, that cannot be read.
fn failed() -> impl Strategy<Value = ReadFailed> {
    let ends = vec![
        Endpoint::Permission,
        Endpoint::Permission,
        Endpoint::Question,
        Endpoint::Messages,
    ];
    let status = select(vec![Some(400), Some(400), Some(500), None]);
    (select(ends), 0..4usize, status).prop_map(|(endpoint, n, status)| ReadFailed {
        endpoint,
        directory: Some(home(n)),
        session: (endpoint == Endpoint::Messages).then(|| SessionId::from(SESSIONS[n])),
        status,
        text: "cannot be read".into(),
    })
}

fn steps(time: &BoxedStrategy<UnixMs>) -> impl Strategy<Value = Vec<Input>> + use<> {
    let first = rows(time);
    (first, vec(step(time), 0..30)).prop_map(|(rows, steps)| {
        let mut at = UnixMs(BASE);
        let mut epochs = [Epoch(1); SERVERS.len()];
        let list = Body::Sessions(SessionList {
            rows,
            asked_at: at,
            complete: true,
        });
        let mut inputs = Vec::new();
        let start = [Body::Link(LinkReport::Connecting { attempt: 1 }), list];
        for body in start.into_iter().chain((0..4).map(loaded)) {
            for n in 0..2 {
                inputs.push(to(n, input(body.clone(), at, Epoch(1))));
            }
        }
        for (body, wait, new, server) in steps {
            at = at + Span(wait);
            let epoch = &mut epochs[usize::from(server)];
            *epoch = Epoch(epoch.0 + u64::from(new));
            inputs.push(to(server, input(body, at, *epoch)));
        }
        inputs
    })
}

/// Two servers tell of the same sessions, as two processes on one data folder do.
fn to(server: u16, input: Input) -> Input {
    Input {
        server: ServerId(server),
        ..input
    }
}

fn loaded(n: usize) -> Body {
    Body::Directory(DirectoryReport {
        directory: home(n),
        state: DirectoryState::Loaded,
    })
}

/// A read counts as asked when it is received.
fn input(mut body: Body, at: UnixMs, epoch: Epoch) -> Input {
    match &mut body {
        Body::Sessions(list) => list.asked_at = at,
        Body::Status(read) => read.asked_at = at,
        Body::Asks(read) => read.asked_at = at,
        Body::Tail(read) => read.asked_at = at,
        _ => {}
    }
    Input {
        server: ServerId(0),
        epoch,
        at,
        body,
    }
}

fn store(inputs: &[Input]) -> (Store, UnixMs) {
    let mut store = empty();
    let mut now = UnixMs(BASE);
    for input in inputs {
        now = input.at;
        store.apply(input.clone());
    }
    (store, now)
}

fn empty() -> Store {
    let spec = |name: &str| ServerSpec {
        name: name.into(),
        url: "http://127.0.0.1:4096".into(),
        read_only: None,
    };
    Store::new(SERVERS.map(spec).into())
}

/// Ages inside evidence are those of the last look.
fn ageless(judgement: &Judgement) -> Judgement {
    let mut judgement = judgement.clone();
    for finding in judgement
        .verdicts
        .values_mut()
        .flat_map(|v| &mut v.findings)
    {
        finding
            .evidence
            .retain(|key, _| !key.ends_with("e_ms") && key != "quiet_ms");
    }
    judgement
}

/// Nothing is forgiven for resting.
fn restless() -> Limits {
    Limits {
        rest_after: Span::days(100_000),
        rest_ok: Span::days(100_000),
        ..Limits::default()
    }
}

fn exists(session: &Session, key: &str, id: &str) -> bool {
    let mut messages = session.tail.messages.iter();
    let mut asks = session.asks.iter().map(|pending| &pending.ask);
    let asked = |ask: &Ask| match (&ask.tool, key) {
        (_, "ask") => ask.id.as_str() == id,
        (Some(tool), "message") => tool.message.as_str() == id,
        (Some(tool), "call") => tool.call.as_str() == id,
        _ => false,
    };
    let told = |message: &Message| match key {
        "message" => message.id.as_str() == id,
        "part" => message.parts.iter().any(|part| part.id.as_str() == id),
        _ => false,
    };
    asks.any(asked) || messages.any(told)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn judging_never_panics(inputs in steps(&absurd_time().boxed()), now in absurd_time()) {
        let (store, _) = store(&inputs);
        let limits = Limits::default();
        let all = judge_all(&store, now, &limits);
        for key in all.verdicts.keys() {
            prop_assert!(explain(&store, key, now, &limits).is_some());
            prop_assert!(judge(&store, key, now, &limits).is_some());
        }
    }

    #[test]
    fn the_cache_equals_a_judgement_from_scratch(
        inputs in steps(&time().boxed()),
        waits in vec(0..2_000_000i64, 3),
    ) {
        let limits = Limits::default();
        let mut store = empty();
        let mut cache = Judge::new(limits.clone());
        let mut now = UnixMs(BASE);
        for input in inputs {
            now = input.at;
            let change = store.apply(input);
            cache.update(&store, &[change], now);
            let fresh = judge_all(&store, now, &limits);
            prop_assert_eq!(ageless(cache.judgement()), ageless(&fresh));
        }
        for wait in waits {
            now = now + Span(wait);
            cache.update(&store, &[], now);
            let fresh = judge_all(&store, now, &limits);
            prop_assert_eq!(ageless(cache.judgement()), ageless(&fresh));
        }
    }

    #[test]
    fn a_verdict_holds_until_its_recheck(inputs in steps(&time().boxed()), share in 0.0..1.0f64) {
        let limits = Limits::default();
        let (store, now) = store(&inputs);
        let first = judge_all(&store, now, &limits);
        let until = first.recheck.unwrap_or(now + Span::days(30)).0 - 1;
        prop_assert!(until >= now.0);
        #[expect(clippy::cast_possible_truncation, reason = "some moment before the recheck")]
        let then = UnixMs(now.0 + ((until - now.0) as f64 * share) as i64);
        let second = judge_all(&store, then, &limits);
        prop_assert_eq!(ageless(&first), ageless(&second));
    }

    #[test]
    fn time_alone_never_makes_it_look_better(
        inputs in steps(&time().boxed()),
        wait in 0..4_000_000i64,
    ) {
        let limits = restless();
        let (store, now) = store(&inputs);
        let then = now + Span(wait);
        let before = judge_all(&store, now, &limits);
        let after = judge_all(&store, then, &limits);
        for (key, old) in &before.verdicts {
            let new = &after.verdicts[key];
            prop_assert!(new.level >= old.level, "{old:#?}\nbecomes {new:#?}");
            let skew = store.server(key.server).map_or(Span::ZERO, |server| server.skew);
            // Of a question that was looked for once, a second look tells, not time.
            let told_by_time = |s: &&Settling| s.name != "lost-ask" && then + skew >= s.at;
            if let Some(settling) = old.settling.as_ref().filter(told_by_time) {
                let named = new.findings.iter().any(|f| f.name == settling.name);
                let worse = new.level > settling.level;
                prop_assert!(named || worse, "{old:#?}\ndoes not become {new:#?}");
            }
        }
    }

    #[test]
    fn the_order_of_reads_does_not_matter(
        rows in rows(&time().boxed()),
        statuses in vec(status_read(&time().boxed()), 2),
        asks in vec(asks_read(), 3),
        tails in vec(tail(&time().boxed()), 4),
        keys in vec(any::<u32>(), 16),
    ) {
        let once = |bodies: Vec<Body>| {
            let mut seen = std::collections::BTreeSet::new();
            let keep = |body: &Body| seen.insert(scope(body));
            bodies.into_iter().filter(keep).collect::<Vec<_>>()
        };
        let at_home = |session: &SessionId, directory: &Directory| {
            let n = SESSIONS.iter().position(|id| *id == session.as_str());
            n.map(home).as_ref() == Some(directory)
        };
        let statuses = statuses.into_iter().map(|mut read| {
            read.entries.retain(|id, _| at_home(id, &read.directory));
            read
        });
        let asks = asks.into_iter().map(|mut read| {
            read.asks.retain(|ask| at_home(&ask.session, &read.directory));
            read
        });
        let reads = statuses.map(Body::Status);
        let reads = reads.chain(asks.map(Body::Asks));
        let reads = once(reads.chain(tails.into_iter().map(Body::Tail)).collect());
        let mut shuffled: Vec<_> = keys.iter().zip(reads.clone()).collect();
        shuffled.sort_by_key(|(key, _)| **key);
        let shuffled = shuffled.into_iter().map(|(_, body)| body).collect();
        let judged = |reads: Vec<Body>| {
            let list = SessionList { rows: rows.clone(), asked_at: UnixMs(BASE), complete: true };
            let bodies = [Body::Link(LinkReport::Connecting { attempt: 1 }), Body::Sessions(list)];
            let bodies = bodies.into_iter().chain((0..4).map(loaded)).chain(reads);
            let inputs: Vec<_> = bodies.map(|body| input(body, UnixMs(BASE), Epoch(1))).collect();
            judge_all(&store(&inputs).0, UnixMs(BASE + 60_000), &Limits::default())
        };
        prop_assert_eq!(judged(reads), judged(shuffled));
    }

    #[test]
    fn evidence_is_in_the_store(inputs in steps(&time().boxed())) {
        let (store, now) = store(&inputs);
        for (key, verdict) in judge_all(&store, now, &Limits::default()).verdicts {
            let session = store.session(&key).unwrap();
            for finding in &verdict.findings {
                for name in ["message", "part", "ask", "call"] {
                    let id = finding.evidence.get(name).and_then(|id| id.as_str());
                    if let Some(id) = id {
                        prop_assert!(exists(session, name, id), "{name} {id} of {finding:#?}");
                    }
                }
                prop_assert!(!finding.name.is_empty() && !finding.text.is_empty());
                for id in &finding.path {
                    let there = ocwatch::core::id::SessionKey::new(key.server, id.clone());
                    prop_assert!(store.session(&there).is_some());
                }
            }
            if !verdict.reported.is_known() {
                prop_assert_eq!(verdict.level, Level::Unknown);
            }
            let unknown = verdict.reported.is_known() && verdict.level == Level::Unknown;
            prop_assert_eq!(unknown, verdict.blind.is_some());
        }
    }
}

/// Two reads of one scope at one moment contradict each other: only the first is kept.
fn scope(body: &Body) -> String {
    match body {
        Body::Status(read) => format!("status {}", read.directory),
        Body::Asks(read) => format!("{:?} {}", read.kind, read.directory),
        Body::Tail(read) => format!("tail {}", read.session),
        _ => String::new(),
    }
}

/// Whether a body says something of this session. Of lists and run states, only its entries do.
fn is_about(body: &Body, id: &SessionId) -> bool {
    match body {
        Body::Tail(read) => read.session == *id,
        Body::SessionGone(session) | Body::AbortSent(session) => session == id,
        Body::Failed(failed) => failed.session.as_ref() == Some(id),
        Body::Event(event) => match &event.kind {
            EventKind::Status { session, .. }
            | EventKind::AskClosed { session, .. }
            | EventKind::SessionDeleted(session) => session == id,
            EventKind::SessionError { session, .. } => session.as_ref() == Some(id),
            EventKind::MessageUpdated(message) => message.session == *id,
            EventKind::PartUpdated(part) => part.session == *id,
            EventKind::Asked(ask) => ask.session == *id,
            _ => false,
        },
        _ => false,
    }
}

/// The same inputs in a world without this session.
fn without(inputs: &[Input], id: &SessionId) -> Vec<Input> {
    let mut told = inputs.to_vec();
    for input in &mut told {
        // That something was heard in this connection stays so.
        if is_about(&input.body, id) {
            input.body = Body::Event(Event {
                directory: None,
                kind: EventKind::Heartbeat,
            });
        }
        match &mut input.body {
            Body::Sessions(list) => list.rows.retain(|row| row.id != *id),
            Body::Status(read) => read.entries.retain(|session, _| session != id),
            Body::Asks(read) => read.asks.retain(|ask| ask.session != *id),
            _ => {}
        }
    }
    told
}

/// A verdict names a session: in its evidence, on the way to a cause, or as whose ask it shows.
fn names(verdict: &ocwatch::core::judge::Verdict, id: &SessionId) -> bool {
    let quoted = format!("\"{id}\"");
    let evidence = |f: &ocwatch::core::judge::Finding| {
        serde_json::to_string(&f.evidence)
            .unwrap()
            .contains(&quoted)
            || f.path.contains(id)
    };
    verdict.findings.iter().any(evidence) || verdict.asks.iter().any(|ask| ask.session == *id)
}

/// Everyone who is above or below a session, by what any row ever said.
fn family<'a>(inputs: &'a [Input], id: &'a SessionId) -> Vec<&'a str> {
    let rows = inputs.iter().flat_map(|input| match &input.body {
        Body::Sessions(list) => list.rows.as_slice(),
        _ => &[],
    });
    let ties = rows.filter_map(|row| Some((row.parent.as_ref()?.as_str(), row.id.as_str())));
    let ties: Vec<(&str, &str)> = ties.collect();
    let mut known = vec![id.as_str()];
    let mut next = 0;
    while let Some(at) = known.get(next).copied() {
        for (above, below) in &ties {
            for (one, other) in [(above, below), (below, above)] {
                if *one == at && !known.contains(other) {
                    known.push(other);
                }
            }
        }
        next += 1;
    }
    known
}

/// Three of the four sessions have no parent, so that there is someone unrelated.
fn sparse(mut inputs: Vec<Input>) -> Vec<Input> {
    for input in &mut inputs {
        if let Body::Sessions(list) = &mut input.body {
            let rows = list.rows.iter_mut().filter(|row| row.id.as_str() != "d");
            rows.for_each(|row| row.parent = None);
        }
    }
    inputs
}

/// In the end some sessions are busy with an open answer, and the list of permissions may be broken.
fn work_on(inputs: &mut Vec<Input>, awake: Vec<(TailRead, bool)>, broken: bool) {
    let here = inputs.iter().filter(|it| it.server == ServerId(0));
    let epoch = here.map(|it| it.epoch).max().unwrap();
    let at = inputs.last().unwrap().at;
    let mut say = |body| inputs.push(input(body, at, epoch));
    say(Body::Link(LinkReport::Live));
    for (mut read, busy) in awake {
        if let Some(last) = read.messages.last_mut().filter(|_| busy) {
            (last.role, last.completed, last.error) = (Role::Assistant, None, None);
            let tools = last
                .parts
                .iter_mut()
                .filter_map(|part| match &mut part.body {
                    PartBody::Tool(tool) => Some(tool),
                    _ => None,
                });
            for tool in tools {
                "webfetch".clone_into(&mut tool.tool);
                (tool.state, tool.output.present) = (ToolState::Running, false);
            }
        }
        let kind = EventKind::Status {
            session: read.session.clone(),
            status: if busy { Status::Busy } else { Status::Idle },
        };
        say(Body::Tail(read));
        say(Body::Event(Event {
            directory: None,
            kind,
        }));
    }
    for n in [0, 3].into_iter().filter(|_| broken) {
        say(Body::Failed(ReadFailed {
            endpoint: Endpoint::Permission,
            directory: Some(home(n)),
            session: None,
            status: Some(400),
            text: "cannot be read".into(),
        }));
    }
}

/// Events that each say something else, so that their order cannot matter in the end.
fn apart(kinds: Vec<EventKind>) -> Vec<EventKind> {
    let mut seen = std::collections::BTreeSet::new();
    let about = |kind: &EventKind| match kind {
        EventKind::Status { session, .. } => Some(format!("status {session}")),
        EventKind::SessionError { session, .. } => Some(format!("error {session:?}")),
        EventKind::MessageUpdated(message) => Some(format!("message {}", message.id)),
        EventKind::PartUpdated(part) => Some(format!("part {}", part.id)),
        EventKind::Asked(ask) => Some(format!("ask {}", ask.id)),
        EventKind::AskClosed { ask, .. } => Some(format!("ask {ask}")),
        // What these end may come before or after: order is their meaning.
        _ => None,
    };
    let fresh = |kind: &EventKind| about(kind).is_some_and(|what| seen.insert(what));
    kinds.into_iter().filter(fresh).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_order_of_events_does_not_matter_at_rest(
        rows in rows(&time().boxed()),
        tails in vec(tail(&time().boxed()), 2),
        kinds in vec(event(&time().boxed()), 0..14),
        keys in vec(any::<u32>(), 14),
    ) {
        let kinds = apart(kinds);
        let mut shuffled: Vec<_> = keys.iter().zip(kinds.clone()).collect();
        shuffled.sort_by_key(|(key, _)| **key);
        let shuffled = shuffled.into_iter().map(|(_, kind)| kind).collect();
        let judged = |kinds: Vec<EventKind>| {
            let list = SessionList { rows: rows.clone(), asked_at: UnixMs(BASE), complete: true };
            let bodies = [Body::Link(LinkReport::Connecting { attempt: 1 }), Body::Sessions(list)];
            let reads = tails.iter().cloned().map(Body::Tail);
            let idle = [0, 3].map(|n| Body::Status(StatusRead {
                directory: home(n),
                asked_at: UnixMs(BASE),
                entries: std::collections::BTreeMap::new(),
            }));
            let bodies = bodies.into_iter().chain((0..4).map(loaded)).chain(idle).chain(reads);
            let bodies = bodies.map(|body| input(body, UnixMs(BASE), Epoch(1)));
            let told = kinds.into_iter().map(|kind| {
                input(Body::Event(Event { directory: None, kind }), UnixMs(BASE + 5_000), Epoch(1))
            });
            let inputs: Vec<_> = bodies.chain(told).collect();
            judge_all(&store(&inputs).0, UnixMs(BASE + 7_200_000), &Limits::default())
        };
        prop_assert_eq!(ageless(&judged(kinds)), ageless(&judged(shuffled)));
    }

    #[test]
    fn a_verdict_rests_on_no_other_session_than_those_it_names(
        inputs in steps(&time().boxed()),
        awake in vec((tail(&time().boxed()), any::<bool>()), 4),
        broken in any::<bool>(),
        gone in session_id(),
    ) {
        let mut inputs = sparse(inputs);
        work_on(&mut inputs, awake, broken);
        let (all, now) = store(&inputs);
        let less = without(&inputs, &gone);
        let (less, _) = store(&less);
        let family = family(&inputs, &gone);
        let limits = Limits::default();
        let (all, less) = (judge_all(&all, now, &limits), judge_all(&less, now, &limits));
        let (all, less) = (ageless(&all), ageless(&less));
        for (key, with) in &all.verdicts {
            let Some(alone) = less.verdicts.get(key) else { continue };
            // What it settles to names them once it is said.
            let settles = with.settling.as_ref().or(alone.settling.as_ref());
            let unsaid = settles.is_some_and(|it| it.name == "possible-permission");
            if unsaid || names(with, &gone) || family.contains(&key.session.as_str()) {
                continue;
            }
            prop_assert_eq!(with, alone, "{} is not named", gone);
        }
    }
}
