//! Marks: several sessions, one plan, one confirmation, one result for each.

use crate::core::app::keymap::Action;
use crate::core::app::{App, DialogState, Effect};
use crate::core::id::SessionKey;
use crate::core::plan::{self, ActionName, Plan};
use crate::core::store::Store;
use crate::core::time::UnixMs;
use std::collections::BTreeSet;

impl App {
    /// `space`: marks or unmarks the selected row and goes on to the next; on a page a screenful
    /// down, as in any reader of text.
    pub(super) fn mark(&mut self) -> Vec<Effect> {
        if self.ui.page.is_some() {
            return self.go(self.page_step());
        }
        let Some(key) = self.ui.selected.clone() else {
            return Vec::new();
        };
        if !self.ui.marked.remove(&key) {
            self.ui.marked.insert(key);
        }
        if !self.ui.detail_open {
            self.select(1);
        }
        Vec::new()
    }

    /// One dialog for all that are marked; who cannot be aborted is named and left out.
    pub(super) fn ask_abort_marked(&mut self) -> Vec<Effect> {
        let (mut plans, mut left_out) = (Vec::new(), 0);
        for key in self.marks(|store, key| plan::refused(store, key).is_none()) {
            let plan = plan::abort(&self.store, &key);
            let plan = plan.map(|it| it.mindful(self.verdict(&key)));
            match plan.filter(|_| self.not_to_be_aborted(&key).is_none()) {
                Some(plan) => plans.push(plan),
                None => left_out += 1,
            }
        }
        if plans.is_empty() {
            let mut marked = self.ui.marked.iter();
            if let Some(why) = marked.find_map(|key| plan::refused(&self.store, key)) {
                return self.tell(&why);
            }
            return self.tell("none of the marked sessions can be aborted");
        }
        if left_out > 0 {
            self.tell(&format!(
                "{left_out} of the marked sessions cannot be aborted"
            ));
        }
        self.ui.dialog = Some(DialogState::Abort(plans));
        Vec::new()
    }

    /// The world may have moved since the dialog opened: what is done is planned now.
    pub(super) fn abort_shown(&mut self, shown: &[Plan], now: UnixMs) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut begun = BTreeSet::new();
        for old in shown {
            match plan::abort(&self.store, &old.key) {
                // What began after the dialog was opened is not what was agreed to.
                Some(plan) if old.is_overtaken_by(&plan) => drop(self.tell(
                    "a new prompt came since it was looked at: nothing was done, look again",
                )),
                Some(plan) => {
                    let started = self.start(plan, now);
                    begun.extend((!started.is_empty()).then(|| old.key.clone()));
                    effects.extend(started);
                }
                None => drop(self.tell("the session is gone")),
            }
            self.ui.marked.remove(&old.key);
        }
        self.begin_bulk(ActionName::Abort, begun);
        effects
    }

    /// Each to a file of its own.
    pub(super) fn export_marked(&mut self, now: UnixMs) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut begun = BTreeSet::new();
        for key in self.marks(|store, key| plan::unexportable(store, key).is_none()) {
            if self.is_asleep(&key) {
                let load = self.key_of(Action::Load);
                self.tell(&format!(
                    "those of asleep projects stay marked: {load} loads them first"
                ));
                continue;
            }
            self.ui.marked.remove(&key);
            if self.begin(&key, ActionName::Export, now) {
                begun.insert(key.clone());
                effects.push(Effect::Export { key });
            }
        }
        self.tell_of_hidden(&begun);
        self.begin_bulk(ActionName::Export, begun);
        effects
    }

    /// Who is exported without being seen is told: nothing else asks before it.
    fn tell_of_hidden(&mut self, begun: &BTreeSet<SessionKey>) {
        let shown = |key: &&SessionKey| self.rows.iter().any(|row| row.key == **key);
        let hidden = begun.len() - begun.iter().filter(shown).count();
        if hidden > 0 && self.ui.notice.is_none() {
            let of = begun.len();
            self.tell(&format!(
                "{hidden} of the {of} are not on the screen's list now"
            ));
        }
    }

    /// Marked sessions that nothing is done to just now, on servers where it may be.
    fn marks(&self, may: impl Fn(&Store, &SessionKey) -> bool) -> Vec<SessionKey> {
        let marked = self.ui.marked.iter();
        let free = marked.filter(|key| !self.running.contains_key(*key) && may(&self.store, key));
        free.cloned().collect()
    }
}
