//! `ocwatch wait` over many real turns: never early, never for ever, and at once.
//!
//! The measure is the server's own stream, heard by the test itself: a turn has ended when its last
//! answer is completed and its status is idle. A wait that begins when its turn is over already, or
//! nearly, has until [`LATEST`]: it cannot know at once that no other prompt is on its way.

use crate::events::{Events, Heard};
use crate::lines::{Ended, Running};
use crate::ocwatch::wait_command;
use crate::server::{OpenCode, own};
use crate::support::{PATIENCE, block_on, eventually, say, variable};
use ::ocwatch::shell::clock::system_clock;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::sleep;

/// Turns, unless `OCWATCH_WAIT_TURNS` says how many.
const TURNS: usize = 40;
/// Turns at once.
const LANES: usize = 3;
/// From the end of a turn that was followed to its line.
const SOON: Duration = Duration::from_millis(250);
/// A wait that began later before the end than this was not following yet; milliseconds.
const FOLLOWS: i64 = 1500;
/// From the beginning of a wait whose turn was over to its line, on a busy machine.
const LATEST: Duration = Duration::from_secs(8);

/// One turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    SlowText,
    Tool,
    SlowTool,
    /// A second prompt is sent while the first is answered.
    Queued,
    AbortedTool,
    AbortedText,
    UnknownModel,
    Failing,
}

impl Kind {
    fn of(number: usize) -> Self {
        match number % 10 {
            0 => Kind::Text,
            1 | 7 => Kind::SlowText,
            2 => Kind::Tool,
            3 => Kind::AbortedTool,
            5 => Kind::Queued,
            6 => Kind::AbortedText,
            8 => Kind::UnknownModel,
            _ => Kind::SlowTool,
        }
    }

    fn prompt(self) -> &'static str {
        match self {
            Kind::Text | Kind::UnknownModel => "say:a word",
            Kind::SlowText | Kind::Queued => "slow:2",
            Kind::Tool => "bash:echo a line",
            Kind::SlowTool => "bash:sleep 2",
            Kind::AbortedTool => "bash:sleep 60",
            Kind::AbortedText => "slow:60",
            Kind::Failing => "err:400",
        }
    }

    fn outcome(self) -> &'static str {
        match self {
            Kind::AbortedTool | Kind::AbortedText => "aborted",
            Kind::UnknownModel | Kind::Failing => "failed",
            _ => "done",
        }
    }
}

/// What was measured of a turn.
#[derive(Debug)]
struct Measured {
    kind: Kind,
    /// The wait was following when the turn ended.
    followed: bool,
    late: Duration,
}

/// By the clock of this machine, which is the server's too; milliseconds.
fn now() -> i64 {
    system_clock()().0
}

fn pause(ms: u64) {
    block_on(async { sleep(Duration::from_millis(ms)).await });
}

/// A session, and how many prompts were sent to it.
struct Subject {
    id: String,
    prompts: usize,
}

/// Sends a prompt, waits for its turn, and compares the line with what the stream said.
fn turn(
    server: &OpenCode,
    heard: &Heard,
    subject: &mut Subject,
    kind: Kind,
    number: usize,
) -> Measured {
    let session = &*subject.id;
    let sent = now();
    match kind {
        Kind::UnknownModel => server.prompt_with_model(session, kind.prompt(), "nobody"),
        _ => server.prompt(session, kind.prompt()),
    }
    pause([0, 40, 150, 400][number % 4]);
    let what = format!("{session}: {kind:?}, turn {number}");
    let began = now();
    let mut command = wait_command(server, session);
    // On the way it needs a person: after so many attempts.
    let waits = command.args((kind == Kind::Failing).then_some("--for=idle"));
    let mut waits = Running::start(waits);
    subject.prompts += 1;
    match kind {
        Kind::Queued => {
            pause(800);
            server.prompt(session, "say:queued");
            subject.prompts += 1;
        }
        Kind::AbortedTool | Kind::AbortedText => {
            // Sooner it may have nothing to stop.
            eventually(&format!("{what}: it answers"), PATIENCE, || {
                let begun = heard.answers_since(session, sent);
                begun
                    .then_some(())
                    .ok_or_else(|| heard.story(session, sent))
            });
            pause(1500);
            server.abort(session);
        }
        _ => {}
    }
    let line = waits.until(&what, |line| line["id"] == session);
    let told = now();
    assert_ended(&waits.end(), &line, kind, &what);
    let ended = eventually(&format!("{what}: the turn ends"), PATIENCE, || {
        let end = heard.end_of(session, sent, subject.prompts, kind == Kind::UnknownModel);
        end.ok_or_else(|| format!("it goes on although this was told: {line:#}"))
    });
    assert!(
        told >= ended,
        "{what}: {} ms early: {line:#}\n{}",
        ended - told,
        heard.story(session, sent)
    );
    let followed = began + FOLLOWS <= ended;
    let from = if followed { ended } else { began.max(ended) };
    let late = Duration::from_millis((told - from).unsigned_abs());
    // Its error may be heard by nobody; then only time tells.
    let by_time = line["finding"] == "unanswered-prompt";
    let most = if by_time { PATIENCE } else { LATEST };
    assert!(
        late <= most,
        "{what}: {late:?} late: {line:#}\n{}",
        heard.story(session, sent)
    );
    Measured {
        kind,
        followed: followed && !by_time,
        late,
    }
}

