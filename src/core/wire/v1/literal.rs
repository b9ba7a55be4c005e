//! JSON string literals measured without being decoded, and the form in which long ones travel.
//!
//! What it does: length and digest of a literal's content, an excerpt of its beginning, and the
//! marker that stands at the end of a literal that was shortened in flight. What it does not: keep
//! the text. Invariant: a literal has the same length and digest whether it was shortened or not,
//! and however it was cut into chunks.

use crate::core::wire::EXCERPT_CHARS;
use serde_json::value::RawValue;

/// Begins the note at the end of a shortened literal (raw, so it is the escape of a NUL). A server
/// could write the same; then only the length shown for that one text is wrong.
const MARK: &str = "\\u0000short:";
/// FNV-1a, 64 bits.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Length and digest of a literal, fed in any pieces of what stands between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    bytes: usize,
    digest: u64,
    escape: Escape,
}

/// Where in an escape sequence the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    Outside,
    Slash,
    /// How many hex digits were read, and their value.
    Hex(u8, u32),
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            bytes: 0,
            digest: FNV_BASIS,
            escape: Escape::Outside,
        }
    }
}

impl Measure {
    /// Takes the next raw bytes.
    pub fn feed(&mut self, raw: &[u8]) {
        for &byte in raw {
            self.push(byte);
        }
    }

    /// Takes the next raw byte.
    pub fn push(&mut self, byte: u8) {
        self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        match self.escape {
            Escape::Outside if byte == b'\\' => self.escape = Escape::Slash,
            Escape::Outside => self.bytes += 1,
            Escape::Slash if byte == b'u' => self.escape = Escape::Hex(0, 0),
            Escape::Slash => self.end_escape(1),
            Escape::Hex(count, value) => self.hex(byte, count, value),
        }
    }

    fn hex(&mut self, byte: u8, count: u8, value: u32) {
        let digit = char::from(byte).to_digit(16).unwrap_or(0);
        let value = value * 16 + digit;
        if count < 3 {
            self.escape = Escape::Hex(count + 1, value);
        } else {
            self.end_escape(match value {
                0..0x80 => 1,
                0x80..0x800 | 0xD800..0xE000 => 2, // a surrogate is half of four bytes
                _ => 3,
            });
        }
    }

    fn end_escape(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.escape = Escape::Outside;
    }

    /// Whether an escape sequence is complete here.
    pub fn at_boundary(&self) -> bool {
        self.escape == Escape::Outside
    }
    /// Bytes of the decoded text so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// A hash of the raw bytes so far.
    pub fn digest(&self) -> u64 {
        self.digest
    }
    /// The note to write (raw, inside the quotes) at the end of a shortened literal.
    pub fn marker(&self) -> String {
        format!("{MARK}{}:{:016x}", self.bytes, self.digest)
    }
}

/// What is known of a literal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::core::wire) struct Literal {
    /// Its first [`EXCERPT_CHARS`] characters.
    pub(in crate::core::wire) excerpt: String,
    /// Bytes of the whole decoded text.
    pub(in crate::core::wire) bytes: usize,
    /// Hash of the whole raw text.
    pub(in crate::core::wire) digest: u64,
}

impl Literal {
    /// Of a raw JSON value; none when it is not a string.
    pub(in crate::core::wire) fn of(raw: Option<&RawValue>) -> Option<Self> {
        let inner = raw?.get().strip_prefix('"')?.strip_suffix('"')?;
        let (kept, noted) = split_marker(inner);
        let (bytes, digest) = noted.unwrap_or_else(|| {
            let mut measure = Measure::default();
            measure.feed(inner.as_bytes());
            (measure.bytes, measure.digest)
        });
        Some(Self {
            excerpt: excerpt_of_raw(kept),
            bytes,
            digest,
        })
    }
}

