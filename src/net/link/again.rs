//! What is looked at again because one look does not tell.
//!
//! What it does: remember which question calls no list has named yet, and which sessions look left
//! alone here but may be worked on by another process on the same data (it sends no events to this
//! server); say when each is due. What it does not: read, or judge. Invariant: gentle; however many
//! sessions are open, their reads keep a distance to each other.

use super::spec::Pace;
use super::tail::PAGE;
use crate::core::id::{CallId, PartId, SessionId};
use crate::core::time::UnixMs;
use crate::core::wire::{Message, Part, ToolState};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// Sessions that are read again at the same time; the newest are kept.
const MOST_OPEN: usize = 20;
/// From so many question calls on those that were looked for are forgotten.
const MOST_QUESTIONS: usize = 64;

/// All that is looked at again.
#[derive(Debug)]
pub(super) struct Again {
    questions: BTreeMap<(SessionId, PartId), Unlisted>,
    open: HashMap<SessionId, Open>,
    /// No open session is read before.
    open_from: Instant,
}

/// A question call that runs, by its part.
#[derive(Debug)]
struct Unlisted {
    session: SessionId,
    call: Option<CallId>,
    /// When the list of its directory is due; the next one first, none left: done.
    due: Vec<Instant>,
}

/// A session that is idle here and has something open.
#[derive(Debug)]
struct Open {
    /// Of its row; server's clock.
    updated: UnixMs,
    /// The newest message as it was read last.
    newest: Message,
    gap: Duration,
    due: Instant,
}

impl Again {
    pub(super) fn new() -> Self {
        Self {
            questions: BTreeMap::new(),
            open: HashMap::new(),
            open_from: Instant::now(),
        }
    }

    /// A part as a read or an event shows it: a question that runs is looked for in the list twice,
    /// one that ended no more.
    pub(super) fn part(&mut self, part: &Part, pace: &Pace) {
        let Some(tool) = part.tool().filter(|it| it.tool == "question") else {
            return;
        };
        // Ids of parts need not be unique beyond their session.
        let key = (part.session.clone(), part.id.clone());
        if tool.state != ToolState::Running {
            self.questions.remove(&key);
            return;
        }
        if self.questions.contains_key(&key) {
            return;
        }
        if self.questions.len() >= MOST_QUESTIONS {
            self.questions.retain(|_, it| !it.due.is_empty());
        }
        let now = Instant::now();
        let call = Unlisted {
            session: part.session.clone(),
            call: tool.call.clone(),
            due: pace.question_again.map(|after| now + after).to_vec(),
        };
        self.questions.insert(key, call);
    }

    /// Question calls whose list is due now.
    pub(super) fn questions(&mut self, now: Instant) -> Vec<(SessionId, Option<CallId>)> {
        let mut found = Vec::new();
        for it in self.questions.values_mut() {
            if it.due.first().is_some_and(|at| *at <= now) {
                it.due.remove(0);
                found.push((it.session.clone(), it.call.clone()));
            }
        }
        found
    }

    /// What a read showed of a session that does not run here: kept while its last answer is open
    /// or its newest message is a prompt. What changed since the last read is read again sooner.
    pub(super) fn tail(
        &mut self,
        session: &SessionId,
        updated: UnixMs,
        messages: &[Message],
        pace: &Pace,
    ) {
        let Some(newest) = messages.last().filter(|_| is_open(messages)) else {
            self.open.remove(session);
            return;
        };
        let now = Instant::now();
        let gap = match self.open.get(session) {
            Some(known) if known.newest == *newest => known.gap * 2,
            _ => pace.elsewhere,
        };
        // A long turn took several requests.
        let pages = u32::try_from(messages.len().div_ceil(PAGE)).unwrap_or(1);
        let from = now + pace.elsewhere_apart.saturating_mul(pages);
        self.open_from = self.open_from.max(from);
        let gap = gap.min(pace.elsewhere_most);
        let open = Open {
            updated,
            newest: newest.clone(),
            gap,
            due: now + gap,
        };
        self.open.insert(session.clone(), open);
        if self.open.len() > MOST_OPEN {
            let oldest = self.open.iter().min_by_key(|(id, it)| (it.updated, *id));
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                self.open.remove(&oldest);
            }
        }
    }

    /// It runs here, is gone, or may not be read any more.
    pub(super) fn close(&mut self, session: &SessionId) {
        self.open.remove(session);
    }

    /// The open session that is to be read now: the newest of those that are due.
    pub(super) fn open(&mut self, now: Instant, pace: &Pace) -> Option<SessionId> {
        if now < self.open_from {
            return None;
        }
        let due = self.open.iter_mut().filter(|(_, it)| it.due <= now);
        let (id, open) = due.max_by_key(|(id, it)| (it.updated, *id))?;
        // If no answer comes of it, it is due again all the same.
        open.due = now + open.gap;
        self.open_from = now + pace.elsewhere_apart;
        Some(id.clone())
    }

    /// When something is due next.
    pub(super) fn due(&self) -> Option<Instant> {
        let questions = self.questions.values().filter_map(|it| it.due.first());
        let open = self.open.values().map(|it| it.due.max(self.open_from));
        questions.copied().chain(open).min()
    }
}

