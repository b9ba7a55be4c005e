//! Tool parts and asks as data: how a part changes its state and how an ask gets into its list.
//!
//! What it does: the transitions pending -> running -> completed or error on the world. What it does not:
//! wait for anything. Invariant: a part that has ended keeps its end, whoever ended it.

use super::super::script::{BashStep, Questions, Step, TaskStep, ToolStep, from_prompt};
use super::super::wire::{
    AskTool, Body, EndedTime, Object, Part, PartTime, PermissionAsk, QuestionAsk, ToolState,
};
use super::super::world::{Pending, Permission, World};
use serde_json::{Value, json};

/// Bash shows the last of its output only.
const OUTPUT_LIMIT: usize = 30_000;

/// An ask before a tool.
pub(crate) struct Wanted {
    permission: String,
    patterns: Vec<String>,
    metadata: Object,
    pub(crate) always: Vec<String>,
    unreadable: bool,
}

/// A JSON object from pairs.
pub(crate) fn object<const N: usize>(pairs: [(&str, Value); N]) -> Object {
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The last [`OUTPUT_LIMIT`] bytes or a little less, whole characters.
pub(crate) fn tail(output: &str) -> &str {
    let from = output.len().saturating_sub(OUTPUT_LIMIT);
    let from = (from..output.len()).find(|&i| output.is_char_boundary(i));
    &output[from.unwrap_or(0)..]
}

/// `input` of a bash call.
pub(crate) fn bash_input(step: &BashStep) -> Object {
    let mut input = object([("command", json!(step.command))]);
    if !step.description.is_empty() {
        input.insert("description".to_owned(), json!(step.description));
    }
    if let Some(timeout) = step.timeout {
        input.insert("timeout".to_owned(), json!(timeout));
    }
    input
}

/// `input` of a task call.
pub(crate) fn task_input(step: &TaskStep) -> Object {
    object([
        ("description", json!(step.description)),
        ("prompt", json!(step.prompt)),
        ("subagent_type", json!(step.agent)),
    ])
}

/// `input` of a question call.
pub(crate) fn question_input(asked: &Questions) -> Object {
    object([("questions", json!(asked.0))])
}

/// The output of a question call: each question with what was answered.
pub(crate) fn answered(asked: &Questions, answers: &[Vec<String>]) -> String {
    let mut pairs = Vec::new();
    for (place, question) in asked.0.iter().enumerate() {
        let labels = answers.get(place).filter(|labels| !labels.is_empty());
        let labels = labels.map_or_else(|| "Unanswered".to_owned(), |labels| labels.join(", "));
        pairs.push(format!("\"{}\"=\"{labels}\"", question.question));
    }
    format!(
        "User has answered your questions: {}. You can now continue with the user's answers in mind.",
        pairs.join(", ")
    )
}

/// The title of a question call.
pub(crate) fn asked_title(asked: &Questions) -> String {
    match asked.0.len() {
        1 => "Asked 1 question".to_owned(),
        more => format!("Asked {more} questions"),
    }
}

/// Running state from its start on.
pub(crate) fn running(input: Object, metadata: Option<Object>, start: i64) -> ToolState {
    let title = metadata.as_ref().filter(|m| m.contains_key("sessionId"));
    let title = title.and_then(|_| Some(input.get("description")?.as_str()?.to_owned()));
    ToolState::Running {
        input,
        title,
        metadata,
        time: PartTime { start, end: None },
    }
}

pub(crate) fn child_steps(step: &TaskStep) -> Vec<Step> {
    if step.steps.is_empty() {
        from_prompt(&step.prompt)
    } else {
        step.steps.clone()
    }
}

/// The newest tool part of a message that has not ended.
pub(crate) fn open_tool(w: &World, session: &str, message: &str) -> Option<Part> {
    let parts = &w.message(session, message)?.parts;
    let is_open = |p: &&Part| matches!(&p.body, Body::Tool { state, .. } if state.is_open());
    parts.iter().rfind(is_open).cloned()
}

pub(crate) fn shown_output(part: &Part) -> String {
    let Body::Tool { state, .. } = &part.body else {
        return String::new();
    };
    let ToolState::Running { metadata, .. } = state else {
        return String::new();
    };
    let output = metadata.as_ref().and_then(|m| m.get("output")?.as_str());
    output.unwrap_or_default().to_owned()
}

/// Session of the subagent that a task part waits for.
pub(crate) fn child_of(part: &Part) -> Option<String> {
    let Body::Tool { state, .. } = &part.body else {
        return None;
    };
    let ToolState::Running { metadata, .. } = state else {
        return None;
    };
    Some(metadata.as_ref()?.get("sessionId")?.as_str()?.to_owned())
}

/// Puts a running state into a part that has not ended.
pub(crate) fn run_part(w: &mut World, part: &Part, input: Object, metadata: Option<Object>) {
    let now = w.now().0;
    change_open_at(w, part, now, |_, start| running(input, metadata, start));
}

/// Puts an error into a part that has not ended.
pub(crate) fn fail_part(w: &mut World, part: &Part, error: String, metadata: Option<Object>) {
    let end = w.now().0;
    change_open(w, part, |input, start| ToolState::Error {
        input,
        error,
        metadata,
        time: EndedTime { start, end },
    });
}

/// Ends or advances a part that has not ended; others stay as they are.
pub(crate) fn change_open(w: &mut World, part: &Part, to: impl FnOnce(Object, i64) -> ToolState) {
    let now = w.now().0;
    change_open_at(w, part, now, to);
}

fn change_open_at(w: &mut World, part: &Part, now: i64, to: impl FnOnce(Object, i64) -> ToolState) {
    let found = w.message(&part.session_id, &part.message_id);
    let Some(current) = found.and_then(|m| m.parts.iter().find(|p| p.id == part.id)) else {
        return;
    };
    let Body::Tool {
        call_id,
        tool,
        state,
    } = &current.body
    else {
        return;
    };
    if !state.is_open() {
        return;
    }
    let state = to(state.input().clone(), state.start().unwrap_or(now));
    let body = Body::Tool {
        call_id: call_id.clone(),
        tool: tool.clone(),
        state,
    };
    w.put_part(&Part {
        body,
        ..part.clone()
    });
}

fn ask_tool(part: &Part) -> AskTool {
    let call_id = match &part.body {
        Body::Tool { call_id, .. } => call_id.clone(),
        _ => String::new(),
    };
    AskTool {
        message_id: part.message_id.clone(),
        call_id,
    }
}

/// Id of the ask that a part waits for, or whose reply is not taken yet.
pub(crate) fn ask_of(w: &World, part: &Part) -> Option<String> {
    let call = ask_tool(part).call_id;
    let permission = w
        .live
        .permissions
        .iter()
        .find(|p| p.ask.tool.call_id == call);
    let question = w.live.questions.iter().find(|q| q.ask.tool.call_id == call);
    permission
        .map(|p| p.ask.id.clone())
        .or_else(|| question.map(|q| q.ask.id.clone()))
}

pub(crate) fn wanted_bash(command: &str) -> Wanted {
    let word = command.split_whitespace().next().unwrap_or_default();
    Wanted {
        permission: "bash".to_owned(),
        patterns: vec![command.to_owned()],
        metadata: object([("command", json!(command))]),
        always: vec![format!("{word} *")],
        unreadable: false,
    }
}

pub(crate) fn wanted_tool(step: &ToolStep) -> Wanted {
    let text = |key: &str| Some(step.input.get(key)?.as_str()?.to_owned());
    let what = ["filePath", "url", "path", "pattern"]
        .iter()
        .find_map(|key| text(key));
    Wanted {
        permission: step.name.clone(),
        patterns: vec![what.unwrap_or_else(|| "*".to_owned())],
        metadata: step.input.clone(),
        always: vec![format!("{}:*", step.name)],
        unreadable: step.unreadable,
    }
}

/// Lists a permission; gives its id.
pub(crate) fn add_permission(
    w: &mut World,
    part: &Part,
    directory: &str,
    wanted: Wanted,
) -> String {
    let now = w.now();
    let ask = PermissionAsk {
        id: w.ids.ascending("per", now),
        session_id: part.session_id.clone(),
        permission: wanted.permission,
        patterns: wanted.patterns,
        metadata: wanted.metadata,
        always: wanted.always,
        tool: ask_tool(part),
    };
    let id = ask.id.clone();
    w.emit(directory, "permission.asked", &ask);
    w.live.permissions.push(Permission {
        directory: directory.to_owned(),
        ask,
        unreadable: wanted.unreadable,
    });
    id
}

/// Lists the ask that a bash, tool or question step waits for.
pub(crate) fn list_ask(w: &mut World, part: &Part, directory: &str, step: &Step) {
    match step {
        Step::Bash(bash) => drop(add_permission(
            w,
            part,
            directory,
            wanted_bash(&bash.command),
        )),
        Step::Tool(tool) => drop(add_permission(w, part, directory, wanted_tool(tool))),
        Step::Question(asked) => drop(add_question(w, part, directory, asked)),
        _ => {}
    }
}

/// Lists a question; gives its id.
pub(crate) fn add_question(
    w: &mut World,
    part: &Part,
    directory: &str,
    asked: &Questions,
) -> String {
    let now = w.now();
    let ask = QuestionAsk {
        id: w.ids.ascending("que", now),
        session_id: part.session_id.clone(),
        questions: asked.0.clone(),
        tool: ask_tool(part),
    };
    let id = ask.id.clone();
    w.emit(directory, "question.asked", &ask);
    w.live.questions.push(Pending {
        directory: directory.to_owned(),
        ask,
    });
    id
}
