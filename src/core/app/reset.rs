//! `R`: reads the session afresh, shows the ladder, and climbs it when a person agrees.
//!
//! What it does: keep the dialog bound to its session, and remember which rungs did not help, so
//! that `R` again begins above them. What it does not: climb; that is an effect.

use crate::core::app::keymap::Action;
use crate::core::app::{App, DialogState, Done, Effect, Outcome};
use crate::core::id::{Epoch, SessionKey};
use crate::core::plan::ActionName;
use crate::core::plan::reset::{self, Cause, Ladder, Next, ResetOrder, Subject, Tried};
use crate::core::plan::survey::Survey;
use crate::core::time::{Span, UnixMs};

/// Enter is not taken so soon after the plan appeared: nobody has read it.
const UNREAD: Span = Span(400);
/// Rungs that did not help count for so long.
const FRESH: Span = Span::mins(10);

/// The dialog of a reset.
#[derive(Debug, Clone, PartialEq)]
pub struct ResetDialog {
    /// Whose; the dialog stays with it, wherever the row goes.
    pub key: SessionKey,
    /// Whom to survey.
    pub subject: Subject,
    /// What was known when it was asked for.
    pub cause: Cause,
    /// How far it is.
    pub stage: Stage,
}

/// How far the dialog of a reset is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// The session is being read.
    Reading,
    /// The plan is shown since then; watcher's clock.
    Shown(Box<Ladder>, UnixMs),
    /// It could not be read.
    Failed(String),
}

/// What did not help, and when and in which connection that was seen; watcher's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InVain {
    /// What.
    pub tried: Tried,
    /// When.
    pub at: UnixMs,
    /// A new connection may be to a new process: nothing was tried on that.
    pub epoch: Epoch,
}

impl App {
    /// `R`: always shows the plan first, so it has to be read first.
    pub(super) fn ask_reset(&mut self, now: UnixMs) -> Vec<Effect> {
        if !self.ui.marked.is_empty() {
            let reset = self.key_of(Action::Reset);
            return self.tell(&format!(
                "a reset is of one session: Esc unmarks, then {reset}"
            ));
        }
        let Some(key) = self.free_selection() else {
            return Vec::new();
        };
        if let Some(words) = self.not_to_be_reset(&key) {
            return self.tell(&words);
        }
        if let Some(left) = self.unsettled(&key, now) {
            let words = format!("it is not known yet whether it was cut off: wait {left}");
            return self.tell(&words);
        }
        let Some(subject) = reset::subject(&self.store, &key) else {
            return self.tell("the session is gone");
        };
        self.forget_tried(now);
        self.ui.dialog = Some(DialogState::Reset(ResetDialog {
            key: key.clone(),
            cause: self.cause_of(&key, &subject),
            subject: subject.clone(),
            stage: Stage::Reading,
        }));
        vec![Effect::Survey { key, subject }]
    }

    /// How long it takes until it is known whether another OpenCode runs it.
    fn unsettled(&self, key: &SessionKey, now: UnixMs) -> Option<String> {
        let settling = self.verdict(key)?.settling.as_ref()?;
        let server = self.store.server(key.server)?;
        let left = settling.at - server.server_time(now);
        (settling.name == "interrupted").then(|| Span(left.as_ms().max(1000)).words())
    }

    fn cause_of(&self, key: &SessionKey, subject: &Subject) -> Cause {
        let below = subject.known_below.iter();
        let below = below.map(|id| SessionKey::new(key.server, id.clone()));
        let below = below.filter_map(|key| self.verdict(&key));
        let verdict = self.verdict(key);
        verdict.map_or_else(Cause::default, |it| reset::cause(it, below))
    }

    fn not_to_be_reset(&self, key: &SessionKey) -> Option<String> {
        if self.is_asleep(key) {
            let load = self.key_of(Action::Load);
            return Some(format!(
                "its project is asleep on this server: {load} loads it first"
            ));
        }
        self.not_to_be_touched(key).map(str::to_owned)
    }

