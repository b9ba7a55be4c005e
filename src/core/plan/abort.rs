//! Abort: reject what is asked, stop what runs, children included.

use super::stop::{Kin, stop, stop_deleted, stranded, turn_ended};
use super::{ActionName, Plan, descendants};
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
    let kin = Kin {
        session: &key.session,
        directory: &stranger.directory,
        title: "",
        runs: true,
        is_child: false,
    };
    let asks = server.stray_asks.iter().map(|(_, it)| &it.ask);
    let mut stop = stop_deleted(&kin, asks.filter(|it| it.session == key.session));
    let check = "check: the status of that directory must not name it any more";
    stop.lines.push(check.to_owned());
    Some(Plan {
        action: ActionName::Abort,
        key: key.clone(),
        title: format!("deleted session {}", key.session),
        steps: stop.steps,
        settle: stop.settle,
        lines: stop.lines,
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
    turn_ended(session.tail.live_parts().find_map(|part| part.tool()))
}

fn warn(server: &Server, session: &Session, lines: &mut Vec<String>) {
    let open = session.tail.messages.iter().rposition(Message::is_open);
    let queued = open.map_or(0, |place| {
        let after = session.tail.messages.iter().skip(place + 1);
        after.filter(|m| m.is_user()).count()
    });
    if server.reported(session).is_running() {
        lines.extend(stranded(queued));
    }
}
