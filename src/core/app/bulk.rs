//! One action on several sessions: how it went, in one line once the last has ended.

use crate::core::app::{App, Done, Outcome, Shown};
use crate::core::id::SessionKey;
use crate::core::plan::ActionName;
use crate::core::time::{Span, UnixMs};
use std::collections::BTreeSet;

/// An outcome leaves the row of a session that asks after this long, read or not.
const ASK_WAITS: Span = Span::secs(5);

/// An action on several sessions that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bulk {
    action: ActionName,
    left: BTreeSet<SessionKey>,
    done: usize,
    no_effect: usize,
    failed: usize,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// `abort of 4: 3 done, 1 no effect`.
    pub words: String,
    /// All of it was done.
    pub good: bool,
    /// When the last ended; watcher's clock.
    pub at: UnixMs,
}

impl Bulk {
    fn take(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Done(_) => self.done += 1,
            Outcome::NoEffect(_) => self.no_effect += 1,
            Outcome::Failed(_) => self.failed += 1,
        }
    }

    fn summary(&self, at: UnixMs) -> Summary {
        let parts = [
            (self.done, "done"),
            (self.no_effect, "no effect"),
            (self.failed, "failed"),
        ];
        let told: Vec<String> = parts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| format!("{number} {word}"))
            .collect();
        let of = self.done + self.no_effect + self.failed;
        Summary {
            words: format!("{} of {of}: {}", self.action, told.join(", ")),
            good: self.done == of,
            at,
        }
    }
}

impl App {
    /// Remembers what was begun together; of one alone its row tells all.
    pub(super) fn begin_bulk(&mut self, action: ActionName, keys: BTreeSet<SessionKey>) {
        if keys.len() > 1 {
            self.bulks.push(Bulk {
                action,
                left: keys,
                done: 0,
                no_effect: 0,
                failed: 0,
            });
        }
    }

    /// One has ended.
    pub(super) fn end_bulk(&mut self, done: &Done, now: UnixMs) {
        let is_of = |bulk: &Bulk| bulk.action == done.action && bulk.left.contains(&done.key);
        let Some(place) = self.bulks.iter().position(is_of) else {
            return;
        };
        let bulk = &mut self.bulks[place];
        bulk.left.remove(&done.key);
        bulk.take(&done.outcome);
        if bulk.left.is_empty() {
            self.summary = Some(self.bulks.remove(place).summary(now));
        }
    }

    /// What came of an action must not cover what is asked: it goes at once when something is asked
    /// after it, and soon where something was asked before.
    pub(super) fn uncover_asks(&mut self, now: UnixMs) {
        if self.results.is_empty() {
            return;
        }
        let mut results = std::mem::take(&mut self.results);
        results.retain(|key, shown| !self.is_covering(key, shown, now));
        self.results = results;
    }

    fn is_covering(&self, key: &SessionKey, shown: &Shown, now: UnixMs) -> bool {
        let asks = self.verdict(key).map_or(&[][..], |it| &it.asks);
        // The next ask of a turn comes before the answer to the last one is verified.
        let since = match (shown.action, self.ui.answered_at) {
            (ActionName::Answer, Some(sent)) => sent.min(shown.at),
            _ => shown.at,
        };
        let is_new = |ask: &crate::core::wire::Ask| {
            let asker = SessionKey::new(key.server, ask.session.clone());
            let session = self.store.session(&asker);
            let mut pending = session.into_iter().flat_map(|it| &it.asks);
            pending.any(|it| it.ask.id == ask.id && it.seen_at > since)
        };
        let waited = !asks.is_empty() && now.since(shown.at) >= ASK_WAITS;
        waited || asks.iter().any(is_new)
    }
}
