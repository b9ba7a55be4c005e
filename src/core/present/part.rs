//! The page of one part: its JSON as the server has it.

use super::{Line, Piece, Tone, clean};
use crate::core::app::{App, PartPage};

/// Characters of one line; longer ones go on in the next.
const LONGEST: usize = 2000;

pub(super) fn lines(app: &App, page: &PartPage) -> Vec<Line> {
    let read = app.ui.part_text.as_ref();
    let note = |text: String, tone| vec![vec![Piece::new(text, tone)]];
    match read.filter(|(part, _)| *part == page.part) {
        None => note("reading it".to_owned(), Tone::Dim),
        Some((_, Err(why))) => note(clean(&format!("not read: {why}")), Tone::Watch),
        Some((_, Ok(read))) => {
            let mut lines: Vec<Line> = read.text.lines().flat_map(broken).collect();
            if read.left_out > 0 {
                let text = format!(
                    "cut here: {} more bytes; `ocwatch export` has all of it",
                    read.left_out
                );
                lines.push(vec![Piece::new(text, Tone::Watch)]);
            }
            lines
        }
    }
}

/// A line of JSON, broken behind each line break that stands in a text, so that it can be read.
fn broken(line: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for piece in line.split_inclusive("\\n") {
        let all: Vec<char> = piece.chars().collect();
        for part in all.chunks(LONGEST) {
            let text: String = part.iter().collect();
            lines.push(vec![Piece::new(clean(&text), Tone::Plain)]);
        }
    }
    if lines.is_empty() {
        lines.push(Line::new());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_several_lines_is_shown_as_such_and_nothing_is_lost() {
        let long = format!("  \"output\": \"one\\ntwo{}\"", "x".repeat(LONGEST));
        let lines = broken(&long);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0][0].text, "  \"output\": \"one\\n");
        let all: String = lines.iter().map(|line| line[0].text.as_str()).collect();
        assert_eq!(all, long);
    }
}
