//! The table: messages in, rows out. Order by every column, ties, trees, folds, marks and counts.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod desk;
#[path = "desk/turn.rs"]
mod turn;

use desk::{Desk, HOME, asks, directory, hello, row, sessions, status, tail};
use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{AppOptions, COLUMNS, Column, Done, Effect, Msg, Outcome, Sort};
use ocwatch::core::id::{Epoch, ServerId, SessionKey};
use ocwatch::core::plan::ActionName;
use ocwatch::core::plan::reset::Tried;
use ocwatch::core::present::{Mark, Row, Screen, screen};
use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, DirectoryState, Input, LinkReport, Message, ModelRef, Retry,
    SessionInfo, Status, StatusRead, Tokens, v1,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use turn::answered;

const NOW: i64 = 1_796_000_000_000;
const MINUTE: i64 = 60_000;

/// What a test says of a session; the rest is calm.
#[derive(Clone, Copy)]
struct Said {
    id: &'static str,
    title: &'static str,
    parent: Option<&'static str>,
    /// Of the last answer and the last change, in minutes.
    ago: i64,
    /// So much longer ago, in seconds.
    seconds: i64,
    /// Reported busy although its answer is complete: stuck.
    stale: bool,
    cost: f64,
    tokens: u64,
    model: Option<&'static str>,
    agent: Option<&'static str>,
}

const CALM: Said = Said {
    id: "",
    title: "",
    parent: None,
    ago: 1,
    seconds: 0,
    stale: false,
    cost: 0.0,
    tokens: 0,
    model: None,
    agent: None,
};

impl Desk {
    fn new(options: AppOptions, said: &[Said]) -> Self {
        let mut desk = Self::over(&["home"], options, NOW);
        desk.feed(hello());
        desk.feed(vec![directory(HOME, DirectoryState::Loaded)]);
        desk.say(said);
        desk.feed(vec![Body::Link(LinkReport::Live)]);
        desk
    }

    fn of(said: &[Said]) -> Self {
        Self::new(AppOptions::default(), said)
    }

    fn say(&mut self, said: &[Said]) {
        let asked_at = UnixMs(self.now);
        let busy = said.iter().filter(|it| it.stale).map(|it| it.id);
        let mut bodies = vec![
            sessions(said.iter().map(info).collect(), asked_at, false),
            status(&busy.collect::<Vec<_>>(), asked_at),
        ];
        bodies.extend(said.iter().map(|it| {
            let messages = answered(it.id, changed(it)).into();
            tail(it.id, messages, asked_at)
        }));
        self.feed(bodies);
    }

    fn press(&mut self, key: char) -> Vec<Effect> {
        self.key(Key::Char(key))
    }

    fn screen(&self) -> Screen {
        screen(&self.app, UnixMs(self.now))
    }

    fn ids(&self) -> Vec<String> {
        let rows = self.app.rows.iter();
        rows.map(|row| row.key.session.to_string()).collect()
    }

    fn row(&self, id: &str) -> Row {
        let mut rows = self.screen().rows.into_iter();
        rows.find(|row| row.key.session.as_str() == id).unwrap()
    }

    /// The ids, each with the signs of its place in the tree.
    fn tree(&self) -> Vec<String> {
        let signs = |row: &Row| -> String {
            let sign = |depth: u16| match (depth == row.depth, row.trunk >> depth & 1 == 1) {
                (true, true) => '├',
                (true, false) => '└',
                (false, true) => '│',
                (false, false) => ' ',
            };
            (1..=row.depth).map(sign).collect()
        };
        let rows = self.screen().rows;
        let line = |row: &Row| format!("{}{}", signs(row), row.key.session);
        rows.iter().map(line).collect()
    }

    fn notice(&self) -> String {
        self.screen().notice.map_or(String::new(), |it| it.text)
    }
}

fn at(ago: i64) -> UnixMs {
    UnixMs(NOW - ago * MINUTE)
}

fn changed(said: &Said) -> UnixMs {
    UnixMs(at(said.ago).0 - said.seconds * 1000)
}

