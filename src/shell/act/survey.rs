//! Reads a session and all that lies below it afresh: what a reset is planned and proven from.
//!
//! What it does: rows, run state, asks and every message of the family. What it does not: believe
//! anything that was known before, but for the ids of subagents (an older server lists none). Memory:
//! the ids of all messages and the newest [`TRAIL`](crate::core::plan::survey::TRAIL), page by page.

use crate::core::id::{Directory, SessionId};
use crate::core::plan::reset::Subject;
use crate::core::plan::survey::{Neighbour, Survey, Surveyed};
use crate::core::wire::v1::Decoded;
use crate::core::wire::{Ask, SessionInfo, Status};
use crate::net::client::{Client, ClientError};
use crate::shell::act::patient;
use std::collections::{BTreeMap, BTreeSet};

/// Messages per request.
const PAGE: usize = 100;
/// A family with more sessions, or a session with more pages, does not end.
const MANY: usize = 10_000;

/// Reads it all.
pub async fn survey(client: &Client, subject: &Subject) -> Result<Survey, ClientError> {
    let mut rows = family(client, subject).await?;
    let mut survey = Survey::default();
    let places: BTreeSet<Directory> = rows.iter().map(|row| row.directory.clone()).collect();
    for directory in &places {
        place(client, directory, &mut rows, &mut survey.neighbours).await?;
    }
    let heard = subject.known_asks.iter();
    let unread = |ask: &&Ask| {
        let row = rows.iter().find(|row| row.session == ask.session);
        row.is_some_and(|row| row.asks_unread.is_some())
    };
    let heard: Vec<Ask> = heard.filter(unread).cloned().collect();
    hand_out(heard, &mut rows);
    for row in rows.iter_mut().filter(|row| !row.gone) {
        messages(client, row).await?;
    }
    survey.rows = rows;
    name(client, &mut survey.neighbours).await;
    Ok(survey)
}

/// The session and its descendants, nearest first.
async fn family(client: &Client, subject: &Subject) -> Result<Vec<Surveyed>, ClientError> {
    let root = match patient(|| client.session(&subject.session, Some(&subject.directory))).await {
        Ok(info) => surveyed(&info),
        Err(ClientError::Status { code: 404, .. }) => gone(subject),
        Err(why) => return Err(why),
    };
    let mut rows = vec![root];
    let mut met = BTreeSet::from([subject.session.clone()]);
    let mut next = 0;
    while let Some(row) = rows.get(next).filter(|_| rows.len() < MANY) {
        next += 1;
        if row.gone {
            continue;
        }
        let (id, directory) = (row.session.clone(), row.directory.clone());
        for info in children(client, &id, &directory).await? {
            if met.insert(info.id.clone()) {
                rows.push(surveyed(&info));
            }
        }
    }
    for id in &subject.known_below {
        if !met.insert(id.clone()) {
            continue;
        }
        match patient(|| client.session(id, Some(&subject.directory))).await {
            Ok(info) => rows.push(surveyed(&info)),
            Err(ClientError::Status { code: 404, .. }) => {}
            Err(why) => return Err(why),
        }
    }
    Ok(rows)
}

async fn children(
    client: &Client,
    of: &SessionId,
    directory: &Directory,
) -> Result<Vec<SessionInfo>, ClientError> {
    match patient(|| client.children(of, Some(directory))).await {
        Ok(rows) => Ok(whole(rows, "a session row")?),
        Err(why) if why.is_missing() => Ok(Vec::new()),
        Err(ClientError::Status { code: 404, .. }) => Ok(Vec::new()),
        Err(why) => Err(why),
    }
}

/// What did not decode could be what matters here.
fn whole<T>(read: Decoded<T>, what: &str) -> Result<T, ClientError> {
    if read.skipped == 0 {
        return Ok(read.items);
    }
    Err(ClientError::Status {
        code: 200,
        message: Some(format!("{what} that cannot be understood")),
    })
}

fn surveyed(info: &SessionInfo) -> Surveyed {
    Surveyed {
        session: info.id.clone(),
        title: info.title.clone(),
        directory: info.directory.clone(),
        gone: false,
        reverted: info.reverted,
        ..empty()
    }
}

