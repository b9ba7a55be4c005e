//! `interrupted`: idle, and the last answer was never ended: a crash, a kill, a power cut.
//!
//! Certain once the idle report has stood for 10 s and this server surely ran it: we saw it do so,
//! saw the server restart since (unless the process before said that it does not run it), or its parent
//! runs here. Else it may run in another OpenCode on
//! the same data (a plain TUI has no port): after two silent minutes it is watched, and stuck when
//! what is open cannot run any longer by its own limit. What looks the same: the first seconds of a
//! start, the early idle of an abort, a fork (its copied parts never ran in it), a session that
//! another watched server on the same data runs, one that changes without this server
//! (`running-elsewhere`).

use super::Rule;
use crate::core::judge::activity::newest_time;
use crate::core::judge::elsewhere::{RUNS_ELSEWHERE, knows_better, unheard_until};
use crate::core::judge::facts::{Facts, child_of, last_changed};
use crate::core::judge::say::{Found, found, later, no, settles, tool_words};
use crate::core::judge::tools::{ToolKind, is_shell};
use crate::core::judge::{ActivityState, Answer, Level, Offer};
use crate::core::store::{DirectoryView, Session};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Message, Part, ToolPart, ToolState};

/// A clock difference that is taken as none.
const SAME_TIME: Span = Span::secs(2);
/// A server that says that the stream is open hands events on up to 2 s later (1.18.33).
const FIRST_EVENTS: Span = Span::secs(3);
/// The early idle of an abort lasts for less.
const FIRST_LOOK: Span = Span::secs(2);
/// A prompt would begin a second run beside one that may go on elsewhere; a reset asks whether it may.
const MAYBE: &[Offer] = &[Offer::Wait, Offer::Reset, Offer::Export];
/// Subagents nest one level by default; deeper than this nobody looks.
const DEEPEST: u8 = 8;

pub(super) const RULE: Rule = Rule {
    id: "interrupted",
    at_rest: true,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "stuck; watch while it may run in another OpenCode on the same data",
    meaning: "The server runs nothing here, but the last answer was cut off and stays open for ever.",
    offers: &[Offer::Reset, Offer::Resend, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if !facts.is_idle() {
        return no("not reported idle");
    }
    let Some(message) = facts.open_answer() else {
        return no("no answer is open");
    };
    if facts.is_copy(message) {
        return no("copied by a fork: it never ran in this session");
    }
    if let Some(why) = knows_better(facts, message) {
        return no(why);
    }
    if let Some(until) = unheard_until(facts) {
        return later(until, RUNS_ELSEWHERE);
    }
    match evidence(facts, message) {
        Some(how) => certain(facts, message, how),
        None => uncertain(facts, message),
    }
}

/// What proves that this server ran it and no longer does.
fn evidence(facts: &Facts, message: &Message) -> Option<&'static str> {
    let watch = &facts.session.watch;
    let after = |at: Option<UnixMs>, then: UnixMs| at.is_some_and(|at| facts.at(at) >= then);
    if after(watch.ran_here_at, message.created - SAME_TIME) {
        return Some("this server was seen running it");
    }
    // A port that was closed when we came says nothing: no process of it was ever seen.
    let seen = facts.server.restarted_at.is_some();
    let restarted = seen && after(facts.server.refused_at, newest_time(message));
    if restarted && !was_not_here(facts, message) {
        return Some("the server was restarted since");
    }
    facts
        .parent_runs_here()
        .then_some("its parent runs on this server")
}

/// The process before the restart was asked when this was open already, and did not name it, or it
/// was followed when this began, and did not tell: it ran somewhere else, if at all, and the restart
/// says nothing of it.
fn was_not_here(facts: &Facts, message: &Message) -> bool {
    let view = facts.server.directories.get(&facts.session.info.directory);
    let asked = view.and_then(|view| view.status_read_before);
    let unnamed = asked.is_some_and(|at| facts.at(at) >= message.created + SAME_TIME);
    let followed = facts.server.followed_before;
    let untold = followed.is_some_and(|(from, to)| {
        let heard = facts.at(from) + FIRST_EVENTS..facts.at(to) - SAME_TIME;
        heard.contains(&message.created)
    });
    unnamed || untold
}

fn certain(facts: &Facts, message: &Message, how: &'static str) -> Answer {
    let at = facts.progress_of(message) + facts.limits.interrupted;
    let at = at.max(idle_for(facts, facts.limits.interrupted));
    if facts.now < at {
        return settles(Level::Stuck, at, "it has only just been reported idle");
    }
    let text = format!("cut off {}", place(facts));
    base(facts, message, Level::Stuck, text)
        .with("certain", how)
        .yes()
}

/// When the idle report has stood for long enough. Where it was so at our first look, how long it
/// had been so is not known: then a look or two are enough, since times of the server tell the rest.
fn idle_for(facts: &Facts, long: Span) -> UnixMs {
    let status = &facts.session.status;
    let long = if status.seen_change {
        long
    } else {
        long.min(FIRST_LOOK)
    };
    facts.at(status.since) + long
}

