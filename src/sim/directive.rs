//! The directives that a prompt may hold, turned into steps.
//!
//! What it does: [`from_prompt`]. What it does not: run anything; a command's output is made up from the few
//! words that are understood.
//!
//! Directives, anywhere in a prompt: `say:TEXT` answers TEXT; `slow:N` streams a token a second for N
//! seconds; `flood:N` streams N tokens at once; `big:BYTES` runs a command with that much output; `hang`
//! says one token and falls silent; `bash:CMD` runs CMD (only pretended: `echo`, `sleep`, `exit` are
//! understood); `perm:CMD` asks for permission first; `question` asks one; `task:PROMPT` gives PROMPT to a
//! subagent; `tool:NAME JSON` calls any tool; `err:CODE` fails like a provider with that HTTP status.
//! A prompt without a directive is answered with `ok`.

use super::script::{
    BashStep, Dur, FailStep, Questions, RetryStep, Step, TaskStep, TextStep, ToolStep,
};
use super::script::{general, line_pause};
use super::wire::{Choice, Object, Question};
use serde_json::Value;

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
        Step::Question(Questions(vec![which()]))
    } else {
        Step::say(after(prompt, "say:")?)
    };
    Some(vec![step])
}

pub(super) fn after<'a>(prompt: &'a str, name: &str) -> Option<&'a str> {
    prompt.split_once(name).map(|(_, rest)| rest.trim())
}

pub(super) fn number(prompt: &str, name: &str) -> Option<u64> {
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
        action: None,
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
                .and_then(|list| serde_json::from_value(list.clone()).ok())
                .unwrap_or_else(|| Questions(vec![which()])),
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
pub(super) fn pretend(command: String) -> BashStep {
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
