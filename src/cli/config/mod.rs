//! `config.toml`: servers, the inspect policy, the thresholds of the judge, the table, the keys and
//! the looks.
//!
//! What it does: read it, refusing unknown keys and wrong types with file and line. What it does
//! not: merge it with arguments or the environment; that is done where servers are resolved.

pub mod attach;
mod keys;
mod limits;
pub mod notify;
mod table;
mod theme;
mod ui;
mod wrong;

pub use table::{Table, sort_named};
pub use theme::{Look, theme};
pub use ui::Ui;

use super::args::InspectArg;

use crate::core::app::keymap::Keymap;
use crate::core::judge::Limits;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Which projects may be asked.
    pub inspect: Option<InspectArg>,
    /// The servers, in their order.
    #[serde(default)]
    pub server: Vec<ServerEntry>,
    /// Thresholds as written; [`Config::thresholds`] are what follows.
    #[serde(default)]
    limits: limits::Section,
    /// The theme as written; [`Config::look`] is what follows.
    #[serde(default)]
    theme: theme::Section,
    /// How it behaves for the eye.
    #[serde(default)]
    pub ui: Ui,
    /// How the dashboard looks.
    #[serde(skip)]
    pub look: Look,
    /// The thresholds: the defaults with what the file changes.
    #[serde(skip)]
    pub thresholds: Limits,
    /// What `t` runs as written; [`Config::attach_wishes`] is what follows.
    #[serde(default)]
    attach: attach::Section,
    /// What `t` runs, and where.
    #[serde(skip)]
    pub attach_wishes: attach::Attach,
    /// The table as written; [`Config::table`] is what follows.
    #[serde(default, rename = "table")]
    table_written: table::Section,
    /// The columns of the dashboard and their order.
    #[serde(skip)]
    pub table: Table,
    /// What is told as written; [`Config::notify_wishes`] is what follows.
    #[serde(default)]
    notify: notify::Section,
    /// What is told, how and when not.
    #[serde(skip)]
    pub notify_wishes: notify::Notify,
    /// Keys as written; [`Config::keymap`] is what follows.
    #[serde(default)]
    keys: keys::Section,
    /// The key table with what the file changes.
    #[serde(skip)]
    pub keymap: Keymap,
    /// Where it was read from; for messages.
    #[serde(skip)]
    pub path: PathBuf,
}

/// One `[[server]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerEntry {
    /// What it is called here.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// For HTTP Basic; `opencode` if absent.
    pub username: Option<String>,
    /// Name of the environment variable that holds its password.
    pub password_env: Option<String>,
    /// A file that holds its password; refused if others can read it.
    pub password_file: Option<PathBuf>,
    /// Authorities that are trusted for it besides the system's, in PEM; relative to this file.
    pub ca_file: Option<PathBuf>,
    /// Only these directories.
    #[serde(default)]
    pub directories: Vec<String>,
    /// Nothing may be changed on it.
    #[serde(default)]
    pub read_only: bool,
}

/// Fits after "failed to use the configuration: ".
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file named with `--config` is not there or cannot be read.
    #[error("{}: {why}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
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
    /// It reads, but does not make sense.
    #[error("{}: {why}", path.display())]
    Meaning {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// Reads the file that was named, or else the one in its usual place if it is there.
pub fn load(named: Option<&Path>, usual: Option<&Path>) -> Result<Config, ConfigError> {
    let Some(path) = named.or(usual) else {
        return Ok(Config::default());
    };
    match std::fs::read_to_string(path) {
        Ok(text) => parse(path, &text),
        Err(why) if named.is_none() && why.kind() == std::io::ErrorKind::NotFound => {
            Ok(Config::default())
        }
        Err(why) => Err(ConfigError::Read {
            path: path.to_owned(),
            why,
        }),
    }
}

/// Reads the text of a file.
pub fn parse(path: &Path, text: &str) -> Result<Config, ConfigError> {
    let mut config: Config = toml::from_str(text).map_err(|why| ConfigError::Parse {
        path: path.to_owned(),
        line: line_of(text, why.span().map_or(0, |span| span.start)),
        why: why.message().split('\n').collect::<Vec<_>>().join(", "),
    })?;
    path.clone_into(&mut config.path);
    let told = |wrong: wrong::Wrong| ConfigError::Parse {
        path: path.to_owned(),
        line: line_of(text, wrong.place(text)),
        why: wrong.why,
    };
    config.thresholds = limits::read(&config.limits).map_err(told)?;
    config.table = table::read(&config.table_written).map_err(told)?;
    config.look = theme::read(&config.theme).map_err(told)?;
    config.attach_wishes = attach::read(&config.attach).map_err(told)?;
    config.notify_wishes = notify::read(&config.notify).map_err(told)?;
    config.keymap = keys::read(&config.keys).map_err(told)?;
    let mut names = std::collections::BTreeSet::new();
    for entry in &config.server {
        if entry.name.is_empty() || !names.insert(entry.name.as_str()) {
            return Err(ConfigError::Meaning {
                path: path.to_owned(),
                why: format!("the server name {:?} is empty or stands twice", entry.name),
            });
        }
    }
    Ok(config)
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
        let unknown = error("[[server]]\nname = \"a\"\nurl = \"b\"\nurll = \"c\"\n");
        assert!(
            unknown.starts_with("/c/config.toml:4: unknown field `urll`"),
            "{unknown}"
        );
        let wrong = error("inspect = \"sometimes\"\n");
        assert!(wrong.starts_with("/c/config.toml:1: "), "{wrong}");
        assert!(wrong.contains("loaded"), "{wrong}");
        let broken = error("\n\n[[server\n");
        assert!(broken.starts_with("/c/config.toml:3: "), "{broken}");
        assert!(!broken.contains('\n'));
        let twice = "[[server]]\nname = \"a\"\nurl = \"b\"\n";
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
    fn a_missing_usual_file_is_no_error_but_a_named_one_is() {
        let missing = Path::new("/nonexistent/ocwatch/config.toml");
        assert!(load(None, Some(missing)).is_ok());
        assert!(load(Some(missing), None).is_err());
    }

    #[test]
    fn reduced_motion_is_a_switch() {
        let ui = |text: &str| parse(Path::new("c"), text).expect("config").ui;
        assert!(ui("[ui]\nreduced_motion = true\n").reduced_motion);
        assert!(!ui("").reduced_motion);
        assert!(ui("").mouse && !ui("[ui]\nmouse = false\n").mouse);
        let told = error("[ui]\n\nreduce_motion = true\n");
        assert!(
            told.starts_with("/c/config.toml:3: unknown field `reduce_motion`"),
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