fn info(said: &Said) -> SessionInfo {
    SessionInfo {
        title: said.title.into(),
        parent: said.parent.map(Into::into),
        agent: said.agent.map(Into::into),
        model: said.model.map(|model| ModelRef {
            provider: "p".into(),
            model: model.into(),
        }),
        created: at(said.ago + 60),
        cost: said.cost,
        tokens: Tokens {
            input: said.tokens / 2,
            output: said.tokens - said.tokens / 2,
        },
        ..row(said.id, changed(said))
    }
}

/// Three sessions that differ in everything.
fn three() -> [Said; 3] {
    [
        Said {
            id: "a",
            title: "cherry",
            ago: 30,
            cost: 0.5,
            tokens: 2000,
            model: Some("opus"),
            agent: Some("review"),
            ..CALM
        },
        Said {
            id: "b",
            title: "Apple",
            ago: 10,
            stale: true,
            cost: 12.0,
            tokens: 100,
            model: Some("sonnet"),
            agent: Some("build"),
            ..CALM
        },
        Said {
            id: "c",
            title: "banana",
            ago: 20,
            cost: 3.0,
            tokens: 50_000,
            model: Some("gpt"),
            agent: Some("plan"),
            ..CALM
        },
    ]
}

fn by(column: Column, reversed: bool) -> AppOptions {
    AppOptions {
        sort: Sort {
            column: Some(column),
            reversed,
        },
        columns: vec![Column::Session, column],
        ..AppOptions::default()
    }
}

/// A session by itself on its server, and what of it only its messages and its status tell.
struct Apart {
    said: Said,
    home: &'static str,
    status: Status,
    /// Of its open answer: the name and the state.
    tool: [&'static str; 2],
    prompts: usize,
    children: &'static [&'static str],
}

/// No two are alike in any column.
fn three_apart() -> [Apart; 3] {
    let [one, two, three] = three();
    let retry = Retry {
        attempt: 1,
        message: "Overloaded".into(),
        next: None,
        action: None,
    };
    [
        Apart {
            said: one,
            home: "/srv/m",
            status: Status::Idle,
            tool: ["webfetch", "running"],
            prompts: 2,
            children: &["a_1"],
        },
        Apart {
            said: two,
            home: "/srv/z",
            status: Status::Busy,
            tool: ["grep", "running"],
            prompts: 1,
            children: &["b_1", "b_2"],
        },
        Apart {
            said: three,
            home: "/srv/b",
            status: Status::Retry(retry),
            tool: ["edit", "pending"],
            prompts: 3,
            children: &[],
        },
    ]
}

impl Apart {
    fn messages(&self) -> Vec<Message> {
        let created = changed(&self.said).0;
        let prompt = |number| {
            let time = json!({ "created": created - 1 });
            let info = json!({ "id": format!("msg_{number}"), "role": "user", "time": time });
            json!({ "info": info, "parts": [] })
        };
        let mut rows: Vec<Value> = (1..=self.prompts).map(prompt).collect();
        let [tool, status] = self.tool;
        let time = json!({ "created": created });
        let info = json!({ "id": "msg_9", "role": "assistant", "parentID": format!("msg_{}", self.prompts), "time": time });
        let state = json!({ "status": status, "input": {}, "time": { "start": created } });
        let part = json!({ "id": "prt_1", "type": "tool", "tool": tool, "state": state });
        rows.push(json!({ "info": info, "parts": [part] }));
        let rows = Value::Array(rows).to_string();
        let read = v1::decode_messages(rows.as_bytes(), &self.said.id.into());
        read.unwrap().rows.items
    }

    fn bodies(&self) -> Vec<Body> {
        let asked_at = UnixMs(NOW);
        let child = |id: &&'static str| Said {
            id,
            parent: Some(self.said.id),
            ago: 50,
            ..CALM
        };
        let all = self.children.iter().map(child).chain([self.said]);
        let at_home = |said| SessionInfo {
            directory: self.home.into(),
            ..info(&said)
        };
        let entries = [(self.said.id.into(), self.status.clone())].into();
        let mut bodies = hello();
        bodies.extend([
            directory(self.home, DirectoryState::Loaded),
            sessions(all.map(at_home).collect(), asked_at, true),
            Body::Status(StatusRead {
                directory: self.home.into(),
                asked_at,
                entries,
            }),
            tail(self.said.id, self.messages(), asked_at),
        ]);
        bodies.extend([AskKind::Permission, AskKind::Question].map(|kind| {
            Body::Asks(AsksRead {
                directory: self.home.into(),
                kind,
                asked_at,
                asks: Vec::new(),
            })
        }));
        bodies.push(Body::Link(LinkReport::Live));
        bodies
    }
}

