//! What a real server (1.18.33) was recorded saying, judged: the recordings are healthy but for
//! what their names say, so anything else that is called is a false alarm.

use ocwatch::core::id::{Directory, Epoch, ServerId, SessionId};
use ocwatch::core::judge::{Judge, Level, Limits, Verdict, judge_all};
use ocwatch::core::store::{ServerSpec, Store};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{
    AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Event, EventKind, Input,
    LinkReport, Message, Part, SessionInfo, SessionList, Status, StatusRead, TailRead, Tokens, v1,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const HOME: &str = "/srv/dev/projA";

fn recording(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/v1");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn empty() -> Store {
    Store::new(vec![ServerSpec {
        name: "home".into(),
        url: "http://127.0.0.1:4096".into(),
        read_only: None,
    }])
}

fn input(body: Body, at: UnixMs) -> Input {
    Input {
        server: ServerId(0),
        epoch: Epoch(1),
        at,
        body,
    }
}

/// A connection that has read one directory in which nothing runs but `entries`.
fn begin(entries: BTreeMap<SessionId, Status>, rows: Vec<SessionInfo>, at: UnixMs) -> Vec<Body> {
    let directory = Directory::from(HOME);
    let asks = |kind| {
        Body::Asks(AsksRead {
            directory: directory.clone(),
            kind,
            asked_at: at,
            asks: Vec::new(),
        })
    };
    vec![
        Body::Link(LinkReport::Connecting { attempt: 1 }),
        Body::Link(LinkReport::Identified {
            dialect: Dialect::V1,
            version: Some("1.18.33".into()),
            skew: None,
            unsecured: false,
        }),
        Body::Sessions(SessionList {
            rows,
            asked_at: at,
            complete: true,
        }),
        Body::Directory(DirectoryReport {
            directory: directory.clone(),
            state: DirectoryState::Loaded,
        }),
        Body::Status(StatusRead {
            directory: directory.clone(),
            asked_at: at,
            entries,
        }),
        asks(AskKind::Permission),
        asks(AskKind::Question),
        Body::Link(LinkReport::Live),
    ]
}

fn row(session: &SessionId, created: UnixMs) -> SessionInfo {
    SessionInfo {
        id: session.clone(),
        title: "recorded".into(),
        directory: Directory::from(HOME),
        parent: None,
        agent: None,
        model: None,
        created,
        updated: created,
        archived: None,
        reverted: false,
        cost: 0.0,
        tokens: Tokens::default(),
    }
}

/// A recorded body of messages, with its session reported as given, some time after its newest.
fn judged(name: &str, busy: bool, later: Span) -> Verdict {
    let messages = v1::decode_messages(recording(name).as_bytes(), &SessionId::from("ses_1"))
        .unwrap()
        .rows
        .items;
    let session = messages[0].session.clone();
    let created = messages[0].created;
    let now = newest(&messages) + later;
    let entries = busy.then(|| (session.clone(), Status::Busy)).into_iter();
    let mut bodies = begin(entries.collect(), vec![row(&session, created)], now);
    bodies.push(Body::Tail(TailRead {
        session,
        asked_at: now,
        messages,
        whole: true,
        missing: 0,
    }));
    let mut store = empty();
    for body in bodies {
        store.apply(input(body, now));
    }
    let all = judge_all(&store, now, &Limits::default());
    all.verdicts.into_values().next().unwrap()
}

fn newest(messages: &[Message]) -> UnixMs {
    let times = messages.iter().flat_map(|message| {
        let parts = message.parts.iter().filter_map(Part::tool);
        let parts = parts.flat_map(|tool| [tool.start, tool.end]).flatten();
        parts.chain([message.created]).chain(message.completed)
    });
    times.max().unwrap()
}

/// Recording, reported, seconds after its newest time, then: activity, level, leading finding.
const MESSAGES: &str = "
text                    idle  60   done           ok     -
text                    busy  60   done           stuck  stale-busy
streaming               busy  5    starting       ok     -
streaming               busy  90   starting       watch  stalled-start
bash-running            busy  5    running-tool   ok     -
bash-running            busy  590  running-tool   watch  slow-tool
bash-running            busy  640  running-tool   stuck  hung-tool
bash-permission         busy  20   between-steps  ok     -
bash-permission         busy  170  between-steps  ok     -
bash-permission         busy  190  between-steps  watch  stalled-between-steps
bash                    idle  60   done           ok     -
aborted-tool            idle  60   aborted        ok     -
error400                busy  5    starting       ok     -
error400                busy  70   starting       watch  stalled-start
error400                idle  300  starting       watch  interrupted
page                    idle  60   done           ok     -
question                busy  3    between-steps  ok     -
permission-rejected     idle  60   done           ok     -
subagent                idle  60   done           ok     -
dangling-after-sigkill  idle  60   running-tool   ok     -
dangling-after-sigkill  idle  300  running-tool   watch  interrupted
dangling-after-sigkill  idle  640  running-tool   stuck  interrupted
";

#[test]
fn recorded_messages_are_what_they_were() {
    for line in MESSAGES.trim().lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [name, reported, seconds, want @ ..] = fields.as_slice() else {
            panic!("{line}");
        };
        let later = Span::secs(seconds.parse().unwrap());
        let name = format!("v1-messages-{name}.json");
        let verdict = judged(&name, *reported == "busy", later);
        let leading = verdict.leading().map_or("-", |f| f.name);
        let got = [verdict.activity.state.word(), verdict.level.word(), leading];
        assert_eq!(&got, want, "{line}");
    }
}

