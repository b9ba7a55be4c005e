//! What is in force, and where each value comes from.
//!
//! What it does: join the defaults, the file, the environment and the flags to a list. What it does
//! not: print it. Invariant: no password is part of what it gives; a URL is shown without its own.

use super::Config;
use super::rows::rows;
use crate::cli::servers::{self, Lookup, without_credentials};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// This line of the file.
    File(PathBuf, usize),
    /// This variable of the environment.
    Environment(String),
    /// This flag of the command line.
    Flag(String),
}

/// A value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Section and key from the top, as TOML names them; of a server `server.NAME.key`.
    pub path: String,
    /// As TOML writes it; `None`: not set.
    pub value: Option<String>,
    /// Who said so.
    pub origin: Origin,
    /// What else is to be known of it, as whether a variable is set.
    pub note: Option<String>,
}

/// What the file says of keys that are no server's, by their paths.
type Said = BTreeMap<String, (String, usize)>;

/// Everything that is in force by defaults and the file, servers first, then in the order of
/// `config init`; `text` is that of the file. What no row knows (a tool, a finding) stands at the end.
pub fn in_force(config: &Config, text: &str, env: Lookup<'_>) -> Vec<Shown> {
    let table = DeTable::parse(text).map(Spanned::into_inner);
    let table = table.unwrap_or_default();
    let mut said = said(&table, text);
    let at = |line| Origin::File(config.path.clone(), line);
    let mut all = of_servers(&table, config, text, env);
    for row in rows(&config.thresholds) {
        let path = row.path();
        let (value, origin) = match said.remove(&path) {
            // A threshold of two stages may be set by half.
            Some((_, line)) if row.section == "limits" => (row.default, at(line)),
            Some((value, line)) => (Some(value), at(line)),
            None if row.default.is_none() && row.section.contains('.') => continue,
            None => (row.default, Origin::Default),
        };
        all.push(Shown {
            path,
            value,
            origin,
            note: None,
        });
    }
    let rest = said.into_iter().map(|(path, (value, line))| Shown {
        path,
        value: Some(value),
        origin: at(line),
        note: None,
    });
    all.extend(rest);
    all
}

/// The sections within sections.
const DEEPER: [&str; 2] = ["limits.tool", "notify.finding"];

fn said(table: &DeTable, text: &str) -> Said {
    let mut said = Said::new();
    for (key, value) in table {
        match value.get_ref().as_table() {
            Some(section) => below(key.get_ref(), section, text, &mut said),
            None if key.get_ref() == "server" => {}
            None => drop(said.insert(key.get_ref().to_string(), written(value, key, text))),
        }
    }
    said
}

fn below(section: &str, table: &DeTable, text: &str, said: &mut Said) {
    for (key, value) in table {
        let path = format!("{section}.{}", bare_or_quoted(key.get_ref()));
        match value.get_ref().as_table() {
            Some(deeper) if DEEPER.contains(&path.as_str()) => below(&path, deeper, text, said),
            _ => drop(said.insert(path, written(value, key, text))),
        }
    }
}

fn written(value: &Spanned<DeValue>, key: &Spanned<impl Sized>, text: &str) -> (String, usize) {
    let whole = Value::deserialize(value.clone().into_deserializer());
    let shown = whole.map(|it| hidden(it).to_string()).unwrap_or_default();
    (shown, super::line_of(text, key.span().start))
}

/// Without what could be a password in a URL.
fn hidden(value: Value) -> Value {
    match value {
        Value::String(it) if it.contains("://") && it.contains('@') => {
            Value::String(without_credentials(&it))
        }
        Value::Array(all) => Value::Array(all.into_iter().map(hidden).collect()),
        other => other,
    }
}

fn bare_or_quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.chars().all(bare) && !key.is_empty() {
        return key.to_owned();
    }
    Value::from(key).to_string()
}

