//! Sessions that the server calls busy while no tool runs: the model is asked, writes, or nothing happens.

use crate::stories::api_error;
use crate::story::{H, M, Story, Teller};
use serde_json::json;

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = stale(t);
    all.extend(not_stale(t));
    all.extend(streams(t));
    all.extend(starts(t));
    all.extend(arguments(t));
    all.extend(gaps(t));
    all.extend(compactions(t));
    all.extend(loops(t));
    all.extend(no_loops(t));
    all.extend(doubles(t));
    all
}

/// The turn is over, the server does not know it.
fn stale(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "busy 25 s after a stop", 25, "stop"),
        ("foxtrot", "busy 16 s after a stop", 16, "stop"),
        ("alpha", "busy 6 min after a stop", 6 * M, "stop"),
        ("bravo", "busy 3 h after a stop", 3 * H, "stop"),
        ("charlie", "busy 2 min after the length ran out", 2 * M, "length"),
    ];
    for (place, title, ago, finish) in cases {
        all.push(
            t.busy(place, title)
                .prompt(ago + 30, "Name it.")
                .step(ago + 25)
                .text(ago + 20, ago + 1, "Call it parser.")
                .ends(ago, finish)
                .is("stuck", "done|ended-early", &["stale-busy"]),
        );
    }
    all.push(
        t.busy("alpha", "busy 4 min after an error")
            .prompt(6 * M, "Name it.")
            .blank(6 * M - 4)
            .fails(4 * M, api_error(500, "Internal server error"))
            .is("stuck", "failed", &["stale-busy"]),
    );
    all.push(
        t.busy(
            "delta",
            "busy 40 s after a stop, at the end of a turn of 230 steps",
        )
        .prompt(3 * H, "Port all of it.")
        .steps(230, 2 * M, 40)
        .step(90)
        .text(85, 41, "All of it is ported.")
        .ends(40, "stop")
        .is("stuck", "done", &["stale-busy"]),
    );
    all
}

/// The same, but healthy.
fn not_stale(t: &mut Teller) -> Vec<Story> {
    let tail = t
        .busy("alpha", "busy 7 s after a stop: the tail of a turn, so far")
        .prompt(30, "Name it.")
        .step(25)
        .text(20, 8, "Call it parser.")
        .ends(7, "stop")
        .settles("stale-busy")
        .is("ok", "done", &[]);
    let just = t
        .busy("echo", "busy 1 s after a stop")
        .prompt(31, "Name it.")
        .step(26)
        .text(20, 2, "Call it lexer.")
        .ends(1, "stop")
        .settles("stale-busy")
        .is("ok", "done", &[]);
    let queued = t
        .busy(
            "alpha",
            "busy 40 s after a stop, a prompt of 4 s ago is about to start",
        )
        .prompt(60, "Name it.")
        .step(55)
        .text(50, 41, "Call it parser.")
        .ends(40, "stop")
        .prompt(4, "And document it.")
        .fine("unanswered");
    let unknown = t
        .busy("alpha", "busy 17 s after finish unknown: the loop goes on")
        .prompt(60, "Name it.")
        .step(55)
        .text(50, 18, "Call it")
        .ends(17, "unknown")
        .fine("between-steps");
    let begun = t
        .busy(
            "bravo",
            "a stop 2 min ago, then a new prompt that is being answered",
        )
        .prompt(5 * M, "Name it.")
        .step(5 * M - 5)
        .text(5 * M - 8, 2 * M, "Call it parser.")
        .ends(2 * M, "stop")
        .prompt(30, "Now write it.")
        .step(25)
        .writing(20)
        .fine("streaming");
    vec![tail, just, queued, unknown, begun]
}

