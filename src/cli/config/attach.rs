//! `[attach]` of the configuration: what `t` runs, and where.

use super::section::Section;
use super::wrong::{Wrong, unknown};
use crate::core::app::AttachRules;
use toml::Value;

/// The keys of the section.
pub(super) const KEYS: [&str; 2] = ["command", "tmux"];

/// What the section says.
#[derive(Debug, Clone, Default)]
pub struct Attach {
    /// What is run instead of `opencode attach`.
    pub command: Option<Vec<String>>,
    /// In tmux: in a window of its own.
    pub window: bool,
}

impl Attach {
    /// The rules for the app. `is_demo`: the servers are simulated ones, which OpenCode cannot use.
    pub fn rules(&self, is_demo: bool) -> AttachRules {
        let rules = AttachRules::default();
        match &self.command {
            Some(command) => AttachRules {
                command: command.clone(),
                ..rules
            },
            None => AttachRules {
                unavailable: is_demo
                    .then_some("the demo's servers are simulated: OpenCode cannot use them"),
                ..rules
            },
        }
    }
}

/// What follows from the section.
pub(super) fn read(section: &Section, wrong: &mut Vec<Wrong>) -> Attach {
    let mut attach = Attach::default();
    for line in section.lines() {
        let done = match line.key.as_str() {
            "command" => command(&line.value).map(|it| attach.command = Some(it)),
            "tmux" => window(&line.value).map(|it| attach.window = it),
            name => Err(unknown(
                "key of [attach]",
                name,
                KEYS,
                ", expected command or tmux",
            )),
        };
        line.note(done, wrong);
    }
    attach
}

fn command(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().filter(|list| !list.is_empty());
    let words: Option<Vec<&str>> = list.and_then(|list| list.iter().map(Value::as_str).collect());
    let words = words.filter(|words| words.first().is_some_and(|it| !it.is_empty()));
    let words = words.ok_or_else(|| {
        "`command` must be a list like [\"opencode\", \"attach\", \"{url}\", \"--session\", \"{session}\"]".to_owned()
    })?;
    Ok(words.into_iter().map(str::to_owned).collect())
}

fn window(value: &Value) -> Result<bool, String> {
    match value.as_str() {
        Some("window") => Ok(true),
        Some("off") => Ok(false),
        _ => Err("`tmux` must be \"window\" or \"off\"".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use std::path::Path;

    fn said(text: &str) -> Result<Attach, String> {
        let config = parse(Path::new("c.toml"), &format!("[attach]\n{text}\n"));
        config
            .map(|it| it.attach_wishes)
            .map_err(|why| why.to_string())
    }

    #[test]
    fn it_reads_and_mistakes_name_their_line() {
        let attach =
            said("command = [\"oc\", \"{session}\"]\ntmux = \"window\"").expect("it reads");
        assert!(attach.window);
        assert_eq!(attach.rules(true).command, ["oc", "{session}"]);
        assert_eq!(attach.rules(true).unavailable, None);
        let usual = said("").expect("it reads");
        assert!(usual.rules(true).unavailable.is_some());
        assert_eq!(usual.rules(false), AttachRules::default());
        for (text, want) in [
            ("tmux = true", "`tmux` must be \"window\" or \"off\""),
            (
                "comand = []",
                "unknown key of [attach] `comand`, did you mean `command`?",
            ),
        ] {
            assert_eq!(said(text).expect_err(text), format!("c.toml:2: {want}"));
        }
        let empty = said("command = []").expect_err("empty");
        assert!(empty.contains("must be a list like"), "{empty}");
    }
}
