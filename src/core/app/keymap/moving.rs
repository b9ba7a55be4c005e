//! Keys that move about. Data only: see [`super`].

use super::{Action, Binding, Key, When, bind};

/// In the order of help and footer.
pub(super) static TABLE: &[Binding] = &[
    bind(
        Action::Down,
        "down",
        &[Key::Char('j'), Key::Down],
        "down",
        "next row",
        When::Moving,
    ),
    bind(
        Action::Up,
        "up",
        &[Key::Char('k'), Key::Up],
        "up",
        "previous row",
        When::Moving,
    ),
    bind(
        Action::Top,
        "top",
        &[Key::Char('g'), Key::Home],
        "top",
        "first row",
        When::Moving,
    ),
    bind(
        Action::Bottom,
        "bottom",
        &[Key::Char('G'), Key::End],
        "bottom",
        "last row",
        When::Moving,
    ),
    bind(
        Action::PageDown,
        "page-down",
        &[Key::PageDown],
        "page down",
        "a screenful down",
        When::Moving,
    ),
    bind(
        Action::PageUp,
        "page-up",
        &[Key::PageUp],
        "page up",
        "a screenful up",
        When::Moving,
    ),
    bind(
        Action::HalfDown,
        "half-down",
        &[Key::Ctrl('d')],
        "half down",
        "half a screenful down",
        When::Moving,
    ),
    bind(
        Action::HalfUp,
        "half-up",
        &[Key::Ctrl('u')],
        "half up",
        "half a screenful up",
        When::Moving,
    ),
    bind(
        Action::Fold,
        "fold",
        &[Key::Char('h'), Key::Left],
        "fold",
        "fold the children of this row; on a child, go to its parent",
        When::Moving,
    ),
    bind(
        Action::Unfold,
        "unfold",
        &[Key::Char('l'), Key::Right],
        "unfold",
        "unfold the children of this row",
        When::Moving,
    ),
];