/// Text and reasoning cannot be seen to grow in a read: one look claims nothing, however long it lasts.
fn streams(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "writes text for 10 s", 10),
        ("bravo", "writes text for 4 min", 4 * M),
        ("charlie", "writes text for 12 min", 12 * M),
        ("delta", "writes text for 50 min", 50 * M),
    ];
    for (place, title, ago) in cases {
        all.push(
            t.busy(place, title)
                .prompt(ago + 9, "Explain it at length.")
                .step(ago + 4)
                .writing(ago)
                .fine("streaming"),
        );
    }
    #[rustfmt::skip]
    let cases = [
        ("echo", "thinks for 5 min", 5 * M),
        ("alpha", "thinks for 29 min", 29 * M),
    ];
    for (place, title, ago) in cases {
        all.push(
            t.busy(place, title)
                .prompt(ago + 9, "Prove it.")
                .step(ago + 4)
                .thinking(ago)
                .fine("streaming"),
        );
    }
    all.push(
        t.busy("bravo", "writes text while two prompts wait behind it")
            .prompt(3 * M, "Explain it.")
            .step(3 * M - 5)
            .writing(40)
            .prompt(30, "Shorter, please.")
            .prompt(20, "In French.")
            .fine("streaming"),
    );
    all
}

/// The model was asked and has sent nothing.
fn starts(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "a blank message for 20 s", 20, "ok"),
        ("bravo", "a blank message for 45 s", 45, "ok"),
        ("alpha", "a blank message for 80 s", 80, "watch"),
        ("foxtrot", "a blank message for 65 s", 65, "watch"),
        ("foxtrot", "a blank message for 9 min 45 s", 585, "watch"),
        ("foxtrot", "a blank message for 10 min 10 s", 610, "stuck"),
        ("charlie", "a blank message for 9 min", 9 * M, "watch"),
        ("delta", "a blank message for 12 min", 12 * M, "stuck"),
        ("echo", "a blank message for 2 h", 2 * H, "stuck"),
    ];
    for (place, title, ago, level) in cases {
        let findings: &[&str] = if level == "ok" {
            &[]
        } else {
            &["stalled-start"]
        };
        all.push(
            t.busy(place, title)
                .prompt(ago + 2, "Begin.")
                .blank(ago)
                .is(level, "starting", findings),
        );
    }
    #[rustfmt::skip]
    let cases = [
        ("bravo", "busy and unanswered for 3 s", 3, "ok"),
        ("bravo", "busy and unanswered for 90 s", 90, "watch"),
        ("alpha", "busy and unanswered for 48 s", 48, "ok"),
        ("delta", "busy and unanswered for 15 min", 15 * M, "stuck"),
    ];
    for (place, title, ago, level) in cases {
        let findings: &[&str] = if level == "ok" {
            &[]
        } else {
            &["stalled-start"]
        };
        all.push(
            t.busy(place, title)
                .prompt(ago, "Begin.")
                .is(level, "unanswered", findings),
        );
    }
    all
}

/// A tool's arguments are being written: nothing of them can be read.
fn arguments(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "writes the arguments of an edit for 20 s", 20, "ok"),
        ("bravo", "writes the arguments of a write for 2 min", 2 * M, "ok"),
        ("foxtrot", "writes the arguments of a write for 168 s", 168, "ok"),
        ("foxtrot", "writes the arguments of a write for 185 s", 185, "watch"),
        ("foxtrot", "writes the arguments of a write for 588 s", 588, "watch"),
        ("charlie", "writes the arguments of a write for 4 min", 4 * M, "watch"),
        ("delta", "writes the arguments of a write for 11 min", 11 * M, "stuck"),
        ("echo", "writes the arguments of a write for 3 h", 3 * H, "stuck"),
    ];
    for (place, title, ago, level) in cases {
        let findings: &[&str] = if level == "ok" {
            &[]
        } else {
            &["stalled-arguments"]
        };
        all.push(
            t.busy(place, title)
                .prompt(ago + 8, "Write the file.")
                .step(ago + 2)
                .arguments(ago, "write")
                .is(level, "writing-arguments", findings),
        );
    }
    all.push(
        t.busy(
            "echo",
            "thought for 14 min, then began to write arguments 20 s ago",
        )
        .prompt(15 * M, "Write the file.")
        .step(15 * M - 5)
        .thought(15 * M - 9, 25)
        .arguments(20, "write")
        .fine("writing-arguments"),
    );
    all
}

