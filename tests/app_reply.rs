//! Keys that answer asks: what opens, what is sent, and what a hurried hand cannot do.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{App, AppOptions, Done, Effect, Msg, Outcome, update};
use ocwatch::core::id::{AskId, Directory, Epoch, ServerId};
use ocwatch::core::plan::Step;
use ocwatch::core::plan::reset::Tried;
use ocwatch::core::present::{Form, Screen, screen};
use ocwatch::core::store::ServerSpec;
use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Input, LinkReport,
    SessionList, Status, StatusRead, TailRead, v1,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HOME: &str = "/srv/a";
const NOW: i64 = 1_796_000_000_000;
const SECOND: i64 = 1000;

struct Desk {
    app: App,
    now: i64,
    busy: Vec<&'static str>,
    asks: Vec<Ask>,
}

impl Desk {
    /// A live server with a root, its two children, and a session beside them; all run.
    fn new() -> Self {
        let spec = ServerSpec {
            name: "home".into(),
            url: "http://h".into(),
            read_only: None,
        };
        let mut desk = Self {
            app: App::new(vec![spec], AppOptions::default()),
            now: NOW,
            busy: vec!["ses_root", "ses_one", "ses_two", "ses_solo"],
            asks: Vec::new(),
        };
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
            desk.sessions(),
        ]);
        desk.read();
        desk.feed(vec![Body::Link(LinkReport::Live)]);
        desk.laid_out(0, true);
        desk
    }

    fn sessions(&self) -> Body {
        let row = |id: &str, parent: Option<&str>| {
            let time = NOW - 60 * SECOND;
            let row = json!({"id": id, "title": format!("title of {id}"), "directory": HOME,
                "parentID": parent, "time": {"created": time, "updated": time}});
            v1::decode_session(row.to_string().as_bytes()).unwrap()
        };
        Body::Sessions(SessionList {
            rows: vec![
                row("ses_root", None),
                row("ses_one", Some("ses_root")),
                row("ses_two", Some("ses_root")),
                row("ses_solo", None),
            ],
            asked_at: UnixMs(self.now),
            complete: true,
        })
    }

    /// The server's lists, read now.
    fn read(&mut self) {
        let asked_at = UnixMs(self.now);
        let busy = self.busy.iter().map(|id| ((*id).into(), Status::Busy));
        let entries: BTreeMap<_, _> = busy.collect();
        let asks = |kind| {
            let asks = self.asks.iter().filter(|ask| ask.kind == kind);
            Body::Asks(AsksRead {
                directory: HOME.into(),
                kind,
                asked_at,
                asks: asks.cloned().collect(),
            })
        };
        let bodies = vec![
            Body::Status(StatusRead {
                directory: Directory::new(HOME),
                asked_at,
                entries,
            }),
            asks(AskKind::Permission),
            asks(AskKind::Question),
        ];
        self.feed(bodies);
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

    fn permission(&mut self, session: &str, id: &str, command: &str) {
        let ask = json!([{"id": id, "sessionID": session, "permission": "bash",
            "patterns": [command], "metadata": {}, "always": ["rm *", "ls *"]}]);
        let ask = v1::decode_permissions(ask.to_string().as_bytes()).unwrap();
        self.asks.extend(ask.items);
        self.read();
    }

    fn question(&mut self, session: &str, questions: &Value) {
        let ask = json!([{"id": "que_1", "sessionID": session, "questions": questions}]);
        let ask = v1::decode_questions(ask.to_string().as_bytes()).unwrap();
        self.asks.extend(ask.items);
        self.read();
    }

    /// Selects this session, and lets it be looked at.
    fn select(&mut self, id: &str) {
        self.key(Key::Char('g'));
        for _ in 0..self.app.rows.len() {
            if self.app.ui.selected.as_ref().unwrap().session.as_str() == id {
                self.wait(SECOND);
                return;
            }
            self.key(Key::Char('j'));
        }
        panic!("no row of {id}");
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        update(&mut self.app, Msg::Key(key), UnixMs(self.now))
    }
    fn press(&mut self, c: char) -> Vec<Effect> {
        self.key(Key::Char(c))
    }
    fn keys(&mut self, text: &str) {
        for c in text.chars() {
            assert!(self.press(c).is_empty(), "{c} of {text}");
        }
    }
    fn wait(&mut self, ms: i64) {
        self.now += ms;
        update(&mut self.app, Msg::Tick, UnixMs(self.now));
    }
    fn screen(&self) -> Screen {
        screen(&self.app, UnixMs(self.now))
    }
    fn form(&self) -> Form {
        self.screen().form.unwrap()
    }
    /// The form as text, without what wraps it.
    fn text(&self) -> String {
        let form = self.form();
        let line = |line: &ocwatch::core::present::FormLine| {
            let text: String = line.text.iter().map(|it| it.text.as_str()).collect();
            format!("{}{text}\n", line.mark)
        };
        let lines: String = form.lines.iter().map(line).collect();
        format!("{}\n{lines}", form.title)
    }
    fn said(&self) -> String {
        self.screen().notice.map_or(String::new(), |it| it.text)
    }
    /// The screen was drawn: with so much more text than fits, with room for the detail or without.
    fn laid_out(&mut self, last_scroll: usize, detail: bool) {
        let msg = Msg::Layout {
            rows: 20,
            page_rows: 20,
            last_scroll,
            columns: Vec::new(),
            first: 0,
            detail,
        };
        update(&mut self.app, msg, UnixMs(self.now));
    }

    fn is_open(&self) -> bool {
        self.screen().form.is_some()
    }
}

