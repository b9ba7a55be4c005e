//! Abort: reject what is asked, stop what runs, children included.

use super::{ActionName, Plan, Settle, Step, descendants};
use crate::core::id::SessionKey;
use crate::core::store::{Server, Session, Store};
use crate::core::wire::Message;

/// Plans the abort of a session. `None` if there is no such session.
///
/// An own pending ask of a session without running children is rejected: that ends the turn and
/// leaves no ghost. Otherwise the session is aborted (the server ends its subagents with it) and
/// asks of its descendants that would be left as ghosts are rejected afterwards: rejecting them
/// first would only let the parents go on.
pub fn abort(store: &Store, key: &SessionKey) -> Option<Plan> {
    let server = store.server(key.server)?;
    let session = server.sessions.get(&key.session)?;
    let below = descendants(server, &key.session);
    let running: Vec<&Session> = below
        .iter()
        .copied()
        .filter(|child| server.reported(child).is_running())
        .collect();
    let idle_before = !server.reported(session).is_running() && running.is_empty();

    let own = rejects(server, session);
    let mut lines = Vec::new();
    let mut steps = Vec::new();
    if !own.is_empty() && running.is_empty() {
        lines.push("reject what it asks: the turn ends, no ghost is left".to_owned());
        if session.info.parent.is_some() {
            lines.push("its parent goes on without it; abort the parent to end all".to_owned());
        }
        steps.extend(own);
    } else {
        lines.push(describe(server, session, idle_before));
        steps.push(stop(session));
        for child in &running {
            lines.push(format!("stop its subagent \"{}\"", child.info.title));
            steps.push(stop(child));
        }
        steps.extend(own);
        steps.extend(below.iter().flat_map(|child| rejects(server, child)));
    }
    warn(server, session, &mut lines);
    lines.push("check: status and last message must both say it has ended".to_owned());
    let settle = std::iter::once(session)
        .chain(running)
        .map(|row| Settle {
            session: row.info.id.clone(),
            directory: row.info.directory.clone(),
        })
        .collect();
    Some(Plan {
        action: ActionName::Abort,
        key: key.clone(),
        title: session.info.title.clone(),
        steps,
        settle,
        lines,
        idle_before,
    })
}

fn describe(server: &Server, session: &Session, idle_before: bool) -> String {
    if idle_before {
        return if server.reported(session).is_known() {
            "nothing runs here by the server's word: an abort will have no effect".to_owned()
        } else {
            "it is not known whether anything runs here".to_owned()
        };
    }
    let tool = session.tail.live_parts().find_map(|part| part.tool());
    match tool {
        Some(tool) => format!("stop the turn; {} {} is ended", tool.tool, tool.subject),
        None => "stop the turn; what was not yet written is lost".to_owned(),
    }
}

fn warn(server: &Server, session: &Session, lines: &mut Vec<String>) {
    let open = session.tail.messages.iter().rposition(Message::is_open);
    let queued = open.map_or(0, |place| {
        let after = session.tail.messages.iter().skip(place + 1);
        after.filter(|m| m.is_user()).count()
    });
    if queued > 0 && server.reported(session).is_running() {
        lines.push(format!(
            "{queued} queued prompt(s) will be stranded: they stay unanswered until the next prompt"
        ));
    }
}

fn stop(session: &Session) -> Step {
    Step::Abort {
        session: session.info.id.clone(),
        directory: session.info.directory.clone(),
    }
}

fn rejects(server: &Server, session: &Session) -> Vec<Step> {
    let reject = |pending: &crate::core::store::PendingAsk| Step::Reject {
        kind: pending.ask.kind,
        ask: pending.ask.id.clone(),
        session: session.info.id.clone(),
        directory: session.info.directory.clone(),
        message: None,
    };
    server.pending(session).map(reject).collect()
}
