//! Asks that wait for a person, asks that nobody waits for any more, and asks that are lost.

use crate::stories::tools::unknown;
use crate::story::{D, H, M, Story, Teller};
use serde_json::json;

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = permissions(t);
    all.extend(other_tools(t));
    all.extend(questions(t));
    all.extend(ghosts(t));
    all.extend(lost(t));
    all.extend(unreadable(t));
    all
}

/// A bash that asks has no `output` yet, so a listing that fails still leaves "it has not begun". The
/// signature of `possible-permission` names webfetch, glob and grep only; section 2.7 says of this bash
/// that it waits for a permission, "perhaps one that cannot be read": both are right.
fn blind_bash(story: Story) -> Story {
    story
        .blind("ok", &[])
        .blind("needs-you", &["possible-permission"])
        .blind("watch", &["possible-permission"])
}

/// Asking has no timeout: seconds or days, it is the same.
fn permissions(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "a bash asks since 4 s", 4),
        ("alpha", "a bash asks since 3 min", 3 * M),
        ("charlie", "a bash asks since 50 min", 50 * M),
        ("charlie", "a bash asks since 20 h", 20 * H),
        ("alpha", "a bash asks since 3 d, far down the list", 3 * D),
    ];
    for (place, title, ago) in cases {
        let story = t
            .busy(place, title)
            .prompt(ago + 9, "Clean the build.")
            .step(ago + 6)
            .text(ago + 5, ago + 3, "I will remove the target folder.")
            .bash_not_begun(ago + 1, "rm -rf target", 0)
            .asks(ago, "bash", "rm -rf target")
            .is("needs-you", "asking", &["waiting-permission"]);
        all.push(blind_bash(story));
    }
    let two = t
        .busy(
            "alpha",
            "two bash calls in one step, one asks and one runs for 9 min",
        )
        .prompt(10 * M, "Look at both.")
        .step(10 * M - 5)
        .bash(9 * M, "sleep 540", 0, "")
        .bash_not_begun(9 * M, "git push --force", 0)
        .asks(9 * M, "bash", "git push --force")
        .is("needs-you", "asking", &["waiting-permission"])
        // Nothing tells now that an ask is pending: the running one is past its limit.
        .blind("stuck", &["hung-tool"])
        // Or not: that the second has not begun says that an ask is pending.
        .blind("ok", &[])
        .blind("needs-you", &["possible-permission"])
        .blind("stuck", &["hung-tool", "possible-permission"]);
    all.push(two);
    all
}

/// Asks of other tools, and one that names no tool.
fn other_tools(t: &mut Teller) -> Vec<Story> {
    let edit = t
        .busy("charlie", "an edit asks since 30 s")
        .prompt(50, "Fix it.")
        .step(45)
        .runs(
            31,
            "edit",
            json!({"filePath": "/etc/hosts", "oldString": "a", "newString": "b"}),
        )
        .asks(30, "edit", "/etc/hosts")
        .is("needs-you", "asking", &["waiting-permission"]);
    let edit = unknown(edit);
    let outside = t
        .busy("alpha", "a read outside the project asks since 12 s")
        .prompt(22, "What is the name of this host?")
        .step(18)
        .runs(13, "read", json!({"filePath": "/etc/hostname"}))
        .asks(12, "external_directory", "/etc/*")
        .is("needs-you", "asking", &["waiting-permission"]);
    let outside = unknown(outside);
    let mcp = t
        .busy(
            "charlie",
            "an MCP tool asks since 20 min, four times its limit",
        )
        .prompt(21 * M, "Open an issue.")
        .step(21 * M - 8)
        .runs(
            20 * M + 2,
            "github_create_issue",
            json!({"title": "It fails"}),
        )
        .asks(20 * M, "github_create_issue", "*")
        .is("needs-you", "asking", &["waiting-permission"])
        // The ask cannot be seen: by its own times the tool is past its limit. Saying less is no miss.
        .blind("ok", &[])
        .blind("unknown", &[])
        .blind("stuck", &["hung-tool"])
        .blind("watch", &["possible-permission"]);
    let fetch = t
        .busy("foxtrot", "a webfetch with all its inputs asks since 5 min")
        .prompt(6 * M, "Read the page.")
        .step(6 * M - 9)
        .runs(
            5 * M + 1,
            "webfetch",
            json!({"url": "https://acme.test/", "format": "markdown", "timeout": 30}),
        )
        .asks(5 * M, "webfetch", "https://acme.test/")
        .is("needs-you", "asking", &["waiting-permission"])
        // The only webfetch, glob or grep that runs in foxtrot.
        .blind("needs-you", &["possible-permission"]);
    let bare = t
        .busy("alpha", "an ask that names no tool call, since 2 min")
        .prompt(3 * M, "Go on as long as you need.")
        .step(3 * M - 4)
        .writing(3 * M - 8)
        .asks_for_itself(2 * M, "doom_loop", "*")
        .is("needs-you", "asking|streaming", &["waiting-permission"])
        .blind("ok", &[]);
    vec![edit, outside, mcp, fetch, bare]
}

fn questions(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("bravo", "a question since 3 s", 3, "Which database?"),
        ("bravo", "a question since 7 min", 7 * M, "Which of the two names do you want?"),
        ("delta", "a question since 23 h", 23 * H, "Delete the old tests?\nThere are 40."),
        ("bravo", "a question since 5 d, far down the list", 5 * D, "\u{1b}[31mRed?\u{1b}[0m"),
    ];
    for (place, title, ago, text) in cases {
        all.push(
            t.busy(place, title)
                .prompt(ago + 12, "Set it up.")
                .step(ago + 9)
                .question(ago + 1, text)
                .asked(ago, text)
                .is("needs-you", "asking", &["waiting-question"]),
        );
    }
    all.push(
        t.busy(
            "delta",
            "a question in a later step of a long turn, with a prompt queued behind it",
        )
        .prompt(40 * M, "Do all of it.")
        .steps(12, 20 * M, 60)
        .step(15 * M)
        .question(14 * M, "Shall I go on?")
        .asked(14 * M, "Shall I go on?")
        .prompt(9 * M, "Are you there?")
        .is("needs-you", "asking", &["waiting-question"]),
    );
    all
}

