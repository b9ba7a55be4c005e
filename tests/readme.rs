//! The README's tables are those of the code. `OCWATCH_BLESS=1 cargo test --test readme` writes them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails; OCWATCH_BLESS is read here only"
)]

use ocwatch::core::app::COLUMNS;
use ocwatch::core::app::filter::FIELDS;
use ocwatch::core::app::keymap::{keymap, keys_of};
use ocwatch::core::judge::{
    ActivityState, FAMILY_FINDINGS, LIMITS, Limits, RULES, SERVER_FINDINGS, Slot,
};
use ocwatch::shell::metrics::METRICS;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

fn readme() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

fn keys() -> String {
    let mut table = String::from("| key | name | what it does |\n|---|---|---|\n");
    for binding in keymap() {
        let keys = keys_of(binding.keys);
        let keys = keys.split(' ').filter(|key| !key.is_empty());
        let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
        let (keys, name) = (keys.join(" "), binding.name);
        writeln!(table, "| {keys} | `{name}` | {} |", binding.help).unwrap();
    }
    table
}

fn words() -> String {
    let mut table = String::from("| word | meaning |\n|---|---|\n");
    for state in ActivityState::ALL {
        writeln!(table, "| `{}` | {} |", state.word(), state.meaning()).unwrap();
    }
    table
}

fn findings() -> String {
    let mut table =
        String::from("| finding | level | what it means | what helps |\n|---|---|---|---|\n");
    for rule in RULES {
        let offers: Vec<&str> = rule.offers.iter().map(|offer| offer.word()).collect();
        writeln!(
            table,
            "| `{}` | {} | {} | {} |",
            rule.id,
            rule.levels,
            rule.meaning,
            offers.join(", ")
        )
        .unwrap();
    }
    for (name, meaning) in FAMILY_FINDINGS {
        writeln!(
            table,
            "| `{name}` | as the subagent's | {meaning} | look at the subagent |"
        )
        .unwrap();
    }
    for (name, levels, meaning) in SERVER_FINDINGS {
        let offer = if name == "zombie-run" { "abort" } else { "" };
        writeln!(
            table,
            "| `{name}` (server) | {levels} | {meaning} | {offer} |"
        )
        .unwrap();
    }
    table
}

fn limits() -> String {
    let defaults = Limits::default();
    let mut table =
        String::from("| key in `[limits]` | default | of | what it says |\n|---|---|---|---|\n");
    for row in LIMITS {
        let (key, of, value) = (row.key, row.of, row.value(&defaults));
        let how = match row.slot {
            Slot::Count(_) => "how many",
            Slot::Span(_) | Slot::Stages(_) => "how long",
        };
        writeln!(
            table,
            "| `{key}` | `{value}` | {of} | {how} {} |",
            row.meaning
        )
        .unwrap();
    }
    table
}

fn columns() -> String {
    let mut table =
        String::from("| column | heading | what it shows | sorted |\n|---|---|---|---|\n");
    for about in &COLUMNS {
        writeln!(
            table,
            "| `{}` | {} | {} | {} |",
            about.name, about.heading, about.meaning, about.orders[0]
        )
        .unwrap();
    }
    table
}

fn filters() -> String {
    let mut table = String::from("| field | looks at | example |\n|---|---|---|\n");
    for row in &FIELDS {
        let example = row.example.replace('|', "\\|");
        writeln!(table, "| `{}:` | {} | `{example}` |", row.name, row.meaning).unwrap();
    }
    table
}

fn metrics() -> String {
    let mut table = String::from("| metric | kind | labels | what it tells |\n|---|---|---|---|\n");
    for metric in METRICS {
        let labels: Vec<String> = metric.labels.iter().map(|it| format!("`{it}`")).collect();
        let (name, kind) = (metric.sample(), metric.kind.word());
        let (labels, help) = (labels.join(" "), metric.help);
        writeln!(table, "| `{name}` | {kind} | {labels} | {help} |").unwrap();
    }
    table
}

/// What `ocwatch -h` prints.
fn options() -> String {
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_ocwatch"));
    let output = { program }.arg("-h").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    format!("```text\n{}\n```\n", help.trim_end())
}

fn put(text: &str, name: &str, table: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let from = text
        .find(&open)
        .unwrap_or_else(|| panic!("README has no {open}"))
        + open.len();
    let to = text
        .find(&close)
        .unwrap_or_else(|| panic!("README has no {close}"));
    format!("{}{table}{}", &text[..from], &text[to..])
}

#[test]
fn the_tables_are_those_of_the_code() {
    let is = fs::read_to_string(readme()).unwrap();
    let mut want = put(&is, "keys", &keys());
    want = put(&want, "words", &words());
    want = put(&want, "findings", &findings());
    want = put(&want, "filters", &filters());
    want = put(&want, "limits", &limits());
    want = put(&want, "columns", &columns());
    want = put(&want, "metrics", &metrics());
    want = put(&want, "options", &options());
    if std::env::var_os("OCWATCH_BLESS").is_some() {
        fs::write(readme(), &want).unwrap();
        return;
    }
    pretty_assertions::assert_eq!(is, want, "run OCWATCH_BLESS=1 cargo test --test readme");
}

#[test]
fn every_picture_and_file_that_the_readme_names_is_there() {
    let text = fs::read_to_string(readme()).unwrap();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for link in text.split("](").skip(1) {
        let target = link.split(')').next().unwrap();
        if !target.starts_with("http") && !root.join(target).exists() {
            missing.push(target.to_owned());
        }
    }
    assert!(missing.is_empty(), "missing: {missing:?}");
}
