//! Keys in, effects out: what the app does with a hand on the keyboard while the world moves.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use ocwatch::core::app::keymap::{Action, Key, Keymap};
use ocwatch::core::app::{
    App, AppOptions, Done, Effect, Msg, Outcome, PageKind, Pane, PartOf, PartPage, PartRead,
    PartText, update,
};
use ocwatch::core::id::{Directory, Epoch, ServerId, SessionKey};
use ocwatch::core::plan::ActionName;
use ocwatch::core::plan::reset::Tried;
use ocwatch::core::present::screen;
use ocwatch::core::store::ServerSpec;
use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{
    AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Input, LinkReport, Message,
    Role, SessionInfo, SessionList, Status, StatusRead, TailRead, Tokens,
};
use std::collections::BTreeMap;

const HOME: &str = "/srv/a";
const NOW: i64 = 1_796_000_000_000;
const MINUTE: i64 = 60_000;

struct Desk {
    app: App,
    now: i64,
}

impl Desk {
    /// A live server with a calm session, changed a minute ago.
    fn new() -> Self {
        Self::with(AppOptions::default())
    }

    fn with(options: AppOptions) -> Self {
        let spec = ServerSpec {
            name: "home".into(),
            url: "http://h".into(),
            read_only: None,
        };
        let app = App::new(vec![spec], options);
        let mut desk = Self { app, now: NOW };
        desk.feed(vec![
            Body::Link(LinkReport::Connecting { attempt: 1 }),
            Body::Link(LinkReport::Identified {
                dialect: Dialect::V1,
                version: Some("1.18.33".into()),
                skew: None,
                unsecured: false,
            }),
            Body::Directory(DirectoryReport {
                directory: HOME.into(),
                state: DirectoryState::Loaded,
            }),
        ]);
        desk.session("ses_calm", MINUTE, false);
        desk.feed(vec![Body::Link(LinkReport::Live)]);
        desk
    }

    fn feed(&mut self, bodies: Vec<Body>) {
        let inputs = bodies.into_iter().map(|body| Input {
            server: ServerId(0),
            epoch: Epoch(1),
            at: UnixMs(self.now),
            body,
        });
        let inputs = inputs.collect();
        update(&mut self.app, Msg::Feed(inputs), UnixMs(self.now));
    }

    /// A session whose last answer ended `ago` ms ago; `stale`: still reported busy, so stuck.
    fn session(&mut self, id: &str, ago: i64, stale: bool) {
        let at = UnixMs(self.now - ago);
        let asked_at = UnixMs(self.now);
        let mut entries = BTreeMap::new();
        if stale {
            entries.insert(id.into(), Status::Busy);
        }
        let asks = |kind| {
            Body::Asks(AsksRead {
                directory: HOME.into(),
                kind,
                asked_at,
                asks: Vec::new(),
            })
        };
        self.feed(vec![
            Body::Sessions(SessionList {
                rows: vec![row(id, at)],
                asked_at,
                complete: false,
            }),
            Body::Status(StatusRead {
                directory: HOME.into(),
                asked_at,
                entries,
            }),
            asks(AskKind::Permission),
            asks(AskKind::Question),
            Body::Tail(TailRead {
                session: id.into(),
                asked_at,
                messages: vec![
                    message(id, "msg_1", Role::User, at),
                    message(id, "msg_2", Role::Assistant, at),
                ],
                whole: true,
                missing: 0,
            }),
        ]);
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        update(&mut self.app, Msg::Key(key), UnixMs(self.now))
    }
    fn tell(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.app, msg, UnixMs(self.now))
    }
    fn keys(&mut self, text: &str) {
        for c in text.chars() {
            self.key(Key::Char(c));
        }
    }
    fn wait(&mut self, ms: i64) {
        self.now += ms;
        update(&mut self.app, Msg::Tick, UnixMs(self.now));
    }
    fn selected(&self) -> String {
        self.app.ui.selected.as_ref().unwrap().session.to_string()
    }
    fn rows(&self) -> Vec<String> {
        let shown = screen(&self.app, UnixMs(self.now));
        shown.rows.into_iter().map(|row| row.title).collect()
    }
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

