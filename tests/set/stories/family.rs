//! Parents and their subagents: who asks, who is stuck, whose result never came.

use crate::stories::api_error;
use crate::stories::tools::unknown;
use crate::story::{H, M, Story, Teller};
use serde_json::json;

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = asking(t);
    all.extend(grandchild(t));
    all.extend(stuck(t));
    all.extend(working(t));
    all.extend(lost_results(t));
    all.extend(background(t));
    all.extend(orphans(t));
    all.extend(crashes(t));
    all.extend(several(t));
    all
}

/// A busy parent before its task begins.
fn parent(t: &mut Teller, place: &str, title: &str, ago: i64) -> Story {
    t.busy(place, title)
        .prompt(ago + 12, "Let somebody look at it.")
        .step(ago + 6)
}

fn needs_you(story: Story) -> Story {
    story.is("needs-you", "subagent", &["subagent-needs-you"])
}

fn is_stuck(story: Story) -> Story {
    story.is("stuck", "subagent", &["subagent-stuck"])
}

/// A child waits for a person: so does its parent.
fn asking(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "a child's bash asks since 2 min", 2 * M),
        ("charlie", "a child's bash asks since 14 h", 14 * H),
    ];
    for (place, title, ago) in cases {
        let up = parent(t, place, &format!("{title} (parent)"), ago + 20);
        let child = up
            .child(t, title, true)
            .prompt(ago + 18, "Find it.")
            .step(ago + 10)
            .bash_not_begun(ago + 1, "find / -name x", 0)
            .asks(ago, "bash", "find / -name x")
            .is("needs-you", "asking", &["waiting-permission"])
            .blind("ok", &[])
            .blind("needs-you", &["possible-permission"])
            .blind("watch", &["possible-permission"]);
        let up = needs_you(up.task(ago + 20, &child))
            .blind("ok", &[])
            .blind("needs-you", &["subagent-needs-you"]);
        all.extend([up, child]);
    }
    let up = parent(t, "delta", "a child asks a question (parent)", 5 * M);
    let child = up
        .child(t, "a child asks a question", true)
        .prompt(5 * M - 2, "Find it.")
        .step(5 * M - 8)
        .question(4 * M, "Which one?")
        .asked(4 * M, "Which one?")
        .is("needs-you", "asking", &["waiting-question"]);
    let up = needs_you(up.task(5 * M, &child));
    all.extend([up, child]);
    let up = parent(t, "echo", "a child's retry needs a person (parent)", 9 * M);
    let mut child = up
        .child(t, "a child's retry needs a person", true)
        .prompt(9 * M - 2, "Find it.")
        .blank(9 * M - 5)
        .is("needs-you", "starting", &["retrying"]);
    child.status = Some(
        json!({"type": "retry", "attempt": 6, "message": "Overloaded",
        "next": t.now + 90_000}),
    );
    let up = needs_you(up.task(9 * M, &child));
    all.extend([up, child]);
    all
}

/// Three generations, the last in another project.
fn grandchild(t: &mut Teller) -> Vec<Story> {
    let ago = 6 * M;
    let top = parent(
        t,
        "alpha",
        "a grandchild elsewhere asks (grandparent)",
        ago + 60,
    );
    let middle = top
        .child(t, "a grandchild elsewhere asks (parent)", true)
        .prompt(ago + 58, "Find it.")
        .step(ago + 50);
    let low = middle
        .child(t, "a grandchild elsewhere asks", true)
        .moved("bravo")
        .prompt(ago + 38, "Find it.")
        .step(ago + 30)
        .question(ago, "Which?")
        .asked(ago, "Which?")
        .is("needs-you", "asking", &["waiting-question"]);
    let middle = needs_you(middle.task(ago + 40, &low));
    let top = needs_you(top.task(ago + 60, &middle));
    let ago = 20 * M;
    let up = parent(
        t,
        "delta",
        "a grandchild elsewhere is stuck (grandparent)",
        ago + 60,
    );
    let between = up
        .child(t, "a grandchild elsewhere is stuck (parent)", true)
        .prompt(ago + 58, "Find it.")
        .step(ago + 50);
    let down = between
        .child(t, "a grandchild elsewhere is stuck", true)
        .moved("sub")
        .prompt(ago + 38, "Find it.")
        .step(ago + 30)
        .bash(ago, "make", 0, "")
        .is("stuck", "running-tool", &["hung-tool"]);
    let between = is_stuck(between.task(ago + 40, &down));
    let up = is_stuck(up.task(ago + 60, &between));
    vec![top, middle, low, up, between, down]
}

