//! `[notify]` of the configuration: what is told, how, and when not.
//!
//! What it does: read it; a mistake is told with its place, its key and the nearest right one. What it
//! does not: know what a terminal understands, or run anything.

use super::section::Section;
use super::wrong::{self, Wrong, texts};
use crate::core::app::notify::{Channel, NotifyRules, Quiet};
use crate::core::judge::{Level, RULES};
use crate::core::time::Span;
use crate::shell::notify::{Hook, OscKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use toml::Value;

/// The keys of the section.
pub(super) const KEYS: [&str; 11] = [
    "bell",
    "osc",
    "osc_kind",
    "command",
    "command_levels",
    "command_timeout",
    "shell",
    "finding",
    "quiet",
    "together",
    "again",
];
/// How long a command may run unless told otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Which notification is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OscWish {
    /// The one that the terminal understands, as far as it can be known.
    #[default]
    Auto,
    /// This one.
    Kind(OscKind),
    /// None.
    Off,
}

/// What the section says.
#[derive(Debug, Clone, Default)]
pub struct Notify {
    /// What is told, and when not.
    pub rules: NotifyRules,
    /// How the terminal is told.
    pub osc: OscWish,
    /// What is run.
    pub hook: Option<Hook>,
}

/// What follows from the section.
pub(super) fn read(section: &Section, wrong: &mut Vec<Wrong>) -> Notify {
    let mut notify = Notify::default();
    let mut timeout = TIMEOUT;
    let mut command = Vec::new();
    for line in section.lines() {
        let (name, value) = (line.key.as_str(), &line.value);
        let rules = &mut notify.rules;
        let done = match name {
            "bell" => levels(name, value).map(|it| drop(rules.levels.insert(Channel::Bell, it))),
            "osc" => levels(name, value).map(|it| drop(rules.levels.insert(Channel::Osc, it))),
            "command_levels" => {
                levels(name, value).map(|it| drop(rules.levels.insert(Channel::Command, it)))
            }
            "osc_kind" => osc_kind(value).map(|it| notify.osc = it),
            "command" => program(value).and_then(|it| only(&mut command, it)),
            "shell" => script(value).and_then(|it| only(&mut command, it)),
            "command_timeout" => span(name, value).and_then(|it| timeout_of(it, &mut timeout)),
            "together" => span(name, value).map(|it| rules.together = it),
            "again" => span(name, value).map(|it| rules.again = it),
            "quiet" => quiet(value).map(|it| rules.quiet = it),
            "finding" => findings(value).map(|it| rules.findings = it),
            _ => Err(unknown("key of [notify]", name, KEYS.into_iter()).into()),
        };
        line.note_below(done.map_err(|it| (it.below, it.why)), wrong);
    }
    notify.hook = (!command.is_empty()).then_some(Hook {
        command,
        timeout,
        hidden: Arc::default(),
    });
    notify
}

/// What is wrong, at which key below this one.
struct Mistake {
    below: Option<String>,
    why: String,
}

impl From<String> for Mistake {
    fn from(why: String) -> Self {
        Self { below: None, why }
    }
}

fn unknown<'a>(what: &str, name: &str, keys: impl Iterator<Item = &'a str> + Clone) -> String {
    let all: Vec<&str> = keys.clone().collect();
    let otherwise = if all.len() > KEYS.len() {
        "; the README lists them".to_owned()
    } else {
        format!(", expected one of {}", all.join(", "))
    };
    wrong::unknown(what, name, keys, &otherwise)
}

fn levels(name: &str, value: &Value) -> Result<BTreeSet<Level>, Mistake> {
    let all = [Level::Stuck, Level::NeedsYou];
    let level = |word: &String| {
        let found = all.into_iter().find(|level| level.word() == word);
        found.ok_or_else(|| unknown("level", word, all.into_iter().map(Level::word)).into())
    };
    texts(name, value)?.iter().map(level).collect()
}

fn channels(name: &str, value: &Value) -> Result<BTreeSet<Channel>, String> {
    if value.as_str() == Some("off") {
        return Ok(BTreeSet::new());
    }
    let form =
        || format!("`{name}` must be \"off\" or a list like [\"bell\", \"osc\", \"command\"]");
    let channel = |word: &String| {
        let found = Channel::ALL.iter().find(|it| it.0 == word).map(|it| it.1);
        found.ok_or_else(|| unknown("channel", word, Channel::ALL.iter().map(|it| it.0)))
    };
    let said = texts(name, value).map_err(|_| form())?;
    said.iter().map(channel).collect()
}

fn findings(value: &Value) -> Result<BTreeMap<String, BTreeSet<Channel>>, Mistake> {
    let table = value.as_table();
    let table = table.ok_or_else(|| "`finding` must be a table: [notify.finding]".to_owned())?;
    let one = |(name, value): (&String, &Value)| {
        let below = |why| Mistake {
            below: Some(name.clone()),
            why,
        };
        if !RULES.iter().any(|rule| rule.id == name) {
            return Err(below(unknown(
                "finding",
                name,
                RULES.iter().map(|rule| rule.id),
            )));
        }
        Ok((name.clone(), channels(name, value).map_err(below)?))
    };
    table.iter().map(one).collect()
}

fn osc_kind(value: &Value) -> Result<OscWish, Mistake> {
    Ok(match value.as_str() {
        Some("auto") => OscWish::Auto,
        Some("off") => OscWish::Off,
        Some("9") => OscWish::Kind(OscKind::Nine),
        Some("777") => OscWish::Kind(OscKind::SevenSevenSeven),
        Some("99") => OscWish::Kind(OscKind::NinetyNine),
        _ => {
            let why = "`osc_kind` must be \"auto\", \"9\", \"777\", \"99\" or \"off\"";
            return Err(why.to_owned().into());
        }
    })
}

