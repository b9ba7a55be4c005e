//! `config.toml`: servers, the inspect policy, the thresholds of the judge, the table, the keys and
//! the looks.
//!
//! What it does: read it, refusing unknown keys and wrong types with file and line. What it does
//! not: merge it with arguments or the environment; that is done where servers are resolved.

pub mod attach;
mod file;
pub mod init;
mod keys;
mod limits;
pub mod notify;
pub mod rows;
mod section;
mod server;
pub mod show;
mod ssh;
mod table;
mod theme;
mod ui;
mod wrong;

pub use file::{is_missing, load, load_all, load_with_text};
pub use server::ServerEntry;
pub use table::{Table, sort_named};
pub use theme::{Look, theme};
pub use ui::Ui;

use super::args::InspectArg;
use crate::core::app::keymap::Keymap;
use crate::core::judge::{LIMITS, Limits};
use crate::core::present;
use clap::ValueEnum;
use section::Section;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wrong::Wrong;

/// What a file says; of what it does not say the defaults.
#[derive(Debug, Default)]
pub struct Config {
    /// Which projects may be asked.
    pub inspect: Option<InspectArg>,
    /// The servers, in their order.
    pub server: Vec<ServerEntry>,
    /// How it behaves for the eye.
    pub ui: Ui,
    /// How the dashboard looks.
    pub look: Look,
    /// The thresholds: the defaults with what the file changes.
    pub thresholds: Limits,
    /// What `t` runs, and where.
    pub attach_wishes: attach::Attach,
    /// What is run for servers of `ssh://`, if said.
    pub ssh_command: Option<Vec<String>>,
    /// The columns of the dashboard and their order.
    pub table: Table,
    /// What is told, how and when not.
    pub notify_wishes: notify::Notify,
    /// The key table with what the file changes.
    pub keymap: Keymap,
    /// Where it was read from; for messages.
    pub path: PathBuf,
}

/// Fits after "failed to use the configuration: ".
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file is not there, cannot be read, or is not to be trusted.
    #[error("{}: {why}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Not TOML, an unknown key, a wrong type.
    #[error("{}:{line}: {why}", path.display())]
    Parse {
        /// Which.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// Why, one line.
        why: String,
    },
}

/// Reads the text of a file; of several mistakes the first is told.
pub fn parse(path: &Path, text: &str) -> Result<Config, ConfigError> {
    let (config, wrong) = parse_all(path, text, false);
    wrong.into_iter().next().map_or(Ok(config), Err)
}

/// Reads the text of a file, and tells every mistake in it, in the order of the lines. Text that is
/// no TOML has no other mistakes. `shared`: others can read the file, so no password may be in it.
pub fn parse_all(path: &Path, text: &str, shared: bool) -> (Config, Vec<ConfigError>) {
    let mut wrong = Vec::new();
    let mut config = match DeTable::parse(text) {
        Ok(table) => read(table.get_ref(), shared, &mut wrong),
        Err(why) => {
            wrong.push(no_toml(text, &why));
            Config::default()
        }
    };
    path.clone_into(&mut config.path);
    for entry in &mut config.server {
        for file in [&mut entry.password_file, &mut entry.ca_file] {
            *file = file.take().map(|it| file::beside(path, &it));
        }
    }
    let mut told: Vec<(usize, String)> = wrong
        .into_iter()
        .map(|it| (line_of(text, it.place(text)), it.why))
        .collect();
    told.sort_by_key(|(line, _)| *line);
    let told = told.into_iter().map(|(line, why)| ConfigError::Parse {
        path: path.to_owned(),
        line,
        why,
    });
    (config, told.collect())
}

/// What TOML itself does not allow.
fn no_toml(text: &str, why: &toml::de::Error) -> Wrong {
    let span = why.span().unwrap_or_default();
    let place = text.get(span.clone()).unwrap_or_default();
    let message = why.message().split('\n').collect::<Vec<_>>().join(", ");
    let told = match message.as_str() {
        "duplicate key" => format!("{} stands twice", present::clean(place)),
        _ => message,
    };
    Wrong::at(span.start, told)
}

/// What stands at the top of the file.
pub const TOP: [&str; 10] = [
    "inspect", "server", "limits", "keys", "table", "ui", "theme", "notify", "attach", "ssh",
];

