//! Abort: reject what is asked, stop what runs, children included.

use super::stop::{Kin, stop};
use super::{ActionName, Plan, Settle, Step, descendants};
use crate::core::id::{MessageId, SessionId, SessionKey};
use crate::core::store::{Reported, Server, Session, Store};
use crate::core::wire::Message;

/// Plans the abort of a session, its subagents included. `None` if there is no such session.
pub fn abort(store: &Store, key: &SessionKey) -> Option<Plan> {
    let server = store.server(key.server)?;
    let Some(session) = server.sessions.get(&key.session) else {
        return zombie(server, key);
    };
    let below = descendants(server, &key.session);
    let family: Vec<&Session> = std::iter::once(session).chain(below).collect();
    let kin: Vec<Kin> = family.iter().map(|it| kin(server, it)).collect();
    let idle_before = !kin.iter().any(|it| it.runs);
    let asks = |id: &SessionId| match server.sessions.get(id) {
        Some(row) => server.pending(row).map(|it| &it.ask).collect(),
        None => Vec::new(),
    };
    let mut stop = stop(&kin, &asks, describe(server, session, idle_before));
    warn(server, session, &mut stop.lines);
    let check = "check: status and last message must both say it has ended";
    stop.lines.push(check.to_owned());
    Some(Plan {
        action: ActionName::Abort,
        key: key.clone(),
        title: session.info.title.clone(),
        steps: stop.steps,
        settle: stop.settle,
        lines: stop.lines,
        newest: newest(session),
        idle_before,
    })
}

fn newest(session: &Session) -> Option<MessageId> {
    session.tail.last_user().map(|it| it.id.clone())
}

fn kin<'a>(server: &Server, session: &'a Session) -> Kin<'a> {
    Kin {
        session: &session.info.id,
        directory: &session.info.directory,
        title: &session.info.title,
        runs: server.reported(session).is_running(),
        is_child: session.info.parent.is_some(),
    }
}

/// What runs on in a session that was deleted: only an abort with the old directory reaches it.
fn zombie(server: &Server, key: &SessionKey) -> Option<Plan> {
    let stranger = server.strangers.get(&key.session)?;
    let (session, directory) = (key.session.clone(), stranger.directory.clone());
    let mut lines = vec![format!(
        "stop what still runs in {directory} although the session was deleted"
    )];
    let mut steps = vec![Step::Abort {
        session: session.clone(),
        directory: directory.clone(),
    }];
    // An abort leaves what it asked listed for ever: nobody is left to answer it.
    for (_, pending) in &server.stray_asks {
        if pending.ask.session == session {
            lines.push(format!("dismiss what it asks: {}", pending.ask.text()));
            steps.push(Step::Reject {
                kind: pending.ask.kind,
                ask: pending.ask.id.clone(),
                session: session.clone(),
                directory: directory.clone(),
                message: None,
            });
        }
    }
    lines.push("check: the status of that directory must not name it any more".to_owned());
    Some(Plan {
        action: ActionName::Abort,
        key: key.clone(),
        title: format!("deleted session {session}"),
        steps,
        settle: vec![Settle { session, directory }],
        lines,
        newest: None,
        idle_before: false,
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
    if server.reported(session) == Reported::Idle {
        return "nothing of its own runs".to_owned();
    }
    let tool = session.tail.live_parts().find_map(|part| part.tool());
    match tool {
        Some(tool) if tool.tool == "bash" => format!(
            "stop the turn; bash {} is ended (what it put into the background may go on)",
            tool.subject
        ),
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