/// A child does not get on: so its parent does not.
fn stuck(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    let up = parent(t, "alpha", "a child's bash is hung (parent)", 9 * M);
    let child = up
        .child(t, "a child's bash is hung", true)
        .prompt(9 * M - 2, "Find it.")
        .step(9 * M - 5)
        .bash(8 * M, "find / -name x", 0, "")
        .is("stuck", "running-tool", &["hung-tool"]);
    let up = is_stuck(up.task(9 * M, &child));
    all.extend([up, child]);
    let up = parent(
        t,
        "charlie",
        "a child is busy after its end (parent)",
        4 * M,
    );
    let child = up
        .child(t, "a child is busy after its end", true)
        .prompt(4 * M - 2, "Find it.")
        .step(4 * M - 5)
        .text(3 * M, 2 * M, "Found it.")
        .ends(2 * M, "stop")
        .is("stuck", "done", &["stale-busy"]);
    let up = is_stuck(up.task(4 * M, &child));
    all.extend([up, child]);
    let up = parent(t, "delta", "a child's question is lost (parent)", 30 * M);
    let child = up
        .child(t, "a child's question is lost", true)
        .prompt(30 * M - 2, "Find it.")
        .step(30 * M - 5)
        .question(29 * M, "Which?")
        .is("stuck", "running-tool|asking", &["lost-ask"]);
    let up = is_stuck(up.task(30 * M, &child));
    all.extend([up, child]);
    let up = parent(
        t,
        "echo",
        "a child stopped running under a running parent (parent)",
        4 * M,
    );
    let child = up
        .child(t, "a child stopped running under a running parent", false)
        .prompt(4 * M - 2, "Find it.")
        .step(4 * M - 5)
        .writing(3 * M)
        // Certain after 10 s: its parent runs here, so it would run here.
        .is("stuck", "streaming", &["interrupted"]);
    let up = is_stuck(up.task(4 * M, &child));
    all.extend([up, child]);
    all
}

/// However long a child works, its parent is fine.
fn working(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "a child works for 3 min", 3 * M),
        ("bravo", "a child works for 3 h", 3 * H),
    ];
    for (place, title, ago) in cases {
        let up = parent(t, place, &format!("{title} (parent)"), ago);
        let child = up
            .child(t, title, true)
            .prompt(ago - 2, "Find it.")
            .steps(3, 60, 20)
            .step(30)
            .writing(20)
            .fine("streaming");
        let up = up.task(ago, &child).fine("subagent");
        all.extend([up, child]);
    }
    let up = parent(t, "delta", "a child is between steps (parent)", 20 * M);
    let child = up
        .child(t, "a child is between steps", true)
        .prompt(20 * M - 2, "Find it.")
        .steps(3, 8, 20)
        .fine("between-steps");
    let up = up.task(20 * M, &child).fine("subagent");
    all.extend([up, child]);
    let up = parent(t, "charlie", "a child retries (parent)", 2 * M);
    let mut child = up
        .child(t, "a child retries", true)
        .prompt(2 * M - 2, "Find it.")
        .blank(2 * M - 4)
        .is("watch", "starting", &["retrying"]);
    child.status = Some(
        json!({"type": "retry", "attempt": 2, "message": "Overloaded",
        "next": t.now + 45_000}),
    );
    let up = up.task(2 * M, &child).fine("subagent");
    all.extend([up, child]);
    let up = parent(
        t,
        "bravo",
        "a child's ask was rejected, the parent goes on",
        5 * M,
    );
    let child = up
        .child(t, "a child whose ask was rejected", false)
        .prompt(5 * M - 2, "Find it.")
        .step(5 * M - 5)
        .broke(
            (4 * M, 2 * M),
            "question",
            &json!({}),
            "The user dismissed this question",
        )
        .ends(2 * M, "tool-calls")
        .ok("ended-early");
    let up = up
        .broke(
            (5 * M, 2 * M),
            "task",
            &json!({"description": "x"}),
            "Task ended early",
        )
        .ends(2 * M, "tool-calls")
        .step(20)
        .writing(15)
        .fine("streaming");
    all.extend([up, child]);
    let young = parent(t, "alpha", "a task that has no child yet", 2)
        .runs(
            2,
            "task",
            json!({"description": "look", "prompt": "x", "subagent_type": "general"}),
        )
        .fine("subagent|running-tool");
    all.push(unknown(young));
    all
}

