//! The one key table: what is in it is in help, in the README and on the command line; what the user
//! changes in it is followed everywhere.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod desk;
#[path = "desk/turn.rs"]
mod turn;

use desk::{Desk, HOME, asks, directory, hello, row, sessions, status, tail};
use ocwatch::core::app::keymap::{Action, Key, Keymap, keymap};
use ocwatch::core::app::{AppOptions, DialogState, Effect, PageKind};
use ocwatch::core::id::{Directory, ServerId, SessionKey};
use ocwatch::core::plan::ActionName;
use ocwatch::core::present::{Line, Screen, screen};
use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{Ask, AskKind, Body, DirectoryState, LinkReport, LostCause, SessionInfo};
use proptest::prelude::*;
use turn::answered;

const NOW: i64 = 1_796_000_000_000;
const MINUTE: i64 = 60_000;

impl Desk {
    fn new() -> Self {
        Self::with(Keymap::default())
    }

    /// A live server with a stuck session, one that asks, a calm one, and two asleep projects.
    fn with(keymap: Keymap) -> Self {
        let options = AppOptions {
            keymap,
            ..AppOptions::default()
        };
        let mut desk = Self::over(&["home", "nas"], options, NOW);
        desk.feed(hello());
        desk.feed(vec![
            directory(HOME, DirectoryState::Loaded),
            directory("/srv/b", DirectoryState::Asleep),
            directory("/srv/c", DirectoryState::Asleep),
        ]);
        desk.say();
        desk.feed(vec![Body::Link(LinkReport::Live)]);
        desk.wait(5000);
        desk
    }

    fn say(&mut self) {
        let ago = |minutes: i64| UnixMs(NOW - minutes * MINUTE);
        let asked_at = UnixMs(self.now);
        let asleep = SessionInfo {
            directory: Directory::new("/srv/b"),
            ..row("ses_asleep", ago(90))
        };
        let rows = vec![
            row("ses_stuck", ago(12)),
            row("ses_asks", ago(2)),
            row("ses_calm", ago(3)),
            asleep,
        ];
        let mut bodies = vec![
            sessions(rows, asked_at, true),
            status(&["ses_stuck", "ses_asks"], asked_at),
            asks(AskKind::Permission, asked_at, vec![permission()]),
            asks(AskKind::Question, asked_at, Vec::new()),
        ];
        for (id, minutes) in [("ses_stuck", 12), ("ses_asks", 2), ("ses_calm", 3)] {
            let messages = answered(id, ago(minutes)).into();
            bodies.push(tail(id, messages, asked_at));
        }
        self.feed(bodies);
    }

    /// `:`, the text, Enter.
    fn run(&mut self, text: &str) -> Vec<Effect> {
        self.keys(&format!(":{text}"));
        self.key(Key::Enter)
    }

    fn select(&mut self, id: &str) {
        self.app.ui.selected = Some(SessionKey::new(ServerId(0), id.into()));
        self.app.ui.moved = true;
        self.wait(2000);
    }

    fn screen(&self) -> Screen {
        screen(&self.app, UnixMs(self.now))
    }

    fn typed(&self) -> String {
        let command = self.screen().command;
        command.map_or_else(String::new, |it| it.text)
    }

    fn wrong(&self) -> String {
        let command = self.screen().command;
        command.and_then(|it| it.wrong).unwrap_or_default()
    }

    fn offered(&self) -> Vec<String> {
        let command = self.screen().command;
        let offered = command.map_or_else(Vec::new, |it| it.offered);
        offered.into_iter().map(|it| it.word).collect()
    }

    fn notice(&self) -> String {
        self.app.ui.notice.clone().unwrap_or_default()
    }
}

fn permission() -> Ask {
    Ask {
        id: "per_1".into(),
        session: "ses_asks".into(),
        kind: AskKind::Permission,
        permission: Some("bash".to_owned()),
        patterns: vec!["rm -r build".to_owned()],
        always: vec!["rm *".to_owned()],
        command: None,
        diff: None,
        questions: Vec::new(),
        tool: None,
    }
}

fn lost() -> Body {
    Body::Link(LinkReport::Lost {
        cause: LostCause::Refused,
        text: "nothing listens there".to_owned(),
        retry_at: UnixMs(NOW + MINUTE),
    })
}

fn text(line: &Line) -> String {
    line.iter().map(|piece| piece.text.as_str()).collect()
}

fn help(desk: &mut Desk) -> Vec<String> {
    desk.app.ui.page = Some((PageKind::Help, 0));
    desk.screen().page.unwrap().lines.iter().map(text).collect()
}