/// The three, without what lies below them.
fn order_of_three(options: AppOptions) -> Vec<String> {
    let mut desk = Desk::over(&["work", "attic", "home"], options, NOW);
    for (server, apart) in (0..).map(ServerId).zip(three_apart()) {
        let input = |body| Input {
            server,
            epoch: Epoch(1),
            at: UnixMs(NOW),
            body,
        };
        desk.msg(Msg::Feed(apart.bodies().into_iter().map(input).collect()));
    }
    let mut ids = desk.ids();
    assert_eq!(ids.len(), 6);
    ids.retain(|id| id.len() == 1);
    ids
}

#[test]
fn every_column_sorts_and_reverses() {
    for (column, want) in [
        (Column::Server, ["b", "c", "a"]),
        (Column::Session, ["b", "c", "a"]),
        (Column::Reported, ["c", "b", "a"]),
        (Column::Activity, ["b", "a", "c"]),
        (Column::Age, ["a", "c", "b"]),
        (Column::Why, ["b", "a", "c"]),
        (Column::Tool, ["c", "b", "a"]),
        (Column::Model, ["c", "a", "b"]),
        (Column::Agent, ["b", "c", "a"]),
        (Column::Directory, ["c", "a", "b"]),
        (Column::Cost, ["b", "c", "a"]),
        (Column::Tokens, ["c", "a", "b"]),
        (Column::Messages, ["c", "a", "b"]),
        (Column::Updated, ["b", "c", "a"]),
        (Column::Created, ["b", "c", "a"]),
        (Column::Id, ["a", "b", "c"]),
        (Column::Children, ["b", "a", "c"]),
    ] {
        let name = column.about().name;
        assert_eq!(order_of_three(by(column, false)), want, "{name}");
        let mut reversed = want;
        reversed.reverse();
        assert_eq!(order_of_three(by(column, true)), reversed, "-{name}");
    }
    assert_eq!(COLUMNS.len(), 17, "each is tried above");
}

#[test]
fn equals_stand_by_their_last_change_then_by_their_id() {
    let said = |id, ago| Said { id, ago, ..CALM };
    let all = [said("x", 5), said("z", 3), said("y", 5), said("w", 9)];
    assert_eq!(
        Desk::new(by(Column::Cost, false), &all).ids(),
        ["z", "x", "y", "w"]
    );
}

#[test]
fn what_is_not_known_stands_last_in_either_direction() {
    let said = |id, model| Said { id, model, ..CALM };
    let all = [
        said("none", None),
        said("a", Some("a")),
        said("b", Some("b")),
    ];
    assert_eq!(
        Desk::new(by(Column::Model, false), &all).ids(),
        ["a", "b", "none"]
    );
    assert_eq!(
        Desk::new(by(Column::Model, true), &all).ids(),
        ["b", "a", "none"]
    );
}

#[test]
fn time_alone_changes_no_place() {
    // Two of one minute: of these the older stands first, whatever is shown of their ages.
    let older = Said {
        id: "d",
        seconds: 20,
        ..three()[1]
    };
    let all = [&three()[..], &[older]].concat();
    let mut desk = Desk::new(by(Column::Age, false), &all);
    let before = desk.ids();
    assert_eq!(before, ["a", "c", "d", "b"]);
    for _ in 0..120 {
        desk.wait(1000);
        desk.say(&all);
        assert_eq!(desk.ids(), before);
    }
}

