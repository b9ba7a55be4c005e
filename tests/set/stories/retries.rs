//! The provider failed and the server waits to try again.

use crate::story::{H, M, Story, Teller};

pub fn stories(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    // Attempt by attempt: a person is needed from the fifth on.
    #[rustfmt::skip]
    let cases = [
        ("retry, attempt 1, in 30 s", 1, 30, "watch"),
        ("retry, attempt 2, in 2 min", 2, 2 * M, "watch"),
        ("retry, attempt 4, in 9 min", 4, 9 * M, "watch"),
        ("retry, attempt 3, in 9 min 50 s", 3, 590, "watch"),
        ("retry, attempt 3, in 8 s", 3, 8, "watch"),
        ("retry, attempt 5, in 40 s", 5, 40, "needs-you"),
        ("retry, attempt 7, in 5 min", 7, 5 * M, "needs-you"),
    ];
    for (title, attempt, next, level) in cases {
        let story = t.retry("bravo", title, (attempt, next, "Overloaded"));
        all.push(blank(story, 3 * M).is(level, "starting", &["retrying"]));
    }
    let long = t.retry(
        "bravo",
        "retry, attempt 3, since 14 min",
        (3, 60, "Too many requests"),
    );
    // "From attempt 5 or 10 min": the status has no beginning. The message began 14 min ago, but part of
    // that was the first request's own time.
    all.push(
        blank(long, 14 * M)
            .is("needs-you", "starting", &["retrying"])
            .or("watch", &["retrying"]),
    );
    all.extend(overdue(t));
    all.extend(far(t));
    all
}

fn blank(story: Story, ago: i64) -> Story {
    story.prompt(ago + 4, "Write the parser.").blank(ago)
}

/// 10 s after `next` and it still has not tried.
fn overdue(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    #[rustfmt::skip]
    let cases = [
        ("retry, its time passed 20 s ago", 2, -20),
        ("retry, its time passed 12 s ago", 1, -12),
        ("retry, its time passed 6 min ago", 4, -6 * M),
        ("retry, attempt 6, its time passed 9 h ago", 6, -9 * H),
    ];
    for (title, attempt, next) in cases {
        let story = t.retry("delta", title, (attempt, next, "fetch failed"));
        all.push(blank(story, 3 * M - next).is("stuck", "starting", &["retry-overdue"]));
    }
    let just = t.retry(
        "delta",
        "retry, its time passed 1 s ago",
        (2, -1, "fetch failed"),
    );
    // Neither ahead nor 10 s past: it is about to try. Whether `retrying` still stands is not said.
    all.push(
        blank(just, 50)
            .is("watch", "starting", &["retrying"])
            .or("ok", &[]),
    );
    all
}

/// A wait that a person would rather end: the plan is used up, or a login is needed.
fn far(t: &mut Teller) -> Vec<Story> {
    let mut all = Vec::new();
    for (title, attempt, next) in [
        ("retry, in 12 min", 1, 12 * M),
        ("retry, in 10 min 20 s", 2, 620),
        ("retry, in 5 h", 2, 5 * H),
    ] {
        let story = t.retry("echo", title, (attempt, next, "Rate limit reached"));
        // `retrying` holds as well (`next` is ahead); the far one leads.
        all.push(
            blank(story, M)
                .is("needs-you", "starting", &["retry-far"])
                .may("retrying"),
        );
    }
    let story = t.retry(
        "echo",
        "retry, in 50 s, with an action",
        (1, 50, "Usage limit reached"),
    );
    all.push(
        blank(story, M)
            .action("Upgrade your plan")
            .is("needs-you", "starting", &["retry-far"])
            .may("retrying"),
    );
    let after_work = t
        .retry(
            "echo",
            "retry in the middle of a turn, attempt 2, in 25 s",
            (2, 25, "Overloaded"),
        )
        .prompt(5 * M, "Refactor it.")
        .steps(4, 2 * M, 30)
        .blank(70)
        .is("watch", "starting", &["retrying"]);
    all.push(after_work);
    all
}
