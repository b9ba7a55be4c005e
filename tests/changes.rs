//! What `watch` tells: each change once, nothing that was not read, and nothing that only aged.

use ocwatch::core::id::{Epoch, MessageId, ServerId, SessionId};
use ocwatch::core::judge::{Judge, Limits};
use ocwatch::core::present::{Audience, Change, Changes, Line, change_json, change_line};
use ocwatch::core::store::{self, ServerSpec, Store};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{
    Body, Dialect, DirectoryReport, DirectoryState, Endpoint, Event, EventKind, Input, LinkReport,
    LostCause, Message, Part, PartBody, Prose, ReadFailed, Role, SessionInfo, SessionList, Status,
    StatusRead, TailRead, Tokens, ToolOutput, ToolPart, ToolState,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HOME: &str = "/srv/a";
const ID: &str = "ses_1";

/// One server with one session, and what was told of them.
struct World {
    store: Store,
    judge: Judge,
    changes: Changes,
    epoch: u64,
    title: &'static str,
}

impl World {
    fn new(audience: Audience) -> Self {
        Self {
            store: Store::new(vec![ServerSpec {
                name: "home".into(),
                url: "http://h".into(),
                read_only: None,
            }]),
            judge: Judge::new(Limits::default()),
            changes: Changes::new(audience),
            epoch: 1,
            title: "Fix the build",
        }
    }

    /// The time of the watcher and of the server, in ms; inputs that came together.
    fn say(&mut self, at: i64, bodies: Vec<Body>) -> Vec<Change> {
        let at = UnixMs(at);
        let touched: Vec<store::Change> = bodies
            .into_iter()
            .map(|body| {
                self.store.apply(Input {
                    server: ServerId(0),
                    epoch: Epoch(self.epoch),
                    at,
                    body,
                })
            })
            .collect();
        self.judge.update(&self.store, &touched, at);
        self.changes.next(&self.store, self.judge.judgement(), at)
    }

    fn pass(&mut self, at: i64) -> Vec<Change> {
        self.say(at, Vec::new())
    }

    fn event(&mut self, at: i64, kind: EventKind) -> Vec<Change> {
        self.say(at, vec![event(kind)])
    }

    fn status(&mut self, at: i64, status: Status) -> Vec<Change> {
        let session = ID.into();
        self.event(at, EventKind::Status { session, status })
    }

    /// Everything that a connection reads before it is live.
    fn read(&mut self, at: i64, status: Option<Status>, messages: Vec<Message>) -> Vec<Change> {
        let mut bodies = vec![identified(), directory(), sessions(self.title)];
        bodies.push(Body::Status(StatusRead {
            directory: HOME.into(),
            asked_at: UnixMs(at),
            entries: BTreeMap::from_iter(status.map(|it| (SessionId::from(ID), it))),
        }));
        bodies.push(Body::Tail(TailRead {
            session: ID.into(),
            asked_at: UnixMs(at),
            messages,
            whole: true,
            missing: 0,
        }));
        self.say(at, bodies)
    }

    fn live(&mut self, at: i64) -> Vec<Change> {
        self.say(at, vec![Body::Link(LinkReport::Live)])
    }

    fn lost(&mut self, at: i64) -> Vec<Change> {
        self.lost_by(at, LostCause::Refused, "connection refused")
    }

    fn lost_by(&mut self, at: i64, cause: LostCause, text: &str) -> Vec<Change> {
        let report = LinkReport::Lost {
            cause,
            text: text.into(),
            retry_at: UnixMs(at + 500),
        };
        let changes = self.say(at, vec![Body::Link(report)]);
        self.epoch += 1;
        changes
    }
}

fn identified() -> Body {
    Body::Link(LinkReport::Identified {
        dialect: Dialect::V1,
        version: Some("1.18.33".into()),
        skew: None,
        unsecured: false,
    })
}

fn directory() -> Body {
    Body::Directory(DirectoryReport {
        directory: HOME.into(),
        state: DirectoryState::Loaded,
    })
}

fn sessions(title: &str) -> Body {
    Body::Sessions(SessionList {
        rows: vec![SessionInfo {
            id: ID.into(),
            title: title.into(),
            directory: HOME.into(),
            parent: None,
            agent: None,
            model: None,
            created: UnixMs(0),
            updated: UnixMs(0),
            archived: None,
            reverted: false,
            cost: 0.0,
            tokens: Tokens::default(),
        }],
        asked_at: UnixMs(0),
        complete: true,
    })
}

fn event(kind: EventKind) -> Body {
    Body::Event(Event {
        directory: Some(HOME.into()),
        kind,
    })
}

fn message(role: Role, created: i64, completed: Option<i64>) -> Message {
    let answer = role == Role::Assistant;
    let id = MessageId::from(format!("msg_{created}"));
    let said = Part {
        id: format!("prt_{created}").into(),
        session: ID.into(),
        message: id.clone(),
        body: PartBody::Text(Prose {
            excerpt: "done".into(),
            bytes: 4,
            start: Some(UnixMs(created)),
            end: completed.map(UnixMs),
            ..Prose::default()
        }),
    };
    Message {
        id,
        session: ID.into(),
        role,
        parent: None,
        created: UnixMs(created),
        completed: completed.map(UnixMs),
        finish: (answer && completed.is_some()).then(|| "stop".into()),
        error: None,
        summary: false,
        structured: false,
        agent: None,
        model: None,
        cost: 0.0,
        tokens: Tokens::default(),
        parts: completed.map(|_| said).into_iter().collect(),
    }
}

fn turn(completed: Option<i64>) -> Vec<Message> {
    vec![
        message(Role::User, 1000, None),
        message(Role::Assistant, 1010, completed),
    ]
}

fn text(change: &Change) -> String {
    plain(&change_line(change, Span::ZERO, true))
}

fn plain(line: &Line) -> String {
    line.iter().map(|piece| piece.text.as_str()).collect()
}

fn texts(changes: &[Change]) -> Vec<String> {
    changes.iter().map(text).collect()
}

/// id, level before, level after.
fn levels(changes: &[Change]) -> Vec<(Value, Value, Value)> {
    let documents = changes.iter().map(change_json);
    let level = |side: &Value| side["level"].clone();
    let short = documents.map(|it| (it["id"].clone(), level(&it["from"]), level(&it["to"])));
    short.collect()
}

#[test]
fn nothing_is_told_before_it_was_read() {
    let mut world = World::new(Audience::Script);
    assert_eq!(world.pass(1), []);
    let connecting = Body::Link(LinkReport::Connecting { attempt: 1 });
    assert_eq!(world.say(2, vec![connecting]), []);
    assert_eq!(world.read(3, None, turn(Some(1500))), []);
    let first: Vec<Value> = world.live(2000).iter().map(change_json).collect();
    let server = json!({"level": "ok", "finding": null, "findings": [], "state": "live"});
    let session = json!({
        "level": "ok", "finding": null, "reported": "idle", "activity": "done", "settling": null,
    });
    assert_eq!(
        json!(first),
        json!([
            {
                "schema": "ocwatch.change/1", "at": 2000, "server": "home", "id": null,
                "title": null, "from": null, "to": server, "text": "OpenCode 1.18.33, 1 session",
            },
            {
                "schema": "ocwatch.change/1", "at": 2000, "server": "home", "id": ID,
                "title": "Fix the build", "from": null, "to": session, "text": "",
            },
        ])
    );
    assert_eq!(world.pass(2001), []);
}

#[test]
fn each_change_is_told_once_and_an_age_is_none() {
    let mut world = World::new(Audience::Script);
    world.read(1020, Some(Status::Busy), turn(None));
    world.live(1030);
    let tail = world.read(2000, Some(Status::Busy), turn(Some(2000)));
    assert_eq!(world.live(2000), [], "it was live before");
    let told = change_json(&tail[0]);
    assert_eq!(
        (tail.len(), &told["from"]["activity"]),
        (1, &json!("starting"))
    );
    assert_eq!(
        told["to"],
        json!({
            "level": "ok", "finding": null, "reported": "busy", "activity": "done",
            "settling": "stale-busy",
        })
    );
    assert_eq!(world.pass(16_000), [], "it still settles");
    let stuck = world.pass(17_000);
    let told = change_json(&stuck[0]);
    assert_eq!((stuck.len(), &told["at"]), (1, &json!(17_000)));
    assert_eq!(told["from"]["settling"], "stale-busy");
    assert_eq!(told["to"]["level"], "stuck");
    assert_eq!(told["to"]["finding"], "stale-busy");
    assert_eq!(
        told["text"],
        "stale-busy: finished 15 s ago, still reported busy"
    );
    assert_eq!(world.pass(600_000), [], "only the age is another");
    let idle = levels(&world.status(600_100, Status::Idle));
    assert_eq!(idle, [(json!(ID), json!("stuck"), json!("ok"))]);
}

#[test]
fn a_repeated_report_is_no_change() {
    let mut world = World::new(Audience::Script);
    world.read(1020, Some(Status::Busy), turn(None));
    world.live(1030);
    assert_eq!(world.status(1040, Status::Busy), []);
    world.read(1050, Some(Status::Busy), turn(None));
    assert_eq!(world.live(1060), []);
}

#[test]
fn a_lost_server_makes_each_session_unknown_and_is_told_before_them() {
    let mut world = World::new(Audience::Script);
    world.read(1020, Some(Status::Busy), turn(None));
    world.live(1030);
    let lost = world.lost(5000);
    assert_eq!(
        texts(&lost),
        [
            "00:00:05 o home  live -> unreachable  connection refused",
            "00:00:05 o home  Fix the build  ok busy/starting -> unknown unknown/starting  home is away",
        ]
    );
    let connecting = Body::Link(LinkReport::Connecting { attempt: 2 });
    assert_eq!(world.say(5500, vec![connecting]), [], "not any better yet");
    assert_eq!(world.read(5600, Some(Status::Busy), turn(None)), []);
    let back = levels(&world.live(5700));
    let server = (Value::Null, json!("watch"), json!("ok"));
    let session = (json!(ID), json!("unknown"), json!("ok"));
    assert_eq!(back, [server, session]);
}

#[test]
fn a_person_is_told_of_a_loss_once_and_of_what_is_different_after_it() {
    let mut world = World::new(Audience::Person);
    world.read(1020, Some(Status::Busy), turn(None));
    assert_eq!(world.live(1030).len(), 2);
    let away = "00:00:05 o home  live -> unreachable  connection refused";
    let back = "00:00:06 * home  unreachable -> live  OpenCode 1.18.33, 1 session";
    assert_eq!(texts(&world.lost(5000)), [away]);
    world.read(5600, Some(Status::Busy), turn(None));
    assert_eq!(texts(&world.live(6000)), [back], "it runs as before");

    world.lost(7000);
    world.read(7600, None, turn(Some(7500)));
    let done = "00:00:08 . home  Fix the build  ok busy/starting -> ok idle/done";
    assert_eq!(texts(&world.live(8000))[1..], [done]);
}

/// A tool that was cut off: stuck after a restart.
fn cut_off() -> Vec<Message> {
    let mut answer = message(Role::Assistant, 1010, None);
    answer.parts = vec![Part {
        id: "prt_1".into(),
        session: ID.into(),
        message: answer.id.clone(),
        body: PartBody::Tool(Box::new(ToolPart {
            tool: "bash".into(),
            call: Some("call_1".into()),
            state: ToolState::Running,
            subject: String::new(),
            timeout_ms: None,
            input_keys: Vec::new(),
            input_digest: 0,
            questions: None,
            output: ToolOutput::default(),
            child: None,
            interrupted: false,
            background: false,
            error: None,
            start: Some(UnixMs(1020)),
            end: None,
        })),
    }];
    vec![message(Role::User, 1000, None), answer]
}

#[test]
fn a_person_is_told_of_a_restart_once_and_not_again_after_a_wedge() {
    let mut world = World::new(Audience::Person);
    world.read(1030, Some(Status::Busy), cut_off());
    world.live(1040);
    world.lost(5000);
    world.read(5500, None, cut_off());
    world.live(6000);
    let told = texts(&world.pass(20_000));
    assert!(
        told[0].contains("restarted: 1 session is interrupted"),
        "{told:?}"
    );
    assert!(told[1].contains("-> stuck"), "{told:?}");
    let before = world.pass(30_000);
    assert_eq!(texts(&before), [""; 0]);

    world.lost_by(40_000, LostCause::Wedged, "no answer");
    world.read(60_000, None, cut_off());
    let back = texts(&world.live(61_000));
    let line = "00:01:01 * home  wedged -> live  OpenCode 1.18.33, 1 session";
    assert_eq!(back, [line], "nothing of the session, and no restart");
    for at in (62_000..90_000).step_by(1000) {
        assert_eq!(texts(&world.pass(at)), [""; 0], "stuck as it was");
    }

    world.lost(100_000);
    world.read(101_000, None, cut_off());
    world.live(102_000);
    let told = texts(&world.pass(110_000));
    assert!(
        told[0].contains("restarted: 1 session is interrupted"),
        "{told:?}"
    );
}

#[test]
fn a_person_is_told_of_reads_that_fail_when_the_server_is_not_being_lost() {
    let mut world = World::new(Audience::Person);
    world.read(1020, Some(Status::Busy), turn(None));
    world.live(1030);
    let fails = || {
        Body::Failed(ReadFailed {
            endpoint: Endpoint::Status,
            directory: Some(HOME.into()),
            session: None,
            status: None,
            text: "no answer within 5.0 s".into(),
        })
    };
    let server = world.say(5000, vec![fails()]);
    assert_eq!(server.len(), 1, "the server: {:?}", texts(&server));
    assert_eq!(texts(&world.pass(10_000)), [""; 0]);
    let lost = world.lost_by(15_000, LostCause::Wedged, "no answer");
    assert_eq!(lost.len(), 1, "{:?}", texts(&lost));
    world.read(20_000, Some(Status::Busy), turn(None));
    assert_eq!(world.live(20_100).len(), 1, "it runs as before");

    world.say(30_000, vec![fails()]);
    assert_eq!(texts(&world.pass(41_000)), [""; 0]);
    assert_eq!(world.changes.due(), Some(UnixMs(42_000)));
    let told = texts(&world.pass(42_000));
    assert!(told[0].contains("-> unknown"), "{told:?}");
}

#[test]
fn a_person_is_told_of_unread_messages_when_the_server_is_not_being_lost() {
    let mut world = World::new(Audience::Person);
    world.read(1030, None, cut_off());
    world.live(1040);
    assert!(!world.pass(2_000_000).is_empty());
    let fails = ReadFailed {
        endpoint: Endpoint::Messages,
        directory: Some(HOME.into()),
        session: Some(ID.into()),
        status: None,
        text: "no answer within 5.0 s".into(),
    };
    let failed = world.say(2_001_000, vec![Body::Failed(fails)]);
    assert_eq!(texts(&failed), [""; 0]);
    assert_eq!(world.changes.due(), Some(UnixMs(2_013_000)));
    let told = texts(&world.pass(2_013_000));
    assert!(told[0].contains("-> unknown"), "{told:?}");
}

#[test]
fn a_person_is_told_of_a_resting_session_once_it_does_something() {
    let mut world = World::new(Audience::Person);
    world.read(1900, None, turn(Some(1500)));
    assert_eq!(world.live(2000).len(), 1, "the server only");
    let busy = world.status(3000, Status::Busy);
    let begins = "00:00:03 ~ home  Fix the build  ok idle/done -> ok busy/done  \
                  settling: stale-busy in 15s if it stays";
    assert_eq!(texts(&busy), [begins]);
    let rests = "00:00:04 . home  Fix the build  ok busy/done -> ok idle/done";
    assert_eq!(texts(&world.status(4000, Status::Idle)), [rests]);
}

#[test]
fn a_session_that_is_gone_is_told_by_its_title() {
    for audience in [Audience::Script, Audience::Person] {
        let mut world = World::new(audience);
        world.read(1020, Some(Status::Busy), turn(None));
        world.live(1030);
        world.status(1500, Status::Idle);
        let gone = world.event(2000, EventKind::SessionDeleted(ID.into()));
        assert_eq!(gone.len(), 1, "{gone:?}");
        let told = change_json(&gone[0]);
        assert_eq!(
            (&told["id"], &told["title"]),
            (&json!(ID), &json!("Fix the build"))
        );
        assert_eq!(
            (&told["from"]["level"], &told["to"]),
            (&json!("ok"), &Value::Null)
        );
        assert!(text(&gone[0]).contains("-> gone"), "{}", text(&gone[0]));
        assert_eq!(world.pass(3000), []);
    }
}

#[test]
fn a_new_finding_of_a_server_is_told_whichever_leads() {
    let mut world = World::new(Audience::Person);
    world.read(1020, Some(Status::Busy), turn(None));
    world.live(1030);
    let zombie = world.event(2000, EventKind::SessionDeleted(ID.into()));
    let line = "00:00:02 X home  live  zombie-run: ses_1 was deleted and still runs in /srv/a";
    assert_eq!(texts(&zombie)[0], line);
    let degraded = world.say(
        3000,
        vec![Body::Failed(ReadFailed {
            endpoint: Endpoint::Permission,
            directory: Some(HOME.into()),
            session: None,
            status: Some(500),
            text: "answered 500".into(),
        })],
    );
    let line = "00:00:03 X home  live -> degraded  degraded: /permission of /srv/a: answered 500";
    assert_eq!(texts(&degraded), [line]);
    let to = &change_json(&degraded[0])["to"];
    assert_eq!(to["finding"], "zombie-run");
    assert_eq!(to["findings"], json!(["zombie-run", "degraded"]));
}

#[test]
fn a_resting_session_that_is_gone_is_nothing_to_a_person() {
    let mut world = World::new(Audience::Person);
    world.read(1900, None, turn(Some(1500)));
    world.live(2000);
    assert_eq!(world.event(3000, EventKind::SessionDeleted(ID.into())), []);
}

#[test]
fn what_a_server_says_cannot_move_a_cursor() {
    let mut world = World::new(Audience::Script);
    world.title = "a\u{1b}[2J\nb";
    world.read(1020, None, turn(Some(1015)));
    let status = Status::Other("\u{1b}c\u{202e}".into());
    world.live(1030);
    let changes = world.status(1040, status);
    let line = text(changes.last().unwrap());
    assert!(line.contains("a␛[2J b") && line.contains("␛c�"), "{line:?}");
    assert!(line.chars().all(|c| !c.is_control()), "{line:?}");
    let document = change_json(changes.last().unwrap());
    assert_eq!(
        document["title"], "a\u{1b}[2J\nb",
        "a script gets it as it is"
    );
}