/// The times that an event names; the recordings have no others.
fn time_of(event: &Event) -> Option<UnixMs> {
    match &event.kind {
        EventKind::SessionUpdated(row) => Some(row.updated),
        EventKind::MessageUpdated(message) => message.completed.or(Some(message.created)),
        EventKind::PartUpdated(part) => part.tool().and_then(|tool| tool.end.or(tool.start)),
        _ => None,
    }
}

/// Plays a stream, judging after each event. Returns every finding that was ever named, and the
/// verdicts an hour after the end.
fn played(name: &str) -> (BTreeSet<String>, Vec<Verdict>) {
    let text = recording(name);
    let frames = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Event> = frames.map(v1::decode_event).collect();
    let mut now = events.iter().find_map(time_of).unwrap();
    let mut store = empty();
    let mut judge = Judge::new(Limits::default());
    let mut named = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for body in begin(BTreeMap::new(), Vec::new(), now) {
        store.apply(input(body, now));
    }
    for mut event in events {
        event.directory = Some(Directory::from(HOME));
        let created = match &mut event.kind {
            EventKind::SessionUpdated(row) => {
                row.directory = Directory::from(HOME);
                Some(row.id.clone())
            }
            _ => None,
        };
        now = time_of(&event).map_or(now, |at| at.max(now));
        let mut changes = vec![store.apply(input(Body::Event(event), now))];
        if let Some(session) = created.filter(|id| seen.insert(id.clone())) {
            let read = TailRead {
                session,
                asked_at: now,
                messages: Vec::new(),
                whole: true,
                missing: 0,
            };
            changes.push(store.apply(input(Body::Tail(read), now)));
        }
        judge.update(&store, &changes, now);
        let verdicts = judge.judgement().verdicts.values();
        let findings = verdicts.flat_map(|v| v.findings.iter().map(|f| f.name.to_owned()));
        named.extend(findings);
    }
    let end = now + Span::hours(1);
    let verdicts = judge.update(&store, &[], end).verdicts.values();
    (named, verdicts.cloned().collect())
}

/// Recording, what is named while it plays, and what is found an hour after its end.
const STREAMS: [(&str, &[&str], &[&str]); 10] = [
    ("sse-global-text.txt", &[], &[]),
    ("sse-global-bash.txt", &[], &[]),
    ("sse-global-question.txt", &["waiting-question"], &[]),
    ("sse-global-permission.txt", &["waiting-permission"], &[]),
    ("sse-global-retry-abort.txt", &["retrying"], &[]),
    ("sse-global-abort-tool.txt", &[], &[]),
    ("sse-global-subagent.txt", &[], &[]),
    // One of two projects is disposed; the stream of the other one's session hangs at the end.
    ("sse-global-dispose.txt", &[], &["silent-stream"]),
    ("sse-event-dir-dispose.txt", &[], &[]),
    // A turn of the preview API: nothing that 1.x judges.
    ("sse-global-v2turn.txt", &[], &[]),
];

#[test]
fn recorded_streams_raise_no_false_alarm() {
    for (name, during, at_end) in STREAMS {
        let (named, end) = played(name);
        let during: BTreeSet<String> = during.iter().map(|id| (*id).to_owned()).collect();
        assert_eq!(named, during, "{name}");
        let found = end.iter().flat_map(|verdict| &verdict.findings);
        let found: Vec<&str> = found.map(|finding| finding.name).collect();
        assert_eq!(found, at_end, "{name}: {end:#?}");
        let calm = |verdict: &Verdict| !verdict.findings.is_empty() || verdict.level == Level::Ok;
        assert!(end.iter().all(calm), "{name}: {end:#?}");
    }
}
