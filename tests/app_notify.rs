//! Notices: what links say in, who is told out.

mod desk;

use desk::{Desk, HOME, asks, directory, hello, row, sessions, status, tail};
use ocwatch::core::app::notify::{Channel, Notice, NotifyRules, Quiet};
use ocwatch::core::app::{App, AppOptions, Effect, Msg};
use ocwatch::core::id::{ServerId, SessionKey};
use ocwatch::core::judge::Level;
use ocwatch::core::store::ServerSpec;
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{Ask, AskKind, Body, DirectoryState, LinkReport, LostCause, SessionInfo};
use pretty_assertions::assert_eq;

/// Noon, UTC.
const NOON: i64 = 1_796_040_000_000;

impl Desk {
    /// A live server where a parent and its child run, for ten seconds now.
    fn new(rules: NotifyRules) -> Self {
        let options = AppOptions {
            notify: rules,
            ..AppOptions::default()
        };
        let mut desk = Self::over(&["home"], options, NOON);
        desk.connect(&[]);
        desk.seconds(10);
        desk
    }

    /// Everything as its link tells it; these ask something, since then.
    fn connect(&mut self, asking: &[(&str, i64)]) {
        let at = UnixMs(self.now);
        let mut bodies = hello();
        bodies.extend([
            sessions(vec![parent(), child()], at, true),
            directory(HOME, DirectoryState::Loaded),
            status(&["ses_p", "ses_c"], at),
            tail("ses_p", Vec::new(), at),
            tail("ses_c", Vec::new(), at),
        ]);
        bodies.extend(asked(asking, at));
        bodies.push(Body::Link(LinkReport::Live));
        self.feed(bodies);
    }

    fn lose(&mut self) {
        self.feed(vec![Body::Link(LinkReport::Lost {
            cause: LostCause::Refused,
            text: "refused".into(),
            retry_at: UnixMs(self.now + 1000),
        })]);
    }

    /// These ask a permission now, and nobody else.
    fn ask(&mut self, asking: &[&str]) {
        let asking = asking.iter().map(|id| (*id, self.now));
        let asking: Vec<_> = asking.collect();
        self.feed(asked(&asking, UnixMs(self.now)));
    }

    /// With a look at each.
    fn seconds(&mut self, count: i64) {
        for _ in 0..count {
            self.wait(1000);
        }
    }

    fn notices(&self) -> Vec<Notice> {
        let notices = self.effects.iter().filter_map(|effect| match effect {
            Effect::Notify(notice) => Some(notice.clone()),
            _ => None,
        });
        notices.collect()
    }

    /// Whom each notice names, and how.
    fn told(&self) -> Vec<String> {
        let one = |notice: &Notice| {
            let sessions = notice.sessions.iter();
            let names: Vec<String> = sessions
                .map(|it| format!("{} {}", it.key.session, it.finding))
                .collect();
            names.join(", ")
        };
        self.notices().iter().map(one).collect()
    }
}

fn asked(asking: &[(&str, i64)], at: UnixMs) -> Vec<Body> {
    let ask = |(id, since): &(&str, i64)| Ask {
        id: format!("per_{id}_{since}").into(),
        session: (*id).into(),
        kind: AskKind::Permission,
        tool: None,
        permission: Some("bash".into()),
        patterns: vec!["rm -r build".into()],
        always: Vec::new(),
        command: None,
        diff: None,
        questions: Vec::new(),
    };
    vec![
        asks(AskKind::Permission, at, asking.iter().map(ask).collect()),
        asks(AskKind::Question, at, Vec::new()),
    ]
}

fn parent() -> SessionInfo {
    row("ses_p", UnixMs(NOON - 60_000))
}

fn child() -> SessionInfo {
    SessionInfo {
        parent: Some("ses_p".into()),
        ..row("ses_c", UnixMs(NOON - 60_000))
    }
}

#[test]
fn an_ask_is_told_once_and_of_its_ancestors_nothing() {
    let mut desk = Desk::new(NotifyRules::default());
    desk.ask(&["ses_c"]);
    assert_eq!(desk.told(), [""; 0], "what comes with it is waited for");
    desk.seconds(3);
    assert_eq!(desk.told(), ["ses_c waiting-permission"]);
    let told = desk.notices()[0].sessions[0].clone();
    assert_eq!(
        (told.level, told.title.as_str()),
        (Level::NeedsYou, "title of ses_c")
    );
    assert_eq!(told.from.0, Level::Ok);
    assert!(told.text.contains("rm -r build"), "{}", told.text);
    let both = [Channel::Bell, Channel::Osc, Channel::Command];
    assert_eq!(told.channels.into_iter().collect::<Vec<_>>(), both);
    desk.seconds(300);
    assert_eq!(desk.told().len(), 1);
}

