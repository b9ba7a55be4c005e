//! Writes what was read: as JSON or Markdown, redacted or not, one message at a time.
//!
//! Invariant: what is written as JSON was parsed as JSON.

use super::spool::Spooled;
use super::{ExportError, Style, at, temp};
use crate::core::export::{Fields, Format, Markdown, sanitize};
use crate::core::time::UnixMs;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// What was written, for those who tell of it.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) messages: u64,
    pub(super) bytes: u64,
    /// As it was written.
    pub(super) title: String,
    pub(super) parent: Option<String>,
}

/// A whole file without its final name.
pub(super) struct Written {
    pub(super) file: NamedTempFile,
    pub(super) tally: Tally,
}

/// Into a new file of `dir`, down to the disk.
pub(super) fn to_file(read: &Spooled, style: Style, dir: &Path) -> Result<Written, ExportError> {
    let failed = at(dir);
    let file = temp::file_in(dir).map_err(&failed)?;
    let mut out = BufWriter::new(file);
    let tally = to(read, style, &mut out)?;
    let file = out.into_inner().map_err(|why| failed(why.into_error()))?;
    file.as_file().sync_all().map_err(&failed)?;
    Ok(Written { file, tally })
}

/// To anything that takes bytes.
pub(super) fn to(read: &Spooled, style: Style, out: &mut impl Write) -> Result<Tally, ExportError> {
    let mut out = Counted { out, bytes: 0 };
    let info = if style.sanitize {
        redact(&read.info, sanitize::session)?
    } else {
        Cow::Borrowed(&*read.info)
    };
    let messages = match style.format {
        Format::Json => json(read, &info, style, &mut out)?,
        Format::Markdown => markdown(read, &info, style, &mut out)?,
    };
    out.flush().map_err(unwritten)?;
    let fields = Fields::of(&info).map_err(|why| ExportError::Shape(why.to_string()))?;
    Ok(Tally {
        messages,
        bytes: out.bytes,
        title: fields.text("title").unwrap_or_default(),
        parent: fields.text("parentID"),
    })
}

fn json(
    read: &Spooled,
    info: &RawValue,
    style: Style,
    out: &mut impl Write,
) -> Result<u64, ExportError> {
    let mut write = |pieces: [&str; 2]| {
        let mut pieces = pieces.iter();
        pieces.try_for_each(|piece| out.write_all(piece.as_bytes()))
    };
    write(["{\"info\":", info.get()]).map_err(unwritten)?;
    write([",\"messages\":[", "\n"]).map_err(unwritten)?;
    let mut messages = 0;
    read.each(|message| {
        let message = shown(message, style)?;
        let between = if messages == 0 { "" } else { ",\n" };
        messages += 1;
        write([between, message.get()]).map_err(unwritten)
    })?;
    write(["\n]}", "\n"]).map_err(unwritten)?;
    Ok(messages)
}

fn markdown(
    read: &Spooled,
    info: &RawValue,
    style: Style,
    out: &mut impl Write,
) -> Result<u64, ExportError> {
    let mut document = Markdown::new(iso);
    let mut write = |text: &str| out.write_all(text.as_bytes()).map_err(unwritten);
    write(&document.begin(info))?;
    let mut messages = 0;
    read.each(|message| {
        messages += 1;
        write(&document.message(&shown(message, style)?))
    })?;
    write(&document.end())?;
    Ok(messages)
}

/// A message as it is to be seen.
fn shown(message: &RawValue, style: Style) -> Result<Cow<'_, RawValue>, ExportError> {
    if style.sanitize {
        redact(message, sanitize::message)
    } else {
        Ok(Cow::Borrowed(message))
    }
}

fn redact(
    raw: &RawValue,
    with: fn(&RawValue) -> Result<String, serde_json::Error>,
) -> Result<Cow<'_, RawValue>, ExportError> {
    let made = with(raw).and_then(RawValue::from_string);
    made.map(Cow::Owned)
        .map_err(|why| ExportError::Shape(format!("it cannot be redacted: {why}")))
}

/// `2026-11-30T09:25:30.123Z`.
fn iso(at: UnixMs) -> String {
    let time = jiff::Timestamp::from_millisecond(at.0);
    time.map_or_else(|_| format!("{} ms", at.0), |time| format!("{time:.3}"))
}

/// The place is named where the file is known.
fn unwritten(why: io::Error) -> ExportError {
    at(Path::new("the file"))(why)
}

/// Counts what goes through.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.bytes += taken as u64;
        Ok(taken)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::spool::tests::spooled;
    use super::*;
    use serde_json::{Value, json};

    fn written(style: Style) -> (String, Tally) {
        let pages = [
            r#"[{"info":{"id":"m2","role":"assistant"},"parts":[{"id":"p","type":"text","text":"secret"}]}]"#,
            r#"[{"info":{"id":"m1","role":"user"},"parts":[]}]"#,
        ];
        let info =
            r#" {"id":"s","title":"My secret","parentID":"r","cost":0.1234567890123456789} "#;
        let mut out = Vec::new();
        let tally = to(&spooled(info, &pages).expect("lists"), style, &mut out);
        let text = String::from_utf8(out).expect("utf-8");
        (text, tally.expect("written"))
    }

    #[test]
    fn json_is_what_was_told_byte_for_byte() {
        let (text, tally) = written(Style::default());
        let value: Value = serde_json::from_str(&text).expect("json");
        let ids: Vec<&Value> = value["messages"]
            .as_array()
            .expect("a list")
            .iter()
            .collect();
        assert_eq!((&ids[0]["info"]["id"], ids.len()), (&json!("m1"), 2));
        assert!(text.contains("0.1234567890123456789"), "{text}");
        assert_eq!((tally.messages, tally.bytes), (2, text.len() as u64));
        assert_eq!(
            (&*tally.title, tally.parent.as_deref()),
            ("My secret", Some("r"))
        );
    }

    #[test]
    fn what_is_redacted_is_so_in_every_format() {
        for format in [Format::Json, Format::Markdown] {
            let style = |sanitize| Style { format, sanitize };
            let (text, tally) = written(style(true));
            assert!(!text.contains("secret"), "{text}");
            assert_eq!(tally.title, "[redacted:session-title:s]");
            assert!(written(style(false)).0.contains("secret"));
        }
    }

    #[test]
    fn times_are_utc() {
        assert_eq!(iso(UnixMs(1_795_977_998_146)), "2026-11-29T18:46:38.146Z");
        assert_eq!(iso(UnixMs(i64::MAX)), "9223372036854775807 ms");
    }
}
