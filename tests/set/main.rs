//! The honest set: some 480 sessions in 14 directories, judged by the documents alone, asked for in one
//! run of `ocwatch status --json`, time and again: as it is, with the server's clock an hour off, with a
//! password, with `/permission` failing everywhere, and without the list of the `/api` preview.
//!
//! Fails with a table, finding by finding (right, missed, false), and every difference.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_sign_loss,
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::disallowed_methods,
    reason = "tests may fail loudly, watch the real time, and tell long stories"
)]

mod expect;
#[path = "../program/mod.rs"]
mod program;
mod rows;
mod server;
mod stories;
mod story;

use expect::Table;
use program::Home;
use serde_json::Value;
use server::{Serving, Variant, World};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What one look may take, and what it may wait for rules that cannot say yet.
const READING: Duration = Duration::from_secs(3);
const SETTLING: Duration = Duration::from_secs(3);
/// How often a run that took longer is tried again.
const RUNS: usize = 4;

/// One run at a time: each is watched by the clock.
static TURN: Mutex<()> = Mutex::new(());

fn clock() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn serve(variant: Variant, home: &Home) -> Serving {
    let mut world = World::new(stories::CWD, variant, clock);
    let root = home.path().join("projects");
    std::fs::create_dir_all(&root).expect("a directory");
    world.places = stories::places(&root.canonicalize().expect("it exists"));
    world.stories = stories::all(clock() + world.variant.skew);
    let (id, place) = stories::ZOMBIE;
    world.zombies.push((id.to_owned(), place.to_owned()));
    world.serve()
}

/// Runs the program and compares every row. The quickest of a few runs counts: ages grow while a busy
/// machine lets the program wait, and then a session near a threshold is on its other side.
fn run(variant: &Variant) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut shown = String::new();
    for _ in 0..RUNS {
        let (table, took) = look(variant);
        shown = format!("{}  (the run took {took:?})", table.shown(variant.name));
        if table.differences.is_empty() {
            println!("{shown}");
            return;
        }
        if took <= READING + SETTLING {
            break;
        }
    }
    panic!("{shown}");
}

/// One run, against a server of its own.
fn look(variant: &Variant) -> (Table, Duration) {
    let home = Home::new();
    let serving = serve(variant.clone(), &home);
    let world = &serving.world;
    let credentials = world
        .variant
        .password
        .map_or_else(String::new, |p| format!("opencode:{p}@"));
    let url = format!("http://{credentials}127.0.0.1:{}", serving.port);
    let begun = Instant::now();
    let ran = home.run(&["status", "--json", "--inspect", "recent", &url]);
    let took = begun.elapsed();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if let Some(password) = world.variant.password {
        assert!(!ran.out.contains(password) && !ran.err.contains(password));
    }
    let document = ran.json();
    let mut table = Table::default();
    compare(world, &document, &mut table);
    server(world, &document["servers"][0], &mut table);
    if took > READING + SETTLING {
        table.fault(format!("the run took {took:?}"));
    }
    for asked in world.witnessed() {
        table.fault(format!("the server was asked: {asked}"));
    }
    let document = format!("{}/set-{}.json", env!("CARGO_TARGET_TMPDIR"), variant.name);
    std::fs::write(document, &ran.out).expect("the document is left to be looked into");
    (table, took)
}

fn compare(world: &World, document: &Value, table: &mut Table) {
    let rows = document["sessions"].as_array().expect("sessions");
    let mut by_id: BTreeMap<&str, &Value> = BTreeMap::new();
    for row in rows {
        let id = row["id"].as_str().expect("an id");
        if by_id.insert(id, row).is_some() {
            table.fault(format!("{id} is listed twice"));
        }
    }
    for story in &world.stories {
        let row = by_id.remove(story.id.as_str());
        let title = format!("{}: {}", story.place, story.title.escape_debug());
        let title: String = title.chars().take(110).collect();
        let left_out = story.expected.verdicts.is_empty();
        let Some(row) = row else {
            if !left_out {
                table.fault(format!("{} {title:?} is missing", story.id));
            }
            continue;
        };
        if left_out {
            table.fault(format!("{} {title:?} is archived, and shown", story.id));
            continue;
        }
        let asleep = world.places[&story.place].forbidden;
        let reported = match &story.status {
            _ if asleep => "unknown",
            Some(status) => status["type"].as_str().expect("a type"),
            None => "idle",
        };
        let blind = story.without_permissions.as_ref();
        let expected = match blind.filter(|_| world.variant.no_permissions) {
            Some(blind) => blind,
            None => &story.expected,
        };
        table.session(&title, reported, expected, row);
        for fault in rows::faults(world, story, row) {
            table.fault(format!("{} {title:?}: {fault}", story.id));
        }
    }
    by_id.remove(stories::ZOMBIE.0);
    for (id, row) in by_id {
        table.fault(format!("{id} does not exist: {row}"));
    }
}

/// The server's own findings: some directories cannot list permissions in any run.
fn server(world: &World, row: &Value, table: &mut Table) {
    let mut wanted = vec!["degraded", "directory-gone", "zombie-run"];
    if world.variant.skew != 0 {
        wanted.push("clock-skew");
    }
    table.server(&wanted, &[], row);
    if row["version"] != "1.18.33" || row["dialect"] != "v1" {
        table.fault(format!(
            "version {}, dialect {}",
            row["version"], row["dialect"]
        ));
    }
}

#[test]
fn as_it_is() {
    run(&Variant {
        name: "as-it-is",
        ..Variant::default()
    });
}

#[test]
fn with_the_clock_an_hour_ahead() {
    run(&Variant {
        name: "clock-ahead",
        skew: 3_600_000,
        ..Variant::default()
    });
}

#[test]
fn with_the_clock_an_hour_behind() {
    run(&Variant {
        name: "clock-behind",
        skew: -3_600_000,
        ..Variant::default()
    });
}

/// As behind a proxy that lets `/api` not through: the other list leaves the archived out, so those that
/// are busy or ask must be found by their status and their asks.
#[test]
fn without_the_preview() {
    run(&Variant {
        name: "no-preview",
        no_preview: true,
        ..Variant::default()
    });
}

#[test]
fn with_a_password() {
    run(&Variant {
        name: "password",
        password: Some("correct-horse"),
        ..Variant::default()
    });
}

#[test]
fn without_permissions() {
    run(&Variant {
        name: "no-permissions",
        no_permissions: true,
        ..Variant::default()
    });
}

/// A server that says no more of messages than is needed: the URL says whose they are.
#[test]
fn with_messages_that_do_not_say_whose_they_are() {
    run(&Variant {
        name: "bare",
        bare: true,
        ..Variant::default()
    });
}

/// The set must hold what it claims to hold.
#[test]
fn the_set_is_what_it_says() {
    let stories = stories::all(clock());
    assert!(stories.len() >= 180, "{} sessions", stories.len());
    let mut ids: Vec<&String> = stories.iter().map(|s| &s.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), stories.len(), "an id was told twice");
    let mut rows: Vec<_> = stories.iter().filter(|s| s.archived.is_none()).collect();
    rows.sort_by_key(|s| -s.updated);
    let far = rows
        .iter()
        .skip(100)
        .filter(|s| s.expected.verdicts[0].level == "needs-you");
    assert!(far.count() >= 3, "past the first page somebody must wait");
}