#[test]
fn the_keys_go_through_what_is_shown() {
    let mut desk = Desk::of(&three());
    let columns = vec![Column::Session, Column::Cost];
    let layout = Msg::Layout {
        rows: 20,
        page_rows: 20,
        last_scroll: 0,
        first: 0,
        detail: false,
        columns,
    };
    desk.msg(layout);
    let mut orders = Vec::new();
    for _ in 0..6 {
        desk.press('o');
        orders.push(desk.notice());
    }
    assert_eq!(
        orders,
        [
            "sorted by session, A to Z",
            "sorted by cost, largest first",
            "sorted by tokens, largest first",
            "sorted by messages, largest first",
            "sorted by updated, newest first",
            "what needs attention first"
        ]
    );
    desk.press('o');
    desk.press('o');
    desk.press('o');
    let more = desk.screen().rows[0].more.clone();
    assert!(more.iter().any(|it| it.0 == Column::Tokens), "{more:?}");
    desk.press('2');
    assert_eq!(desk.notice(), "sorted by cost, largest first");
    assert_eq!(desk.ids(), ["b", "c", "a"]);
    assert_eq!(
        desk.screen().selected,
        Some(0),
        "what comes first is what is looked for"
    );
    desk.press('2');
    assert_eq!(desk.notice(), "sorted by cost, smallest first");
    assert_eq!(desk.ids(), ["a", "c", "b"]);
    desk.press('O');
    assert_eq!(desk.ids(), ["b", "c", "a"]);
    desk.press('3');
    assert_eq!(desk.notice(), "only 2 columns are shown");
    assert_eq!(desk.ids(), ["b", "c", "a"], "and nothing else happens");
}

fn family() -> Vec<Said> {
    let said = |id, parent, ago, cost| Said {
        id,
        parent,
        ago,
        cost,
        ..CALM
    };
    vec![
        said("p", None, 9, 1.0),
        said("p1", Some("p"), 8, 2.0),
        said("p2", Some("p"), 7, 0.1),
        said("p11", Some("p1"), 6, 0.2),
        said("p12", Some("p1"), 5, 50.0),
        said("q", None, 1, 7.0),
        said("q1", Some("q"), 30, 0.0),
    ]
}

#[test]
fn children_stand_below_their_parents_sorted_among_themselves() {
    let desk = Desk::new(by(Column::Session, false), &family());
    let want = ["p", "├p1", "│├p11", "│└p12", "└p2", "q", "└q1"];
    assert_eq!(desk.tree(), want, "without titles: by their ids");
    let desk = Desk::new(by(Column::Cost, false), &family());
    let want = ["p", "├p1", "│├p12", "│└p11", "└p2", "q", "└q1"];
    assert_eq!(desk.tree(), want, "the largest of all is in the first tree");
    let desk = Desk::new(by(Column::Cost, true), &family());
    let want = ["p", "├p2", "└p1", " ├p11", " └p12", "q", "└q1"];
    assert_eq!(
        desk.tree(),
        want,
        "each for itself: the smallest child makes no tree small"
    );
    let desk = Desk::of(&family());
    assert_eq!(desk.tree()[0], "q", "the last change of all");
    assert_eq!(desk.row("p").text(Column::Children), "", "not asked for");
    let desk = Desk::new(by(Column::Children, false), &family());
    assert_eq!(desk.row("p").text(Column::Children), "4", "at any depth");
    assert_eq!(desk.ids()[0], "p");
}

#[test]
fn a_tree_stands_where_the_worst_of_it_would() {
    let mut said = family();
    said.push(Said {
        id: "z",
        ago: 3,
        ..CALM
    });
    let watch = Said {
        id: "q2",
        parent: Some("q1"),
        ago: 12,
        stale: true,
        ..CALM
    };
    said.push(watch);
    let desk = Desk::of(&said);
    assert_eq!(desk.tree()[..3], ["q", "└q1", " └q2"]);
}

#[test]
fn what_is_folded_away_is_counted_and_its_worst_is_seen() {
    let mut said = family();
    said.push(Said {
        id: "p13",
        parent: Some("p1"),
        ago: 12,
        stale: true,
        ..CALM
    });
    let mut desk = Desk::of(&said);
    assert_eq!(desk.row("p").folded, 0);
    desk.press('g');
    assert_eq!(desk.ids()[0], "p");
    desk.press('h');
    let row = desk.row("p");
    assert_eq!((row.folded, row.inside), (5, Some(Mark::Stuck)));
    assert_eq!(desk.ids(), ["p", "q", "q1"]);
    desk.press('l');
    assert_eq!(desk.ids().len(), 8);
}

