//! `ocwatch status` and `ocwatch explain`: what was read, and what follows.

use super::{Look, locate, say, warn_if_asleep};
use crate::core::id::SessionKey;
use crate::core::judge;
use crate::core::present::{self, Piece, Tone};
use crate::net::link::LinkCommand;
use crate::shell::exit::{Exit, Trouble};
use crate::shell::print;
use crate::shell::session_ref::Purpose;
use crate::shell::snapshot::Snapshot;
use crate::shell::table::table;
use std::io::Write;
use std::time::Duration;
use tokio::time::Instant;

/// How long a session that is read on demand may take.
const READ_ONE: Duration = Duration::from_secs(15);

/// `ocwatch status`.
pub async fn status(
    mut snapshot: Snapshot,
    settle: Duration,
    look: Look,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    snapshot.read(settle).await;
    let now = (snapshot.clock)();
    let unread = snapshot.unread();
    let app = &snapshot.app;
    if look.json {
        print::json(out, &present::status_json(&app.store, app.judgement(), now))?;
    } else {
        let (mut lines, rows) = present::status_rows(app, now, look.ascii);
        if rows.is_empty() && unread.len() < app.store.servers().count() {
            lines.extend([Vec::new(), vec![Piece::new("no sessions", Tone::Dim)]]);
        }
        lines.extend(table(&rows, look.ascii, look.width));
        print::lines(out, &lines, look.color, &snapshot.theme)?;
    }
    for server in &unread {
        say(&format!("failed to read {server}"), &snapshot.theme);
    }
    Ok(if unread.is_empty() {
        Exit::Done
    } else {
        Exit::Unread
    })
}

/// `ocwatch explain`.
pub async fn explain(
    mut snapshot: Snapshot,
    session: &str,
    look: Look,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let key = locate(&mut snapshot, session, Purpose::Read).await?;
    read_session(&mut snapshot, &key).await;
    let now = (snapshot.clock)();
    let app = &snapshot.app;
    let verdict = app.verdict(&key).cloned();
    let told = verdict.and_then(|it| judge::explain_verdict(&app.store, it, now, &app.limits));
    let Some(told) = told else {
        return Err(Trouble::Failed(format!("{} is gone", key.session)));
    };
    if look.json {
        print::json(out, &present::explain_json(&told))?;
    } else {
        let lines = present::explain_lines(&told);
        print::lines(out, &lines, look.color, &snapshot.theme)?;
    }
    Ok(Exit::Done)
}

/// Reads one session that policy or age left unread; says so if that starts its project.
pub(super) async fn read_session(snapshot: &mut Snapshot, key: &SessionKey) {
    let Some(session) = snapshot.app.store.session(key) else {
        return;
    };
    let asleep = snapshot.app.is_asleep(key);
    if session.tail.is_read() && !asleep {
        return;
    }
    let directory = session.info.directory.clone();
    warn_if_asleep(snapshot, key);
    if asleep {
        let load = LinkCommand::LoadDirectory(directory);
        snapshot.feed.commands.send(key.server, load);
    }
    let read = LinkCommand::ReadSession(key.session.clone());
    snapshot.feed.commands.send(key.server, read);
    let end = snapshot.deadline.min(Instant::now() + READ_ONE);
    let known = |snapshot: &mut Snapshot| {
        let session = snapshot.app.store.session(key);
        session.is_none_or(|it| it.tail.is_read()) && !snapshot.app.is_asleep(key)
    };
    if !snapshot.until(end, known).await {
        let text = "it could not be read in time; what follows is what is known";
        say(text, &snapshot.theme);
    }
}
