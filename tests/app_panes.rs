//! The detail's panes, what is looked for in them, and what became of sessions: messages in, what the
//! screen says out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod desk;

use desk::{Desk, HOME, asks, directory, hello, row, sessions, status, tail};
use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{AppOptions, Effect, Msg, Pane, PartOf, PartRead, PartText, live, past};
use ocwatch::core::id::{ServerId, SessionKey};
use ocwatch::core::present::{Detail, Mark, Page, Place, Screen, Sheet, screen};
use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{
    AskKind, Body, DirectoryState, Event, EventKind, LinkReport, LostCause, Message, Part,
    PartBody, Prose, Role, SessionInfo, Status, TodoItem, TodoRead, TodoStatus, Tokens, ToolOutput,
    ToolPart, ToolState,
};

const NOW: i64 = 1_796_000_040_000;
const MINUTE: i64 = 60_000;

impl Desk {
    /// A live server with one session: a prompt, and an answer that has a tool and a text.
    fn new() -> Self {
        let mut desk = Self::without_directory();
        desk.feed(vec![
            directory(HOME, DirectoryState::Loaded),
            Body::Link(LinkReport::Live),
        ]);
        desk.session("ses_a", true);
        desk
    }

    fn without_directory() -> Self {
        let mut desk = Self::over(&["home"], AppOptions::default(), NOW);
        desk.feed(hello());
        desk
    }

