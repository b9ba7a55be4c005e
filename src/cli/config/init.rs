//! The text that `config init` writes: every key, commented out, with its default and what it means.
//!
//! What it does: write the rows by section. What it does not: touch a file. Invariants: a line that
//! begins with `#` and no blank is a key: without its `#` the file is valid (a test takes away each);
//! those of a server belong together.

use super::rows::{Row, rows, server_rows};
use crate::core::judge::Limits;
use std::fmt::Write;

const HEAD: &str = "\
# The configuration of ocwatch: every key, with its default or an example, and all of it switched off.
# To set one, take the # before it away and change the value. What is left out stays as it is.
# `ocwatch config check` tells what is wrong with this file, `ocwatch config show` what is in force.
";
const SERVERS: &str = "
# Servers, so that `ocwatch` and `ocwatch home` know them. Take the # from the first three lines
# together, and from others as you need them; repeat all of it for each server.
#[[server]]
";

/// The whole file.
pub fn text() -> String {
    let mut text = HEAD.to_owned();
    let mut section = "";
    for row in rows(&Limits::default()) {
        if row.section != section {
            if section.is_empty() {
                servers(&mut text);
            }
            section = row.section;
            // Writing into a string cannot fail.
            write!(text, "\n[{section}]\n").ok();
        } else if section.is_empty() {
            text.push('\n');
        }
        one(&mut text, &row);
    }
    text
}

fn servers(text: &mut String) {
    text.push_str(SERVERS);
    for row in server_rows() {
        one(text, &row);
    }
}

fn one(text: &mut String, row: &Row) {
    let value = row.default.as_ref().unwrap_or(&row.example);
    writeln!(text, "# {}\n#{} = {value}", row.meaning, row.key).ok();
}

#[cfg(test)]
mod tests {
    use super::super::{Config, parse};
    use super::*;
    use std::path::Path;

    fn read(text: &str) -> Config {
        parse(Path::new("c"), text).unwrap_or_else(|why| panic!("{why}:\n{text}"))
    }

    /// The keys of a server but its name and url: those alone are none.
    fn is_key(line: &str) -> bool {
        line.starts_with('#') && !line.starts_with("# ")
    }

    /// The text with the `#` taken from the lines that are wanted.
    fn without(text: &str, wanted: impl Fn(usize, &str) -> bool) -> String {
        let lines = text.lines().enumerate().map(|(at, line)| {
            let taken = is_key(line) && wanted(at, line);
            format!("{}\n", if taken { &line[1..] } else { line })
        });
        lines.collect()
    }

    #[test]
    fn any_line_can_be_switched_on() {
        let text = text();
        read(&text);
        let keys = text.lines().enumerate().filter(|(_, line)| is_key(line));
        let keys: Vec<(usize, &str)> = keys.collect();
        let from = keys.iter().position(|(_, line)| *line == "#[[server]]");
        let from = from.expect("a server");
        let served = &keys[from..=from + server_rows().len()];
        assert!(keys.len() > 100, "{}", keys.len());
        for (at, line) in &keys {
            let needed = if served.contains(&(*at, line)) {
                &served[..3]
            } else {
                &[]
            };
            let one = without(&text, |it, _| {
                it == *at || needed.iter().any(|(also, _)| *also == it)
            });
            let config = read(&one);
            assert_eq!(
                config.server.len(),
                usize::from(!needed.is_empty()),
                "{line}"
            );
        }
    }

    #[test]
    fn what_it_says_is_the_default_is_the_default() {
        let text = text();
        let defaults: Vec<String> = rows(&Limits::default())
            .iter()
            .filter_map(|row| Some(format!("#{} = {}", row.key, row.default.as_ref()?)))
            .collect();
        let on = without(&text, |_, line| defaults.iter().any(|it| it == line));
        let (is, want) = (read(&on), Config::default());
        let shown = |it: &Config| {
            format!(
                "{:?}",
                (
                    &it.thresholds,
                    &it.notify_wishes,
                    &it.table,
                    it.ui,
                    &it.keymap
                )
            )
        };
        pretty_assertions::assert_eq!(shown(&is), shown(&want));
        assert_eq!(
            is.attach_wishes.rules(false),
            want.attach_wishes.rules(false)
        );
        assert_eq!(
            is.look.name.unwrap_or_default(),
            want.look.name.unwrap_or_default()
        );
        assert!(is.look.changed.is_empty());
    }
}
