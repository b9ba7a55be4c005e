//! The parts that a step of the past left behind.
//!
//! What it does: the body of a part, open, ended, or ended while its ask stayed (ghost). What it does not:
//! store it. Invariant: an open text is empty, as a GET shows it.

use super::Keys;
use crate::core::time::UnixMs;
use crate::sim::life::parts::{
    answered, asked_title, bash_input, object, question_input, running, task_input,
};
use crate::sim::script::{BashStep, Questions, Step, TaskStep, ToolStep};
use crate::sim::seed::StepSeed;
use crate::sim::wire::{Body, EndedTime, ModelRef, Object, PartTime, Question, ToolState};
use crate::sim::world::World;
use serde_json::json;

/// A step of the past and what it needs to become a part.
pub(super) struct Left<'a> {
    pub(super) seed: &'a StepSeed,
    pub(super) span: EndedTime,
    pub(super) session: &'a str,
    pub(super) model: &'a ModelRef,
    pub(super) keys: &'a Keys,
}

/// What the model reads, what people read, and the metadata of a call that ended.
struct Ended {
    output: String,
    title: String,
    metadata: Object,
}

impl Left<'_> {
    /// Nothing is left of steps without a part.
    pub(super) fn body(&self, w: &mut World) -> Option<Body> {
        match &self.seed.step {
            Step::Text(step) => Some(self.text(&step.text)),
            Step::Think(step) => Some(self.reasoning(&step.text)),
            Step::Bash(step) => Some(call(w, "bash", self.bash(step))),
            Step::Tool(step) => Some(call(w, &step.name, self.tool(step))),
            Step::Question(question) => Some(call(w, "question", self.question(question))),
            Step::Task(task) => Some(call(w, "task", self.task(task))),
            Step::Retry(_) | Step::Fail(_) | Step::Wait(_) | Step::Stall(_) | Step::Hold => None,
        }
    }

    fn shown(&self, text: &str) -> String {
        let text = if self.seed.open { "" } else { text };
        text.to_owned()
    }

    fn time(&self) -> PartTime {
        PartTime {
            start: self.span.start,
            end: (!self.seed.open).then_some(self.span.end),
        }
    }

    fn text(&self, text: &str) -> Body {
        Body::Text {
            text: self.shown(text),
            synthetic: None,
            time: Some(self.time()),
        }
    }

    fn reasoning(&self, text: &str) -> Body {
        Body::Reasoning {
            text: self.shown(text),
            time: self.time(),
        }
    }

    fn bash(&self, step: &BashStep) -> ToolState {
        let lines = if self.seed.open {
            &self.seed.shown
        } else {
            &step.lines
        };
        let output = lines
            .iter()
            .fold(String::new(), |text, line| text + line + "\n");
        let so_far = (!step.ask).then(|| object([("output", json!(output))]));
        let metadata = object([
            ("output", json!(output)),
            ("exit", json!(step.exit)),
            ("truncated", json!(false)),
        ]);
        let title = step.command.clone();
        self.state(
            bash_input(step),
            so_far,
            Ended {
                output,
                title,
                metadata,
            },
        )
    }

    fn tool(&self, step: &ToolStep) -> ToolState {
        if self.seed.open && step.stuck_in_arguments() {
            return ToolState::Pending {
                input: Object::new(),
                raw: String::new(),
            };
        }
        let ended = Ended {
            output: step.output.clone(),
            title: step.title.clone(),
            metadata: object([("truncated", json!(false))]),
        };
        self.state(step.input.clone(), None, ended)
    }

    fn question(&self, asked: &Questions) -> ToolState {
        let first = |question: &Question| {
            let label = question.options.first().map(|choice| choice.label.clone());
            label.into_iter().collect::<Vec<_>>()
        };
        let answers: Vec<Vec<String>> = asked.0.iter().map(first).collect();
        let ended = Ended {
            output: answered(asked, &answers),
            title: asked_title(asked),
            metadata: object([("answers", json!(answers)), ("truncated", json!(false))]),
        };
        self.state(question_input(asked), None, ended)
    }

    fn task(&self, task: &TaskStep) -> ToolState {
        let child = task
            .child
            .as_ref()
            .map_or("", |key| self.keys.get(key).unwrap_or(key));
        let metadata = object([
            ("parentSessionId", json!(self.session)),
            ("sessionId", json!(child)),
            ("model", json!(self.model)),
        ]);
        let ended = Ended {
            output: format!(
                "<task id=\"{child}\" state=\"completed\">\n<task_result>\n\n</task_result>\n</task>"
            ),
            title: task.description.clone(),
            metadata: metadata.clone(),
        };
        self.state(task_input(task), Some(metadata), ended)
    }

    /// Running if open, in error if a ghost, else completed.
    fn state(&self, input: Object, so_far: Option<Object>, ended: Ended) -> ToolState {
        if self.seed.ghost {
            return ToolState::Error {
                input,
                error: "Tool execution aborted".to_owned(),
                metadata: Some(object([("interrupted", json!(true))])),
                time: self.span,
            };
        }
        if self.seed.open {
            return running(input, so_far, self.span.start);
        }
        ToolState::Completed {
            input,
            output: ended.output,
            title: ended.title,
            metadata: ended.metadata,
            time: self.span,
        }
    }
}

/// Whether an open step waits for a person.
pub(super) fn asks(step: &Step) -> bool {
    match step {
        Step::Bash(step) => step.ask,
        Step::Tool(step) => step.ask,
        Step::Question(_) => true,
        _ => false,
    }
}

fn call(w: &mut World, tool: &str, state: ToolState) -> Body {
    let start = state.start().map_or_else(|| w.now(), UnixMs);
    Body::Tool {
        call_id: w.ids.call(start),
        tool: tool.to_owned(),
        state,
    }
}
