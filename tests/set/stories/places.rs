//! The directories of the set, and the sessions that are there because of their directory: asleep ones,
//! gone ones, and those of a directory that is only just awake.

use crate::server::Place;
use crate::story::{D, H, M, Story, Teller};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// The server's own directory.
pub const CWD: &str = "alpha";
/// Its sessions changed minutes ago, the folder exists no more.
pub const GONE: &str = "gone";
/// Busy in `bravo`, and deleted.
pub const ZOMBIE: (&str, &str) = ("ses_0123456789abZombieSession1", "bravo");

/// The name of each directory, and its folder.
#[rustfmt::skip]
const FOLDERS: [(&str, &str); 14] = [
    (CWD, "alpha"),
    ("bravo", "bravo"),
    ("charlie", "ch\u{e4}r lie+1 & 50%41=x"),
    ("delta", "delta"),
    ("echo", "echo"),
    ("sub", "echo/packages/sub"),
    ("foxtrot", "foxtrot"),
    ("fetch", "fetch"),
    ("pair", "pair"),
    ("locked", "locked"),
    ("edge", "edge"),
    ("asleep-1", "asleep-1"),
    ("asleep-2", "asleep-2"),
    (GONE, "gone"),
];

/// Makes the directories (not the gone one) under `home`.
pub fn places(home: &Path) -> BTreeMap<String, Place> {
    let mut places = BTreeMap::new();
    for (n, (name, folder)) in FOLDERS.iter().enumerate() {
        let name = *name;
        let path = home.join(folder);
        if name != GONE {
            std::fs::create_dir_all(&path).expect("a directory");
        }
        let path = path.display().to_string();
        let project = match name {
            // Without git: everything of that kind is one project, and nobody asks `/`.
            "delta" => ("global".to_owned(), "/".to_owned()),
            "sub" => (
                format!("{:040x}", 4),
                home.join("echo").display().to_string(),
            ),
            _ => (format!("{n:040x}"), path.clone()),
        };
        let place = Place {
            path,
            project,
            forbidden: matches!(name, "asleep-1" | "asleep-2" | GONE),
            unreadable: match name {
                "fetch" => Some("timeout"),
                "pair" | "locked" => Some("path"),
                _ => None,
            },
        };
        places.insert(name.to_owned(), place);
    }
    places
}

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("asleep-1", "asleep since 26 h", 26 * H),
        ("asleep-1", "asleep since 3 d", 3 * D),
        ("asleep-1", "asleep since 20 d", 20 * D),
        ("asleep-2", "asleep since 30 h", 30 * H),
        ("asleep-2", "asleep since 6 d", 6 * D),
        (GONE, "its folder is gone, done 10 min ago", 10 * M),
        (GONE, "its folder is gone, done 9 d ago", 9 * D),
    ];
    for (place, title, ago) in cases {
        all.push(not_asked(t.done(place, title, ago)));
    }
    #[rustfmt::skip]
    let cases = [
        ("asleep-1", "asleep, left open 30 h ago", 30 * H),
        ("asleep-2", "asleep, left open 4 d ago", 4 * D),
        (GONE, "its folder is gone, left open 2 h ago", 2 * H),
    ];
    for (place, title, ago) in cases {
        let left = t
            .idle(place, title)
            .prompt(ago + 9, "Go.")
            .step(ago + 4)
            .writing(ago);
        all.push(not_asked(left));
    }
    let up = t.done("asleep-2", "asleep, with a child that is asleep", 2 * D);
    let mut child = up.child(t, "asleep, a child", false);
    child = child.prompt(2 * D + 15, "Find it.").step(2 * D + 12).runs(
        2 * D + 9,
        "edit",
        json!({"filePath": "/a"}),
    );
    all.extend([not_asked(up), not_asked(child)]);
    // The only session of the last 24 h there keeps the directory awake, and with it older ones.
    all.push(
        t.busy(
            "edge",
            "asks since 23 h, the only one of its directory in 24 h",
        )
        .prompt(23 * H, "Set it up.")
        .step(23 * H - 5)
        .question(23 * H - 20, "Which?")
        .asked(23 * H - 20, "Which?")
        .is("needs-you", "asking", &["waiting-question"]),
    );
    all.push(
        t.busy("edge", "asks since 40 h, beside it")
            .prompt(40 * H, "Set it up.")
            .step(40 * H - 5)
            .question(40 * H - 20, "Which?")
            .asked(40 * H - 20, "Which?")
            .is("needs-you", "asking", &["waiting-question"]),
    );
    all.push(
        t.done("edge", "done 5 d ago, beside them", 5 * D)
            .ok("done"),
    );
    // A folder of a project is an instance of its own.
    all.push(
        t.done("sub", "done in a folder of a project", 3 * H)
            .ok("done"),
    );
    all.push(
        t.busy("sub", "hung in a folder of a project")
            .prompt(20 * M, "Go.")
            .step(20 * M - 5)
            .bash(19 * M, "make", 0, "cc\n")
            .is("stuck", "running-tool", &["hung-tool"]),
    );
    all.push(
        t.done("pair", "done where permissions cannot be read", H)
            .ok("done"),
    );
    all.push(
        t.done("locked", "done where permissions cannot be read, too", H)
            .ok("done"),
    );
    all
}

fn not_asked(story: Story) -> Story {
    story.is("unknown", "unread", &[])
}
