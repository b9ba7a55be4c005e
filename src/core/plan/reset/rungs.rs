//! What each rung does, costs and hits.

use super::{Cause, Consent, Rung, RungName, Tried};
use crate::core::id::{MessageId, SessionId};
use crate::core::plan::stop::{
    Kin, reject, stop as stop_family, stop_deleted, stranded, turn_ended,
};
use crate::core::plan::survey::{BrokenPart, Survey, Surveyed};
use crate::core::plan::{Settle, Step};
use crate::core::time::UnixMs;
use crate::core::wire::{Ask, Message};

pub(super) fn stop(survey: &Survey) -> Rung {
    let mut kin: Vec<Kin> = survey.rows.iter().map(kin).collect();
    if let Some(root) = kin.first_mut() {
        root.is_child = false;
    }
    let asks = |id: &SessionId| -> Vec<&Ask> {
        let row = survey.rows.iter().find(|it| it.session == *id);
        row.map_or_else(Vec::new, |row| row.asks.iter().collect())
    };
    let stop = match survey.root() {
        Some(root) if root.gone => stop_deleted(&self::kin(root), root.asks.iter()),
        root => stop_family(&kin, &asks, root.map(own_turn).unwrap_or_default()),
    };
    let mut lines = stop.lines;
    // Who did not run has nothing to settle: an answer that a crash left open stays so.
    let ran = |it: &Settle| {
        let of = survey.rows.iter().find(|row| row.session == it.session);
        of.is_some_and(|row| row.running.is_some())
    };
    let open = survey.root().filter(|it| it.has_open_answer());
    lines.extend(open.and_then(|it| stranded(it.waiting_prompts())));
    Rung {
        name: RungName::Stop,
        steps: stop.steps,
        settle: stop.settle.into_iter().filter(ran).collect(),
        lines,
        needs: None,
    }
}

fn own_turn(root: &Surveyed) -> String {
    if root.running.is_none() {
        return "nothing of its own runs".to_owned();
    }
    let live = root.answer().filter(|it| it.is_open());
    let tool = live.and_then(|it| {
        it.parts
            .iter()
            .filter_map(|part| part.tool())
            .find(|t| t.is_live())
    });
    turn_ended(tool)
}

fn kin(row: &Surveyed) -> Kin<'_> {
    Kin {
        session: &row.session,
        directory: &row.directory,
        title: &row.title,
        runs: row.running.is_some(),
        is_child: true,
    }
}

pub(super) fn repair(survey: &Survey, cause: &Cause, now: UnixMs) -> Rung {
    let mut rung = Rung {
        name: RungName::Repair,
        steps: Vec::new(),
        settle: Vec::new(),
        lines: Vec::new(),
        needs: None,
    };
    for (place, row) in survey.rows.iter().enumerate() {
        let whose = match place {
            0 => String::new(),
            _ => format!(" of its subagent \"{}\"", row.title),
        };
        let kin = kin(row);
        rung.steps
            .extend(row.asks.iter().map(|ask| reject(&kin, ask)));
        for ask in &row.asks {
            let what = ask.text();
            rung.lines.push(format!(
                "dismiss an ask{whose} that nothing waits for: {what}"
            ));
        }
        for part in &row.broken {
            rung.lines.push(format!(
                "mark a tool part{whose} as aborted ({})",
                told(part, now)
            ));
            rung.steps.push(Step::Repair {
                session: row.session.clone(),
                directory: row.directory.clone(),
                message: part.message.clone(),
                part: part.part.clone(),
            });
        }
    }
    let mut parts = survey.rows.iter().flat_map(|row| &row.broken);
    if parts.any(|part| part.tool == "bash") {
        let line = "the command may still run on the host; ocwatch cannot end it";
        rung.lines.push(line.to_owned());
    }
    let doubtful: Vec<&Surveyed> = (survey.rows.iter().enumerate())
        .filter(|(place, row)| is_doubtful(row, cause) && (*place == 0 || !row.broken.is_empty()))
        .map(|(_, row)| row)
        .collect();
    for row in &doubtful {
        let lost = if row.broken.is_empty() {
            "the next prompt runs beside it"
        } else {
            "what its tool gives is lost"
        };
        let line = format!(
            "\"{}\" may run in another OpenCode on this data: if so, {lost}",
            row.title
        );
        // First: it is what a person has to decide.
        rung.lines.insert(0, line);
        rung.needs = Some(Consent::Elsewhere);
    }
    rung
}