#[test]
fn a_circle_of_parents_stands_once_and_hangs_nothing() {
    let said = |id, parent| Said {
        id,
        parent: Some(parent),
        ..CALM
    };
    let all = [
        said("a", "c"),
        said("b", "a"),
        said("c", "b"),
        said("d", "b"),
        said("e", "e"),
    ];
    let desk = Desk::of(&all);
    assert_eq!(desk.tree(), ["a", "└b", " ├c", " └d", "e"]);
}

#[test]
fn a_chain_as_long_as_a_server_likes_is_laid_out() {
    let ids: Vec<String> = (0..5000).map(|n| format!("s{n:05}")).collect();
    let mut desk = Desk::of(&[]);
    let rows = ids.iter().enumerate().map(|(n, id)| SessionInfo {
        id: id.as_str().into(),
        parent: n.checked_sub(1).map(|it| ids[it].as_str().into()),
        ..info(&CALM)
    });
    let rows = rows.collect();
    desk.feed(vec![sessions(rows, UnixMs(NOW), false)]);
    assert_eq!(desk.ids().len(), 5000);
    assert_eq!(desk.app.rows[4999].depth, 12, "no deeper");
}

#[test]
fn further_columns_have_their_texts() {
    let all = |columns: &[Column]| AppOptions {
        columns: columns.to_vec(),
        ..AppOptions::default()
    };
    let asked = [
        Column::Model,
        Column::Agent,
        Column::Directory,
        Column::Cost,
        Column::Tokens,
        Column::Messages,
        Column::Updated,
        Column::Created,
        Column::Id,
    ];
    let desk = Desk::new(all(&asked), &three());
    let row = desk.row("c");
    let texts: Vec<&str> = asked.iter().map(|it| row.text(*it)).collect();
    let want = [
        "gpt", "plan", "/srv/a", "$3.00", "50k", "2", "20m", "1h20", "c",
    ];
    assert_eq!(texts, want);
}

/// The counts of the header: mark, how many, how many of them pass, rows that only tell of them.
fn counts(desk: &Desk) -> Vec<(Mark, usize, Option<usize>, usize)> {
    let counts = desk.screen().counts.into_iter();
    let told = counts.map(|it| (it.mark, it.number, it.hits, it.echoes));
    told.collect()
}

#[test]
fn the_counts_are_those_of_the_rows() {
    let mut said = family();
    said.push(Said {
        id: "p13",
        parent: Some("p1"),
        ago: 12,
        stale: true,
        ..CALM
    });
    let mut desk = Desk::of(&said);
    for (mark, number, _, echoes) in counts(&desk) {
        let rows = desk.screen().rows;
        let rows = rows.iter().filter(|row| row.mark == mark).count();
        assert_eq!(number + echoes, rows, "{mark:?}");
    }
    assert_eq!(
        counts(&desk)[0],
        (Mark::Stuck, 1, None, 2),
        "p and p1 only tell of p13"
    );
    desk.keys("/p13");
    assert_eq!(counts(&desk)[0], (Mark::Stuck, 1, Some(1), 2));
    let others = &counts(&desk)[1..];
    assert!(!others.is_empty());
    assert!(
        others.iter().all(|it| it.2 == Some(0)),
        "nothing else passes, and that is seen: {others:?}"
    );
}

fn ended(desk: &mut Desk, id: &str, action: ActionName, outcome: Outcome) {
    let done = Done {
        key: SessionKey::new(ServerId(0), id.into()),
        action,
        outcome,
        tried: Tried::default(),
    };
    desk.msg(Msg::Done(done));
}

