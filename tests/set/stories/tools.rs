//! Sessions whose tool runs: within its limit, past half of it, past all of it.
//!
//! A look sees no output grow, so the cases that rest on "no new output" print nothing at all, or are past
//! the whole limit, where the server itself would have ended the tool.

use crate::story::{H, M, Story, Teller};
use serde_json::json;

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = bash(t);
    all.extend(shell(t));
    all.extend(named(t));
    all.extend(searches(t));
    all
}

/// Limit: `timeout`, else 120 s, and 30 s more.
fn bash(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "a bash runs for 20 s", (20, 0), "Compiling\n", "ok"),
        ("bravo", "a silent bash runs for 50 s", (50, 0), "", "ok"),
        ("bravo", "a silent bash runs for 2 min of its 150 s", (2 * M, 0), "", "slow"),
        ("charlie", "a bash runs for 4 min without a timeout", (4 * M, 0), "building\n", "hung"),
        ("delta", "a silent bash runs for 20 min without a timeout", (20 * M, 0), "", "hung"),
        ("echo", "a bash runs for 2 h past a timeout of 1 min", (2 * H, 60_000), "one\n", "hung"),
        ("alpha", "a test runs for 4 min of its 10", (4 * M, 600_000), "test 1\n", "ok"),
        ("bravo", "a silent test runs for 4 min of its 10", (4 * M, 600_000), "", "ok"),
        ("charlie", "a silent test runs for 8 min of its 10", (8 * M, 600_000), "", "slow"),
        ("delta", "a test runs for 13 min, allowed 10", (13 * M, 600_000), "test 1\n", "hung"),
        ("echo", "a silent test runs for 25 min of its 60", (25 * M, 3_600_000), "", "ok"),
        ("delta", "a silent bash runs for 135 s of its 150", (135, 0), "", "slow"),
        ("echo", "a silent bash runs for 162 s of its 150", (162, 0), "", "hung"),
        ("foxtrot", "a silent test runs for 615 s of its 630", (615, 600_000), "", "slow"),
        ("foxtrot", "a silent test runs for 640 s of its 630", (640, 600_000), "", "hung"),
        ("alpha", "a silent bash runs for 40 s past a timeout of 5 s", (48, 5_000), "", "hung"),
    ];
    for (place, title, (ago, timeout), output, verdict) in cases {
        let story = t
            .busy(place, title)
            .prompt(ago + 12, "Test it.")
            .step(ago + 6)
            .bash(ago, "cargo test --all", timeout, output);
        all.push(judged(story, verdict));
    }
    // Past half of its limit with output of an unknown age: whether it has been quiet for 60 s cannot be
    // seen in one look.
    let talking = t
        .busy("bravo", "a test that prints runs for 8 min of its 10")
        .prompt(9 * M, "Test it.")
        .step(9 * M - 5)
        .bash(
            8 * M,
            "cargo test",
            600_000,
            "test 1 ... ok\ntest 2 ... ok\n",
        )
        .fine("running-tool")
        .or("watch", &["slow-tool"]);
    let full = t
        .busy(
            "alpha",
            "a bash with 30,000 characters of output runs for 1 min of its 10",
        )
        .prompt(80, "Test it.")
        .step(70)
        .bash(60, "cargo test", 600_000, &"x".repeat(30_000))
        .fine("running-tool");
    let late = t
        .busy(
            "delta",
            "after 210 steps a bash runs for 5 min without a timeout",
        )
        .prompt(4 * H, "Port all of it.")
        .steps(210, 6 * M, 45)
        .step(5 * M + 5)
        .bash(5 * M, "make all", 0, "")
        .is("stuck", "running-tool", &["hung-tool"]);
    let queued = t
        .busy("charlie", "a hung bash with a prompt behind it")
        .prompt(12 * M, "Test it.")
        .step(12 * M - 4)
        .bash(11 * M, "npm run dev", 0, "listening on 3000\n")
        .prompt(3 * M, "Stop that.")
        .is("stuck", "running-tool", &["hung-tool"]);
    all.extend([talking, full, late, queued]);
    all
}

fn judged(story: Story, verdict: &str) -> Story {
    match verdict {
        "hung" => story.is("stuck", "running-tool", &["hung-tool"]),
        "slow" => story.is("watch", "running-tool", &["slow-tool"]),
        _ => story.fine("running-tool"),
    }
}

/// The person's own command is never hung.
fn shell(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "!command for 40 s", 40, "ok"),
        ("echo", "!command for 6 min", 6 * M, "ok"),
        ("bravo", "!command for 14 min", 14 * M, "slow"),
        ("delta", "!command for 9 h", 9 * H, "slow"),
    ];
    for (place, title, ago, verdict) in cases {
        let story = t
            .busy(place, title)
            .prompt(ago + H, "Hello.")
            .step(ago + H - 5)
            .text(ago + H - 6, ago + H - 10, "Hello!")
            .ends(ago + H - 10, "stop")
            .shell(ago, "npm run dev");
        all.push(judged(story, verdict));
    }
    all
}