#[test]
fn every_action_is_in_help_in_the_readme_and_on_the_command_line() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let mut desk = Desk::new();
    let lines = help(&mut desk);
    desk.app.ui.page = None;
    for binding in keymap() {
        let name = binding.name;
        let command = format!(":{name}");
        let told = lines
            .iter()
            .find(|it| it.split("  ").any(|it| it == command));
        let told = told.unwrap_or_else(|| panic!("{name} is not in help"));
        let keys = desk.app.keymap.all(binding.action);
        assert!(told.starts_with(&keys), "{told}");
        assert!(told.contains(binding.help), "{told}");
        let in_readme = format!("| `{name}` | {} |", binding.help);
        assert!(readme.contains(&in_readme), "{name} is not in the README");
        let mut desk = Desk::new();
        desk.keys(&command);
        let is_itself = binding.action == Action::Command;
        let is_offered = desk.offered().iter().any(|it| it == name);
        assert!(is_itself || is_offered, "{name} is not offered");
        desk.key(Key::Enter);
        assert_eq!(desk.wrong(), "", "{name}");
    }
}

/// What brings a desk there.
type Prepare = fn(&mut Desk);

/// States of the desk in which keys do different things.
fn states() -> Vec<(&'static str, Prepare)> {
    vec![
        ("as it begins", |_| {}),
        ("a stuck session", |desk| desk.select("ses_stuck")),
        ("one that asks", |desk| desk.select("ses_asks")),
        ("a calm one", |desk| desk.select("ses_calm")),
        ("an asleep one", |desk| desk.select("ses_asleep")),
        ("two marked", |desk| desk.keys("  ")),
        ("the detail is open", |desk| {
            desk.select("ses_asks");
            desk.key(Key::Enter);
        }),
        ("help is open", |desk| desk.keys("?")),
        ("a filter is set", |desk| {
            desk.keys("/calm");
            desk.key(Key::Enter);
        }),
        ("an action is under way", |desk| {
            desk.select("ses_stuck");
            desk.key(Key::Char('a'));
        }),
        ("the link is lost", |desk| {
            desk.feed(vec![lost()]);
        }),
    ]
}

#[test]
fn a_command_does_what_its_key_does() {
    let (mut effects, mut dialogs) = (0, 0);
    for (state, prepare) in states() {
        for binding in keymap().filter(|it| it.action != Action::Command) {
            let Some(key) = binding.keys.iter().find(|key| **key != Key::Esc) else {
                continue;
            };
            let (mut by_key, mut by_name) = (Desk::new(), Desk::new());
            prepare(&mut by_key);
            prepare(&mut by_name);
            let what = format!("{} when {state}", binding.name);
            let wanted = by_key.key(*key);
            assert_eq!(by_name.run(binding.name), wanted, "{what}");
            effects += wanted.len();
            dialogs += usize::from(by_key.app.ui.dialog.is_some());
            let (key, name) = (&by_key.app, &by_name.app);
            assert_eq!(format!("{:?}", name.ui), format!("{:?}", key.ui), "{what}");
            assert_eq!(name.running, key.running, "{what}");
        }
    }
    assert!(effects > 40 && dialogs > 10, "{effects} {dialogs}");
}

#[test]
fn a_key_that_was_chosen_is_in_footer_help_and_messages_and_does_it() {
    let map = Keymap::with(&[
        (Action::Abort, vec![Key::F(2), Key::Char('A')]),
        (Action::Help, vec![Key::Ctrl('g')]),
        (Action::Down, vec![Key::Char('n')]),
        (Action::NextHit, vec![]),
        (Action::Load, vec![]),
        (Action::Back, vec![Key::Char('b')]),
    ]);
    let mut desk = Desk::with(map.unwrap());
    desk.select("ses_stuck");
    let hint = |desk: &Desk, words: &str| {
        let footer = desk.screen().footer;
        let hint = footer.into_iter().find(|hint| hint.words == words);
        hint.map(|hint| hint.key)
    };
    assert_eq!(hint(&desk, "abort").as_deref(), Some("F2"));
    assert_eq!(hint(&desk, "help").as_deref(), Some("Ctrl-G"));
    let story = desk.screen().detail.unwrap().story;
    let helps = story.iter().map(text).find(|it| it.starts_with("What"));
    assert_eq!(helps.unwrap(), "What helps: F2 abort · e export · R reset");
    assert!(desk.key(Key::Char('a')).is_empty());
    assert_eq!(desk.notice(), "a does nothing here; Ctrl-G shows the keys");
    desk.key(Key::Esc);
    assert_eq!(desk.notice(), "b quits");
    assert!(matches!(desk.key(Key::F(2)).as_slice(), [Effect::Act(_)]));
    let before = desk.app.ui.selected.clone();
    desk.key(Key::Char('n'));
    assert_ne!(desk.app.ui.selected, before);
    desk.select("ses_asleep");
    assert_eq!(hint(&desk, "load project").as_deref(), Some(":load"));
    desk.key(Key::Char('R'));
    assert!(desk.notice().ends_with(":load loads it first"));
    desk.key(Key::Ctrl('g'));
    let lines = help(&mut desk);
    let has = |keys: &str, name: &str| {
        let name = format!(":{name}");
        let mut named = lines.iter().filter(|it| it.ends_with(&name));
        named.any(|it| it.starts_with(keys))
    };
    assert!(has("F2 A ", "abort") && has("Ctrl-G ", "help") && has("n ", "down"));
    assert!(has("b Esc ", "back") && has(" ", "load"));
    assert_eq!(hint(&desk, "back").as_deref(), Some("b"));
}

