//! What messages and parts show, derived without looking at any finding.
//!
//! What it does: pick the message that decides, then the part that decides, and say why. What it
//! does not: call anything good or bad. Invariants: only parts of the **last** assistant message
//! can be live, an older running part is residue; the report is consulted only where the words
//! themselves depend on it (`between-steps`, `ended-early`, asks without a part).

use crate::core::judge::held::{holds_up, standing_asks};
use crate::core::judge::tools::is_shell;
use crate::core::judge::{Activity, ActivityState};
use crate::core::store::{PendingAsk, Reported, Server, Session, Tail};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Message, Part, PartBody, Status, ToolPart, ToolState};
use std::borrow::Cow;

/// A clock difference that is taken as none.
const SAME_TIME: Span = Span::secs(2);
/// How soon after a prompt its run is reported (0.1 s warm, 1.4 s cold under load).
const RUN_BEGINS: Span = Span::secs(10);

/// An activity, and one line that says why.
pub type Derived = (Activity, Cow<'static, str>);

/// The activity of a session, from what is known last.
pub fn derive(server: &Server, session: &Session) -> Derived {
    let look = Look::new(server, session);
    if !session.tail.is_read() {
        return look.unread("its messages are not read");
    }
    if session.tail.last().is_none() {
        return look.empty("it has no messages");
    }
    match look.deciding() {
        Some(answer) if is_open(answer) && !look.is_residue(answer) => look.open(answer),
        Some(answer) if !look.is_unanswered(answer) => look.ended(answer),
        _ => match session.tail.last_user() {
            Some(prompt) => unanswered(prompt),
            None => look.empty("it has no prompt and no answer"),
        },
    }
}

/// An answer that has neither end nor error.
pub fn is_open(message: &Message) -> bool {
    message.is_open() && message.error.is_none()
}

/// The newest time that a message and its parts name.
pub fn newest_time(message: &Message) -> UnixMs {
    let times = message.parts.iter().flat_map(part_times).flatten();
    let newest = times.fold(message.created, UnixMs::max);
    message.completed.map_or(newest, |end| newest.max(end))
}

fn part_times(part: &Part) -> [Option<UnixMs>; 2] {
    match &part.body {
        PartBody::Text(prose) | PartBody::Reasoning(prose) => [prose.start, prose.end],
        PartBody::Tool(tool) => [tool.start, tool.end],
        _ => [None, None],
    }
}

/// Text, reasoning or a tool: what an answer consists of.
pub fn is_content(part: &Part) -> bool {
    matches!(
        part.body,
        PartBody::Text(_) | PartBody::Reasoning(_) | PartBody::Tool(_)
    )
}

struct Look<'a> {
    session: &'a Session,
    tail: &'a Tail,
    server: &'a Server,
    /// Reported running; where nothing is reported now, as it was last told.
    running: bool,
}

impl<'a> Look<'a> {
    fn new(server: &'a Server, session: &'a Session) -> Self {
        let running = match server.reported(session) {
            Reported::Busy | Reported::Retry(_) => true,
            Reported::Idle => false,
            Reported::Unknown(_) | Reported::Other(_) => {
                matches!(session.status.status, Status::Busy | Status::Retry(_))
            }
        };
        Self {
            session,
            tail: &session.tail,
            server,
            running,
        }
    }

