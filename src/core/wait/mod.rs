//! Whether what a script waits for has come: a turn that has ended, settled by status and messages.
//!
//! What it does: look at one session again and again and say when, and how, its wait has ended.
//! What it does not: read, print, or ask the time. Invariants: idle by itself is never an end; a
//! session that was at rest at the first look is believed only after [`GRACE`] and a read that was
//! asked after it, since a prompt that was just sent shows nothing yet (1.18.33: up to 1.4 s); what
//! settles is not counted; an end that was seen to come is told after [`HOLD`].

mod state;

use crate::core::id::{Epoch, SessionKey};
use crate::core::judge::{Level, Limits, Verdict};
use crate::core::store::{LinkState, Server, Session, Store};
use crate::core::time::{Span, UnixMs};
use state::{Look, State, may_run_elsewhere, state};

/// How long an end that was seen to come must stand: a prompt that was sent during the turn may
/// just be stored.
pub const HOLD: Span = Span(100);
/// How long a prompt that was sent before the wait began may show nothing.
pub const GRACE: Span = Span::secs(2);
/// Without a read that confirms it, rest is believed after so long all the same.
const UNCONFIRMED: Span = Span::secs(6);
/// How long a contradiction that no rule explains must stand.
const ODD: Span = Span::secs(15);
/// After a connection began to be followed the session is read again so often: events of the first
/// moments may be lost (1.18.33: up to 2 s).
const LOOKS: [Span; 6] = [Span(0), Span(250), Span(600), Span(1200), GRACE, Span(3200)];

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The turn has ended as it should; any other end ends the wait as well.
    Done,
    /// Nothing runs any more, however it ended; asks and what is stuck in a run are waited through.
    Idle,
    /// It needs a person.
    NeedsYou,
    /// It will not go on by itself.
    Stuck,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The last answer is finished and nothing runs.
    Done,
    /// The turn ended with an error, was cut short, or its prompt was refused.
    Failed,
    /// The turn was aborted.
    Aborted,
    /// It waits for a person.
    NeedsYou,
    /// It will not go on by itself.
    Stuck,
    /// Nothing runs and nothing ever ran.
    Empty,
    /// It was deleted.
    Gone,
    /// It could not be read for longer than the patience.
    Lost,
}

impl Outcome {
    /// The word in JSON and on a line.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Failed => "failed",
            Outcome::Aborted => "aborted",
            Outcome::NeedsYou => "needs-you",
            Outcome::Stuck => "stuck",
            Outcome::Empty => "empty",
            Outcome::Gone => "gone",
            Outcome::Lost => "lost",
        }
    }
}

/// The end of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// How.
    pub outcome: Outcome,
    /// What was waited for has come.
    pub reached: bool,
    /// The finding that says so, if one does.
    pub finding: Option<&'static str>,
    /// One line for a person; not yet clean.
    pub text: String,
}

/// What is waited for, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// For what.
    pub goal: Goal,
    /// How long a session may be unreadable before the wait is given up.
    pub patience: Span,
}

/// One session that is waited for.
#[derive(Debug, Clone)]
pub struct Waiter {
    /// Whose.
    pub key: SessionKey,
    wish: Wish,
    /// When the program began to wait; watcher's clock.
    began: UnixMs,
    /// The server's clock is this machine's.
    same_clock: bool,
    /// A turn was seen to run since the wait began.
    ran: bool,
    /// Since when the same end stands; watcher's clock.
    stands: Option<(UnixMs, Outcome)>,
    /// Since when it cannot be read; watcher's clock.
    blind: Option<UnixMs>,
    /// Of which connection how many of [`LOOKS`] are done.
    looked: (Epoch, usize),
    due: Option<UnixMs>,
    /// That it may run elsewhere was said.
    doubted: bool,
}

