//! A condition that another process or thread brings about.

use std::time::{Duration, Instant};

/// On a machine that does other things as well.
const LONGEST: Duration = Duration::from_secs(60);

/// Until this holds, without keeping a processor busy that others are measured on.
#[expect(clippy::disallowed_methods, reason = "a test watches the real time")]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONGEST, "not in time: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
