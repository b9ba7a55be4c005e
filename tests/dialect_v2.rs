//! Everything that a server of the 2.0.14 generation was recorded saying decodes, is judged as what
//! it was, and nothing else can hurt.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{App, AppOptions, Msg, update};
use ocwatch::core::id::{CallId, Directory, Epoch, ServerId, SessionId};
use ocwatch::core::judge::{Limits, Verdict, judge_all};
use ocwatch::core::store::{ServerSpec, Store};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::v2::{self, Heard, Touch};
use ocwatch::core::wire::{
    AskKind, AsksRead, Body, Dialect, EventKind, InboxItem, InboxKind, InboxRead, Input,
    LinkReport, Message, Part, PartBody, Role, SessionInfo, SessionList, Status, StatusRead,
    TailRead, Tokens, ToolState, v1,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

const HOME: &str = "/srv/dev2/projA";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/v2")
}

fn recording(name: &str) -> Vec<u8> {
    let path = folder().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn names(begin: &str, end: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter(|it| it.starts_with(begin) && it.ends_with(end))
        .collect();
    names.sort();
    names
}

fn frames(name: &str) -> Vec<Heard> {
    let text = String::from_utf8(recording(name)).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(v2::decode_event).collect()
}

fn session() -> SessionId {
    SessionId::from("ses_recorded")
}

fn messages(name: &str) -> Vec<Message> {
    let page = v2::decode_messages(&recording(&format!("messages-{name}.json")), &session());
    let page = page.unwrap();
    assert_eq!(page.messages.skipped, 0, "{name}: {:?}", page.messages.why);
    v2::fold(page.messages.items)
}

#[test]
fn recorded_streams_hold_nothing_unknown() {
    let names = names("event-", ".sse");
    assert!(names.len() > 20);
    let mut kinds = HashSet::new();
    for name in names {
        for heard in frames(&name) {
            match heard.event.kind {
                EventKind::Unknown { kind } => panic!("{name}: unknown {kind}"),
                EventKind::Malformed { kind, why } => panic!("{name}: {kind:?}: {why}"),
                kind => kinds.insert(std::mem::discriminant(&kind)),
            };
        }
    }
    // Connected, SessionUpdated, SessionDeleted, Status, Delta, Asked, AskClosed, Noise.
    assert_eq!(kinds.len(), 8);
}

#[test]
fn every_recorded_body_decodes() {
    for name in names("messages-", ".json") {
        let page = v2::decode_messages(&recording(&name), &session()).unwrap();
        assert_eq!(page.messages.skipped, 0, "{name}: {:?}", page.messages.why);
        assert!(page.count > 0 && page.next.is_some(), "{name}");
    }
    for name in names("active-", ".json") {
        let active = v2::decode_active(&recording(&name)).unwrap();
        assert_eq!(active.skipped, 0, "{name}");
    }
    let both = v2::decode_active(&recording("active-subagent.json")).unwrap();
    assert_eq!(both.items.len(), 2);
    assert!(both.items.values().all(|it| *it == Status::Busy));
    let list = v1::decode_api_sessions(&recording("session-list.json")).unwrap();
    assert_eq!((list.rows.skipped, list.count), (0, list.rows.items.len()));
    let locations = v2::decode_locations(&recording("locations.json")).unwrap();
    assert_eq!(locations.items, [Directory::from(HOME)]);
    let row = v2::decode_session(&recording("session.json")).unwrap();
    assert_eq!(row.directory, Directory::from(HOME));
    assert_eq!(row.updated, UnixMs(1_796_018_133_611));
}

#[test]
fn asks_name_the_call_that_they_hold_up() {
    let permissions = v2::decode_permissions(&recording("permission-list.json")).unwrap();
    let ask = &permissions.items[0];
    assert_eq!(ask.text(), "shell echo permitted");
    assert_eq!(ask.always, ["echo *"]);
    let tool = ask.tool.as_ref().unwrap();
    let waiting = messages("permission-pending");
    let part = waiting[1].parts[0].tool().unwrap();
    assert_eq!(
        (&tool.message, Some(&tool.call)),
        (&waiting[1].id, part.call.as_ref())
    );

    let forms = v2::decode_forms(&recording("form-list.json")).unwrap();
    let ask = &forms.items[0];
    assert_eq!(
        (ask.kind, ask.text().as_str()),
        (AskKind::Question, "Which?")
    );
    assert_eq!(ask.questions[0].header, "Pick");
    assert_eq!(ask.questions[0].options[1].label, "B");
    let waiting = messages("form-pending");
    assert_eq!(ask.tool.as_ref().unwrap().message, waiting[1].id);
}

#[test]
fn an_inbox_tells_prompts_from_notes() {
    let items = v2::decode_inbox(&recording("inbox.json")).unwrap().items;
    assert_eq!(items.len(), 2);
    assert!(items.iter().all(|it| it.kind == InboxKind::Prompt));
    assert_eq!(
        (items[0].text.as_str(), items[0].created),
        ("say:queued", UnixMs(1_795_980_225_084))
    );
    let note = br#"{"data":[{"id":"msg_1","sessionID":"ses_1","time":{"created":5},"type":"synthetic",
        "payload":{"text":"a shell command was executed"},"delivery":"queue"},
        {"id":"msg_2","sessionID":"ses_1","time":{"created":6},"type":"compaction","payload":[],"delivery":"queue"},
        {"id":"msg_3"}]}"#;
    let items = v2::decode_inbox(note).unwrap();
    assert_eq!(items.items[0].kind, InboxKind::Other("synthetic".into()));
    assert_eq!(items.items[1].kind, InboxKind::Other("compaction".into()));
    assert_eq!(items.skipped, 1);
}