/// The child is done, the parent never hears of it.
fn lost_results(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("delta", "a child ended 42 s ago", 42),
        ("alpha", "a child ended 2 min ago", 2 * M),
        ("echo", "a child ended 5 h ago", 5 * H),
    ];
    for (place, title, ago) in cases {
        let up = parent(
            t,
            place,
            &format!("{title}, its task still runs (parent)"),
            ago + 60,
        );
        let child = finished(up.child(t, title, false), ago);
        let up = up
            .task(ago + 60, &child)
            .is("stuck", "subagent", &["lost-subagent-result"]);
        all.extend([up, child]);
    }
    for (place, title, ago) in [
        ("bravo", "a child ended 2 s ago", 2),
        ("charlie", "a child ended 15 s ago", 15),
    ] {
        let up = parent(t, place, &format!("{title} (parent)"), ago + 60);
        let child = finished(up.child(t, title, false), ago);
        let up = up.task(ago + 60, &child).fine("subagent");
        all.extend([up, child]);
    }
    let up = parent(
        t,
        "charlie",
        "a child in the background ended 10 min ago (parent)",
        20 * M,
    );
    let child = finished(
        up.child(t, "a child in the background ended 10 min ago", false),
        10 * M,
    );
    let up = sent_off(up, &child, 20 * M).is("stuck", "done", &["lost-subagent-result"]);
    all.extend([up, child]);
    all
}

fn finished(child: Story, ago: i64) -> Story {
    child
        .prompt(ago + 55, "Find it.")
        .step(ago + 50)
        .text(ago + 40, ago + 1, "Found it.")
        .ends(ago, "stop")
        .ok("done")
}

/// The parent sent the child to the background, and ended its turn.
fn sent_off(mut up: Story, child: &Story, ago: i64) -> Story {
    up.status = None;
    up.task_returned((ago, ago - 1), child, "running")
        .ends(ago - 1, "tool-calls")
        .step(ago - 2)
        .text(ago - 3, ago - 5, "Somebody looks at it.")
        .ends(ago - 5, "stop")
}

/// The parent is done, the child is meant to run on.
fn background(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "works in the background for 4 min", 4 * M),
        ("delta", "works in the background for 2 h", 2 * H),
    ];
    for (place, title, ago) in cases {
        let up = parent(t, place, &format!("its child {title}"), ago);
        let child = up
            .child(t, title, true)
            .prompt(ago - 2, "Find it.")
            .steps(2, 60, 20)
            .step(30)
            .writing(20)
            .fine("streaming");
        let up = sent_off(up, &child, ago).fine("done");
        all.extend([up, child]);
    }
    let up = parent(
        t,
        "bravo",
        "its child came back from the background",
        30 * M,
    );
    let child = finished(up.child(t, "came back from the background", false), 20 * M);
    let told = format!(
        "<task id=\"{}\" state=\"completed\">\nFound it.\n</task>",
        child.id
    );
    let up = sent_off(up, &child, 30 * M)
        .synthetic(20 * M - 1, &told)
        .step(20 * M - 2)
        .text(20 * M - 3, 19 * M, "It was found.")
        .ends(19 * M, "stop")
        .ok("done");
    all.extend([up, child]);
    let up = parent(t, "delta", "its child asks from the background", 8 * M);
    let child = up
        .child(t, "asks from the background", true)
        .prompt(8 * M - 2, "Find it.")
        .step(8 * M - 5)
        .question(7 * M, "Which?")
        .asked(7 * M, "Which?")
        .is("needs-you", "asking", &["waiting-question"]);
    let up = sent_off(up, &child, 8 * M).is("needs-you", "done", &["subagent-needs-you"]);
    all.extend([up, child]);
    all
}

/// A child that nobody waits for.
fn orphans(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    let mut up = parent(t, "alpha", "aborted, its child runs on (parent)", 9 * M);
    up.status = None;
    let child = up
        .child(t, "runs on after its parent was aborted", true)
        .prompt(9 * M - 2, "Find it.")
        .step(60)
        .writing(50)
        .is("watch", "streaming", &["child-orphan"]);
    let up = up
        .broke(
            (9 * M, 8 * M),
            "task",
            &json!({"description": "look around"}),
            "Task cancelled",
        )
        .aborted(8 * M)
        .ok("aborted");
    all.extend([up, child]);
    let mut up = parent(t, "echo", "done, its child runs on (parent)", 3 * H);
    up.status = None;
    let child = up
        .child(t, "runs on after its parent was done", true)
        .prompt(3 * H - 2, "Find it.")
        .step(40)
        .bash(30, "make", 0, "")
        .is("watch", "running-tool", &["child-orphan"]);
    let up = up
        .task_returned((3 * H, 2 * H), &child, "completed")
        .ends(2 * H, "tool-calls")
        .step(2 * H - 1)
        .text(2 * H - 2, 2 * H - 8, "It was found.")
        .ends(2 * H - 8, "stop")
        .ok("done");
    all.extend([up, child]);
    let nobody = t
        .busy("bravo", "runs on, its parent was deleted")
        .of_nobody()
        .prompt(5 * M, "Find it.")
        .step(60)
        .writing(50)
        .is("watch", "streaming", &["child-orphan"]);
    let left = t
        .idle("delta", "left open 40 min ago, its parent was deleted")
        .of_nobody()
        .prompt(41 * M, "Find it.")
        .step(41 * M - 5)
        .writing(40 * M)
        .is("stuck", "streaming", &["interrupted", "child-orphan"]);
    let fine = finished(
        t.idle("alpha", "done, its parent was deleted").of_nobody(),
        2 * H,
    );
    all.extend([nobody, left, fine]);
    all
}

