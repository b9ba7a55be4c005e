//! Idle sessions whose turn is over: well, badly, or in a way that only looks bad.

use crate::stories::api_error;
use crate::stories::busy::summarised;
use crate::story::{D, H, M, Story, Teller};
use serde_json::{Value, json};

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = failed(t);
    all.extend(poisoned(t));
    all.extend(not_poisoned(t));
    all.extend(cut(t));
    all.extend(silent(t));
    all.extend(not_silent(t));
    all.extend(reverts(t));
    all.extend(aborted(t));
    all.extend(compacted(t));
    all
}

/// A person is needed for 24 h; then `watch`; after 7 d it is not read any more.
fn failed(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    let unknown = |m: &str| json!({"name": "UnknownError", "data": {"message": m}});
    let auth = json!({"name": "ProviderAuthError",
        "data": {"providerID": "acme", "message": "No key"}});
    let overflow = json!({"name": "ContextOverflowError",
        "data": {"message": "prompt is too long: 210000 tokens"}});
    #[rustfmt::skip]
    let cases = [
        ("alpha", "failed 2 min ago: 401", 2 * M, api_error(401, "Invalid API key"), "needs-you"),
        ("bravo", "failed 1 h ago: quota", H, api_error(429, "insufficient_quota"), "needs-you"),
        ("charlie", "failed 23 h ago: 500", 23 * H, api_error(500, "Internal"), "needs-you"),
        ("foxtrot", "failed 23 h 50 min ago", 86_400 - 600, api_error(500, "x"), "needs-you"),
        ("foxtrot", "failed 24 h 10 min ago", 86_400 + 600, api_error(500, "x"), "watch"),
        ("delta", "failed 25 h ago: 500", 25 * H, api_error(500, "Internal"), "watch"),
        ("echo", "failed 6 d ago: 529", 6 * D, api_error(529, "Overloaded"), "watch"),
        ("alpha", "failed 40 min ago: no key", 40 * M, auth, "needs-you"),
        ("bravo", "failed 3 h ago: context", 3 * H, overflow, "needs-you"),
        ("charlie", "failed 10 s ago: unknown", 10, unknown("boom\n\tat x"), "needs-you"),
        ("delta", "a single 400, 5 min ago", 5 * M, api_error(400, "bad request"), "needs-you"),
    ];
    for (place, title, ago, error, level) in cases {
        all.push(
            t.idle(place, title)
                .prompt(ago + 80, "Go.")
                .blank(ago + 75)
                .fails(ago, error)
                .is(level, "failed", &["failed"]),
        );
    }
    all.push(
        t.idle("alpha", "failed 8 d ago: 500")
            .prompt(8 * D + 80, "Go.")
            .blank(8 * D + 75)
            .fails(8 * D, api_error(500, "Internal"))
            .ok("unread"),
    );
    all
}

/// The history itself is refused.
fn poisoned(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    let message = "messages.14: `tool_use` ids were found without `tool_result` blocks";
    #[rustfmt::skip]
    let cases = [
        ("alpha", "the same 400 on two prompts, 5 min ago", 5 * M, 2, "stuck"),
        ("bravo", "the same 400 on four prompts, 20 h ago", 20 * H, 4, "stuck"),
        ("delta", "the same 400 on two prompts, 30 h ago", 30 * H, 2, "watch"),
    ];
    for (place, title, ago, times, level) in cases {
        let mut story = t.idle(place, title);
        for n in (0..times).rev() {
            let end = ago + n * 3 * M;
            story = story
                .prompt(end + 80, &format!("Go on, {n}."))
                .blank(end + 75)
                .fails(end, api_error(400, message));
        }
        all.push(
            story
                .is(level, "failed", &["poisoned-history"])
                // Its own signature holds as well.
                .may("failed"),
        );
    }
    all
}

