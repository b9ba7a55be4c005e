//! Findings about the past let go: their level falls as the session rests.

use crate::core::judge::facts::Facts;
use crate::core::judge::{Finding, Level};
use crate::core::time::UnixMs;

/// Lowers the level of a finding at rest, and says when it will next fall. What was heard of later
/// than anything changed (an error that left no message) rests from then.
pub(super) fn decay(facts: &Facts, finding: &mut Finding) -> Option<UnixMs> {
    let changed = facts.last_changed();
    let rests = finding.since.map_or(changed, |since| since.max(changed));
    let (level, next) = decayed(facts, finding.level, rests);
    finding.level = level;
    next
}

/// What becomes of a level: as it is for 24 h from `rests`, `watch` until 7 d, `ok` then.
pub(super) fn decayed(facts: &Facts, level: Level, rests: UnixMs) -> (Level, Option<UnixMs>) {
    let watch_at = rests + facts.limits.rest_after;
    let ok_at = rests + facts.limits.rest_ok;
    if facts.now >= ok_at {
        (level.min(Level::Ok), None)
    } else if facts.now >= watch_at {
        (level.min(Level::Watch), Some(ok_at))
    } else {
        (level, Some(watch_at))
    }
}
