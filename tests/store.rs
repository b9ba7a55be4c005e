//! The store never goes back in time, whatever order reads and events arrive in.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use ocwatch::core::id::{Directory, Epoch, ServerId, SessionId, SessionKey};
use ocwatch::core::store::{Change, LinkState, Reported, ServerSpec, Store, Why};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Event, EventKind,
    Input, LinkReport, LostCause, Message, Role, SessionInfo, SessionList, Status, StatusRead,
    TailRead, Tokens,
};
use std::collections::BTreeMap;

const HOME: &str = "/srv/a";

struct World {
    store: Store,
    epoch: u64,
}

impl World {
    fn new() -> Self {
        let store = Store::new(vec![ServerSpec {
            name: "home".into(),
            url: "http://h".into(),
            read_only: None,
        }]);
        let mut world = Self { store, epoch: 1 };
        world.say(0, Body::Link(LinkReport::Connecting { attempt: 1 }));
        world.say(
            0,
            Body::Directory(DirectoryReport {
                directory: HOME.into(),
                state: DirectoryState::Loaded,
            }),
        );
        world.say(
            0,
            Body::Sessions(SessionList {
                rows: vec![row("ses_1")],
                asked_at: UnixMs(0),
                complete: true,
            }),
        );
        world
    }
    fn say(&mut self, at: i64, body: Body) -> Change {
        self.store.apply(Input {
            server: ServerId(0),
            epoch: Epoch(self.epoch),
            at: UnixMs(at),
            body,
        })
    }
    fn event(&mut self, at: i64, kind: EventKind) -> Change {
        self.say(
            at,
            Body::Event(Event {
                directory: Some(HOME.into()),
                kind,
            }),
        )
    }
    fn status(&mut self, asked: i64, at: i64, busy: bool) {
        let entries = if busy {
            BTreeMap::from([(id(), Status::Busy)])
        } else {
            BTreeMap::new()
        };
        self.say(
            at,
            Body::Status(StatusRead {
                directory: HOME.into(),
                asked_at: UnixMs(asked),
                entries,
            }),
        );
    }
    fn reported(&self) -> Reported {
        let server = self.store.server(ServerId(0)).unwrap();
        server.reported(self.store.session(&key()).unwrap())
    }
    fn tail(&self) -> Vec<(String, bool)> {
        let session = self.store.session(&key()).unwrap();
        session
            .tail
            .messages
            .iter()
            .map(|m| (m.id.to_string(), m.completed.is_some()))
            .collect()
    }
}