/// Two errors that are not the same, or not in a row.
fn not_poisoned(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "two prompts, two 500s", (500, "Internal"), (500, "Internal")),
        ("bravo", "two prompts, two different 400s", (400, "bad image"), (400, "bad schema")),
        ("charlie", "two prompts, a 500 and a 400", (500, "Internal"), (400, "bad image")),
    ];
    for (place, title, first, second) in cases {
        all.push(
            t.idle(place, title)
                .prompt(30 * M, "Go.")
                .blank(30 * M - 5)
                .fails(29 * M, api_error(first.0, first.1))
                .prompt(10 * M, "Go.")
                .blank(10 * M - 5)
                .fails(9 * M, api_error(second.0, second.1))
                .is("needs-you", "failed", &["failed"]),
        );
    }
    all.push(
        t.idle("delta", "a 400, an answer, the same 400")
            .prompt(50 * M, "Go.")
            .blank(50 * M - 5)
            .fails(49 * M, api_error(400, "bad image"))
            .prompt(30 * M, "Go.")
            .step(30 * M - 5)
            .text(30 * M - 6, 29 * M, "Gone.")
            .ends(29 * M, "stop")
            .prompt(10 * M, "Go.")
            .blank(10 * M - 5)
            .fails(9 * M, api_error(400, "bad image"))
            .is("needs-you", "failed", &["failed"]),
    );
    all.push(
        t.idle("echo", "the same 400 twice, then an answer")
            .prompt(50 * M, "Go.")
            .blank(50 * M - 5)
            .fails(49 * M, api_error(400, "bad image"))
            .prompt(30 * M, "Go.")
            .blank(30 * M - 5)
            .fails(29 * M, api_error(400, "bad image"))
            .prompt(10 * M, "Go.")
            .step(10 * M - 5)
            .text(10 * M - 6, 9 * M, "Gone.")
            .ends(9 * M, "stop")
            .ok("done"),
    );
    all
}

/// The answer was cut.
fn cut(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "cut short by length, 3 min ago", 3 * M, "length"),
        ("bravo", "cut short by length, 26 h ago", 26 * H, "length"),
        ("charlie", "cut short by a filter, 1 h ago", H, "content-filter"),
        ("delta", "cut short by an error, 5 h ago", 5 * H, "error"),
        ("echo", "cut short by length, 6 d ago", 6 * D, "length"),
    ];
    for (place, title, ago, finish) in cases {
        let activity = if finish == "error" {
            "done|ended-early|failed"
        } else {
            "ended-early"
        };
        all.push(
            t.idle(place, title)
                .prompt(ago + 60, "Write all of it.")
                .step(ago + 55)
                .text(ago + 50, ago + 1, "Chapter one. It was")
                .ends(ago, finish)
                .is("watch", activity, &["cut-short"]),
        );
    }
    all.push(
        t.idle("alpha", "cut short by length, 9 d ago")
            .prompt(9 * D + 60, "Write all of it.")
            .step(9 * D + 55)
            .text(9 * D + 50, 9 * D + 1, "Chapter one. It was")
            .ends(9 * D, "length")
            .ok("unread"),
    );
    all
}

/// A stop without a word.
fn silent(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "stopped without a word, 1 min ago", M),
        ("bravo", "stopped without a word, 10 h ago", 10 * H),
        ("delta", "stopped without a word, 2 d ago", 2 * D),
    ];
    for (place, title, ago) in cases {
        all.push(
            t.idle(place, title)
                .prompt(ago + 9, "Well?")
                .step(ago + 5)
                .ends(ago, "stop")
                .is("watch", "done", &["silent-stop"]),
        );
    }
    all.push(
        t.idle("echo", "thought, and stopped without a word, 30 min ago")
            .prompt(31 * M, "Well?")
            .step(31 * M - 4)
            .thought(31 * M - 5, 30 * M + 1)
            .ends(30 * M, "stop")
            .is("watch", "done", &["silent-stop"]),
    );
    all
}