fn gone(subject: &Subject) -> Surveyed {
    Surveyed {
        session: subject.session.clone(),
        title: subject.title.clone(),
        directory: subject.directory.clone(),
        gone: true,
        ..empty()
    }
}

fn empty() -> Surveyed {
    Surveyed {
        session: "".into(),
        title: String::new(),
        directory: "".into(),
        gone: false,
        running: None,
        asks: Vec::new(),
        asks_unread: None,
        roll: crate::core::plan::survey::Roll::default(),
        broken: Vec::new(),
        trail: Vec::new(),
        reverted: false,
        unread: 0,
    }
}

/// Run state and asks of one directory.
async fn place(
    client: &Client,
    directory: &Directory,
    rows: &mut [Surveyed],
    neighbours: &mut Vec<Neighbour>,
) -> Result<(), ClientError> {
    let status = patient(|| client.status(Some(directory))).await?;
    let status = whole(status, "a status entry")?;
    let questions = patient(|| client.questions(Some(directory))).await;
    let permissions = patient(|| client.permissions(Some(directory))).await;
    for (id, status) in &status {
        let Some(word) = word(status) else { continue };
        match rows.iter_mut().find(|row| row.session == *id) {
            Some(row) => row.running = Some(word),
            None => neighbours.push(Neighbour {
                session: id.clone(),
                title: None,
                directory: directory.clone(),
            }),
        }
    }
    for read in [questions, permissions] {
        let told = match read {
            Ok(read) => whole(read, "an ask"),
            Err(why) => Err(why),
        };
        match told {
            Ok(asks) => hand_out(asks, rows),
            // Servers before 1.1 have no such list, and ask nothing.
            Err(why) if why.is_missing() => {}
            Err(why @ ClientError::Status { .. }) => {
                let here = rows.iter_mut().filter(|row| row.directory == *directory);
                here.for_each(|row| row.asks_unread = Some(why.to_string()));
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

fn hand_out(asks: Vec<Ask>, rows: &mut [Surveyed]) {
    for ask in asks {
        let of = |row: &&mut Surveyed| {
            row.session == ask.session && row.asks.iter().all(|it| it.id != ask.id)
        };
        if let Some(row) = rows.iter_mut().find(of) {
            row.asks.push(ask);
        }
    }
}

fn word(status: &Status) -> Option<String> {
    match status {
        Status::Idle => None,
        Status::Busy => Some("busy".to_owned()),
        Status::Retry(_) => Some("retry".to_owned()),
        Status::Other(name) => Some(name.clone()),
    }
}

/// All messages, page by page.
async fn messages(client: &Client, row: &mut Surveyed) -> Result<(), ClientError> {
    let mut before: Option<String> = None;
    let mut older: Vec<Vec<_>> = Vec::new();
    let mut limit = PAGE;
    for _ in 0..MANY {
        let page = || client.messages_page(&row.session, limit, before.as_deref());
        let page = patient(page).await;
        let page = match page {
            Err(ClientError::Status { code: 404, .. }) => {
                row.gone = true;
                return Ok(());
            }
            other => other?,
        };
        let rows = &page.messages.rows;
        if limit > 0 && page.next.is_none() && rows.items.len() + rows.skipped >= limit {
            // A full page and no cursor: a server before 1.2, which gives all or the newest only.
            limit = 0;
            continue;
        }
        row.unread += page.messages.rows.skipped;
        let begin = row.roll.0.len();
        for message in page.messages.rows.items {
            row.add(message);
        }
        row.close();
        older.push(row.roll.0.split_off(begin));
        if page.next.is_none() || page.next == before {
            break;
        }
        before = page.next;
    }
    row.roll.0 = older.into_iter().rev().flatten().collect();
    Ok(())
}

/// Titles of the others, where they can be had: who is deleted has none.
async fn name(client: &Client, neighbours: &mut [Neighbour]) {
    let mut titles = BTreeMap::new();
    for other in neighbours.iter() {
        if let Ok(info) = client.session(&other.session, Some(&other.directory)).await {
            titles.insert(other.session.clone(), info.title);
        }
    }
    for other in neighbours {
        other.title = titles.remove(&other.session);
    }
}
