//! `R` and marks: keys in, effects out, while the world moves.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{App, AppOptions, DialogState, Done, Effect, Msg, Outcome, update};
use ocwatch::core::id::{Directory, Epoch, ServerId, SessionKey};
use ocwatch::core::plan::ActionName;
use ocwatch::core::plan::reset::{Consent, Next, RungName, Tried};
use ocwatch::core::plan::survey::{BrokenPart, Roll, Survey, Surveyed};
use ocwatch::core::present::screen;
use ocwatch::core::store::ServerSpec;
use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{
    AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Input, LinkReport,
    LostCause, Message, Role, SessionInfo, SessionList, Status, StatusRead, TailRead, Tokens,
};
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

const HOME: &str = "/srv/a";
const NOW: i64 = 1_796_000_000_000;

struct Desk {
    app: App,
    now: i64,
}

impl Desk {
    /// A live server; these sessions run.
    fn new(busy: &[&str]) -> Self {
        let spec = ServerSpec {
            name: "home".into(),
            url: "http://h".into(),
            read_only: None,
        };
        let options = AppOptions {
            export_shown: "/state/exports".into(),
            ..AppOptions::default()
        };
        let mut desk = Self {
            app: App::new(vec![spec], options),
            now: NOW,
        };
        let inputs = bodies(busy).into_iter().map(|body| Input {
            server: ServerId(0),
            epoch: Epoch(1),
            at: UnixMs(NOW),
            body,
        });
        desk.msg(Msg::Feed(inputs.collect()));
        desk.now += 5000;
        desk
    }

    fn msg(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.app, msg, UnixMs(self.now))
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        self.msg(Msg::Key(key))
    }

    fn selected(&self) -> SessionKey {
        self.app.ui.selected.clone().unwrap()
    }

    fn dialog(&self) -> Vec<String> {
        let shown = screen(&self.app, UnixMs(self.now)).dialog;
        shown
            .map(|it| [vec![it.title], it.lines].concat())
            .unwrap_or_default()
    }

    fn surveyed(&mut self, key: &SessionKey, survey: Survey) {
        let (key, read) = (key.clone(), Ok(survey));
        assert!(self.msg(Msg::Surveyed { key, read }).is_empty());
    }
}

/// What its link says: three sessions of one directory, read whole.
fn bodies(busy: &[&str]) -> Vec<Body> {
    let at = UnixMs(NOW);
    let directory = Directory::new(HOME);
    let asks = |kind| {
        Body::Asks(AsksRead {
            kind,
            directory: directory.clone(),
            asked_at: at,
            asks: Vec::new(),
        })
    };
    let rows = ["ses_a", "ses_b", "ses_c"];
    let mut bodies = vec![
        Body::Link(LinkReport::Connecting { attempt: 1 }),
        Body::Link(LinkReport::Identified {
            dialect: Dialect::V1,
            version: Some("1.18.33".into()),
            skew: None,
            unsecured: false,
        }),
        Body::Sessions(SessionList {
            rows: rows.iter().map(|id| row(id, at)).collect(),
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
            entries: busy
                .iter()
                .map(|id| ((*id).into(), Status::Busy))
                .collect::<BTreeMap<_, _>>(),
        }),
        asks(AskKind::Permission),
        asks(AskKind::Question),
    ];
    bodies.extend(rows.iter().map(|id| {
        Body::Tail(TailRead {
            session: (*id).into(),
            asked_at: at,
            messages: Vec::new(),
            whole: true,
            missing: 0,
        })
    }));
    bodies.push(Body::Link(LinkReport::Live));
    bodies
}

fn row(id: &str, at: UnixMs) -> SessionInfo {
    SessionInfo {
        id: id.into(),
        title: format!("title of {id}"),
        directory: Directory::new(HOME),
        parent: None,
        agent: None,
        model: None,
        created: at,
        updated: at,
        archived: None,
        reverted: false,
        cost: 0.0,
        tokens: Tokens::default(),
    }
}

/// One tool part that never ended.
fn broken(id: &str, running: bool) -> Survey {
    let row = Surveyed {
        session: id.into(),
        title: format!("title of {id}"),
        directory: Directory::new(HOME),
        gone: false,
        running: running.then(|| "busy".to_owned()),
        asks: Vec::new(),
        asks_unread: None,
        roll: Roll(vec![("msg_1".into(), vec!["prt_1".into()])]),
        broken: vec![BrokenPart {
            message: "msg_1".into(),
            part: "prt_1".into(),
            tool: "bash".into(),
            subject: "./start.sh".into(),
            pending: false,
            start: Some(UnixMs(NOW - 60_000)),
            digest: 0,
        }],
        trail: Vec::new(),
        reverted: false,
        unread: 0,
    };
    Survey {
        rows: vec![row],
        neighbours: Vec::new(),
    }
}