    /// What was asked for since this was last looked at.
    fn news(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
    fn event(&mut self, kind: EventKind) {
        self.feed(vec![Body::Event(Event {
            directory: None,
            kind,
        })]);
    }
    fn reported(&mut self, session: &str, status: Status) {
        self.event(EventKind::Status {
            session: session.into(),
            status,
        });
    }
    fn delta(&mut self, part: &str, text: &str) {
        self.event(EventKind::Delta {
            session: "ses_a".into(),
            message: "msg_2".into(),
            part: part.into(),
            text: text.into(),
        });
    }

    fn session(&mut self, id: &str, busy: bool) {
        let at = UnixMs(self.now);
        let busy: &[&str] = if busy { &[id] } else { &[] };
        self.feed(vec![
            sessions(vec![costly(id, at)], at, false),
            status(busy, at),
            asks(AskKind::Permission, at, Vec::new()),
            asks(AskKind::Question, at, Vec::new()),
            tail(id, messages(id, at), at),
        ]);
    }

    /// As the loop does after a screen of so many lines.
    fn layout(&mut self, first: usize, last_scroll: usize) {
        self.msg(Msg::Layout {
            rows: 10,
            page_rows: 10,
            last_scroll,
            first,
            detail: true,
            columns: Vec::new(),
        });
    }
    fn screen(&self) -> Screen {
        screen(&self.app, UnixMs(self.now))
    }
    fn detail(&self) -> Detail {
        self.screen().detail.unwrap()
    }
    fn sheet(&self) -> Sheet {
        self.detail().sheet.unwrap()
    }
    fn page(&self) -> Page {
        self.screen().page.unwrap()
    }
    fn text(&self) -> Vec<String> {
        text(&self.sheet().lines)
    }
    /// Open, at this pane.
    fn open(&mut self, pane: Pane) {
        self.app.ui.pane = pane;
        self.key(Key::Enter);
        let key = self.app.ui.selected.clone().unwrap();
        assert_eq!(self.app.pane(&key), pane);
    }
}

fn key(id: &str) -> SessionKey {
    SessionKey::new(ServerId(0), id.into())
}

fn text(lines: &[Vec<ocwatch::core::present::Piece>]) -> Vec<String> {
    let joined = |line: &Vec<ocwatch::core::present::Piece>| {
        line.iter().map(|piece| piece.text.as_str()).collect()
    };
    lines.iter().map(joined).collect()
}

fn costly(id: &str, at: UnixMs) -> SessionInfo {
    SessionInfo {
        cost: 0.25,
        tokens: Tokens {
            input: 12_345,
            output: 678,
        },
        ..row(id, at)
    }
}

fn part(session: &str, message: &str, id: &str, body: PartBody) -> Part {
    Part {
        id: id.into(),
        session: session.into(),
        message: message.into(),
        body,
    }
}

fn bash(at: UnixMs, bytes: usize) -> PartBody {
    PartBody::Tool(Box::new(ToolPart {
        call: None,
        tool: "bash".into(),
        state: ToolState::Running,
        subject: "./index.sh".into(),
        timeout_ms: None,
        input_keys: vec!["command".into()],
        input_digest: 1,
        questions: None,
        output: ToolOutput {
            present: true,
            bytes,
            digest: bytes as u64,
        },
        child: None,
        interrupted: false,
        background: false,
        error: None,
        start: Some(at),
        end: None,
    }))
}

fn prose(text: &str, at: UnixMs) -> Prose {
    Prose {
        excerpt: text.into(),
        bytes: text.len(),
        start: Some(at),
        ..Prose::default()
    }
}

fn messages(session: &str, at: UnixMs) -> Vec<Message> {
    let message = |id: &str, role, parts| Message {
        id: id.into(),
        session: session.into(),
        role,
        parent: None,
        created: at,
        completed: None,
        finish: None,
        error: None,
        summary: false,
        structured: false,
        agent: None,
        model: None,
        cost: 0.1,
        tokens: Tokens {
            input: 1000,
            output: 10,
        },
        parts,
    };
    let prompt = PartBody::Text(Prose {
        start: None,
        ..prose("now build the index", at)
    });
    let answer = PartBody::Text(prose("", at));
    vec![
        message(
            "msg_1",
            Role::User,
            vec![part(session, "msg_1", "prt_1", prompt)],
        ),
        message(
            "msg_2",
            Role::Assistant,
            vec![part(session, "msg_2", "prt_2", answer)],
        ),
    ]
}

#[test]
fn tab_goes_through_the_panes_that_have_something() {
    let mut desk = Desk::new();
    let names =
        |desk: &Desk| -> Vec<&str> { desk.detail().tabs.iter().map(|it| it.name).collect() };
    assert_eq!(names(&desk), ["story", "log", "parts", "usage"]);
    desk.key(Key::Tab);
    assert!(desk.app.ui.detail_open, "where it is not seen, it opens");
    assert_eq!(desk.app.pane(&key("ses_a")), Pane::Story);
    for pane in [Pane::Log, Pane::Parts, Pane::Usage, Pane::Story] {
        desk.key(Key::Tab);
        assert_eq!(desk.app.pane(&key("ses_a")), pane);
    }
    desk.key(Key::Esc);
    desk.layout(0, 0);
    desk.key(Key::Tab);
    assert!(!desk.app.ui.detail_open, "where it is seen, it need not");
    assert_eq!(desk.app.pane(&key("ses_a")), Pane::Log);
    desk.delta("prt_2", "The index");
    assert_eq!(names(&desk), ["story", "live", "log", "parts", "usage"]);
}

#[test]
fn what_streams_is_followed_until_it_is_scrolled_back_and_again_from_its_end() {
    let mut desk = Desk::new();
    desk.layout(0, 0);
    for n in 0..100 {
        desk.delta("prt_2", &format!("line {n}\n"));
    }
    desk.open(Pane::Live);
    desk.layout(80, 80);
    assert_eq!(desk.text().last().unwrap(), "line 99");
    assert_eq!(desk.sheet().place, Place::End);
    desk.keys("kk");
    assert_eq!(desk.sheet().place, Place::From(78));
    assert_eq!(desk.sheet().note, "stands still, G follows");
    desk.delta("prt_2", "line 100\n");
    desk.layout(78, 81);
    assert_eq!(desk.sheet().place, Place::From(78), "it does not run away");
    desk.keys("G");
    assert_eq!(desk.sheet().place, Place::End);
    assert_eq!(desk.sheet().note, "follows");
}

#[test]
fn only_so_much_of_a_stream_is_kept_and_only_of_the_session_that_is_looked_at() {
    let mut desk = Desk::new();
    desk.layout(0, 0);
    for _ in 0..2000 {
        desk.delta("prt_2", &"x".repeat(99));
    }
    let kept: usize = desk.app.live.heard.iter().map(|it| it.text.len()).sum();
    assert!(kept <= live::MOST && kept > live::MOST / 2, "{kept}");
    desk.session("ses_b", true);
    desk.app.ui.moved = true;
    desk.app.ui.selected = Some(key("ses_b"));
    desk.delta("prt_2", "more");
    assert!(!desk.app.live.is_of(&key("ses_a")));
    assert!(desk.app.live.heard.is_empty(), "another one is looked at");
}

#[test]
fn a_tool_s_output_is_read_when_it_is_looked_at_and_again_when_it_grew() {
    let mut desk = Desk::new();
    let at = UnixMs(desk.now);
    let grow = |desk: &mut Desk, bytes| {
        let part = part("ses_a", "msg_2", "prt_3", bash(at, bytes));
        desk.event(EventKind::PartUpdated(Box::new(part)));
    };
    grow(&mut desk, 5);
    desk.open(Pane::Live);
    let asked = |desk: &mut Desk| {
        let reads = desk.news().into_iter();
        let reads = reads.filter(|it| {
            matches!(
                it,
                Effect::ReadPart {
                    of: PartOf::Output,
                    ..
                }
            )
        });
        reads.count()
    };
    assert_eq!(asked(&mut desk), 1);
    let answer = |desk: &mut Desk, text: &str| {
        desk.msg(Msg::PartRead(PartRead {
            key: key("ses_a"),
            part: "prt_3".into(),
            of: PartOf::Output,
            read: Ok(PartText {
                text: text.into(),
                left_out: 0,
            }),
        }));
    };
    answer(&mut desk, "one\n");
    assert_eq!(asked(&mut desk), 0);
    assert!(desk.text().contains(&"one".to_owned()));
    grow(&mut desk, 9);
    assert_eq!(asked(&mut desk), 0, "not twice within a second");
    let wait = desk.app.next_tick(UnixMs(desk.now)).unwrap();
    assert!(wait.0 <= 1000, "it looks again by itself: {wait:?}");
    desk.wait(1500);
    assert_eq!(asked(&mut desk), 1);
    answer(&mut desk, "one\ntwo\n");
    assert_eq!(desk.text().last().unwrap(), "two");
    desk.wait(5000);
    assert_eq!(asked(&mut desk), 0, "nothing grew");
}

#[test]
fn a_text_is_looked_for_where_one_reads() {
    let mut desk = Desk::new();
    desk.open(Pane::Parts);
    desk.keys("/PRT_");
    let found = desk.sheet().found.unwrap();
    assert_eq!((found.number, found.of), (1, 2));
    assert_eq!(found.cursor, Some(4));
    assert_eq!(desk.sheet().place, Place::Seek { from: 0, line: 1 });
    desk.key(Key::Enter);
    desk.keys("n");
    assert_eq!(desk.sheet().found.unwrap().number, 2);
    desk.keys("n");
    assert_eq!(desk.sheet().found.unwrap().number, 1, "around");
    desk.keys("N");
    assert_eq!(desk.sheet().found.unwrap().number, 2);
    desk.layout(7, 9);
    assert_eq!(desk.app.ui.detail_scroll, 7, "it goes on from there");
    desk.key(Key::Esc);
    assert!(desk.sheet().found.is_none());
    assert!(desk.app.ui.detail_open, "Esc leaves one thing at a time");
    assert!(
        desk.app.ui.filter.text.is_empty(),
        "the table is not filtered"
    );

    desk.keys("x/never-started");
    let page = desk.page();
    let found = page.found.unwrap();
    assert_eq!(found.of, 1);
    let line = text(&page.lines).swap_remove(found.line.unwrap());
    assert!(line.starts_with("never-started"), "{line}");
    assert_eq!(page.seek, found.line);
    desk.keys("xyz");
    assert_eq!(desk.page().found.unwrap().of, 0);
}

#[test]
fn one_part_is_read_when_it_is_opened_and_nobody_hears_of_it_who_left() {
    let mut desk = Desk::new();
    desk.open(Pane::Parts);
    desk.keys("k");
    let effects = desk.key(Key::Enter);
    let [
        Effect::ReadPart {
            key, part, message, ..
        },
    ] = effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert_eq!((message.as_str(), part.as_str()), ("msg_1", "prt_1"));
    let read = PartRead {
        key: key.clone(),
        part: part.clone(),
        of: PartOf::Json,
        read: Ok(PartText {
            text: "{\n  \"text\": \"a\u{1b}[2J\"\n}".into(),
            left_out: 7,
        }),
    };
    assert_eq!(text(&desk.page().lines), ["reading it"]);
    desk.msg(Msg::PartRead(read.clone()));
    let shown = text(&desk.page().lines);
    assert_eq!(shown[1], "  \"text\": \"a␛[2J\"");
    assert!(shown[3].starts_with("cut here: 7 more bytes"));
    desk.key(Key::Enter);
    assert!(desk.screen().page.is_none());
    assert!(desk.app.ui.detail_open);
    desk.keys("j");
    desk.key(Key::Enter);
    desk.msg(Msg::PartRead(read));
    assert_eq!(text(&desk.page().lines), ["reading it"], "it was another");
}

#[test]
fn the_list_of_things_to_do_is_read_once_somebody_looks() {
    let mut desk = Desk::new();
    let wanted = Effect::ReadTodo { key: key("ses_a") };
    assert!(!desk.news().contains(&wanted));
    desk.key(Key::Enter);
    assert!(desk.news().contains(&wanted));
    desk.keys("jk");
    assert!(!desk.news().contains(&wanted), "once");
    let item = |content: &str, status| TodoItem {
        content: content.into(),
        status,
        priority: "high".into(),
    };
    let asked_at = UnixMs(desk.now);
    desk.feed(vec![Body::Todo(TodoRead {
        session: "ses_a".into(),
        asked_at,
        items: vec![item("write it\u{7}", TodoStatus::InProgress)],
    })]);
    desk.app.ui.pane = Pane::Todo;
    assert_eq!(desk.text(), ["0 of 1 done", "[>] ! under way write it␇"]);
    desk.now += 5;
    desk.event(EventKind::Todo {
        session: "ses_a".into(),
        items: vec![item("write it", TodoStatus::Completed)],
    });
    assert_eq!(desk.text()[0], "1 of 1 done");
}

#[test]
fn looking_at_an_asleep_project_reads_nothing() {
    let mut desk = Desk::without_directory();
    let at = UnixMs(desk.now);
    desk.feed(vec![
        directory(HOME, DirectoryState::Asleep),
        sessions(vec![costly("ses_a", at)], at, true),
        Body::Link(LinkReport::Live),
    ]);
    desk.key(Key::Enter);
    assert!(desk.app.ui.detail_open);
    assert_eq!(desk.effects, []);
    desk.wait(2000);
    assert_eq!(desk.effects, []);
}

#[test]
fn changes_are_kept_newest_first_with_the_last_hour() {
    let mut desk = Desk::new();
    desk.wait(2 * MINUTE);
    desk.reported("ses_a", Status::Idle);
    desk.wait(MINUTE);
    desk.open(Pane::Log);
    let log = desk.text();
    assert!(log.len() >= 2, "{log:?}");
    assert!(log[0].contains("-> "), "{log:?}");
    desk.app.ui.pane = Pane::Story;
    let hour = desk.detail().hour;
    assert_eq!(hour.len(), past::MINUTES);
    assert_eq!(hour[..past::MINUTES - 4], vec![None; past::MINUTES - 4]);
    let watched = &hour[past::MINUTES - 4..];
    assert!(watched.iter().all(Option::is_some), "{hour:?}");
    assert_eq!(watched[0], Some(Mark::Working));
    desk.key(Key::Esc);
    desk.keys("H");
    let page = desk.page();
    let lines = text(&page.lines);
    assert!(lines[0].contains("title of ses_a"), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("home live")));
}