    /// The answer to the newest prompt, else the newest answer.
    fn deciding(&self) -> Option<&'a Message> {
        let last = self.tail.last_assistant()?;
        if self.tail.last().is_some_and(|m| m.id == last.id) {
            return Some(last);
        }
        let prompt = self.tail.last_user();
        let answer = prompt.and_then(|prompt| self.answer_to(prompt));
        Some(answer.unwrap_or(last))
    }

    fn answer_to(&self, prompt: &Message) -> Option<&'a Message> {
        let mut answers = self.tail.messages.iter().rev();
        answers.find(|m| m.is_assistant() && m.parent.as_ref() == Some(&prompt.id))
    }

    /// A newer prompt stands, and `answer` is not for it.
    fn is_unanswered(&self, answer: &Message) -> bool {
        self.tail.last_user().is_some_and(|prompt| {
            (prompt.created, &prompt.id) > (answer.created, &answer.id)
                && self.answer_to(prompt).is_none()
        })
    }

    /// An open answer that an earlier process left behind: we saw the present run begin with a
    /// newer prompt.
    fn is_residue(&self, answer: &Message) -> bool {
        let status = &self.session.status;
        let began = self.server.server_time(status.since);
        self.running
            && status.seen_change
            && self.is_unanswered(answer)
            && self.tail.last_user().is_some_and(|prompt| {
                began + SAME_TIME >= prompt.created && began <= prompt.created + RUN_BEGINS
            })
    }

    fn unread(&self, why: &'static str) -> Derived {
        let ask = self.asks().next().filter(|_| self.running);
        match ask {
            Some(pending) => self.asking_unseen(pending, why),
            None => (plain(ActivityState::Unread, None), why.into()),
        }
    }

    fn empty(&self, why: &'static str) -> Derived {
        if self.tail.missing > 0 {
            return self.unread("none of its messages could be read");
        }
        if let Some(pending) = self.loose_ask() {
            return self.asking_unseen(pending, "an ask without a tool call is listed");
        }
        (
            plain(ActivityState::Empty, Some(self.session.info.created)),
            why.into(),
        )
    }

    /// An ask that names no tool call, of a session that runs.
    fn loose_ask(&self) -> Option<&'a PendingAsk> {
        self.asks()
            .find(|pending| pending.ask.tool.is_none())
            .filter(|_| self.running)
    }

    fn asks(&self) -> impl Iterator<Item = &'a PendingAsk> + use<'a> {
        standing_asks(self.server, self.session).into_iter()
    }

    fn ask_of(&self, answer: &Message, part: &Part) -> Option<&'a PendingAsk> {
        self.asks().find(|pending| holds_up(pending, answer, part))
    }

    fn asking_unseen(&self, pending: &PendingAsk, why: &'static str) -> Derived {
        let since = self.server.server_time(pending.seen_at);
        let mut activity = plain(ActivityState::Asking, Some(since));
        activity.message = pending.ask.tool.as_ref().map(|tool| tool.message.clone());
        activity.detail = Some(pending.ask.text());
        (activity, why.into())
    }

    fn open(&self, answer: &Message) -> Derived {
        let (mut activity, why) = self.open_state(answer);
        activity.queued_prompts = self.queued(answer);
        (activity, why)
    }

    /// Prompts newer than the open answer, and those that wait to go in (2.x).
    fn queued(&self, answer: &Message) -> u32 {
        let newer = self.tail.messages.iter().rev();
        let newer = newer.take_while(|m| m.id != answer.id);
        let count = newer.filter(|m| m.is_user()).count() + self.session.waiting_prompts().count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn open_state(&self, answer: &Message) -> Derived {
        let live = || answer.parts.iter().filter(|part| part.is_live());
        let asking = live().find_map(|part| Some((part, self.ask_of(answer, part)?)));
        if let Some((part, pending)) = asking {
            return asking_part(answer, part, pending);
        }
        if let Some(pending) = self.loose_ask() {
            return self.asking_unseen(pending, "an ask without a tool call is listed");
        }
        if answer.summary {
            return (
                of(ActivityState::Compacting, answer, Some(answer.created)),
                "an open summary".into(),
            );
        }
        match live().min_by_key(|part| urgency(part)) {
            Some(part) => live_part(answer, part),
            None => self.nothing_live(answer),
        }
    }

    fn nothing_live(&self, answer: &Message) -> Derived {
        let failed = |part: &Part| part.tool().is_some_and(|t| t.state == ToolState::Error);
        if !answer.parts.iter().any(is_content) {
            let state = of(ActivityState::Starting, answer, Some(answer.created));
            return (state, "an open answer with nothing in it".into());
        }
        let since = Some(newest_time(answer));
        if !self.running && answer.parts.iter().any(failed) {
            let state = of(ActivityState::EndedEarly, answer, since);
            return (state, "its open parts were set to error".into());
        }
        let state = of(ActivityState::BetweenSteps, answer, since);
        (state, "an open answer, all of its parts ended".into())
    }

    fn ended(&self, answer: &Message) -> Derived {
        if let Some(pending) = self.loose_ask() {
            return self.asking_unseen(pending, "an ask without a tool call is listed");
        }
        let since = Some(answer.completed.unwrap_or_else(|| newest_time(answer)));
        let (state, why) = match &answer.error {
            Some(error) if error.is_abort() => (ActivityState::Aborted, "an abort error".into()),
            Some(error) => {
                let mut activity = of(ActivityState::Failed, answer, since);
                activity.detail = Some(format!("{}: {}", error.name, error.message));
                return (activity, "the last answer carries an error".into());
            }
            None => self.ended_well(answer),
        };
        (of(state, answer, since), why)
    }

    fn ended_well(&self, answer: &Message) -> (ActivityState, Cow<'static, str>) {
        let finish = answer.finish.as_deref();
        match (finish, self.running) {
            (None, _) if !answer.parts.iter().any(is_content) => (
                ActivityState::Aborted,
                "completed without finish, error and parts: an abort during a retry".into(),
            ),
            (None, _) if is_shell(self.tail, answer) => {
                (ActivityState::Done, "a !shell command ended".into())
            }
            (None, _) => (ActivityState::Done, "completed".into()),
            (Some("tool-calls" | "unknown"), true) => (
                ActivityState::BetweenSteps,
                "a step ended and the loop goes on".into(),
            ),
            (Some("tool-calls"), false) => (
                ActivityState::EndedEarly,
                "ended after a tool call (a rejected ask ends so)".into(),
            ),
            (Some("length" | "content-filter" | "error"), false) => (
                ActivityState::EndedEarly,
                "the model stopped before the end".into(),
            ),
            (Some(finish), _) => (
                ActivityState::Done,
                format!("completed, finish {finish}").into(),
            ),
        }
    }
}