/// The only step of the only effect.
fn step(effects: &[Effect]) -> Step {
    let [Effect::Act(plan)] = effects else {
        panic!("{effects:?}");
    };
    let [step] = plan.steps.as_slice() else {
        panic!("{plan:?}");
    };
    step.clone()
}

fn answers(effects: &[Effect]) -> Vec<Vec<String>> {
    match step(effects) {
        Step::Reply { answers, ask, .. } => {
            assert_eq!(ask, AskId::from("que_1"));
            answers
        }
        other => panic!("{other:?}"),
    }
}

fn rejected(effects: &[Effect]) -> Option<String> {
    match step(effects) {
        Step::Reject { message, .. } => message,
        other => panic!("{other:?}"),
    }
}

fn allowed(effects: &[Effect]) -> (String, bool) {
    match step(effects) {
        Step::Allow { ask, always, .. } => (ask.to_string(), always),
        other => panic!("{other:?}"),
    }
}

fn port() -> Value {
    json!([{"question": "Which port?", "header": "Port", "options": [
        {"label": "8080", "description": "as now"}, {"label": "3000", "description": "new"},
        {"label": "Ask at start", "description": ""}]}])
}

fn three() -> Value {
    json!([
        {"question": "Which port?", "header": "Port", "options": [
            {"label": "8080", "description": ""}, {"label": "3000", "description": ""}]},
        {"question": "Which languages?", "header": "Languages", "multiple": true, "options": [
            {"label": "German", "description": ""}, {"label": "Greek", "description": ""},
            {"label": "Danish", "description": ""}]},
        {"question": "What name?", "header": "Name", "options": []},
    ])
}

fn with_permission() -> Desk {
    let mut desk = Desk::new();
    desk.permission("ses_solo", "per_1", "rm -r build");
    desk.select("ses_solo");
    desk
}

fn with_question(questions: &Value) -> Desk {
    let mut desk = Desk::new();
    desk.question("ses_solo", questions);
    desk.select("ses_solo");
    desk.press('r');
    desk
}

#[test]
fn y_grants_once_and_a_second_key_does_nothing_twice() {
    let mut desk = with_permission();
    assert_eq!(allowed(&desk.press('y')), ("per_1".into(), false));
    assert!(desk.press('y').is_empty());
    assert!(desk.said().contains("still under way"), "{}", desk.said());
}

#[test]
fn capital_y_shows_for_what_and_asks() {
    let mut desk = with_permission();
    assert!(desk.press('Y').is_empty());
    let text = desk.text();
    for words in ["always: rm *", "always: ls *", "rm -r build"] {
        assert!(text.contains(words), "{text}");
    }
    desk.key(Key::Esc);
    assert!(!desk.is_open(), "left");
    desk.press('Y');
    assert_eq!(allowed(&desk.key(Key::Enter)), ("per_1".into(), true));
}

#[test]
fn d_rejects_with_words_or_without() {
    let mut desk = with_permission();
    assert!(desk.press('d').is_empty());
    assert!(desk.text().contains("Without words the turn ends"));
    assert_eq!(rejected(&desk.key(Key::Enter)), None);
    let mut desk = with_permission();
    desk.press('d');
    desk.keys("use Qt, y");
    update(&mut desk.app, Msg::Paste("!\n".into()), UnixMs(desk.now));
    let message = rejected(&desk.key(Key::Enter));
    assert_eq!(message.as_deref(), Some("use Qt, y!"));
}

