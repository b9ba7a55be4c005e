//! What is looked at: the filter, what is snoozed, what is frozen, and the mouse. Keys in, screen out.

mod desk;
#[path = "desk/turn.rs"]
mod turn;

use desk::{Desk, HOME, asks, directory, hello, row, sessions, status, tail};
use ocwatch::core::app::keymap::Action;
use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{AppOptions, Effect, Memory, Msg, Target, update};
use ocwatch::core::id::{ServerId, SessionKey};
use ocwatch::core::present::{Column, Level, Mark, Screen, screen};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{AskKind, Body, DirectoryState, LinkReport, LostCause, Message};
use turn::answered;

const NOW: i64 = 1_796_000_000_000;
const MINUTE: i64 = 60_000;

impl Desk {
    /// A live server with a calm session, changed a minute ago.
    fn new() -> Self {
        let mut desk = Self::bare();
        desk.open();
        desk.session("ses_calm", MINUTE, false);
        desk
    }

    /// A server that has not answered yet.
    fn bare() -> Self {
        Self::over(&["home"], AppOptions::default(), NOW)
    }

    /// It answers, and is watched.
    fn open(&mut self) {
        self.feed(hello());
        self.feed(vec![directory(HOME, DirectoryState::Loaded)]);
        self.feed(vec![Body::Link(LinkReport::Live)]);
    }

    /// A session whose last answer ended `ago` ms ago; `stale`: still reported busy, so stuck.
    fn session(&mut self, id: &str, ago: i64, stale: bool) {
        let at = UnixMs(self.now - ago);
        let asked_at = UnixMs(self.now);
        let whole = answered(id, at).map(|it| Message {
            structured: it.completed.is_some(),
            ..it
        });
        let busy: &[&str] = if stale { &[id] } else { &[] };
        self.feed(vec![
            sessions(vec![row(id, at)], asked_at, false),
            status(busy, asked_at),
            asks(AskKind::Permission, asked_at, Vec::new()),
            asks(AskKind::Question, asked_at, Vec::new()),
            tail(id, whole.into(), asked_at),
        ]);
    }

    fn rows(&self) -> Vec<String> {
        let shown = screen(&self.app, UnixMs(self.now));
        shown.rows.into_iter().map(|row| row.title).collect()
    }
}

impl Desk {
    /// A calm parent with a stuck child, and a calm session beside them.
    fn family() -> Self {
        let mut desk = Self::new();
        desk.session("ses_parent", 2 * MINUTE, false);
        desk.child("ses_child", "ses_parent", 12 * MINUTE);
        desk.wait(5000);
        desk
    }

    fn child(&mut self, id: &str, parent: &str, ago: i64) {
        let mut info = row(id, UnixMs(self.now - ago));
        info.parent = Some(parent.into());
        info.cost = 2.5;
        self.session(id, ago, true);
        self.feed(vec![sessions(vec![info], UnixMs(self.now), false)]);
    }

    fn filter(&mut self, text: &str) -> Vec<String> {
        self.key(Key::Esc);
        self.keys("/");
        self.keys(text);
        self.rows()
    }

    fn screen(&self) -> Screen {
        screen(&self.app, UnixMs(self.now))
    }

    /// What is said in place of the footer.
    fn notice(&self) -> String {
        self.screen().notice.map_or_else(String::new, |it| it.text)
    }
}

#[test]
fn a_filter_narrows_while_it_is_typed_and_counts() {
    let mut desk = Desk::family();
    let [calm, parent, child] = ["calm", "parent", "child"].map(|it| format!("title of ses_{it}"));
    assert_eq!(
        desk.filter("level:stuck finding:sta"),
        [parent.clone(), child.clone()]
    );
    let shown = desk.screen();
    assert_eq!(
        shown.rows.iter().map(|row| row.dim).collect::<Vec<_>>(),
        [true, false],
        "a parent that is only here for its child is dim"
    );
    let line = shown.filter.unwrap();
    assert_eq!((line.hits, line.of), (1, 3));
    assert_eq!(desk.filter("!level:stuck !subagent"), [calm.as_str()]);
    assert_eq!(desk.filter("age:<90s"), [calm.as_str()]);
    assert_eq!(desk.filter("cost:>2"), [parent.clone(), child.clone()]);
    assert_eq!(
        desk.filter("reported:busy is:disagree"),
        [parent.clone(), child.clone()]
    );
    assert_eq!(desk.filter("calm|zzz !id:child"), [calm]);
    assert_eq!(desk.filter("SERVER:Ho dir:/srv is:child"), [parent, child]);
}