fn plain(state: ActivityState, since: Option<UnixMs>) -> Activity {
    Activity {
        state,
        since,
        message: None,
        part: None,
        tool: None,
        detail: None,
        queued_prompts: 0,
    }
}

fn of(state: ActivityState, message: &Message, since: Option<UnixMs>) -> Activity {
    Activity {
        message: Some(message.id.clone()),
        ..plain(state, since)
    }
}

fn unanswered(prompt: &Message) -> Derived {
    let mut activity = of(ActivityState::Unanswered, prompt, Some(prompt.created));
    activity.detail = prompt_text(prompt);
    (activity, "the newest message is a prompt".into())
}

fn asking_part(answer: &Message, part: &Part, pending: &PendingAsk) -> Derived {
    let start = part.tool().and_then(|tool| tool.start);
    let mut activity = of(
        ActivityState::Asking,
        answer,
        start.or(Some(answer.created)),
    );
    activity.part = Some(part.id.clone());
    activity.tool = part.tool().map(|tool| tool.tool.clone());
    activity.detail = Some(pending.ask.text());
    (activity, "a live part has a pending ask".into())
}

/// Which of several live parts decides: what can hang first, the oldest first.
fn urgency(part: &Part) -> (u8, UnixMs) {
    match &part.body {
        PartBody::Tool(tool) => {
            let rank = match (&tool.state, tool.tool.as_str()) {
                (ToolState::Running, "task" | "subagent") => 1,
                (ToolState::Running, _) => 0,
                _ => 2,
            };
            (rank, tool.start.unwrap_or_default())
        }
        PartBody::Text(prose) | PartBody::Reasoning(prose) => (3, prose.start.unwrap_or_default()),
        _ => (4, UnixMs::default()),
    }
}

fn live_part(answer: &Message, part: &Part) -> Derived {
    let (mut activity, why) = match &part.body {
        PartBody::Tool(tool) => live_tool(answer, tool),
        PartBody::Reasoning(prose) => (
            of(ActivityState::Streaming, answer, prose.start),
            "its reasoning is open",
        ),
        PartBody::Text(prose) => (
            of(ActivityState::Streaming, answer, prose.start),
            "its text is open",
        ),
        _ => (
            of(ActivityState::BetweenSteps, answer, Some(answer.created)),
            "a part of an unknown kind is open",
        ),
    };
    activity.part = Some(part.id.clone());
    (activity, why.into())
}

fn live_tool(answer: &Message, tool: &ToolPart) -> (Activity, &'static str) {
    let start = tool.start.or(Some(answer.created));
    let (state, why) = match (&tool.state, tool.tool.as_str()) {
        (ToolState::Pending, _) => (
            ActivityState::WritingArguments,
            "a tool call's arguments are open",
        ),
        (_, "task" | "subagent") => (ActivityState::Subagent, "a task runs"),
        _ => (ActivityState::RunningTool, "a tool runs"),
    };
    let mut activity = of(state, answer, start);
    activity.tool = Some(tool.tool.clone());
    activity.detail = match (state, &tool.child) {
        (ActivityState::Subagent, Some(child)) => Some(child.as_str().to_owned()),
        _ => Some(tool.subject.clone()).filter(|text| !text.is_empty()),
    };
    (activity, why)
}

/// The first words of a prompt.
fn prompt_text(prompt: &Message) -> Option<String> {
    prompt.parts.iter().find_map(|part| match &part.body {
        PartBody::Text(prose) if !prose.excerpt.is_empty() => Some(prose.excerpt.clone()),
        _ => None,
    })
}
