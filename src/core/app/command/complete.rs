//! What a command that is being typed may become.

use super::{ALIASES, argument, named};
use crate::core::app::keymap::{Action, Binding, keymap};
use crate::core::app::{App, nearest};

/// One of the things that a typed command may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The whole line, with this in it.
    pub text: String,
    /// The word that is offered.
    pub word: String,
    /// What it does or means.
    pub help: String,
    /// The action that it names; `None`: it stands behind one.
    pub action: Option<Action>,
    /// Something may stand behind it.
    pub takes: bool,
}

/// Of names those that begin with what was typed, then those that contain it; behind the name of a
/// command what that takes.
pub(super) fn completions(app: &App, stem: &str) -> Vec<Completion> {
    let stem = stem.trim_start();
    match stem.split_once(char::is_whitespace) {
        None => names(stem),
        Some((name, rest)) => arguments(app, name, rest.trim_start()),
    }
}

fn names(typed: &str) -> Vec<Completion> {
    let all = keymap().filter(|it| it.action != Action::Command);
    let (begin, others): (Vec<&Binding>, Vec<&Binding>) =
        all.partition(|it| it.name.starts_with(typed));
    let contain = others.into_iter().filter(|it| it.name.contains(typed));
    let all = begin.into_iter().chain(contain);
    all.map(|it| Completion {
        text: it.name.to_owned(),
        word: it.name.to_owned(),
        help: it.help.to_owned(),
        action: Some(it.action),
        takes: argument::of(it.action).is_some(),
    })
    .collect()
}

fn arguments(app: &App, name: &str, typed: &str) -> Vec<Completion> {
    let Some(argument) = named(name).and_then(argument::of) else {
        return Vec::new();
    };
    let all = (argument.words)(app, typed).into_iter();
    all.map(|it| Completion {
        text: format!("{name} {}", it.text),
        word: it.shown,
        help: it.help,
        action: None,
        takes: false,
    })
    .collect()
}

/// Said of a name that no command has.
pub(super) fn unknown(name: &str) -> String {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    let names = keymap().map(|it| it.name).chain(aliases);
    match nearest(name, names) {
        Some(near) => format!("there is no command `{name}`, did you mean `{near}`?"),
        None => format!("there is no command `{name}`; Tab shows those that there are"),
    }
}
