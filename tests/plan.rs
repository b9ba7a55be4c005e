//! The ladder of a reset for every state that a survey can show.
#![expect(
    clippy::struct_excessive_bools,
    reason = "one for each thing that can be so"
)]

use ocwatch::core::id::Directory;
use ocwatch::core::plan::Step;
use ocwatch::core::plan::reset::{Cause, Consent, Next, Premise, Rung, RungName, Tried, next};
use ocwatch::core::plan::survey::{BrokenPart, Roll, Survey, Surveyed};
use ocwatch::core::time::UnixMs;
use ocwatch::core::wire::{Ask, AskKind, Message, Role, Tokens};
use pretty_assertions::assert_eq;

const NOW: UnixMs = UnixMs(1_796_000_000_000);

/// One bit for each thing that can be so.
#[derive(Debug, Clone, Copy)]
struct State {
    running: bool,
    child_runs: bool,
    asks: bool,
    child_asks: bool,
    broken: bool,
    open: bool,
    gone: bool,
    poisoned: bool,
    uncertain: bool,
}

impl State {
    fn all() -> impl Iterator<Item = State> {
        (0..512_u32).map(|bits| {
            let bit = |n: u32| bits & (1 << n) != 0;
            State {
                running: bit(0),
                child_runs: bit(1),
                asks: bit(2),
                child_asks: bit(3),
                broken: bit(4),
                open: bit(5),
                gone: bit(6),
                poisoned: bit(7),
                uncertain: bit(8),
            }
        })
    }

    fn survey(self) -> Survey {
        let mut root = row("ses_root", self.running, self.asks);
        root.gone = self.gone;
        if self.broken && !self.gone {
            root.broken.push(broken());
        }
        if !self.gone {
            root.trail = vec![prompt(), answer(self.open)];
        }
        Survey {
            rows: vec![root, row("ses_child", self.child_runs, self.child_asks)],
            neighbours: Vec::new(),
        }
    }

    fn cause(self) -> Cause {
        Cause {
            poisoned: self.poisoned,
            certain: if self.uncertain {
                [].into()
            } else {
                ["ses_root".into()].into()
            },
            ..Cause::default()
        }
    }
}

fn row(id: &str, running: bool, asks: bool) -> Surveyed {
    Surveyed {
        session: id.into(),
        title: id.to_owned(),
        directory: Directory::new("/p"),
        gone: false,
        running: running.then(|| "busy".to_owned()),
        asks: if asks { vec![ask(id)] } else { Vec::new() },
        asks_unread: None,
        roll: Roll::default(),
        broken: Vec::new(),
        trail: Vec::new(),
        reverted: false,
        unread: 0,
    }
}

fn ask(of: &str) -> Ask {
    Ask {
        id: "que_1".into(),
        session: of.into(),
        kind: AskKind::Question,
        tool: None,
        permission: None,
        patterns: Vec::new(),
        always: Vec::new(),
        command: None,
        diff: None,
        questions: Vec::new(),
    }
}

fn broken() -> BrokenPart {
    BrokenPart {
        message: "msg_2".into(),
        part: "prt_1".into(),
        tool: "bash".into(),
        subject: "make".into(),
        pending: false,
        start: Some(UnixMs(NOW.0 - 60_000)),
        digest: 0,
    }
}

fn prompt() -> Message {
    message("msg_1", Role::User, false)
}

fn answer(open: bool) -> Message {
    let mut message = message("msg_2", Role::Assistant, open);
    message.parent = Some("msg_1".into());
    message
}

fn message(id: &str, role: Role, open: bool) -> Message {
    Message {
        id: id.into(),
        session: "ses_root".into(),
        role,
        parent: None,
        created: UnixMs(NOW.0 - 90_000),
        completed: (!open).then_some(NOW),
        finish: None,
        error: None,
        summary: false,
        structured: false,
        agent: None,
        model: None,
        cost: 0.0,
        tokens: Tokens::default(),
        parts: Vec::new(),
    }
}

fn rung(survey: &Survey, cause: &Cause, tried: &Tried) -> Option<Rung> {
    match next(survey, cause, tried, NOW) {
        Next::Climb(rung) => Some(rung),
        Next::Well(_) | Next::Stuck(_) => None,
    }
}

fn repairs(rung: &Rung) -> usize {
    let steps = rung.steps.iter();
    steps.filter(|it| matches!(it, Step::Repair { .. })).count()
}

#[test]
fn no_part_is_set_while_anything_of_the_family_runs_or_may_run() {
    for state in State::all() {
        let survey = state.survey();
        let mut tried = Tried::default();
        while let Some(rung) = rung(&survey, &state.cause(), &tried) {
            let hangs = tried.stopped.contains(&"ses_root".into()) && state.open && !state.gone;
            let runs = state.running || state.child_runs || hangs;
            assert!(!(runs && repairs(&rung) > 0), "{state:?} {rung:?}");
            tried.add(&rung);
        }
    }
}