#[test]
fn the_form_of_a_permission_has_all_four_answers() {
    let sent = |keys: &str| {
        let mut desk = with_permission();
        assert!(desk.press('r').is_empty());
        desk.keys(keys);
        step(&desk.key(Key::Enter))
    };
    assert!(matches!(sent("1"), Step::Allow { always: false, .. }));
    assert!(matches!(sent(" "), Step::Allow { always: false, .. }));
    assert!(matches!(sent("j"), Step::Allow { always: false, .. }));
    assert!(matches!(sent("2"), Step::Allow { always: true, .. }));
    assert!(matches!(sent("jjj"), Step::Reject { message: None, .. }));
    let words = |step| matches!(step, Step::Reject { message: Some(it), .. } if it == "no, 2");
    assert!(words(sent("jjjjno, 2")));

    let mut desk = with_permission();
    desk.press('r');
    assert!(desk.key(Key::Enter).is_empty(), "nobody has chosen");
    assert!(desk.said().contains("nothing is chosen"), "{}", desk.said());
    desk.key(Key::Tab);
    assert!(desk.key(Key::Enter).is_empty(), "no words yet");
    assert!(desk.said().contains("type what"), "{}", desk.said());
    desk.key(Key::Esc);
    assert!(desk.is_open(), "from the line back to the choices");
    desk.key(Key::Esc);
    assert!(!desk.is_open());
}

#[test]
fn a_question_is_answered_by_its_number_by_moving_or_in_own_words() {
    let mut desk = with_question(&port());
    assert!(desk.key(Key::Enter).is_empty(), "nobody has chosen");
    let text = desk.text();
    assert!(text.contains("( ) 1 8080  as now"), "{text}");
    assert!(!text.contains("> ( )"), "it points at none: {text}");
    desk.keys("2");
    assert!(desk.text().contains("> (*) 2 3000"), "{}", desk.text());
    assert_eq!(answers(&desk.key(Key::Enter)), [["3000"]]);

    let mut desk = with_question(&port());
    desk.key(Key::Down);
    assert!(desk.text().contains("> (*) 1 8080"), "{}", desk.text());
    desk.key(Key::Down);
    desk.press('j');
    assert_eq!(answers(&desk.key(Key::Enter)), [["Ask at start"]]);

    let mut desk = with_question(&port());
    desk.keys("9k0x");
    desk.key(Key::Tab);
    desk.keys("9000 q");
    assert_eq!(answers(&desk.key(Key::Enter)), [["9000 q"]]);

    let mut desk = with_question(&port());
    update(
        &mut desk.app,
        Msg::Paste("from the clipboard".into()),
        UnixMs(desk.now),
    );
    assert_eq!(answers(&desk.key(Key::Enter)), [["from the clipboard"]]);

    let mut desk = with_question(&port());
    desk.key(Key::Tab);
    assert!(desk.key(Key::Enter).is_empty(), "nothing is typed");
    assert!(desk.said().contains("Ctrl-N"), "{}", desk.said());
    assert_eq!(answers(&desk.key(Key::Ctrl('n'))), [Vec::<String>::new()]);
}