fn read(top: &DeTable, shared: bool, wrong: &mut Vec<Wrong>) -> Config {
    let mut config = Config::default();
    for (key, value) in top {
        let name: &str = key.get_ref();
        let form = format!("`{name}` must be a section: [{name}]");
        let section = |wrong: &mut Vec<Wrong>| Section::of(value, &form, wrong);
        match name {
            "inspect" => config.inspect = inspect(value, wrong),
            "server" => config.server = server::read(value, shared, wrong),
            "limits" => config.thresholds = limits::read(&section(wrong), wrong),
            "keys" => config.keymap = keys::read(&section(wrong), wrong),
            "table" => config.table = table::read(&section(wrong), wrong),
            "ui" => config.ui = ui::read(&section(wrong), wrong),
            "theme" => config.look = theme::read(&section(wrong), wrong),
            "notify" => config.notify_wishes = notify::read(&section(wrong), wrong),
            "attach" => config.attach_wishes = attach::read(&section(wrong), wrong),
            "ssh" => config.ssh_command = ssh::read(&section(wrong), wrong),
            _ => wrong.push(Wrong::at(key.span().start, misplaced(name))),
        }
    }
    config
}

fn misplaced(name: &str) -> String {
    if LIMITS.iter().any(|row| row.key == name) {
        return format!("`{name}` belongs below [limits]");
    }
    let otherwise = format!(", expected one of {}", TOP.join(", "));
    wrong::unknown("key or section", name, TOP, &otherwise)
}

