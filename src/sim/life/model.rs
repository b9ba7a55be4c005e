//! Steps of the model itself: streamed text and reasoning, retries, the error that ends a turn.
//!
//! What it does: one delta event per token, the text in the part only when it ended; statuses with the
//! time of the next try. What it does not: tools.

use super::super::script::{Dur, FailStep, RetryStep, TextStep};
use super::super::wire::{Body, ErrorInfo, Part, PartTime, Status};
use super::super::world::World;
use super::{Flow, Turn};
use crate::core::time::UnixMs;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

/// Pieces of a text as a model sends them: up to and with each space.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

fn body(text: String, reasoning: bool, time: PartTime) -> Body {
    if reasoning {
        Body::Reasoning { text, time }
    } else {
        Body::Text {
            text,
            synthetic: None,
            time: Some(time),
        }
    }
}

/// Start of an open text or reasoning part.
pub(super) fn open_text(part: &Part) -> Option<(i64, bool)> {
    match &part.body {
        Body::Text {
            time: Some(time), ..
        } if time.end.is_none() => Some((time.start, false)),
        Body::Reasoning { time, .. } if time.end.is_none() => Some((time.start, true)),
        _ => None,
    }
}

/// Ends an open text with what was streamed of it.
pub(super) fn end_text(w: &mut World, part: &Part) {
    if let Some((start, reasoning)) = open_text(part) {
        let text = w.live.tails.remove(&part.id).unwrap_or_default();
        let end = Some(w.now().0);
        w.put_part(&Part {
            body: body(text, reasoning, PartTime { start, end }),
            ..part.clone()
        });
    }
}

/// The error of a step that ends its turn.
pub(super) fn failure(step: &FailStep) -> Flow {
    Flow::Failed(match step.status {
        Some(status) => ErrorInfo::api(&step.message, status, status >= 500 || status == 429),
        None => ErrorInfo::unknown(&step.message),
    })
}

impl Turn {
    /// Text in one go.
    pub(super) async fn say(&mut self, text: &str) {
        let step = TextStep {
            text: text.to_owned(),
            every: Dur(5),
        };
        self.stream(&step, false, false).await;
    }

    /// Streams a text, token by token.
    pub(super) async fn stream(&mut self, step: &TextStep, reasoning: bool, resumed: bool) -> Flow {
        let Some(message) = self.open.clone() else {
            return Flow::Go;
        };
        let part = self
            .act(|w| self.text_part(w, &message, reasoning, resumed))
            .await;
        for (index, token) in split(&step.text).enumerate() {
            if step.every.0 > 0 {
                sleep(step.every.duration()).await;
            } else if index % 64 == 63 {
                tokio::task::yield_now().await;
            }
            self.act(|w| delta(w, &self.directory, &part, token)).await;
            self.written += 1;
        }
        self.act(|w| end_text(w, &part)).await;
        self.text.clone_from(&step.text);
        Flow::Go
    }

    fn text_part(&self, w: &mut World, message: &str, reasoning: bool, resumed: bool) -> Part {
        if resumed
            && let Some(found) = w.message(&self.session, message)
            && let Some(part) = found.parts.iter().rfind(|part| open_text(part).is_some())
        {
            return part.clone();
        }
        let time = PartTime {
            start: w.now().0,
            end: None,
        };
        let part = self.part(w, message, body(String::new(), reasoning, time));
        w.put_part(&part);
        part
    }

    /// Failing tries: busy, retry with the time of the next, busy again.
    pub(super) async fn retry(&mut self, step: &RetryStep) -> Flow {
        if let Some(overdue) = step.overdue {
            let next = |now: UnixMs| now.0 - overdue.ms();
            self.say_retry(step, step.from, next).await;
            return std::future::pending().await;
        }
        for attempt in step.from..=step.to {
            let doubled = self.server.config.retry_unit * 2_u32.pow((attempt.max(1) - 1).min(4));
            let wait = step.wait.map_or(doubled, Dur::duration);
            let ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
            self.say_retry(step, attempt, |now| now.0.saturating_add(ms))
                .await;
            sleep(wait).await;
            self.act(|w| w.set_status(&self.session, Status::Busy))
                .await;
            sleep(Duration::from_millis(20)).await;
        }
        Flow::Go
    }

    async fn say_retry(&self, step: &RetryStep, attempt: u32, next: impl Fn(UnixMs) -> i64) {
        self.act(|w| {
            let status = Status::Retry {
                attempt,
                message: step.message.clone(),
                next: next(w.now()),
                action: step.action.clone(),
            };
            w.set_status(&self.session, status);
        })
        .await;
    }
}

/// One token more, as an event only.
pub(crate) fn delta(w: &mut World, directory: &str, part: &Part, token: &str) {
    let tail = w.live.tails.entry(part.id.clone()).or_default();
    tail.push_str(token);
    let properties = json!({
        "sessionID": part.session_id,
        "messageID": part.message_id,
        "partID": part.id,
        "field": "text",
        "delta": token,
    });
    w.emit(directory, "message.part.delta", &properties);
}
