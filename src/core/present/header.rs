//! The header: servers and counts.

use crate::core::app::{App, Frozen};
use crate::core::id::ServerId;
use crate::core::judge::{Judgement, Level, ServerVerdict};
use crate::core::present::{Count, Mark, ServerChip, Tone, clean, words};
use crate::core::store::{LinkState, ReadOnly, Server, Store};
use crate::core::time::UnixMs;
use crate::core::wire::DirectoryState;

/// One chip per server.
pub(super) fn chips(store: &Store, judgement: &Judgement, now: UnixMs) -> Vec<ServerChip> {
    let chip = |(id, server): (ServerId, &Server)| {
        let verdict = judgement.servers.iter().find(|v| v.server == id);
        chip(server, verdict, now)
    };
    store.servers().map(chip).collect()
}

fn chip(server: &Server, verdict: Option<&ServerVerdict>, now: UnixMs) -> ServerChip {
    let state = verdict.map_or("connecting", |v| v.state);
    let (mark, text, tone) = match &server.link {
        LinkState::Live => marked(server, live(server, verdict, state)),
        LinkState::Connecting { .. } => (Mark::Unknown, "connecting".to_owned(), Tone::Dim),
        LinkState::Lost { retry_at, .. } => (
            Mark::Unknown,
            lost(server, state, *retry_at, now),
            Tone::Watch,
        ),
    };
    ServerChip {
        name: clean(&server.spec.name),
        mark,
        text: clean(&text),
        tone,
    }
}

/// Whoever looks must see that no key acts there.
fn marked(server: &Server, (mark, text, tone): (Mark, String, Tone)) -> (Mark, String, Tone) {
    let word = match server.spec.read_only {
        None => "",
        Some(ReadOnly::Replay) => " replay",
        Some(ReadOnly::Option | ReadOnly::Configuration) => " read-only",
    };
    (mark, text + word, tone)
}

fn live(server: &Server, verdict: Option<&ServerVerdict>, state: &str) -> (Mark, String, Tone) {
    let version = server.version.as_deref().unwrap_or("version unknown");
    let worst = verdict.and_then(|v| Some((v, v.findings.first()?)));
    match worst {
        Some((verdict, finding)) if finding.level > Level::Ok => (
            mark(server, verdict),
            format!("{version} {}", finding.name),
            words::level_tone(finding.level),
        ),
        _ if state == "live" => (Mark::Working, version.to_owned(), Tone::Plain),
        _ => (Mark::Watch, format!("{version} {state}"), Tone::Watch),
    }
}

fn lost(server: &Server, state: &str, retry_at: UnixMs, now: UnixMs) -> String {
    let age = server.link_since.map(|since| now.since(since));
    let age = age.map_or(String::new(), |age| format!(" {}", age.so_far(now)));
    let wait = retry_at - now;
    if wait.as_ms() > 0 {
        format!("{state}{age}, next try in {}s", (wait.as_ms() + 999) / 1000)
    } else {
        format!("{state}{age}, trying now")
    }
}

/// The mark of a server's state: that of its level, working without one.
pub(super) fn mark(server: &Server, verdict: &ServerVerdict) -> Mark {
    let level = verdict.findings.first().map_or(Level::Ok, |f| f.level);
    match (&server.link, level) {
        (LinkState::Connecting { .. } | LinkState::Lost { .. }, _) => Mark::Unknown,
        (LinkState::Live, Level::Stuck) => Mark::Stuck,
        (LinkState::Live, Level::NeedsYou) => Mark::NeedsYou,
        (LinkState::Live, Level::Watch) => Mark::Watch,
        (LinkState::Live, Level::Ok | Level::Unknown) => Mark::Working,
    }
}

/// What is to be told of a server beside its state: why it is away, what is wrong with it, else what
/// it is. `before`: what was found the last time; of several findings a new one is told. That it was
/// restarted is told once: when it is back from anything else, it was not restarted again.
pub(super) fn told(server: &Server, verdict: &ServerVerdict, before: &[&str]) -> String {
    if let Some(why) = &verdict.error {
        return clean(why);
    }
    let worth = verdict.findings.iter().filter(|f| f.level > Level::Ok);
    let new = worth.clone().find(|f| !before.contains(&f.name));
    let mut old = worth.filter(|f| f.name != "restarted");
    if let Some(finding) = new.or_else(|| old.next()) {
        return words::finding(finding);
    }
    let version = server.version.as_deref();
    let version = version.map_or("version unknown".to_owned(), |it| format!("OpenCode {it}"));
    let number = server.sessions.len();
    let plural = if number == 1 { "" } else { "s" };
    clean(&format!("{version}, {number} session{plural}"))
}

/// How many sessions per mark, the most urgent first. What only tells of another is counted apart, so
/// that the numbers are those of the rows. Deleted sessions that still run are stuck.
pub(super) fn counts(app: &App) -> Vec<Count> {
    let words = [
        (Mark::Snoozed, "snoozed"),
        (Mark::Unknown, "unknown"),
        (Mark::Rest, "at rest"),
        (Mark::Working, "working"),
        (Mark::Settling(Level::Ok), "settling"),
        (Mark::Watch, "watch"),
        (Mark::NeedsYou, "need you"),
        (Mark::Stuck, "stuck"),
    ];
    let is_filtered = !app.ui.filter.query().terms.is_empty();
    let counted = app.tally.counts.iter().zip(words).rev();
    let counts = counted.map(|(count, (mark, word))| Count {
        mark,
        number: count.own,
        hits: is_filtered.then_some(count.hits),
        echoes: count.echoes,
        word,
    });
    counts.filter(|it| it.number + it.echoes > 0).collect()
}

/// That the screen stands still, the fullest form first.
pub(super) fn frozen(frozen: &Frozen, now: UnixMs) -> Vec<String> {
    let age = now.since(frozen.at).short();
    let changes = match frozen.changes {
        1 => "1 change".to_owned(),
        n => format!("{n} changes"),
    };
    vec![
        format!("frozen for {age}, {changes} since"),
        format!("frozen {age}"),
    ]
}

/// Projects that are not asked.
pub(super) fn asleep(store: &Store) -> usize {
    let views = store.servers().flat_map(|(_, s)| s.directories.values());
    views
        .filter(|view| view.state == DirectoryState::Asleep)
        .count()
}
