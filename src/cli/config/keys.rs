//! `[keys]` of the configuration: which key does what.
//!
//! What it does: read keys by the names that are shown, and tell a mistake with its place and the
//! nearest right word. What it does not: decide whether two actions clash; the key table does.

use super::section::Section;
use super::wrong::{self, Wrong};
use crate::core::app::keymap::{Action, Clash, FIXED, Key, Keymap, binding, keymap};
use std::collections::BTreeMap;
use toml::Value;

/// The keys that follow from a section.
pub(super) fn read(section: &Section, wrong: &mut Vec<Wrong>) -> Keymap {
    let before = wrong.len();
    let mut wishes = Vec::new();
    let mut places = BTreeMap::new();
    // In the order of the file, so that the later of two is told.
    for line in section.lines() {
        match wish(&line.key, &line.value) {
            Ok(wish) => {
                places.insert(wish.0, line.offset);
                wishes.push(wish);
            }
            Err(why) => wrong.push(Wrong::at(line.offset, why)),
        }
    }
    if wrong.len() > before {
        // Whose keys are not known clashes with nothing.
        return Keymap::default();
    }
    Keymap::with(&wishes).unwrap_or_else(|clash| {
        let offset = places.get(&clash.wished).copied().unwrap_or_default();
        wrong.push(Wrong::at(offset, told(&clash)));
        Keymap::default()
    })
}

fn wish(name: &str, value: &Value) -> Result<(Action, Vec<Key>), String> {
    let found = keymap().find(|binding| binding.name == name);
    let action = found.ok_or_else(|| unknown(name))?.action;
    let names = match value {
        Value::String(one) if one.is_empty() => Vec::new(),
        Value::String(one) => vec![one.as_str()],
        Value::Array(all) => {
            let names = all.iter().map(Value::as_str).collect::<Option<Vec<&str>>>();
            names.ok_or_else(|| shape(name))?
        }
        _ => return Err(shape(name)),
    };
    let mut keys = Vec::new();
    for key in names {
        let parsed = Key::parse(key).map_err(|why| format!("`{name}`: `{key}` {why}"))?;
        if !keys.contains(&parsed) {
            keys.push(parsed);
        }
    }
    Ok((action, keys))
}

fn shape(name: &str) -> String {
    format!("`{name}` must be a key like \"a\", several like [\"a\", \"F1\"], or \"\" for none")
}

fn unknown(name: &str) -> String {
    let names = keymap().map(|binding| binding.name);
    wrong::unknown(
        "action",
        name,
        names,
        "; the README and the help (?) list them",
    )
}

/// Both by name, and the way out.
fn told(clash: &Clash) -> String {
    let name = |action| binding(action).map_or("?", |it| it.name);
    let (key, wished, has) = (clash.key, name(clash.wished), name(clash.has));
    if FIXED.contains(&(key, clash.has)) {
        return format!("`{wished}`: {key} is always `{has}`");
    }
    if clash.both {
        return format!("{key} is given to both `{has}` and `{wished}`");
    }
    format!(
        "`{wished}`: {key} is already the key of `{has}`; give that another one here, \
         as in {has} = \"…\", or none: {has} = \"\""
    )
}