/// An abort leaves the ask listed.
fn ghosts(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("aborted while a question was open, 1 min ago", M, "watch"),
        ("aborted while a question was open, 20 h ago", 20 * H, "watch"),
        // Read although older than 7 d, for it has an ask; at rest for over 7 d its level is ok, still named.
        ("aborted while a question was open, 8 d ago", 8 * D, "ok"),
    ];
    for (title, ago, level) in cases {
        let input = json!({"questions": [{"question": "Go on?", "header": "Go", "options": []}]});
        all.push(
            t.idle("echo", title)
                .prompt(ago + 60, "Prepare it.")
                .step(ago + 55)
                .broke(
                    (ago + 50, ago),
                    "question",
                    &input,
                    "Tool execution aborted",
                )
                .asked(ago + 50, "Go on?")
                .aborted(ago)
                .is(level, "aborted", &["ghost-ask"]),
        );
    }
    let bash = json!({"command": "make install", "description": "install"});
    let permission = t
        .idle("charlie", "aborted while a bash asked, 15 min ago")
        .prompt(17 * M, "Install it.")
        .step(17 * M - 5)
        .broke((16 * M, 15 * M), "bash", &bash, "Tool execution aborted")
        .asks(16 * M, "bash", "make install")
        .aborted(15 * M)
        .is("watch", "aborted", &["ghost-ask"])
        .blind("ok", &[]);
    let goes_on = t
        .busy(
            "echo",
            "the question's part ended 2 min ago, the ask is still listed, the turn goes on",
        )
        .prompt(6 * M, "Prepare it.")
        .step(6 * M - 5)
        .broke(
            (5 * M, 2 * M),
            "question",
            &json!({"questions": []}),
            "The user dismissed this question",
        )
        .asked(5 * M, "Go on?")
        .ends(2 * M, "tool-calls")
        .step(20)
        .writing(15)
        .is("watch", "streaming", &["ghost-ask"]);
    all.extend([permission, goes_on]);
    all
}

/// The server forgot the ask; the question's part waits for ever.
fn lost(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("a question runs for 45 s and is not listed", 45),
        ("a question runs for 3 h and is not listed", 3 * H),
    ];
    for (title, ago) in cases {
        all.push(
            t.busy("echo", title)
                .prompt(ago + 8, "Choose for me.")
                .step(ago + 5)
                .question(ago, "Blue or green?")
                .is("stuck", "running-tool|asking", &["lost-ask"]),
        );
    }
    all.push(
        t.busy("echo", "a question began 1 s ago and is not listed yet")
            .prompt(9, "Choose for me.")
            .step(6)
            .question(1, "Blue or green?")
            .fine("running-tool|asking"),
    );
    all
}

/// Directories where `/permission` answers 400 in every run.
fn unreadable(t: &mut Teller) -> Vec<Story> {
    let alone = t
        .busy(
            "fetch",
            "a webfetch alone where permissions cannot be read, 3 min",
        )
        .prompt(4 * M, "Read the page.")
        .step(4 * M - 3)
        .runs(
            3 * M,
            "webfetch",
            json!({"url": "https://acme.test/", "format": "markdown"}),
        )
        .is("needs-you", "running-tool|asking", &["possible-permission"]);
    let begun = t
        .busy(
            "fetch",
            "a bash that prints where permissions cannot be read, 20 s",
        )
        .prompt(30, "Test it.")
        .step(28)
        .bash(20, "cargo test", 600_000, "running 12 tests\n")
        .fine("running-tool");
    let mut all = vec![alone, begun];
    #[rustfmt::skip]
    let cases = [
        ("one of two candidates: a glob, 2 min", "glob", json!({"pattern": "**/*.rs"})),
        ("one of two candidates: a grep, 2 min", "grep", json!({"pattern": "fn main"})),
    ];
    for (title, tool, input) in cases {
        all.push(
            t.busy("pair", title)
                .prompt(3 * M, "Find it.")
                .step(3 * M - 5)
                .runs(2 * M, tool, input)
                .is("watch", "running-tool|asking", &["possible-permission"])
                // Past 60 s, but one of the two asks: `slow-tool` is "never with an ask pending", and which
                // of the two it is nobody knows.
                .may("slow-tool"),
        );
    }
    let not_begun = t
        .busy(
            "locked",
            "a bash that has not begun where permissions cannot be read, 6 min",
        )
        .prompt(7 * M, "Deploy.")
        .step(7 * M - 5)
        .bash_not_begun(6 * M, "make deploy", 0)
        // See `blind_bash`. Never hung: it has not begun.
        .is("ok", "running-tool|asking", &[])
        .or("needs-you", &["possible-permission"])
        .or("watch", &["possible-permission"]);
    let listed = t
        .busy(
            "charlie",
            "a bash without output for 6 min, and no ask is listed",
        )
        .prompt(7 * M, "Deploy.")
        .step(7 * M - 5)
        .bash_not_begun(6 * M, "make deploy", 0)
        // It has not begun, so no limit counts.
        .fine("running-tool")
        .blind("ok", &[])
        .blind("needs-you", &["possible-permission"])
        .blind("watch", &["possible-permission"]);
    all.extend([not_begun, listed]);
    all
}
