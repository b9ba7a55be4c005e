//! `ocwatch resend` against simulated servers: sent once, read back, refused in words.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, and watch the real time"
)]

mod http;
mod program;

use http::http;
use ocwatch::shell::clock::system_clock;
use ocwatch::sim::seed::Scenario;
use ocwatch::sim::{Config, Fault, Sim};
use program::{Home, Ran};
use serde_json::Value;
use std::collections::BTreeMap;

/// A simulated server with a session in every state that counts here.
struct World {
    sim: Sim,
    ids: BTreeMap<String, String>,
    home: Home,
}

const SESSIONS: &str = r#"
[[session]]
key = "waits"
title = "Waits for an answer that never came"
directory = "$ROOT"
agent = "plan"
[[session.turn]]
age = "9m"
prompt = "say:first"
step = [{ do = { text = { text = "first" } } }]
[[session.turn]]
age = "3m"
prompt = "Compare these:\n\n  1. one\n  2. say:two"
end = "unanswered"

[[session]]
key = "nobody"
title = "Has a model that does not exist"
directory = "$ROOT"
model = "scripted/nobody"
[[session.turn]]
age = "3m"
prompt = "say:hello"
end = "unanswered"

[[session]]
key = "two"
title = "Two prompts stand"
directory = "$ROOT"
[[session.turn]]
age = "4m"
prompt = "say:a"
end = "unanswered"
[[session.turn]]
age = "3m"
prompt = "say:b"
end = "unanswered"

[[session]]
key = "orphan"
title = "Cut off"
directory = "$ROOT"
[[session.turn]]
age = "3h"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "./start.sh", hold = true } } }]

[[session]]
key = "fresh"
title = "May run elsewhere"
directory = "$ROOT"
[[session.turn]]
age = "10s"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "./start.sh", hold = true } } }]

[[session]]
key = "hung"
title = "Runs"
directory = "$ROOT"
then = []
[[session.turn]]
age = "12m"
prompt = "go"
end = "open"
step = [{ open = true, shown = ["one"], do = { bash = { command = "make all", hold = true } } }]

[[session]]
key = "done"
title = "Done"
directory = "$ROOT"
[[session.turn]]
age = "1h"
prompt = "go"
step = [{ do = { text = { text = "done" } } }]

[[session]]
key = "e500"
title = "Failed"
directory = "$ROOT"
[[session.turn]]
age = "5m"
prompt = "say:again"
end = { error = { message = "overloaded", status = 500 } }
step = [{ do = { text = { text = "half" } } }]

[[session]]
key = "e400"
title = "Refused"
directory = "$ROOT"
[[session.turn]]
age = "5m"
prompt = "say:bad"
end = { error = { message = "too long", status = 400 } }

[[session]]
key = "e401"
title = "No login"
directory = "$ROOT"
[[session.turn]]
age = "5m"
prompt = "say:hello"
end = { error = { message = "bad key", status = 401 } }
"#;

impl World {
    fn new() -> Self {
        let home = Home::new();
        let root = home.path().canonicalize().expect("a path");
        let root = root.display().to_string();
        let sim = Sim::start(Config {
            cwd: root.clone(),
            ..Config::new(system_clock())
        })
        .expect("a simulated server");
        let sessions = SESSIONS.replace("$ROOT", &root);
        let text = format!("name = \"home\"\nversion = \"1.18.33\"\ncwd = \"{root}\"\n{sessions}");
        let scenario = Scenario::parse(&text).expect("a scenario");
        let ids = sim.load(&scenario).into_iter().collect();
        sim.forget_model("scripted", "nobody");
        Self { sim, ids, home }
    }

    fn resend(&self, key: &str, more: &[&str]) -> Ran {
        let url = self.sim.url();
        let mut args = vec!["resend", &*self.ids[key], "--server", url.as_str()];
        args.extend(more);
        self.home.run(&args)
    }

    /// Sends it, for real.
    fn yes(&self, key: &str, more: &[&str]) -> Ran {
        self.resend(key, &[&["--yes"], more].concat())
    }

    /// How many prompts the server was sent.
    fn posts(&self) -> usize {
        let all = self.sim.requests();
        let posts = all.iter().filter(|it| it.path.ends_with("/prompt_async"));
        posts.count()
    }

    /// Agent, model and text of each prompt of a session.
    fn prompts(&self, key: &str) -> Vec<[String; 3]> {
        let url = self.sim.url();
        let args = ["export", &self.ids[key], "-o", "-", "--server", &url];
        let whole = self.home.run(&args).json();
        let all = whole["messages"].as_array().expect("messages");
        let users = all.iter().filter(|it| it["info"]["role"] == "user");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let each = users.map(|it| {
            let info = &it["info"];
            let model = text(&info["model"]["modelID"]);
            [text(&info["agent"]), model, text(&it["parts"][0]["text"])]
        });
        each.collect()
    }
}

