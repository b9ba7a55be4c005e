//! An app with an evening's sessions, and keys into it: what a user would see, without a terminal.
//!
//! Time stands where the evening ends and moves only with keys; effects are answered as by servers
//! that do what they are told.

use super::picture;
use super::spec::{BASE, Scenario};
use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{
    App, AppOptions, Done, Effect, Msg, Outcome, PartRead, PartText, PromptRead, update,
};
use ocwatch::core::id::{Directory, Epoch, SessionKey};
use ocwatch::core::plan::ActionName;
use ocwatch::core::plan::reset::Tried;
use ocwatch::core::plan::survey::{BrokenPart, Roll, Survey, Surveyed};
use ocwatch::core::present::{Screen, screen};
use ocwatch::core::store::ServerSpec;
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{
    Body, Choice, EventKind, Input, ModelRef, TodoItem, TodoRead, TodoStatus, WholePrompt,
};
use ocwatch::tui::{
    Theme, detail_seen, first_line, last_scroll, page_rows, shown_columns, table_rows,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Between two keys: long enough that no guard against hasty keys holds one back.
const PAUSE: Span = Span::secs(1);
const EVENING: &str = include_str!("evening.toml");

pub struct Desk {
    pub app: App,
    now: UnixMs,
    area: Rect,
    theme: Theme,
}

impl Desk {
    pub fn new(width: u16, height: u16) -> Self {
        let evening: Scenario = toml::from_str(EVENING).unwrap();
        Self::with(evening.inputs(), width, height)
    }

    fn with(inputs: Vec<Input>, width: u16, height: u16) -> Self {
        let names = ["home", "build", "nas"];
        let specs = names.map(|name| ServerSpec {
            name: name.to_owned(),
            url: format!("http://{name}:4096"),
            read_only: None,
        });
        let options = AppOptions {
            export_shown: "/state/exports".to_owned(),
            ..AppOptions::default()
        };
        let mut desk = Self {
            app: App::new(specs.to_vec(), options),
            now: BASE,
            area: Rect::new(0, 0, width, height),
            theme: picture::color(),
        };
        for mut input in inputs {
            let at = input.at;
            offer_choices(&mut input);
            update(&mut desk.app, Msg::Feed(vec![input]), at);
        }
        desk.tell(Msg::Tick);
        desk
    }

    fn tell(&mut self, msg: Msg) {
        self.tell_at(msg, self.now);
    }

    fn tell_at(&mut self, msg: Msg, now: UnixMs) {
        self.tell_only(msg, now);
        let shown = screen(&self.app, now);
        let layout = Msg::Layout {
            rows: table_rows(self.area, &shown),
            page_rows: page_rows(self.area, &shown, &self.theme),
            last_scroll: last_scroll(self.area, &shown, &self.theme),
            columns: shown_columns(self.area, &shown, &self.theme),
            first: first_line(self.area, &shown, &self.theme),
            detail: detail_seen(self.area, &shown),
        };
        self.tell_only(layout, now);
    }

    /// Tells it, and the answers to what it asks for, without a new screen of its own.
    fn tell_only(&mut self, msg: Msg, now: UnixMs) {
        let effects = update(&mut self.app, msg, now);
        for answer in effects.into_iter().filter_map(answer) {
            self.tell_at(answer, now);
        }
    }

    /// Words are keys (`Enter`, `Ctrl-d`, `j`); what stands in `'…'` is typed.
    pub fn press(&mut self, keys: &str) {
        for word in keys.split_whitespace() {
            if let Some(typed) = word.strip_prefix('\'') {
                let typed = typed.trim_end_matches('\'').replace('_', " ");
                typed.chars().for_each(|c| self.key(Key::Char(c)));
            } else {
                self.key(named(word));
            }
        }
    }

    fn key(&mut self, key: Key) {
        self.now = self.now + PAUSE;
        self.tell(Msg::Key(key));
    }

    pub fn screen(&self) -> Screen {
        screen(&self.app, self.now)
    }

    pub fn draw(&self, theme: &Theme) -> Buffer {
        picture::draw(&self.screen(), theme, self.area.width, self.area.height)
    }
}

fn named(word: &str) -> Key {
    let mut chars = word.chars();
    match (word, chars.next(), chars.next()) {
        ("Enter", ..) => Key::Enter,
        ("Esc", ..) => Key::Esc,
        ("Tab", ..) => Key::Tab,
        ("space", ..) => Key::Char(' '),
        ("PgDn", ..) => Key::PageDown,
        (_, Some(c), None) => Key::Char(c),
        _ => match word
            .strip_prefix("Ctrl-")
            .and_then(|rest| rest.chars().next())
        {
            Some(c) => Key::Ctrl(c),
            None => panic!("no key is called {word}"),
        },
    }
}

/// The question of a scenario has no options; this evening's has.
fn offer_choices(input: &mut Input) {
    let asks = match &mut input.body {
        Body::Asks(read) => &mut read.asks[..],
        Body::Event(event) => match &mut event.kind {
            EventKind::Asked(ask) => std::slice::from_mut(&mut **ask),
            _ => return,
        },
        _ => return,
    };
    for ask in asks {
        for question in &mut ask.questions {
            let option = |label: &str, about: &str| Choice {
                label: label.to_owned(),
                description: about.to_owned(),
            };
            question.options = vec![option("8080", "as before"), option("3000", "free here")];
        }
        if !ask.patterns.is_empty() {
            ask.always = vec!["rm *".to_owned()];
        }
    }
}

/// What a server that does what it is told answers.
fn answer(effect: Effect) -> Option<Msg> {
    let done = |key: SessionKey, action: ActionName, words: &str| {
        Msg::Done(Done {
            key,
            action,
            outcome: Outcome::Done(words.to_owned()),
            tried: Tried::default(),
        })
    };
    match effect {
        Effect::Survey { key, .. } => {
            let read = Ok(survey(&key));
            Some(Msg::Surveyed { key, read })
        }
        Effect::ReadPrompt { key, .. } => Some(Msg::PromptRead(PromptRead {
            key,
            prompt: Ok(Some(WholePrompt {
                text: "translate it into French".to_owned(),
                others: Vec::new(),
                synthetic: false,
            })),
            models: Some(vec![model("provider", "model"), model("acme", "large")]),
        })),
        Effect::ReadTodo { key } => todo(&key),
        Effect::ReadPart { key, part, of, .. } => Some(Msg::PartRead(PartRead {
            key,
            part,
            of,
            read: Ok(PartText {
                text: "{\n  \"id\": \"prt_1\",\n  \"type\": \"text\",\n  \"text\": \"one\\ntwo \u{1b}[2J\"\n}".to_owned(),
                left_out: 1234,
            }),
        })),
        Effect::Export { key } => Some(done(
            key,
            ActionName::Export,
            "842 messages to /home/me/ses_tts.json",
        )),
        _ => None,
    }
}

/// What the agent of the first session means to do.
fn todo(key: &SessionKey) -> Option<Msg> {
    let item = |content: &str, status, priority: &str| TodoItem {
        content: content.to_owned(),
        status,
        priority: priority.to_owned(),
    };
    let items = vec![
        item("read the chapters", TodoStatus::Completed, "medium"),
        item(
            "build the index, and say which chapters have no title so that they can be found again",
            TodoStatus::InProgress,
            "high",
        ),
        item("write the table of contents", TodoStatus::Pending, "low"),
    ];
    let read = TodoRead {
        session: key.session.clone(),
        asked_at: BASE,
        items,
    };
    (key.session.as_str() == "ses_tts").then(|| {
        Msg::Feed(vec![Input {
            server: key.server,
            epoch: Epoch(1),
            at: BASE,
            body: Body::Todo(read),
        }])
    })
}

fn model(provider: &str, model: &str) -> ModelRef {
    ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    }
}

/// A session with one tool part that never ended.
fn survey(key: &SessionKey) -> Survey {
    let row = Surveyed {
        session: key.session.clone(),
        title: "Local machine and NAS".to_owned(),
        directory: Directory::new("/srv/nas"),
        gone: false,
        running: None,
        asks: Vec::new(),
        asks_unread: None,
        roll: Roll(vec![("msg_n2".into(), vec!["prt_n2".into()])]),
        broken: vec![BrokenPart {
            message: "msg_n2".into(),
            part: "prt_n2".into(),
            tool: "bash".into(),
            subject: "./start.sh".into(),
            pending: false,
            start: Some(BASE - Span::mins(185)),
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
