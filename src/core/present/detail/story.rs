//! What is wrong with a session (or is not), with its evidence, and what is asked.

use crate::core::app::App;
use crate::core::app::keymap::{Action, Keymap};
use crate::core::judge::{Finding, Level, Offer, Verdict};
use crate::core::plan::answer;
use crate::core::present::ask::{ask_lines, question_lines};
use crate::core::present::{Line, Piece, Tone, clean, rows, words};
use crate::core::store::Server;
use crate::core::time::{Span, UnixMs};
use crate::core::wire::Dialect;
use serde_json::Value;

/// Numbers from here on are points in time (2001 and later), in milliseconds.
const FIRST_TIME: i64 = 1_000_000_000_000;
/// Lines of one ask that the story shows.
const ASK_LINES: usize = 14;
/// The finding of a question that the server has lost.
const LOST: &str = "lost-ask";

pub(super) fn story(
    app: &App,
    verdict: &Verdict,
    (server, server_findings): (&Server, &[Finding]),
    now: UnixMs,
) -> Vec<Line> {
    let offset = app.utc_offset;
    let mut lines = Vec::new();
    for finding in &verdict.findings {
        lines.push(headline(finding, offset));
        lines.push(evidence(finding, offset));
        if finding.level > Level::Ok && !finding.offers.is_empty() {
            let read_only = server.dialect == Some(Dialect::V2);
            let text = helps(&app.keymap, &finding.offers, read_only);
            lines.push(vec![Piece::new(text, Tone::Plain)]);
        }
    }
    let (why, _, tone) = rows::why(verdict, server, now);
    if verdict.findings.is_empty() && !why.is_empty() {
        lines.push(vec![Piece::new(why, tone)]);
    }
    if lines.is_empty() {
        let reported = words::reported(&verdict.reported);
        let activity = words::activity(&verdict.activity);
        let text =
            format!("The server says {reported}; its messages show: {activity}. Nothing to do.");
        lines.push(vec![Piece::new(text, Tone::Plain)]);
    }
    for finding in server_findings {
        let text = format!("{} {}: {}", server.spec.name, finding.name, finding.text);
        lines.push(vec![Piece::new(
            clean(&text),
            words::level_tone(finding.level),
        )]);
    }
    lines.extend(asked(verdict, server));
    lines
}

/// What is asked here and below, whole; of a subagent with its title.
fn asked(verdict: &Verdict, server: &Server) -> Vec<Line> {
    let mut lines = Vec::new();
    for ask in &verdict.asks {
        let below = (ask.session != verdict.key.session).then(|| server.sessions.get(&ask.session));
        let who = match below.flatten() {
            Some(session) => format!("\"{}\" asks: ", rows::title(session)),
            None => "asks: ".to_owned(),
        };
        let mut rest = short(ask_lines(ask)).into_iter();
        let mut first = vec![Piece::new(who, Tone::NeedsYou)];
        first.extend(rest.next().unwrap_or_default());
        lines.push(first);
        lines.extend(rest);
    }
    lines
}

/// A long diff must not push everything else out of the pane; the form has all of it.
fn short(mut lines: Vec<Line>) -> Vec<Line> {
    if lines.len() > ASK_LINES {
        let more = lines.len() - ASK_LINES;
        lines.truncate(ASK_LINES);
        let text = format!("  … {more} more lines in the form to reply");
        lines.push(vec![Piece::new(text, Tone::Dim)]);
    }
    lines
}

/// What a question asked that the server has lost: a person can still read it.
pub(super) fn lost(verdict: &Verdict, app: &App) -> Vec<Line> {
    if !verdict.findings.iter().any(|it| it.name == LOST) {
        return Vec::new();
    }
    let lost = answer::lost(&app.store, &verdict.key);
    let own = lost.into_iter().filter(|it| it.key == verdict.key);
    own.flat_map(|it| question_lines(&it.questions)).collect()
}

pub(in crate::core::present) fn headline(finding: &Finding, offset: Span) -> Line {
    let tone = words::level_tone(finding.level);
    let since = finding
        .since
        .map(|at| format!(" since {}", words::clock(at, offset)));
    vec![
        Piece::new(
            format!("{}{}. ", finding.name, since.unwrap_or_default()),
            tone,
        ),
        Piece::new(clean(&finding.text), Tone::Plain),
    ]
}

/// What a person can do about it, with the key where there is one and it does anything.
fn helps(keymap: &Keymap, offers: &[Offer], read_only: bool) -> String {
    let help = if read_only { in_opencode } else { by_key };
    let words = offers.iter().filter_map(|offer| match help(*offer)? {
        (Some(action), words) => Some(format!("{} {words}", keymap.shown(action))),
        (None, words) => Some(words.to_owned()),
    });
    let words: Vec<String> = words.collect();
    format!("What helps: {}", words.join(" · "))
}

/// What helps, and the action that does it.
type Help = Option<(Option<Action>, &'static str)>;

fn by_key(offer: Offer) -> Help {
    Some(match offer {
        Offer::Abort => (Some(Action::Abort), "abort"),
        Offer::Export => (Some(Action::Export), "export"),
        Offer::Answer => (Some(Action::Reply), "reply"),
        Offer::Dismiss => (Some(Action::Deny), "dismiss"),
        Offer::Resend => (Some(Action::Resend), "resend"),
        Offer::Continue => (Some(Action::Resend), "continue"),
        Offer::Fork => (Some(Action::Reset), "fork before the broken turn"),
        Offer::Unrevert => (Some(Action::Reset), "take back the revert"),
        Offer::Reset => (Some(Action::Reset), "reset"),
        Offer::Wait | Offer::Run => return in_opencode(offer),
        Offer::Dispose => return None,
    })
}

fn in_opencode(offer: Offer) -> Help {
    let words = match offer {
        Offer::Abort => "stop it in OpenCode",
        Offer::Export => "export it in OpenCode",
        Offer::Answer => "answer it in OpenCode",
        Offer::Dismiss => "dismiss the ask in OpenCode",
        Offer::Resend => "send a new prompt in OpenCode",
        Offer::Continue => "tell it to go on in OpenCode",
        Offer::Fork => "fork before the broken turn in OpenCode",
        Offer::Unrevert => "take back the revert in OpenCode",
        Offer::Run => "run it in OpenCode",
        Offer::Wait => "wait",
        Offer::Reset | Offer::Dispose => return None,
    };
    Some((None, words))
}

/// `Evidence: message msg_…, age 12 min`.
pub(in crate::core::present) fn evidence(finding: &Finding, offset: Span) -> Line {
    // The age in the finding is that of the last judgement; the headline has the time itself.
    let facts = finding
        .evidence
        .iter()
        .filter(|(name, _)| *name != "age_ms");
    let pairs: Vec<String> = facts
        .map(|(name, value)| fact(name, value, offset))
        .collect();
    let text = clean(&format!("Evidence: {}", pairs.join(", ")));
    vec![Piece::new(text, Tone::Dim)]
}

/// A fact as a person reads it: spans in words, points in time as clock times.
fn fact(name: &str, value: &Value, offset: Span) -> String {
    match (name.strip_suffix("_ms"), value.as_i64(), value.as_str()) {
        (Some(name), Some(ms), _) => format!("{name} {}", Span(ms)),
        (None, Some(at), _) if at >= FIRST_TIME => {
            format!("{name} {}", words::clock(UnixMs(at), offset))
        }
        (_, _, Some(text)) => format!("{name} {text}"),
        _ => format!("{name} {value}"),
    }
}
