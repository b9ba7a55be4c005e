//! Idle sessions that were left in the middle: interrupted runs and unanswered prompts, by age.

use crate::stories::api_error;
use crate::story::{D, H, M, Story, Teller};
use serde_json::{Value, json};

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = interrupted(t);
    all.extend(interrupted_tools(t));
    all.extend(not_interrupted(t));
    all.extend(unanswered(t));
    all.extend(not_unanswered(t));
    all
}

/// An open message whose run nobody saw: one look cannot tell a crash from a TUI on the same data, so it
/// is `watch` until the part's own limit has passed; at rest it falls to `watch` after 24 h.
fn interrupted(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "left while writing, 8 min ago", 8 * M, "watch"),
        ("bravo", "left while writing, 25 min ago", 25 * M, "watch"),
        ("foxtrot", "left while writing, 29 min ago", 29 * M, "watch"),
        ("foxtrot", "left while writing, 31 min ago", 31 * M, "stuck"),
        ("foxtrot", "left while writing, 23 h 50 min ago", 24 * H - 10 * M, "stuck"),
        ("foxtrot", "left while writing, 24 h 10 min ago", 24 * H + 10 * M, "watch"),
        ("foxtrot", "left while writing, 6 d 23 h ago", 7 * D - H, "watch"),
        ("foxtrot", "left while writing, 130 s ago", 130, "watch"),
        ("charlie", "left while writing, 40 min ago", 40 * M, "stuck"),
        ("delta", "left while writing, 23 h ago", 23 * H, "stuck"),
        ("echo", "left while writing, 25 h ago", 25 * H, "watch"),
        ("alpha", "left while writing, 6 d ago", 6 * D, "watch"),
    ];
    for (place, title, ago, level) in cases {
        all.push(
            t.idle(place, title)
                .prompt(ago + 9, "Explain it.")
                .step(ago + 5)
                .writing(ago)
                .is(level, "streaming", &["interrupted"]),
        );
    }
    // Older than 7 d: not read at all.
    all.push(
        t.idle("bravo", "left while writing, 8 d ago")
            .prompt(8 * D + 9, "Explain it.")
            .step(8 * D + 5)
            .writing(8 * D)
            .ok("unread"),
    );
    #[rustfmt::skip]
    let cases = [
        ("charlie", "left while thinking, 12 min ago", 12 * M, "watch"),
        ("delta", "left while thinking, 2 h ago", 2 * H, "stuck"),
    ];
    for (place, title, ago, level) in cases {
        all.push(
            t.idle(place, title)
                .prompt(ago + 9, "Prove it.")
                .step(ago + 5)
                .thinking(ago)
                .is(level, "streaming", &["interrupted"]),
        );
    }
    #[rustfmt::skip]
    let cases = [
        ("echo", "left before the first part, 15 min ago", 15 * M, "watch"),
        ("alpha", "left before the first part, 5 h ago", 5 * H, "stuck"),
    ];
    for (place, title, ago, level) in cases {
        all.push(
            t.idle(place, title)
                .prompt(ago + 9, "Begin.")
                .blank(ago)
                .is(level, "starting", &["interrupted"]),
        );
    }
    #[rustfmt::skip]
    let cases = [
        ("bravo", "left while writing arguments, 20 min ago", 20 * M, "watch"),
        ("charlie", "left while writing arguments, 35 min ago", 35 * M, "stuck"),
    ];
    for (place, title, ago, level) in cases {
        all.push(
            t.idle(place, title)
                .prompt(ago + 9, "Write it.")
                .step(ago + 2)
                .arguments(ago, "write")
                .is(level, "writing-arguments", &["interrupted"]),
        );
    }
    all
}

