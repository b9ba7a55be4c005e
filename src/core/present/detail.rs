//! The pane that tells one session: its story with evidence, its last turns, its live tail.

use crate::core::app::App;
use crate::core::id::SessionKey;
use crate::core::judge::{Finding, Level, Offer, Verdict};
use crate::core::plan::answer;
use crate::core::present::ask::{ask_lines, question_lines};
use crate::core::present::build::explanation;
use crate::core::present::explain::rule_lines;
use crate::core::present::log;
use crate::core::present::{Detail, Line, Piece, Tone, clean, rows, words};
use crate::core::store::{Server, Session};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Dialect, Message, Part, PartBody, Prose, ToolPart, ToolState};
use serde_json::Value;

/// Numbers from here on are points in time (2001 and later), in milliseconds.
const FIRST_TIME: i64 = 1_000_000_000_000;
/// How many turns the timeline shows.
const TURNS: usize = 3;
/// The finding of a question that the server has lost.
const LOST: &str = "lost-ask";

pub(super) fn detail(app: &App, key: &SessionKey, now: UnixMs) -> Option<Detail> {
    let verdict = app.verdict(key)?;
    let server = app.store.server(key.server)?;
    let session = app.store.session(key)?;
    let judged = app
        .judgement()
        .servers
        .iter()
        .find(|v| v.server == key.server);
    let of_server: Vec<Finding> = judged
        .filter(|_| server.is_reachable())
        .map(|v| {
            v.findings
                .iter()
                .filter(|f| f.level > Level::Ok)
                .cloned()
                .collect()
        })
        .unwrap_or_default();
    let mut story = story(verdict, (server, &of_server), now, app.utc_offset);
    story.extend(lost(verdict, app));
    story.extend(log::newest(app, key));
    Some(Detail {
        head: head(session, server),
        story,
        timeline: timeline(session, server, now, app.utc_offset),
        tail: live_tail(session),
        rules: rules(app, key, now),
    })
}

/// What `explain` says of the rules; not worked out while only the head of the pane is seen.
fn rules(app: &App, key: &SessionKey, now: UnixMs) -> Vec<Line> {
    if !app.ui.detail_open {
        return Vec::new();
    }
    explanation(app, key, now)
        .map(|told| rule_lines(&told))
        .unwrap_or_default()
}

fn head(session: &Session, server: &Server) -> Line {
    let info = &session.info;
    let place = format!("{}:{}", server.spec.name, info.directory);
    let mut line = vec![
        Piece::new(rows::title(session), Tone::Strong),
        Piece::new(info.id.to_string(), Tone::Dim),
        Piece::new(clean(&place), Tone::Plain),
    ];
    let agent = info.agent.as_deref().map(clean);
    let model = words::model(info.model.as_ref());
    let who: Vec<String> = agent.into_iter().chain(model).collect();
    if !who.is_empty() {
        line.push(Piece::new(who.join(" · "), Tone::Plain));
    }
    let held = session.tail.messages.len();
    if session.tail.is_read() {
        let more = if session.tail.whole { "" } else { "last " };
        line.push(Piece::new(format!("{more}{held} messages"), Tone::Dim));
    }
    line.push(Piece::new(format!("${:.2}", info.cost), Tone::Dim));
    line
}

