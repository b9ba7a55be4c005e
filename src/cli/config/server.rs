//! `[[server]]` of the configuration: the servers by name.
//!
//! What it does: read each; a mistake is told with its place, its key and the nearest right one, and
//! never repeats what could be a password. What it does not: look a password up, or connect.

use super::section::{Line, Section};
use super::wrong::{Wrong, flag, text, texts, unknown};
use crate::cli::args::Cli;
use crate::cli::servers;
use crate::net::client::Proxy;
use clap::CommandFactory;
use std::path::PathBuf;
use toml::Spanned;
use toml::de::DeValue;

/// One `[[server]]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerEntry {
    /// What it is called here.
    pub name: String,
    /// Where it is. May hold a password: never shown.
    pub url: String,
    /// For HTTP Basic; `opencode` if absent.
    pub username: Option<String>,
    /// Name of the environment variable that holds its password.
    pub password_env: Option<String>,
    /// A file that holds its password; refused if others can read it.
    pub password_file: Option<PathBuf>,
    /// Authorities that are trusted for it besides the system's, in PEM; beside this file.
    pub ca_file: Option<PathBuf>,
    /// `none`, or the proxy for it in place of the environment's.
    pub proxy: Option<String>,
    /// Only these directories.
    pub directories: Vec<String>,
    /// Nothing may be changed on it.
    pub read_only: bool,
}

/// The keys of the section, each with an example and what it means.
pub(super) const KEYS: [(&str, &str, &str); 9] = [
    (
        "name",
        "\"home\"",
        "What it is called here and on the command line",
    ),
    ("url", "\"http://nas:4096\"", "Where it is"),
    (
        "username",
        "\"opencode\"",
        "For HTTP Basic; this is the default",
    ),
    (
        "password_env",
        "\"HOME_OPENCODE_PASSWORD\"",
        "The environment variable that holds its password",
    ),
    (
        "password_file",
        "\"home.password\"",
        "Or the file that holds it, beside this one; refused if others can read it",
    ),
    (
        "ca_file",
        "\"private-ca.pem\"",
        "https: an authority of your own, besides the system's",
    ),
    (
        "proxy",
        "\"http://proxy:3128\"",
        "In place of the environment's; \"none\": straight",
    ),
    (
        "directories",
        "[\"/srv/app\"]",
        "Only sessions of these directories, as the server names them",
    ),
    ("read_only", "true", "Nothing may be changed on it"),
];
const FORM: &str = "a server is written as a section of its own: [[server]], then its name and url";

/// The servers, in their order. `shared`: others can read the file.
pub(super) fn read(
    all: &Spanned<DeValue>,
    shared: bool,
    wrong: &mut Vec<Wrong>,
) -> Vec<ServerEntry> {
    let Some(list) = all.get_ref().as_array() else {
        wrong.push(Wrong::at(all.span().start, FORM.to_owned()));
        return Vec::new();
    };
    let mut servers: Vec<ServerEntry> = Vec::new();
    for table in list {
        let section = Section::of(table, FORM, wrong);
        let before = wrong.len();
        let mut entry = ServerEntry::default();
        for line in section.lines() {
            let done = set(&mut entry, line).and_then(|()| private(line, shared));
            line.note(done, wrong);
        }
        let at = |key: &str| {
            let line = section.lines().find(|line| line.key == key);
            line.map_or(table.span().start, |line| line.offset)
        };
        if wrong.len() == before {
            let whole = whole(&entry, &servers).err();
            wrong.extend(whole.map(|(key, why)| Wrong::at(at(key), why)));
        }
        servers.push(entry);
    }
    servers
}

fn set(entry: &mut ServerEntry, line: &Line) -> Result<(), String> {
    let (key, value) = (line.key.as_str(), &line.value);
    match key {
        "name" => entry.name = name(text(key, value)?)?,
        "url" => entry.url = url(text(key, value)?)?,
        "username" => entry.username = Some(text(key, value)?),
        "password_env" => entry.password_env = Some(variable(text(key, value)?)?),
        "password_file" => entry.password_file = Some(PathBuf::from(text(key, value)?)),
        "ca_file" => entry.ca_file = Some(PathBuf::from(text(key, value)?)),
        "proxy" => entry.proxy = Some(proxy(text(key, value)?)?),
        "directories" => entry.directories = directories(texts(key, value)?)?,
        "read_only" => entry.read_only = flag(key, value)?,
        _ => return Err(not_known(key)),
    }
    Ok(())
}

