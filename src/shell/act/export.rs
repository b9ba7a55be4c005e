//! Export: a session with all its messages into one file that `opencode import` takes.
//!
//! What it does: read the session and its messages in pages, newest first, each kept as a temporary
//! file; join them ascending; check that the whole is JSON; give it its name last. Invariants: a
//! file is there whole or not at all; nothing is overwritten unless told; memory does not grow with
//! the session; the file can be read by its owner only; no name of a server's leaves the directory.

use crate::core::id::SessionId;
use crate::net::client::{Client, ClientError};
use serde::Deserialize;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use thiserror::Error;

/// Messages per request.
const PAGE: usize = 100;
/// A transcript with more pages than this does not end.
const MAX_PAGES: usize = 100_000;
/// How many names are tried in the dashboard.
const MAX_NAMES: u32 = 10_000;

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
    /// There is such a file already.
    #[error("{} exists (use --force to replace it)", .0.display())]
    Exists(PathBuf),
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

/// What a file may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Exactly this; replaced only if `force`.
    Exactly {
        /// Which.
        path: PathBuf,
        /// Replace what is there.
        force: bool,
    },
    /// `<id>.json` in this directory, or the next free `<id>-2.json`.
    NextFree(PathBuf),
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

/// Writes a session to its place.
pub async fn export(
    client: &Client,
    session: &SessionId,
    place: Place,
) -> Result<Exported, ExportError> {
    if let Place::Exactly { path, force: false } = &place
        && path.exists()
    {
        return Err(ExportError::Exists(path.clone()));
    }
    let dir = directory_of(&place);
    let (file, messages, bytes) = gather(client, session, &dir).await?;
    let name = file_name(session);
    let path = blocking(move || persist(file, place, &name)).await?;
    Ok(Exported {
        path,
        messages,
        bytes,
    })
}

/// Writes a session to a stream; nothing is written before all of it was read and checked.
pub async fn export_to(
    client: &Client,
    session: &SessionId,
    out: &mut impl Write,
) -> Result<u64, ExportError> {
    let dir = std::env::temp_dir();
    let (file, messages, _) = gather(client, session, &dir).await?;
    let failed = at(Path::new("stdout"));
    let mut file = file.reopen().map_err(&failed)?;
    io::copy(&mut file, out).map_err(&failed)?;
    out.flush().map_err(&failed)?;
    Ok(messages)
}

/// `<id>.json`, with every character that could mean something to a file system replaced.
pub fn file_name(session: &SessionId) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let stem: String = session
        .as_str()
        .chars()
        .take(100)
        .map(|c| if safe(c) { c } else { '_' })
        .collect();
    format!("{stem}.json")
}

fn directory_of(place: &Place) -> PathBuf {
    let dir = match place {
        Place::Exactly { path, .. } => path.parent().unwrap_or(Path::new("")),
        Place::NextFree(dir) => dir,
    };
    if dir.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        dir.to_owned()
    }
}

async fn gather(
    client: &Client,
    session: &SessionId,
    dir: &Path,
) -> Result<(NamedTempFile, u64, u64), ExportError> {
    let info = client.session_raw(session).await?;
    let mut pages = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let (page, next) = fetch(client, session, before.as_deref(), dir).await?;
        pages.push(page);
        if next.is_none() || next == before {
            break;
        }
        if pages.len() >= MAX_PAGES {
            return Err(ExportError::Shape("its pages do not end".to_owned()));
        }
        before = next;
    }
    let dir = dir.to_owned();
    blocking(move || join(&info, pages, &dir)).await
}

async fn fetch(
    client: &Client,
    session: &SessionId,
    before: Option<&str>,
    dir: &Path,
) -> Result<(File, Option<String>), ExportError> {
    let failed = at(dir);
    let mut page = client.messages_page_raw(session, PAGE, before).await?;
    let mut file = tempfile::tempfile_in(dir).map_err(&failed)?;
    while let Some(chunk) = page.body.chunk().await? {
        file.write_all(&chunk).map_err(&failed)?;
    }
    Ok((file, page.next))
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

/// Joins the pages, oldest (the last read) first, and checks the whole.
fn join(
    info: &[u8],
    pages: Vec<File>,
    dir: &Path,
) -> Result<(NamedTempFile, u64, u64), ExportError> {
    let failed = at(dir);
    let file = NamedTempFile::new_in(dir).map_err(&failed)?;
    let mut out = BufWriter::new(file);
    for piece in [b"{\"info\":", info.trim_ascii(), b",\"messages\":[\n"] {
        out.write_all(piece).map_err(&failed)?;
    }
    let mut first = true;
    for mut page in pages.into_iter().rev() {
        let (from, length) = inside(&mut page)
            .map_err(&failed)?
            .ok_or_else(|| ExportError::Shape("a page of messages is not a list".to_owned()))?;
        if length == 0 {
            continue;
        }
        if !std::mem::take(&mut first) {
            out.write_all(b",\n").map_err(&failed)?;
        }
        page.seek(SeekFrom::Start(from)).map_err(&failed)?;
        io::copy(&mut page.take(length), &mut out).map_err(&failed)?;
    }
    out.write_all(b"\n]}\n").map_err(&failed)?;
    let file = out.into_inner().map_err(|why| failed(why.into_error()))?;
    file.as_file().sync_all().map_err(&failed)?;
    let bytes = file.as_file().metadata().map_err(&failed)?.len();
    let messages = check(file.path())?;
    Ok((file, messages, bytes))
}

/// Where the elements of a JSON list stand in a file: offset and length, 0 if it is empty; `None`:
/// it is no list. What is between the brackets is checked when the whole is.
fn inside(page: &mut File) -> io::Result<Option<(u64, u64)>> {
    let end = page.seek(SeekFrom::End(0))?;
    let Some((open, b'[')) = solid(page, 0..end)? else {
        return Ok(None);
    };
    let Some((close, b']')) = solid(page, (open + 1..end).rev())? else {
        return Ok(None);
    };
    let holds = solid(page, open + 1..close)?.is_some();
    let length = if holds { close - open - 1 } else { 0 };
    Ok(Some((open + 1, length)))
}

/// The first byte at these places that is not white space.
fn solid(page: &mut File, places: impl Iterator<Item = u64>) -> io::Result<Option<(u64, u8)>> {
    for place in places {
        let mut byte = [0];
        page.seek(SeekFrom::Start(place))?;
        page.read_exact(&mut byte)?;
        if !byte[0].is_ascii_whitespace() {
            return Ok(Some((place, byte[0])));
        }
    }
    Ok(None)
}

/// Reads the file once more: it must be JSON of the right shape. Gives the number of messages.
fn check(path: &Path) -> Result<u64, ExportError> {
    let file = File::open(path).map_err(at(path))?;
    let whole: Whole = serde_json::from_reader(BufReader::new(file))
        .map_err(|why| ExportError::Shape(why.to_string()))?;
    Ok(whole.messages.0)
}

#[derive(Deserialize)]
struct Whole {
    #[serde(rename = "info")]
    _info: serde_json::Map<String, serde_json::Value>,
    messages: Count,
}

/// A list of which only the length is kept.
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Counter;
        impl<'de> Visitor<'de> for Counter {
            type Value = Count;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of messages")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Count, A::Error> {
                let mut count = 0;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Count(count))
            }
        }
        from.deserialize_seq(Counter)
    }
}