#[test]
fn the_keys_that_move_move_in_dialogs_and_forms_too() {
    let map = Keymap::with(&[(Action::Down, vec![Key::Char('J')])]);
    let mut desk = Desk::with(map.unwrap());
    desk.select("ses_asks");
    desk.keys("r");
    let pointed = |desk: &Desk| {
        let lines = desk.screen().form.unwrap().lines;
        lines.iter().position(|line| line.focus).unwrap()
    };
    let first = pointed(&desk);
    desk.keys("JJ");
    assert_eq!(pointed(&desk), first + 1, "the first step chooses it");
    desk.key(Key::Down);
    assert_eq!(pointed(&desk), first + 2, "arrows always do");
    let foot = desk.screen().form.unwrap().foot;
    assert!(foot.iter().any(|hint| hint.key == "1-3 J k"), "{foot:?}");
}

#[test]
fn tab_goes_through_what_begins_with_what_was_typed_and_up_through_what_was_run() {
    let mut desk = Desk::new();
    desk.keys(":ex");
    assert_eq!(desk.offered()[..2], ["export", "explain"]);
    desk.key(Key::Tab);
    assert_eq!(desk.typed(), "export");
    desk.key(Key::Tab);
    assert_eq!(desk.typed(), "explain");
    desk.key(Key::BackTab);
    assert_eq!(desk.typed(), "export");
    desk.key(Key::Esc);
    assert!(desk.screen().command.is_none());
    desk.run("filter calm");
    assert_eq!(desk.screen().rows.len(), 1);
    desk.key(Key::Esc);
    desk.run("help");
    desk.run("back");
    desk.keys(":");
    desk.key(Key::Up);
    assert_eq!(desk.typed(), "back");
    desk.key(Key::Up);
    desk.key(Key::Up);
    desk.key(Key::Up);
    assert_eq!(desk.typed(), "filter calm", "the oldest stays");
    desk.key(Key::Down);
    assert_eq!(desk.typed(), "help");
    desk.key(Key::Down);
    desk.key(Key::Down);
    assert_eq!(desk.typed(), "", "what was typed is back");
    desk.key(Key::Esc);
    desk.keys(":filter level:stuck lev");
    desk.key(Key::Tab);
    assert_eq!(desk.typed(), "filter level:stuck level:");
}

#[test]
fn what_stands_behind_a_name_is_completed_and_refused_by_its_nearest() {
    let mut desk = Desk::new();
    desk.keys(":the");
    desk.key(Key::Tab);
    assert_eq!(desk.typed(), "theme ");
    assert!(desk.offered().contains(&"high-contrast".to_owned()));
    desk.keys("da");
    desk.key(Key::Tab);
    desk.key(Key::Enter);
    assert_eq!(desk.screen().theme.unwrap().word(), "dark");
    desk.run("theme drak");
    assert_eq!(
        desk.wrong(),
        "there is no theme `drak`, did you mean `dark`?"
    );
    desk.key(Key::Esc);
    desk.run("sort kost");
    assert_eq!(
        desk.wrong(),
        "there is no column `kost`, did you mean `cost`?"
    );
    desk.key(Key::Esc);
    desk.keys(":sort -co");
    desk.key(Key::Tab);
    desk.key(Key::Enter);
    assert_eq!(desk.notice(), "sorted by cost, smallest first");
    desk.run("theme");
    assert_eq!(desk.typed(), "theme ", "it asks which");
}

