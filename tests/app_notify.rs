//! Notices: what links say in, who is told out.
use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::notify::{Channel, Notice, NotifyRules, Quiet};
use ocwatch::core::app::{App, AppOptions, Effect, Msg, update};
use ocwatch::core::id::{Epoch, ServerId};
use ocwatch::core::judge::Level;
use ocwatch::core::store::ServerSpec;
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Input, LinkReport,
    LostCause, SessionInfo, SessionList, Status, StatusRead, TailRead, Tokens,
};
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

const HOME: &str = "/srv/a";
/// Noon, UTC.
const NOON: i64 = 1_796_040_000_000;

struct Desk {
    app: App,
    now: i64,
    epoch: u64,
    told: Vec<Notice>,
}

impl Desk {
    /// A live server where a parent and its child run, for ten seconds now.
    fn new(rules: NotifyRules) -> Self {
        let spec = ServerSpec {
            name: "home".into(),
            url: "http://h".into(),
            read_only: None,
        };
        let options = AppOptions {
            notify: rules,
            ..AppOptions::default()
        };
        let mut desk = Self {
            app: App::new(vec![spec], options),
            now: NOON,
            epoch: 1,
            told: Vec::new(),
        };
        desk.connect(&[]);
        desk.wait(10);
        desk
    }

    fn msg(&mut self, msg: Msg) {
        for effect in update(&mut self.app, msg, UnixMs(self.now)) {
            if let Effect::Notify(notice) = effect {
                self.told.push(notice);
            }
        }
    }

    fn feed(&mut self, bodies: Vec<Body>) {
        let (now, epoch) = (UnixMs(self.now), Epoch(self.epoch));
        let input = |body| Input {
            server: ServerId(0),
            epoch,
            at: now,
            body,
        };
        self.msg(Msg::Feed(bodies.into_iter().map(input).collect()));
    }

    /// Everything as its link tells it; these ask something.
    fn connect(&mut self, asking: &[&str]) {
        let at = UnixMs(self.now);
        let (parent, child) = (row("ses_p", None), row("ses_c", Some("ses_p")));
        let mut bodies = vec![
            Body::Link(LinkReport::Connecting { attempt: 1 }),
            Body::Link(LinkReport::Identified {
                dialect: Dialect::V1,
                version: Some("1.18.33".into()),
                skew: None,
                unsecured: false,
            }),
            Body::Sessions(SessionList {
                rows: vec![parent, child],
                asked_at: at,
                complete: true,
            }),
            Body::Directory(DirectoryReport {
                directory: HOME.into(),
                state: DirectoryState::Loaded,
            }),
            Body::Status(StatusRead {
                directory: HOME.into(),
                asked_at: at,
                entries: ["ses_p", "ses_c"]
                    .map(|id| (id.into(), Status::Busy))
                    .into_iter()
                    .collect::<BTreeMap<_, _>>(),
            }),
        ];
        bodies.extend(["ses_p", "ses_c"].map(|id| {
            Body::Tail(TailRead {
                session: id.into(),
                asked_at: at,
                messages: Vec::new(),
                whole: true,
                missing: 0,
            })
        }));
        bodies.extend(asks(asking, at));
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
        let at = UnixMs(self.now);
        self.feed(asks(asking, at));
    }

    fn wait(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.now += 1000;
            self.msg(Msg::Tick);
        }
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
        self.told.iter().map(one).collect()
    }
}

fn asks(asking: &[&str], at: UnixMs) -> Vec<Body> {
    let ask = |id: &&str| Ask {
        id: format!("per_{id}_{}", at.0).into(),
        session: (*id).into(),
        kind: AskKind::Permission,
        tool: None,
        permission: Some("bash".into()),
        patterns: vec!["rm -r build".into()],
        always: Vec::new(),
        questions: Vec::new(),
    };
    let list = |kind, asks| {
        Body::Asks(AsksRead {
            kind,
            directory: HOME.into(),
            asked_at: at,
            asks,
        })
    };
    vec![
        list(AskKind::Permission, asking.iter().map(ask).collect()),
        list(AskKind::Question, Vec::new()),
    ]
}

