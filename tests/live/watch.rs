//! `ocwatch watch` while real turns go by: nothing false on the way, nothing late.

use crate::events::Events;
use crate::lines::{Ended, Running};
use crate::ocwatch::watch;
use crate::relay::lagging;
use crate::server::{OpenCode, shared};
use crate::support::{PATIENCE, eventually};
use crate::turns::Gate;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// From an event to its line.
const SOON: Duration = Duration::from_secs(1);
/// Turns that are watched at once.
const QUICK: usize = 20;

/// The next line of a session that says this.
fn until(watch: &mut Running, id: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    watch.until(&format!("{id}: {what}"), |line| {
        line["id"] == id && holds(&line["to"])
    })
}

/// The next line that says (reported, activity).
fn until_seen(watch: &mut Running, id: &str, reported: &str, activity: &str) -> Value {
    let what = format!("{reported}, {activity}");
    until(watch, id, &what, |to| says(to, reported, activity))
}

fn says(to: &Value, reported: &str, activity: &str) -> bool {
    to["reported"] == reported && to["activity"] == activity
}

/// A watch that misses nothing from now on: see [`Events`] for why "live" is not enough.
fn begin(server: &OpenCode, url: &str) -> Running {
    let mut watch = watch(server, url);
    watch.until("the server is live", |line| line["to"]["state"] == "live");
    eventually("the watch tells what happens", PATIENCE, || {
        let probe = server.probe();
        let told = watch.within(SOON, |line| line["id"] == probe.as_str());
        told.map(|_| ()).ok_or_else(|| "nothing".to_owned())
    });
    watch
}

fn end(watch: Running) -> Ended {
    let ended = watch.end_by("TERM");
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(0), ""),
        "{ended:#?}"
    );
    ended
}

/// What was told of a session; there is something.
fn lines<'a>(ended: &'a Ended, id: &str) -> Vec<&'a Value> {
    let lines: Vec<&Value> = ended.seen.iter().filter(|line| line["id"] == id).collect();
    assert!(lines.len() > 1, "{ended:#?}");
    lines
}

/// At no line anything was found, and nothing is left that could be.
fn assert_calm(ended: &Ended, id: &str) {
    let lines = lines(ended, id);
    for line in &lines {
        let to = &line["to"];
        let level = to["level"].as_str().unwrap();
        assert!(matches!(level, "ok" | "unknown"), "{lines:#?}");
        assert_eq!(to["finding"], Value::Null, "{lines:#?}");
    }
    let last = &lines.last().unwrap()["to"];
    assert_eq!(
        (&last["level"], &last["settling"]),
        (&json!("ok"), &Value::Null),
        "{lines:#?}"
    );
}

#[test]
fn quick_turns_are_never_stuck_and_never_need_you() {
    let Some(server) = shared() else { return };
    let mut watch = begin(server, &server.url);
    let prompt = |n| match n % 4 {
        0 => format!("bash:echo turn {n}"),
        _ => format!("say:turn {n}"),
    };
    let ids: Vec<String> = (0..QUICK).map(|n| server.begin(&prompt(n))).collect();
    for id in &ids {
        if !watch.seen.iter().any(|line| is_done(line, id)) {
            until_seen(&mut watch, id, "idle", "done");
        }
    }
    let ended = end(watch);
    for id in &ids {
        assert_calm(&ended, id);
    }
}

fn is_done(line: &Value, id: &str) -> bool {
    line["id"] == id && says(&line["to"], "idle", "done")
}

/// The report lags behind the last message: seen as such, and only as what settles.
#[test]
fn a_report_that_stays_busy_after_the_turn_is_no_alarm() {
    let Some(server) = shared() else { return };
    let mut watch = begin(server, &lagging(server, Duration::from_secs(2)));
    let mut ids: Vec<String> = Vec::new();
    // A poll of the status may cut a lag short.
    while !ids.iter().any(|id| tail_of(&watch.seen, id) >= Some(1500)) {
        assert!(ids.len() < 10, "the trap is there: {ids:?}");
        let id = server.begin("say:done before it is said");
        until_seen(&mut watch, &id, "idle", "done");
        ids.push(id);
    }
    let ended = end(watch);
    for id in &ids {
        assert_calm(&ended, id);
    }
}