/// The last answer was never completed, or the newest message is a prompt.
fn is_open(messages: &[Message]) -> bool {
    let answer = messages.iter().rev().find(|it| it.is_assistant());
    answer.is_some_and(Message::is_open) || messages.last().is_some_and(Message::is_user)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::time::Span;
    use crate::core::wire::v1;

    const SECOND: Duration = Duration::from_secs(1);

    fn messages(parts: &str, completed: bool) -> Vec<Message> {
        let end = if completed { r#","completed":9"# } else { "" };
        let json = format!(
            r#"[{{"info":{{"id":"msg_1","sessionID":"s","role":"user","time":{{"created":1}}}},"parts":[]}},
            {{"info":{{"id":"msg_2","sessionID":"s","role":"assistant","parentID":"msg_1","time":{{"created":2{end}}}}},"parts":[{parts}]}}]"#
        );
        v1::decode_messages(json.as_bytes(), &SessionId::from("s"))
            .unwrap()
            .rows
            .items
    }

    fn text(words: &str) -> String {
        format!(
            r#"{{"id":"prt_1","sessionID":"s","messageID":"msg_2","type":"text","text":"{words}"}}"#
        )
    }

    #[test]
    fn open_sessions_are_read_again_ever_less_often_until_something_changes() {
        let (mut again, pace) = (Again::new(), Pace::default());
        let id = SessionId::from("s");
        let mut gaps = Vec::new();
        for words in ["a", "a", "a", "a", "a", "a", "a", "b"] {
            again.tail(&id, UnixMs(1), &messages(&text(words), false), &pace);
            gaps.push(again.open[&id].gap.as_secs());
        }
        assert_eq!(gaps, [15, 30, 60, 120, 240, 360, 360, 15]);
        again.tail(&id, UnixMs(1), &messages("", true), &pace);
        assert_eq!(again.due(), None, "it has ended");
        let prompt = &messages("", true)[..1];
        again.tail(&id, UnixMs(1), prompt, &pace);
        assert!(again.due().is_some(), "a prompt that nobody answers here");
    }

    #[test]
    fn however_many_are_open_the_newest_are_read_and_slowly() {
        let (mut again, pace) = (Again::new(), Pace::default());
        for n in 0..50 {
            let id = SessionId::from(format!("s{n}"));
            let updated = UnixMs::default() + Span(n);
            again.tail(&id, updated, &messages("", false), &pace);
        }
        let mut now = Instant::now();
        assert_eq!(again.open(now, &pace), None, "not at once");
        let mut read = Vec::new();
        for _ in 0..60 {
            now += SECOND;
            read.extend(again.open(now, &pace));
        }
        assert!(read.len() <= 20, "{} in a minute", read.len());
        assert_eq!(read[0], SessionId::from("s49"));
        let oldest = |n: i32| read.contains(&SessionId::from(format!("s{n}")));
        assert!(!(0..30).any(oldest), "only the twenty newest");
    }

    #[test]
    fn a_long_turn_counts_for_all_its_pages() {
        let (mut again, pace) = (Again::new(), Pace::default());
        let begun = Instant::now();
        let long: Vec<Message> = (0..50).flat_map(|_| messages("", false)).collect();
        again.tail(&SessionId::from("s"), UnixMs(1), &long, &pace);
        let next = again.open_from - begun;
        assert!(next >= pace.elsewhere_apart * 5, "{next:?}");
    }

    #[test]
    fn a_question_is_looked_for_twice_while_it_runs() {
        let (mut again, pace) = (Again::new(), Pace::default());
        let question = |state: &str| {
            let json = format!(
                r#"{{"id":"prt_1","sessionID":"s","messageID":"msg_2","type":"tool","tool":"question","callID":"c","state":{{"status":"{state}","input":{{}},"time":{{"start":3}}}}}}"#
            );
            messages(&json, false).pop().unwrap().parts.pop().unwrap()
        };
        let now = Instant::now();
        let looks = |again: &mut Again, secs| again.questions(now + SECOND * secs).len();
        for _ in 0..3 {
            again.part(&question("running"), &pace);
        }
        assert_eq!(looks(&mut again, 1), 0);
        assert_eq!((looks(&mut again, 2), looks(&mut again, 3)), (1, 0));
        assert_eq!((looks(&mut again, 11), looks(&mut again, 99)), (1, 0));
        again.part(&question("completed"), &pace);
        again.part(&question("running"), &pace);
        again.part(&question("error"), &pace);
        assert_eq!(looks(&mut again, 99), 0, "it has ended");
    }
}