fn id() -> SessionId {
    "ses_1".into()
}
fn key() -> SessionKey {
    SessionKey::new(ServerId(0), id())
}
fn row(name: &str) -> SessionInfo {
    SessionInfo {
        id: name.into(),
        title: "t".into(),
        directory: Directory::new(HOME),
        parent: None,
        agent: None,
        model: None,
        created: UnixMs(0),
        updated: UnixMs(0),
        archived: None,
        reverted: false,
        cost: 0.0,
        tokens: Tokens::default(),
    }
}
fn answer(name: &str, created: i64, completed: Option<i64>) -> Message {
    Message {
        id: name.into(),
        session: id(),
        role: Role::Assistant,
        parent: None,
        created: UnixMs(created),
        completed: completed.map(UnixMs),
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

#[test]
fn nothing_is_idle_before_its_directory_was_read() {
    let mut world = World::new();
    assert_eq!(world.reported(), Reported::Unknown(Why::NotReadYet));
    world.status(1, 2, false);
    assert_eq!(world.reported(), Reported::Idle);
}

#[test]
fn an_event_after_the_question_wins_over_the_answer() {
    let mut world = World::new();
    world.event(
        20,
        EventKind::Status {
            session: id(),
            status: Status::Busy,
        },
    );
    world.status(10, 30, false);
    assert_eq!(
        world.reported(),
        Reported::Busy,
        "asked at 10, told busy at 20"
    );
    world.status(40, 41, false);
    assert_eq!(world.reported(), Reported::Idle, "asked after the event");
    world.event(
        35,
        EventKind::Status {
            session: id(),
            status: Status::Busy,
        },
    );
    assert_eq!(
        world.reported(),
        Reported::Idle,
        "an event received before the read was asked is in it"
    );
}

#[test]
fn a_lost_link_makes_everything_unknown_and_erases_nothing() {
    let mut world = World::new();
    world.status(1, 2, true);
    world.say(3, Body::Link(LinkReport::Live));
    let lost = LinkReport::Lost {
        cause: LostCause::Refused,
        text: "gone".into(),
        retry_at: UnixMs(9),
    };
    world.say(5, Body::Link(lost));
    assert!(matches!(
        world.reported(),
        Reported::Unknown(Why::ServerLost(_))
    ));
    world.epoch = 2;
    world.say(6, Body::Link(LinkReport::Connecting { attempt: 2 }));
    assert!(
        !world.reported().is_known(),
        "a further attempt proves nothing"
    );
    let told = LinkReport::Identified {
        dialect: ocwatch::core::wire::Dialect::V1,
        version: None,
        skew: None,
        unsecured: false,
    };
    world.say(7, Body::Link(told));
    assert_eq!(world.reported(), Reported::Unknown(Why::NotReadYet));
    world.status(8, 9, false);
    assert_eq!(world.reported(), Reported::Idle);
    let session = world.store.session(&key()).unwrap();
    assert_eq!(
        session.watch.ran_here_at,
        Some(UnixMs(2)),
        "it was seen running here"
    );
}

#[test]
fn only_a_port_that_was_closed_since_it_was_live_means_a_restart() {
    let mut world = World::new();
    let lost = |world: &mut World, cause| {
        let report = LinkReport::Lost {
            cause,
            text: "away".into(),
            retry_at: UnixMs(0),
        };
        world.say(10, Body::Link(report));
    };
    let live = |world: &mut World, at| {
        world.say(at, Body::Link(LinkReport::Live));
        world.store.server(ServerId(0)).unwrap().restarted_at
    };
    lost(&mut world, LostCause::Refused);
    assert_eq!(live(&mut world, 20), None, "the first that is seen");
    lost(&mut world, LostCause::Wedged);
    assert_eq!(live(&mut world, 30), None, "it only hung");
    lost(&mut world, LostCause::Refused);
    lost(&mut world, LostCause::Wedged);
    assert_eq!(live(&mut world, 40), Some(UnixMs(40)));
    lost(&mut world, LostCause::Unreachable);
    assert_eq!(live(&mut world, 50), Some(UnixMs(40)), "once");
}

#[test]
fn an_older_epoch_is_counted_and_dropped() {
    let mut world = World::new();
    world.epoch = 3;
    world.status(1, 2, false);
    world.epoch = 2;
    let change = world.event(
        3,
        EventKind::Status {
            session: id(),
            status: Status::Busy,
        },
    );
    assert_eq!(change, Change::Stale(ServerId(0)));
    assert_eq!(world.store.server(ServerId(0)).unwrap().stale_inputs, 1);
    assert_eq!(world.reported(), Reported::Idle);
}

#[test]
fn messages_that_ended_during_a_read_stay_ended_and_removed_ones_stay_removed() {
    let mut world = World::new();
    world.event(
        20,
        EventKind::MessageUpdated(Box::new(answer("msg_1", 1, Some(19)))),
    );
    world.event(
        21,
        EventKind::MessageUpdated(Box::new(answer("msg_3", 3, None))),
    );
    world.event(
        22,
        EventKind::MessageRemoved {
            session: id(),
            message: "msg_2".into(),
        },
    );
    let read = TailRead {
        session: id(),
        asked_at: UnixMs(10),
        whole: true,
        missing: 0,
        messages: vec![answer("msg_1", 1, None), answer("msg_2", 2, None)],
    };
    world.say(30, Body::Tail(read.clone()));
    let want = vec![("msg_1".to_owned(), true), ("msg_3".to_owned(), false)];
    assert_eq!(world.tail(), want);
    world.say(30, Body::Tail(read));
    assert_eq!(world.tail(), want, "idempotent");
}

#[test]
fn a_run_that_an_older_connection_named_is_not_reported_by_a_newer_one() {
    let mut world = World::new();
    let named = |asked| {
        Body::Status(StatusRead {
            directory: HOME.into(),
            asked_at: UnixMs(asked),
            entries: BTreeMap::from([("ses_2".into(), Status::Busy)]),
        })
    };
    let list = |asked| {
        Body::Sessions(SessionList {
            rows: vec![row("ses_1"), row("ses_2")],
            asked_at: UnixMs(asked),
            complete: true,
        })
    };
    let reported = |world: &World| {
        let server = world.store.server(ServerId(0)).unwrap();
        let key = SessionKey::new(ServerId(0), "ses_2".into());
        server.reported(world.store.session(&key).unwrap())
    };
    world.say(1, Body::Link(LinkReport::Live));
    world.say(2, named(1));
    world.epoch = 2;
    world.say(3, Body::Link(LinkReport::Connecting { attempt: 1 }));
    world.say(4, list(4));
    assert_eq!(reported(&world), Reported::Unknown(Why::NotReadYet));

    let mut world = World::new();
    world.say(1, Body::Link(LinkReport::Live));
    world.say(2, named(1));
    world.say(4, list(4));
    assert_eq!(reported(&world), Reported::Busy, "in the same connection");
}

#[test]
fn an_event_names_only_what_it_changed() {
    let mut world = World::new();
    let server = ServerId(0);
    let one = |name: &str| Change::Sessions(server, vec![name.into()]);
    let token = EventKind::Delta {
        session: id(),
        message: "msg_1".into(),
        part: "prt_1".into(),
        text: "word".into(),
    };
    let child = SessionInfo {
        parent: Some(id()),
        ..row("ses_2")
    };
    let steps = [
        (token, Change::Progress(server, id())),
        (EventKind::SessionUpdated(Box::new(child)), one("ses_2")),
        // It leaves its parent.
        (
            EventKind::SessionUpdated(Box::new(row("ses_2"))),
            one("ses_2"),
        ),
        (EventKind::SessionDeleted("ses_2".into()), one("ses_2")),
        (EventKind::SessionDeleted("ses_2".into()), Change::Nothing),
        (
            EventKind::Unknown { kind: "new".into() },
            Change::Itself(server, Vec::new()),
        ),
        (
            EventKind::Malformed {
                kind: None,
                why: "no JSON".into(),
            },
            Change::Itself(server, Vec::new()),
        ),
    ];
    for (at, (kind, want)) in (1..).zip(steps) {
        assert_eq!(world.event(at, kind.clone()), want, "{kind:?}");
    }
}

#[test]
fn closed_asks_do_not_heap_up() {
    let mut world = World::new();
    let ask = |n: i64| Ask {
        id: format!("per_{n:03}").into(),
        session: id(),
        kind: AskKind::Permission,
        tool: None,
        permission: None,
        patterns: Vec::new(),
        always: Vec::new(),
        command: None,
        diff: None,
        questions: Vec::new(),
    };
    for n in 0..200 {
        world.event(10, EventKind::Asked(Box::new(ask(n))));
        let closed = EventKind::AskClosed {
            session: id(),
            ask: ask(n).id,
        };
        world.event(10, closed);
    }
    world.say(
        11,
        Body::Asks(AsksRead {
            directory: HOME.into(),
            kind: AskKind::Permission,
            asked_at: UnixMs(9),
            asks: vec![ask(199)],
        }),
    );
    let session = world.store.session(&key()).unwrap();
    assert!(session.asks.is_empty(), "a newer event said it is closed");
    assert!(session.closed_asks.len() <= 64);
}

#[test]
fn a_clock_that_was_set_back_makes_nothing_deaf() {
    let mut world = World::new();
    let busy = |status| EventKind::Status {
        session: id(),
        status,
    };
    world.status(5_000, 5_010, false);
    world.event(5_020, busy(Status::Busy));
    assert_eq!(world.reported(), Reported::Busy);
    world.say(2_000, Body::ClockJumped);
    world.status(2_010, 2_020, false);
    assert_eq!(world.reported(), Reported::Idle, "the read counts");
    world.event(2_030, busy(Status::Busy));
    assert_eq!(world.reported(), Reported::Busy, "the event counts");
}

#[test]
fn a_live_server_that_is_asked_again_what_it_is_stays_live() {
    let mut world = World::new();
    let identified = Body::Link(LinkReport::Identified {
        dialect: Dialect::V1,
        version: Some("1.18.33".into()),
        skew: Some(Span::hours(1)),
        unsecured: false,
    });
    world.say(10, Body::Link(LinkReport::Live));
    world.say(20, identified);
    let server = world.store.server(ServerId(0)).unwrap();
    assert_eq!(server.link, LinkState::Live);
    assert_eq!(server.skew, Span::hours(1));
}