/// What was seen of a session was another ask.
#[test]
fn another_ask_wakes_a_session_whose_ask_was_snoozed() {
    let mut desk = Desk::new(NotifyRules::default());
    let child = SessionKey::new(ServerId(0), "ses_c".into());
    desk.ask(&["ses_c"]);
    desk.seconds(3);
    desk.app.ui.selected = Some(child.clone());
    desk.keys("z");
    assert!(desk.app.is_snoozed(&child));
    desk.seconds(3);
    assert!(desk.app.is_snoozed(&child), "nothing is new");
    desk.ask(&["ses_c"]);
    assert!(!desk.app.is_snoozed(&child));
}

#[test]
fn what_is_asked_at_the_start_is_not_told() {
    let mut desk = Desk::new(NotifyRules::default());
    desk.app = App::new(vec![ServerSpec::default()], AppOptions::default());
    let since = desk.now;
    desk.connect(&[("ses_p", since), ("ses_c", since)]);
    desk.seconds(60);
    assert_eq!(desk.told(), [""; 0]);
    desk.ask(&["ses_c"]);
    desk.seconds(5);
    assert_eq!(desk.told(), ["ses_c waiting-permission"], "another one is");
}

#[test]
fn after_a_lost_connection_only_what_is_new_is_told_and_together() {
    let mut desk = Desk::new(NotifyRules::default());
    let since = desk.now;
    desk.ask(&["ses_c"]);
    desk.seconds(3);
    desk.lose();
    desk.seconds(120);
    desk.epoch = 2;
    desk.connect(&[("ses_c", since), ("ses_p", desk.now)]);
    desk.seconds(120);
    assert_eq!(
        desk.told(),
        ["ses_c waiting-permission", "ses_p waiting-permission"]
    );
}

#[test]
fn what_somebody_looks_at_is_not_told() {
    let look = |focus: Option<bool>| {
        let mut desk = Desk::new(NotifyRules::default());
        if let Some(focus) = focus {
            desk.msg(Msg::Focus(focus));
        }
        desk.keys("g");
        desk.seconds(5);
        let selected = desk.app.ui.selected.clone().unwrap();
        desk.ask(&[selected.session.as_str()]);
        desk.seconds(5);
        desk.told().len()
    };
    assert_eq!(look(Some(true)), 0);
    assert_eq!(look(Some(false)), 1);
    assert_eq!(look(None), 1, "who knows whether it is looked at");
    // A terminal that has the focus, and nobody in front of it.
    let mut desk = Desk::new(NotifyRules::default());
    desk.msg(Msg::Focus(true));
    desk.keys("g");
    desk.seconds(90);
    let selected = desk.app.ui.selected.clone().unwrap();
    desk.ask(&[selected.session.as_str()]);
    desk.seconds(5);
    assert_eq!(desk.told().len(), 1);
}

#[test]
fn quiet_hours_keep_it_until_their_end() {
    let mut desk = Desk::new(NotifyRules {
        quiet: vec![Quiet::parse("12:00-12:05").unwrap()],
        ..NotifyRules::default()
    });
    desk.ask(&["ses_p"]);
    desk.seconds(60);
    desk.ask(&["ses_p", "ses_c"]);
    desk.seconds(60);
    // The first is another ask by now, so both stand.
    assert_eq!(desk.told(), [""; 0]);
    let next = desk.app.notices.next().unwrap();
    assert_eq!(
        next,
        UnixMs(NOON + 300_000),
        "it is not asked again and again before"
    );
    desk.seconds(180);
    assert_eq!(
        desk.told(),
        ["ses_c waiting-permission, ses_p waiting-permission"]
    );
    assert_eq!(desk.notices()[0].at, next);
}

#[test]
fn a_level_or_a_finding_that_is_not_wanted_is_not_told() {
    let both = || [Channel::Bell, Channel::Osc, Channel::Command];
    let only_stuck = NotifyRules {
        levels: both().map(|it| (it, [Level::Stuck].into())).into(),
        ..NotifyRules::default()
    };
    let mut off = NotifyRules::default();
    off.findings.insert("waiting-permission".into(), [].into());
    for rules in [only_stuck, off] {
        let mut desk = Desk::new(rules);
        desk.ask(&["ses_p"]);
        desk.seconds(5);
        assert_eq!(desk.told(), [""; 0]);
    }
    let mut bell = NotifyRules::default();
    bell.findings
        .insert("waiting-permission".into(), [Channel::Bell].into());
    let mut desk = Desk::new(bell);
    desk.ask(&["ses_p"]);
    desk.seconds(5);
    let channels = desk.notices()[0].sessions[0].channels.clone();
    assert_eq!(channels.into_iter().collect::<Vec<_>>(), [Channel::Bell]);
}

#[test]
fn a_tick_is_due_when_somebody_is_to_be_told() {
    let mut desk = Desk::new(NotifyRules {
        together: Span(300),
        ..NotifyRules::default()
    });
    desk.ask(&["ses_p"]);
    let wait = desk.app.next_tick(UnixMs(desk.now)).unwrap();
    assert!(wait <= Span(300), "{wait:?}");
    desk.wait(wait.0);
    assert_eq!(desk.told(), ["ses_p waiting-permission"]);
}