fn uncertain(facts: &Facts, message: &Message) -> Answer {
    let watch_at = facts.progress_of(message) + facts.limits.elsewhere;
    // Not from what was read before: it may have ended elsewhere meanwhile.
    let read = facts.session.tail.read_at.map(|at| facts.at(at));
    let over = over_at(facts, facts.session, DEEPEST).is_some_and(|at| read >= Some(at));
    if facts.now < watch_at {
        let level = if over { Level::Stuck } else { Level::Watch };
        let why = "it may run in another OpenCode on this data";
        return settles(level, watch_at, why);
    }
    if over {
        let text = format!("cut off {}", place(facts));
        base(facts, message, Level::Stuck, text)
            .with("certain", "it is past what it may take")
            .yes()
    } else {
        maybe(facts, message).yes()
    }
}

fn maybe(facts: &Facts, message: &Message) -> Found {
    let text = format!(
        "open {}, may run in another OpenCode on this data",
        place(facts)
    );
    base(facts, message, Level::Watch, text)
        .with("certain", "nothing shows that it ran here")
        .offer(MAYBE)
}

/// `in bash ./start.sh`, `while writing`, …
fn place(facts: &Facts) -> String {
    match facts.activity.state {
        ActivityState::Starting => "before it began to answer".to_owned(),
        ActivityState::Streaming => "while writing".to_owned(),
        ActivityState::Compacting => "while compacting".to_owned(),
        ActivityState::BetweenSteps => "between two steps".to_owned(),
        ActivityState::WritingArguments => {
            let tool = facts.activity.tool.as_deref().unwrap_or("a tool");
            format!("while writing the arguments of {tool}")
        }
        _ => match facts.part().and_then(Part::tool) {
            Some(tool) => format!("in {}", tool_words(&tool.tool, &tool.subject)),
            None => "while waiting".to_owned(),
        },
    }
}

fn base(facts: &Facts, message: &Message, level: Level, text: String) -> Found {
    // Not before its last sign of life.
    let since = facts.progress_of(message);
    found(level, Some(since), text)
        .with("message", &message.id)
        .with_some("part", facts.activity.part.as_ref())
        .with_some("tool", facts.activity.tool.as_ref())
        .with("age_ms", facts.now.since(since))
}

/// When what is open in a session can no longer run, by its own limits: the latest of its live
/// parts. `None`: never by age.
fn over_at(facts: &Facts, session: &Session, depth: u8) -> Option<UnixMs> {
    let writing = facts.limits.elsewhere_writing;
    let message = session.tail.last_assistant()?;
    let shell = is_shell(&session.tail, message);
    let base = newest_time(message) + writing;
    let mut tools = live_tools(message).peekable();
    if tools.peek().is_none() {
        return Some(base);
    }
    tools.try_fold(UnixMs::default(), |latest, (part, tool)| {
        Some(latest.max(tool_over_at(facts, session, (part, tool, shell), depth)?))
    })
}

fn live_tools(message: &Message) -> impl Iterator<Item = (&Part, &ToolPart)> {
    let parts = message.parts.iter();
    parts.filter_map(|part| Some((part, part.tool().filter(|t| t.is_live())?)))
}

fn tool_over_at(
    facts: &Facts,
    session: &Session,
    (part, tool, shell): (&Part, &ToolPart, bool),
    depth: u8,
) -> Option<UnixMs> {
    let Some(start) = tool.start.filter(|_| tool.state == ToolState::Running) else {
        let message = session.tail.last_assistant()?;
        return Some(newest_time(message) + facts.limits.elsewhere_writing);
    };
    let view = facts.server.directories.get(&session.info.directory);
    // Without any server now there may have been one then.
    let told = |view: &&DirectoryView| view.mcp.as_ref().is_some_and(|it| !it.is_empty());
    let view = view.filter(told);
    match ToolKind::within(tool, shell, view) {
        ToolKind::Question | ToolKind::Shell => None,
        ToolKind::Bash if !tool.output.present => None,
        ToolKind::Task => task_over_at(facts, session, part, start, depth),
        kind => Some(start + facts.limits.tool_limit(tool, kind).span()?),
    }
}

/// A task may run as long as its child does, and then as long as any other tool.
fn task_over_at(
    facts: &Facts,
    session: &Session,
    part: &Part,
    start: UnixMs,
    depth: u8,
) -> Option<UnixMs> {
    let limit = facts.limits.tool;
    let Some(child) = child_of(facts.server, session, part) else {
        return Some(start + limit);
    };
    let own = start.max(last_changed(child)) + limit;
    let open = child.tail.last_assistant().is_some_and(Message::is_open);
    if !open || depth == 0 {
        return Some(own);
    }
    Some(over_at(facts, child, depth - 1)?.max(own))
}
