//! The judgement of a server: its state, and what is wrong with the server itself.
//!
//! Levels are `watch` or `ok`, but for a run that nobody can see any more: that a server cannot be
//! read has its own exit code and state word, and says nothing about whether a session is stuck.

use crate::core::id::{Directory, ServerId, SessionId, SessionKey};
use crate::core::judge::Offer;
use crate::core::judge::tools::at_least;
use crate::core::judge::{Evidence, Finding, Level, ServerVerdict, Verdict};
use crate::core::store::{DirectoryView, Gap, LinkState, Server, Stranger};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{DirectoryState, LostCause, Status};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Name, levels and meaning of every finding about a server, for the README.
pub const SERVER_FINDINGS: [(&str, &str, &str); 11] = [
    ("unreachable", "watch", "Nothing answers at its address."),
    (
        "wedged",
        "watch",
        "Its socket is open, but it answers nothing any more.",
    ),
    (
        "unauthorized",
        "watch",
        "It wants a password, or another one.",
    ),
    (
        "not-opencode",
        "watch",
        "What answers is not an OpenCode server that can be read.",
    ),
    (
        "degraded",
        "watch",
        "One of its endpoints fails or is missing; the rest is shown.",
    ),
    (
        "zombie-run",
        "stuck",
        "A run goes on in a session that was deleted under it.",
    ),
    (
        "restarted",
        "watch; ok when nothing was cut off",
        "A new process answers; the sessions that the old one left interrupted are listed.",
    ),
    (
        "clock-skew",
        "watch",
        "Its clock differs from this one by more than 2 s; ages are told by its own.",
    ),
    (
        "version-unknown",
        "watch",
        "It tells no version, or one that cannot be compared.",
    ),
    (
        "unsecured",
        "watch",
        "It listens beyond this machine and wants no password.",
    ),
    (
        "directory-gone",
        "ok",
        "The folder of some sessions no longer exists; they are not read.",
    ),
];

/// The sessions of a server that are called interrupted and not yet at rest for long.
pub(super) fn interrupted_of(
    id: ServerId,
    verdicts: &BTreeMap<SessionKey, Verdict>,
) -> Vec<SessionId> {
    let here = verdicts.iter().filter(|(key, _)| key.server == id);
    here.filter(|(_, verdict)| is_listed(verdict))
        .map(|(key, _)| key.session.clone())
        .collect()
}

/// Whether its server lists this session.
pub(super) fn is_listed(verdict: &Verdict) -> bool {
    let interrupted = |found: &Finding| found.name == "interrupted" && found.level > Level::Ok;
    verdict.findings.iter().any(interrupted)
}

/// Judges a server. `interrupted`: its sessions with that finding, in the order of their ids.
pub fn judge_server(id: ServerId, server: &Server, interrupted: &[SessionId]) -> ServerVerdict {
    let mut findings = Vec::new();
    let mut error = None;
    if let LinkState::Lost { cause, text, .. } = &server.link {
        findings.push(lost(server, *cause, text));
        error = Some(text.clone());
    } else {
        findings.extend(server.gaps.iter().map(|gap| degraded(server, gap)));
    }
    let zombies = server.strangers.iter();
    findings.extend(zombies.filter_map(|(id, it)| zombie_run(server, id, it)));
    findings.extend(restarted(server, interrupted));
    findings.extend(clock_skew(server));
    findings.extend(version_unknown(server));
    findings.extend(unsecured(server));
    findings.extend(directory_gone(server));
    findings.sort_by_key(|f| std::cmp::Reverse(f.level));
    ServerVerdict {
        server: id,
        state: state(server),
        findings,
        error,
    }
}

fn state(server: &Server) -> &'static str {
    match &server.link {
        LinkState::Connecting { .. } => "connecting",
        LinkState::Live if !server.gaps.is_empty() => "degraded",
        LinkState::Live => "live",
        LinkState::Lost { cause, .. } => cause_word(*cause),
    }
}

fn cause_word(cause: LostCause) -> &'static str {
    match cause {
        LostCause::Unreachable | LostCause::Refused => "unreachable",
        LostCause::Wedged => "wedged",
        LostCause::Unauthorized => "unauthorized",
        LostCause::NotOpencode => "not-opencode",
    }
}

fn finding(name: &'static str, level: Level, since: Option<UnixMs>, text: String) -> Finding {
    Finding {
        name,
        level,
        since,
        text,
        evidence: Evidence::new(),
        offers: Vec::new(),
        path: Vec::new(),
    }
}