#[test]
fn running_parts_are_open_and_ended_ones_are_not() {
    let streaming = messages("streaming");
    assert!(streaming[1].is_open() && streaming[1].parts[0].is_live());
    let running = messages("tool-running");
    let tool = running[1].parts[0].tool().unwrap();
    assert_eq!(
        (tool.tool.as_str(), &tool.state),
        ("shell", &ToolState::Running)
    );
    assert!(tool.subject.starts_with("for i in 1 2 3"));
    assert!(tool.start.is_some() && tool.end.is_none() && !tool.output.present);
    let completed = messages("tool-completed");
    let tool = completed[1].parts[0].tool().unwrap();
    assert_eq!((tool.output.present, tool.output.bytes), (true, 18));
    assert!(
        completed
            .iter()
            .flat_map(|m| &m.parts)
            .all(|part| !part.is_live())
    );
    let task = messages("subagent-completed");
    let task = task[1].parts[0].tool().unwrap();
    assert_eq!(
        task.child,
        Some(SessionId::from("ses_dd73cddbfffeXp5AfYcSb6CSR3"))
    );
    assert!(!task.background);
}

#[test]
fn a_retry_is_told_of_the_newest_open_answer_only() {
    let page = |name: &str| v2::decode_messages(&recording(name), &session()).unwrap();
    let retry = page("messages-retry.json").retry.unwrap();
    assert_eq!(
        (retry.attempt, retry.next),
        (2, Some(UnixMs(1_795_980_170_168)))
    );
    assert_eq!(retry.message, "scripted failure");
    assert_eq!(page("messages-retry-interrupted.json").retry, None);
    assert_eq!(
        page("messages-sigkill-service-restarted-retry.json").retry,
        None
    );
}

#[test]
fn an_idle_message_closes_what_its_turn_left_open() {
    let stopped = messages("retry-interrupted");
    let [prompt, answer, idle] = stopped.as_slice() else {
        panic!("{stopped:#?}")
    };
    assert_eq!(answer.parent.as_ref(), Some(&prompt.id));
    assert_eq!(answer.completed, Some(idle.created));
    assert!(answer.error.as_ref().unwrap().is_abort());
    assert_eq!(idle.role, Role::Other(v2::CLOSED.into()));
    assert_eq!(idle.finish.as_deref(), Some("interrupted"));
    // A dangling one has no such message and stays open.
    assert!(messages("sigkill-restarted-retry")[1].is_open());
}