fn inspect(value: &Spanned<DeValue>, wrong: &mut Vec<Wrong>) -> Option<InspectArg> {
    let said = value.get_ref().as_str();
    let policy = said.and_then(|it| InspectArg::from_str(it, false).ok());
    if policy.is_none() {
        let names = ["loaded", "recent", "all"];
        let near = said.and_then(|it| wrong::nearest(it, names));
        let why = match near {
            Some(near) => format!("`inspect`: did you mean {near:?}?"),
            None => "`inspect` must be \"loaded\", \"recent\" or \"all\"".to_owned(),
        };
        wrong.push(Wrong::at(value.span().start, why));
    }
    policy
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::time::Span;

    fn error(text: &str) -> String {
        parse(Path::new("/c/config.toml"), text)
            .expect_err("must be refused")
            .to_string()
    }

    #[test]
    fn a_full_file_reads() {
        let text = "inspect = \"loaded\"\n[[server]]\nname = \"home\"\nurl = \"http://127.0.0.1:4096\"\nusername = \"me\"\npassword_env = \"PW\"\ndirectories = [\"/srv\"]\nread_only = true\n";
        let config = parse(Path::new("c"), text).expect("config");
        assert_eq!(config.inspect, Some(InspectArg::Loaded));
        assert_eq!(config.server[0].name, "home");
        assert_eq!(config.server[0].directories, ["/srv"]);
        assert!(config.server[0].read_only);
    }

    #[test]
    fn mistakes_name_file_and_line() {
        let unknown = error("[[server]]\nname = \"a\"\nurl = \"b:1\"\nurll = \"c\"\n");
        assert!(
            unknown.starts_with(
                "/c/config.toml:4: unknown key of [[server]] `urll`, did you mean `url`?"
            ),
            "{unknown}"
        );
        let wrong = error("inspect = \"sometimes\"\n");
        assert!(wrong.starts_with("/c/config.toml:1: "), "{wrong}");
        assert!(wrong.contains("loaded"), "{wrong}");
        let broken = error("\n\n[[server\n");
        assert!(broken.starts_with("/c/config.toml:3: "), "{broken}");
        assert!(!broken.contains('\n'));
        let twice = "[[server]]\nname = \"a\"\nurl = \"b:1\"\n";
        assert!(error(&format!("{twice}{twice}")).contains("\"a\""));
    }

    #[test]
    fn thresholds_override_the_table_and_mistakes_name_the_nearest_key() {
        let text = "[limits]\nstale_busy = \"40s\"\nsilent_stream = { stuck = \"1h\" }\nrunaway_stop = 4\n[limits.tool]\ndefault = \"20m\"\nbash = \"tool-timeout+90s\"\n\"mcp:*\" = \"1m\"\nwebfetch = \"2m\"\n";
        let limits = parse(Path::new("c"), text).expect("config").thresholds;
        assert_eq!(limits.stale_busy, Span::secs(40));
        assert_eq!(limits.silent_stream.stuck, Span::hours(1));
        assert_eq!(limits.silent_stream.watch, Span::mins(3), "as it was");
        assert_eq!(limits.runaway_stop, 4);
        assert_eq!(limits.tool, Span::mins(20));
        assert_eq!(limits.bash_grace, Span::secs(90));
        assert_eq!(limits.mcp, Span::mins(1));
        assert_eq!(limits.tool_named["webfetch"], Span::mins(2));
        for (text, want) in [
            (
                "stale_bussy = \"1s\"",
                "unknown threshold `stale_bussy`, did you mean `stale_busy`?",
            ),
            (
                "stale_busy = 15",
                "`stale_busy` must be a span like \"15s\" or \"1h30m\"",
            ),
            (
                "stale_busy = \"15\"",
                "`stale_busy` must be a span like \"15s\" or \"1h30m\"",
            ),
            (
                "runaway_stop = 0",
                "`runaway_stop` must be a whole number from 1",
            ),
            (
                "silent_stream = { watch = \"20m\" }",
                "`silent_stream`: stuck (10m) lies before watch (20m)",
            ),
            (
                "silent_stream = { watsch = \"1m\" }",
                "`silent_stream` has `watch` and `stuck`, not `watsch`",
            ),
            ("tool = \"5m\"", "`tool` must be a table: [limits.tool]"),
            (
                "tool.read = 5",
                "`tool.read` must be a span like \"15s\" or \"1h30m\"",
            ),
        ] {
            let told = error(&format!("[limits]\n\n{text}\n"));
            assert_eq!(told, format!("/c/config.toml:3: {want}"));
        }
        let told = error("[limits.tool]\ndefault = \"9m\"\n\n\"mcp:*\" = 5\n");
        assert!(
            told.starts_with("/c/config.toml:4: `tool.mcp:*` "),
            "{told}"
        );
    }

    #[test]
    fn reduced_motion_is_a_switch() {
        let ui = |text: &str| parse(Path::new("c"), text).expect("config").ui;
        assert!(ui("[ui]\nreduced_motion = true\n").reduced_motion);
        assert!(!ui("").reduced_motion);
        assert!(ui("").mouse && !ui("[ui]\nmouse = false\n").mouse);
        let told = error("[ui]\n\nreduce_motion = true\n");
        assert!(
            told.starts_with("/c/config.toml:3: unknown key of [ui] `reduce_motion`"),
            "{told}"
        );
        assert!(told.contains("`reduced_motion`"), "{told}");
    }

    #[test]
    fn a_theme_is_named_and_changed_and_its_mistakes_name_the_nearest_word() {
        let text = "[theme]\nname = \"dark\"\nstuck = \"red bold\"\nselected = \"white on blue\"\n";
        let look = parse(Path::new("c"), text).expect("config").look;
        assert_eq!(look.name, Some(crate::core::app::ThemeName::Dark));
        assert_eq!(look.changed.len(), 2);
        for (text, want) in [
            (
                "name = \"drak\"",
                "no theme is called \"drak\", did you mean \"dark\"?",
            ),
            (
                "name = \"zz\"",
                "no theme is called \"zz\"; there are terminal, dark, light, high-contrast, colour-blind, mono",
            ),
            ("name = 1", "`name` must be the name of a theme in quotes"),
            (
                "stcuk = \"red\"",
                "unknown key `stcuk`, did you mean `stuck`?",
            ),
            ("stuck = 1", "`stuck` must be a style like \"red bold\""),
            (
                "stuck = \"rde bold\"",
                "`stuck`: unknown word `rde`, did you mean `red`?",
            ),
            (
                "stuck = \"red on 300\"",
                "`stuck`: unknown word `300`; a style is like \"white on blue bold\", a colour a name, a number to 255, or #rrggbb",
            ),
        ] {
            let told = error(&format!("[theme]\n\n{text}\n"));
            assert_eq!(told, format!("/c/config.toml:3: {want}"));
        }
    }
}