/// How a line begins that names another run that ends too.
pub const ALSO_ENDS: &str = "this ends also";

/// Idle here with an open answer, and whether another OpenCode writes it is not certain.
pub(super) fn is_doubtful(row: &Surveyed, cause: &Cause) -> bool {
    !row.gone && row.has_open_answer() && !cause.certain.contains(&row.session)
}

fn told(part: &BrokenPart, now: UnixMs) -> String {
    let what = format!("{} {}", part.tool, part.subject);
    let since = match part.start {
        Some(start) => format!("running since {}", now.since(start).words()),
        None => "its arguments were never finished".to_owned(),
    };
    format!("{}, {since}", what.trim_end())
}

pub(super) fn dispose(survey: &Survey, tried: &Tried) -> Rung {
    let held = |row: &&Surveyed| row.running.is_some() || tried.hangs(row);
    let hit = survey.rows.iter();
    let hit = hit.filter(|row| held(row) || !row.asks.is_empty());
    let mut directories: Vec<_> = hit.map(|row| row.directory.clone()).collect();
    directories.sort();
    directories.dedup();
    let mut lines = Vec::new();
    if !survey.runs() && survey.rows.iter().any(|row| tried.hangs(row)) {
        lines.push(
            "it is reported idle, and yet its answer was not completed after a stop: the server still \
             holds it, or was restarted meanwhile (then reset it once more)"
                .to_owned(),
        );
    }
    for directory in &directories {
        lines.push(format!(
            "dispose the project {directory}: every run of it is aborted"
        ));
    }
    for other in survey
        .neighbours
        .iter()
        .filter(|it| directories.contains(&it.directory))
    {
        let title = other
            .title
            .as_deref()
            .map_or_else(String::new, |it| format!(" \"{it}\""));
        lines.push(format!("{ALSO_ENDS} {}{title}", other.session));
    }
    let settle = survey.rows.iter().filter(held);
    Rung {
        name: RungName::Dispose,
        settle: settle
            .map(|row| Settle {
                session: row.session.clone(),
                directory: row.directory.clone(),
            })
            .collect(),
        steps: directories
            .into_iter()
            .map(|directory| Step::Dispose { directory })
            .collect(),
        lines,
        needs: Some(Consent::Dispose),
    }
}

pub(super) fn fork(root: &Surveyed, cause: &Cause) -> Rung {
    let before = fork_point(root, cause);
    let what = match &before {
        Some(message) => format!("fork: a new session with everything before {message}"),
        None => "fork: a new session with everything".to_owned(),
    };
    Rung {
        name: RungName::Fork,
        steps: vec![Step::Fork {
            session: root.session.clone(),
            before,
        }],
        settle: Vec::new(),
        lines: vec![
            what,
            "this session stays as it is; go on in the new one".to_owned(),
        ],
        needs: Some(Consent::Fork),
    }
}

/// The prompt of the turn that broke; of a poisoned history the first of the turns that were refused.
fn fork_point(root: &Surveyed, cause: &Cause) -> Option<MessageId> {
    let prompt_of = |answer: &Message| {
        let parent = answer.parent.clone()?;
        let known = root.trail.iter().find(|it| it.id == parent);
        known.map(|it| it.id.clone())
    };
    if cause.poisoned {
        let answers = root.trail.iter().rev().filter(|it| it.is_assistant());
        let refused = answers.take_while(|it| {
            let code = it.error.as_ref().and_then(|it| it.status_code);
            code.is_some_and(|code| (400..500).contains(&code))
        });
        return refused.filter_map(prompt_of).last();
    }
    let open = root.answer().filter(|it| it.is_open());
    let broken = root.broken.first().map(|it| it.message.clone());
    let broken = broken.or_else(|| open.map(|it| it.id.clone()))?;
    let holder = root.trail.iter().find(|it| it.id == broken);
    holder.and_then(prompt_of).or(Some(broken))
}

pub(super) fn unrevert(root: &Surveyed) -> Rung {
    Rung {
        name: RungName::Unrevert,
        steps: vec![Step::Unrevert {
            session: root.session.clone(),
        }],
        settle: Vec::new(),
        lines: vec![
            "take back the pending revert: the model sees the hidden messages again".to_owned(),
        ],
        needs: None,
    }
}