#[track_caller]
fn assert_refused(ran: &Ran, why: &str) {
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.err.contains("not sent: "), "{ran:#?}");
    assert!(ran.err.contains(why), "{why}: {ran:#?}");
    assert_eq!(ran.out, "", "{ran:#?}");
}

#[test]
fn an_unanswered_prompt_is_sent_again_whole_to_the_same_agent() {
    let world = World::new();
    let ran = world.yes("waits", &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        ran.out.contains(": resend: done: stored as msg_"),
        "{ran:#?}"
    );
    for shown in [
        "Resend \"Waits for an answer that never came\"\n",
        "to the agent plan, with its own model scripted/scripted",
        "  > Compare these:\n  > \n  >   1. one\n  >   2. say:two\n",
    ] {
        assert!(ran.err.contains(shown), "{shown}: {ran:#?}");
    }
    let prompts = world.prompts("waits");
    assert_eq!(prompts.len(), 3);
    assert_eq!(prompts[2], prompts[1]);
    assert_eq!(prompts[2][0], "plan", "not to the server's default agent");
    assert_eq!(world.posts(), 1);

    let again = world.yes("waits", &[]);
    assert_eq!(again.code, Some(1), "{again:#?}");
    let busy = again.err.contains("it is reported busy");
    let done = again.err.contains("the last answer is finished");
    assert!(busy || done, "{again:#?}");
    assert_eq!(world.posts(), 1, "a second resend sends nothing");
}

