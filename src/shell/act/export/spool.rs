//! The messages of a session, as the server gives them: pages, newest first, in a file without a name.
//!
//! What it does: read all pages and note where each begins; later give their messages oldest first,
//! one at a time, each once. What it does not: change them. Invariants: only one message is in memory;
//! the file is gone with this process, however that ends.

use super::{ExportError, Progress, at};
use crate::core::export::Fields;
use crate::core::id::SessionId;
use crate::net::client::{Client, ClientError};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// Messages per request.
const PAGE: usize = 100;
/// A transcript with more pages than this does not end.
const MAX_PAGES: usize = 100_000;
/// How often a page is read that does not come, or not whole.
const TRIES: usize = 3;
/// Read at once.
const BUFFER: usize = 64 * 1024;

/// A session as it was read.
pub(super) struct Spooled {
    /// The body of its `info`.
    pub(super) info: Box<RawValue>,
    file: File,
    /// Where the list of each page stands, newest page first.
    pages: Vec<Range<u64>>,
}

/// Reads a session; its pages are kept in `dir`.
pub(super) async fn read(
    client: &Client,
    session: &SessionId,
    dir: &Path,
    mut progress: impl FnMut(Progress),
) -> Result<Spooled, ExportError> {
    let info = client.session_raw(session).await?;
    let info = serde_json::from_slice(&info).map_err(|why| shape(&why))?;
    let file = tempfile::tempfile_in(dir).map_err(at(dir))?;
    let mut read = Spooled {
        info,
        file,
        pages: Vec::new(),
    };
    let mut told = Progress::default();
    let mut cursors = HashSet::new();
    let mut next = None;
    let mut limit = PAGE;
    loop {
        let before = told.messages;
        let mut tries = 1;
        let (range, cursor) = loop {
            let mut page = Page {
                file: &mut read.file,
                so_far: told,
                progress: &mut progress,
            };
            match page.read(client, session, limit, next.as_deref()).await {
                Ok((range, cursor, sum)) => {
                    told = sum;
                    break (range, cursor);
                }
                Err(Unkept::Export(ExportError::Read(why))) if may_try_again(&why, tries) => {
                    tries += 1;
                    tracing::warn!(%session, %why, "a page is read again");
                }
                Err(why) => return Err(why.in_dir(dir)),
            }
        };
        read.pages.push(range);
        let full = told.messages - before >= PAGE as u64;
        if cursor.is_none() && full && limit > 0 {
            // A full page and no cursor: a server before 1.2, which gives all or the newest only. What
            // was read already comes again, and is taken once.
            limit = 0;
            next = None;
            continue;
        }
        let Some(cursor) = cursor else {
            return Ok(read);
        };
        if read.pages.len() >= MAX_PAGES || !cursors.insert(cursor.clone()) {
            return Err(ExportError::Shape("its pages do not end".to_owned()));
        }
        next = Some(cursor);
    }
}

/// Why a page was not kept.
enum Unkept {
    Export(ExportError),
    Disk(io::Error),
}

impl Unkept {
    fn in_dir(self, dir: &Path) -> ExportError {
        match self {
            Unkept::Export(why) => why,
            Unkept::Disk(why) => at(dir)(why),
        }
    }
}

/// A busy server may be late once.
fn may_try_again(why: &ClientError, tries: usize) -> bool {
    tries < TRIES && (why.is_late() || matches!(why, ClientError::Cut { .. }))
}

/// A page on its way into the file.
struct Page<'a, F> {
    file: &'a mut File,
    so_far: Progress,
    progress: &'a mut F,
}

impl<F: FnMut(Progress)> Page<'_, F> {
    /// Where its list stands, the cursor of the next, and how far it has come with it. What a try
    /// that failed has left is written over.
    async fn read(
        &mut self,
        client: &Client,
        session: &SessionId,
        limit: usize,
        before: Option<&str>,
    ) -> Result<(Range<u64>, Option<String>, Progress), Unkept> {
        let unread = |why| Unkept::Export(ExportError::Read(why));
        let begin = self.so_far.bytes;
        self.file
            .seek(SeekFrom::Start(begin))
            .map_err(Unkept::Disk)?;
        let page = client.messages_page_raw(session, limit, before).await;
        let mut page = page.map_err(unread)?;
        let mut scan = Scan::default();
        let mut told = self.so_far;
        while let Some(chunk) = page.body.chunk().await.map_err(unread)? {
            self.file.write_all(&chunk).map_err(Unkept::Disk)?;
            scan.feed(&chunk);
            told.bytes += chunk.len() as u64;
            told.messages = self.so_far.messages + scan.elements;
            (self.progress)(told);
        }
        let list = scan.list().ok_or_else(|| {
            let text = "a page is no list".to_owned();
            Unkept::Export(ExportError::Shape(text))
        })?;
        Ok((begin + list.start..begin + list.end, page.next, told))
    }
}

fn shape(why: &serde_json::Error) -> ExportError {
    ExportError::Shape(why.to_string())
}