impl Waiter {
    /// Nothing is seen yet. `began` is the watcher's clock; `same_clock`: the server runs on this
    /// machine.
    pub fn new(key: SessionKey, wish: Wish, began: UnixMs, same_clock: bool) -> Self {
        Self {
            key,
            wish,
            began,
            same_clock,
            ran: false,
            stands: None,
            blind: None,
            looked: (Epoch::default(), 0),
            due: None,
            doubted: false,
        }
    }

    /// When time alone may change the next look; watcher's clock.
    pub fn due(&self) -> Option<UnixMs> {
        self.due
    }

    /// Whether the session is to be read again now, in the connection that is followed.
    pub fn wants_read(&mut self, store: &Store, now: UnixMs) -> bool {
        let server = store.server(self.key.server);
        let Some((server, live)) = server.and_then(|it| Some((it, live_since(it)?))) else {
            return false;
        };
        if self.looked.0 != server.epoch {
            self.looked = (server.epoch, 0);
        }
        let from = live.max(self.began);
        let passed = LOOKS.iter().filter(|after| from + **after <= now).count();
        let wanted = passed > self.looked.1;
        self.looked.1 = passed;
        self.wake(LOOKS.get(passed).map(|after| from + *after));
        wanted
    }

    /// What holds the wait up although nothing is reported to run, once: it may run in an OpenCode
    /// that is not watched. Not yet clean.
    pub fn doubt(&mut self, verdict: Option<&Verdict>) -> Option<String> {
        let finding = verdict.filter(|it| may_run_elsewhere(it))?.leading()?;
        let new = !std::mem::replace(&mut self.doubted, true);
        new.then(|| finding.text.clone())
    }

    /// Looks at what is known now. `Some`: the wait has ended.
    pub fn look(
        &mut self,
        store: &Store,
        verdict: Option<&Verdict>,
        limits: &Limits,
        now: UnixMs,
    ) -> Option<End> {
        self.due = None;
        let look = Look {
            store,
            key: &self.key,
            verdict,
            limits,
            now,
            same_clock: self.same_clock,
        };
        let seen = state(&look);
        if let State::Blind(why) = seen {
            return self.is_blind(why, now);
        }
        self.blind = None;
        match seen {
            State::Gone => Some(end(Outcome::Gone, false, None, "it was deleted".to_owned())),
            State::Runs => {
                self.ran = true;
                let verdict = verdict?;
                self.in_a_run(verdict)
            }
            State::Ends(outcome, text) => self.ends(store, (outcome, text), verdict?, now),
            State::Odd(outcome, text) => {
                let stood = self.stand(outcome, now);
                let sure = stood + ODD;
                if now < sure {
                    self.wake(Some(sure));
                    return None;
                }
                self.ends(store, (outcome, text), verdict?, now)
            }
            State::Open | State::Blind(_) => {
                self.stands = None;
                None
            }
        }
    }

    fn is_blind(&mut self, why: String, now: UnixMs) -> Option<End> {
        self.stands = None;
        let since = *self.blind.get_or_insert(now);
        let over = since + self.wish.patience;
        self.wake(Some(over));
        (now >= over).then(|| end(Outcome::Lost, false, None, why))
    }

    /// A run that needs somebody, or that will not end by itself.
    fn in_a_run(&mut self, verdict: &Verdict) -> Option<End> {
        self.stands = None;
        let outcome = match verdict.level {
            Level::NeedsYou => Outcome::NeedsYou,
            Level::Stuck => Outcome::Stuck,
            _ => return None,
        };
        let reached = match (self.wish.goal, outcome) {
            (Goal::Idle, _) | (Goal::Stuck, Outcome::NeedsYou) => return None,
            (Goal::NeedsYou, Outcome::NeedsYou) | (Goal::Stuck, _) => true,
            (Goal::Done | Goal::NeedsYou, _) => false,
        };
        Some(of_finding(outcome, reached, verdict))
    }