#[test]
fn what_is_not_understood_is_said_at_once_and_the_rest_applies() {
    let mut desk = Desk::family();
    assert_eq!(desk.filter("calm levle:stuck").len(), 1);
    assert_eq!(desk.notice(), "no field `levle`, did you mean `level`?");
    desk.key(Key::Enter);
    assert_eq!(desk.notice(), "no field `levle`, did you mean `level`?");
    let shown = desk.screen();
    assert_eq!(
        shown.filter.unwrap().wrong,
        "no field `levle`, did you mean `level`?"
    );
    assert_eq!(
        desk.filter("age:>7").len(),
        3,
        "an empty table has a reason"
    );
    assert!(desk.notice().contains("say age:>5m"), "{}", desk.notice());
    assert!(desk.filter("nothing level:x").is_empty());
    let told = desk.screen().empty;
    assert_eq!(told[0], "no session passes the filter nothing");
    assert_eq!(told[1], "level is never `x`");
}

#[test]
fn time_alone_brings_a_row_that_is_old_enough() {
    let mut desk = Desk::new();
    assert!(desk.filter("age:>2m").is_empty());
    desk.key(Key::Enter);
    desk.wait(2 * MINUTE);
    assert_eq!(desk.rows(), ["title of ses_calm"]);
}

#[test]
fn tab_takes_what_may_stand_there() {
    let mut desk = Desk::family();
    desk.keys("/!le");
    let hints = desk.screen().footer.into_iter();
    let hints: Vec<String> = hints.map(|it| format!("{} {}", it.key, it.words)).collect();
    assert_eq!(hints, ["Enter keep", "Esc clear", "Tab takes level:"]);
    desk.key(Key::Tab);
    assert_eq!(desk.app.ui.filter.text, "!level:");
    desk.key(Key::Tab);
    assert_eq!(desk.app.ui.filter.text, "!level:stuck");
    desk.key(Key::Tab);
    assert_eq!(desk.app.ui.filter.text, "!level:needs-you");
    desk.keys(" server:");
    desk.key(Key::Tab);
    assert_eq!(desk.app.ui.filter.text, "!level:needs-you server:home");
    desk.keys(" dir:zzz");
    desk.key(Key::Tab);
    assert!(desk.app.ui.filter.text.ends_with("dir:zzz"), "nothing fits");
}

#[test]
fn filters_that_were_kept_come_back() {
    let mut desk = Desk::new();
    desk.filter("calm");
    desk.key(Key::Enter);
    desk.filter("busy");
    desk.key(Key::Enter);
    desk.filter("dra");
    desk.key(Key::Up);
    desk.key(Key::Up);
    assert_eq!(desk.app.ui.filter.text, "calm");
    assert_eq!(desk.rows().len(), 1, "and apply at once");
    desk.key(Key::Down);
    desk.key(Key::Down);
    assert_eq!(desk.app.ui.filter.text, "dra");
    desk.key(Key::Esc);
    assert_eq!(desk.app.ui.filter.text, "");
}

#[test]
fn attention_only_says_how_many_it_hides_and_keeps_what_settles() {
    let mut desk = Desk::new();
    desk.session("ses_new", 1000, true);
    desk.wait(0);
    desk.keys("!");
    let titles = desk.rows().join(" ");
    assert!(titles.contains("ses_new"), "about to be stuck: {titles}");
    assert!(!titles.contains("ses_calm"));
    let shown = desk.screen();
    assert!(shown.attention_only);
    assert_eq!(shown.calm, 1);
}

