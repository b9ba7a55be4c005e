//! `ocwatch answer`: say something to an ask, verified; without a flag, show what is asked.
//!
//! What it does: find the ask, print it with the commands that would answer it, or send one answer.
//! What it does not: ask back: the flags say it all. Its exit codes: 0 it is off the list; 1 nothing
//! is asked, nobody waits, or it was answered meanwhile; 2 the flags do not fit what is asked, or
//! there are none.

use super::{client, locate, may_act, read_again, read_session, report, say};
use crate::core::id::SessionKey;
use crate::core::plan::Plan;
use crate::core::plan::answer::{self as asks, LostQuestion, Refusal, Waiting, Wish};
use crate::core::present::{Line, Piece, Tone, ask_lines, clean};
use crate::core::store::Store;
use crate::core::wire::AskKind;
use crate::net::client::Client;
use crate::shell::act::abort::Patience;
use crate::shell::act::answer::answer;
use crate::shell::audit::{About, Acted, Audit, Entry, recorded};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::print;
use crate::shell::session_ref::Purpose;
use crate::shell::snapshot::Snapshot;
use crate::tui::{Theme, safe};
use std::io::Write;

/// What was asked for.
#[derive(Debug)]
pub struct AnswerWish<'a> {
    /// The session that asks, or one above it.
    pub session: &'a str,
    /// Which ask, by the beginning of its id.
    pub ask: Option<&'a str>,
    /// What to say; `None`: show what is asked.
    pub wish: Option<Wish>,
    /// Only print what would be done.
    pub dry_run: bool,
    /// The server was named: the commands that are shown name it too.
    pub named_server: bool,
    /// Coloured text.
    pub color: bool,
}

/// `ocwatch answer`. What cannot be recorded is not done.
pub async fn answer_one(
    mut snapshot: Snapshot,
    clients: &[Client],
    wanted: AnswerWish<'_>,
    audit: &Audit,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let key = locate(&mut snapshot, wanted.session, Purpose::Act).await?;
    if snapshot.app.is_asleep(&key) {
        read_session(&mut snapshot, &key).await;
    }
    let store = &snapshot.app.store;
    let may_act = may_act(&snapshot, &key);
    let Some(wish) = &wanted.wish else {
        let lines = shown(store, &key, &wanted, may_act.is_ok());
        let lines = lines.map_err(|it| trouble(&it, store))?;
        print::lines(out, &lines, wanted.color, &snapshot.theme)?;
        may_act?;
        say("say how it is to be answered", &snapshot.theme);
        return Ok(Exit::Usage);
    };
    may_act?;
    let picked = asks::pick(store, &key, wanted.ask, wish);
    let plan = picked.and_then(|it| asks::answer(&it, wish));
    let plan = plan.map_err(|it| trouble(&it, store))?;
    let text = planned(&plan, &snapshot.theme);
    if wanted.dry_run {
        out.write_all(text.as_bytes())?;
        return Ok(Exit::Done);
    }
    // As with all that is said: if nobody reads it, that is no error.
    std::io::stderr().write_all(text.as_bytes()).ok();
    let client = client(clients, &key)?;
    let entry = Entry::of(&snapshot.app, &plan);
    let about = About::of_answer(&plan);
    let work = async {
        let outcome = answer(client, &plan, Patience::default()).await;
        let after = read_again(&mut snapshot, &about).await;
        Acted { outcome, after }
    };
    let done = recorded(audit, entry, work).await;
    report(out, &snapshot, &plan.key, "answer", &done)
}

/// What will be done: said before it is done.
fn planned(plan: &Plan, theme: &Theme) -> String {
    let mut text = format!(
        "Answer \"{}\" ({})\n",
        safe(&plan.title, theme),
        safe(plan.key.session.as_str(), theme)
    );
    for line in &plan.lines {
        text.extend(["  ", &safe(line, theme), "\n"]);
    }
    text
}

/// A refusal with the flags that would do instead.
fn trouble(refusal: &Refusal, store: &Store) -> Trouble {
    let words = refusal.to_string();
    let text = match refusal {
        Refusal::Ghost => format!("{words}: --dismiss"),
        Refusal::Alive => format!("{words}: --reject"),
        Refusal::Wrong(_) => format!("{words}; --answer takes words of your own"),
        Refusal::Several(all) => {
            let each: Vec<String> = all.iter().map(one_line).collect();
            format!("{words}, name one with --ask: {}", each.join("; "))
        }
        Refusal::Lost(all) => {
            let each: Vec<String> = all.iter().map(|it| lost_line(it, store)).collect();
            format!("{words}: {}", each.join("; "))
        }
        _ => words,
    };
    if refusal.is_usage() {
        Trouble::Usage(text)
    } else {
        Trouble::Failed(text)
    }
}

