//! What every live test needs: a runtime, patience, and the way out.

use std::future::Future;
use std::io::Write;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep};

/// Long enough for a busy machine; a test that works never waits for it.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// Runs to its end on the runtime that all tests share.
pub fn block_on<F: Future>(future: F) -> F::Output {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME
        .get_or_init(|| Runtime::new().expect("a runtime"))
        .block_on(future)
}

/// Looks again and again until there is something, at most `within`; panics with the last reason why not.
pub fn eventually<T>(
    what: &str,
    within: Duration,
    mut look: impl FnMut() -> Result<T, String>,
) -> T {
    let end = Instant::now() + within;
    loop {
        match look() {
            Ok(found) => return found,
            Err(why) if Instant::now() > end => {
                panic!("not within {within:?}: {what}\n{why}")
            }
            Err(_) => block_on(async { sleep(PAUSE).await }),
        }
    }
}

/// A variable of the environment that the tests were started in.
pub fn variable(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test may be told by its environment"
    )]
    std::env::var(name).ok()
}

/// False, after saying what is left out, where `OCWATCH_SKIP_LIVE=1` is set.
pub fn wanted() -> bool {
    let skip = variable("OCWATCH_SKIP_LIVE").is_some_and(|value| value == "1");
    if skip {
        let test = std::thread::current();
        let name = test.name().unwrap_or("a live test").to_owned();
        say(&format!("skipped (OCWATCH_SKIP_LIVE=1): {name}"));
    }
    !skip
}

/// A line on stderr that is shown of passing tests, too.
pub fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}