impl Desk {
    /// A stuck session and a calm one, with the first selected.
    fn stuck() -> Self {
        let mut desk = Self::new();
        desk.session("ses_stuck", 12 * MINUTE, true);
        desk.wait(5000);
        assert_eq!(desk.rows(), ["title of ses_stuck", "title of ses_calm"]);
        desk
    }

    fn stuck_key() -> SessionKey {
        SessionKey::new(ServerId(0), "ses_stuck".into())
    }

    /// Counts of the header as `1 stuck, 2 at rest`.
    fn counts(&self) -> String {
        let counts = self.screen().counts.into_iter();
        let words: Vec<String> = counts
            .map(|it| format!("{} {}", it.number, it.word))
            .collect();
        words.join(", ")
    }

    fn memory(effects: &[Effect]) -> Memory {
        let kept = effects.iter().find_map(|effect| match effect {
            Effect::Remember(memory) => Some(memory.clone()),
            _ => None,
        });
        kept.unwrap_or_default()
    }
}

#[test]
fn a_snoozed_session_asks_for_nothing_until_it_changes() {
    let mut desk = Desk::stuck();
    let effects = desk.key(Key::Char('z'));
    let memory = Desk::memory(&effects);
    assert_eq!(memory.seen[0].seen.finding.as_deref(), Some("stale-busy"));
    assert_eq!(memory.seen[0].server, "http://h");
    assert!(
        desk.notice().starts_with("snoozed until it changes"),
        "{}",
        desk.notice()
    );
    assert!(desk.app.is_snoozed(&Desk::stuck_key()));
    assert_eq!(
        desk.rows(),
        ["title of ses_calm", "title of ses_stuck"],
        "below"
    );
    assert_eq!(
        desk.app.ui.selected.as_ref().unwrap().session.as_str(),
        "ses_calm",
        "on to the next"
    );
    let row = &desk.screen().rows[1];
    assert_eq!((row.mark, row.dim), (Mark::Snoozed, true));
    assert!(row.why.starts_with("snoozed: stale-busy"), "{}", row.why);
    assert_eq!(desk.counts(), "1 at rest, 1 snoozed");
    let level = desk.app.verdict(&Desk::stuck_key()).unwrap().level;
    assert_eq!(level, Level::Stuck, "the verdict is untouched");
    desk.keys("!");
    assert_eq!(desk.rows(), [""; 0]);
    assert_eq!(desk.screen().calm, 2);
    desk.keys("!");
    desk.wait(60 * MINUTE);
    assert!(
        desk.app.is_snoozed(&Desk::stuck_key()),
        "time changes nothing"
    );
    desk.session("ses_stuck", 11 * MINUTE, true);
    desk.wait(0);
    assert!(!desk.app.is_snoozed(&Desk::stuck_key()), "it moved on");
    assert_eq!(desk.rows()[0], "title of ses_stuck");
}

#[test]
fn z_again_wakes_and_marks_are_snoozed_together() {
    let mut desk = Desk::stuck();
    desk.key(Key::Char('z'));
    desk.keys("Gz");
    assert_eq!(desk.notice(), "awake again");
    assert!(!desk.app.is_snoozed(&Desk::stuck_key()));
    desk.keys("g  z");
    assert!(desk.app.is_snoozed(&Desk::stuck_key()), "{}", desk.notice());
    assert!(desk.app.ui.marked.is_empty());
    desk.keys("gz");
    assert_eq!(
        desk.notice(),
        "it asks for no attention: there is nothing to snooze"
    );
}

