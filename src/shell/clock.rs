//! The only clock of the program.
//!
//! What it does: reads the system's time once per call. What it does not: anything else; every
//! other module takes a [`Clock`] or a `now` as an argument, so that tests and replays own time.

use crate::core::time::{Clock, UnixMs};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The system's wall clock, in milliseconds since the Unix epoch. A time before the epoch is 0.
pub fn system_clock() -> Clock {
    Arc::new(now)
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that asks for the time"
)]
fn now() -> UnixMs {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    UnixMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_tells_a_plausible_time() {
        let time = system_clock()();
        assert!(time > UnixMs(1_600_000_000_000), "{time:?}");
    }
}