#[test]
fn a_turn_that_ended_before_any_answer_has_one_that_says_so() {
    let body = br#"{"data":[
        {"id":"msg_1","type":"user","text":"go on","time":{"created":1}},
        {"id":"msg_2","type":"idle","outcome":"interrupted","time":{"created":2}}]}"#;
    let page = v2::decode_messages(body, &session()).unwrap();
    let all = v2::fold(page.messages.items);
    let roles: Vec<&Role> = all.iter().map(|m| &m.role).collect();
    assert_eq!(
        roles,
        [&Role::User, &Role::Assistant, &Role::Other("idle".into())]
    );
    assert!(all[1].error.as_ref().unwrap().is_abort());
    assert_eq!(all[1].parent.as_ref(), Some(&all[0].id));
}

#[test]
fn what_no_body_holds_is_told_by_events() {
    let touches = |name| frames(name).into_iter().map(|it| it.touch);
    let child = touches("event-subagent.sse").find_map(|it| match it {
        Touch::Progress { child, .. } => child,
        _ => None,
    });
    assert_eq!(
        child,
        Some(SessionId::from("ses_dd73cddbfffeXp5AfYcSb6CSR3"))
    );
    let begun = touches("event-interrupt-tool.sse")
        .any(|it| matches!(it, Touch::Progress { begun: true, .. }));
    assert!(begun);
    let ended = touches("event-interrupt-permission.sse").any(|it| {
        let call = CallId::from("call_1795980134760876385");
        matches!(it, Touch::Call { call: which, .. } if which == call)
    });
    assert!(
        ended,
        "an interrupt tells the end of the ask by the end of its call only"
    );
}

#[test]
fn events_tell_who_runs() {
    let status = |name| -> Vec<Status> {
        let kinds = frames(name).into_iter().map(|it| it.event.kind);
        kinds
            .filter_map(|kind| match kind {
                EventKind::Status { status, .. } => Some(status),
                _ => None,
            })
            .collect()
    };
    let told = status("event-retry.sse");
    let words: Vec<&str> = told
        .iter()
        .map(|it| match it {
            Status::Idle => "idle",
            Status::Busy => "busy",
            Status::Retry(_) => "retry",
            Status::Other(_) => "other",
        })
        .collect();
    assert_eq!(words, ["busy", "busy", "retry", "busy", "retry", "idle"]);
    assert_eq!(
        status("event-text-turn.sse"),
        [Status::Busy, Status::Busy, Status::Idle]
    );
}

/// A recorded tail in its session, with nothing asked, some time after its newest moment.
fn judged(name: &str, busy: bool, later: Span, inbox: Vec<InboxItem>) -> Verdict {
    let messages = messages(name);
    let now = newest(&messages) + later;
    let mut store = Store::new(vec![spec()]);
    for body in told(messages, busy, inbox, now) {
        store.apply(input(body, now));
    }
    let all = judge_all(&store, now, &Limits::default());
    all.verdicts.into_values().next().unwrap()
}

fn spec() -> ServerSpec {
    ServerSpec {
        name: "two".into(),
        url: "http://127.0.0.1:4096".into(),
        read_only: None,
    }
}

fn input(body: Body, at: UnixMs) -> Input {
    Input {
        server: ServerId(0),
        epoch: Epoch(1),
        at,
        body,
    }
}

