//! The last words of another program, as it said them on stderr.
//!
//! What it does: keep the end of what comes, and find the last line that says something. What it does
//! not: read.

use crate::core::present::clean;
use std::time::Duration;

/// Bytes that are kept.
pub const SAID: usize = 4096;
/// After its end: what it left running may hold its stderr open.
pub const AFTERWARDS: Duration = Duration::from_millis(500);

/// Takes more, and keeps the end.
pub fn keep_end(said: &mut Vec<u8>, more: &[u8]) {
    said.extend_from_slice(more);
    let before = said.len().saturating_sub(SAID);
    said.drain(..before);
}

/// The last line with a letter in it, without what colours it.
pub fn last_words(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let mut plain = said.lines().map(without_escapes);
    let last = plain.rfind(|line| line.chars().any(char::is_alphabetic));
    last.map(|line| clean(line.trim()))
}

/// Without `ESC [ … letter`.
fn without_escapes(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let end = part.find(|c: char| ('@'..='~').contains(&c));
        text + end.and_then(|at| part.get(at + 1..)).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_plain() {
        let said = b"starting\n\x1b[91m\x1b[1mError: \x1b[0mSession not found\x1b[0m\n\n   \n";
        assert_eq!(
            last_words(said).as_deref(),
            Some("Error: Session not found")
        );
        assert_eq!(last_words(b"a\x1b]0;x\x07\n").as_deref(), Some("a␛]0;x␇"));
        assert_eq!(last_words(b"\n--\n"), None);
    }
}