fn story(
    verdict: &Verdict,
    (server, server_findings): (&Server, &[Finding]),
    now: UnixMs,
    offset: Span,
) -> Vec<Line> {
    let mut lines = Vec::new();
    for finding in &verdict.findings {
        lines.push(headline(finding, offset));
        lines.push(evidence(finding, offset));
        if finding.level > Level::Ok && !finding.offers.is_empty() {
            let read_only = server.dialect == Some(Dialect::V2);
            let text = helps(&finding.offers, read_only);
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
        let mut rest = ask_lines(ask).into_iter();
        let mut first = vec![Piece::new(who, Tone::NeedsYou)];
        first.extend(rest.next().unwrap_or_default());
        lines.push(first);
        lines.extend(rest);
    }
    lines
}

/// What a question asked that the server has lost: a person can still read it.
fn lost(verdict: &Verdict, app: &App) -> Vec<Line> {
    if !verdict.findings.iter().any(|it| it.name == LOST) {
        return Vec::new();
    }
    let lost = answer::lost(&app.store, &verdict.key);
    let own = lost.into_iter().filter(|it| it.key == verdict.key);
    own.flat_map(|it| question_lines(&it.questions)).collect()
}

fn headline(finding: &Finding, offset: Span) -> Line {
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
fn helps(offers: &[Offer], read_only: bool) -> String {
    let words: Vec<&str> = offers
        .iter()
        .filter_map(|offer| match offer {
            Offer::Abort if read_only => Some("stop it in OpenCode"),
            Offer::Export if read_only => Some("export it in OpenCode"),
            Offer::Abort => Some("a abort"),
            Offer::Export => Some("e export"),
            Offer::Answer if read_only => Some("answer it in OpenCode"),
            Offer::Dismiss if read_only => Some("dismiss the ask in OpenCode"),
            Offer::Unrevert if read_only => Some("take back the revert in OpenCode"),
            Offer::Answer => Some("r reply"),
            Offer::Resend if !read_only => Some("s resend"),
            Offer::Continue if !read_only => Some("s continue"),
            Offer::Resend => Some("send a new prompt in OpenCode"),
            Offer::Wait => Some("wait"),
            Offer::Run => Some("run it in OpenCode"),
            Offer::Continue => Some("tell it to go on in OpenCode"),
            Offer::Dismiss => Some("d dismiss"),
            Offer::Fork if read_only => Some("fork before the broken turn in OpenCode"),
            Offer::Fork => Some("R fork before the broken turn"),
            Offer::Unrevert => Some("R take back the revert"),
            Offer::Reset if !read_only => Some("R reset"),
            Offer::Dispose | Offer::Reset => None,
        })
        .collect();
    format!("What helps: {}", words.join(" · "))
}

/// `Evidence: message msg_…, age 12 min`.
fn evidence(finding: &Finding, offset: Span) -> Line {
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

fn timeline(session: &Session, server: &Server, now: UnixMs, offset: Span) -> Vec<Line> {
    let messages = &session.tail.messages;
    let prompts: Vec<usize> = messages
        .iter()
        .enumerate()
        .filter(|(_, m)| m.is_user())
        .map(|(place, _)| place)
        .collect();
    let from = prompts.len().checked_sub(TURNS);
    let from = from.and_then(|n| prompts.get(n)).copied().unwrap_or(0);
    let now = server.server_time(now);
    let shown = messages.iter().skip(from);
    shown
        .flat_map(|message| message_lines(message, now, offset))
        .collect()
}

fn message_lines(message: &Message, now: UnixMs, offset: Span) -> Vec<Line> {
    let mut lines: Vec<Line> = message
        .parts
        .iter()
        .filter_map(|part| part_line(message, part, now, offset))
        .collect();
    if message.is_assistant() {
        if let Some(error) = &message.error {
            let text = clean(&format!("{}: {}", error.name, error.message));
            lines.push(entry(
                ended(message),
                "error",
                &text,
                None,
                "",
                Tone::Stuck,
                offset,
            ));
        } else if message.is_open() && message.parts.is_empty() {
            lines.push(entry(
                message.created,
                "answer",
                "begun, nothing in it yet",
                Some(now.since(message.created)),
                "",
                Tone::Dim,
                offset,
            ));
        }
    }
    lines
}

fn ended(message: &Message) -> UnixMs {
    message.completed.unwrap_or(message.created)
}

fn part_line(message: &Message, part: &Part, now: UnixMs, offset: Span) -> Option<Line> {
    match &part.body {
        PartBody::Text(prose) => Some(prose_line(message, prose, "answer", now, offset)),
        PartBody::Reasoning(prose) => Some(prose_line(message, prose, "thought", now, offset)),
        PartBody::Tool(tool) => Some(tool_line(message, tool, now, offset)),
        PartBody::Compaction => Some(entry(
            message.created,
            "compact",
            "",
            None,
            "",
            Tone::Dim,
            offset,
        )),
        _ => None,
    }
}

fn prose_line(message: &Message, prose: &Prose, who: &str, now: UnixMs, offset: Span) -> Line {
    let at = prose.start.unwrap_or(message.created);
    if message.is_user() {
        let who = if prose.synthetic { "server" } else { "you" };
        return entry(
            at,
            who,
            &quoted(&prose.excerpt),
            None,
            "",
            Tone::Plain,
            offset,
        );
    }
    if let (Some(start), None) = (prose.start, prose.end) {
        entry(
            at,
            who,
            "…",
            Some(now.since(start)),
            "open",
            Tone::Working,
            offset,
        )
    } else {
        let finish = message.finish.as_deref().unwrap_or_default();
        entry(
            at,
            who,
            &quoted(&prose.excerpt),
            None,
            finish,
            Tone::Plain,
            offset,
        )
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", clean(text).trim())
}

fn tool_line(message: &Message, tool: &ToolPart, now: UnixMs, offset: Span) -> Line {
    let at = tool.start.unwrap_or(message.created);
    let (span, word, tone) = match &tool.state {
        ToolState::Pending => (None, "writing arguments", Tone::Working),
        ToolState::Running => (tool.start.map(|s| now.since(s)), "running", Tone::Working),
        ToolState::Completed => (took(tool), "ok", Tone::Plain),
        ToolState::Error => (took(tool), "error", Tone::Watch),
        ToolState::Other(name) => (took(tool), name.as_str(), Tone::Dim),
    };
    entry(
        at,
        &clean(&tool.tool),
        &clean(&tool.subject),
        span,
        &clean(word),
        tone,
        offset,
    )
}

fn took(tool: &ToolPart) -> Option<Span> {
    Some(tool.end?.since(tool.start?))
}

/// `13:41:12 bash     ./index.sh   4m02  ok`.
fn entry(
    at: UnixMs,
    who: &str,
    what: &str,
    span: Option<Span>,
    state: &str,
    tone: Tone,
    offset: Span,
) -> Line {
    let mut line = vec![
        Piece::new(words::clock(at, offset), Tone::Dim),
        Piece::new(format!("{who:<9}"), Tone::Strong),
        Piece::new(what, Tone::Plain),
    ];
    if let Some(span) = span {
        line.push(Piece::new(span.short(), tone));
    }
    if !state.is_empty() {
        line.push(Piece::new(state, tone));
    }
    line
}

/// The last lines of what streams now.
fn live_tail(session: &Session) -> Vec<Line> {
    let Some((_, text)) = &session.tail.live else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(3);
    let last = lines.iter().skip(from);
    last.map(|line| vec![Piece::new(clean(line), Tone::Dim)])
        .collect()
}