/// Gives the file its name, as the last step.
fn persist(file: NamedTempFile, place: Place, name: &str) -> Result<PathBuf, ExportError> {
    match place {
        Place::Exactly { path, force: true } => {
            let done = file.persist(&path);
            done.map_err(|why| at(&path)(why.error))?;
            Ok(path)
        }
        Place::Exactly { path, force: false } => match file.persist_noclobber(&path) {
            Ok(_) => Ok(path),
            Err(why) if why.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ExportError::Exists(path))
            }
            Err(why) => Err(at(&path)(why.error)),
        },
        Place::NextFree(dir) => persist_next(file, &dir, name),
    }
}

fn persist_next(mut file: NamedTempFile, dir: &Path, name: &str) -> Result<PathBuf, ExportError> {
    let stem = name.trim_end_matches(".json");
    for number in 1..=MAX_NAMES {
        let path = match number {
            1 => dir.join(name),
            _ => dir.join(format!("{stem}-{number}.json")),
        };
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(why) if why.error.kind() == io::ErrorKind::AlreadyExists => file = why.file,
            Err(why) => return Err(at(&path)(why.error)),
        }
    }
    Err(ExportError::Exists(dir.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> File {
        let mut file = tempfile::tempfile().expect("file");
        file.write_all(text.as_bytes()).expect("write");
        file
    }

    fn joined(pages: &[&str]) -> Result<(String, u64), ExportError> {
        let dir = tempfile::tempdir().expect("dir");
        let pages = pages.iter().map(|text| page(text)).collect();
        let (file, count, bytes) = join(b" {\"id\":\"s\"}\n", pages, dir.path())?;
        let text = std::fs::read_to_string(file.path()).expect("read");
        assert_eq!(bytes, text.len() as u64);
        Ok((text, count))
    }

    #[test]
    fn pages_that_came_newest_first_stand_oldest_first() {
        let (text, count) = joined(&["[5,6]", " [3,\n4] \n", "[ ]", "[1,2]"]).expect("whole");
        let json: serde_json::Value = serde_json::from_str(&text).expect("json");
        assert_eq!(json["messages"], serde_json::json!([1, 2, 3, 4, 5, 6]));
        assert_eq!(json["info"]["id"], "s");
        assert_eq!(count, 6);
        assert_eq!(joined(&["[]"]).expect("empty").1, 0);
    }

    #[test]
    fn what_is_not_a_list_is_refused_and_leaves_nothing() {
        for bad in [
            "", "  ", "{}", "[", "]", "[1", "[1],[2]", "[1 2]", "null", "[1]]",
        ] {
            assert!(joined(&[bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_name_leaves_its_directory() {
        assert_eq!(file_name(&"ses_1a-B".into()), "ses_1a-B.json");
        assert_eq!(
            file_name(&"../../etc/passwd".into()),
            "______etc_passwd.json"
        );
        assert_eq!(file_name(&"a\u{1b}b".into()), "a_b.json");
    }

    #[test]
    fn nothing_is_overwritten_and_only_the_owner_reads() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("dir");
        let file = || NamedTempFile::new_in(dir.path()).expect("file");
        let next = || persist(file(), Place::NextFree(dir.path().to_owned()), "s.json");
        let first = next().expect("first");
        assert_eq!(first, dir.path().join("s.json"));
        assert_eq!(next().expect("second"), dir.path().join("s-2.json"));
        let mode = std::fs::metadata(&first)
            .expect("meta")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let exactly = |force| Place::Exactly {
            path: first.clone(),
            force,
        };
        let refused = persist(file(), exactly(false), "s.json");
        assert!(matches!(refused, Err(ExportError::Exists(_))));
        assert_eq!(
            persist(file(), exactly(true), "s.json").expect("forced"),
            first
        );
    }
}