#[test]
fn what_was_seen_outlives_a_restart_and_a_lost_server() {
    let mut desk = Desk::stuck();
    let memory = Desk::memory(&desk.key(Key::Char('z')));
    let mut again = Desk::bare();
    again.app.begin_with(memory.clone());
    again.open();
    again.session("ses_stuck", 12 * MINUTE, true);
    again.wait(5000);
    assert!(again.app.is_snoozed(&Desk::stuck_key()));
    again.feed(vec![Body::Link(LinkReport::Lost {
        cause: LostCause::Unreachable,
        text: "connection refused".into(),
        retry_at: UnixMs(again.now + 1000),
    })]);
    again.wait(MINUTE);
    again.open();
    again.session("ses_stuck", 12 * MINUTE + MINUTE + 5000, true);
    again.wait(MINUTE);
    assert!(
        again.app.is_snoozed(&Desk::stuck_key()),
        "a reconnect is no change"
    );
}

#[test]
fn a_session_above_one_that_was_seen_is_quiet_as_well() {
    let mut desk = Desk::family();
    let parent = SessionKey::new(ServerId(0), "ses_parent".into());
    assert!(desk.app.verdict(&parent).unwrap().level >= Level::Watch);
    desk.keys("/ses_child is:child");
    desk.key(Key::Enter);
    desk.keys("Gz");
    assert!(desk.app.is_snoozed(&parent), "{}", desk.notice());
    desk.keys("Gz");
    assert!(!desk.app.is_snoozed(&parent), "{}", desk.notice());
}

#[test]
fn a_frozen_screen_stands_still_while_the_world_goes_on() {
    let mut desk = Desk::stuck();
    desk.keys("p");
    let before = desk.screen();
    desk.now += 12_000;
    desk.session("ses_new", MINUTE, false);
    let shown = desk.screen();
    assert_eq!(shown.rows, before.rows, "rows and ages");
    assert_eq!(shown.detail, before.detail);
    assert_eq!(shown.counts, before.counts);
    assert!(
        shown.frozen[0].starts_with("frozen for 12s, "),
        "{:?}",
        shown.frozen
    );
    assert!(
        !shown.frozen[0].contains(" 0 changes"),
        "{:?}",
        shown.frozen
    );
    assert_eq!(desk.app.store.sessions().count(), 3, "the links go on");
    desk.keys("j");
    assert_eq!(desk.screen().selected, Some(1), "keys that move do");
    desk.keys("/calm");
    desk.key(Key::Enter);
    assert_eq!(desk.rows(), ["title of ses_calm"]);
    desk.key(Key::Esc);
    assert_eq!(desk.rows().len(), 2);
    desk.keys("p");
    assert!(desk.screen().frozen.is_empty());
    assert_eq!(desk.notice(), "the screen goes on");
    assert_eq!(desk.rows().len(), 3);
    let selected = desk.app.ui.selected.clone().unwrap();
    assert_eq!(
        selected.session.as_str(),
        "ses_calm",
        "it stays on its session"
    );
}

#[test]
fn an_action_on_a_frozen_screen_is_planned_on_what_is_true_now() {
    let mut desk = Desk::stuck();
    desk.keys("jkp");
    desk.wait(1000);
    let effects = desk.key(Key::Char('a'));
    assert!(
        matches!(effects.as_slice(), [Effect::Act(_)]),
        "unchanged: it is done"
    );
    assert!(desk.screen().frozen.is_empty(), "and the screen goes on");

    let mut desk = Desk::stuck();
    desk.keys("jkp");
    desk.session("ses_stuck", 1000, false);
    assert_eq!(desk.key(Key::Char('a')), [], "it is not what was looked at");
    assert!(desk.screen().frozen.is_empty());
    assert!(desk.screen().dialog.is_none());
    assert!(
        desk.notice().contains("nothing was done"),
        "{}",
        desk.notice()
    );
}

#[test]
fn esc_at_the_top_of_a_frozen_screen_lets_it_go_on_and_quit_quits() {
    let mut desk = Desk::stuck();
    desk.keys("p");
    assert_eq!(desk.key(Key::Char('q')), []);
    assert!(desk.screen().frozen.is_empty());
    desk.keys("p");
    assert_eq!(desk.key(Key::Char('Q')), [Effect::Quit]);
}