/// The server died under a family.
fn crashes(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("alpha", "a family crashed 50 min ago", 50 * M),
        ("delta", "a family crashed 20 h ago", 20 * H),
    ];
    for (place, title, ago) in cases {
        let mut up = parent(t, place, &format!("{title} (parent)"), ago + 60);
        up.status = None;
        let child = up
            .child(t, title, false)
            .prompt(ago + 58, "Find it.")
            .step(ago + 50)
            .bash(ago, "make", 0, "cc\n")
            .is("stuck", "running-tool", &["interrupted"]);
        let up = up
            .task(ago + 60, &child)
            .is("stuck", "subagent", &["interrupted"])
            // It is its child's ancestor too; the incident is one.
            .may("subagent-stuck");
        all.extend([up, child]);
    }
    let mut up = parent(t, "echo", "a family left 40 s ago (parent)", 60);
    up.status = None;
    let child = up
        .child(t, "a family left 40 s ago", false)
        .prompt(58, "Find it.")
        .step(50)
        .writing(40)
        .settles("interrupted")
        .is("ok", "streaming", &[]);
    let up = up
        .task(60, &child)
        .settles("interrupted")
        .is("ok", "subagent", &[]);
    all.extend([up, child]);
    let mut up = parent(
        t,
        "charlie",
        "crashed 2 h ago, its child had ended (parent)",
        2 * H + 90,
    );
    up.status = None;
    let child = finished(up.child(t, "ended before its parent crashed", false), 2 * H);
    let up = up
        .task(2 * H + 90, &child)
        .is("stuck", "subagent", &["interrupted"])
        // Its signature (task part running, child done) does not ask for a busy parent.
        .may("lost-subagent-result");
    all.extend([up, child]);
    all
}

/// One parent, several children.
fn several(t: &mut Teller) -> Vec<Story> {
    let up = parent(t, "delta", "of three children one asks (parent)", 3 * M);
    let works = |t: &mut Teller, up: &Story, title: &str| {
        up.child(t, title, true)
            .prompt(3 * M - 2, "Find it.")
            .step(30)
            .writing(20)
            .fine("streaming")
    };
    let first = works(t, &up, "of three children the first works");
    let second = up
        .child(t, "of three children the second asks", true)
        .prompt(3 * M - 2, "Find it.")
        .step(2 * M)
        .question(90, "Which?")
        .asked(90, "Which?")
        .is("needs-you", "asking", &["waiting-question"]);
    let third = works(t, &up, "of three children the third works");
    let up = needs_you(
        up.task(3 * M, &first)
            .task(3 * M, &second)
            .task(3 * M, &third),
    );
    let both = parent(t, "echo", "one child asks, one is stuck (parent)", 9 * M);
    let asks = both
        .child(t, "one child asks", true)
        .prompt(9 * M - 2, "Find it.")
        .step(8 * M)
        .question(7 * M, "Which?")
        .asked(7 * M, "Which?")
        .is("needs-you", "asking", &["waiting-question"]);
    let stuck = both
        .child(t, "one child is stuck", true)
        .prompt(9 * M - 2, "Find it.")
        .step(8 * M)
        .bash(7 * M, "make", 0, "")
        .is("stuck", "running-tool", &["hung-tool"]);
    let both = both.task(9 * M, &asks).task(9 * M, &stuck).is(
        "stuck",
        "subagent",
        &["subagent-stuck", "subagent-needs-you"],
    );
    let on = parent(t, "bravo", "a child failed, the parent goes on", 6 * M);
    let failed = on
        .child(t, "a child that failed", false)
        .prompt(6 * M - 2, "Find it.")
        .blank(6 * M - 5)
        .fails(5 * M, api_error(500, "Internal"))
        .is("needs-you", "failed", &["failed"]);
    // "Ancestors of a session that needs you get `subagent-needs-you`", with no word on a parent that has
    // the error already and works on.
    let on = on
        .broke(
            (6 * M, 5 * M),
            "task",
            &json!({"description": "x"}),
            "Internal",
        )
        .ends(5 * M, "tool-calls")
        .step(40)
        .writing(30)
        .is("needs-you", "streaming", &["subagent-needs-you"])
        .or("ok", &[]);
    vec![up, first, second, third, both, asks, stuck, on, failed]
}
