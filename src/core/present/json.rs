//! The document of `status --json`: schema `ocwatch.status/1`.
//!
//! Fields are only added within a schema number. Times are the server's clock, but for `at`.

use crate::core::id::{ServerId, SessionId, SessionKey};
use crate::core::judge::{Activity, Finding, Judgement, ServerVerdict, Settling, Verdict, told_by};
use crate::core::store::{Reported, Server, Session, Store};
use crate::core::time::UnixMs;
use crate::core::wire::{Ask, AskKind, DirectoryState};
use serde_json::{Value, json};
use std::collections::HashMap;

/// One document for everything that is known. `now` is the watcher's clock.
pub fn status_json(store: &Store, judgement: &Judgement, now: UnixMs) -> Value {
    let servers: Vec<Value> = store
        .servers()
        .map(|(id, server)| server_json(id, server, judgement))
        .collect();
    let children = children(store);
    let sessions: Vec<Value> = judgement
        .verdicts
        .values()
        .filter_map(|verdict| session_json(store, verdict, &children))
        .collect();
    json!({"schema": "ocwatch.status/1", "at": now, "servers": servers, "sessions": sessions})
}

fn server_json(id: ServerId, server: &Server, judgement: &Judgement) -> Value {
    let verdict = judgement.servers.iter().find(|v| v.server == id);
    let count = |state| {
        let views = server.directories.values();
        views.filter(|view| view.state == state).count()
    };
    json!({
        "name": server.spec.name,
        "url": server.spec.url,
        "read_only": server.spec.read_only.is_some(),
        "state": verdict.map_or("connecting", |v| v.state),
        "dialect": server.dialect,
        "version": server.version,
        "findings": findings(verdict.map_or(&[][..], |v: &ServerVerdict| &v.findings)),
        "directories": {
            "loaded": count(DirectoryState::Loaded),
            "asleep": count(DirectoryState::Asleep),
            "gone": count(DirectoryState::Gone),
        },
        "unknown_events": server.unknown_events,
        "malformed_events": server.malformed_events,
        "error": verdict.and_then(|v| v.error.clone()),
    })
}

/// The ids of subagents' sessions by parent, sorted.
type Children<'a> = HashMap<(ServerId, &'a SessionId), Vec<&'a SessionId>>;

/// Of all servers at once: a look for each session would go through all of them each time.
fn children(store: &Store) -> Children<'_> {
    let mut all = Children::new();
    for (server, it) in store.servers() {
        for session in it.sessions.values() {
            if let Some(parent) = &session.info.parent {
                let of = all.entry((server, parent)).or_default();
                of.push(&session.info.id);
            }
        }
    }
    for ids in all.values_mut() {
        ids.sort();
    }
    all
}

/// The names of the other servers that hold the session on the same data and leave it to this one.
fn also_on(store: &Store, key: &SessionKey) -> Vec<Value> {
    let others = store.servers().filter(|(id, _)| *id != key.server);
    let leave = others.filter(|(id, _)| {
        let twin = SessionKey::new(*id, key.session.clone());
        told_by(store, &twin).is_some()
    });
    leave.map(|(_, other)| json!(other.spec.name)).collect()
}

fn session_json(store: &Store, verdict: &Verdict, children: &Children) -> Option<Value> {
    let server = store.server(verdict.key.server)?;
    let session = store.session(&verdict.key)?;
    let session = Some(session).filter(|it| verdict.is_listed(it))?;
    let info = &session.info;
    let model = info.model.as_ref();
    Some(json!({
        "server": server.spec.name,
        "id": info.id,
        "title": info.title,
        "directory": info.directory,
        "also_on": also_on(store, &verdict.key),
        "parent": info.parent,
        "children": children.get(&(verdict.key.server, &verdict.key.session)).map_or(&[][..], Vec::as_slice),
        "agent": info.agent,
        "model": model.map(|m| format!("{}/{}", m.provider, m.model)),
        "created": info.created,
        "updated": info.updated,
        "archived": info.archived.is_some(),
        "reported": reported(&verdict.reported),
        "activity": activity(&verdict.activity),
        "agreement": verdict.agreement,
        "note": verdict.note,
        "level": verdict.level,
        "level_reason": verdict.blind,
        "settling": verdict.settling.as_ref().map(settling),
        "findings": findings(&verdict.findings),
        "asks": verdict.asks.iter().map(ask).collect::<Vec<_>>(),
        "last_error": last_error(session),
        "queued_prompts": verdict.activity.queued_prompts,
        "cost": info.cost,
        "tokens": info.tokens,
    }))
}

pub(super) fn reported(reported: &Reported) -> Value {
    match reported {
        Reported::Retry(retry) => json!({
            "type": "retry", "attempt": retry.attempt, "message": retry.message,
            "next": retry.next, "action": retry.action,
        }),
        Reported::Unknown(why) => json!({"type": "unknown", "reason": why.reason()}),
        other => json!({"type": other.word()}),
    }
}

pub(super) fn activity(activity: &Activity) -> Value {
    json!({
        "state": activity.state,
        "since": activity.since,
        "message": activity.message,
        "part": activity.part,
        "tool": activity.tool,
        "detail": activity.detail,
    })
}

pub(super) fn settling(settling: &Settling) -> Value {
    json!({"name": settling.name, "level": settling.level, "at": settling.at})
}

pub(super) fn findings(findings: &[Finding]) -> Vec<Value> {
    findings.iter().map(finding).collect()
}

fn finding(finding: &Finding) -> Value {
    let mut value = json!({
        "name": finding.name,
        "level": finding.level,
        "since": finding.since,
        "text": finding.text,
        "evidence": finding.evidence,
        "offers": finding.offers,
    });
    if !finding.path.is_empty() {
        value["path"] = json!(finding.path);
    }
    value
}

pub(super) fn ask(ask: &Ask) -> Value {
    let questions: Vec<Value> = ask
        .questions
        .iter()
        .map(|q| {
            let options: Vec<Value> = q
                .options
                .iter()
                .map(|o| json!({"label": o.label, "description": o.description}))
                .collect();
            json!({"question": q.question, "header": q.header, "options": options, "multiple": q.multiple})
        })
        .collect();
    json!({
        "id": ask.id,
        "kind": ask.kind,
        "session": ask.session,
        "text": ask.text(),
        "permission": ask.permission,
        "patterns": ask.patterns,
        "always": ask.always,
        "questions": if ask.kind == AskKind::Question { json!(questions) } else { Value::Null },
    })
}

/// The error of the last answer, else the one that was heard.
fn last_error(session: &Session) -> Value {
    let of_answer = session.tail.last_assistant().and_then(|m| m.error.as_ref());
    let heard = session.watch.error.as_ref().map(|seen| &seen.failure);
    match of_answer.or(heard) {
        Some(failure) => json!({
            "name": failure.name, "message": failure.message, "status_code": failure.status_code,
        }),
        None => Value::Null,
    }
}