impl Spooled {
    /// Gives each message once, oldest first.
    pub(super) fn each(
        &self,
        mut take: impl FnMut(&RawValue) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut seen = Seen::default();
        for page in self.pages.iter().rev() {
            let unread = at(Path::new("its pages"));
            let mut file = &self.file;
            file.seek(SeekFrom::Start(page.start)).map_err(&unread)?;
            let bytes = BufReader::with_capacity(BUFFER, file.take(page.end - page.start));
            let mut failed = None;
            let elements = Elements(
                |message: &RawValue| match seen.is_new(message) {
                    Ok(true) => take(message),
                    Ok(false) => Ok(()),
                    Err(why) => Err(why),
                },
                &mut failed,
            );
            let mut json = serde_json::Deserializer::from_reader(bytes);
            let done = elements.deserialize(&mut json).and_then(|()| json.end());
            if let Some(why) = failed {
                return Err(why);
            }
            done.map_err(|why| shape(&why))?;
        }
        Ok(())
    }
}

/// Which messages were given already: by a digest of their ids, so that a long session takes little.
#[derive(Default)]
struct Seen {
    hasher: RandomState,
    ids: HashSet<u64>,
}

impl Seen {
    fn is_new(&mut self, message: &RawValue) -> Result<bool, ExportError> {
        let fields = Fields::of(message).map_err(|why| shape(&why))?;
        let id = fields.inner("info").text("id");
        Ok(id.is_none_or(|id| self.ids.insert(self.hasher.hash_one(id))))
    }
}

/// Hands each element of a list on; what went wrong there is put aside.
struct Elements<'a, F>(F, &'a mut Option<ExportError>);

impl<'de, F: FnMut(&RawValue) -> Result<(), ExportError>> DeserializeSeed<'de> for Elements<'_, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&RawValue) -> Result<(), ExportError>> Visitor<'de> for Elements<'_, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element::<Box<RawValue>>()? {
            if let Err(why) = (self.0)(&element) {
                *self.1 = Some(why);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// Follows the brackets of a page while it comes: where its list stands, and how many elements it
/// has. Whether it is JSON is checked when it is read again.
#[derive(Default)]
struct Scan {
    at: u64,
    depth: u32,
    in_string: bool,
    escaped: bool,
    open: Option<u64>,
    close: Option<u64>,
    /// Objects and lists in the list.
    elements: u64,
    stray: bool,
}

impl Scan {
    fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push(byte);
            self.at += 1;
        }
    }

    fn push(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {}
            b'[' if self.depth == 0 && self.open.is_none() => {
                self.open = Some(self.at);
                self.depth = 1;
            }
            _ if self.depth == 0 => self.stray = true,
            b'"' => self.in_string = true,
            b'[' | b'{' => {
                self.elements += u64::from(self.depth == 1);
                self.depth += 1;
            }
            b']' | b'}' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.close = Some(self.at);
                }
            }
            _ => {}
        }
    }

    /// The list, if the page is one and nothing else.
    fn list(&self) -> Option<Range<u64>> {
        let (open, close) = self.open.zip(self.close)?;
        (!self.stray).then_some(open..close + 1)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::Value;

    /// Pages as if they had been read, newest first.
    pub(crate) fn spooled(info: &str, pages: &[&str]) -> Result<Spooled, ExportError> {
        let mut file = tempfile::tempfile().expect("a file");
        let mut ranges = Vec::new();
        let mut begin = 0;
        for page in pages {
            let mut scan = Scan::default();
            for piece in page.as_bytes().chunks(3) {
                scan.feed(piece);
            }
            let list = scan.list();
            let list = list.ok_or_else(|| ExportError::Shape("no list".to_owned()))?;
            file.write_all(page.as_bytes()).expect("written");
            ranges.push(begin + list.start..begin + list.end);
            begin += page.len() as u64;
        }
        Ok(Spooled {
            info: serde_json::from_str(info).map_err(|why| shape(&why))?,
            file,
            pages: ranges,
        })
    }

    fn joined(pages: &[&str]) -> Result<Vec<Value>, ExportError> {
        let mut all = Vec::new();
        spooled("{}", pages)?.each(|raw| {
            all.push(serde_json::from_str(raw.get()).expect("json"));
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn pages_that_came_newest_first_are_given_oldest_first() {
        let pages = [
            r#"[{"n":"]"},{"n":6}]"#,
            " [{\"n\":3},\n{\"n\":[4]}] \n",
            "[ ]",
            r#"[{"n":"\"["}]"#,
        ];
        let all = joined(&pages).expect("whole");
        let numbers: Vec<String> = all.iter().map(|it| it["n"].to_string()).collect();
        assert_eq!(numbers, [r#""\"[""#, "3", "[4]", r#""]""#, "6"]);
    }

    #[test]
    fn a_message_in_two_pages_is_given_once() {
        let page = |ids: &[&str]| {
            let rows = ids
                .iter()
                .map(|id| format!(r#"{{"info":{{"id":"{id}"}}}}"#));
            format!("[{}]", rows.collect::<Vec<_>>().join(","))
        };
        let (new, old) = (page(&["b", "c"]), page(&["a", "b"]));
        let ids: Vec<Value> = joined(&[&new, &old]).expect("whole");
        let ids: Vec<&Value> = ids.iter().map(|it| &it["info"]["id"]).collect();
        assert_eq!(ids, ["a", "b", "c"]);
    }

    #[test]
    fn what_is_not_a_list_of_objects_is_refused() {
        for bad in [
            "",
            "  ",
            "{}",
            "[",
            "]",
            "[{}",
            "[{}],[{}]",
            "[{} {}]",
            "null",
            "[{}]]",
            "[1]",
            "[{}}",
            "[{]]",
            "x[{}]",
        ] {
            assert!(joined(&[bad]).is_err(), "{bad}");
        }
    }
}
