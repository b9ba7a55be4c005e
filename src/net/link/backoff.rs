//! How long to wait before the next attempt. Pure.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
/// A restart takes seconds: within the first minute the next attempt is never far.
const CAP_EARLY: Duration = Duration::from_secs(3);
const EARLY: Duration = Duration::from_secs(60);
const CAP: Duration = Duration::from_secs(15);
/// Of the wait, to either side, so that many watchers do not come at once.
const JITTER: f64 = 0.2;

/// The wait after attempt number `attempt` failed, counted from 1 since the link was last live; 0
/// is the loss of a live link. `lost_for` is the time since then, `random` is in 0.0..1.0.
pub fn wait(attempt: u32, lost_for: Duration, random: f64) -> Duration {
    let cap = if lost_for < EARLY { CAP_EARLY } else { CAP };
    let doubled = FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(10));
    let jitter = 1.0 - JITTER + 2.0 * JITTER * random.clamp(0.0, 1.0);
    doubled.min(cap).mul_f64(jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_cap() {
        let late = Duration::from_secs(3600);
        let cases = [
            (0, 500),
            (1, 500),
            (2, 1000),
            (3, 2000),
            (4, 4000),
            (5, 8000),
            (6, 15_000),
            (9, 15_000),
            (u32::MAX, 15_000),
        ];
        for (attempt, ms) in cases {
            assert_eq!(
                wait(attempt, late, 0.5),
                Duration::from_millis(ms),
                "attempt {attempt}"
            );
        }
        assert_eq!(
            wait(50, Duration::from_secs(10), 0.5),
            Duration::from_secs(3)
        );
    }

    #[test]
    fn jitter_is_a_fifth() {
        let late = Duration::from_secs(3600);
        assert_eq!(wait(6, late, 0.0), Duration::from_secs(12));
        assert_eq!(wait(6, late, 1.0), Duration::from_secs(18));
        assert!(wait(9, Duration::from_secs(59), 1.0) < Duration::from_secs(5));
    }
}