/// What a link says of one session.
fn told(messages: Vec<Message>, busy: bool, inbox: Vec<InboxItem>, now: UnixMs) -> Vec<Body> {
    let asks = |kind| {
        Body::Asks(AsksRead {
            directory: Directory::from(HOME),
            kind,
            asked_at: now,
            asks: Vec::new(),
        })
    };
    let running = busy.then(|| (session(), Status::Busy));
    vec![
        Body::Link(LinkReport::Identified {
            dialect: Dialect::V2,
            version: Some("2.0.14".into()),
            skew: None,
            unsecured: false,
        }),
        Body::Sessions(SessionList {
            rows: vec![row(messages[0].created)],
            asked_at: now,
            complete: true,
        }),
        Body::Status(StatusRead {
            directory: Directory::from(HOME),
            asked_at: now,
            entries: running.into_iter().collect::<BTreeMap<_, _>>(),
        }),
        asks(AskKind::Permission),
        asks(AskKind::Question),
        Body::Tail(TailRead {
            session: session(),
            asked_at: now,
            messages,
            whole: true,
            missing: 0,
        }),
        Body::Inbox(InboxRead {
            session: session(),
            asked_at: now,
            items: inbox,
        }),
        Body::Link(LinkReport::Live),
    ]
}

fn row(created: UnixMs) -> SessionInfo {
    SessionInfo {
        id: session(),
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
completed                idle  60   done           ok        -
completed                busy  60   done           stuck     stale-busy
streaming                busy  5    streaming      ok        -
tool-running             busy  5    running-tool   ok        -
tool-running             busy  9000 running-tool   ok        -
subagent-running         busy  9000 subagent       ok        -
form-answered            idle  60   done           ok        -
compacted                idle  60   done           ok        -
user-shell               idle  60   empty          ok        -
failed                   idle  60   failed         needs-you failed
retry                    busy  2    starting       ok        -
interrupted-text         idle  60   aborted        ok        -
interrupted-tool         idle  60   aborted        ok        -
interrupted-permission   idle  60   aborted        ok        -
interrupted-form         idle  60   aborted        ok        -
retry-interrupted        idle  60   aborted        ok        -
sigkill-restarted-done   idle  60   done           ok        -
sigkill-restarted-parked idle  60   aborted        ok        -
sigkill-restarted-text   idle  60   streaming      ok        -
sigkill-restarted-text   idle  300  streaming      watch     interrupted
sigkill-restarted-text   idle  1900 streaming      stuck     interrupted
sigkill-restarted-tool   idle  300  running-tool   watch     interrupted
sigkill-restarted-retry  idle  300  starting       watch     interrupted
sigterm-restarted-child  idle  60   aborted        ok        -
sigterm-resumed-tool     idle  60   done           ok        -
sigterm-resumed-declined idle  60   done           ok        -
migrated-v1-sigkill      idle  60   ended-early    ok        -
migrated-v1-aborted      idle  60   aborted        ok        -
permission-rejected      idle  60   done           ok        -
permission-rejected-plain idle 60   aborted        watch     will-resume
permission-rejected-plain idle 5    aborted        ok        -
form-cancelled           idle  60   aborted        watch     will-resume
sigterm-restarted-text   idle  60   aborted        watch     will-resume
sigterm-restarted-tool   idle  60   ended-early    watch     will-resume
sigterm-restarted-perm   idle  60   aborted        watch     will-resume
sigterm-restarted-form   idle  60   aborted        watch     will-resume
sigterm-restarted-sub    idle  60   aborted        watch     will-resume
sigterm-restarted-declined idle 60  aborted        watch     will-resume
sigterm-restarted-retry  idle  300  starting       watch     interrupted
sigkill-restarted-declined idle 60  aborted        watch     will-resume
";

#[test]
fn recorded_messages_are_what_they_were() {
    for line in MESSAGES.trim().lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [name, reported, seconds, want @ ..] = fields.as_slice() else {
            panic!("{line}");
        };
        let later = Span::secs(seconds.parse().unwrap());
        let verdict = judged(name, *reported == "busy", later, Vec::new());
        let leading = verdict.leading().map_or("-", |f| f.name);
        let got = [verdict.activity.state.word(), verdict.level.word(), leading];
        assert_eq!(&got, want, "{line}");
    }
}

#[test]
fn prompts_that_an_interrupt_left_behind_are_parked() {
    let items = v2::decode_inbox(&recording("inbox.json")).unwrap().items;
    let verdict = judged("sigkill-restarted-parked", false, Span::mins(1), items);
    let found = verdict.leading().unwrap();
    assert_eq!(
        (found.name, verdict.level.word()),
        ("parked-prompt", "watch")
    );
    assert!(
        found.text.starts_with("\"say:queued\" and 1 more"),
        "{}",
        found.text
    );
}

#[test]
fn nothing_is_done_to_a_server_that_is_only_read() {
    let messages = messages("completed");
    let now = newest(&messages) + Span::mins(1);
    let inputs = told(messages, true, Vec::new(), now);
    let inputs = inputs.into_iter().map(|body| input(body, now)).collect();
    let mut app = App::new(vec![spec()], AppOptions::default());
    update(&mut app, Msg::Feed(inputs), now);
    let later = now + Span::mins(1);
    update(&mut app, Msg::Tick, later);
    for key in ['a', 'e'] {
        let effects = update(&mut app, Msg::Key(Key::Char(key)), later);
        assert!(effects.is_empty() && app.ui.dialog.is_none(), "{key}");
        assert!(
            app.ui.notice.take().unwrap().contains("OpenCode 2.x"),
            "{key}"
        );
    }
}

#[test]
fn hostile_rows_cost_no_others() {
    let body = br#"{"data":[1,null,{"id":7},{"id":"msg_1","type":"assistant","time":{"created":1},
        "content":[{"type":"tool"},7,{"type":"dance"},{"type":"text","text":"ok"}]}],"cursor":{"next":7}}"#;
    let page = v2::decode_messages(body, &session()).unwrap();
    assert_eq!(
        (page.count, page.messages.items.len(), page.messages.skipped),
        (4, 1, 5)
    );
    let parts = &page.messages.items[0].parts;
    assert!(matches!(&parts[0].body, PartBody::Other(kind) if kind == "dance"));
    assert_eq!(parts.len(), 2, "{parts:?}");
    let odd = v2::decode_active(br#"{"data":{"ses_1":{"type":"dreaming"},"ses_2":7}}"#).unwrap();
    assert!(
        odd.items.values().all(|it| matches!(it, Status::Other(_))),
        "listed is never idle"
    );
    for body in ["<!doctype html>", "[]", "{}", "{\"data\":7}", "\u{fffd}"] {
        assert!(v2::decode_active(body.as_bytes()).is_err(), "{body}");
        assert!(
            v2::decode_messages(body.as_bytes(), &session()).is_err(),
            "{body}"
        );
    }
}

#[test]
fn an_event_without_words_of_ours_has_its_session_read_again() {
    let data = r#"{"id":"evt_1","created":5,"type":"session.dreamt","location":{"directory":"/p"},"data":{"sessionID":"ses_1"}}"#;
    let heard = v2::decode_event(data);
    assert!(matches!(heard.event.kind, EventKind::Unknown { kind } if kind == "session.dreamt"));
    assert_eq!(heard.touch, Touch::Run(SessionId::from("ses_1")));
    let cut = format!("{}{}", &data[..data.len() - 2], v1::OVERSIZED);
    let heard = v2::decode_event(&cut);
    assert!(matches!(heard.event.kind, EventKind::Malformed { .. }));
    assert_eq!(heard.touch, Touch::Run(SessionId::from("ses_1")));
}

proptest! {
    #[test]
    fn no_text_hurts(text in ".{0,200}", wrap in proptest::bool::ANY) {
        let text = if wrap { format!("{{\"type\":\"session.step.started\",\"data\":{text:?}}}") } else { text };
        let _ = v2::decode_event(&text);
        let _ = v2::decode_messages(text.as_bytes(), &session());
        let _ = v2::decode_inbox(text.as_bytes());
    }
}
