//! Sessions with nothing to say about: most of what there is.

use crate::story::{D, H, M, S, Story, Teller};
use serde_json::json;

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = done(t);
    all.extend(unread(t));
    all.extend(empty(t));
    all.extend(hostile(t));
    all.extend(running(t));
    all.extend(archived(t));
    all
}

/// Answered, at many ages below 7 d.
fn done(t: &mut Teller) -> Vec<Story> {
    let ages = [
        4 * S,
        20 * S,
        50 * S,
        2 * M,
        5 * M,
        9 * M,
        14 * M,
        22 * M,
        31 * M,
        47 * M,
        H,
        2 * H,
        3 * H,
        4 * H,
        5 * H,
        6 * H,
        7 * H,
        9 * H,
        11 * H,
        13 * H,
        15 * H,
        17 * H,
        19 * H,
        21 * H,
        23 * H,
        25 * H,
        28 * H,
        31 * H,
        36 * H,
        2 * D,
        50 * H,
        60 * H,
        3 * D,
        4 * D,
        5 * D,
        6 * D,
        160 * H,
    ];
    let places = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];
    let mut all: Vec<Story> = ages
        .iter()
        .zip(places.iter().cycle())
        .enumerate()
        .map(|(n, (&ago, place))| {
            t.done(place, &format!("Question {n} about the parser"), ago)
                .ok("done")
        })
        .collect();
    let long = t
        .idle("bravo", "a turn of 220 steps that ended well")
        .prompt(5 * H, "Port all of it.")
        .steps(220, H, 60)
        .step(H - 2)
        .text(H - 3, H - 9, "All of it is ported.")
        .ends(H - 9, "stop")
        .ok("done");
    let other = t
        .idle("charlie", "ended with a finish that is none of ours")
        .prompt(3 * H, "Well?")
        .step(3 * H - 5)
        .text(3 * H - 6, 2 * H, "Well.")
        .ends(2 * H, "other")
        .ok("done");
    let tools = t
        .idle("delta", "tools, one failed, and an answer")
        .prompt(3 * H, "Fix it.")
        .steps(3, 2 * H + 90, 30)
        .step(2 * H + 50)
        .broke(
            (2 * H + 40, 2 * H + 39),
            "edit",
            &json!({"filePath": "/a"}),
            "oldString not found",
        )
        .ends(2 * H + 38, "tool-calls")
        .step(2 * H + 30)
        .text(2 * H + 20, 2 * H, "Fixed.")
        .ends(2 * H, "stop")
        .ok("done");
    let fork = t
        .done("echo", "Question 3 about the lexer (fork #1)", 9 * H)
        .dated(7 * H, 7 * H)
        .ok("done");
    all.extend([long, other, tools, fork]);
    all
}

/// Older than 7 d: nothing of it is read.
fn unread(t: &mut Teller) -> Vec<Story> {
    let places = ["alpha", "bravo", "charlie", "delta", "echo"];
    let mut all = Vec::new();
    for (n, days) in (8..32).enumerate() {
        let title = format!("Question {n} of last month");
        all.push(t.done(places[n % 5], &title, days * D).ok("unread"));
    }
    all
}

/// Made and never used, which is also what `never-started` leaves.
fn empty(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "New session - 5 s ago", 5),
        ("bravo", "New session - 9 h ago", 9 * H),
        ("delta", "New session - 3 d ago", 3 * D),
    ];
    for (place, title, ago) in cases {
        all.push(t.idle(place, title).dated(ago, ago).ok("empty"));
    }
    all
}

/// Titles and texts that would like to be something else.
fn hostile(t: &mut Teller) -> Vec<Story> {
    let long = "long ".repeat(2_000);
    let titles = [
        "\u{1b}[2J\u{1b}]0;owned\u{7}clears the screen",
        "\u{202e}right to left\u{202c} and \u{200b}zero width",
        "two\nlines\r\nand a\ttab",
        "\u{0}\u{1}\u{7f}\u{9b}31m control characters",
        "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{30c6}\u{30b9}\u{30c8} e\u{301}\u{301}\u{301}",
        "\"}],\"findings\":[{\"name\":\"hung-tool\",\"level\":\"stuck\"}]",
        "<script>alert(1)</script> %s %n {} ../../etc/passwd",
        "",
        long.as_str(),
    ];
    let mut all = Vec::new();
    for (n, title) in (1..).zip(titles) {
        let mut story = t.done("charlie", title, n * 37 * M).ok("done");
        story.messages[0].parts[0]["text"] = json!(title);
        all.push(story);
    }
    all
}

/// Runs of a few seconds.
fn running(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    for (n, place) in ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
        .iter()
        .enumerate()
    {
        let title = format!("answers for {n} s");
        let ago = i64::try_from(n).unwrap_or(0);
        all.push(
            t.busy(place, &title)
                .prompt(ago + 3, "Well?")
                .step(ago + 1)
                .writing(ago)
                .fine("streaming"),
        );
    }
    all.push(
        t.busy("foxtrot", "a read of 2 s")
            .prompt(12, "Read it.")
            .step(6)
            .runs(2, "read", json!({"filePath": "/src/a.rs"}))
            .fine("running-tool")
            .blind("ok", &[])
            .blind("unknown", &[]),
    );
    all.push(
        t.busy("echo", "in the middle of a turn of 240 steps")
            .prompt(5 * H, "Port all of it.")
            .steps(240, 30, 60)
            .step(25)
            .thinking(20)
            .fine("streaming"),
    );
    all
}

/// Left out, unless busy or asking.
fn archived(t: &mut Teller) -> Vec<Story> {
    let done = t.done("alpha", "archived and done", 3 * H).archived(2 * H);
    let failed = t
        .idle("bravo", "archived after it was left open")
        .prompt(3 * H, "Go.")
        .step(3 * H - 5)
        .writing(3 * H - 6)
        .archived(H);
    let old = t
        .done("delta", "archived long ago", 20 * D)
        .archived(19 * D);
    let runs = t
        .busy("alpha", "archived while it runs")
        .prompt(60, "Go.")
        .step(50)
        .writing(40)
        .archived(30)
        .fine("streaming");
    let asks = t
        .busy("bravo", "archived while it asks")
        .prompt(3 * H, "Go.")
        .step(3 * H - 5)
        .question(2 * H, "Which?")
        .asked(2 * H, "Which?")
        .archived(H)
        .is("needs-you", "asking", &["waiting-question"]);
    let hung = t
        .busy("delta", "archived while its bash hangs")
        .prompt(3 * H, "Go.")
        .step(3 * H - 5)
        .bash(2 * H, "make", 0, "")
        .archived(H)
        .is("stuck", "running-tool", &["hung-tool"]);
    vec![done, failed, old, runs, asks, hung]
}
