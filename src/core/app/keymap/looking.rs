//! Keys that change what is shown, and that leave. Data only: see [`super`].

use super::{Action, Binding, Key, When, bind};

/// In the order of help and footer.
pub(super) static TABLE: &[Binding] = &[
    bind(
        Action::Explain,
        "explain",
        &[Key::Char('x')],
        "explain",
        "show every rule that was tried, with its answer",
        When::Row,
    ),
    bind(
        Action::Open,
        "open",
        &[Key::Enter],
        "open",
        "open the detail; Enter again closes it",
        When::Row,
    ),
    bind(
        Action::Filter,
        "filter",
        &[Key::Char('/')],
        "filter",
        "show only some rows: text, level:stuck, age:>5m, !dir:x …; Tab completes, Esc clears",
        When::Always,
    ),
    bind(
        Action::Attention,
        "attention",
        &[Key::Char('!')],
        "attention only",
        "show only what needs attention, and what is about to; the rule says how many it hides",
        When::Always,
    ),
    bind(
        Action::Help,
        "help",
        &[Key::Char('?')],
        "help",
        "show or leave this help",
        When::Always,
    ),
    bind(
        Action::Back,
        "back",
        &[Key::Char('q'), Key::Esc],
        "quit",
        "go back; at the top, q quits",
        When::Always,
    ),
    bind(
        Action::Log,
        "log",
        &[Key::Tab],
        "log",
        "show or leave the log: what was done here and how it ended",
        When::Logged,
    ),
    bind(
        Action::Quit,
        "quit",
        &[Key::Char('Q'), Key::Ctrl('c')],
        "quit",
        "quit from anywhere",
        When::Moving,
    ),
    bind(
        Action::Redraw,
        "redraw",
        &[Key::Ctrl('l')],
        "redraw",
        "draw the whole screen again",
        When::Moving,
    ),
    bind(
        Action::Suspend,
        "suspend",
        &[Key::Ctrl('z')],
        "suspend",
        "put ocwatch in the background (fg brings it back)",
        When::Moving,
    ),
];
