//! `s` in the dashboard, with a hand on the keys and a simulated server: shown first, sent once.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod hand;
mod http;

use hand::Hand;
use http::http;
use ocwatch::core::app::Outcome;
use ocwatch::core::app::keymap::Key;
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::script::{FailStep, Step};
use ocwatch::sim::seed::{End, SessionSeed, StepSeed, TurnSeed};
use ocwatch::sim::{Config, Fault, Sim};
use std::ops::{Deref, DerefMut};

const MINUTE: u64 = 60_000;

/// A simulated server with one session, and the hand on it.
struct Desk {
    sim: Sim,
    hand: Hand,
}

impl Deref for Desk {
    type Target = Hand;
    fn deref(&self) -> &Hand {
        &self.hand
    }
}

impl DerefMut for Desk {
    fn deref_mut(&mut self) -> &mut Hand {
        &mut self.hand
    }
}

impl Desk {
    async fn with(session: SessionSeed) -> Self {
        let sim = Sim::start(Config::new(system_clock())).expect("a simulated server");
        let id = sim.add_session(&session);
        sim.forget_model("scripted", "nobody");
        let hand = Hand::watch(&sim.url(), &id).await;
        Self { sim, hand }
    }

    fn posts(&self) -> usize {
        let all = self.sim.requests();
        let posts = all.iter().filter(|it| it.path.ends_with("/prompt_async"));
        posts.count()
    }
}

fn unanswered(text: &str) -> SessionSeed {
    let turn = TurnSeed::new(3 * MINUTE, text, Vec::new(), End::Unanswered);
    SessionSeed::new("waits", "/srv/dev").turn(turn)
}

#[track_caller]
fn done(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Done(text) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn keys_pressed_twice_send_once() {
    let mut hand = Desk::with(unanswered("say:one\nand more")).await;
    let hints = hand.screen().footer;
    assert!(hints.iter().any(|hint| hint.key == "s"), "{hints:#?}");
    hand.press(Key::Char('s'));
    hand.open_resend().await;
    let shown = hand.dialog();
    assert!(shown.contains("> say:one\n> and more"), "{shown}");
    assert!(shown.contains("to the agent build"), "{shown}");
    hand.press(Key::Enter);
    assert_eq!(hand.posts(), 0, "nobody has read it yet");
    hand.send().await;
    hand.press(Key::Char('s'));
    assert!(hand.app.ui.dialog.is_none(), "one action at a time");
    let outcome = hand.outcome().await;
    assert!(done(&outcome).starts_with("stored as msg_"), "{outcome:?}");
    assert_eq!(hand.posts(), 1);
    let row = hand.screen().rows.remove(0).result.expect("a result");
    assert!(row.text.starts_with("resend done: stored as"), "{row:?}");
}

#[tokio::test]
async fn a_post_without_an_answer_is_not_repeated() {
    let mut hand = Desk::with(unanswered("say:one")).await;
    let path = format!("/session/{}/prompt_async", hand.id);
    hand.sim.fault(&path, Fault::Lost);
    hand.open_resend().await;
    hand.send().await;
    for _ in 0..3 {
        hand.press(Key::Char('s'));
        hand.press(Key::Enter);
    }
    let outcome = hand.outcome().await;
    assert!(
        done(&outcome).contains("lost, but it arrived"),
        "{outcome:?}"
    );
    assert_eq!(hand.posts(), 1);
}

#[tokio::test]
async fn an_edited_text_is_sent_as_edited() {
    let bash = StepSeed::open(Step::bash("sleep 25"));
    let turn = TurnSeed::new(180 * MINUTE, "go", vec![bash], End::Open);
    let mut hand = Desk::with(SessionSeed::new("cut off", "/srv/dev").turn(turn)).await;
    hand.open_resend().await;
    assert!(
        hand.dialog().contains("text: Continue."),
        "{}",
        hand.dialog()
    );
    hand.press(Key::Tab);
    hand.press(Key::Ctrl('u'));
    assert!(
        hand.dialog().contains("not sent: an empty text"),
        "{}",
        hand.dialog()
    );
    hand.type_in("say:quit and y");
    assert!(
        hand.dialog().contains("text: [say:quit and y_]"),
        "{}",
        hand.dialog()
    );
    hand.send().await;
    let outcome = hand.outcome().await;
    done(&outcome);
    let key = hand.key();
    hand.until("the prompt", |hand| {
        let session = hand.app.store.session(&key);
        let last = session.and_then(|it| it.tail.last_user().cloned());
        format!("{last:?}").contains("say:quit and y")
    })
    .await;
}

#[tokio::test]
async fn after_an_unknown_model_the_one_that_answered_before_is_suggested() {
    let hello = StepSeed::done(Step::say("hello"), 1000);
    let good = TurnSeed::new(9 * MINUTE, "say:hello", vec![hello], End::Stop);
    let mut hand = Desk::with(SessionSeed::new("model", "/srv/dev").turn(good)).await;
    let path = format!("{}/session/{}/prompt_async", hand.sim.url(), hand.id);
    let body = r#"{"parts": [{"type": "text", "text": "say:more"}],
        "model": {"providerID": "scripted", "modelID": "nobody"}}"#;
    let request = http().build().unwrap().post(path).body(body);
    request.send().await.expect("it is taken");
    let key = hand.key();
    hand.until("its error", |hand| {
        let session = hand.app.store.session(&key);
        session.is_some_and(|it| it.watch.error.is_some() && it.tail.messages.len() == 3)
    })
    .await;
    hand.open_resend().await;
    let shown = hand.dialog();
    assert!(shown.contains("model: scripted/scripted"), "{shown}");
    assert!(
        shown.contains("with the model scripted/scripted"),
        "{shown}"
    );
    assert!(shown.contains("text: say:more"), "{shown}");
    hand.press(Key::Tab);
    hand.press(Key::Tab);
    hand.press(Key::Ctrl('u'));
    let shown = hand.dialog();
    assert!(
        shown.contains("does not know its model scripted/nobody"),
        "{shown}"
    );
    assert!(!shown.contains("Enter send"), "{shown}");
    hand.type_in("scripted/scripted");
    hand.send().await;
    done(&hand.outcome().await);
    assert_eq!(hand.posts(), 2, "the test's and the one of the dialog");
}

