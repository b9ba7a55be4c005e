//! What the findings about a run that does not go on share: whether it may be judged by its
//! silence, since when nothing of it moved, and the two stages.
//!
//! What it does not: say what kind of silence it is; that is told by the activity.

use super::waiting;
use crate::core::judge::activity::newest_time;
use crate::core::judge::facts::Facts;
use crate::core::judge::say::{Found, ago, found, later};
use crate::core::judge::{Answer, Level, Stages};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::Message;

/// A clock difference that is taken as none.
const SAME_TIME: Span = Span::secs(2);

/// Why a session's silence says nothing: nothing runs, or it waits for a person.
pub(super) fn excuse(facts: &Facts) -> Option<&'static str> {
    if !facts.is_busy() {
        return Some("not reported busy");
    }
    waiting::is_held_up(facts).then_some("an ask is pending")
}

/// Since when nothing of the run moved, as far as its messages and our own watching tell.
pub(super) fn still_since(facts: &Facts, message: &Message) -> UnixMs {
    let watch = &facts.session.watch;
    let answer = facts.session.tail.last_assistant();
    let named = [Some(message), answer].into_iter().flatten();
    let named = named.map(newest_time).max().unwrap_or_default();
    let parts = watch.parts.values().filter_map(|clock| clock.changed_at);
    let heard = watch
        .progress_at
        .filter(|at| !is_prompt(facts, facts.at(*at)));
    let seen = parts.chain(heard).map(|at| facts.at(at));
    seen.chain(begun(facts)).fold(named, UnixMs::max)
}

/// When the report began, where that tells of the run: we saw it (all attempts of a retry write
/// into one answer, so this attempt is younger than its message), or the messages are of an older
/// connection, and what was added in the gap is not known.
pub(super) fn begun(facts: &Facts) -> Option<UnixMs> {
    let status = &facts.session.status;
    let older = facts.session.tail.epoch < facts.server.epoch;
    (status.seen_change || older).then(|| facts.at(status.since))
}

/// The newest sign of life was a person's prompt, put behind the run: the run itself did not move.
fn is_prompt(facts: &Facts, heard: UnixMs) -> bool {
    let prompt = facts.session.tail.last_user();
    prompt.is_some_and(|prompt| heard <= prompt.created + SAME_TIME)
}

/// A silence, and the stages by which it is judged.
pub(super) struct Silence {
    /// Since when; server's clock.
    pub(super) since: UnixMs,
    /// When it is worth a look, and when it will not end by itself.
    pub(super) stages: Stages,
}

impl Silence {
    /// Not long enough yet to say anything, because of `why`.
    pub(super) fn not_yet(&self, facts: &Facts, why: &'static str) -> Option<Answer> {
        let at = self.since + self.stages.watch;
        (facts.now < at).then(|| later(at, why))
    }

    /// How serious it is by now, once it is not [`Silence::not_yet`].
    pub(super) fn level(&self, facts: &Facts) -> Level {
        if facts.now >= self.since + self.stages.stuck {
            Level::Stuck
        } else {
            Level::Watch
        }
    }

    /// How long it has lasted: `4 min`.
    pub(super) fn words(&self, facts: &Facts) -> String {
        ago(facts.now, self.since).words
    }

    /// The finding that it has become. The words in `text` are [`Silence::words`].
    pub(super) fn found(&self, facts: &Facts, text: String) -> Found {
        let level = self.level(facts);
        let limit = match level {
            Level::Stuck => self.stages.stuck,
            _ => self.stages.watch,
        };
        let found = found(level, Some(self.since), text)
            .with("limit_ms", limit)
            .with("quiet_ms", facts.now.since(self.since))
            .recheck(ago(facts.now, self.since).until);
        match level {
            Level::Stuck => found,
            _ => found.recheck(self.since + self.stages.stuck),
        }
    }
}
