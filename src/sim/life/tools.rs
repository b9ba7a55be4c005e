//! Tool calls: bash with growing output, other tools, questions, subagents, and the asks before them.
//!
//! What it does: pending -> running -> completed or error, as whole-part updates. What it does not: run
//! anything on the host. Invariant: a part that somebody else ended (PATCH) keeps that end: the real
//! result is lost, as on the real server.

use super::super::script::{BashStep, Questions, TaskStep, ToolStep};
use super::super::wire::{Body, EndedTime, Object, Part, ToolState};
use super::super::world::{NewSession, Outcome, Reply};
use super::parts::{
    Wanted, add_permission, add_question, answered, ask_of, asked_title, bash_input, change_open,
    child_of, child_steps, fail_part, object, open_tool, question_input, run_part, shown_output,
    tail, task_input, wanted_bash, wanted_tool,
};
use super::prompt::{Prompt, submit};
use super::{Flow, Turn};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

const REJECTED: &str = "The user rejected permission to use this specific tool call.";
impl Turn {
    /// A pretended command.
    pub(super) async fn bash(&mut self, step: &BashStep, resumed: bool) -> Flow {
        let input = bash_input(step);
        let (part, found) = self.tool_part("bash", resumed).await;
        let mut output = if found {
            shown_output(&part)
        } else {
            String::new()
        };
        sleep(Duration::from_millis(8)).await;
        let wanted = (step.ask && !found).then(|| wanted_bash(&step.command));
        let ask = self.ask(&part, &input, wanted).await;
        if let Some(flow) = self.permitted(&part, ask).await {
            return flow;
        }
        let mut metadata = object([("output", json!(output))]);
        if !found || step.ask {
            self.progress(&part, &input, Some(metadata.clone())).await;
            self.progress(&part, &input, Some(metadata.clone())).await;
        }
        if step.hold {
            return std::future::pending().await;
        }
        for line in &step.lines {
            sleep(step.every.duration()).await;
            output.push_str(line);
            output.push('\n');
            metadata = object([("output", json!(tail(&output)))]);
            self.progress(&part, &input, Some(metadata)).await;
        }
        sleep(step.every.duration()).await;
        let metadata = object([
            ("output", json!(tail(&output))),
            ("exit", json!(step.exit)),
            ("truncated", json!(false)),
        ]);
        self.completed(&part, output, step.command.clone(), metadata)
            .await;
        Flow::Go
    }

    /// Any other tool.
    pub(super) async fn tool(&mut self, step: &ToolStep, resumed: bool) -> Flow {
        let (part, found) = self.tool_part(&step.name, resumed).await;
        if step.stuck_in_arguments() {
            return std::future::pending().await;
        }
        if !found {
            sleep(step.arguments.duration()).await;
        }
        let wanted = (step.ask && !found).then(|| wanted_tool(step));
        let ask = self.ask(&part, &step.input, wanted).await;
        if let Some(flow) = self.permitted(&part, ask).await {
            return flow;
        }
        self.progress(&part, &step.input, None).await;
        if step.hold {
            return std::future::pending().await;
        }
        sleep(step.takes.duration()).await;
        if let Some(error) = &step.error {
            self.failed(&part, error.clone()).await;
            return Flow::Go;
        }
        let metadata = object([("truncated", json!(false))]);
        let (output, title) = (step.output.clone(), step.title.clone());
        self.completed(&part, output, title, metadata).await;
        Flow::Go
    }

    /// A question to the person.
    pub(super) async fn question(&mut self, asked: &Questions, resumed: bool) -> Flow {
        let (part, found) = self.tool_part("question", resumed).await;
        sleep(Duration::from_millis(8)).await;
        let ask = self
            .act(|w| {
                if found {
                    return ask_of(w, &part);
                }
                let id = add_question(w, &part, &self.directory, asked);
                run_part(w, &part, question_input(asked), None);
                Some(id)
            })
            .await;
        let Some(id) = ask else {
            // The ask is lost: nobody can answer.
            return std::future::pending().await;
        };
        if let Reply::Answers(answers) = self.reply(&id).await {
            return self.take_answers(&part, asked, answers).await;
        }
        let error = "The user dismissed this question".to_owned();
        self.failed(&part, error).await;
        Flow::Rejected
    }

    async fn take_answers(
        &self,
        part: &Part,
        asked: &Questions,
        answers: Vec<Vec<String>>,
    ) -> Flow {
        let output = answered(asked, &answers);
        let metadata = object([("answers", json!(answers)), ("truncated", json!(false))]);
        self.completed(part, output, asked_title(asked), metadata)
            .await;
        Flow::Go
    }