/// How many ms a session was told as busy with its turn done, if it was.
fn tail_of(seen: &[Value], id: &str) -> Option<i64> {
    let mut lines = seen.iter().filter(|line| line["id"] == id);
    let tail = lines.find(|line| says(&line["to"], "busy", "done"))?;
    assert_eq!(tail["to"]["settling"], "stale-busy", "{tail:#}");
    let idle = lines.find(|line| says(&line["to"], "idle", "done"))?;
    Some(idle["at"].as_i64()? - tail["at"].as_i64()?)
}

/// An abort says idle before it has ended the message.
#[test]
fn an_abort_is_never_taken_for_an_interruption() {
    let Some(server) = shared() else { return };
    let mut watch = begin(server, &server.url);
    let gate = Gate::new(server, "watched");
    let running = server.begin(&format!("bash:{}", gate.command));
    until_seen(&mut watch, &running, "busy", "running-tool");
    server.abort(&running);
    until_seen(&mut watch, &running, "idle", "aborted");

    let streaming = server.begin("slow:60");
    until_seen(&mut watch, &streaming, "busy", "streaming");
    server.abort(&streaming);
    until_seen(&mut watch, &streaming, "idle", "aborted");

    let ended = end(watch);
    assert_calm(&ended, &running);
    assert_calm(&ended, &streaming);
}

#[test]
fn a_permission_is_told_and_taken_back_at_once() {
    let Some(server) = shared() else { return };
    let mut watch = begin(server, &server.url);
    let events = Events::listen(server);
    let id = server.begin("tool:read {\"filePath\":\"/etc/hostname\"}");
    let (asked, _) = events.of(&id, "permission.asked");
    let waiting = until(&mut watch, &id, "it asks", |to| to["level"] == "needs-you");
    assert_soon(asked, &waiting);
    assert_eq!(
        waiting["to"]["finding"], "waiting-permission",
        "{waiting:#}"
    );
    assert_eq!(waiting["to"]["activity"], "asking", "{waiting:#}");
    let text = waiting["text"].as_str().unwrap();
    assert!(text.contains("external_directory"), "{waiting:#}");

    let answer = json!({"reply": "once"});
    server.reply("permission", &server.projects[0], &id, &answer);
    let (replied, _) = events.of(&id, "permission.replied");
    let cleared = until(&mut watch, &id, "it goes on", |to| to["level"] == "ok");
    assert_soon(replied, &cleared);
    assert_eq!(cleared["to"]["finding"], Value::Null, "{cleared:#}");
    until_seen(&mut watch, &id, "idle", "done");
    let ended = end(watch);
    let asks = |line: &&Value| line["to"]["level"] == "needs-you";
    assert_eq!(lines(&ended, &id).into_iter().filter(asks).count(), 1);
}

/// The line is here now; the event came then.
fn assert_soon(event: Instant, line: &Value) {
    let late = event.elapsed();
    assert!(late <= SOON, "{late:?} after its event: {line:#}");
}

/// The server takes such a prompt (204), stores it, and says once that it has no such model.
#[test]
fn an_unknown_model_is_told_with_the_words_of_its_error() {
    let Some(server) = shared() else { return };
    let mut watch = begin(server, &server.url);
    let events = Events::listen(server);
    let id = server.session(&server.projects[0], "unknown model, watched");
    server.prompt_with_model(&id, "say:hello", "nobody");
    assert_told(&mut watch, &events, &id, "unanswered-prompt");
    end(watch);
}

/// The server takes such a prompt (204), stores nothing, and says once that it has no such agent.
#[test]
fn an_unknown_agent_is_told_with_the_words_of_its_error() {
    let Some(server) = shared() else { return };
    let mut watch = begin(server, &server.url);
    let events = Events::listen(server);
    let id = server.session(&server.projects[0], "unknown agent, watched");
    server.prompt_with_agent(&id, "say:hello", "nobody");
    assert_told(&mut watch, &events, &id, "never-started");
    let messages = server.get(&format!("/session/{id}/message"));
    assert_eq!(messages, json!([]), "nothing was stored");
    end(watch);
}

/// Stuck, with what the first error said.
fn assert_told(watch: &mut Running, events: &Events, id: &str, finding: &str) {
    let (_, error) = events.of(id, "session.error");
    let error = &error["properties"]["error"]["data"]["message"];
    let words = error.as_str().expect("a message");
    assert!(words.contains("not found"), "{error}");
    let stuck = until(watch, id, "it is stuck", |to| to["level"] == "stuck");
    assert_eq!(stuck["to"]["finding"], finding, "{stuck:#}");
    assert!(stuck["text"].as_str().unwrap().contains(words), "{stuck:#}");
}