#[test]
fn w_saves_what_is_shown_frozen_or_not() {
    let mut desk = Desk::stuck();
    assert_eq!(desk.key(Key::Char('w')), [Effect::SaveScreen]);
    desk.keys("p");
    assert_eq!(desk.key(Key::Char('w')), [Effect::SaveScreen]);
    assert!(!desk.screen().frozen.is_empty());
}

impl Desk {
    fn click(&mut self, target: Target) -> Vec<Effect> {
        let again = false;
        self.msg(Msg::Click { target, again })
    }

    fn click_row(&mut self, id: &str) -> Vec<Effect> {
        self.click(Target::Row(SessionKey::new(ServerId(0), id.into())))
    }

    fn wheel(&mut self, target: Target, down: bool) {
        self.msg(Msg::Wheel { target, down });
    }

    fn selected(&self) -> String {
        let key = self.app.shown().ui.selected.as_ref();
        key.map_or_else(String::new, |key| key.session.as_str().to_owned())
    }
}

#[test]
fn a_click_selects_and_again_it_opens() {
    let mut desk = Desk::stuck();
    desk.click_row("ses_calm");
    assert_eq!(desk.selected(), "ses_calm");
    assert!(!desk.screen().detail_open);
    desk.click_row("ses_calm");
    assert!(desk.screen().detail_open);
    desk.click_row("ses_calm");
    assert!(desk.screen().detail_open, "a third click loses nothing");
    desk.click_row("ses_gone");
    assert_eq!(desk.selected(), "ses_calm", "it is not there any more");
    desk.key(Key::Esc);
    // The table may have moved under the pointer between two clicks.
    let target = Target::Row(Desk::stuck_key());
    let again = true;
    desk.msg(Msg::Click { target, again });
    assert_eq!(desk.selected(), "ses_calm");
    assert!(desk.screen().detail_open);
}

#[test]
fn a_row_is_meant_by_its_session_and_stays_selected() {
    let mut desk = Desk::stuck();
    desk.click_row("ses_calm");
    desk.session("ses_more", 13 * MINUTE, true);
    desk.wait(5000);
    assert_eq!(desk.rows().len(), 3);
    assert_eq!(desk.selected(), "ses_calm", "whatever comes above it");
}

#[test]
fn a_heading_sorts_and_again_the_other_way_round() {
    let mut desk = Desk::stuck();
    desk.click(Target::Heading(Some(Column::Session)));
    assert_eq!(desk.rows(), ["title of ses_calm", "title of ses_stuck"]);
    desk.click(Target::Heading(Some(Column::Session)));
    assert_eq!(desk.rows(), ["title of ses_stuck", "title of ses_calm"]);
    desk.click(Target::Heading(None));
    assert_eq!(desk.app.ui.sort.column, None);
}

#[test]
fn a_hint_does_what_its_key_does_with_the_same_guards() {
    let mut desk = Desk::stuck();
    assert_eq!(desk.selected(), "ses_stuck");
    let effects = desk.click(Target::Hint(Action::Abort));
    assert!(matches!(effects[..], [Effect::Act(_)]), "{effects:?}");
    // Selected by itself a moment ago: the hand may have meant another.
    let mut desk = Desk::new();
    desk.wait(5000);
    desk.session("ses_stuck", 12 * MINUTE, true);
    desk.wait(100);
    assert_eq!(desk.selected(), "ses_stuck");
    let mut app = desk.app.clone();
    let keyed = update(&mut app, Msg::Key(Key::Char('a')), UnixMs(desk.now));
    let clicked = desk.click(Target::Hint(Action::Abort));
    assert_eq!(clicked, keyed);
    let acts = clicked.iter().any(|it| matches!(it, Effect::Act(_)));
    assert!(!acts, "{clicked:?}");
    assert!(desk.screen().dialog.is_some(), "it asks first");
    let mut desk = Desk::stuck();
    desk.click(Target::Hint(Action::Help));
    assert!(desk.screen().page.is_some());
    desk.click(Target::Hint(Action::Export));
    assert!(
        desk.notice().contains("lies under this page"),
        "{}",
        desk.notice()
    );
    desk.click(Target::Hint(Action::Back));
    assert!(desk.screen().page.is_none());
}