#[test]
fn the_hour_is_blank_before_a_session_began() {
    let mut desk = Desk::new();
    desk.wait(3 * MINUTE);
    let begun = row("ses_new", UnixMs(desk.now));
    desk.event(EventKind::SessionUpdated(Box::new(begun)));
    desk.wait(2000);
    desk.app.ui.selected = Some(key("ses_new"));
    let hour = desk.detail().hour;
    assert_eq!(hour[..past::MINUTES - 1], [None; past::MINUTES - 1]);
    assert!(hour[past::MINUTES - 1].is_some(), "{hour:?}");
}

#[test]
fn while_the_server_is_away_the_hour_is_blank_and_its_sessions_change_nothing() {
    let mut desk = Desk::new();
    let before = desk.app.history.of(&key("ses_a")).unwrap().entries.len();
    desk.feed(vec![Body::Link(LinkReport::Lost {
        cause: LostCause::Unreachable,
        text: "gone".into(),
        retry_at: UnixMs(desk.now + MINUTE),
    })]);
    for _ in 0..5 {
        desk.wait(MINUTE);
    }
    assert_eq!(
        desk.app.history.of(&key("ses_a")).unwrap().entries.len(),
        before
    );
    let hour = desk.detail().hour;
    assert_eq!(hour[past::MINUTES - 5..], [None; 5]);
    assert!(hour[past::MINUTES - 6].is_some(), "{hour:?}");
    let lines = {
        desk.keys("H");
        text(&desk.page().lines)
    };
    assert!(lines[0].ends_with("home unreachable"), "{lines:?}");
}