    /// Nothing runs, and it is known how it ended: if that stands.
    fn ends(
        &mut self,
        store: &Store,
        (outcome, text): (Outcome, String),
        verdict: &Verdict,
        now: UnixMs,
    ) -> Option<End> {
        let stood = self.stand(outcome, now);
        if !self.is_sure(store, stood, now) {
            return None;
        }
        let by_level = match verdict.level {
            Level::NeedsYou => Some(Goal::NeedsYou),
            Level::Stuck => Some(Goal::Stuck),
            _ => None,
        };
        match self.wish.goal {
            // No turn of it has begun.
            Goal::Done if outcome == Outcome::Empty => None,
            Goal::Done => Some(named(outcome, outcome == Outcome::Done, text, verdict)),
            Goal::Idle => Some(named(outcome, true, text, verdict)),
            goal if by_level == Some(goal) => {
                let outcome = match goal {
                    Goal::NeedsYou => Outcome::NeedsYou,
                    _ => Outcome::Stuck,
                };
                Some(of_finding(outcome, true, verdict))
            }
            // It is about to be called something.
            _ if verdict.settling.is_some() || outcome == Outcome::Empty => None,
            _ => Some(named(outcome, false, text, verdict)),
        }
    }

    /// Since when this end stands without a break.
    fn stand(&mut self, outcome: Outcome, now: UnixMs) -> UnixMs {
        match self.stands {
            Some((since, known)) if known == outcome => since,
            _ => {
                self.stands = Some((now, outcome));
                now
            }
        }
    }

    /// Whether an end that stands since `stood` is that of the turn that is waited for.
    fn is_sure(&mut self, store: &Store, stood: UnixMs, now: UnixMs) -> bool {
        let known = store.server(self.key.server).zip(store.session(&self.key));
        let Some((server, session)) = known else {
            return false;
        };
        let sure = if self.ran || self.ended_since(server, session) {
            stood + HOLD
        } else if self.is_confirmed(server, session) {
            self.began + GRACE
        } else {
            self.began + UNCONFIRMED
        };
        self.wake(Some(sure).filter(|sure| now < *sure));
        now >= sure
    }

    /// The last answer ended after the wait began, by one and the same clock.
    fn ended_since(&self, server: &Server, session: &Session) -> bool {
        let last = session.tail.last_assistant();
        let ended = last.and_then(|answer| answer.completed);
        self.same_clock && server.skew == Span::ZERO && ended.is_some_and(|at| at >= self.began)
    }

    /// Status and messages were asked once more when a prompt of before must have shown itself.
    fn is_confirmed(&self, server: &Server, session: &Session) -> bool {
        let from = self.began + GRACE;
        let view = server.directories.get(&session.info.directory);
        let status = view.and_then(|view| view.status_read);
        status.is_some_and(|(epoch, asked)| epoch == server.epoch && asked >= from)
            && session.tail.read_at.is_some_and(|asked| asked >= from)
    }

    fn wake(&mut self, at: Option<UnixMs>) {
        self.due = self.due.into_iter().chain(at).min();
    }
}

fn live_since(server: &Server) -> Option<UnixMs> {
    server.live_since.filter(|_| server.link == LinkState::Live)
}

fn end(outcome: Outcome, reached: bool, finding: Option<&'static str>, text: String) -> End {
    End {
        outcome,
        reached,
        finding,
        text,
    }
}

/// What the leading finding says.
fn of_finding(outcome: Outcome, reached: bool, verdict: &Verdict) -> End {
    let leading = verdict.leading();
    let text = leading.map_or_else(String::new, |it| it.text.clone());
    end(outcome, reached, leading.map(|it| it.name), text)
}

/// An end in its own words, beside the finding that leads.
fn named(outcome: Outcome, reached: bool, text: String, verdict: &Verdict) -> End {
    let leading = verdict.leading();
    let text = match leading {
        Some(finding) if text.is_empty() => finding.text.clone(),
        _ => text,
    };
    end(outcome, reached, leading.map(|it| it.name), text)
}