#[tokio::test]
async fn what_must_not_be_sent_is_said_and_sends_nothing() {
    let refused = FailStep {
        message: "too long".to_owned(),
        status: Some(400),
    };
    let turn = TurnSeed::new(5 * MINUTE, "say:bad", Vec::new(), End::Error(refused));
    let mut hand = Desk::with(SessionSeed::new("refused", "/srv/dev").turn(turn)).await;
    hand.open_resend().await;
    let shown = hand.dialog();
    assert!(
        shown.contains("not sent: the provider refused this request (400)"),
        "{shown}"
    );
    hand.press(Key::Enter);
    assert!(hand.app.ui.dialog.is_some(), "it stays and says why");
    hand.press(Key::Esc);
    assert!(hand.app.ui.dialog.is_none());

    hand.sim.prompt(&hand.id, "hang");
    let key = hand.key();
    hand.until("it runs", |hand| {
        hand.app
            .verdict(&key)
            .is_some_and(|it| it.reported.is_running())
    })
    .await;
    hand.press(Key::Char('s'));
    assert!(hand.app.ui.dialog.is_none());
    let notice = hand.app.ui.notice.clone().unwrap_or_default();
    assert!(notice.contains("reported busy"), "{notice}");
    assert_eq!(hand.posts(), 0);
}

/// The text on the screen is that of another prompt by then.
#[tokio::test]
async fn what_changed_under_the_dialog_is_not_answered_with_an_old_text() {
    let mut hand = Desk::with(unanswered("say:one")).await;
    hand.open_resend().await;
    hand.sim.prompt(&hand.id, "say:two");
    hand.until("it has changed", |hand| {
        let shown = hand.dialog();
        !shown.contains("busy") && shown.contains("not sent: ")
    })
    .await;
    hand.press(Key::Enter);
    assert!(hand.app.ui.dialog.is_some());
    assert_eq!(hand.posts(), 0);
}

#[tokio::test]
async fn a_run_that_begins_under_the_dialog_is_heard() {
    let mut hand = Desk::with(unanswered("say:one")).await;
    hand.open_resend().await;
    hand.sim.prompt(&hand.id, "hang");
    hand.until("it runs", |hand| {
        hand.dialog().contains("not sent: it is reported busy")
    })
    .await;
    hand.press(Key::Enter);
    assert!(hand.app.ui.dialog.is_some());
    assert_eq!(hand.posts(), 0);
}