fn tried() -> Tried {
    Tried {
        rungs: vec![RungName::Stop],
        stopped: ["ses_a".into()].into(),
    }
}

#[test]
fn a_reset_shows_what_was_read_before_it_does_anything() {
    let mut desk = Desk::new(&[]);
    let key = desk.selected();
    let effects = desk.key(Key::Char('R'));
    assert!(matches!(effects.as_slice(), [Effect::Survey { key: of, .. }] if *of == key));
    assert!(desk.key(Key::Enter).is_empty(), "there is no plan yet");
    let other = SessionKey::new(ServerId(0), "ses_none".into());
    desk.surveyed(&other, broken("ses_none", false));
    assert!(
        desk.dialog()[1].contains("reading"),
        "another session's answer"
    );
    desk.surveyed(&key, broken(key.session.as_str(), false));
    let lines = desk.dialog();
    assert!(lines[0].starts_with("Reset \"title of "), "{lines:?}");
    assert_eq!(lines[1], "1 export 1 messages to /state/exports");
    assert!(
        lines[3].contains("mark a tool part as aborted (bash ./start.sh"),
        "{lines:?}"
    );
    assert!(desk.key(Key::Enter).is_empty(), "nobody can have read it");
    desk.now += 1000;
    let effects = desk.key(Key::Enter);
    let [Effect::Reset { order, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(order.key, key);
    assert!(order.allowed.is_empty());
    assert!(
        desk.key(Key::Char('R')).is_empty(),
        "one action per session at a time"
    );
    assert!(desk.dialog().is_empty());
}

#[test]
fn an_answer_that_comes_after_the_dialog_was_left_opens_nothing() {
    let mut desk = Desk::new(&[]);
    let key = desk.selected();
    desk.key(Key::Char('R'));
    desk.key(Key::Esc);
    desk.surveyed(&key, broken(key.session.as_str(), false));
    assert_eq!(desk.app.ui.dialog, None);
}

#[test]
fn after_a_rung_that_did_not_help_the_next_is_offered_and_enter_agrees_to_it() {
    let mut desk = Desk::new(&["ses_a"]);
    let key = SessionKey::new(ServerId(0), "ses_a".into());
    desk.app.ui.selected = Some(key.clone());
    desk.msg(Msg::Done(Done {
        key: key.clone(),
        action: ActionName::Reset,
        outcome: Outcome::NoEffect("still busy".into()),
        tried: tried(),
    }));
    desk.key(Key::Char('R'));
    desk.surveyed(&key, broken("ses_a", true));
    let lines = desk.dialog();
    assert!(
        lines
            .iter()
            .any(|it| it.contains("dispose the project /srv/a")),
        "{lines:?}"
    );
    desk.now += 1000;
    let effects = desk.key(Key::Enter);
    let [Effect::Reset { order, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(order.allowed.contains(&Consent::Dispose));
    assert_eq!(order.tried, tried());
    // Once it has helped, the next reset begins at the bottom again.
    desk.msg(Msg::Done(Done {
        key: key.clone(),
        action: ActionName::Reset,
        outcome: Outcome::Done("disposed".into()),
        tried: Tried::default(),
    }));
    desk.key(Key::Char('R'));
    desk.surveyed(&key, broken("ses_a", true));
    let Some(DialogState::Reset(dialog)) = &desk.app.ui.dialog else {
        panic!("a dialog");
    };
    let ocwatch::core::app::Stage::Shown(ladder, _) = &dialog.stage else {
        panic!("a plan");
    };
    assert!(matches!(&ladder.first, Next::Climb(rung) if rung.name == RungName::Stop));
}

#[test]
fn marked_sessions_get_one_plan_one_confirmation_and_a_result_each() {
    let mut desk = Desk::new(&["ses_a", "ses_b"]);
    for id in ["ses_a", "ses_b"] {
        desk.app.ui.selected = Some(SessionKey::new(ServerId(0), id.into()));
        desk.key(Key::Char(' '));
    }
    let shown = screen(&desk.app, UnixMs(desk.now));
    assert_eq!(shown.rows.iter().filter(|row| row.marked).count(), 2);
    assert!(
        desk.key(Key::Char('a')).is_empty(),
        "it asks, however stuck they are"
    );
    let lines = desk.dialog();
    assert_eq!(lines[0], "Abort 2 sessions");
    assert_eq!(lines.len(), 3, "{lines:?}");
    let effects = desk.key(Key::Enter);
    assert_eq!(effects.len(), 2, "{effects:?}");
    assert!(desk.app.ui.marked.is_empty());
    assert_eq!(desk.app.running.len(), 2);
    assert!(
        desk.key(Key::Enter)
            .iter()
            .all(|it| !matches!(it, Effect::Act(_)))
    );
}

#[test]
fn a_marked_export_writes_each_and_escape_unmarks() {
    let mut desk = Desk::new(&[]);
    desk.key(Key::Char('g'));
    desk.key(Key::Char(' '));
    desk.key(Key::Char(' '));
    desk.key(Key::Esc);
    assert!(desk.app.ui.marked.is_empty());
    desk.key(Key::Char('g'));
    desk.key(Key::Char(' '));
    desk.key(Key::Char(' '));
    let effects = desk.key(Key::Char('e'));
    assert_eq!(effects.len(), 2, "{effects:?}");
    assert!(effects.iter().all(|it| matches!(it, Effect::Export { .. })));
}

fn open_answer(session: &str) -> Vec<Message> {
    let message = |id: &str, role: Role| Message {
        id: id.into(),
        session: session.into(),
        role,
        parent: Some("msg_1".into()),
        created: UnixMs(NOW),
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
    };
    vec![
        message("msg_1", Role::User),
        message("msg_2", Role::Assistant),
    ]
}

#[test]
fn a_port_that_was_closed_at_our_first_look_is_no_restart_and_a_reset_waits() {
    let spec = ServerSpec {
        name: "home".into(),
        url: "http://h".into(),
        read_only: None,
    };
    let mut desk = Desk {
        app: App::new(vec![spec], AppOptions::default()),
        now: NOW,
    };
    let refused = Body::Link(LinkReport::Lost {
        cause: LostCause::Refused,
        text: "nothing listens there".into(),
        retry_at: UnixMs(NOW),
    });
    let connecting = Body::Link(LinkReport::Connecting { attempt: 1 });
    let tail = Body::Tail(TailRead {
        session: "ses_a".into(),
        asked_at: UnixMs(NOW),
        messages: open_answer("ses_a"),
        whole: true,
        missing: 0,
    });
    let first = [connecting, refused].map(|body| (Epoch(1), body));
    let empty = |body: &Body| matches!(body, Body::Tail(it) if it.session.as_str() == "ses_a");
    let then = bodies(&[]).into_iter().filter(|it| !empty(it));
    let then = then.chain([tail]);
    let all = first.into_iter().chain(then.map(|body| (Epoch(2), body)));
    let inputs = all.map(|(epoch, body)| Input {
        server: ServerId(0),
        epoch,
        at: UnixMs(NOW),
        body,
    });
    desk.msg(Msg::Feed(inputs.collect()));
    desk.now += 15_000;
    desk.msg(Msg::Tick);
    let key = SessionKey::new(ServerId(0), "ses_a".into());
    let verdict = desk.app.verdict(&key).unwrap();
    assert_eq!(verdict.findings, [], "another OpenCode may write it");
    assert_eq!(
        verdict.settling.as_ref().map(|it| it.name),
        Some("interrupted")
    );
    desk.app.ui.selected = Some(key);
    assert!(desk.key(Key::Char('R')).is_empty());
    let notice = screen(&desk.app, UnixMs(desk.now)).notice.unwrap().text;
    assert!(notice.contains("not known yet"), "{notice}");
}

#[test]
fn an_abort_is_of_the_turn_that_was_shown() {
    let prompt = |desk: &mut Desk, messages: Vec<Message>| {
        let input = Input {
            server: ServerId(0),
            epoch: Epoch(1),
            at: UnixMs(desk.now),
            body: Body::Tail(TailRead {
                session: "ses_a".into(),
                asked_at: UnixMs(desk.now),
                messages,
                whole: true,
                missing: 0,
            }),
        };
        desk.msg(Msg::Feed(vec![input]));
    };
    let acts = |desk: &mut Desk| {
        let effects = desk.key(Key::Enter);
        effects.iter().any(|it| matches!(it, Effect::Act(_)))
    };
    let open = |first: Vec<Message>| {
        let mut desk = Desk::new(&["ses_a"]);
        prompt(&mut desk, first);
        desk.app.ui.selected = Some(SessionKey::new(ServerId(0), "ses_a".into()));
        desk.key(Key::Char('a'));
        assert!(matches!(desk.app.ui.dialog, Some(DialogState::Abort(_))));
        desk.now += 1000;
        desk
    };
    let mut desk = open(open_answer("ses_a"));
    assert!(acts(&mut desk), "as it was shown");

    let mut desk = open(open_answer("ses_a"));
    let mut newer = open_answer("ses_a");
    newer[0].id = "msg_3".into();
    prompt(&mut desk, newer);
    assert!(!acts(&mut desk), "another turn");
    let notice = screen(&desk.app, UnixMs(desk.now)).notice.unwrap().text;
    assert!(notice.contains("a new prompt came"), "{notice}");

    let mut desk = open(Vec::new());
    prompt(&mut desk, open_answer("ses_a"));
    assert!(
        acts(&mut desk),
        "only read now: nothing says that it is another turn"
    );
}