/// While `/permission` answers 400 nobody knows whether a tool runs or asks: section 2.0 makes what a failed
/// read leaves open `unknown`; the rest of the document says nothing against `ok`.
pub(super) fn unknown(story: Story) -> Story {
    story.blind("ok", &[]).blind("unknown", &[])
}

/// A tool that takes long and may wait for an ask that cannot be read: to say just that, at `watch`, keeps
/// both "never with an ask pending" and the look-alike "another session's ask is the broken one".
fn waits(story: Story) -> Story {
    story.blind("watch", &["possible-permission"])
}

/// MCP tools 5 min, the others 10 min; slow past half the limit, the others past 60 s.
fn named(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "github_search_issues", 40, "ok"),
        ("bravo", "github_search_issues", 100, "ok"),
        ("charlie", "github_get_pull_request", 3 * M, "slow"),
        ("delta", "github_search_issues", 6 * M, "hung"),
        ("echo", "my_srv-one_do_it-now", 4 * M, "slow"),
        ("alpha", "my_srv-one_do_it-now", 50 * M, "hung"),
        ("bravo", "edit", 30, "ok"),
        ("charlie", "edit", 2 * M, "slow"),
        ("delta", "write", 11 * M, "hung"),
        ("echo", "read", 9 * M, "slow"),
        ("alpha", "websearch", 35, "ok"),
        ("bravo", "websearch", 14 * M, "hung"),
        // Built in, though its name looks like a server's.
        ("charlie", "apply_patch", 7 * M, "slow"),
        ("delta", "apply_patch", 12 * M, "hung"),
        // A custom tool, with and without an underscore: no server of that name is listed.
        ("echo", "deploypreview", 7 * M, "slow"),
        ("alpha", "deploy_preview", 7 * M, "slow"),
        ("bravo", "deploypreview", 16 * M, "hung"),
        ("charlie", "todowrite", 4, "ok"),
        ("delta", "skill", 20, "ok"),
        // Near both sides of each limit.
        ("foxtrot", "github_search_issues", 135, "ok"),
        ("foxtrot", "github_search_issues", 160, "slow"),
        ("foxtrot", "github_search_issues", 288, "slow"),
        ("foxtrot", "github_search_issues", 310, "hung"),
        ("alpha", "edit", 48, "ok"),
        ("bravo", "edit", 70, "slow"),
        ("charlie", "edit", 585, "slow"),
        ("delta", "edit", 615, "hung"),
    ];
    for (place, tool, ago, verdict) in cases {
        let title = format!("{tool} runs for {ago} s");
        let story = t
            .busy(place, &title)
            .prompt(ago + 15, "Do it.")
            .step(ago + 9)
            .runs(
                ago,
                tool,
                json!({"query": "parser", "filePath": "/src/a.rs"}),
            );
        let story = judged(story, verdict);
        all.push(match verdict {
            // An ask that cannot be read may be its reason ("never with an ask pending"): to say less is no
            // miss while `/permission` answers 400.
            "hung" => unknown(waits(story).blind("stuck", &["hung-tool"])),
            "slow" => unknown(waits(story).blind("watch", &["slow-tool"])),
            _ => unknown(story),
        });
    }
    all
}

/// The tools whose permission may break the listing. Alone in its directory each needs a person while
/// `/permission` answers 400; two in one directory are to be watched.
fn searches(t: &mut Teller) -> Vec<Story> {
    let hung = t
        .busy("bravo", "a webfetch runs for 15 min")
        .prompt(16 * M, "Read it.")
        .step(16 * M - 5)
        .runs(
            15 * M,
            "webfetch",
            json!({"url": "https://acme.test", "format": "text"}),
        )
        .is("stuck", "running-tool", &["hung-tool"])
        .blind("needs-you", &["possible-permission"]);
    let young = t
        .busy("delta", "a grep runs for 12 s")
        .prompt(25, "Find it.")
        .step(18)
        .runs(12, "grep", json!({"pattern": "TODO"}))
        .fine("running-tool")
        .blind("needs-you", &["possible-permission"]);
    let first = t
        .busy(
            "echo",
            "a glob runs for 9 s, beside another in the same directory",
        )
        .prompt(25, "Find it.")
        .step(18)
        .runs(9, "glob", json!({"pattern": "*.md"}))
        .fine("running-tool")
        .blind("watch", &["possible-permission"]);
    let second = t
        .busy(
            "echo",
            "a glob runs for 20 s, beside another in the same directory",
        )
        .prompt(35, "Find it.")
        .step(28)
        .runs(20, "glob", json!({"pattern": "*.toml"}))
        .fine("running-tool")
        .blind("watch", &["possible-permission"]);
    let over = t
        .busy("alpha", "a grep that ended, and text that is written")
        .prompt(3 * M, "Find it.")
        .step(2 * M)
        .ran((90, 80), "grep", &json!({"pattern": "TODO"}), "a.rs:1\n")
        .ends(79, "tool-calls")
        .step(70)
        .writing(60)
        .fine("streaming");
    vec![hung, young, first, second, over]
}
