//! What a turn does, as data: the steps of a script, and the directives that a prompt may hold.
//!
//! What it does: types for steps (also read from scenario files), spans such as `12m30s`, and
//! [`from_prompt`], which turns the text of a prompt into steps. What it does not: run them (see `life`)
//! or put them into the past (see `seed`).
//!
//! Directives, anywhere in a prompt: `say:TEXT` answers TEXT; `slow:N` streams a token a second for N
//! seconds; `flood:N` streams N tokens at once; `big:BYTES` runs a command with that much output; `hang`
//! says one token and falls silent; `bash:CMD` runs CMD (only pretended: `echo`, `sleep`, `exit` are
//! understood); `perm:CMD` asks for permission first; `question` asks one; `task:PROMPT` gives PROMPT to a
//! subagent; `tool:NAME JSON` calls any tool; `err:CODE` fails like a provider with that HTTP status.
//! A prompt without a directive is answered with `ok`.

use super::wire::{Choice, Object, Question};
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
    /// A question to the person.
    Question(Question),
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

fn line_pause() -> Dur {
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
    /// Never ends.
    #[serde(default)]
    pub hold: bool,
    /// Fails with this text.
    #[serde(default)]
    pub error: Option<String>,
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

fn general() -> String {
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

/// What a prompt asks for.
pub fn from_prompt(prompt: &str) -> Vec<Step> {
    directive(prompt).unwrap_or_else(|| vec![Step::say("ok")])
}

fn directive(prompt: &str) -> Option<Vec<Step>> {
    let word = |name: &str| prompt.split_whitespace().any(|w| w == name);
    let step = if let Some(code) = number(prompt, "err:") {
        return Some(failing(u16::try_from(code).unwrap_or(500)));
    } else if let Some(rest) = after(prompt, "task:") {
        Step::Task(TaskStep {
            description: "child".to_owned(),
            prompt: rest.to_owned(),
            agent: general(),
            ..TaskStep::default()
        })
    } else if word("hang") {
        return Some(vec![Step::say("thinking"), Step::Hold]);
    } else if let Some(seconds) = number(prompt, "slow:") {
        tokens(seconds, Dur(1000))
    } else if let Some(count) = number(prompt, "flood:") {
        tokens(count, Dur(0))
    } else if let Some(bytes) = number(prompt, "big:") {
        big(bytes)
    } else if let Some(rest) = after(prompt, "tool:") {
        tool_call(rest)?
    } else if let Some(rest) = after(prompt, "perm:") {
        Step::Bash(BashStep {
            ask: true,
            ..pretend(rest.to_owned())
        })
    } else if let Some(rest) = after(prompt, "bash:") {
        Step::bash(rest)
    } else if word("question") {
        Step::Question(which())
    } else {
        Step::say(after(prompt, "say:")?)
    };
    Some(vec![step])
}

fn after<'a>(prompt: &'a str, name: &str) -> Option<&'a str> {
    prompt.split_once(name).map(|(_, rest)| rest.trim())
}

fn number(prompt: &str, name: &str) -> Option<u64> {
    let rest = after(prompt, name)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn failing(status: u16) -> Vec<Step> {
    let message = "scripted failure".to_owned();
    let retry = RetryStep {
        message: message.clone(),
        from: 1,
        to: 5,
        wait: None,
        overdue: None,
    };
    let fail = FailStep {
        message,
        status: Some(status),
    };
    vec![Step::Retry(retry), Step::Fail(fail)]
}

fn tokens(count: u64, every: Dur) -> Step {
    let text = (0..count.min(100_000)).fold(String::new(), |mut text, n| {
        text.push_str("tok");
        text.push_str(&n.to_string());
        text.push(' ');
        text
    });
    Step::Text(TextStep { text, every })
}

fn big(bytes: u64) -> Step {
    let count = usize::try_from(bytes.min(64 << 20)).unwrap_or(0) / 80;
    Step::Bash(BashStep {
        command: format!("head -c {bytes} /dev/zero"),
        lines: vec![vec!["x".repeat(79); count].join("\n")],
        ..pretend(String::new())
    })
}

fn tool_call(rest: &str) -> Option<Step> {
    let (name, json) = rest.split_once(' ').unwrap_or((rest, "{}"));
    let input: Object = serde_json::from_str(json.trim()).ok()?;
    let text = |key: &str| {
        input
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    Some(match name {
        "bash" => Step::bash(text("command")),
        "question" => Step::Question(
            input
                .get("questions")
                .and_then(|list| serde_json::from_value(list.get(0)?.clone()).ok())
                .unwrap_or_else(which),
        ),
        "task" => Step::Task(TaskStep {
            description: text("description"),
            prompt: text("prompt"),
            agent: text("subagent_type"),
            ..TaskStep::default()
        }),
        _ => Step::Tool(ToolStep {
            name: name.to_owned(),
            title: name.to_owned(),
            output: "tool output".to_owned(),
            takes: line_pause(),
            input,
            ..ToolStep::default()
        }),
    })
}

fn which() -> Question {
    let choice = |label: &str, description: &str| Choice {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    Question {
        question: "Which?".to_owned(),
        header: "Pick".to_owned(),
        options: vec![choice("A", "a"), choice("B", "b")],
        multiple: None,
    }
}

/// What `command` would print and how long it would take, for the few words understood.
fn pretend(command: String) -> BashStep {
    let mut lines = Vec::new();
    let mut ms = 0;
    let mut exit = 0;
    for word in command
        .split([';', '&'])
        .map(str::trim)
        .filter(|w| !w.is_empty())
    {
        if let Some(text) = word.strip_prefix("echo ") {
            lines.push(text.trim_matches(['"', '\'']).to_owned());
        } else if let Some(seconds) = word.strip_prefix("sleep ") {
            ms += Dur::parse(&format!("{seconds}s")).unwrap_or_default().0;
        } else if let Some(code) = word.strip_prefix("exit ") {
            exit = code.parse().unwrap_or(1);
        } else {
            lines.push(format!("pretended: {word}"));
        }
    }
    let pauses = u64::try_from(lines.len()).unwrap_or(0) + 1;
    BashStep {
        command,
        description: "scripted".to_owned(),
        timeout: Some(600_000),
        lines,
        every: Dur((ms / pauses).max(20)),
        exit,
        ..BashStep::default()
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

    #[test]
    fn prompts_become_steps() {
        let Some(Step::Bash(bash)) = from_prompt("bash:echo one; sleep 3; echo two").pop() else {
            panic!("not a command");
        };
        assert_eq!(bash.lines, ["one", "two"]);
        assert_eq!(bash.every, Dur(1000));
        assert!(matches!(
            &from_prompt("task:say:from child")[..],
            [Step::Task(task)] if task.prompt == "say:from child"
        ));
        assert!(matches!(
            &from_prompt("err:401")[..],
            [
                Step::Retry(_),
                Step::Fail(FailStep {
                    status: Some(401),
                    ..
                })
            ]
        ));
        assert!(matches!(&from_prompt("hello")[..], [Step::Text(text)] if text.text == "ok"));
    }
}
