//! `[theme]` of the configuration: which theme, and styles in place of its own.
//!
//! What it does: read it; a mistake is told with its place and the nearest right word. What it does
//! not: decide between this, the environment and the command line.

use super::section::Section;
use super::wrong::{self, Wrong, nearest};
use crate::core::app::ThemeName;
use crate::tui::{PARTS, Part, read_style, style_words};
use ratatui::style::Style;
use toml::Value;

/// What follows from it.
#[derive(Debug, Default)]
pub struct Look {
    /// The theme that is named.
    pub name: Option<ThemeName>,
    /// Styles in place of the theme's.
    pub changed: Vec<(Part, Style)>,
}

/// The look that follows from a section.
pub(super) fn read(section: &Section, wrong: &mut Vec<Wrong>) -> Look {
    let mut look = Look::default();
    for line in section.lines() {
        line.note(set(&mut look, &line.key, &line.value), wrong);
    }
    look
}

fn set(look: &mut Look, key: &str, value: &Value) -> Result<(), String> {
    let part = PARTS.iter().find(|(name, _)| *name == key);
    let text = value.as_str();
    match (key, part, text) {
        ("name", _, Some(text)) => look.name = Some(theme(text)?),
        (_, Some((_, part)), Some(text)) => look.changed.push((*part, style(key, text)?)),
        ("name", ..) => return Err("`name` must be the name of a theme in quotes".to_owned()),
        (_, Some(_), None) => {
            return Err(format!("`{key}` must be a style like \"red bold\""));
        }
        _ => return Err(unknown(key)),
    }
    Ok(())
}

/// The theme of this name; else says which there are.
pub fn theme(name: &str) -> Result<ThemeName, String> {
    let all = ThemeName::ALL.map(ThemeName::word);
    ThemeName::named(name).ok_or_else(|| match nearest(name, all) {
        Some(near) => format!("no theme is called {name:?}, did you mean {near:?}?"),
        None => format!("no theme is called {name:?}; there are {}", all.join(", ")),
    })
}

fn style(key: &str, text: &str) -> Result<Style, String> {
    read_style(text).map_err(|unread| {
        let word = unread.0;
        match nearest(&word, style_words()) {
            Some(near) => format!("`{key}`: unknown word `{word}`, did you mean `{near}`?"),
            None => format!(
                "`{key}`: unknown word `{word}`; a style is like \"white on blue bold\", a colour a \
                 name, a number to 255, or #rrggbb"
            ),
        }
    })
}

fn unknown(key: &str) -> String {
    let keys = PARTS.iter().map(|(name, _)| *name).chain(["name"]);
    let all: Vec<&str> = keys.collect();
    let otherwise = format!("; there are {}", all.join(", "));
    wrong::unknown("key", key, all, &otherwise)
}