fn row(id: &str, parent: Option<&str>) -> SessionInfo {
    let at = UnixMs(NOON - 60_000);
    SessionInfo {
        id: id.into(),
        title: format!("title of {id}"),
        directory: HOME.into(),
        parent: parent.map(Into::into),
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

#[test]
fn an_ask_is_told_once_and_of_its_ancestors_nothing() {
    let mut desk = Desk::new(NotifyRules::default());
    desk.ask(&["ses_c"]);
    assert_eq!(desk.told(), [""; 0], "what comes with it is waited for");
    desk.wait(3);
    assert_eq!(desk.told(), ["ses_c waiting-permission"]);
    let told = desk.told[0].sessions[0].clone();
    assert_eq!(
        (told.level, told.title.as_str()),
        (Level::NeedsYou, "title of ses_c")
    );
    assert_eq!(told.from.0, Level::Ok);
    assert!(told.text.contains("rm -r build"), "{}", told.text);
    let both = [Channel::Bell, Channel::Osc, Channel::Command];
    assert_eq!(told.channels.into_iter().collect::<Vec<_>>(), both);
    desk.wait(300);
    assert_eq!(desk.told().len(), 1);
}

#[test]
fn what_is_asked_at_the_start_is_not_told() {
    let mut desk = Desk::new(NotifyRules::default());
    desk.app = App::new(vec![ServerSpec::default()], AppOptions::default());
    desk.connect(&["ses_p", "ses_c"]);
    desk.wait(60);
    assert_eq!(desk.told(), [""; 0]);
}

#[test]
fn after_a_lost_connection_only_what_is_new_is_told_and_together() {
    let mut desk = Desk::new(NotifyRules::default());
    desk.ask(&["ses_c"]);
    desk.wait(3);
    desk.lose();
    desk.wait(120);
    desk.epoch = 2;
    desk.connect(&["ses_p"]);
    desk.wait(120);
    assert_eq!(
        desk.told(),
        ["ses_c waiting-permission", "ses_p waiting-permission"]
    );
}

#[test]
fn what_somebody_looks_at_is_not_told() {
    let look = |focus: Option<bool>, key: Key| {
        let mut desk = Desk::new(NotifyRules::default());
        if let Some(focus) = focus {
            desk.msg(Msg::Focus(focus));
        }
        desk.msg(Msg::Key(key));
        desk.wait(5);
        let selected = desk.app.ui.selected.clone().unwrap();
        desk.ask(&[selected.session.as_str()]);
        desk.wait(5);
        desk.told().len()
    };
    assert_eq!(look(Some(true), Key::Char('g')), 0);
    assert_eq!(look(Some(false), Key::Char('g')), 1);
    assert_eq!(
        look(None, Key::Char('g')),
        1,
        "who knows whether it is looked at"
    );
    // A terminal that has the focus, and nobody in front of it.
    let mut desk = Desk::new(NotifyRules::default());
    desk.msg(Msg::Focus(true));
    desk.msg(Msg::Key(Key::Char('g')));
    desk.wait(90);
    let selected = desk.app.ui.selected.clone().unwrap();
    desk.ask(&[selected.session.as_str()]);
    desk.wait(5);
    assert_eq!(desk.told().len(), 1);
}

#[test]
fn quiet_hours_keep_it_until_their_end() {
    let mut desk = Desk::new(NotifyRules {
        quiet: vec![Quiet::parse("12:00-12:05").unwrap()],
        ..NotifyRules::default()
    });
    desk.ask(&["ses_p"]);
    desk.wait(60);
    desk.ask(&["ses_p", "ses_c"]);
    desk.wait(60);
    // The first is another ask by now, so both stand.
    assert_eq!(desk.told(), [""; 0]);
    let next = desk.app.notices.next().unwrap();
    assert_eq!(
        next,
        UnixMs(NOON + 300_000),
        "it is not asked again and again before"
    );
    desk.wait(180);
    assert_eq!(
        desk.told(),
        ["ses_c waiting-permission, ses_p waiting-permission"]
    );
    assert_eq!(desk.told[0].at, next);
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
        desk.wait(5);
        assert_eq!(desk.told(), [""; 0]);
    }
    let mut bell = NotifyRules::default();
    bell.findings
        .insert("waiting-permission".into(), [Channel::Bell].into());
    let mut desk = Desk::new(bell);
    desk.ask(&["ses_p"]);
    desk.wait(5);
    let channels = desk.told[0].sessions[0].channels.clone();
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
    desk.now += wait.0;
    desk.msg(Msg::Tick);
    assert_eq!(desk.told(), ["ses_p waiting-permission"]);
}
