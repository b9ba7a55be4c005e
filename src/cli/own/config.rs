//! `ocwatch config`: write a first file, show what is in force, check it, say where it lies.
//!
//! What it does: print and write. What it does not: speak to a server, or show a password.

use crate::cli::args::{Common, Said, SaidOption};
use crate::cli::config::show::{Origin, Shown, in_force};
use crate::cli::config::{self, Config, ConfigError, init};
use crate::cli::{env, servers, start, theme};
use crate::core::present::clean;
use crate::shell::commands::say;
use crate::shell::exit::{Exit, Trouble};
use clap::parser::ValueSource;
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The file that was named, else the usual one.
fn place(common: &Common) -> Result<PathBuf, Trouble> {
    let place = common.config.clone().or_else(start::config_file);
    let none = "there is no home for a configuration: name a file with --config";
    place.ok_or_else(|| Trouble::Usage(none.to_owned()))
}

/// `config path`.
pub(super) fn path(common: &Common, out: &mut impl Write) -> Result<Exit, Trouble> {
    let path = place(common)?;
    writeln!(out, "{}", path.display())?;
    out.flush()?;
    if config::is_missing(&path) {
        let text = "that file is not there: ocwatch config init writes it";
        say(text, &theme(common));
    }
    Ok(Exit::Done)
}

