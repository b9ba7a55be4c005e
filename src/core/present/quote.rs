//! A text that is about to be sent, as a person reads it before agreeing.

use super::clean;

/// So much of one line is shown.
const LONGEST: usize = 400;

/// The first lines of a text, each safe to draw and cut where it is long; what is left out is told.
pub fn quote(text: &str, most: usize) -> Vec<String> {
    let all = text.lines().count();
    let mut lines: Vec<String> = text.lines().take(most).map(line).collect();
    if all > most {
        lines.push(format!("({} more lines, not shown)", all - most));
    }
    lines
}

fn line(text: &str) -> String {
    let length = text.chars().count();
    let shown: String = text.chars().take(LONGEST).collect();
    let shown = clean(&shown);
    match length.saturating_sub(LONGEST) {
        0 => shown,
        more => format!("{shown} ({more} more characters, not shown)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_told() {
        assert_eq!(quote("one\n\ttwo\u{1b}[2J", 5), ["one", " two␛[2J"]);
        assert_eq!(
            quote("a\nb\nc\nd", 2),
            ["a", "b", "(2 more lines, not shown)"]
        );
        let long = quote(&"x".repeat(LONGEST + 7), 2);
        assert!(long[0].ends_with("x (7 more characters, not shown)"));
        assert!(quote("", 3).is_empty());
    }
}