#[test]
fn what_lies_under_something_is_not_reached() {
    let mut desk = Desk::stuck();
    desk.click_row("ses_calm");
    desk.keys("a");
    assert!(desk.screen().dialog.is_some());
    for target in [
        Target::Row(Desk::stuck_key()),
        Target::Heading(Some(Column::Session)),
        Target::Hint(Action::Quit),
        Target::Over,
    ] {
        assert_eq!(desk.click(target), []);
    }
    assert_eq!(desk.app.ui.sort.column, None);
    desk.wheel(Target::Row(Desk::stuck_key()), false);
    assert!(desk.screen().dialog.is_some(), "neither done nor left");
    assert_eq!(desk.selected(), "ses_calm");
    desk.key(Key::Esc);
    desk.keys("?");
    desk.click_row("ses_stuck");
    desk.click(Target::Heading(Some(Column::Session)));
    desk.wheel(Target::Over, false);
    assert_eq!(desk.selected(), "ses_calm");
    assert_eq!(desk.app.ui.sort.column, None);
    desk.keys("?/");
    desk.click_row("ses_stuck");
    assert_eq!(desk.selected(), "ses_calm", "while a line is typed");
}

#[test]
fn the_wheel_moves_what_is_under_it() {
    let mut desk = Desk::stuck();
    desk.wheel(Target::Table, true);
    assert_eq!(desk.selected(), "ses_calm");
    desk.wheel(Target::Row(Desk::stuck_key()), false);
    assert_eq!(desk.selected(), "ses_stuck");
    desk.app.ui.last_scroll = 20;
    desk.wheel(Target::Detail, true);
    assert!(desk.app.ui.detail_open, "it has the keys first");
    desk.wheel(Target::Detail, true);
    assert_eq!(desk.app.ui.detail_scroll, 3);
    desk.wheel(Target::Detail, false);
    assert_eq!(desk.app.ui.detail_scroll, 0);
    desk.click(Target::Pane("parts"));
    assert_eq!(
        desk.screen()
            .detail
            .unwrap()
            .tabs
            .iter()
            .find(|tab| tab.current)
            .unwrap()
            .name,
        "parts"
    );
    desk.keys("?");
    desk.wheel(Target::Over, true);
    assert_eq!(desk.app.ui.page.as_ref().unwrap().1, 3);
}

#[test]
fn on_a_frozen_screen_the_mouse_looks_and_a_hint_that_acts_makes_it_go_on() {
    let mut desk = Desk::stuck();
    desk.keys("p");
    desk.session("ses_more", 13 * MINUTE, true);
    desk.click_row("ses_calm");
    assert_eq!(desk.screen().selected, Some(1));
    assert!(desk.app.frozen().is_some());
    desk.click_row("ses_more");
    assert_eq!(
        desk.selected(),
        "ses_calm",
        "it is not on the frozen screen"
    );
    desk.click(Target::Hint(Action::Abort));
    assert!(desk.app.frozen().is_none());
}

#[test]
fn m_leaves_the_mouse_to_the_terminal_and_takes_it_back() {
    let mut desk = Desk::new();
    desk.app.ui.mouse = true;
    assert_eq!(desk.key(Key::Char('m')), [Effect::Mouse(false)]);
    assert!(
        desk.notice()
            .contains("text can be selected; m takes it back")
    );
    desk.keys("p");
    assert_eq!(desk.key(Key::Char('m')), [Effect::Mouse(true)]);
    assert!(desk.app.frozen().is_some());
    desk.keys("p");
    assert!(desk.app.ui.mouse);
}