/// `config init`.
pub(super) fn init(common: &Common, force: bool, out: &mut impl Write) -> Result<Exit, Trouble> {
    let path = place(common)?;
    let failed = |why: std::io::Error| {
        let why = match why.kind() {
            ErrorKind::AlreadyExists => "it is there already (--force writes over it)".to_owned(),
            _ => why.to_string(),
        };
        Trouble::Failed(format!("failed to write {}: {why}", path.display()))
    };
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    write(&path, force).map_err(failed)?;
    writeln!(out, "{}", path.display())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Whole or not at all, and for its owner only: a password may come to stand in it.
fn write(path: &Path, force: bool) -> std::io::Result<()> {
    let dir = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(dir.unwrap_or(Path::new(".")))?;
    file.write_all(init::text().as_bytes())?;
    let placed = if force {
        file.persist(path)
    } else {
        file.persist_noclobber(path)
    };
    placed.map(drop).map_err(|why| why.error)
}

/// `config check`: the mistakes of the file, then what it names and is not to be had.
pub(super) fn check(
    common: &Common,
    file: Option<&Path>,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let named = file.or(common.config.as_deref());
    let path = named.map_or_else(|| place(common), |it| Ok(it.to_owned()))?;
    if named.is_none() && config::is_missing(&path) {
        writeln!(
            out,
            "{}: not there, so the defaults are in force",
            path.display()
        )?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let wrong = match config::load_all(&path) {
        Ok((config, wrong)) if wrong.is_empty() => not_to_be_had(&config),
        Ok((_, wrong)) => wrong.iter().map(ConfigError::to_string).collect(),
        Err(why) => vec![why.to_string()],
    };
    for line in &wrong {
        say(line, &theme(common));
    }
    if !wrong.is_empty() {
        return Ok(Exit::Usage);
    }
    writeln!(out, "{}: no mistakes", path.display())?;
    out.flush()?;
    Ok(Exit::Done)
}

fn not_to_be_had(config: &Config) -> Vec<String> {
    let one = |name: &str| servers::resolve(&[name.to_owned()], config, &env::var).err();
    let missing = config.server.iter().filter_map(|entry| one(&entry.name));
    let path = config.path.display();
    missing.map(|why| format!("{path}: {why}")).collect()
}

/// `config show`.
pub(super) fn show(
    common: &Common,
    said: &Said,
    as_json: bool,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let usage =
        |why: ConfigError| Trouble::Usage(format!("failed to use the configuration: {why}"));
    let path = place(common)?;
    let is_there = common.config.is_some() || !config::is_missing(&path);
    let (config, text) = if is_there {
        config::load_with_text(&path).map_err(usage)?
    } else {
        (Config::default(), String::new())
    };
    let mut all = in_force(&config, &text, &env::var);
    overrule(&mut all, said);
    if as_json {
        crate::shell::print::json(out, &document(&path, is_there, &all))?;
        return Ok(Exit::Done);
    }
    let state = if is_there {
        ""
    } else {
        " (not there: ocwatch config init writes it)"
    };
    writeln!(out, "# {}{state}", path.display())?;
    table(&all, out)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The keys of the file that an option stands for.
fn key_of(option: &SaidOption) -> Option<&'static str> {
    Some(match option.id.as_str() {
        "inspect" => "inspect",
        "theme" => "theme.name",
        "sort" => "table.sort",
        "no_mouse" => "ui.mouse",
        _ => return None,
    })
}

fn says_yes(option: &SaidOption) -> bool {
    option.values.first().is_some_and(|it| it == "true")
}

/// Puts what was said on the command line or in the environment in place of what the file says.
fn overrule(all: &mut Vec<Shown>, said: &Said) {
    let mut options = Vec::new();
    for option in said.options() {
        let origin = match (option.source, &option.variable) {
            (Some(ValueSource::CommandLine), _) => Origin::Flag(option.flag.clone()),
            (Some(ValueSource::EnvVariable), Some(name)) => Origin::Environment(name.clone()),
            _ => Origin::Default,
        };
        let in_file = key_of(option).and_then(|key| all.iter_mut().find(|it| it.path == key));
        match in_file {
            Some(_) if origin == Origin::Default => {}
            // It takes the mouse away, and never gives it.
            Some(_) if option.id == "no_mouse" && !says_yes(option) => {}
            Some(shown) => {
                let value = match option.id.as_str() {
                    "no_mouse" => false.to_string(),
                    _ => value_of(option),
                };
                shown.value = Some(value);
                shown.origin = origin;
            }
            None => options.push(Shown {
                path: format!("options.{}", option.id),
                value: Some(value_of(option)).filter(|it| !it.is_empty()),
                origin,
                note: None,
            }),
        }
    }
    all.extend(options);
}

fn value_of(option: &SaidOption) -> String {
    let quoted = option.values.iter().map(|it| {
        if it.parse::<f64>().is_ok() || matches!(it.as_str(), "true" | "false") {
            return it.clone();
        }
        let shown = match option.id.as_str() {
            "server" => servers::without_credentials(it),
            _ => clean(it),
        };
        toml::Value::from(shown).to_string()
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn from(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::File(path, line) => format!("{}:{line}", path.display()),
        Origin::Environment(name) => format!("{name} (environment)"),
        Origin::Flag(flag) => format!("{flag} (command line)"),
    }
}

/// Key, value, and where it comes from.
fn table(all: &[Shown], out: &mut impl Write) -> std::io::Result<()> {
    /// No value pushes the last column further.
    const WIDEST: usize = 40;
    let value = |shown: &Shown| match (&shown.value, &shown.note) {
        (Some(value), Some(note)) => format!("{value} ({note})"),
        (Some(value), None) => value.clone(),
        (None, Some(note)) => format!("({note})"),
        (None, None) => "(not set)".to_owned(),
    };
    let rows: Vec<_> = all
        .iter()
        .map(|it| (clean(&it.path), clean(&value(it)), from(&it.origin)))
        .collect();
    let widest = |of: fn(&(String, String, String)) -> usize| {
        rows.iter().map(of).max().unwrap_or_default().min(WIDEST)
    };
    let (keys, values) = (
        widest(|it| it.0.chars().count()),
        widest(|it| it.1.chars().count()),
    );
    for (key, value, from) in &rows {
        writeln!(out, "{key:keys$}  {value:values$}  {}", clean(from))?;
    }
    Ok(())
}

fn document(path: &Path, is_there: bool, all: &[Shown]) -> Value {
    let values = all.iter().map(|it| {
        let value = it.value.as_deref().and_then(as_json);
        let mut one = json!({"key": it.path, "value": value, "note": it.note});
        let (from, line, name) = match &it.origin {
            Origin::Default => ("default", None, None),
            Origin::File(_, line) => ("file", Some(*line), None),
            Origin::Environment(name) => ("environment", None, Some(name)),
            Origin::Flag(flag) => ("flag", None, Some(flag)),
        };
        one["from"] = json!(from);
        one["line"] = json!(line);
        one["name"] = json!(name);
        one
    });
    json!({
        "schema": "ocwatch.config/1",
        "file": path.display().to_string(),
        "exists": is_there,
        "values": values.collect::<Vec<_>>(),
    })
}

/// A TOML value as JSON; several words (a list of servers) stay one text.
fn as_json(value: &str) -> Option<Value> {
    let table: Result<toml::Table, _> = toml::from_str(&format!("v = {value}"));
    let value = match table {
        Ok(mut table) => table.remove("v")?,
        Err(_) => toml::Value::from(value),
    };
    serde_json::to_value(value).ok()
}