#[test]
fn several_questions_are_answered_one_after_another() {
    let mut desk = with_question(&three());
    assert!(
        desk.text().contains("1 of 3  Which port?"),
        "{}",
        desk.text()
    );
    assert!(desk.key(Key::Ctrl('n')).is_empty());
    assert!(desk.text().contains("Port: unanswered"), "{}", desk.text());
    assert!(desk.key(Key::Enter).is_empty(), "nothing is chosen");
    desk.keys("1 j ");
    desk.press('3');
    desk.keys("k");
    let text = desk.text();
    for line in [
        "[ ] 1 German",
        "> [x] 2 Greek",
        "[x] 3 Danish",
        "(one or more)",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    desk.key(Key::Tab);
    desk.keys("Old Norse");
    assert!(desk.text().contains("[x] your words: Old Norse"));
    assert!(desk.key(Key::Enter).is_empty());
    assert!(desk.text().contains("Languages: Greek, Danish, Old Norse"));
    desk.keys("Ada");
    let want: [Vec<&str>; 3] = [vec![], vec!["Greek", "Danish", "Old Norse"], vec!["Ada"]];
    assert_eq!(answers(&desk.key(Key::Enter)), want);
}

#[test]
fn an_earlier_question_can_be_answered_anew() {
    let mut desk = with_question(&three());
    desk.key(Key::Enter);
    desk.key(Key::Left);
    assert!(desk.text().contains("1 of 3"), "{}", desk.text());
    desk.press('2');
    desk.key(Key::Enter);
    assert!(desk.text().contains("Port: 3000"), "{}", desk.text());
    desk.key(Key::Ctrl('n'));
    let sent = answers(&desk.key(Key::Ctrl('n')));
    assert_eq!(sent, [vec!["3000"], vec![], vec![]]);
}

#[test]
fn a_question_is_denied_after_it_was_shown() {
    let mut desk = with_question(&port());
    desk.key(Key::Esc);
    assert!(desk.press('d').is_empty());
    assert!(desk.text().contains("the turn ends"), "{}", desk.text());
    assert_eq!(rejected(&desk.key(Key::Enter)), None);
    let mut desk = with_question(&port());
    desk.key(Key::Esc);
    for c in ['y', 'Y'] {
        assert!(desk.press(c).is_empty());
        assert!(desk.said().contains("r answers it"), "{}", desk.said());
    }
}

#[test]
fn nothing_is_answered_that_was_not_there_half_a_second_before() {
    let mut desk = with_permission();
    desk.select("ses_root");
    desk.permission("ses_root", "per_2", "ls");
    desk.wait(499);
    for c in ['y', 'Y', 'r', 'd'] {
        assert!(desk.press(c).is_empty() && !desk.is_open(), "{c}");
        assert!(desk.said().contains("just now"), "{}", desk.said());
    }
    // Whoever went on typing a message did not mean these keys.
    desk.wait(100);
    desk.keys("no, use y");
    desk.key(Key::Enter);
    assert!(!desk.is_open() && desk.app.running.is_empty());
    desk.wait(400);
    assert_eq!(allowed(&desk.press('y')).0, "per_2");

    let mut desk = with_permission();
    desk.permission("ses_root", "per_2", "ls");
    desk.wait(5 * SECOND);
    desk.select("ses_root");
    desk.press('j');
    desk.press('k');
    desk.wait(499);
    assert!(desk.press('y').is_empty());
    assert!(desk.said().contains("selection"), "{}", desk.said());
    desk.wait(1);
    assert_eq!(allowed(&desk.press('y')).0, "per_2");
}

#[test]
fn on_an_ancestor_the_one_that_asks_is_answered_and_named() {
    let mut desk = Desk::new();
    desk.permission("ses_two", "per_1", "rm -r build");
    desk.select("ses_root");
    let effects = desk.press('y');
    assert_eq!(allowed(&effects).0, "per_1");
    assert!(desk.said().contains("title of ses_two"), "{}", desk.said());
    let shown = desk.screen();
    let row = shown.rows.iter().find(|row| row.title.contains("ses_two"));
    assert!(row.unwrap().result.is_some(), "it goes on in its own row");
}

#[test]
fn with_several_asks_a_list_is_opened() {
    let mut desk = Desk::new();
    desk.permission("ses_one", "per_1", "ls");
    desk.permission("ses_two", "per_2", "rm -r build");
    desk.select("ses_root");
    assert!(desk.press('y').is_empty());
    let text = desk.text();
    for words in [
        "title of ses_one  permission: bash ls",
        "title of ses_two",
        "2 asks",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    desk.press('j');
    assert_eq!(allowed(&desk.key(Key::Enter)).0, "per_2");
    assert!(!desk.is_open());

    desk.press('r');
    desk.asks.retain(|ask| ask.id.as_str() != "per_1");
    desk.wait(SECOND);
    desk.read();
    assert!(desk.text().contains("(no longer asked)"), "{}", desk.text());
    assert!(desk.key(Key::Enter).is_empty());
    assert!(desk.said().contains("nothing was sent"), "{}", desk.said());
}

#[test]
fn a_form_whose_ask_was_answered_elsewhere_says_so_and_sends_nothing() {
    let mut desk = with_question(&port());
    desk.keys("2");
    desk.asks.clear();
    desk.permission("ses_solo", "per_9", "ls");
    desk.wait(SECOND);
    desk.read();
    let text = desk.text();
    assert!(text.contains("It is no longer asked"), "{text}");
    assert!(text.contains("Which port?"), "{text}");
    assert!(desk.key(Key::Enter).is_empty());
    assert!(desk.said().contains("nothing was sent"), "{}", desk.said());
    assert!(!desk.is_open());
}

#[test]
fn a_form_stays_with_its_ask_wherever_the_selection_goes() {
    let mut desk = with_permission();
    desk.press('d');
    desk.permission("ses_root", "per_0", "ls");
    let effects = desk.key(Key::Enter);
    assert!(matches!(step(&effects), Step::Reject { ask, .. } if ask.as_str() == "per_1"));
}

#[test]
fn a_ghost_is_only_dismissed() {
    let mut desk = with_permission();
    desk.busy.retain(|id| *id != "ses_solo");
    desk.wait(SECOND);
    desk.read();
    desk.wait(5 * SECOND);
    for c in ['y', 'Y'] {
        assert!(desk.press(c).is_empty() && !desk.is_open());
        assert!(desk.said().contains("d dismisses"), "{}", desk.said());
    }
    for c in ['r', 'd'] {
        desk.press(c);
        assert!(desk.text().contains("nobody waits"), "{}", desk.text());
        desk.key(Key::Esc);
    }
    desk.press('d');
    assert_eq!(rejected(&desk.key(Key::Enter)), None);
}

#[test]
fn a_lost_question_is_shown_and_cannot_be_answered() {
    let mut desk = Desk::new();
    let time = NOW - 60 * SECOND;
    let messages = json!([
        {"info": {"id": "msg_1", "sessionID": "ses_solo", "role": "user", "time": {"created": time}},
         "parts": []},
        {"info": {"id": "msg_2", "sessionID": "ses_solo", "role": "assistant", "parentID": "msg_1",
                  "time": {"created": time}},
         "parts": [{"id": "prt_1", "sessionID": "ses_solo", "messageID": "msg_2", "type": "tool",
                    "callID": "call_1", "tool": "question",
                    "state": {"status": "running", "input": {"questions": port()},
                              "time": {"start": time}}}]},
    ]);
    let rows = v1::decode_messages(messages.to_string().as_bytes(), &"ses_solo".into()).unwrap();
    desk.feed(vec![Body::Tail(TailRead {
        session: "ses_solo".into(),
        asked_at: UnixMs(NOW),
        messages: rows.rows.items,
        whole: true,
        missing: 0,
    })]);
    for _ in 0..3 {
        desk.wait(15 * SECOND);
        desk.read();
    }
    desk.select("ses_solo");
    assert!(desk.press('r').is_empty() && !desk.is_open());
    let said = desk.said();
    assert!(said.contains("lost the question \"Which port?\""), "{said}");
    let detail = desk.screen().detail.unwrap();
    let text = |line: &Vec<ocwatch::core::present::Piece>| -> String {
        line.iter().map(|it| it.text.as_str()).collect()
    };
    let story: Vec<String> = detail.story.iter().map(text).collect();
    for words in ["lost-ask", "Which port?", "- Ask at start", "a abort"] {
        let found = story.iter().any(|line| line.contains(words));
        assert!(found, "{words} in {story:#?}");
    }
}

#[test]
fn what_a_rejection_does_besides_is_said_before() {
    let mut desk = Desk::new();
    desk.permission("ses_one", "per_1", "ls");
    desk.permission("ses_one", "per_2", "rm -r build");
    desk.select("ses_one");
    desk.press('d');
    desk.key(Key::Enter);
    let text = desk.text();
    assert!(
        text.contains("1 other permission of this session"),
        "{text}"
    );
    assert!(text.contains("its parent goes on without it"), "{text}");
    desk.keys("no");
    let text = desk.text();
    assert!(text.contains("1 other permission"), "{text}");
    assert!(!text.contains("its parent goes on"), "{text}");
    desk.key(Key::Esc);
    desk.press('r');
    desk.key(Key::Enter);
    assert!(
        !desk.text().contains("other permission"),
        "once rejects nothing"
    );
    desk.press('3');
    assert!(
        desk.text().contains("1 other permission"),
        "{}",
        desk.text()
    );
}

#[test]
fn the_footer_offers_answers_only_where_something_is_asked() {
    let offered = |desk: &Desk| {
        let hints = desk.screen().footer;
        let keys = hints.iter().map(|hint| hint.key.clone());
        keys.filter(|key| ["r", "y", "Y", "d"].contains(&key.as_str()))
            .collect::<Vec<_>>()
    };
    let mut desk = with_permission();
    assert_eq!(offered(&desk), ["r", "y", "Y", "d"]);
    desk.select("ses_root");
    assert!(offered(&desk).is_empty());
    assert!(desk.press('y').is_empty());
    assert!(desk.said().contains("nothing is asked here"));
    let mut desk = with_question(&port());
    desk.key(Key::Esc);
    assert_eq!(offered(&desk), ["r", "d"]);
    let mut desk = with_permission();
    desk.busy.clear();
    desk.wait(SECOND);
    desk.read();
    assert_eq!(offered(&desk), ["r", "d"], "a ghost is only dismissed");
}

#[test]
fn what_a_server_asks_is_cleaned() {
    let hostile = json!([{"question": "a\u{1b}[2Jb", "header": "h", "options": [
        {"label": "\u{202e}evil", "description": "\u{7}bell"}]}]);
    let desk = with_question(&hostile);
    let text = desk.text();
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text:?}");
    let mut desk = desk;
    desk.press('1');
    let sent = answers(&desk.key(Key::Enter));
    assert_eq!(sent, [["\u{202e}evil"]], "what is sent is the label itself");
}

#[test]
fn leaving_the_program_works_from_a_form() {
    let mut desk = with_permission();
    desk.press('d');
    assert!(desk.press('Q').is_empty(), "a letter of the message");
    assert_eq!(desk.key(Key::Ctrl('c')), [Effect::Quit]);
}

/// A row has room for the first words of an ask only.
#[test]
fn where_no_detail_is_seen_y_shows_the_ask_first() {
    let mut desk = with_permission();
    desk.laid_out(0, false);
    assert!(desk.press('y').is_empty());
    assert!(desk.text().contains("rm -r build"), "{}", desk.text());
    assert!(desk.text().contains("Allow once"), "{}", desk.text());
    assert!(desk.press('y').is_empty(), "nobody reads that fast");
    desk.wait(600);
    let effects = desk.press('y');
    assert!(matches!(step(&effects), Step::Allow { always: false, .. }));
}

#[test]
fn what_does_not_fit_is_agreed_to_at_its_end() {
    let mut desk = with_permission();
    desk.press('Y');
    desk.laid_out(7, true);
    assert!(desk.key(Key::Enter).is_empty(), "seven lines are below");
    assert!(desk.press('y').is_empty(), "two are");
    assert!(desk.is_open());
    let effects = desk.key(Key::Enter);
    assert!(matches!(step(&effects), Step::Allow { always: true, .. }));
}

/// `y` pressed twice: what the second press grants nobody can have read.
#[test]
fn what_is_asked_right_after_an_answer_needs_a_look() {
    let mut desk = with_permission();
    let effects = desk.press('y');
    let [Effect::Act(plan)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let done = Done {
        key: plan.key.clone(),
        action: plan.action,
        outcome: Outcome::Done("allowed once".into()),
        tried: Tried::default(),
    };
    desk.asks.clear();
    desk.wait(100);
    desk.permission("ses_solo", "per_next", "rm -rf /");
    update(&mut desk.app, Msg::Done(done), UnixMs(desk.now));
    desk.now += 800;
    assert!(desk.press('y').is_empty());
    assert!(
        desk.said().contains("something else is asked"),
        "{}",
        desk.said()
    );
    desk.now += 1000;
    assert_eq!(desk.press('y').len(), 1);
}

/// Help and history hide the row: a key that is tried there must not reach it.
#[test]
fn no_key_acts_on_a_row_that_a_page_covers() {
    for page in ['?', 'H'] {
        for key in ['y', 'Y', 'r', 'd', 'a', 'R', 'e', 's'] {
            let mut desk = with_permission();
            desk.press(page);
            assert!(desk.press(key).is_empty(), "{key} in {page}");
            assert!(
                desk.app.ui.dialog.is_none() && !desk.is_open(),
                "{key} in {page}"
            );
            assert!(desk.said().contains("under this page"), "{}", desk.said());
        }
        let mut desk = with_permission();
        desk.press(page);
        desk.press(' ');
        assert!(desk.app.ui.marked.is_empty(), "{page}");
    }
}