#[test]
fn an_action_on_several_tells_in_one_line_how_it_went() {
    let stale = |id, ago| Said {
        id,
        ago,
        stale: true,
        ..CALM
    };
    let mut desk = Desk::of(&[
        stale("a", 10),
        stale("b", 11),
        stale("c", 12),
        stale("d", 13),
    ]);
    desk.wait(5000);
    desk.press('g');
    for _ in 0..4 {
        desk.press(' ');
    }
    assert_eq!(desk.screen().marked, 4);
    desk.press('a');
    let effects = desk.press('y');
    assert_eq!(effects.len(), 4);
    for id in ["a", "b", "c"] {
        ended(
            &mut desk,
            id,
            ActionName::Abort,
            Outcome::Done("absent".into()),
        );
        assert_eq!(desk.notice(), "", "not all have ended");
    }
    ended(
        &mut desk,
        "d",
        ActionName::Abort,
        Outcome::NoEffect("busy".into()),
    );
    assert_eq!(desk.notice(), "abort of 4: 3 done, 1 no effect");
    desk.press('j');
    assert_eq!(
        desk.notice(),
        "abort of 4: 3 done, 1 no effect",
        "a key in the same moment"
    );
    desk.wait(2000);
    desk.press('j');
    assert_eq!(desk.notice(), "");
    assert_eq!(desk.row("d").result, None);
}

#[test]
fn marked_rows_that_are_not_seen_are_told_when_they_are_exported() {
    let said = |id, title| Said { id, title, ..CALM };
    let mut desk = Desk::of(&[said("a", "first"), said("b", "second")]);
    desk.press('g');
    desk.press(' ');
    desk.press(' ');
    desk.keys("/first");
    desk.key(Key::Enter);
    assert_eq!(desk.ids(), ["a"]);
    assert_eq!(desk.press('e').len(), 2);
    assert_eq!(desk.notice(), "1 of the 2 are not on the screen's list now");
}

#[test]
fn what_came_of_an_action_does_not_cover_what_is_asked_next() {
    let mut desk = Desk::of(&three());
    desk.wait(60_000);
    ended(
        &mut desk,
        "b",
        ActionName::Export,
        Outcome::Done("./b.json".into()),
    );
    assert!(desk.row("b").result.is_some());
    desk.wait(100);
    let asked = asks(
        AskKind::Permission,
        UnixMs(NOW + 60_000),
        vec![ask("per_1")],
    );
    desk.feed(vec![asked]);
    assert_eq!(desk.row("b").result, None, "asked after it");
    ended(
        &mut desk,
        "b",
        ActionName::Export,
        Outcome::Done("./b.json".into()),
    );
    desk.wait(4000);
    assert!(
        desk.row("b").result.is_some(),
        "asked before it: time to read"
    );
    desk.wait(2000);
    assert_eq!(desk.row("b").result, None);
    ended(
        &mut desk,
        "a",
        ActionName::Export,
        Outcome::Done("./a.json".into()),
    );
    desk.wait(60_000);
    assert!(desk.row("a").result.is_some(), "nothing is asked there");
}

fn ask(id: &str) -> Ask {
    Ask {
        id: id.into(),
        session: "b".into(),
        kind: AskKind::Permission,
        tool: None,
        permission: Some("bash".into()),
        patterns: vec!["rm".into()],
        always: Vec::new(),
        command: None,
        diff: None,
        questions: Vec::new(),
    }
}

/// Of thousands of rows only those are told that can be in sight.
#[test]
fn rows_far_from_the_selected_one_are_counted_and_not_told() {
    const MANY: usize = 1000;
    let mut desk = Desk::over(&["home"], AppOptions::default(), NOW);
    desk.feed(hello());
    let rows = (0..MANY).map(|n| row(&format!("ses_{n}"), UnixMs(NOW)));
    desk.feed(vec![
        sessions(rows.collect(), UnixMs(NOW), true),
        Body::Link(LinkReport::Live),
    ]);
    for (keys, selected) in [("g", 0), ("jjjj", 4), ("G", MANY - 1), ("kkk", MANY - 4)] {
        desk.keys(keys);
        let screen = desk.screen();
        assert_eq!(screen.selected, Some(selected), "{keys}");
        assert_eq!(screen.all_rows(), MANY, "{keys}");
        assert!(screen.rows.len() < MANY / 4, "{keys}");
        for place in selected.saturating_sub(60)..(selected + 60).min(MANY) {
            let (at, row) = screen.rows_from(place).next().unwrap();
            assert_eq!((at, &row.key), (place, &desk.app.rows[place].key));
        }
        assert!(screen.rows_from(MANY).next().is_none());
    }
}
