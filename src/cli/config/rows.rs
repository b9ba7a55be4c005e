//! Every key of the configuration with its default and what it means.
//!
//! What it does: gather them from the code's own tables (thresholds, keys, columns, themes), for
//! `config init` and `config show`. What it does not: read or write a file. Invariant: each key that
//! a section reads has a row (a test holds that).

use super::{Ui, server};
use crate::core::app::keymap::keymap;
use crate::core::app::notify::NotifyRules;
use crate::core::app::{ATTENTION, AttachRules, COLUMNS, ThemeName};
use crate::core::judge::{LIMITS, Limits, Slot};
use crate::tui::{Depth, PARTS, Part, Theme, style_text};
use toml::Value;

/// One key. Texts of `default` and `example` are TOML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Of which section; empty: it stands at the top.
    pub section: &'static str,
    /// As it is written in the section.
    pub key: String,
    /// What is so unless it is set; `None`: nothing is.
    pub default: Option<String>,
    /// What it may look like.
    pub example: String,
    /// What it means.
    pub meaning: String,
}

impl Row {
    fn new(section: &'static str, key: &str, default: impl Into<Value>, meaning: &str) -> Self {
        let default = default.into().to_string();
        Self {
            default: Some(default.clone()),
            ..Self::unset(section, key, &default, meaning)
        }
    }

    /// A key that has no default.
    fn unset(section: &'static str, key: &str, example: &str, meaning: &str) -> Self {
        Self {
            section,
            key: key.to_owned(),
            default: None,
            example: example.to_owned(),
            meaning: meaning.to_owned(),
        }
    }

    /// Section and key, as TOML would name them from the top.
    pub fn path(&self) -> String {
        match self.section {
            "" => self.key.clone(),
            section => format!("{section}.{}", self.key),
        }
    }
}

/// Every row but those of servers, in the order in which they are written. `limits`: the thresholds
/// that are told as defaults.
pub fn rows(limits: &Limits) -> Vec<Row> {
    let mut rows = vec![Row::new(
        "",
        "inspect",
        "recent",
        "Which projects may be asked: asking an unloaded one starts it on the server. \"loaded\", \"recent\" (used within 24 hours), \"all\"",
    )];
    rows.extend(of_limits(limits));
    rows.extend(of_notify());
    rows.extend(of_attach());
    let ssh = "What is run for servers of ssh://, before the arguments that ocwatch adds";
    rows.push(Row::new("ssh", "command", vec!["ssh"], ssh));
    rows.extend(of_keys());
    rows.extend(of_table());
    rows.extend(of_ui());
    rows.extend(of_theme());
    rows
}

/// The keys of a server. They have no defaults that could be told without one.
pub fn server_rows() -> Vec<Row> {
    server::KEYS
        .iter()
        .map(|(key, example, meaning)| Row::unset("server", key, example, meaning))
        .collect()
}

fn of_limits(limits: &Limits) -> Vec<Row> {
    let rows = LIMITS.iter().map(|row| {
        let tool = row.key.strip_prefix("tool.");
        let value = row.value(limits);
        let how = match row.slot {
            Slot::Count(_) => "how many",
            Slot::Span(_) | Slot::Stages(_) => "how long",
        };
        Row {
            section: if tool.is_some() {
                "limits.tool"
            } else {
                "limits"
            },
            key: tool.unwrap_or(row.key).to_owned(),
            default: Some(value.clone()),
            example: value,
            meaning: format!("{}: {how} {}", row.of, row.meaning),
        }
    });
    let (tools, plain): (Vec<Row>, Vec<Row>) = rows.partition(|row| row.section == "limits.tool");
    let tool = "one tool by its name; it wins over the three above";
    let tool = Row::unset("limits.tool", "webfetch", "\"2m\"", tool);
    plain.into_iter().chain(tools).chain([tool]).collect()
}

fn of_keys() -> impl Iterator<Item = Row> {
    keymap().map(|binding| {
        let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
        let value = match &keys[..] {
            [] => Value::from(""),
            [one] => Value::from(one.as_str()),
            _ => Value::from(keys),
        };
        Row::new("keys", binding.name, value, binding.help)
    })
}