fn lost(server: &Server, cause: LostCause, text: &str) -> Finding {
    let since = server.link_since.map(|at| server.server_time(at));
    let mut found = finding(cause_word(cause), Level::Watch, since, text.to_owned());
    let version = server.version.clone();
    found.evidence.insert("version".into(), version.into());
    found
}

fn degraded(server: &Server, gap: &Gap) -> Finding {
    let since = Some(server.server_time(gap.since));
    let path = gap.endpoint.path_in(server.dialect);
    let text = match &gap.directory {
        Some(directory) => format!("{path} of {directory}: {}", gap.text),
        None => format!("{path}: {}", gap.text),
    };
    let mut found = finding("degraded", Level::Watch, since, text);
    let mut put = |key: &str, value: Value| found.evidence.insert(key.into(), value);
    put("endpoint", json!(path));
    if let Some(status) = gap.status {
        put("status", json!(status));
    }
    if let Some(directory) = &gap.directory {
        put("directory", json!(directory));
    }
    found
}

/// A run goes on in a session that was deleted under it: nothing shows it, nothing ends it.
fn zombie_run(server: &Server, id: &SessionId, stranger: &Stranger) -> Option<Finding> {
    let running = matches!(stranger.status, Status::Busy | Status::Retry(_));
    let current = stranger.epoch == server.epoch && server.is_reachable();
    if !(stranger.gone && running && current) {
        return None;
    }
    let since = Some(server.server_time(stranger.seen_at));
    let directory = &stranger.directory;
    let text = format!("{id} was deleted and still runs in {directory}");
    let mut found = finding("zombie-run", Level::Stuck, since, text);
    found.evidence.insert("session".into(), json!(id));
    found.evidence.insert("directory".into(), json!(directory));
    found.offers = vec![Offer::Abort];
    Some(found)
}

/// A new process answers: what the old one was seen running, and not the new one since, was cut off.
fn restarted(server: &Server, interrupted: &[SessionId]) -> Option<Finding> {
    let since = server.server_time(server.restarted_at?);
    let ran = |id: &SessionId| server.sessions.get(id)?.watch.ran_here_at;
    let by_it = |id: &&SessionId| ran(id).is_some_and(|at| Some(at) <= server.refused_at);
    let interrupted: Vec<&SessionId> = interrupted.iter().filter(by_it).collect();
    let (level, text) = match interrupted.len() {
        0 => (Level::Ok, "nothing was cut off".to_owned()),
        1 => (Level::Watch, "1 session is interrupted".to_owned()),
        many => (Level::Watch, format!("{many} sessions are interrupted")),
    };
    let mut found = finding("restarted", level, Some(since), text);
    found.evidence.insert("sessions".into(), json!(interrupted));
    Some(found)
}

/// Its clock differs from ours: ages are told by its own.
fn clock_skew(server: &Server) -> Option<Finding> {
    let skew = server.skew;
    if skew == Span::ZERO {
        return None;
    }
    let how = if skew > Span::ZERO {
        "ahead of"
    } else {
        "behind"
    };
    let span = Span(skew.as_ms().abs()).words();
    let text = format!("its clock is {span} {how} this one; ages are told by its own");
    let mut found = finding("clock-skew", Level::Watch, None, text);
    found.evidence.insert("skew_ms".into(), json!(skew));
    Some(found)
}

/// It has told what it is, but no version that rules could go by.
fn version_unknown(server: &Server) -> Option<Finding> {
    server.dialect?;
    let version = server.version.as_deref();
    if at_least(version, (0, 0)) {
        return None;
    }
    let text = match version {
        Some(version) => format!("its version is {version:?}, which cannot be compared"),
        None => "it tells no version".to_owned(),
    };
    let mut found = finding("version-unknown", Level::Watch, None, text);
    found.evidence.insert("version".into(), json!(version));
    Some(found)
}

fn unsecured(server: &Server) -> Option<Finding> {
    let text = "it listens beyond this machine and wants no password";
    server
        .unsecured
        .then(|| finding("unsecured", Level::Watch, None, text.to_owned()))
}

fn directory_gone(server: &Server) -> Option<Finding> {
    let gone = |(directory, view): (&Directory, &DirectoryView)| {
        (view.state == DirectoryState::Gone).then(|| directory.clone())
    };
    let gone: Vec<Directory> = server.directories.iter().filter_map(gone).collect();
    let text = match gone.as_slice() {
        [] => return None,
        [one] => format!("{one} no longer exists"),
        [first, rest @ ..] => format!("{first} and {} more no longer exist", rest.len()),
    };
    let mut found = finding("directory-gone", Level::Ok, None, text);
    found.evidence.insert("directories".into(), json!(gone));
    Some(found)
}
