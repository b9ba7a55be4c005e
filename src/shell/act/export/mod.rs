//! Export: a session with all its messages as a file, or with its subagents as a folder.
//!
//! What it does: read the session and its messages in pages, newest first, into a file without a
//! name (`spool`); write them oldest first, one at a time, as JSON or Markdown, redacted or not
//! (`write`); give the result its name last (`place`). [`family`] does so for a session and all of its
//! subagents. Invariants: what is there is there whole; nothing is overwritten unless told; memory
//! does not grow with the session; the file can be read by its owner only; no name of a server's
//! leaves the directory; a killed run leaves nothing but what the next one clears (`temp`).

mod family;
mod place;
mod spool;
mod temp;
mod write;

pub use family::{Family, FamilyRequest, export_family};
pub use place::Place;
pub(in crate::shell) use temp::file_in;

use crate::core::export::Format;
use crate::core::id::SessionId;
use crate::net::client::{Client, ClientError};
use std::fs::DirBuilder;
use std::io::{self, BufWriter, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Fits after "failed to export …: ".
#[derive(Debug, Error)]
pub enum ExportError {
    /// The server did not give it.
    #[error("{0}")]
    Read(#[from] ClientError),
    /// What the server gave cannot be joined.
    #[error("the answer is not a list of messages: {0}")]
    Shape(String),
    /// The file cannot be written.
    #[error("{}: {why}", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// There is such a file or folder already.
    #[error("{} exists (use --force to replace it)", .0.display())]
    Exists(PathBuf),
    /// A device, a pipe or a folder is not replaced by a file.
    #[error("{} is not a regular file (-o - writes to stdout)", .0.display())]
    Special(PathBuf),
    /// Nothing is deleted that no export wrote.
    #[error("{} holds more than an export: it is not replaced", .0.display())]
    Foreign(PathBuf),
    /// The task that did it was ended.
    #[error("it was interrupted")]
    Interrupted,
}

impl ExportError {
    /// The reader of the output has gone.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, ExportError::Write { why, .. } if why.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// For programs or for people.
    pub format: Format,
    /// Without what is private.
    pub sanitize: bool,
}

/// What is wanted of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Where to.
    pub place: Place,
    /// How it looks.
    pub style: Style,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Messages that were read.
    pub messages: u64,
    /// Bytes that they took.
    pub bytes: u64,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Where.
    pub path: PathBuf,
    /// How many messages.
    pub messages: u64,
    /// Size of the file.
    pub bytes: u64,
}

/// Writes a session to its place, as JSON.
pub async fn export(
    client: &Client,
    session: &SessionId,
    place: Place,
) -> Result<Exported, ExportError> {
    let style = Style::default();
    export_with(client, session, Request { place, style }, |_| {}).await
}

/// Writes a session to the next free name of a directory, as JSON; a directory that is not there is
/// made for its owner only.
pub async fn export_into(
    client: &Client,
    session: &SessionId,
    dir: &Path,
) -> Result<Exported, ExportError> {
    let mut builder = DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(dir);
    made.map_err(at(dir))?;
    export(client, session, Place::NextFree(dir.to_owned())).await
}

/// Writes a session to its place, and tells how far it has come.
pub async fn export_with(
    client: &Client,
    session: &SessionId,
    request: Request,
    progress: impl FnMut(Progress),
) -> Result<Exported, ExportError> {
    let Request { place, style } = request;
    place.check()?;
    let dir = place.directory();
    temp::clear(&dir);
    let read = spool::read(client, session, &dir, progress).await?;
    let stem = crate::core::export::names::stem(session);
    blocking(move || {
        let written = write::to_file(&read, style, &dir)?;
        let path = place.take(written.file, &stem, style.format.extension())?;
        place::sync(&dir);
        Ok(Exported {
            path,
            messages: written.tally.messages,
            bytes: written.tally.bytes,
        })
    })
    .await
}

/// Writes a session to a stream; nothing is written before all of it was read and checked.
pub async fn export_to(
    client: &Client,
    session: &SessionId,
    style: Style,
    out: &mut impl Write,
    progress: impl FnMut(Progress),
) -> Result<u64, ExportError> {
    let dir = std::env::temp_dir();
    let read = spool::read(client, session, &dir, progress).await?;
    let (mut file, tally) = blocking(move || {
        let file = tempfile::tempfile_in(&dir).map_err(at(&dir))?;
        let mut file = BufWriter::new(file);
        let tally = write::to(&read, style, &mut file)?;
        let file = file.into_inner();
        Ok((file.map_err(|why| at(&dir)(why.into_error()))?, tally))
    })
    .await?;
    let failed = at(Path::new("stdout"));
    file.rewind().map_err(&failed)?;
    io::copy(&mut file, out).map_err(&failed)?;
    out.flush().map_err(&failed)?;
    Ok(tally.messages)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ExportError> + Send + 'static,
) -> Result<T, ExportError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or(Err(ExportError::Interrupted))
}

fn at(path: &Path) -> impl Fn(io::Error) -> ExportError + use<> {
    let path = path.to_owned();
    move |why| ExportError::Write {
        path: path.clone(),
        why,
    }
}