fn of_theme() -> Vec<Row> {
    let names: Vec<&str> = ThemeName::ALL.map(ThemeName::word).to_vec();
    let meaning = format!("How the dashboard looks: {}", names.join(", "));
    let mut rows = vec![Row::new(
        "theme",
        "name",
        ThemeName::default().word(),
        &meaning,
    )];
    let usual = Theme::named(ThemeName::default(), false, Depth::Sixteen);
    rows.extend(PARTS.iter().map(|(key, part)| {
        let style = match part {
            Part::Tone(tone) => usual.tone(*tone),
            Part::Selected => usual.selected().unwrap_or_default(),
        };
        let style = Value::from(style_text(style)).to_string();
        let meaning = "in place of the theme's own; this is that of the default theme";
        Row::unset("theme", key, &style, meaning)
    }));
    rows
}

fn of_notify() -> Vec<Row> {
    let rules = NotifyRules::default();
    let (together, again) = (rules.together.exact(), rules.again.exact());
    let row = |key, value: Value, meaning| Row::new("notify", key, value, meaning);
    let levels = || Value::from(vec!["stuck", "needs-you"]);
    let none = || Value::Array(Vec::new());
    vec![
        row(
            "bell",
            levels(),
            "The terminal's bell: at which levels; [] is never",
        ),
        row("osc", levels(), "A desktop notification by the terminal"),
        row(
            "osc_kind",
            "auto".into(),
            "Of which kind: \"auto\", \"9\", \"777\", \"99\", \"off\"",
        ),
        row(
            "command",
            none(),
            "A program and its arguments, run without a shell, with a JSON document on its stdin",
        ),
        row("command_levels", levels(), "At which levels it is run"),
        row(
            "command_timeout",
            "10s".into(),
            "Then it is killed, with all that it started",
        ),
        Row::unset(
            "notify",
            "shell",
            "\"jq -r .text | logger\"",
            "Instead of command: a line for `sh -c`",
        ),
        row(
            "quiet",
            none(),
            "Local times like [\"22:00-07:00\"]: what then still needs you is told at their end",
        ),
        row(
            "together",
            together.into(),
            "What comes within so long is told as one",
        ),
        row("again", again.into(), "No session is told more often"),
        Row::unset(
            "notify.finding",
            "waiting-permission",
            "\"off\"",
            "One finding, whatever its level: \"off\", or like [\"bell\", \"osc\", \"command\"]",
        ),
    ]
}

fn of_attach() -> [Row; 2] {
    let command = AttachRules::default().command;
    let how =
        "What the key t runs; {url}, {session} and {directory} stand for the session's; no shell";
    [
        Row::new("attach", "command", command, how),
        Row::new(
            "attach",
            "tmux",
            "off",
            "\"window\": inside tmux, a new window instead",
        ),
    ]
}

fn of_table() -> [Row; 2] {
    let names: Vec<&str> = COLUMNS.iter().map(|it| it.name).collect();
    let columns = format!(
        "The columns, from left to right; unset: what suits the width. There are {}",
        names.join(", ")
    );
    let example = "[\"server\", \"session\", \"reported\", \"activity\", \"age\", \"why\"]";
    let sort = "The order of the rows: \"attention\" or a column; \"-cost\" is the other way round";
    [
        Row::unset("table", "columns", example, &columns),
        Row::new("table", "sort", ATTENTION, sort),
    ]
}

fn of_ui() -> [Row; 2] {
    let usual = Ui::default();
    let motion = "Ages, countdowns and the clock move every 10 s, not every second";
    let mouse = "Clicks and the wheel are for the dashboard; false: for the terminal";
    [
        Row::new("ui", "reduced_motion", usual.reduced_motion, motion),
        Row::new("ui", "mouse", usual.mouse, mouse),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{TOP, attach, notify, table, ui};
    use super::*;

    #[test]
    fn each_key_that_a_section_reads_has_a_row() {
        let rows = rows(&Limits::default());
        let has = |section: &str, key: &str| {
            let found = rows
                .iter()
                .find(|row| row.section == section && row.key == key);
            assert!(found.is_some(), "no row for {key} of [{section}]");
        };
        let sections: [(&str, &[&str]); 4] = [
            ("attach", &attach::KEYS),
            ("table", &table::KEYS),
            ("ui", &ui::KEYS),
            ("notify", &notify::KEYS),
        ];
        for (section, keys) in sections {
            // A table of its own: [notify.finding].
            for key in keys.iter().filter(|key| **key != "finding") {
                has(section, key);
            }
        }
        let served = server_rows();
        for section in TOP.iter().filter(|it| **it != "server") {
            let is = |row: &Row| row.section == *section || row.key == *section;
            assert!(rows.iter().any(is), "no row of {section}");
        }
        assert!(served.iter().all(|row| !row.meaning.is_empty()));
    }
}
