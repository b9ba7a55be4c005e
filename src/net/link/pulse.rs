//! The watcher's clock against a steady one. Pure.
//!
//! What it does: tell a wall clock that jumped (the machine slept, or the time was set) from a
//! process that did not run for a while (stopped by a signal; then both clocks went on together).
//! What it does not: judge slow drift; only what moved between two looks counts.

use crate::core::time::{Span, UnixMs};
use std::time::Duration;
use tokio::time::Instant;

/// The link looks at least so often.
pub(super) const LOOK: Duration = Duration::from_secs(5);
/// Smaller steps change no judgement.
const JUMP: Span = Span::secs(30);
/// Longer than this after a look was due, nothing was watched.
const PAUSE: Duration = Duration::from_secs(30);

/// When was last looked, by both clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pulse {
    wall: UnixMs,
    steady: Instant,
}

/// What happened since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beat {
    /// The wall clock moved against the steady one.
    pub(super) jumped: bool,
    /// This process did not run.
    pub(super) paused: bool,
}

impl Pulse {
    pub(super) fn new(wall: UnixMs, steady: Instant) -> Self {
        Self { wall, steady }
    }

    /// Looks at both clocks.
    pub(super) fn look(&mut self, wall: UnixMs, steady: Instant) -> Beat {
        let passed = steady.saturating_duration_since(self.steady);
        let told = wall - self.wall;
        *self = Self { wall, steady };
        let moved = told - Span(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX));
        Beat {
            jumped: moved.as_ms().saturating_abs() > JUMP.as_ms(),
            paused: passed > LOOK + PAUSE,
        }
    }

    /// When to look again at the latest.
    pub(super) fn due(&self) -> Instant {
        self.steady + LOOK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Beat = Beat {
        jumped: false,
        paused: false,
    };

    #[test]
    fn a_jump_is_what_one_clock_does_alone_and_a_pause_what_both_do() {
        let start = (UnixMs(1_796_000_000_000), Instant::now());
        let jumped = Beat {
            jumped: true,
            ..QUIET
        };
        let paused = Beat {
            paused: true,
            ..QUIET
        };
        let cases = [
            ("time passes", 5_000, 5_000, QUIET),
            ("the clock is put right", 25_000, 5_000, QUIET),
            ("it is set an hour ahead", 3_605_000, 5_000, jumped),
            ("it is set back", -3_595_000, 5_000, jumped),
            ("the machine slept", 600_000, 5_000, jumped),
            ("the process was stopped", 600_000, 600_000, paused),
            ("a busy machine", 20_000, 20_000, QUIET),
        ];
        for (what, wall_ms, steady_ms, want) in cases {
            let mut pulse = Pulse::new(start.0, start.1);
            let steady = start.1 + Duration::from_millis(steady_ms);
            assert_eq!(pulse.look(start.0 + Span(wall_ms), steady), want, "{what}");
        }
    }

    #[test]
    fn a_slow_drift_is_no_jump() {
        let (wall, steady) = (UnixMs(1_796_000_000_000), Instant::now());
        let mut pulse = Pulse::new(wall, steady);
        for n in 1..100 {
            let passed = u32::try_from(n).unwrap();
            let beat = pulse.look(wall + Span(6_000 * n), steady + LOOK * passed);
            assert_eq!(beat, QUIET);
        }
    }
}