/// Each tool has its own limit.
fn interrupted_tools(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    let left = |t: &mut Teller, place: &str, title: &str, ago: i64| {
        t.idle(place, title).prompt(ago + 9, "Do it.").step(ago + 4)
    };
    #[rustfmt::skip]
    let cases = [
        ("alpha", "left in a bash of 10 min, 5 min ago", 5 * M, 600_000, "watch"),
        ("bravo", "left in a bash of 2 min, 4 min ago", 4 * M, 0, "stuck"),
        ("charlie", "left in a bash of 10 min, 12 min ago", 12 * M, 600_000, "stuck"),
        ("foxtrot", "left in a bash of 10 min, 615 s ago", 615, 600_000, "watch"),
        ("foxtrot", "left in a bash of 10 min, 640 s ago", 640, 600_000, "stuck"),
        ("delta", "left in a bash of 2 min, 22 h ago", 22 * H, 0, "stuck"),
        ("echo", "left in a bash of 2 min, 3 d ago", 3 * D, 0, "watch"),
    ];
    for (place, title, ago, timeout, level) in cases {
        all.push(
            left(t, place, title, ago)
                .bash(ago, "make", timeout, "cc\n")
                .is(level, "running-tool", &["interrupted"]),
        );
    }
    #[rustfmt::skip]
    let cases = [
        ("alpha", "github_search_issues", 4 * M, "watch"),
        ("bravo", "github_search_issues", 7 * M, "stuck"),
        ("foxtrot", "github_search_issues", 288, "watch"),
        ("foxtrot", "github_search_issues", 305, "stuck"),
        ("foxtrot", "edit", 588, "watch"),
        ("foxtrot", "edit", 606, "stuck"),
        ("charlie", "edit", 8 * M, "watch"),
        ("delta", "webfetch", 12 * M, "stuck"),
        ("echo", "deploypreview", 8 * M, "watch"),
        ("echo", "apply_patch", 7 * M, "watch"),
    ];
    for (place, tool, ago, level) in cases {
        let title = format!("left in {tool}, {ago} s ago");
        all.push(
            left(t, place, &title, ago)
                .runs(ago, tool, json!({"query": "x"}))
                .is(level, "running-tool", &["interrupted"]),
        );
    }
    // It waited for a person: without a sign of a restart `watch`, whatever its age.
    #[rustfmt::skip]
    let cases = [
        ("alpha", "left in a question, 40 min ago", 40 * M),
        ("bravo", "left in a question, 20 h ago", 20 * H),
    ];
    for (place, title, ago) in cases {
        all.push(left(t, place, title, ago).question(ago, "Which?").is(
            "watch",
            "running-tool|asking",
            &["interrupted"],
        ));
    }
    #[rustfmt::skip]
    let cases = [
        ("charlie", "left in a bash that had not begun, 3 h ago", 3 * H),
        ("delta", "left in a bash that had not begun, 15 h ago", 15 * H),
    ];
    for (place, title, ago) in cases {
        all.push(
            left(t, place, title, ago)
                .bash_not_begun(ago, "rm -rf target", 0)
                .is("watch", "running-tool|asking", &["interrupted"]),
        );
    }
    all.push(
        left(
            t,
            "echo",
            "left when all its parts had ended, 2 h ago",
            2 * H,
        )
        .ran((2 * H, 2 * H - 2), "read", &json!({"filePath": "/a"}), "a")
        .is("stuck", "between-steps", &["interrupted"]),
    );
    all
}

/// An open message that is no crash, or not yet.
fn not_interrupted(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "idle with a message opened 2 s ago: a start, or a TUI", 2),
        ("bravo", "idle with a message opened 50 s ago: it may run elsewhere", 50),
        ("delta", "idle with a message opened 95 s ago: it may run elsewhere", 95),
    ];
    for (place, title, ago) in cases {
        all.push(
            t.idle(place, title)
                .prompt(ago + 2, "Begin.")
                .step(ago)
                .writing(ago)
                .settles("interrupted")
                .is("ok", "streaming", &[]),
        );
    }
    let fork = t
        .idle("charlie", "Port the parser (fork #1)")
        .prompt(2 * H, "Port it.")
        .step(2 * H - 5)
        .bash(2 * H - 9, "make", 0, "cc\n")
        // The running part was copied from its origin 30 min ago.
        .dated(30 * M, 30 * M)
        .ok("running-tool|unread|done|ended-early|aborted");
    let repaired = t
        .idle("delta", "its stuck part was set to an error: a reset")
        .prompt(3 * H, "Test it.")
        .step(3 * H - 5)
        .broke(
            (3 * H - 9, H),
            "bash",
            &json!({"command": "make"}),
            "Interrupted",
        )
        .ok("ended-early");
    let repaired_edit = t
        .idle("alpha", "its two stuck parts were set to errors: a reset")
        .prompt(3 * D, "Test it.")
        .step(3 * D - 5)
        .broke(
            (3 * D - 9, H),
            "edit",
            &json!({"filePath": "/a"}),
            "Interrupted",
        )
        .broke(
            (3 * D - 9, H),
            "read",
            &json!({"filePath": "/b"}),
            "Interrupted",
        )
        .ok("ended-early");
    all.extend([fork, repaired, repaired_edit]);
    all
}

