//! What stands behind the name of a command: `:theme dark`, `:filter level:stuck`.
//!
//! A command that takes something has one arm in [`of`]: the words that it may be, to be completed,
//! and what is done with it.

use crate::core::app::keymap::Action;
use crate::core::app::{ATTENTION, App, COLUMNS, Effect, Sort, ThemeName, nearest};
use crate::core::time::{Span, UnixMs};

/// What a command takes.
pub(super) struct Argument {
    /// What may stand there where so much was typed; none: any text.
    pub words: fn(&App, &str) -> Vec<Word>,
    /// Does it, or says why not.
    pub run: fn(&mut App, &str, UnixMs) -> Result<Vec<Effect>, String>,
}

/// A word that may stand there.
pub(super) struct Word {
    /// The whole argument with it.
    pub text: String,
    /// As it is offered.
    pub shown: String,
    /// What it means.
    pub help: String,
}

/// Of one word those that begin so.
fn words<'a>(typed: &str, all: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Word> {
    let all = all.into_iter();
    all.filter(|(word, _)| word.starts_with(typed))
        .map(|(word, help)| Word {
            text: word.to_owned(),
            shown: word.to_owned(),
            help: help.to_owned(),
        })
        .collect()
}

/// What an action takes; `None`: nothing.
pub(super) fn of(action: Action) -> Option<Argument> {
    Some(match action {
        Action::Filter => Argument {
            words: filters,
            run: |app, text, _| Ok(app.set_filter(text)),
        },
        Action::Sort => Argument {
            words: orders,
            run: sort,
        },
        Action::SortColumn => Argument {
            words: columns,
            run: sort_column,
        },
        Action::Snooze => Argument {
            words: spans,
            run: snooze,
        },
        Action::Theme => Argument {
            words: themes,
            run: theme,
        },
        _ => return None,
    })
}

fn filters(app: &App, typed: &str) -> Vec<Word> {
    let offered = app.offered_at(typed, typed.chars().count());
    let before: String = typed.chars().take(offered.from).collect();
    let words = offered.words.into_iter();
    words
        .map(|word| Word {
            text: format!("{before}{word}"),
            shown: word,
            help: String::new(),
        })
        .collect()
}

fn orders(_: &App, typed: &str) -> Vec<Word> {
    let attention = (ATTENTION, "what needs attention first");
    let columns = COLUMNS.iter().map(|it| (it.name, it.meaning));
    let (sign, typed) = match typed.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", typed),
    };
    let mut words = words(typed, [attention].into_iter().chain(columns));
    for word in &mut words {
        word.text.insert_str(0, sign);
    }
    words
}

fn sort(app: &mut App, text: &str, _: UnixMs) -> Result<Vec<Effect>, String> {
    let sort = Sort::parse(text).ok_or_else(|| {
        let names = COLUMNS.iter().map(|it| it.name).chain([ATTENTION]);
        no("column", text, names)
    })?;
    Ok(app.sort_so(sort))
}

fn columns(app: &App, typed: &str) -> Vec<Word> {
    let shown = app.ui.columns.iter().zip(1..);
    let all: Vec<(String, &str)> = shown
        .map(|(column, number)| (number.to_string(), column.about().name))
        .collect();
    words(typed, all.iter().map(|(word, help)| (word.as_str(), *help)))
}

fn sort_column(app: &mut App, text: &str, _: UnixMs) -> Result<Vec<Effect>, String> {
    let number: Option<usize> = text.parse().ok();
    let place = number.and_then(|it| it.checked_sub(1));
    let place = place.ok_or_else(|| format!("`{text}` is no number of a column"))?;
    Ok(app.sort_at(place))
}

fn spans(_: &App, typed: &str) -> Vec<Word> {
    let spans = ["15m", "1h", "4h", "1d"];
    words(
        typed,
        spans.map(|it| (it, "awake again after that at the latest")),
    )
}

fn snooze(app: &mut App, text: &str, _: UnixMs) -> Result<Vec<Effect>, String> {
    let span = Span::parse(text).filter(|it| *it > Span::ZERO);
    let span = span.ok_or_else(|| format!("`{text}` is no time: say 15m, 1h or 1d"))?;
    if app.is_still() {
        let key = app.key_of(Action::Freeze);
        return Err(format!("the screen is frozen: {key} lets it go on"));
    }
    if let Some(why) = app.covered(Action::Snooze) {
        return Err(why);
    }
    Ok(app.snooze(Some(span)))
}

/// There is none of that name; the nearest that there is.
fn no<'a>(what: &str, name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(name, names);
    let near = near.map_or(String::new(), |it| format!(", did you mean `{it}`?"));
    format!("there is no {what} `{name}`{near}")
}

fn themes(_: &App, typed: &str) -> Vec<Word> {
    words(typed, ThemeName::ALL.map(|it| (it.word(), it.meaning())))
}

fn theme(app: &mut App, name: &str, _: UnixMs) -> Result<Vec<Effect>, String> {
    let found = ThemeName::named(name);
    let found = found.ok_or_else(|| no("theme", name, ThemeName::ALL.map(ThemeName::word)))?;
    app.ui.theme = Some(found);
    Ok(Vec::new())
}
