//! A hand on the dashboard's keys, without a terminal: real links, real effects, and what the screen
//! would show.

use ocwatch::core::app::keymap::Key;
use ocwatch::core::app::{App, AppOptions, DialogState, Msg, Outcome, update};
use ocwatch::core::id::{ServerId, SessionKey};
use ocwatch::core::present::{Screen, screen};
use ocwatch::core::store::ServerSpec;
use ocwatch::core::time::Clock;
use ocwatch::feed::live::{self, LiveFeed};
use ocwatch::net::client::{Address, Client, Waits};
use ocwatch::net::link::LinkSpec;
use ocwatch::shell::audit::{Asked, Audit, standings};
use ocwatch::shell::clock::system_clock;
use ocwatch::shell::effects::{Attaching, Effects};
use ocwatch::shell::memory::Keeper;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// Long enough for a busy machine; a test that works never waits for it.
const LONGEST: Duration = Duration::from_secs(60);

/// A dashboard without a screen.
pub struct Hand {
    /// The session that the hand is on.
    pub id: String,
    /// The model.
    pub app: App,
    feed: LiveFeed,
    effects: Effects,
    answers: mpsc::Receiver<Msg>,
    asked: mpsc::Receiver<Asked>,
    waiting: Vec<Asked>,
    clock: Clock,
    /// What is recorded and exported goes with it.
    _dir: TempDir,
}

impl Hand {
    /// Watches a server until it knows this session, and has it selected.
    pub async fn watch(url: &str, id: &str) -> Self {
        let clock = system_clock();
        let address = Address::parse(url).expect("its address");
        let client = Client::new(address, None, Waits::default(), clock.clone());
        let client = client.expect("a client");
        let spec = LinkSpec::new(ServerId(0), client.clone());
        let feed = live::start(vec![spec], &clock);
        let (to_loop, answers) = mpsc::channel(64);
        let (standings, asked) = standings();
        let dir = tempfile::tempdir().expect("a folder");
        let effects = Effects {
            attaching: Attaching::default(),
            clients: vec![client].into(),
            commands: feed.commands.clone(),
            export_dir: dir.path().to_owned(),
            save_dir: dir.path().join("saved"),
            audit: Audit::open(Some(dir.path().to_owned()), false, clock.clone()),
            standings,
            keeper: Keeper::forgetful(),
            ways: ocwatch::shell::notify::Ways::default(),
            clock: clock.clone(),
            answers: to_loop,
        };
        let spec = ServerSpec {
            name: "home".to_owned(),
            url: url.to_owned(),
            read_only: None,
        };
        let app = App::new(vec![spec], AppOptions::default());
        let mut hand = Self {
            id: id.to_owned(),
            app,
            feed,
            effects,
            answers,
            asked,
            waiting: Vec::new(),
            clock,
            _dir: dir,
        };
        hand.until("its messages", |hand| {
            let key = hand.key();
            let read = hand.app.store.session(&key);
            let known = hand.app.verdict(&key);
            read.is_some_and(|it| it.tail.is_read())
                && known.is_some_and(|it| it.reported.is_known())
        })
        .await;
        hand.app.ui.selected = Some(hand.key());
        hand.app.ui.moved = true;
        hand
    }

    pub fn key(&self) -> SessionKey {
        SessionKey::new(ServerId(0), self.id.as_str().into())
    }

    fn tell(&mut self, msg: Msg) {
        let now = (self.clock)();
        for effect in update(&mut self.app, msg, now) {
            self.effects.run(&self.app, effect);
        }
    }

    pub fn press(&mut self, key: Key) {
        self.tell(Msg::Key(key));
    }

    pub fn type_in(&mut self, text: &str) {
        text.chars().for_each(|c| self.press(Key::Char(c)));
    }

    /// Takes what comes until it is so.
    pub async fn until(&mut self, what: &str, wanted: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !wanted(self) {
            let seen = || format!("not in time: {what}\n{:#?}", self.screen().dialog);
            assert!(begun.elapsed() < LONGEST, "{}", seen());
            let msg = tokio::select! {
                Some(input) = self.feed.inputs.recv() => Msg::Feed(vec![input]),
                Some(answer) = self.answers.recv() => answer,
                () = tokio::time::sleep(Duration::from_millis(50)) => Msg::Tick,
            };
            self.tell(msg);
            self.waiting.extend(self.asked.try_recv());
            let waiting = self.waiting.drain(..);
            self.waiting = waiting.filter_map(|it| it.try_answer(&self.app)).collect();
        }
    }

    pub fn screen(&self) -> Screen {
        screen(&self.app, (self.clock)())
    }

    /// The dialog's lines and foot.
    pub fn dialog(&self) -> String {
        let dialog = self.screen().dialog;
        dialog.map_or_else(String::new, |it| {
            format!("{}\n{}\n{}", it.title, it.lines.join("\n"), it.foot)
        })
    }

    /// `s`, until its text stands there.
    pub async fn open_resend(&mut self) {
        self.press(Key::Char('s'));
        self.until("the dialog", |hand| {
            matches!(&hand.app.ui.dialog, Some(DialogState::Resend(form)) if form.read_at.is_some())
        })
        .await;
    }

    /// Enter, again and again as an impatient hand does, until it is sent.
    pub async fn send(&mut self) {
        let begun = Instant::now();
        while self.app.ui.dialog.is_some() {
            assert!(begun.elapsed() < LONGEST, "not sent: {}", self.dialog());
            self.press(Key::Enter);
            self.press(Key::Enter);
            let pause = self.until("never", |_| false);
            timeout(Duration::from_millis(60), pause).await.ok();
        }
    }

    pub async fn outcome(&mut self) -> Outcome {
        let key = self.key();
        self.until("its end", |hand| hand.app.results.contains_key(&hand.key()))
            .await;
        self.app.results[&key].outcome.clone()
    }
}
