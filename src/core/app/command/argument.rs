//! What stands behind the name of a command: `:theme dark`, `:filter level:stuck`.
//!
//! A command that takes something has one arm in [`of`]: the words that it may be, to be completed,
//! and what is done with it.

use crate::core::app::keymap::Action;
use crate::core::app::{App, Effect, ThemeName, nearest};
use crate::core::time::UnixMs;

/// What a command takes.
pub(super) struct Argument {
    /// The words that it may be, each with what it means; none: any text.
    pub words: fn(&App) -> Vec<(String, String)>,
    /// Does it, or says why not.
    pub run: fn(&mut App, &str, UnixMs) -> Result<Vec<Effect>, String>,
}

/// What an action takes; `None`: nothing.
pub(super) fn of(action: Action) -> Option<Argument> {
    Some(match action {
        Action::Filter => Argument {
            words: |_| Vec::new(),
            run: filter,
        },
        Action::Theme => Argument {
            words: themes,
            run: theme,
        },
        _ => return None,
    })
}

fn filter(app: &mut App, text: &str, _: UnixMs) -> Result<Vec<Effect>, String> {
    app.set_filter(text);
    Ok(Vec::new())
}

fn themes(_: &App) -> Vec<(String, String)> {
    let all = ThemeName::ALL.into_iter();
    all.map(|it| (it.word().to_owned(), String::new()))
        .collect()
}

fn theme(app: &mut App, name: &str, _: UnixMs) -> Result<Vec<Effect>, String> {
    let found = ThemeName::named(name).ok_or_else(|| {
        let near = nearest(name, ThemeName::ALL.map(ThemeName::word));
        let near = near.map_or(String::new(), |it| format!(", did you mean `{it}`?"));
        format!("there is no theme `{name}`{near}")
    })?;
    app.ui.theme = Some(found);
    Ok(Vec::new())
}
