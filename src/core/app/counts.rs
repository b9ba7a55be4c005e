//! How many sessions there are of each mark, for the header.
//!
//! What it does: tell a session that needs attention itself from one that only tells of another. What
//! it does not: words and marks.

use crate::core::app::order;
use crate::core::app::tree::Listed;
use crate::core::changes::Standing;
use crate::core::judge::Verdict;

/// The finding of a crash.
const INTERRUPTED: &str = "interrupted";

/// How many of one mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Of themselves.
    pub own: usize,
    /// Those of them that pass the filter.
    pub hits: usize,
    /// Rows that only tell of them: above one that needs attention, or cut off together with its parent.
    pub echoes: usize,
}

/// Snoozed, then by rank: unknown, at rest, working, settling, watch, needs you, stuck.
pub type Counts = [Count; 8];

/// Counts all that may have a row.
pub(super) fn count(listed: &[Listed]) -> Counts {
    let mut counts = Counts::default();
    for one in listed {
        let rank = order::rank(one);
        let place = if one.snoozed { 0 } else { rank as usize + 1 };
        let Some(count) = counts.get_mut(place) else {
            continue;
        };
        if rank >= Standing::Watch && is_echo(one, listed) {
            count.echoes += 1;
        } else {
            count.own += 1;
            count.hits += usize::from(one.hit);
        }
    }
    counts
}

/// What lies below it needs attention, or it was cut off by the crash that cut off its parent: one
/// incident, counted where it is.
fn is_echo(one: &Listed, listed: &[Listed]) -> bool {
    let is_ancestor = one.verdict.leading().is_some_and(|it| !it.path.is_empty());
    let cut_off = |it: &Verdict| it.findings.iter().any(|it| it.name == INTERRUPTED);
    let parent = one.parent.and_then(|place| listed.get(place));
    is_ancestor || (cut_off(one.verdict) && parent.is_some_and(|it| cut_off(it.verdict)))
}