#[test]
fn every_ladder_ends_and_no_rung_comes_twice() {
    for state in State::all() {
        let survey = state.survey();
        let mut tried = Tried::default();
        while let Some(rung) = rung(&survey, &state.cause(), &tried) {
            assert!(!tried.rungs.contains(&rung.name), "{state:?} {rung:?}");
            tried.add(&rung);
        }
        assert!(tried.rungs.len() <= 4, "{state:?} {tried:?}");
        assert!(
            tried.rungs.is_sorted(),
            "from the gentlest up: {state:?} {tried:?}"
        );
    }
}

#[test]
fn what_hits_more_than_the_session_needs_a_consent_of_its_own() {
    for state in State::all() {
        let survey = state.survey();
        let mut tried = Tried::default();
        while let Some(rung) = rung(&survey, &state.cause(), &tried) {
            let wants = match rung.name {
                RungName::Dispose => Some(Consent::Dispose),
                RungName::Fork => Some(Consent::Fork),
                RungName::Repair if state.uncertain && state.open && !state.gone => {
                    Some(Consent::Elsewhere)
                }
                _ => None,
            };
            assert_eq!(rung.needs, wants, "{state:?} {rung:?}");
            assert!(!rung.lines.is_empty(), "{state:?} {rung:?}");
            let marked = rung
                .lines
                .iter()
                .filter(|it| it.starts_with("mark "))
                .count();
            assert_eq!(
                marked,
                repairs(&rung),
                "each part that is set is named: {rung:?}"
            );
            tried.add(&rung);
        }
    }
}

#[test]
fn well_means_that_nothing_runs_nothing_asks_and_nothing_is_open() {
    for state in State::all() {
        let survey = state.survey();
        if let Next::Well(why) = next(&survey, &state.cause(), &Tried::default(), NOW) {
            let any = state.running || state.child_runs || state.asks || state.child_asks;
            assert!(!any && (!state.broken || state.gone), "{state:?}: {why}");
        }
    }
}

#[test]
fn a_deleted_session_is_aborted_not_only_rejected() {
    for state in State::all().filter(|it| it.gone && it.running && it.asks) {
        let rung = rung(&state.survey(), &state.cause(), &Tried::default());
        let rung = rung.unwrap_or_else(|| panic!("{state:?}"));
        assert!(
            matches!(rung.steps.first(), Some(Step::Abort { .. })),
            "{rung:?}"
        );
    }
}

#[test]
fn what_runs_elsewhere_is_left_alone() {
    for state in State::all() {
        let cause = Cause {
            elsewhere: true,
            ..state.cause()
        };
        let next = next(&state.survey(), &cause, &Tried::default(), NOW);
        assert!(matches!(next, Next::Stuck(_)), "{state:?}");
    }
}

#[test]
fn the_fork_leaves_out_the_whole_broken_turn() {
    let state = State::all().find(|it| it.broken && !it.gone && !it.running && !it.child_runs);
    let state = state.unwrap_or_else(|| panic!("a state"));
    let tried = Tried {
        rungs: vec![RungName::Repair, RungName::Dispose],
        ..Tried::default()
    };
    let rung = rung(&state.survey(), &state.cause(), &tried).unwrap_or_else(|| panic!("a rung"));
    let before = match rung.steps.first() {
        Some(Step::Fork { before, .. }) => before.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(before, Some("msg_1".into()), "its prompt is left out too");
}

#[test]
fn a_subagent_that_may_run_elsewhere_is_not_set_without_a_word() {
    let mut child = row("ses_child", false, false);
    child.trail = vec![prompt(), answer(true)];
    child.broken.push(broken());
    let survey = Survey {
        rows: vec![row("ses_root", false, false), child],
        neighbours: Vec::new(),
    };
    let needs = |certain: &[&str]| {
        let cause = Cause {
            certain: certain.iter().map(|it| (*it).into()).collect(),
            ..Cause::default()
        };
        rung(&survey, &cause, &Tried::default()).and_then(|it| it.needs)
    };
    assert_eq!(needs(&["ses_root"]), Some(Consent::Elsewhere));
    assert_eq!(needs(&["ses_root", "ses_child"]), None);
}

#[test]
fn what_began_after_the_plan_was_shown_breaks_the_agreement() {
    let survey = |running: bool, prompts: &[&str]| {
        let mut root = row("ses_root", running, false);
        root.trail = prompts
            .iter()
            .map(|id| message(id, Role::User, false))
            .collect();
        Survey {
            rows: vec![root],
            neighbours: Vec::new(),
        }
    };
    let idle = Premise::of(&survey(false, &["msg_1"]));
    assert_eq!(idle.broken_by(&survey(false, &["msg_1"])), None);
    assert!(idle.broken_by(&survey(true, &["msg_1"])).is_some());
    assert!(
        idle.broken_by(&survey(false, &["msg_1", "msg_2"]))
            .is_some()
    );
    let running = Premise::of(&survey(true, &["msg_1"]));
    assert_eq!(running.broken_by(&survey(true, &["msg_1"])), None);
    assert_eq!(running.broken_by(&survey(false, &["msg_1"])), None);
    assert!(
        running
            .broken_by(&survey(true, &["msg_1", "msg_2"]))
            .is_some()
    );
}