    /// A subagent: its own session, whose end this turn waits for.
    pub(super) async fn task(&mut self, step: &TaskStep, resumed: bool) -> Flow {
        let (part, found) = self.tool_part("task", resumed).await;
        let child = if found { child_of(&part) } else { None };
        let child = match child {
            Some(child) => child,
            None => self.start_child(&part, step).await,
        };
        let outcome = self.server.until(|w| w.live.outcomes.remove(&child)).await;
        match outcome {
            Outcome::Done(text) => {
                let output = format!(
                    "<task id=\"{child}\" state=\"completed\">\n<task_result>\n{text}\n</task_result>\n</task>"
                );
                let mut metadata = self.task_metadata(&child);
                metadata.insert("truncated".to_owned(), json!(false));
                self.completed(&part, output, step.description.clone(), metadata)
                    .await;
            }
            Outcome::Rejected => self.failed(&part, REJECTED.to_owned()).await,
            Outcome::Aborted => self.failed(&part, "Task cancelled".to_owned()).await,
            Outcome::Failed(message) => self.failed(&part, message).await,
        }
        Flow::Go
    }

    async fn start_child(&mut self, part: &Part, step: &TaskStep) -> String {
        let child = self
            .act(|w| {
                let created = w.now();
                w.create_session(NewSession {
                    directory: self.directory.clone(),
                    title: format!("{} (@{} subagent)", step.description, step.agent),
                    parent: Some(self.session.clone()),
                    agent: Some(step.agent.clone()),
                    permission: Some(
                        json!([{"permission": "task", "pattern": "*", "action": "deny"}]),
                    ),
                    created,
                })
            })
            .await;
        let metadata = self.task_metadata(&child);
        for _ in 0..2 {
            self.progress(part, &task_input(step), Some(metadata.clone()))
                .await;
        }
        let prompt = Prompt {
            text: step.prompt.clone(),
            model: Some(self.model.clone()),
            agent: Some(step.agent.clone()),
            steps: Some(child_steps(step)),
            ..Prompt::default()
        };
        submit(&self.server, &child, prompt);
        child
    }

    fn task_metadata(&self, child: &str) -> Object {
        object([
            ("parentSessionId", json!(self.session)),
            ("sessionId", json!(child)),
            ("model", json!(self.model)),
        ])
    }

    /// The open part of a tool if this run continues one, else a new pending part.
    async fn tool_part(&self, tool: &str, resumed: bool) -> (Part, bool) {
        let message = self.open.clone().unwrap_or_default();
        self.act(|w| {
            if resumed && let Some(part) = open_tool(w, &self.session, &message) {
                return (part, true);
            }
            let now = w.now();
            let body = Body::Tool {
                call_id: w.ids.call(now),
                tool: tool.to_owned(),
                state: ToolState::Pending {
                    input: Object::new(),
                    raw: String::new(),
                },
            };
            let part = self.part(w, &message, body);
            w.put_part(&part);
            (part, false)
        })
        .await
    }

    async fn progress(&self, part: &Part, input: &Object, metadata: Option<Object>) {
        self.act(|w| run_part(w, part, input.clone(), metadata))
            .await;
    }

    async fn completed(&self, part: &Part, output: String, title: String, metadata: Object) {
        self.act(|w| {
            let end = w.now().0;
            change_open(w, part, |input, start| ToolState::Completed {
                input,
                output,
                title,
                metadata,
                time: EndedTime { start, end },
            });
        })
        .await;
    }

    async fn failed(&self, part: &Part, error: String) {
        self.act(|w| fail_part(w, part, error, None)).await;
    }

    /// Lists a permission unless it was allowed for good; gives the id of the ask that is open.
    async fn ask(&self, part: &Part, input: &Object, wanted: Option<Wanted>) -> Option<String> {
        self.act(|w| {
            let Some(wanted) = wanted else {
                return ask_of(w, part);
            };
            let allowed = |pattern: &String| {
                let key = (self.directory.clone(), pattern.clone());
                w.live.always.contains(&key)
            };
            if wanted.always.iter().all(allowed) {
                return None;
            }
            let id = add_permission(w, part, &self.directory, wanted);
            run_part(w, part, input.clone(), None);
            Some(id)
        })
        .await
    }

    /// Waits for the reply to an ask, if there is one. `None`: go on.
    async fn permitted(&self, part: &Part, ask: Option<String>) -> Option<Flow> {
        match self.reply(&ask?).await {
            Reply::Rejected(Some(words)) => {
                let stem = REJECTED.trim_end_matches('.');
                let text = format!("{stem} with the following feedback: {words}");
                self.failed(part, text).await;
                Some(Flow::Go)
            }
            Reply::Rejected(None) | Reply::Dismissed => {
                self.failed(part, REJECTED.to_owned()).await;
                Some(Flow::Rejected)
            }
            Reply::Allowed | Reply::Answers(_) => None,
        }
    }

    async fn reply(&self, ask: &str) -> Reply {
        self.server.until(|w| w.live.replies.remove(ask)).await
    }
}