fn not_silent(t: &mut Teller) -> Vec<Story> {
    let bash = json!({"command": "rm -rf /", "description": "clean"});
    let rejected = t
        .idle("alpha", "a permission was rejected: the turn ended there")
        .prompt(20 * M, "Clean up.")
        .step(20 * M - 5)
        .broke(
            (19 * M, 15 * M),
            "bash",
            &bash,
            "The user rejected permission to use this specific tool call.",
        )
        .ends(15 * M, "tool-calls")
        .ok("ended-early");
    let dismissed = t
        .idle("bravo", "a question was dismissed: the turn ended there")
        .prompt(6 * H, "Set it up.")
        .step(6 * H - 5)
        .broke(
            (6 * H - 8, 5 * H),
            "question",
            &json!({}),
            "The user dismissed this question",
        )
        .ends(5 * H, "tool-calls")
        .ok("ended-early");
    let shell = t
        .idle("charlie", "!command that ended 4 min ago")
        .synthetic(5 * M, "The following tool was executed by the user")
        .blank(5 * M)
        .ran((5 * M, 4 * M), "bash", &json!({"command": "ls"}), "a.rs\n")
        .completed(4 * M)
        .ok("done");
    let shell_silent = t
        .idle("delta", "!command that printed nothing, yesterday")
        .synthetic(26 * H, "The following tool was executed by the user")
        .blank(26 * H)
        .ran(
            (26 * H, 26 * H - 2),
            "bash",
            &json!({"command": "true"}),
            "",
        )
        .completed(26 * H - 2)
        .ok("done");
    let structured = t
        .idle("echo", "an answer by schema: no text")
        .prompt(10 * M, "How many?")
        .info(
            "format",
            json!({"type": "json_schema", "schema": {"type": "object"}}),
        )
        .step(10 * M - 5)
        .info("structured", json!({"count": 3}))
        .ends(9 * M, "stop")
        .ok("done");
    let in_retry = t
        .idle(
            "alpha",
            "aborted during a retry: a blank message, completed",
        )
        .prompt(10 * M, "Go.")
        .blank(10 * M - 5)
        .completed(8 * M)
        .ok("aborted");
    let in_retry_old = t
        .idle("delta", "aborted during a retry, 2 d ago")
        .prompt(2 * D, "Go.")
        .blank(2 * D - 5)
        .completed(2 * D - 60)
        .ok("aborted");
    vec![
        rejected,
        dismissed,
        shell,
        shell_silent,
        structured,
        in_retry,
        in_retry_old,
    ]
}

/// The person went back and has not gone on.
fn reverts(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "went back 10 min ago", 10 * M, "watch"),
        ("charlie", "went back 30 h ago", 30 * H, "watch"),
        ("delta", "went back 6 d ago", 6 * D, "watch"),
    ];
    for (place, title, ago, level) in cases {
        all.push(
            t.done(place, title, ago)
                .reverted()
                .is(level, "done", &["revert-pending"]),
        );
    }
    all
}

/// Stopped by a person: that is no finding. Three of one directory within a second are one only for who
/// saw `server.instance.disposed`.
fn aborted(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    for n in 0..4 {
        let title = format!("one of four that were aborted together ({n})");
        let input: Value = json!({"filePath": format!("/src/{n}.rs")});
        let mut error = t
            .idle("bravo", &title)
            .prompt(12 * M, "Edit it.")
            .step(12 * M - 4)
            .broke((11 * M, 10 * M), "edit", &input, "Tool execution aborted");
        let part = error.messages.last_mut().and_then(|m| m.parts.last_mut());
        part.expect("the edit")["state"]["metadata"] = json!({"interrupted": true});
        all.push(error.aborted(10 * M).ok("aborted"));
    }
    #[rustfmt::skip]
    let cases = [
        ("alpha", "aborted 20 s ago while writing", 20),
        ("delta", "aborted 5 d ago while writing", 5 * D),
    ];
    for (place, title, ago) in cases {
        all.push(
            t.idle(place, title)
                .prompt(ago + 30, "Explain it.")
                .step(ago + 25)
                .text(ago + 20, ago, "It is")
                .aborted(ago)
                .ok("aborted"),
        );
    }
    all
}

/// Summaries at the end of a session.
fn compacted(t: &mut Teller) -> Vec<Story> {
    let once = t
        .idle("alpha", "compacted by hand 20 min ago")
        .prompt(2 * H, "Port it.")
        .steps(4, H, 60);
    let once = summarised(once, 20 * M).ok("done");
    let mut twice = t
        .idle("bravo", "compacted twice in a row, then idle")
        .prompt(2 * H, "Port it.")
        .steps(4, H, 60);
    for ago in [20 * M, 10 * M] {
        twice = summarised(twice, ago);
    }
    let twice = twice.ok("done");
    let mut loops = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("charlie", "compacted three times in a row, then idle", 10 * M, 3, "stuck"),
        ("echo", "compacted five times in a row, two days ago", 2 * D, 5, "watch"),
    ];
    for (place, title, ago, times, level) in cases {
        let mut story = t
            .idle(place, title)
            .prompt(ago + 2 * H, "Port it.")
            .steps(4, ago + H, 60);
        for n in (0..times).rev() {
            story = summarised(story, ago + n * 3 * M);
        }
        loops.push(story.is(level, "done", &["compaction-loop"]));
    }
    let mut all = vec![once, twice];
    all.extend(loops);
    all
}
