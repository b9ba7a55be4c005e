//! Projects that are not loaded are not started but as the policy says; the server's own log is the witness.

use crate::ocwatch::{Doc, status, until_seen};
use crate::server::{OpenCode, own};
use crate::support::say;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

struct Sessions {
    main: String,
    asleep: String,
    gone: String,
    linked: String,
    old: String,
}

impl Sessions {
    fn all(&self) -> [&String; 5] {
        [
            &self.main,
            &self.asleep,
            &self.gone,
            &self.linked,
            &self.old,
        ]
    }
}

#[test]
fn only_what_the_policy_allows_is_started() {
    let Some(mut server) = own(&["main", "asleep", "gone", "old"]) else {
        return;
    };
    let link = server.root.join("link");
    symlink(&server.projects[1], &link).unwrap();
    let sessions = finished(&server, &link);
    server.kill9();
    let aged = set_back(&server, &sessions.old);
    fs::remove_dir_all(&server.projects[2]).unwrap();

    let before = server.log().len();
    server.restart();
    loaded_starts_nothing(&server, &sessions, before);
    recent_starts_what_changed_today(&server, &sessions, before, aged);
}

/// A finished turn in each project, in one of them through a symbolic link as well, which the server resolves.
fn finished(server: &OpenCode, link: &Path) -> Sessions {
    let begin = |directory: &Path| {
        let id = server.session(directory, &directory.display().to_string());
        server.prompt(&id, "say:hello");
        id
    };
    let sessions = Sessions {
        main: begin(&server.projects[0]),
        asleep: begin(&server.projects[1]),
        gone: begin(&server.projects[2]),
        linked: begin(link),
        old: begin(&server.projects[3]),
    };
    for id in sessions.all() {
        until_seen(server, id, "idle", "done");
    }
    sessions
}

fn loaded_starts_nothing(server: &OpenCode, sessions: &Sessions, before: usize) {
    let (code, doc) = status(server, &["--inspect", "loaded"]);
    assert_eq!(code, Some(0), "{:#}", doc.0);
    assert_words(&doc, &sessions.main, ("idle", "done"), "ok");
    for (id, why) in [
        (&sessions.asleep, "not-asked"),
        (&sessions.linked, "not-asked"),
        (&sessions.old, "not-asked"),
        (&sessions.gone, "directory-gone"),
    ] {
        assert_words(&doc, id, ("unknown", "unread"), "unknown");
        let reason = &doc.session(id).unwrap().0["reported"]["reason"];
        assert_eq!(reason, why, "{:#}", doc.0);
    }
    let main = server.projects[0].display().to_string();
    let others: Vec<String> = server
        .started(before)
        .into_iter()
        .filter(|d| *d != main)
        .collect();
    assert!(others.is_empty(), "started: {others:?}");
}

fn recent_starts_what_changed_today(
    server: &OpenCode,
    sessions: &Sessions,
    before: usize,
    aged: bool,
) {
    let (code, doc) = status(server, &[]);
    assert_eq!(code, Some(0), "{:#}", doc.0);
    for id in [&sessions.main, &sessions.asleep, &sessions.linked] {
        assert_words(&doc, id, ("idle", "done"), "ok");
    }
    assert_words(&doc, &sessions.gone, ("unknown", "unread"), "unknown");
    let findings = doc.server()["findings"].to_string();
    assert!(findings.contains("directory-gone"), "{findings}");

    let started = server.started(before);
    let times = |directory: &Path| {
        let name = directory.display().to_string();
        started.iter().filter(|started| **started == name).count()
    };
    assert_eq!(times(&server.projects[1]), 1, "{started:?}");
    assert_eq!(times(&server.root.join("link")), 0, "{started:?}");
    assert_eq!(times(&server.projects[2]), 0, "{started:?}");
    if aged {
        assert_words(&doc, &sessions.old, ("unknown", "unread"), "unknown");
        assert_eq!(times(&server.projects[3]), 0, "{started:?}");
    }
}

fn assert_words(doc: &Doc, id: &str, words: (&str, &str), level: &str) {
    let seen = doc
        .session(id)
        .unwrap_or_else(|| panic!("{id} is missing: {:#}", doc.0));
    assert_eq!((seen.words(), seen.level()), (words, level), "{:#}", seen.0);
    assert!(seen.findings().is_empty(), "{:#}", seen.0);
}

/// Makes a session two days older in the server's database. False, after saying so, without `sqlite3`.
fn set_back(server: &OpenCode, id: &str) -> bool {
    let database = server.root.join("home/.local/share/opencode/opencode.db");
    let change = format!(
        "UPDATE session SET time_created = time_created - 172800000, \
         time_updated = time_updated - 172800000 WHERE id = '{id}'; SELECT changes();"
    );
    let done = Command::new("sqlite3").arg(&database).arg(change).output();
    let Ok(done) = done else {
        say("skipped: the 24 h window of --inspect recent, for want of sqlite3 to age a session");
        return false;
    };
    let changed = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    assert_eq!(changed, "1", "{done:?}");
    true
}