#[test]
fn what_is_no_command_says_the_nearest_and_stays() {
    let mut desk = Desk::new();
    assert!(desk.run("abrot").is_empty());
    assert_eq!(
        desk.wrong(),
        "there is no command `abrot`, did you mean `abort`?"
    );
    assert_eq!(desk.typed(), "abrot");
    desk.key(Key::Backspace);
    assert_eq!(desk.wrong(), "");
    desk.key(Key::Esc);
    desk.run("abort now");
    assert_eq!(desk.wrong(), "`abort` takes nothing behind it");
    desk.key(Key::Esc);
    desk.run("  ");
    assert!(desk.screen().command.is_none());
    assert_eq!(desk.run("q"), [Effect::Quit]);
}

#[test]
fn leaving_is_warned_of_once_by_name_as_by_key() {
    let mut desk = Desk::new();
    desk.select("ses_stuck");
    desk.key(Key::Char('a'));
    let key = desk.app.ui.selected.clone().unwrap();
    assert_eq!(desk.app.running[&key].action, ActionName::Abort);
    assert!(desk.run("q").is_empty());
    assert_eq!(desk.run("q"), [Effect::Quit]);
}

#[test]
fn what_was_meant_for_another_session_is_not_done() {
    let mut desk = Desk::new();
    desk.select("ses_stuck");
    desk.keys(":abort");
    desk.select("ses_calm");
    assert!(desk.key(Key::Enter).is_empty());
    assert!(desk.wrong().starts_with("another session was selected"));
    assert!(desk.app.ui.dialog.is_none());
    desk.key(Key::Enter);
    assert!(desk.app.ui.dialog.is_some(), "it was looked at: it asks");
}

#[test]
fn load_all_says_what_it_would_start_and_starts_it_when_told_to() {
    let mut desk = Desk::new();
    assert!(desk.run("load-all").is_empty());
    let dialog = desk.screen().dialog.unwrap();
    assert_eq!(dialog.title, "Load 2 projects");
    assert!(dialog.lines.contains(&"home: 2 projects".to_owned()));
    assert!(dialog.lines.contains(&"  /srv/b".to_owned()));
    let load = |directory: &str| Effect::Load {
        server: ServerId(0),
        directory: directory.into(),
    };
    assert_eq!(desk.key(Key::Enter), [load("/srv/b"), load("/srv/c")]);
    desk.run("load-all");
    desk.feed(vec![directory("/srv/b", DirectoryState::Loaded)]);
    assert_eq!(
        desk.key(Key::Enter),
        [load("/srv/c")],
        "no more than is asleep"
    );
    desk.run("load-all");
    let dialog = &desk.app.ui.dialog;
    assert!(matches!(dialog, Some(DialogState::LoadAll(_))));
    assert_eq!(desk.key(Key::Esc), []);
    assert!(!matches!(desk.app.ui.dialog, Some(DialogState::LoadAll(_))));
}

#[test]
fn nothing_is_loaded_of_a_server_that_is_away() {
    let mut desk = Desk::new();
    desk.feed(vec![lost()]);
    desk.run("load-all");
    let told = "no project is asleep on a server that can be reached";
    assert_eq!(desk.notice(), told);
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        3 => prop::sample::select("abetq :-ü世".chars().collect::<Vec<_>>()).prop_map(Key::Char),
        1 => any::<char>().prop_map(Key::Char),
        4 => prop::sample::select(vec![
            Key::Tab,
            Key::BackTab,
            Key::Up,
            Key::Down,
            Key::Left,
            Key::Right,
            Key::Home,
            Key::End,
            Key::Backspace,
            Key::Delete,
            Key::Ctrl('u'),
            Key::Enter,
            Key::F(3),
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_keys_break_the_command_line(keys in prop::collection::vec(any_key(), 0..60)) {
        let mut desk = Desk::new();
        for key in keys {
            if desk.app.ui.command.is_none() {
                desk.app.ui.dialog = None;
                desk.app.ui.reply = None;
                desk.app.ui.filter.cursor = None;
                desk.app.ui.search = None;
                desk.keys(":");
            }
            desk.key(key);
            if let Some(command) = desk.screen().command {
                prop_assert!(command.cursor <= command.text.chars().count());
                let chosen = command.chosen.map(|it| &command.offered[it].word);
                prop_assert!(chosen.is_none_or(|word| command.text.ends_with(word)));
            }
        }
    }
}
