//! A session and all of its subagents, each a file of one folder, with an index.
//!
//! What it does: ask the server for the children of each, join them with those that its list names,
//! write each as its own export, then the index, then give the folder its name. Invariant: the
//! folder is there whole or not at all.

use super::{ExportError, Progress, Style, at, blocking, place, spool, temp, write};
use crate::core::export::Format;
use crate::core::export::index::{Entry, Index, JSON_NAME, MARKDOWN_NAME, SCHEMA};
use crate::core::export::names::Names;
use crate::core::id::SessionId;
use crate::net::client::{Client, ClientError};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What is wanted of a session and its subagents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRequest {
    /// The folder.
    pub folder: PathBuf,
    /// Replace it if it is an export.
    pub force: bool,
    /// How each looks.
    pub style: Style,
    /// Children that the session list named, by parent.
    pub known: BTreeMap<SessionId, Vec<SessionId>>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The folder.
    pub path: PathBuf,
    /// How many sessions.
    pub sessions: usize,
    /// How many messages in all.
    pub messages: u64,
}

/// Writes a session and all of its subagents into a folder, and tells how far it has come.
pub async fn export_family(
    client: &Client,
    root: &SessionId,
    request: FamilyRequest,
    mut progress: impl FnMut(Progress),
) -> Result<Family, ExportError> {
    place::check_folder(&request.folder, request.force)?;
    let outer = place::parent(&request.folder);
    temp::clear(&outer);
    let folder = temp::folder_in(&outer).map_err(at(&outer))?;
    let inside = folder.dir.path().to_owned();
    let own = Index::own_names(request.style.format);
    let mut names = Names::taken(own.iter().copied());
    let mut queue = VecDeque::from([root.clone()]);
    let mut seen: BTreeSet<SessionId> = queue.iter().cloned().collect();
    let mut entries: Vec<Entry> = Vec::new();
    let mut sum = Progress::default();
    while let Some(session) = queue.pop_front() {
        let mut last = sum;
        let read = spool::read(client, &session, &inside, |one| {
            last = Progress {
                messages: sum.messages + one.messages,
                bytes: sum.bytes + one.bytes,
            };
            progress(last);
        });
        let read = match read.await {
            // It was deleted meanwhile: it is none of them any more.
            Err(ExportError::Read(why)) if why.is_not_found() && session != *root => continue,
            read => read?,
        };
        sum = last;
        // After its messages, so that a subagent that they name is among them.
        let children = children(client, &session, &request.known).await?;
        queue.extend(children.into_iter().filter(|it| seen.insert(it.clone())));
        let file = names.give(&session, request.style.format.extension());
        entries.push(one(read, &session, &inside, file, request.style).await?);
    }
    finish(folder, request, entries).await
}

/// Writes one of them.
async fn one(
    read: spool::Spooled,
    session: &SessionId,
    inside: &Path,
    file: String,
    style: Style,
) -> Result<Entry, ExportError> {
    let (inside, id) = (inside.to_owned(), session.to_string());
    blocking(move || {
        let path = inside.join(&file);
        let written = write::to_file(&read, style, &inside)?;
        let done = written.file.persist_noclobber(&path);
        done.map_err(|why| at(&path)(why.error))?;
        let tally = written.tally;
        Ok(Entry {
            id,
            title: tally.title,
            parent: tally.parent,
            file,
            messages: tally.messages,
            bytes: tally.bytes,
        })
    })
    .await
}

/// All that the server and its list know. An old server without the endpoint has only its list.
async fn children(
    client: &Client,
    session: &SessionId,
    known: &BTreeMap<SessionId, Vec<SessionId>>,
) -> Result<Vec<SessionId>, ExportError> {
    let mut all = match client.children(session, None).await {
        Ok(rows) if rows.skipped > 0 => {
            let why = rows.why.unwrap_or_default();
            let text = format!("a subagent of it cannot be read: {why}");
            return Err(ExportError::Shape(text));
        }
        Ok(rows) => rows.items.into_iter().map(|row| row.id).collect(),
        Err(why) if has_no_such_endpoint(&why) => Vec::new(),
        Err(why) => return Err(why.into()),
    };
    all.extend(known.get(session).into_iter().flatten().cloned());
    Ok(all)
}

fn has_no_such_endpoint(why: &ClientError) -> bool {
    matches!(why, ClientError::ContentType { .. })
        || matches!(why.status(), Some(404 | 405 | 501) if !why.is_not_found())
}

async fn finish(
    folder: temp::Folder,
    request: FamilyRequest,
    sessions: Vec<Entry>,
) -> Result<Family, ExportError> {
    blocking(move || {
        let index = Index {
            schema: SCHEMA.to_owned(),
            sanitized: request.style.sanitize,
            sessions,
        };
        let inside = folder.dir.path();
        let json = serde_json::to_string_pretty(&index);
        let json = json.map_err(|why| ExportError::Shape(why.to_string()))?;
        write_whole(&inside.join(JSON_NAME), &format!("{json}\n"))?;
        if request.style.format == Format::Markdown {
            write_whole(&inside.join(MARKDOWN_NAME), &index.markdown())?;
        }
        place::sync(inside);
        place::take_folder(inside, &request.folder, request.force)?;
        place::sync(&place::parent(&request.folder));
        Ok(Family {
            path: request.folder,
            sessions: index.sessions.len(),
            messages: index.sessions.iter().map(|it| it.messages).sum(),
        })
    })
    .await
}

fn write_whole(path: &Path, text: &str) -> Result<(), ExportError> {
    let file = File::create_new(path);
    let written = file.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(at(path))
}