    /// The session was read: the plan is shown, if it is still waited for.
    pub(super) fn surveyed(
        &mut self,
        key: &SessionKey,
        read: Result<Survey, String>,
        now: UnixMs,
    ) -> Vec<Effect> {
        let Some(DialogState::Reset(mut dialog)) = self.ui.dialog.take() else {
            return Vec::new();
        };
        if dialog.key == *key && dialog.stage == Stage::Reading {
            dialog.stage = match read {
                Ok(survey) => {
                    let order = self.order(&dialog);
                    let at = now + order.skew;
                    let shown = self.export_shown.clone();
                    let ladder = reset::ladder(&survey, &order, &shown, at);
                    Stage::Shown(Box::new(ladder), now)
                }
                Err(why) => Stage::Failed(why),
            };
        }
        self.ui.dialog = Some(DialogState::Reset(dialog));
        Vec::new()
    }

    /// Enter in the dialog.
    pub(super) fn confirm_reset(&mut self, dialog: ResetDialog, now: UnixMs) -> Vec<Effect> {
        match &dialog.stage {
            Stage::Reading => {
                self.ui.dialog = Some(DialogState::Reset(dialog));
                Vec::new()
            }
            Stage::Failed(_) => Vec::new(),
            Stage::Shown(_, at) if now.since(*at) < UNREAD => {
                self.ui.dialog = Some(DialogState::Reset(dialog));
                Vec::new()
            }
            Stage::Shown(ladder, _) => match &ladder.first {
                Next::Climb(_) => self.climb(&dialog, ladder),
                Next::Well(_) | Next::Stuck(_) => Vec::new(),
            }
            .into_iter()
            .filter(|effect| self.may_begin(effect, now))
            .collect(),
        }
    }

    fn climb(&self, dialog: &ResetDialog, ladder: &Ladder) -> Vec<Effect> {
        let mut order = self.order(dialog);
        order.allowed.extend(ladder.needs());
        order.premise = Some(ladder.premise.clone());
        vec![Effect::Reset {
            subject: dialog.subject.clone(),
            order,
            lines: ladder.lines.clone(),
        }]
    }

    fn may_begin(&mut self, effect: &Effect, now: UnixMs) -> bool {
        match effect {
            Effect::Reset { order, .. } => self.begin(&order.key, ActionName::Reset, now),
            _ => true,
        }
    }

    fn order(&self, dialog: &ResetDialog) -> ResetOrder {
        let server = self.store.server(dialog.key.server);
        let tried = self.in_vain.get(&dialog.key);
        ResetOrder {
            key: dialog.key.clone(),
            title: dialog.subject.title.clone(),
            cause: dialog.cause.clone(),
            allowed: std::collections::BTreeSet::new(),
            premise: None,
            tried: tried.map(|it| it.tried.clone()).unwrap_or_default(),
            skew: server.map(|it| it.skew).unwrap_or_default(),
        }
    }

    /// What did not help long ago may help now.
    fn forget_tried(&mut self, now: UnixMs) {
        let store = &self.store;
        self.in_vain.retain(|key, it| {
            let epoch = store.server(key.server).map(|it| it.epoch);
            now.since(it.at) < FRESH && epoch == Some(it.epoch)
        });
    }

    /// A reset ended.
    pub(super) fn remember_tried(&mut self, done: &Done, now: UnixMs) {
        let epoch = self.store.server(done.key.server).map(|it| it.epoch);
        match (&done.outcome, epoch) {
            (Outcome::NoEffect(_), Some(epoch)) if !done.tried.is_empty() => {
                let (tried, at) = (done.tried.clone(), now);
                self.in_vain
                    .insert(done.key.clone(), InVain { tried, at, epoch });
            }
            _ => {
                self.in_vain.remove(&done.key);
            }
        }
    }
}
