//! The judgement of a server: its state, and what is wrong with the server itself.
//!
//! Levels here are `watch` or `ok`: that a server cannot be read has its own exit code and state
//! word, and says nothing about whether a session is stuck.

use crate::core::id::{Directory, ServerId};
use crate::core::judge::{Evidence, Finding, Level, ServerVerdict};
use crate::core::store::{DirectoryView, Gap, LinkState, Server};
use crate::core::time::UnixMs;
use crate::core::wire::{DirectoryState, LostCause};
use serde_json::{Value, json};

/// Name and meaning of every finding about a server, for the README.
pub const SERVER_FINDINGS: [(&str, &str); 7] = [
    ("unreachable", "Nothing answers at its address."),
    (
        "wedged",
        "Its socket is open, but it answers nothing any more.",
    ),
    ("unauthorized", "It wants a password, or another one."),
    (
        "not-opencode",
        "What answers is not an OpenCode server that can be read.",
    ),
    (
        "degraded",
        "One of its endpoints fails or is missing; the rest is shown.",
    ),
    (
        "unsecured",
        "It listens beyond this machine and wants no password.",
    ),
    (
        "directory-gone",
        "The folder of some sessions no longer exists; they are not read.",
    ),
];

/// Judges a server.
pub fn judge_server(id: ServerId, server: &Server) -> ServerVerdict {
    let mut findings = Vec::new();
    let mut error = None;
    if let LinkState::Lost { cause, text, .. } = &server.link {
        findings.push(lost(server, *cause, text));
        error = Some(text.clone());
    } else {
        findings.extend(server.gaps.iter().map(|gap| degraded(server, gap)));
    }
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