/// Nobody answered.
fn unanswered(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "a prompt of 45 s ago without an answer", 45),
        ("foxtrot", "a prompt of 22 s ago without an answer", 22),
        ("bravo", "a prompt of 30 min ago without an answer", 30 * M),
        ("charlie", "a prompt of 25 h ago without an answer", 25 * H),
        ("delta", "a prompt of 6 d ago without an answer", 6 * D),
    ];
    for (place, title, ago) in cases {
        all.push(t.idle(place, title).prompt(ago, "Write a parser.").is(
            "watch",
            "unanswered",
            &["unanswered-prompt"],
        ));
    }
    all.push(
        t.idle(
            "echo",
            "a second prompt of 5 min ago without an answer, the first was answered",
        )
        .prompt(20 * M, "Hello.")
        .step(20 * M - 4)
        .text(20 * M - 5, 19 * M, "Hello!")
        .ends(19 * M, "stop")
        .prompt(5 * M, "Now the parser.")
        .is("watch", "unanswered", &["unanswered-prompt"]),
    );
    all
}

/// The same shape, but nothing is wrong.
fn not_unanswered(t: &mut Teller) -> Vec<Story> {
    let young = t
        .idle("alpha", "a prompt of 3 s ago without an answer yet")
        .prompt(3, "Write a parser.")
        .settles("unanswered-prompt")
        .is("ok", "unanswered", &[]);
    let younger = t
        .idle("foxtrot", "a prompt of 12 s ago without an answer yet")
        .prompt(12, "Write a parser.")
        .settles("unanswered-prompt")
        .is("ok", "unanswered", &[]);
    let old = t
        .idle("bravo", "a prompt of 8 d ago without an answer")
        .prompt(8 * D, "Write a parser.")
        .ok("unread");
    let fork = t
        .idle("delta", "Write a parser (fork #2)")
        .prompt(5 * H, "Hello.")
        .step(5 * H - 4)
        .text(5 * H - 5, 5 * H - 9, "Hello!")
        .ends(5 * H - 9, "stop")
        .prompt(4 * H, "Now the parser.")
        .dated(20 * M, 20 * M)
        .ok("unanswered");
    let reverted = t
        .idle("echo", "went back to a prompt that had no answer")
        .prompt(2 * H, "Write a parser.")
        .reverted()
        .is("watch", "unanswered", &["revert-pending"]);
    let stranded = t
        .idle(
            "alpha",
            "a prompt queued behind a run that was aborted 10 min ago",
        )
        .prompt(14 * M, "Write a parser.")
        .step(14 * M - 5)
        .bash_ended_by_abort()
        .prompt(12 * M, "And a lexer.")
        // "Say so": as a finding that says it, or as none.
        .is("watch", "unanswered", &["unanswered-prompt"])
        .or("ok", &[]);
    let gone = t
        .idle("charlie", "failed once, then a prompt that was answered")
        .prompt(2 * H, "Hello.")
        .blank(2 * H - 4)
        .fails(2 * H - 60, api_error(500, "Internal server error"))
        .prompt(H, "Hello again.")
        .step(H - 3)
        .text(H - 4, H - 8, "Hello!")
        .ends(H - 8, "stop")
        .ok("done");
    vec![young, younger, old, fork, reverted, stranded, gone]
}

impl Story {
    /// A bash that the abort of 10 min ago ended, and the message with it.
    fn bash_ended_by_abort(self) -> Self {
        let output = "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>";
        let input: Value = json!({"command": "sleep 600", "description": "wait"});
        self.ran((13 * M, 10 * M), "bash", &input, output)
            .aborted(10 * M)
    }
}
