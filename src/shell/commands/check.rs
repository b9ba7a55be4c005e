//! `ocwatch check`: one line and an exit code, for cron, Nagios, status lines and prompts.

use super::Look;
use crate::core::judge::Level;
use crate::core::present::{Gravity, check as looked};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::print;
use crate::shell::snapshot::Snapshot;
use std::io::Write;
use std::time::Duration;

/// `ocwatch check`. `fail_on`: what is below this level is not counted.
pub async fn check(
    mut snapshot: Snapshot,
    settle: Duration,
    fail_on: Level,
    look: Look,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    snapshot.read(settle).await;
    let check = looked(&snapshot.app, fail_on, snapshot.unread());
    let exit = Exit::Checked(match check.gravity {
        Gravity::Ok => 0,
        Gravity::Warning => 1,
        Gravity::Critical => 2,
        Gravity::Unknown => 3,
    });
    if look.json {
        print::json(out, &check.json(exit.code(), (snapshot.clock)()))?;
    } else {
        print::lines(out, &[check.line()], look.color, &snapshot.theme)?;
    }
    Ok(exit)
}