fn not_known(key: &str) -> String {
    if key == "password" {
        let why = "a password does not stand in this file: name the variable that holds it \
                   (password_env) or the file (password_file)";
        return why.to_owned();
    }
    let keys = KEYS.map(|(key, ..)| key);
    let otherwise = format!(", expected one of {}", keys.join(", "));
    unknown("key of [[server]]", key, keys, &otherwise)
}

/// A word that cannot be taken for anything else on the command line.
fn name(name: String) -> Result<String, String> {
    let command = Cli::command();
    let mut commands = command.get_subcommands().map(clap::Command::get_name);
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == '/' || c == ',';
    if name == "help" || commands.any(|it| it == name) {
        return Err(format!(
            "a server cannot be called {name:?}: that is a command of ocwatch"
        ));
    }
    if name.contains("://") || servers::parse(&name).is_ok() {
        return Err(
            "`name` looks like an address: choose a word like \"home\", and say where it is in `url`"
                .to_owned(),
        );
    }
    if name.starts_with('-') || name.contains(odd) {
        return Err(
            "`name` must be one word without a blank, a comma or a /, and not begin with -"
                .to_owned(),
        );
    }
    Ok(name)
}

fn url(url: String) -> Result<String, String> {
    if !url.contains(':') && url.parse::<u16>().is_err() {
        return Err("`url` must be like \"http://nas:4096\" or \"nas:4096\"".to_owned());
    }
    match servers::parse(&url) {
        Ok(_) => Ok(url),
        Err(why) => Err(format!("`url`: {why}")),
    }
}

/// A password that anybody can read protects nothing.
fn private(line: &Line, shared: bool) -> Result<(), String> {
    let url = line.value.as_str().filter(|_| line.key == "url" && shared);
    let address = url.and_then(|url| servers::parse(url).ok());
    if address.is_none_or(|it| it.credentials.is_none()) {
        return Ok(());
    }
    Err(
        "`url` holds a password, and others can read this file: chmod 600 it, or name the password \
         by `password_env` or `password_file`"
            .to_owned(),
    )
}

/// What is refused is not repeated: it may be the password itself.
fn variable(name: String) -> Result<String, String> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(name);
    }
    Err(
        "`password_env` must be the name of an environment variable, like \"HOME_PASSWORD\", not the password"
            .to_owned(),
    )
}

fn proxy(said: String) -> Result<String, String> {
    if said != "none" {
        Proxy::wanted(&said).map_err(|why| format!("`proxy` {why}"))?;
    }
    Ok(said)
}

fn directories(all: Vec<String>) -> Result<Vec<String>, String> {
    let whole = |it: &String| it.starts_with('/') || it.get(1..3) == Some(":\\");
    match all.iter().find(|it| !whole(it)) {
        None => Ok(all),
        Some(bad) => Err(format!(
            "`directories`: {bad:?} is not a whole path like \"/srv/app\" (as the server names it)"
        )),
    }
}

/// What only the keys together can be wrong in; the key at which it is told.
fn whole(entry: &ServerEntry, others: &[ServerEntry]) -> Result<(), (&'static str, String)> {
    if entry.name.is_empty() {
        return Err(("", "this server has no `name`".to_owned()));
    }
    let name = &entry.name;
    if entry.url.is_empty() {
        return Err(("name", format!("the server {name:?} has no `url`")));
    }
    if others.iter().any(|other| other.name == *name) {
        let why = format!("there is already a server called {name:?}");
        return Err(("name", why));
    }
    if entry.password_env.is_some() && entry.password_file.is_some() {
        let why = "`password_env` and `password_file` cannot both be set";
        return Err(("password_file", why.to_owned()));
    }
    Ok(())
}
