//! The keys `r y Y d`: which ask is meant, and what opens or is done at once.

use super::{Bound, Choices, Form, PERMISSION_CHOICES, Pick, QuestionForm, Reply, Then};
use crate::core::app::keymap::Action;
use crate::core::app::{App, Effect, TextLine};
use crate::core::id::SessionKey;
use crate::core::plan::answer::{self, Refusal, Waiting, Wish};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::AskKind;

/// For so long a selection or an ask that has just come is not taken as seen.
pub(super) const UNSEEN: Span = Span(500);
/// For so long what is asked right after an answer is not: a key pressed twice must not grant what
/// nobody read.
const UNSEEN_AFTER: Span = Span(1500);

impl App {
    /// `r`, `y`, `Y`, `d` on the selected row: the only ask there or below; of several a list.
    pub(in crate::core::app) fn reply(&mut self, then: Then, now: UnixMs) -> Vec<Effect> {
        let Some(key) = self.free_selection() else {
            return Vec::new();
        };
        let mut asks = answer::waiting(&self.store, &key);
        if asks.iter().any(|it| !it.ghost) {
            asks.retain(|it| !it.ghost);
        }
        // A grant is of a permission, and of nothing else that is asked.
        let permission = |it: &Waiting| it.ask.kind == AskKind::Permission;
        if matches!(then, Then::Once | Then::Always) && asks.iter().any(permission) {
            asks.retain(permission);
        }
        if let Some(words) = self.not_to_be_answered(&key, &asks, now) {
            self.ui.refused_at = (then == Then::Deny).then_some(now);
            return self.tell(&words);
        }
        if let [one] = asks.as_slice() {
            return self.reply_to(one, then, now);
        }
        let ids = asks.into_iter().map(|it| (it.key, it.ask.id));
        self.ui.reply = Some(Reply::Pick(Pick {
            asks: ids.collect(),
            at: 0,
            then,
        }));
        Vec::new()
    }

    fn not_to_be_answered(
        &self,
        key: &SessionKey,
        asks: &[Waiting],
        now: UnixMs,
    ) -> Option<String> {
        let server = self.store.server(key.server)?;
        if !server.is_reachable() {
            return Some("its server is away".to_owned());
        }
        if asks.is_empty() {
            let lost = answer::lost(&self.store, key);
            return Some(if lost.is_empty() {
                answer::nothing(&self.store, key).to_string()
            } else {
                format!("{} ({})", Refusal::Lost(lost), self.key_of(Action::Abort))
            });
        }
        let fresh = |at: UnixMs| now.since(at) < UNSEEN;
        if self.ui.selected_at.is_some_and(fresh) {
            return Some("the selection has just changed: look, then press it again".to_owned());
        }
        let newest = asks.iter().map(|it| it.seen_at).max()?;
        if self.ui.answered_at.is_some_and(|at| newest > at) && now.since(newest) < UNSEEN_AFTER {
            return Some("something else is asked now: look, then press it again".to_owned());
        }
        fresh(newest).then(|| "this was asked just now: look, then press it again".to_owned())
    }

    /// What a key wants of one ask: opened, or done at once.
    pub(super) fn reply_to(&mut self, to: &Waiting, then: Then, now: UnixMs) -> Vec<Effect> {
        let permission = to.ask.kind == AskKind::Permission;
        let form = match then {
            Then::Reply | Then::Deny if to.ghost => Form::Confirm(Wish::Dismiss),
            _ if to.ghost => {
                let key = self.key_of(Action::Deny);
                return self.tell(&format!(
                    "nobody waits for the answer any more: {key} dismisses it"
                ));
            }
            Then::Once | Then::Always if !permission => {
                let key = self.key_of(Action::Reply);
                return self.tell(&format!("it asks a question: {key} answers it"));
            }
            // Where no detail shows it whole it is shown first: a row has room for its first words.
            Then::Once if !self.ui.sees_detail() => Form::Confirm(Wish::Once),
            Then::Once => return self.send(to, &Wish::Once, now),
            Then::Always => Form::Confirm(Wish::Always),
            Then::Deny if permission => Form::Deny(TextLine::default()),
            Then::Deny => Form::Confirm(Wish::Reject(None)),
            Then::Reply if permission => Form::Permission(Choices::new(PERMISSION_CHOICES)),
            Then::Reply => Form::Question(QuestionForm::new(&to.ask.questions)),
        };
        // A text that is only to be agreed to is read from its top.
        let scroll = if matches!(form, Form::Confirm(_)) {
            usize::MAX
        } else {
            0
        };
        self.ui.reply = Some(Reply::To(Box::new(Bound {
            key: to.key.clone(),
            ask: to.ask.clone(),
            form,
            scroll,
            opened_at: now,
        })));
        Vec::new()
    }

    /// Sends it. The row that asks shows how it goes; on an ancestor's row it is named.
    pub(super) fn send(&mut self, to: &Waiting, wish: &Wish, now: UnixMs) -> Vec<Effect> {
        let plan = match answer::answer(to, wish) {
            Ok(plan) => plan,
            Err(why) => return self.tell(&why.to_string()),
        };
        if let Some(running) = self.running.get(&plan.key) {
            let words = format!("{} is still under way there", running.action);
            return self.tell(&words);
        }
        if self.ui.selected.as_ref() != Some(&plan.key) {
            let first = plan.lines.first().map_or("", String::as_str);
            self.ui.notice = Some(format!("\"{}\": {first}", plan.title));
        }
        self.ui.answered_at = Some(now);
        self.start(plan, now)
    }
}