/// Without a shell: what it is given cannot be taken for anything else.
fn program(value: &Value) -> Result<Vec<String>, Mistake> {
    let why = "`command` must be a list like [\"notify-send\", \"ocwatch\"]; for a line of shell there is `shell`";
    Ok(texts("command", value).map_err(|_| why.to_owned())?)
}

fn script(value: &Value) -> Result<Vec<String>, Mistake> {
    let line = value.as_str().map(str::trim);
    let line = line.ok_or_else(|| "`shell` must be a line of shell".to_owned())?;
    if line.is_empty() {
        return Ok(Vec::new());
    }
    Ok(["sh", "-c", line].map(str::to_owned).to_vec())
}

fn only(command: &mut Vec<String>, said: Vec<String>) -> Result<(), Mistake> {
    if !command.is_empty() && !said.is_empty() {
        return Err("`command` and `shell` cannot both be set".to_owned().into());
    }
    command.extend(said);
    Ok(())
}

fn span(name: &str, value: &Value) -> Result<Span, Mistake> {
    let span = value.as_str().and_then(Span::parse);
    Ok(span.ok_or_else(|| format!("`{name}` must be a span like \"15s\" or \"1h30m\""))?)
}

fn timeout_of(span: Span, timeout: &mut Duration) -> Result<(), Mistake> {
    if span <= Span::ZERO {
        return Err("`command_timeout` must be longer than nothing"
            .to_owned()
            .into());
    }
    *timeout = Duration::from_millis(span.as_ms().unsigned_abs());
    Ok(())
}

fn quiet(value: &Value) -> Result<Vec<Quiet>, Mistake> {
    let why = "`quiet` must be a list of local times like [\"22:00-07:00\"]";
    let said = texts("quiet", value).map_err(|_| why.to_owned())?;
    let times: Option<Vec<Quiet>> = said.iter().map(|it| Quiet::parse(it)).collect();
    Ok(times.ok_or_else(|| why.to_owned())?)
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use std::path::Path;

    fn said(text: &str) -> Result<Notify, String> {
        let text = format!("[notify]\n\n{text}\n");
        let config = parse(Path::new("c.toml"), &text).map_err(|why| why.to_string())?;
        Ok(config.notify_wishes)
    }

    #[test]
    fn a_whole_section_reads() {
        let text = "bell = [\"stuck\"]\nosc = []\nosc_kind = \"777\"\ncommand = [\"prog\", \"a b\"]\ncommand_levels = [\"needs-you\"]\ncommand_timeout = \"2s\"\nquiet = [\"22:00-07:00\"]\ntogether = \"5s\"\nagain = \"10m\"\n[notify.finding]\nwaiting-permission = \"off\"\nhung-tool = [\"bell\", \"command\"]";
        let notify = said(text).expect("it reads");
        let rules = &notify.rules;
        let told = |finding, level| {
            rules
                .channels(finding, level)
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(told("stale-busy", Level::Stuck), [Channel::Bell]);
        assert_eq!(told("retrying", Level::NeedsYou), [Channel::Command]);
        assert_eq!(told("waiting-permission", Level::NeedsYou), []);
        assert_eq!(
            told("hung-tool", Level::Stuck),
            [Channel::Bell, Channel::Command]
        );
        assert_eq!(
            (rules.together, rules.again),
            (Span::secs(5), Span::mins(10))
        );
        assert_eq!(
            rules.quiet,
            [Quiet {
                from: 1320,
                to: 420
            }]
        );
        assert_eq!(notify.osc, OscWish::Kind(OscKind::SevenSevenSeven));
        let hook = notify.hook.expect("a command");
        assert_eq!(hook.command, ["prog", "a b"]);
        assert_eq!(hook.timeout, Duration::from_secs(2));
        let shell = said("shell = \"cat | mail me\"").expect("it reads");
        assert_eq!(
            shell.hook.expect("a shell").command,
            ["sh", "-c", "cat | mail me"]
        );
    }

    #[test]
    fn mistakes_name_their_line_and_the_nearest_right_word() {
        for (text, want) in [
            (
                "bel = []",
                "unknown key of [notify] `bel`, did you mean `bell`?",
            ),
            (
                "bell = [\"watch\"]",
                "unknown level `watch`, expected one of stuck, needs-you",
            ),
            (
                "osc = [\"need-you\"]",
                "unknown level `need-you`, did you mean `needs-you`?",
            ),
            ("bell = true", "`bell` must be a list of texts"),
            (
                "osc_kind = 9",
                "`osc_kind` must be \"auto\", \"9\", \"777\", \"99\" or \"off\"",
            ),
            (
                "command_timeout = \"0s\"",
                "`command_timeout` must be longer than nothing",
            ),
            (
                "quiet = [\"22-7\"]",
                "`quiet` must be a list of local times like [\"22:00-07:00\"]",
            ),
            (
                "finding.hungtool = \"off\"",
                "unknown finding `hungtool`, did you mean `hung-tool`?",
            ),
            (
                "finding.hung-tool = [\"ring\"]",
                "unknown channel `ring`, expected one of bell, osc, command",
            ),
            (
                "finding.hung-tool = 1",
                "`hung-tool` must be \"off\" or a list like [\"bell\", \"osc\", \"command\"]",
            ),
        ] {
            let told = said(text).expect_err(text);
            assert_eq!(told, format!("c.toml:3: {want}"));
        }
        let both = said("command = [\"a\"]\nshell = \"b\"").expect_err("both");
        assert_eq!(both, "c.toml:4: `command` and `shell` cannot both be set");
    }
}