#[test]
fn a_snooze_may_have_an_end() {
    let mut desk = Desk::stuck();
    desk.keys(":snooze 1x");
    desk.key(Key::Enter);
    let wrong = desk.screen().command.unwrap().wrong.unwrap();
    assert!(wrong.contains("`1x` is no time"), "{wrong}");
    desk.key(Key::Esc);
    desk.keys(":snooze 1h");
    desk.key(Key::Enter);
    assert!(
        desk.notice().contains("no longer than 1h"),
        "{}",
        desk.notice()
    );
    assert!(desk.app.is_snoozed(&Desk::stuck_key()));
    let wait = desk.app.next_tick(UnixMs(desk.now)).unwrap();
    assert!(wait <= Span::hours(1), "time alone wakes it: {wait:?}");
    desk.wait(60 * MINUTE - 1);
    assert!(desk.app.is_snoozed(&Desk::stuck_key()));
    assert_eq!(desk.app.next_tick(UnixMs(desk.now)), Some(Span(1)));
    desk.wait(1);
    assert!(!desk.app.is_snoozed(&Desk::stuck_key()));
    desk.keys("p:snooze 1h");
    desk.key(Key::Enter);
    let wrong = desk.screen().command.unwrap().wrong.unwrap();
    assert!(wrong.contains("the screen is frozen"), "{wrong}");
    assert!(!desk.app.is_snoozed(&Desk::stuck_key()));
}

#[test]
fn where_the_screen_was_saved_is_told_and_copied() {
    let mut desk = Desk::new();
    let path = "/srv/a/ocwatch-screen-1.txt".to_owned();
    let effects = desk.msg(Msg::Saved(path.clone()));
    assert_eq!(effects, [Effect::Copy(path.clone())]);
    assert!(desk.notice().starts_with(&format!("saved to {path}")));
    desk.keys("p");
    assert_eq!(desk.notice(), "");
    desk.msg(Msg::Saved(path.clone()));
    let told = desk.notice();
    assert!(
        told.starts_with("saved to"),
        "on a frozen screen too: {told}"
    );
}

#[test]
fn the_page_of_the_servers_says_how_each_stands_and_tries_lost_ones_again() {
    let options = AppOptions {
        sources: vec!["of the configuration".to_owned(), "found so".to_owned()],
        ..AppOptions::default()
    };
    let mut desk = Desk::over(&["home", "away"], options, NOW);
    desk.open();
    let page = |desk: &Desk| {
        let page = screen(&desk.app, UnixMs(desk.now)).page.unwrap();
        let line = |line: &Vec<_>| {
            line.iter()
                .map(|it: &ocwatch::core::present::Piece| it.text.as_str())
                .collect()
        };
        page.lines
            .iter()
            .map(line)
            .collect::<Vec<String>>()
            .join("\n")
    };
    assert_eq!(desk.key(Key::Char('S')), [], "none is lost");
    desk.feed(vec![Body::Link(LinkReport::Asked(12))]);
    let text = page(&desk);
    for told in [
        "home  http://h",
        "of the configuration",
        "live",
        "OpenCode 1.18.33",
        "12 requests to it",
        "found so",
    ] {
        assert!(text.contains(told), "no {told:?} in {text}");
    }
    desk.feed(vec![Body::Link(LinkReport::Lost {
        cause: LostCause::Refused,
        text: "connection refused".into(),
        retry_at: UnixMs(desk.now + 7_000),
    })]);
    let text = page(&desk);
    assert!(
        text.contains("next try in 7 s") && text.contains("connection refused"),
        "{text}"
    );
    let retry = [Effect::Retry(ServerId(0))];
    for key in [Key::Char('S'), Key::Enter] {
        assert_eq!(desk.key(key), retry, "{key}");
        assert!(screen(&desk.app, UnixMs(desk.now)).page.is_some());
    }
    desk.key(Key::Esc);
    assert!(screen(&desk.app, UnixMs(desk.now)).page.is_none());
    assert_eq!(desk.key(Key::Char('S')), retry, "the page, and at once");
}