fn message(session: &str, id: &str, role: Role, at: UnixMs) -> Message {
    let answer = role == Role::Assistant;
    Message {
        id: id.into(),
        session: session.into(),
        role,
        parent: answer.then(|| "msg_1".into()),
        created: at,
        completed: answer.then_some(at),
        finish: answer.then(|| "stop".to_owned()),
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
fn a_stuck_session_that_is_looked_at_is_aborted_with_one_key() {
    let mut desk = Desk::new();
    desk.session("ses_stuck", 12 * MINUTE, true);
    desk.wait(5000);
    assert_eq!(desk.selected(), "ses_stuck", "attention first");
    let effects = desk.key(Key::Char('a'));
    assert!(
        matches!(effects.as_slice(), [Effect::Act(plan)] if plan.key.session.as_str() == "ses_stuck")
    );
    assert!(
        desk.key(Key::Char('a')).is_empty(),
        "one action per session at a time"
    );
    let key = desk.app.ui.selected.clone().unwrap();
    let done = Done {
        key,
        action: ActionName::Abort,
        outcome: Outcome::NoEffect("still busy".into()),
        tried: Tried::default(),
    };
    update(&mut desk.app, Msg::Done(done), UnixMs(desk.now));
    let shown = screen(&desk.app, UnixMs(desk.now));
    assert!(
        shown.rows[0]
            .result
            .as_ref()
            .unwrap()
            .text
            .contains("no effect: still busy")
    );
}

#[test]
fn an_abort_that_goes_out_is_remembered_of_what_runs() {
    let mut desk = Desk::new();
    desk.session("ses_stuck", 12 * MINUTE, true);
    desk.wait(5000);
    let sent_at = |desk: &Desk, id: &str| {
        let key = SessionKey::new(ServerId(0), id.into());
        desk.app.store.session(&key).unwrap().watch.abort_sent_at
    };
    for id in ["ses_stuck", "ses_calm", "ses_none"] {
        let key = SessionKey::new(ServerId(0), id.into());
        update(&mut desk.app, Msg::AbortSent(key), UnixMs(desk.now));
    }
    assert_eq!(sent_at(&desk, "ses_stuck"), Some(UnixMs(desk.now)));
    assert_eq!(
        sent_at(&desk, "ses_calm"),
        None,
        "nothing ran that could go on"
    );
}

#[test]
fn a_row_that_has_just_come_under_the_hand_is_never_aborted_unasked() {
    let mut desk = Desk::new();
    desk.wait(5000);
    assert_eq!(desk.selected(), "ses_calm");
    desk.session("ses_stuck", 12 * MINUTE, true);
    assert_eq!(desk.selected(), "ses_stuck", "nobody has chosen yet");
    assert!(desk.key(Key::Char('a')).is_empty());
    assert!(desk.app.ui.dialog.is_some(), "it asks");
}

#[test]
fn any_key_holds_the_selection_where_it_is() {
    let mut desk = Desk::new();
    desk.keys("/calm");
    desk.key(Key::Enter);
    desk.session("ses_stuck", 12 * MINUTE, true);
    assert_eq!(desk.rows(), ["title of ses_calm"]);
    desk.key(Key::Esc);
    assert_eq!(desk.rows(), ["title of ses_stuck", "title of ses_calm"]);
    assert_eq!(
        desk.selected(),
        "ses_calm",
        "the filter went, the session stays"
    );
    desk.wait(5000);
    assert!(desk.key(Key::Char('a')).is_empty(), "not stuck: it asks");
    desk.session("ses_new", 13 * MINUTE, true);
    let effects = desk.key(Key::Enter);
    assert!(
        matches!(effects.as_slice(), [Effect::Act(plan)] if plan.key.session.as_str() == "ses_calm")
    );
}

#[test]
fn escape_never_quits_and_q_does() {
    let mut desk = Desk::new();
    assert!(desk.key(Key::Esc).is_empty());
    desk.key(Key::Char('?'));
    assert!(desk.key(Key::Char('q')).is_empty(), "back from help");
    assert_eq!(desk.key(Key::Char('q')), [Effect::Quit]);
    desk.keys("/q");
    assert_eq!(desk.app.ui.filter.text, "q", "typing is typing");
    assert_eq!(desk.key(Key::Ctrl('c')), [Effect::Quit]);
}

#[test]
fn of_many_bursts_the_rows_are_laid_out_once_before_anybody_looks() {
    let mut desk = Desk::new();
    let titles = |desk: &Desk| -> Vec<String> {
        let rows = screen(&desk.app, UnixMs(desk.now)).rows;
        rows.into_iter().map(|row| row.title).collect()
    };
    let before = titles(&desk);
    for n in 0..3_i64 {
        let id = format!("ses_new{n}");
        let input = Input {
            server: ServerId(0),
            epoch: Epoch(1),
            at: UnixMs(desk.now),
            body: Body::Sessions(SessionList {
                rows: vec![row(&id, UnixMs(desk.now - n))],
                asked_at: UnixMs(desk.now),
                complete: false,
            }),
        };
        update(&mut desk.app, Msg::Burst(vec![input]), UnixMs(desk.now));
        assert!(desk.app.is_unsettled());
        assert_eq!(titles(&desk), before, "nothing moves meanwhile");
    }
    update(&mut desk.app, Msg::Tick, UnixMs(desk.now));
    assert!(!desk.app.is_unsettled());
    assert_eq!(titles(&desk).len(), before.len() + 3);
}

#[test]
fn a_tick_is_due_when_something_is_to_be_judged_again_and_not_before() {
    let mut desk = Desk::new();
    let calm = desk.app.next_tick(UnixMs(desk.now));
    assert!(calm.is_none_or(|wait| wait.0 > 1000), "{calm:?}");
    desk.session("ses_stale", 5000, true);
    let key = SessionKey::new(ServerId(0), "ses_stale".into());
    let before = desk.app.verdict(&key).unwrap().level;
    let wait = desk.app.next_tick(UnixMs(desk.now)).unwrap();
    desk.now += wait.0;
    update(&mut desk.app, Msg::Tick, UnixMs(desk.now));
    assert_ne!(desk.app.verdict(&key).unwrap().level, before);
    let again = desk.app.next_tick(UnixMs(desk.now));
    assert!(again.is_none_or(|wait| wait.0 > 0), "{again:?}");
}

fn asks_for_todo(effects: &[Effect]) -> bool {
    let is_it = |it: &Effect| matches!(it, Effect::ReadTodo { .. });
    effects.iter().any(is_it)
}

#[test]
fn what_a_layout_brings_into_sight_is_asked_for_by_it() {
    let mut desk = Desk::new();
    desk.app.ui.pane = Pane::Todo;
    let effects = desk.tell(Msg::Layout {
        rows: 10,
        page_rows: 10,
        last_scroll: 0,
        first: 0,
        detail: true,
        columns: Vec::new(),
    });
    assert!(asks_for_todo(&effects), "{effects:?}");
}

#[test]
fn a_frozen_screen_attaches_to_what_is_there_now_and_asks_for_nothing_by_itself() {
    let mut desk = Desk::new();
    desk.keys("jp");
    let effects = desk.key(Key::Enter);
    assert!(!asks_for_todo(&effects), "{effects:?}");
    assert!(desk.app.frozen().is_some());
    let effects = desk.key(Key::Char('t'));
    assert!(
        matches!(effects.first(), Some(Effect::Attach { .. })),
        "{effects:?}"
    );
    assert!(desk.app.frozen().is_none(), "the screen goes on");
}

#[test]
fn a_part_that_is_read_while_the_screen_is_frozen_is_shown_there() {
    let mut desk = Desk::new();
    desk.keys("j");
    let key = desk.app.ui.selected.clone().unwrap();
    let page = PartPage {
        key: key.clone(),
        message: "msg_2".into(),
        part: "prt_1".into(),
    };
    desk.app.ui.page = Some((PageKind::Part(page), 0));
    desk.keys("p");
    desk.tell(Msg::PartRead(PartRead {
        key,
        part: "prt_1".into(),
        of: PartOf::Json,
        read: Ok(PartText {
            text: "{}".into(),
            left_out: 0,
        }),
    }));
    assert!(desk.app.shown().ui.part_text.is_some());
}

#[test]
fn ages_are_offered_after_age_though_another_field_begins_so() {
    let mut desk = Desk::new();
    desk.keys("/age:");
    assert_eq!(desk.app.offered().words, [">5m", ">1h", "<1m"]);
    desk.key(Key::Tab);
    assert_eq!(desk.app.ui.filter.text, "age:>5m");
}

#[test]
fn a_row_under_a_page_is_not_snoozed_unseen() {
    for typed in ["?z", "?:snooze 1h"] {
        let mut desk = Desk::new();
        desk.keys("j");
        desk.keys(typed);
        desk.key(Key::Enter);
        let key = desk.app.ui.selected.clone().unwrap();
        assert!(!desk.app.is_snoozed(&key), "{typed}");
    }
}

#[test]
fn a_selection_that_stays_keeps_its_place_in_the_detail_when_others_leave() {
    let mut desk = Desk::new();
    desk.session("ses_stuck", 12 * MINUTE, true);
    desk.session("ses_too", 13 * MINUTE, true);
    desk.feed(vec![Body::Status(StatusRead {
        directory: HOME.into(),
        asked_at: UnixMs(desk.now),
        entries: ["ses_stuck", "ses_too"]
            .map(|id| (id.into(), Status::Busy))
            .into(),
    })]);
    desk.wait(MINUTE);
    desk.keys("gj");
    let here = desk.selected();
    assert_eq!(here, "ses_too");
    desk.app.ui.detail_scroll = 3;
    desk.keys("!");
    assert!(desk.app.ui.attention_only);
    assert_eq!((desk.selected(), desk.app.ui.detail_scroll), (here, 3));
}

#[test]
fn pasted_lines_are_words_of_the_filter_and_end_the_way_through_old_commands() {
    let mut desk = Desk::new();
    desk.keys("/a");
    desk.tell(Msg::Paste("b\nc\td\n".into()));
    assert_eq!(desk.app.ui.filter.text, "ab c d");
    desk.key(Key::Esc);
    for command in [":history", ":help"] {
        desk.keys(command);
        desk.key(Key::Enter);
        desk.key(Key::Esc);
    }
    desk.keys(":");
    desk.key(Key::Up);
    desk.tell(Msg::Paste("x".into()));
    desk.key(Key::Up);
    let line = desk.app.ui.command.as_ref().map(|it| it.line.text.as_str());
    assert_eq!(line, Some("help"), "from the last one again");
}

#[test]
fn a_fold_that_goes_to_the_parent_shows_it_from_its_beginning() {
    let mut desk = Desk::new();
    let child = SessionInfo {
        parent: Some("ses_calm".into()),
        ..row("ses_child", UnixMs(desk.now))
    };
    let asked_at = UnixMs(desk.now);
    desk.feed(vec![Body::Sessions(SessionList {
        rows: vec![child],
        asked_at,
        complete: false,
    })]);
    desk.keys("G");
    assert_eq!(desk.selected(), "ses_child");
    desk.app.ui.detail_scroll = 3;
    desk.key(Key::Left);
    assert_eq!(desk.selected(), "ses_calm");
    assert_eq!(desk.app.ui.detail_scroll, 0);
}

#[test]
fn a_command_without_a_key_is_not_taken_for_the_key_of_another() {
    let keymap = Keymap::with(&[(Action::SortColumn, Vec::new())]).unwrap();
    let mut desk = Desk::with(AppOptions {
        keymap,
        ..AppOptions::default()
    });
    let mut orders = Vec::new();
    for _ in 0..2 {
        desk.keys(":sort-column");
        desk.key(Key::Enter);
        orders.push(desk.app.ui.sort);
    }
    assert_ne!(orders[0].column, orders[1].column, "{orders:?}");
}