fn assert_ended(ended: &Ended, line: &Value, kind: Kind, what: &str) {
    assert_eq!(line["schema"], "ocwatch.wait/1", "{what}: {line:#}");
    let refused = kind == Kind::UnknownModel && line["finding"] == "unanswered-prompt";
    let outcome = if refused { "stuck" } else { kind.outcome() };
    assert_eq!(line["outcome"], outcome, "{what}: {line:#}");
    let code = i32::from(kind.outcome() != "done" && kind != Kind::Failing);
    assert_eq!(ended.code, Some(code), "{what}: {ended:#?}");
}

fn new_session(server: &OpenCode, title: &str) -> Subject {
    Subject {
        id: server.session(&server.projects[0], title),
        prompts: 0,
    }
}

/// One session after the other, several turns in each: an earlier one must never be taken for the
/// one that was asked for.
fn lane(server: &OpenCode, heard: &Heard, next: &AtomicUsize, turns: usize) -> Vec<Measured> {
    let mut measured = Vec::new();
    let mut subject = new_session(server, "waits");
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= turns {
            return measured;
        }
        // A session keeps a bad model.
        let spoilt = measured
            .last()
            .is_some_and(|it: &Measured| it.kind == Kind::UnknownModel);
        if spoilt || measured.len() % 7 == 6 {
            subject = new_session(server, "waits");
        }
        let kind = Kind::of(number);
        measured.push(turn(server, heard, &mut subject, kind, number));
    }
}

#[test]
fn a_wait_ends_with_its_turn_and_never_before() {
    let Some(server) = own(&["main"]) else { return };
    let turns = variable("OCWATCH_WAIT_TURNS");
    let turns = turns.map_or(TURNS, |n| n.parse().expect("a number of turns"));
    let server: &OpenCode = &server;
    let heard = Arc::new(Events::listen(server).kept());
    let next = AtomicUsize::new(0);
    let mut measured = std::thread::scope(|scope| {
        let failing = scope.spawn(|| {
            let mut subject = new_session(server, "fails");
            turn(server, &heard, &mut subject, Kind::Failing, 0)
        });
        let lanes: Vec<_> = (0..LANES)
            .map(|_| scope.spawn(|| lane(server, &heard, &next, turns)))
            .collect();
        let lanes = lanes.into_iter().flat_map(|it| it.join().expect("a lane"));
        let mut all: Vec<Measured> = lanes.collect();
        all.push(failing.join().expect("the failing turn"));
        all
    });
    measured.sort_by_key(|it| it.late);
    report(&measured);
    let followed: Vec<&Measured> = measured.iter().filter(|it| it.followed).collect();
    assert!(followed.len() * 3 > turns, "a third was followed");
    // Alone on its machine it is held to nearly all, among other tests to most.
    let percent = if variable("OCWATCH_WAIT_TURNS").is_some() {
        99
    } else {
        70
    };
    let nearly = followed[followed.len() * percent / 100];
    let (kind, late) = (nearly.kind, nearly.late);
    assert!(late <= SOON, "{percent} of a hundred: {kind:?}, {late:?}");
}

/// The distribution, for whoever reads the log.
fn report(measured: &[Measured]) {
    for followed in [true, false] {
        let of = measured.iter().filter(|it| it.followed == followed);
        let lates: Vec<u128> = of.map(|it| it.late.as_millis()).collect();
        let Some(last) = lates.last() else { continue };
        let at = |percent: usize| lates[(lates.len() * percent / 100).min(lates.len() - 1)];
        let which = if followed {
            "followed"
        } else {
            "over, or nearly, when the wait began"
        };
        say(&format!(
            "wait: {} turns {which}: median {} ms, p90 {} ms, p99 {} ms, max {last} ms",
            lates.len(),
            at(50),
            at(90),
            at(99),
        ));
    }
    for it in measured.iter().rev().take(5) {
        let (kind, late) = (it.kind, it.late);
        say(&format!("wait: slowest: {kind:?}, {late:?}"));
    }
}

#[test]
fn an_ask_ends_a_wait_and_is_waited_through_for_idle() {
    let Some(server) = own(&["main"]) else { return };
    let id = server.begin("question");
    let mut waits = Running::start(&mut wait_command(&server, &id));
    let line = waits.until("it asks", |line| line["id"] == id.as_str());
    assert_eq!(line["outcome"], "needs-you", "{line:#}");
    assert_eq!(waits.end().code, Some(1));

    let mut wanted = Running::start(wait_command(&server, &id).args(["--for", "needs-you"]));
    let line = wanted.until("it asks", |line| line["id"] == id.as_str());
    assert_eq!(
        (&line["outcome"], &line["reached"]),
        (&"needs-you".into(), &true.into())
    );
    assert_eq!(wanted.end().code, Some(0));

    let idle = Running::start(wait_command(&server, &id).args(["--for", "idle"]));
    server.abort(&id);
    let ended = idle.end();
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert_eq!(ended.seen[0]["outcome"], "aborted", "{ended:#?}");
}