/// One step is over and the next does not begin.
fn gaps(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "between steps for 5 s", 5, "ok"),
        ("bravo", "between steps for 18 s", 18, "ok"),
        ("foxtrot", "between steps for 36 s", 36, "watch"),
        ("foxtrot", "between steps for 108 s", 108, "watch"),
        ("foxtrot", "between steps for 126 s", 126, "stuck"),
        ("charlie", "between steps for 50 s", 50, "watch"),
        ("delta", "between steps for 3 min", 3 * M, "stuck"),
        ("echo", "between steps for 7 h", 7 * H, "stuck"),
    ];
    for (place, title, ago, level) in cases {
        let findings: &[&str] = if level == "ok" {
            &[]
        } else {
            &["stalled-between-steps"]
        };
        all.push(
            t.busy(place, title)
                .prompt(ago + 5 * M, "Go through all files.")
                .steps(3, ago, 30)
                .is(level, "between-steps", findings),
        );
    }
    all.push(
        t.busy(
            "delta",
            "a step of 3 s ago has its finish but is not completed: it closes",
        )
        .prompt(40, "Test it.")
        .step(30)
        .ran(
            (20, 4),
            "bash",
            &json!({"command": "make", "description": "build"}),
            "ok\n",
        )
        .closing(3, "tool-calls")
        .fine("between-steps"),
    );
    all.push(
        t.busy("alpha", "a tool failed and the next step came at once")
            .prompt(3 * M, "Read it.")
            .step(3 * M - 5)
            .broke(
                (2 * M, 2 * M),
                "read",
                &json!({"filePath": "/nope"}),
                "File not found: /nope",
            )
            .ends(2 * M, "tool-calls")
            .step(15)
            .thinking(10)
            .fine("streaming"),
    );
    all
}

/// A summary is being written, once or for ever.
fn compactions(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "a compaction for 40 s", 40, "ok"),
        ("bravo", "a compaction for 3 min", 3 * M, "ok"),
        ("foxtrot", "a compaction for 285 s", 285, "ok"),
        ("foxtrot", "a compaction for 312 s", 312, "watch"),
        ("charlie", "a compaction for 7 min", 7 * M, "watch"),
        ("delta", "a compaction for 45 min", 45 * M, "watch"),
    ];
    for (place, title, ago, level) in cases {
        let findings: &[&str] = if level == "ok" {
            &[]
        } else {
            &["compaction-slow"]
        };
        all.push(
            t.busy(place, title)
                .prompt(ago + 10 * M, "Go on.")
                .steps(5, ago + 20, 30)
                .compaction(ago + 3)
                .step(ago)
                .summary()
                .writing(ago - 2)
                .is(level, "compacting", findings),
        );
    }
    // Each ended well, and no normal step came between.
    let mut turning = t
        .busy("bravo", "the fourth compaction in a row is being written")
        .prompt(20 * M, "Go on.")
        .steps(3, 12 * M, 30);
    for ago in [10 * M, 7 * M, 4 * M] {
        turning = summarised(turning, ago);
    }
    all.push(
        turning
            .compaction(2 * M)
            .step(2 * M - 1)
            .summary()
            .writing(2 * M - 4)
            .is("stuck", "compacting", &["compaction-loop"]),
    );
    let mut twice = t
        .busy("echo", "two compactions in a row, the second being written")
        .prompt(20 * M, "Go on.")
        .steps(3, 12 * M, 30);
    twice = summarised(twice, 4 * M);
    all.push(
        twice
            .compaction(M)
            .step(M - 1)
            .summary()
            .writing(M - 3)
            .fine("compacting"),
    );
    let mut often = t
        .busy(
            "alpha",
            "three compactions, each with normal steps after it",
        )
        .prompt(H, "Go on.")
        .steps(2, 50 * M, 30);
    for ago in [40 * M, 25 * M, 10 * M] {
        often = summarised(often, ago)
            .synthetic(ago - 2, "Continue if you have next steps")
            .steps(3, ago - 5 * M, 30);
    }
    all.push(often.step(4 * M).writing(10).fine("streaming"));
    all
}

pub(super) fn summarised(story: Story, ago: i64) -> Story {
    story
        .compaction(ago + 50)
        .step(ago + 49)
        .summary()
        .text(ago + 40, ago + 1, "We port a parser. So far: the lexer.")
        .ends(ago, "stop")
}