#[test]
fn of_what_changes_all_day_only_the_newest_is_kept_and_of_calm_sessions_nothing() {
    let mut desk = Desk::new();
    let ids: Vec<String> = (0..6).map(|n| format!("ses_{n}")).collect();
    for id in &ids {
        desk.session(id, false);
    }
    let at = UnixMs(desk.now);
    desk.feed(vec![sessions(vec![costly("ses_calm", at)], at, false)]);
    for turn in 0..300 {
        desk.now += 60_000;
        for id in &ids {
            let busy = turn % 2 == 0;
            desk.reported(id, if busy { Status::Busy } else { Status::Idle });
        }
    }
    assert_eq!(desk.app.history.recent.len(), 500);
    let of = |id: &str| desk.app.history.of(&key(id));
    for id in &ids {
        assert_eq!(of(id).unwrap().entries.len(), 200, "{id}");
        assert!(of(id).unwrap().before.is_some());
    }
    assert!(of("ses_calm").is_none());
}

#[test]
fn tokens_and_cost_stand_under_each_other_with_those_of_subagents() {
    let mut desk = Desk::new();
    let at = UnixMs(desk.now);
    let mut child = costly("ses_child", at);
    child.parent = Some("ses_a".into());
    child.cost = 1.5;
    desk.feed(vec![sessions(vec![child], at, false)]);
    desk.app.ui.selected = Some(key("ses_a"));
    desk.open(Pane::Usage);
    let lines = desk.text();
    assert!(lines[1].ends_with("  this session"), "{lines:?}");
    assert!(lines[1].contains("12,345"), "{lines:?}");
    assert!(lines[2].ends_with("  with 1 subagent"), "{lines:?}");
    assert!(
        lines[2].contains("24,690") && lines[2].contains("$1.75"),
        "{lines:?}"
    );
    let ends = |line: &str, what: &str| line.find(what).map(|at| at + what.len());
    assert_eq!(ends(&lines[1], "$0.25"), ends(&lines[2], "$1.75"));
    assert!(lines[5].contains("1,000") && lines[5].contains("\"now build the index\""));
}