fn of_servers(table: &DeTable, config: &Config, text: &str, env: Lookup<'_>) -> Vec<Shown> {
    let list = table.get("server").and_then(|it| it.get_ref().as_array());
    let mut all = Vec::new();
    for (table, entry) in list.into_iter().flatten().zip(&config.server) {
        let name = bare_or_quoted(&entry.name);
        let mut keys: Vec<_> = table.get_ref().as_table().into_iter().flatten().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in keys {
            let (mut shown, line) = written(value, key, text);
            let origin = Origin::File(config.path.clone(), line);
            let key: &str = key.get_ref();
            if key == "url" {
                let address = servers::parse(&entry.url).ok();
                shown = Value::from(without_credentials(&entry.url)).to_string();
                let secret = address.is_some_and(|it| it.credentials.is_some());
                all.extend(secret.then(|| Shown {
                    path: format!("server.{name}.password"),
                    value: None,
                    origin: origin.clone(),
                    note: Some("set in its url, not shown".to_owned()),
                }));
            }
            let note = match key {
                "password_env" => entry
                    .password_env
                    .as_ref()
                    .map(|it| is_set(env(it).as_ref())),
                "password_file" => entry.password_file.as_deref().map(is_readable),
                _ => None,
            };
            all.push(Shown {
                path: format!("server.{name}.{key}"),
                value: Some(shown),
                origin,
                note,
            });
        }
    }
    all
}

fn is_set(value: Option<&String>) -> String {
    let word = if value.is_some() {
        "set, not shown"
    } else {
        "not set"
    };
    word.to_owned()
}

fn is_readable(path: &Path) -> String {
    let read = servers::private_file(path);
    read.map_or_else(|why| why, |_| "set, not shown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn shown(text: &str) -> Vec<Shown> {
        let config = parse(Path::new("/c"), text).expect("it reads");
        let env = |name: &str| (name == "SET").then(|| "hunter2".to_owned());
        in_force(&config, text, &env)
    }

    fn one(all: &[Shown], path: &str) -> (Option<String>, Option<usize>) {
        let found = all.iter().find(|it| it.path == path);
        let found = found.unwrap_or_else(|| panic!("no {path}: {all:#?}"));
        let line = match &found.origin {
            Origin::File(path, line) if path == Path::new("/c") => Some(*line),
            _ => None,
        };
        (found.value.clone(), line)
    }

    #[test]
    fn each_value_tells_its_line_or_that_it_is_the_default() {
        let text = "inspect = \"all\"\n[limits]\nstale_busy = \"40s\"\nsilent_stream = { stuck = \"1h\" }\n[limits.tool]\n\"mcp:*\" = \"1m\"\n\"my tool\" = \"2m\"\n[notify]\nbell = [\n  # only this\n  \"stuck\",\n]\n[notify.finding]\nhung-tool = \"off\"\n";
        let all = shown(text);
        let is = |path: &str, value: &str, line: Option<usize>| {
            assert_eq!(one(&all, path), (Some(value.to_owned()), line), "{path}");
        };
        is("inspect", "\"all\"", Some(1));
        is("limits.stale_busy", "\"40s\"", Some(3));
        is(
            "limits.silent_stream",
            "{ watch = \"3m\", stuck = \"1h\" }",
            Some(4),
        );
        is("limits.tool.\"mcp:*\"", "\"1m\"", Some(6));
        is("limits.tool.\"my tool\"", "\"2m\"", Some(7));
        is("limits.tool.default", "\"10m\"", None);
        is("notify.bell", "[\"stuck\"]", Some(9));
        is("notify.finding.hung-tool", "\"off\"", Some(14));
        is("keys.abort", "\"a\"", None);
        assert_eq!(one(&all, "table.columns"), (None, None));
        let mut paths: Vec<&String> = all.iter().map(|it| &it.path).collect();
        paths.sort();
        let before = paths.len();
        paths.dedup();
        assert_eq!(paths.len(), before, "each stands once");
    }

    #[test]
    fn passwords_are_told_but_not_shown() {
        let text = "[[server]]\nname = \"home\"\nurl = \"http://me:hunter2@nas:1\"\n[[server]]\nname = \"build\"\nurl = \"build:1\"\npassword_env = \"SET\"\n[[server]]\nname = \"far\"\nurl = \"far:1\"\npassword_env = \"UNSET\"\n[notify]\ncommand = [\"curl\", \"https://me:hunter2@push\"]\n";
        let all = shown(text);
        assert!(!format!("{all:?}").contains("hunter2"), "{all:#?}");
        let note = |path: &str| {
            let found = all.iter().find(|it| it.path == path);
            found.and_then(|it| it.note.clone()).unwrap_or_default()
        };
        assert_eq!(note("server.home.password"), "set in its url, not shown");
        assert_eq!(note("server.build.password_env"), "set, not shown");
        assert_eq!(note("server.far.password_env"), "not set");
        let url = one(&all, "server.home.url");
        assert_eq!(url, (Some("\"http://nas:1\"".to_owned()), Some(3)));
        assert_eq!(
            one(&all, "notify.command").0.as_deref(),
            Some("[\"curl\", \"https://push\"]")
        );
    }
}