/// The loop goes on without bound.
fn loops(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "five steps of finish unknown under one prompt", 5, "unknown"),
        ("charlie", "nine steps of finish unknown under one prompt", 9, "unknown"),
        ("bravo", "three steps of finish stop under one prompt", 3, "stop"),
        ("delta", "six steps of finish stop under one prompt", 6, "stop"),
    ];
    for (place, title, times, finish) in cases {
        let mut story = t.busy(place, title).prompt(20 * M, "Say hello.");
        for n in (0..times).rev() {
            let end = 60 + n * 40;
            story = story
                .step(end + 30)
                .text(end + 20, end + 1, &format!("Hello number {n}!"))
                .ends(end, finish);
        }
        all.push(
            story
                .step(40)
                .writing(20)
                .is("stuck", "streaming", &["runaway"]),
        );
    }
    #[rustfmt::skip]
    let cases = [
        ("echo", "the same read with the same output 11 times in a row", 11, "stuck"),
        ("foxtrot", "the same read with the same output 10 times in a row", 10, "stuck"),
        ("foxtrot", "the same read with the same output 9 times in a row", 9, "watch"),
        ("foxtrot", "the same read with the same output 5 times in a row", 5, "watch"),
        ("bravo", "the same read with the same output 6 times in a row", 6, "watch"),
    ];
    for (place, title, times, level) in cases {
        let story = t.busy(place, title).prompt(20 * M, "Fix it.");
        let input = json!({"filePath": "/src/main.rs", "offset": 0});
        all.push(
            again(
                story,
                times,
                |_| input.clone(),
                |_| "fn main() {}".to_owned(),
            )
            .is(level, "streaming", &["runaway"]),
        );
    }
    all
}

/// `times` steps of one read each, then text.
fn again(
    mut story: Story,
    times: i64,
    input: impl Fn(i64) -> serde_json::Value,
    output: impl Fn(i64) -> String,
) -> Story {
    for n in (0..times).rev() {
        let end = 60 + n * 20;
        story = story
            .step(end + 15)
            .ran((end + 2, end + 1), "read", &input(n), &output(n))
            .ends(end, "tool-calls");
    }
    story.step(30).writing(20)
}

/// Almost a runaway.
fn no_loops(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "four steps of finish unknown under one prompt", 4, "unknown"),
        ("bravo", "two steps of finish stop under one prompt", 2, "stop"),
    ];
    for (place, title, times, finish) in cases {
        let mut story = t.busy(place, title).prompt(20 * M, "Say hello.");
        for n in (0..times).rev() {
            let end = 60 + n * 40;
            story = story
                .step(end + 30)
                .text(end + 20, end + 1, &format!("Hello number {n}!"))
                .ends(end, finish);
        }
        all.push(story.step(40).writing(20).fine("streaming"));
    }
    let same = json!({"filePath": "/src/main.rs"});
    let few = t
        .busy("alpha", "the same read 4 times in a row")
        .prompt(9 * M, "Fix it.");
    all.push(again(few, 4, |_| same.clone(), |_| "fn main() {}".to_owned()).fine("streaming"));
    let polling = t
        .busy(
            "charlie",
            "the same call 14 times, its output differs: it polls",
        )
        .prompt(20 * M, "Wait for the build.");
    all.push(again(polling, 14, |_| same.clone(), |n| format!("{n} jobs left")).fine("streaming"));
    let reading = t
        .busy("delta", "14 reads of different files with the same output")
        .prompt(20 * M, "Read all.");
    all.push(
        again(
            reading,
            14,
            |n| json!({"filePath": format!("/src/{n}.rs")}),
            |_| "// empty".to_owned(),
        )
        .fine("streaming"),
    );
    all
}

/// Two runs of one prompt.
fn doubles(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "two open answers to one prompt, 1 min", M),
        ("delta", "two open answers to one prompt, 15 min", 15 * M),
    ];
    for (place, title, ago) in cases {
        all.push(
            t.busy(place, title)
                .prompt(ago + 5, "Write it.")
                .step(ago)
                .writing(ago - 3)
                .step(ago - 2)
                .writing(ago - 6)
                .is("stuck", "streaming", &["double-run"]),
        );
    }
    all.push(
        t.busy(
            "bravo",
            "an open answer left by a crash 2 d ago, and a new prompt that runs",
        )
        .prompt(2 * 24 * H, "Write it.")
        .step(2 * 24 * H - 5)
        .bash(2 * 24 * H - 9, "make", 0, "cc -c a.c\n")
        .prompt(40, "Write it, I said.")
        .step(35)
        .writing(30)
        .fine("streaming"),
    );
    all
}
