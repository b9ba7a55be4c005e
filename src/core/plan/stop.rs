//! How to end what runs in a family of sessions, asks included, without leaving a ghost.
//!
//! What it does: order the steps. What it does not: know where the facts came from; a store's view
//! and a fresh survey are both told as [`Kin`].

use super::{Settle, Step};
use crate::core::id::{Directory, SessionId};
use crate::core::wire::{Ask, ToolPart};

/// One session of the family, as far as stopping it is concerned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kin<'a> {
    pub session: &'a SessionId,
    pub directory: &'a Directory,
    pub title: &'a str,
    pub runs: bool,
    /// Has a parent, which goes on when only this one is stopped.
    pub is_child: bool,
}

/// Steps, lines for a person, and who must have settled.
#[derive(Debug, Default)]
pub(super) struct Stop {
    pub steps: Vec<Step>,
    pub lines: Vec<String>,
    pub settle: Vec<Settle>,
}

/// `kin[0]` is the session meant. `said` is the line about its own turn.
///
/// A pending ask of a session without running children is rejected: that ends the turn and leaves
/// no ghost. Otherwise the session is aborted (the server ends its subagents with it) and what
/// would be left as ghosts is rejected afterwards: rejecting a child's ask first would only let the
/// parents go on.
pub(super) fn stop<'a>(
    kin: &[Kin<'a>],
    asks: &dyn Fn(&SessionId) -> Vec<&'a Ask>,
    said: String,
) -> Stop {
    let Some((root, below)) = kin.split_first() else {
        return Stop::default();
    };
    let running: Vec<&Kin> = below.iter().filter(|it| it.runs).collect();
    let mut stop = Stop::default();
    let own = asks(root.session);
    if !own.is_empty() && running.is_empty() {
        stop.say("reject what it asks: the turn ends, no ghost is left");
        if root.is_child {
            stop.say("its parent goes on without it; abort the parent to end all");
        }
        stop.reject(root, &own);
    } else {
        stop.lines.push(said);
        stop.steps.push(abort(root));
        for child in &running {
            stop.lines
                .push(format!("stop its subagent \"{}\"", child.title));
            stop.steps.push(abort(child));
        }
        for left in std::iter::once(root).chain(below) {
            let left_over = asks(left.session);
            let names = left_over.iter().map(|ask| {
                let of = left.title;
                format!("dismiss what \"{of}\" asks: {}", ask.text())
            });
            stop.lines.extend(names);
            stop.reject(left, &left_over);
        }
    }
    let all = std::iter::once(root).chain(running);
    stop.settle = all
        .map(|it| Settle {
            session: it.session.clone(),
            directory: it.directory.clone(),
        })
        .collect();
    stop
}

/// Of a deleted session that still runs: rejecting alone would let a run go on that nobody sees any
/// more, and an abort alone would leave what it asked listed for ever.
pub(super) fn stop_deleted<'a>(of: &Kin, asks: impl Iterator<Item = &'a Ask>) -> Stop {
    let mut stop = Stop {
        steps: vec![abort(of)],
        lines: vec![format!(
            "stop what still runs in {} although the session was deleted",
            of.directory
        )],
        settle: vec![Settle {
            session: of.session.clone(),
            directory: of.directory.clone(),
        }],
    };
    for ask in asks {
        stop.lines
            .push(format!("dismiss what it asks: {}", ask.text()));
        stop.steps.push(reject(of, ask));
    }
    stop
}

/// What ending a turn ends, by the tool that runs in it.
pub(super) fn turn_ended(tool: Option<&ToolPart>) -> String {
    match tool {
        Some(tool) if tool.tool == "bash" => format!(
            "stop the turn; bash {} is ended (what it put into the background may go on)",
            tool.subject
        ),
        Some(tool) => format!("stop the turn; {} {} is ended", tool.tool, tool.subject),
        None => "stop the turn; what was not yet written is lost".to_owned(),
    }
}

/// What becomes of prompts that wait behind a turn that is ended.
pub(super) fn stranded(queued: usize) -> Option<String> {
    (queued > 0).then(|| {
        format!(
            "{queued} queued prompt(s) will be stranded: they stay unanswered until the next prompt"
        )
    })
}

impl Stop {
    fn say(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn reject(&mut self, of: &Kin, asks: &[&Ask]) {
        let steps = asks.iter().map(|ask| reject(of, ask));
        self.steps.extend(steps);
    }
}

fn abort(of: &Kin) -> Step {
    Step::Abort {
        session: of.session.clone(),
        directory: of.directory.clone(),
    }
}

pub(super) fn reject(of: &Kin, ask: &Ask) -> Step {
    Step::Reject {
        kind: ask.kind,
        ask: ask.id.clone(),
        session: of.session.clone(),
        directory: of.directory.clone(),
        message: None,
    }
}
