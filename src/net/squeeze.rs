//! Shortens long JSON strings while they stream past.
//!
//! What it does: any string literal longer than [`LITERAL_LIMIT`] keeps its first [`LITERAL_KEEP`]
//! bytes and ends in a note of its length and digest (`core::wire::v1::literal`), which the decoder
//! understands. What it does not: check that the text is JSON. Invariants: identity on texts
//! without long literals; the same result however the text is cut into chunks; well-formed JSON
//! stays well-formed.

use crate::core::wire::v1::literal::Measure;

/// Literals up to this many raw bytes pass unchanged.
pub const LITERAL_LIMIT: usize = 16 * 1024;
/// What is kept of a longer one.
pub const LITERAL_KEEP: usize = 2 * 1024;

/// The state between two chunks. One squeezer serves one text (an event's line, a body).
#[derive(Debug, Default)]
pub struct Squeezer {
    place: Place,
}

#[derive(Debug, Default)]
enum Place {
    #[default]
    Outside,
    /// Inside a literal that still passes; `start` is where its content begins in the output.
    Inside { start: usize, escaped: bool },
    /// Inside a literal whose rest is only measured.
    Long { measure: Measure, escaped: bool },
}

impl Squeezer {
    /// Takes the next bytes and appends what remains of them. `out` must only be appended to
    /// between two calls.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            let taken = match &mut self.place {
                Place::Outside => self.outside(bytes, out),
                Place::Inside { .. } => self.inside(bytes, out),
                Place::Long { .. } => self.long(bytes, out),
            };
            bytes = &bytes[taken..];
        }
    }

    fn outside(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        match bytes.iter().position(|it| *it == b'"') {
            None => {
                out.extend_from_slice(bytes);
                bytes.len()
            }
            Some(at) => {
                out.extend_from_slice(&bytes[..=at]);
                self.place = Place::Inside {
                    start: out.len(),
                    escaped: false,
                };
                at + 1
            }
        }
    }

    fn inside(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let Place::Inside { start, escaped } = &mut self.place else {
            return 0;
        };
        let start = *start;
        // No more than what decides whether the literal is long.
        let room = (LITERAL_LIMIT + 1).saturating_sub(out.len() - start).max(1);
        let window = &bytes[..bytes.len().min(room)];
        let end = closing_quote(window, escaped);
        let content = &window[..end.unwrap_or(window.len())];
        out.extend_from_slice(content);
        if out.len() - start > LITERAL_LIMIT {
            self.place = shorten(out, start, *escaped);
            return content.len();
        }
        if end.is_none() {
            return content.len();
        }
        out.push(b'"');
        self.place = Place::Outside;
        content.len() + 1
    }

    fn long(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let Place::Long { measure, escaped } = &mut self.place else {
            return 0;
        };
        let Some(end) = closing_quote(bytes, escaped) else {
            measure.feed(bytes);
            return bytes.len();
        };
        measure.feed(&bytes[..end]);
        out.extend_from_slice(measure.marker().as_bytes());
        out.push(b'"');
        self.place = Place::Outside;
        end + 1
    }
}

/// Where the literal ends; `escaped` is whether the next byte is taken literally.
fn closing_quote(bytes: &[u8], escaped: &mut bool) -> Option<usize> {
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if *escaped => *escaped = false,
            b'\\' => *escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// Cuts the literal at the end of `out` and goes on measuring.
fn shorten(out: &mut Vec<u8>, start: usize, escaped: bool) -> Place {
    let content = &out[start..];
    let mut measure = Measure::default();
    let mut keep = 0;
    for (at, byte) in content.iter().enumerate() {
        let starts_char = byte & 0xC0 != 0x80;
        if at <= LITERAL_KEEP && starts_char && measure.at_boundary() {
            keep = at;
        }
        measure.push(*byte);
    }
    out.truncate(start + keep);
    Place::Long { measure, escaped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn squeeze(text: &[u8], cuts: &[usize]) -> Vec<u8> {
        let mut squeezer = Squeezer::default();
        let mut out = Vec::new();
        let mut last = 0;
        for &cut in cuts {
            squeezer.feed(&text[last..cut], &mut out);
            last = cut;
        }
        squeezer.feed(&text[last..], &mut out);
        out
    }

    #[test]
    fn a_long_output_becomes_short_and_stays_json() {
        let long = "é\"\\\n\u{1}".repeat(LITERAL_LIMIT);
        let json = serde_json::json!({"a": "b", "output": long, "c": ["d", "e\\"]}).to_string();
        let out = squeeze(json.as_bytes(), &[]);
        assert!(out.len() < LITERAL_KEEP + 200, "{}", out.len());
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value["c"][1], "e\\");
        assert!(long.starts_with(&value["output"].as_str().unwrap()[..600]));
    }

    #[test]
    fn the_limit_is_exact() {
        let at = |length: usize| format!("\"{}\"", "x".repeat(length)).into_bytes();
        assert_eq!(squeeze(&at(LITERAL_LIMIT), &[]), at(LITERAL_LIMIT));
        assert!(squeeze(&at(LITERAL_LIMIT + 1), &[]).len() < LITERAL_KEEP + 100);
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            piece in "[a\"\\\\\nüé]{1,9}",
            times in prop::sample::select(vec![1, 100, 2_500, 5_000]),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let json = serde_json::json!({"k": piece.repeat(times), "l": piece}).to_string().into_bytes();
            let mut cuts: Vec<usize> = cuts.iter().map(|it| it.index(json.len())).collect();
            cuts.sort_unstable();
            let whole = squeeze(&json, &[]);
            prop_assert_eq!(&squeeze(&json, &cuts), &whole);
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&whole).is_ok());
            if json.len() < LITERAL_LIMIT {
                prop_assert_eq!(whole, json);
            }
        }
    }
}