fn one_line(waiting: &Waiting) -> String {
    let gone = if waiting.ghost { " (nobody waits)" } else { "" };
    let text = format!(
        "{} in \"{}\": {}{gone}",
        waiting.ask.id,
        waiting.title,
        waiting.ask.text()
    );
    clean(&text)
}

/// The options stand in the part still: a person can tell them to the agent in a new prompt.
fn lost_line(lost: &LostQuestion, store: &Store) -> String {
    let labels = |question: &crate::core::wire::Question| {
        let labels: Vec<&str> = question
            .options
            .iter()
            .map(|it| it.label.as_str())
            .collect();
        format!("{} [{}]", question.question, labels.join(", "))
    };
    let asked: Vec<String> = lost.questions.iter().map(labels).collect();
    let name = named(store, &lost.key);
    clean(&format!("{}: ocwatch abort {name}", asked.join("; ")))
}

/// How a command names a session: with its server where there are several.
fn named(store: &Store, key: &SessionKey) -> String {
    let several = store.servers().nth(1).is_some();
    match store.server(key.server).filter(|_| several) {
        Some(server) => format!("{}/{}", server.spec.name, key.session),
        None => key.session.to_string(),
    }
}

/// What is asked, each with the commands that answer it.
fn shown(
    store: &Store,
    key: &SessionKey,
    wanted: &AnswerWish,
    commands: bool,
) -> Result<Vec<Line>, Refusal> {
    let mut all = asks::waiting(store, key);
    if let Some(named) = wanted.ask {
        all.retain(|it| it.ask.id.as_str().starts_with(named));
    }
    let lost = asks::lost(store, key);
    if all.is_empty() {
        return Err(match wanted.ask {
            Some(named) => Refusal::NoSuch(named.to_owned()),
            None if lost.is_empty() => Refusal::Nothing,
            None => Refusal::Lost(lost),
        });
    }
    let mut lines = Vec::new();
    for waiting in &all {
        let name = named(store, &waiting.key);
        lines.push(vec![
            Piece::new(clean(waiting.ask.id.as_str()), Tone::Key),
            Piece::new(
                clean(&format!("  \"{}\" {name}", waiting.title)),
                Tone::Plain,
            ),
        ]);
        lines.extend(ask_lines(&waiting.ask).into_iter().map(indented));
        let command = command(store, waiting, wanted.named_server);
        let flags = flags(waiting).into_iter().filter(|_| commands);
        lines.extend(flags.map(|flag| vec![plain(&format!("  {command} {flag}"))]));
    }
    Ok(lines)
}

/// What answers this ask, but for how.
fn command(store: &Store, waiting: &Waiting, named_server: bool) -> String {
    let name = named(store, &waiting.key);
    let spec = store.server(waiting.key.server).map(|it| &it.spec);
    let server = spec.filter(|_| named_server).map(|spec| {
        let by_address = spec.url.contains(&spec.name);
        let server = if by_address { &spec.url } else { &spec.name };
        format!(" --server {server}")
    });
    let server = server.unwrap_or_default();
    clean(&format!(
        "ocwatch answer {name}{server} --ask {}",
        waiting.ask.id
    ))
}

fn plain(text: &str) -> Piece {
    Piece::new(text, Tone::Plain)
}

fn indented(mut line: Line) -> Line {
    line.insert(0, plain("  "));
    line
}

/// The flags that fit this ask.
fn flags(waiting: &Waiting) -> Vec<String> {
    let fixed = |flags: &[&str]| flags.iter().map(|it| (*it).to_owned()).collect();
    match waiting.ask.kind {
        _ if waiting.ghost => fixed(&["--dismiss"]),
        AskKind::Permission => fixed(&["--once", "--always", "--reject", "--reject \"WHY\""]),
        AskKind::Question => {
            let several = waiting.ask.questions.len() > 1;
            let mut choose = Vec::new();
            for (place, question) in waiting.ask.questions.iter().enumerate() {
                let number = if several {
                    format!("{}=", place + 1)
                } else {
                    String::new()
                };
                let flag = match question.options.first() {
                    Some(option) => format!("--choose {}", quoted(&number, &option.label)),
                    None => format!("--answer {number}TEXT"),
                };
                choose.push(flag);
            }
            vec![choose.join(" "), "--answer TEXT".into(), "--reject".into()]
        }
    }
}

/// As a shell takes it.
fn quoted(number: &str, label: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let label = clean(label);
    if !label.is_empty() && label.chars().all(plain) {
        return format!("{number}{label}");
    }
    format!("{number}'{}'", label.replace('\'', "'\\''"))
}
