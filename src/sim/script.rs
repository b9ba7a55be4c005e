//! What a turn does, as data: the steps of a script.
//!
//! What it does: types for steps (also read from scenario files) and spans such as `12m30s`. What it does
//! not: run them (see `life`) or put them into the past (see `seed`).

pub use super::directive::from_prompt;
use super::directive::pretend;
use super::wire::{Object, Question};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A span in milliseconds, written `2d`, `3h`, `12m30s`, `1.5s`, `250ms` in scenario files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dur(pub u64);

impl Dur {
    /// Reads `12m30s` and the like.
    pub fn parse(text: &str) -> Option<Self> {
        let mut total = 0_f64;
        let mut rest = text.trim();
        if rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
            let number: f64 = rest[..digits].parse().ok()?;
            rest = &rest[digits..];
            let unit = rest
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or(rest.len());
            total += number * unit_ms(&rest[..unit])?;
            rest = &rest[unit..];
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a sum of non-negative numbers; `as` saturates"
        )]
        let ms = total as u64;
        Some(Self(ms))
    }

    /// As a signed number, for arithmetic with points in time.
    pub fn ms(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// As std's type.
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }
}

fn unit_ms(unit: &str) -> Option<f64> {
    match unit.trim() {
        "ms" => Some(1.0),
        "s" => Some(1000.0),
        "m" => Some(60_000.0),
        "h" => Some(3_600_000.0),
        "d" => Some(86_400_000.0),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Dur {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("{text:?} is not a span such as 12m30s"))
        })
    }
}

/// One thing that a turn does.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// The model writes.
    Text(TextStep),
    /// The model reasons, visibly.
    Think(TextStep),
    /// A shell command.
    Bash(BashStep),
    /// Any other tool.
    Tool(ToolStep),
    /// Questions to the person, in one ask: one, or a list of them.
    Question(Questions),
    /// A subagent.
    Task(TaskStep),
    /// The provider fails and is tried again.
    Retry(RetryStep),
    /// The turn ends with an error.
    Fail(FailStep),
    /// Nothing happens for a while, between steps.
    Wait(Dur),
    /// A message is opened and nothing more happens for a while: a slow provider.
    Stall(Dur),
    /// Nothing happens any more.
    Hold,
}

/// What one call of the question tool asks.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "OneOrMore")]
pub struct Questions(pub Vec<Question>);

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(Question),
    More(Vec<Question>),
}

impl From<OneOrMore> for Questions {
    fn from(asked: OneOrMore) -> Self {
        match asked {
            OneOrMore::One(question) => Self(vec![question]),
            OneOrMore::More(questions) => Self(questions),
        }
    }
}

/// Streamed text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextStep {
    /// Split into tokens at spaces.
    pub text: String,
    /// Between two tokens.
    #[serde(default = "token_pause")]
    pub every: Dur,
}

fn token_pause() -> Dur {
    Dur(60)
}

/// A pretended shell command.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BashStep {
    /// Shown, never run.
    pub command: String,
    /// For people.
    #[serde(default)]
    pub description: String,
    /// `input.timeout`, milliseconds; the server's own limit of 120 s where absent.
    #[serde(default)]
    pub timeout: Option<u64>,
    /// Output, line by line.
    #[serde(default)]
    pub lines: Vec<String>,
    /// Before each line and before the end.
    #[serde(default = "line_pause")]
    pub every: Dur,
    /// Exit code.
    #[serde(default)]
    pub exit: i64,
    /// Asks for permission first.
    #[serde(default)]
    pub ask: bool,
    /// Never ends.
    #[serde(default)]
    pub hold: bool,
}

pub(super) fn line_pause() -> Dur {
    Dur(300)
}

/// A call of a tool that is not bash, task or question.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolStep {
    /// `read`, `webfetch`, `my_srv-one_do_it-now`.
    pub name: String,
    /// Arguments.
    #[serde(default)]
    pub input: Object,
    /// For people.
    #[serde(default)]
    pub title: String,
    /// What comes back.
    #[serde(default)]
    pub output: String,
    /// How long its arguments stream (pending) before it runs.
    #[serde(default)]
    pub arguments: Dur,
    /// How long it runs.
    #[serde(default = "line_pause")]
    pub takes: Dur,
    /// Asks for permission first.
    #[serde(default)]
    pub ask: bool,
    /// The ask lacks an optional input, so that `GET /permission` answers 400.
    #[serde(default)]
    pub unreadable: bool,
    /// Never ends; with `arguments`, they never end.
    #[serde(default)]
    pub hold: bool,
    /// Fails with this text.
    #[serde(default)]
    pub error: Option<String>,
}

impl ToolStep {
    /// Its arguments never end.
    pub(crate) fn stuck_in_arguments(&self) -> bool {
        self.hold && self.arguments.0 > 0
    }
}

/// A subagent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskStep {
    /// For people; also the child's title.
    pub description: String,
    /// The child's prompt.
    #[serde(default)]
    pub prompt: String,
    /// `general`, `explore`, …
    #[serde(default = "general")]
    pub agent: String,
    /// What the child does; by the prompt's directives where empty.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// In a scenario file: the key of a session there that is the child.
    #[serde(default)]
    pub child: Option<String>,
}

pub(super) fn general() -> String {
    "general".to_owned()
}

/// Failing tries.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryStep {
    /// The provider's words.
    pub message: String,
    /// Number of the first failing try, from 1.
    #[serde(default = "one")]
    pub from: u32,
    /// Number of the last failing try.
    #[serde(default = "one")]
    pub to: u32,
    /// Wait before each next try; doubling from the server's unit where absent.
    #[serde(default)]
    pub wait: Option<Dur>,
    /// What a person could do: `{reason, provider, title, message, label, link?}`.
    #[serde(default)]
    pub action: Option<Value>,
    /// The next try is this long overdue and never comes.
    #[serde(default)]
    pub overdue: Option<Dur>,
}

fn one() -> u32 {
    1
}

/// An error that ends the turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailStep {
    /// Readable text.
    pub message: String,
    /// HTTP status of the provider: `APIError`; without it `UnknownError`.
    #[serde(default)]
    pub status: Option<u16>,
}

impl Step {
    /// Text with the usual pace.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Text(TextStep {
            text: text.into(),
            every: token_pause(),
        })
    }

    /// A pretended command with its pretended output; understands `echo`, `sleep`, `exit`.
    pub fn bash(command: impl Into<String>) -> Self {
        Self::Bash(pretend(command.into()))
    }

    /// Whether a tool part comes of it, after which the loop goes on with a new message.
    pub(crate) fn is_tool(&self) -> bool {
        matches!(
            self,
            Self::Bash(_) | Self::Tool(_) | Self::Question(_) | Self::Task(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read() {
        let ms = |text| Dur::parse(text).map(|dur| dur.0);
        assert_eq!(ms("12m30s"), Some(750_000));
        assert_eq!(ms("1.5s"), Some(1500));
        assert_eq!(ms("2d3h"), Some(183_600_000));
        for bad in ["", "12", "s", "3 weeks", "-2s"] {
            assert_eq!(ms(bad), None, "{bad}");
        }
    }
}