/// The literal without its note, and what the note says.
fn split_marker(inner: &str) -> (&str, Option<(usize, u64)>) {
    let Some(at) = inner.rfind(MARK) else {
        return (inner, None);
    };
    let note = &inner[at + MARK.len()..];
    match parse_note(note) {
        Some(noted) if complete(&inner[..at]) => (&inner[..at], Some(noted)),
        _ => (inner, None),
    }
}

fn parse_note(note: &str) -> Option<(usize, u64)> {
    let (bytes, digest) = note.split_once(':')?;
    let hex = digest.len() == 16 && digest.bytes().all(|it| it.is_ascii_hexdigit());
    let digest = hex.then(|| u64::from_str_radix(digest, 16).ok())??;
    Some((bytes.parse().ok()?, digest))
}

/// Does not end inside an escape sequence: an even number of backslashes at the end.
fn complete(raw: &str) -> bool {
    let slashes = raw.bytes().rev().take_while(|it| *it == b'\\').count();
    slashes.is_multiple_of(2)
}

/// Decodes only as much of a raw literal as an excerpt needs.
fn excerpt_of_raw(inner: &str) -> String {
    let mut measure = Measure::default();
    let (mut chars, mut end) = (0, 0);
    for (at, c) in inner.char_indices() {
        if chars >= EXCERPT_CHARS {
            break;
        }
        let mut buffer = [0; 4];
        measure.feed(c.encode_utf8(&mut buffer).as_bytes());
        if measure.at_boundary() {
            chars += 1;
            end = at + c.len_utf8();
        }
    }
    let decode = |raw: &str| serde_json::from_str::<String>(&format!("\"{raw}\""));
    decode(&inner[..end])
        .or_else(|_| decode(&without_surrogates(&inner[..end])))
        .unwrap_or_default()
}

/// Halves of surrogate pairs (a stream may cut a character in two) become the replacement mark.
fn without_surrogates(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = if escape.starts_with("\\u") { 6 } else { 2 };
        let (escape, tail) = escape.split_at_checked(length).unwrap_or((escape, ""));
        let half = escape.get(2..4).is_some_and(|it| {
            matches!(
                it.as_bytes(),
                [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F']
            )
        });
        out.push_str(if half { "\u{fffd}" } else { escape });
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// The first [`EXCERPT_CHARS`] characters.
pub(in crate::core::wire) fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(json: &str) -> Literal {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        Literal::of(Some(raw)).unwrap()
    }

    #[test]
    fn length_is_that_of_the_decoded_text() {
        for text in ["", "plain", "a\"b\\c\n\t", "ü€😀", "\u{1}\u{7f}\u{1b}[0m"] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(literal(&json).bytes, text.len(), "{json}");
            assert_eq!(literal(&json).excerpt, text);
        }
        assert_eq!(literal(r#""\u00fc\u20ac\ud83d\ude00""#).bytes, "ü€😀".len());
        assert_eq!(literal(r#""half \ud83d \n""#).excerpt, "half \u{fffd} \n");
    }

    #[test]
    fn text_that_looks_like_a_note_is_text() {
        let json = serde_json::to_string("print('\\u0000short:12:0123456789abcdef").unwrap();
        assert_eq!(literal(&json).bytes, json.len() - 3);
        assert!(literal(&json).excerpt.starts_with("print"));
    }

    #[test]
    fn a_shortened_literal_keeps_its_length_and_digest() {
        let text = "line \"of\" output\n".repeat(1000);
        let json = serde_json::to_string(&text).unwrap();
        let whole = literal(&json);
        let mut measure = Measure::default();
        measure.feed(&json.as_bytes()[1..json.len() - 1]);
        let short = literal(&format!("\"{}{}\"", &json[1..401], measure.marker()));
        assert_eq!((short.bytes, short.digest), (whole.bytes, whole.digest));
        assert_eq!(short.excerpt, whole.excerpt);
        assert_eq!(short.excerpt.chars().count(), EXCERPT_CHARS);
    }
}