#[test]
fn what_was_cut_off_is_told_to_go_on() {
    let world = World::new();
    for (key, shown) in [
        ("orphan", "bash was interrupted"),
        ("two", "2 prompts stand unanswered"),
    ] {
        let ran = world.yes(key, &[]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.err.contains("tell it to go on"), "{ran:#?}");
        assert!(ran.err.contains(shown), "{ran:#?}");
        let last = world.prompts(key).pop().expect("a prompt");
        assert_eq!(last[2], "Continue.");
    }
    let ran = world.yes("e500", &["--text", "Go on"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let last = world.prompts("e500").pop().expect("a prompt");
    assert_eq!(last[2], "Go on");
}

#[test]
fn a_failed_turn_is_begun_anew() {
    let world = World::new();
    let ran = world.yes("e500", &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let last = world.prompts("e500").pop().expect("a prompt");
    assert_eq!(last[2], "say:again");
}

#[test]
fn after_a_model_that_does_not_exist_one_must_be_named() {
    let world = World::new();
    let ran = world.yes("nobody", &[]);
    assert_refused(&ran, "does not know its model scripted/nobody");
    assert!(ran.err.contains("--model PROVIDER/MODEL"), "{ran:#?}");
    assert!(ran.err.contains("it has scripted/scripted"), "{ran:#?}");
    let ran = world.yes("nobody", &["--model", "scripted/none"]);
    assert_refused(&ran, "the server has no model scripted/none");
    assert_eq!(world.posts(), 0);
    let ran = world.yes("nobody", &["--model", "scripted/scripted"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let last = world.prompts("nobody").pop().expect("a prompt");
    assert_eq!(last, ["build", "scripted", "say:hello"]);
}

/// Where the server does not tell its models the prompt is lost again, and that is told.
#[test]
fn a_prompt_that_is_stored_and_not_begun_has_no_effect() {
    let world = World::new();
    world.sim.fault("/config/providers", Fault::Html);
    let ran = world.yes("nobody", &[]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.err.contains("resend: no effect: stored as msg_"),
        "{ran:#?}"
    );
    assert!(
        ran.err.contains("Model not found: scripted/nobody"),
        "{ran:#?}"
    );
    assert_eq!(ran.out, "");
    assert_eq!(world.posts(), 1);
}

#[test]
fn what_runs_or_may_run_or_is_finished_is_left_alone() {
    let world = World::new();
    assert_refused(&world.yes("hung", &[]), "it is reported busy");
    assert_refused(&world.yes("hung", &["--text", "x"]), "it is reported busy");
    assert_refused(&world.yes("fresh", &[]), "not certain yet");
    assert_refused(&world.yes("done", &[]), "the last answer is finished");
    assert_refused(&world.yes("done", &["--text", " \n"]), "an empty text");
    assert_eq!(world.posts(), 0);
    let ran = world.yes("done", &["--text", "say:more"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn what_the_provider_refused_is_not_asked_again() {
    let world = World::new();
    let ran = world.yes("e400", &[]);
    assert_refused(&ran, "the provider refused this request (400)");
    assert!(ran.err.contains("--text TEXT"), "{ran:#?}");
    assert_refused(&world.yes("e401", &[]), "refused the login");
    assert_refused(&world.yes("e401", &["--text", "x"]), "refused the login");
    let same = world.yes("e401", &["--model", "scripted/scripted"]);
    assert_refused(&same, "refused the login");
    assert_eq!(world.posts(), 0);
    let ran = world.yes("e400", &["--text", "say:shorter"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn a_dry_run_shows_it_and_sends_nothing() {
    let world = World::new();
    let ran = world.resend("waits", &["--dry-run"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.out.contains("  >   2. say:two\n"), "{ran:#?}");
    assert_eq!(ran.err, "");
    assert_eq!(world.posts(), 0);
}

#[test]
fn wrong_usage_an_unknown_session_and_a_lost_server_have_codes_of_their_own() {
    let world = World::new();
    let unasked = world.resend("waits", &[]);
    assert_eq!(unasked.code, Some(2), "{unasked:#?}");
    assert!(unasked.err.contains("needs --yes"), "{unasked:#?}");
    let model = world.yes("waits", &["--model", "scripted"]);
    assert_eq!(model.code, Some(2), "{model:#?}");
    let url = world.sim.url();
    let run = |args: &[&str]| {
        world
            .home
            .run(&[&["resend", "--yes", "--server"], args].concat())
    };
    let unknown = run(&[&url, "ses_nothing"]);
    assert_eq!(unknown.code, Some(4), "{unknown:#?}");
    let lost = run(&["127.0.0.1:1", "ses_nothing"]);
    assert_eq!(lost.code, Some(3), "{lost:#?}");
    assert_eq!(world.posts(), 0);
}

/// Nobody can know from a lost answer whether it arrived: only reading tells.
#[test]
fn a_lost_answer_is_looked_for_and_never_sent_again() {
    let world = World::new();
    let path = |key: &str| format!("/session/{}/prompt_async", world.ids[key]);
    world.sim.fault(&path("waits"), Fault::Lost);
    world.sim.fault(&path("e500"), Fault::Stall);
    let (arrived, lost) = std::thread::scope(|scope| {
        let arrived = scope.spawn(|| world.yes("waits", &[]));
        let lost = scope.spawn(|| world.yes("e500", &[]));
        (
            arrived.join().expect("it ends"),
            lost.join().expect("it ends"),
        )
    });
    assert_eq!(arrived.code, Some(0), "{arrived:#?}");
    assert!(
        arrived.out.contains("the answer was lost, but it arrived"),
        "{arrived:#?}"
    );
    assert_eq!(lost.code, Some(1), "{lost:#?}");
    assert!(lost.err.contains("it did not arrive"), "{lost:#?}");
    assert_eq!(world.posts(), 2, "one for each");
    assert_eq!(world.prompts("waits").len(), 3);
    assert_eq!(world.prompts("e500").len(), 1);
}

#[test]
fn what_the_server_refuses_is_not_looked_for() {
    let world = World::new();
    let path = format!("/session/{}/prompt_async", world.ids["waits"]);
    world.sim.fault(&path, Fault::Status(404));
    let ran = world.yes("waits", &[]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.err.contains("it was not sent: answered 404"),
        "{ran:#?}"
    );
    assert_eq!(world.posts(), 1);
}

#[test]
fn a_prompt_with_more_than_text_is_not_sent_without_it() {
    let world = World::new();
    let message = message_of(&world, "waits");
    let path = format!("/session/{}/message/{message}", world.ids["waits"]);
    let body = |part: &str| {
        Fault::Json(format!(
            r#"{{"info": {{"role": "user"}}, "parts": [{{"type": "text", "text": "say:look"{part}]}}"#
        ))
    };
    let file =
        r#"}, {"type": "file", "mime": "image/png", "filename": "plan.png", "url": "data:"}"#;
    world.sim.fault(&path, body(file));
    assert_refused(
        &world.yes("waits", &[]),
        "more than text, which cannot be sent again: file plan.png",
    );
    world.sim.fault(&path, body(r#", "synthetic": true}"#));
    assert_refused(&world.yes("waits", &[]), "made by the server");
    assert_eq!(world.posts(), 0);
    world.sim.clear_faults();
    world.sim.fault(&path, Fault::Status(500));
    let unread = world.yes("waits", &[]);
    assert_eq!(unread.code, Some(1), "{unread:#?}");
    assert!(
        unread
            .err
            .contains("failed to read its prompt: answered 500"),
        "{unread:#?}"
    );
    let ran = world.yes("waits", &["--text", "say:look"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

/// The id of a session's newest prompt, as a dry run tells it.
fn message_of(world: &World, key: &str) -> String {
    let shown = world.resend(key, &["--dry-run"]).out;
    let from = shown.find("msg_").expect("an id");
    let id = shown[from..].split(')').next();
    id.expect("its end").to_owned()
}

#[test]
fn what_a_pending_revert_loses_is_said_before() {
    let world = World::new();
    let message = message_of(&world, "waits");
    let url = format!("{}/session/{}/revert", world.sim.url(), world.ids["waits"]);
    let body = format!(r#"{{"messageID": "{message}"}}"#);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let sent = runtime.block_on(http().build().unwrap().post(url).body(body).send());
    assert!(sent.expect("an answer").status().is_success());
    let ran = world.yes("waits", &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        ran.err.contains("deletes the hidden messages for good"),
        "{ran:#?}"
    );
    let prompts = world.prompts("waits");
    assert_eq!(
        prompts.len(),
        2,
        "the hidden one is gone, the same is there anew"
    );
}
