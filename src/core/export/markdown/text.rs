//! Texts of others inside a Markdown document that they cannot break out of.
//!
//! What it does: quote prose so that it still renders, fence what is literal, write names in a line.
//! Invariants: no text opens an HTML tag, a fence or a heading outside its quote; nothing that a
//! terminal obeys is left; a fenced text is whole.

use crate::core::present::clean;

/// A text as it is, in a fence that it cannot end.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let mut out = format!("{fence}{language}\n");
    for line in text.lines() {
        out.push_str(&visible(line));
        out.push('\n');
    }
    out.push_str(&fence);
    out.push('\n');
    out
}

/// A text in one line, literally.
pub(in crate::core::export) fn code(text: &str) -> String {
    let text = clean(text);
    if text.trim().is_empty() {
        return "(none)".to_owned();
    }
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.starts_with(' ') {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A text in one line, as prose in which nothing means anything.
pub(in crate::core::export) fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).trim().chars() {
        if "\\`*_{}[]<>#|~&!".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A Markdown text as a quote: it renders, its code blocks too, but stays inside.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.trim_end().lines();
    while let Some(line) = lines.next() {
        match Fence::opened(line) {
            None => push_quoted(&mut out, &prose(line)),
            Some(fence) => {
                let inside: Vec<&str> = lines
                    .by_ref()
                    .take_while(|line| !fence.is_closed(line))
                    .map(|line| fence.undent(line))
                    .collect();
                let block = fenced(&inside.join("\n"), &fence.language);
                block.lines().for_each(|line| push_quoted(&mut out, line));
            }
        }
    }
    out
}

fn push_quoted(out: &mut String, line: &str) {
    out.push('>');
    if !line.is_empty() {
        out.push(' ');
        out.push_str(line);
    }
    out.push('\n');
}

/// A fence in a text. It is written anew, at the edge of the quote, where it certainly is one.
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    language: String,
}

impl Fence {
    fn opened(line: &str) -> Option<Self> {
        let rest = line.trim_start();
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = rest.chars().take_while(|c| *c == mark).count();
        let info = rest.get(length..).unwrap_or_default().trim();
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let word = info.split_whitespace().next().unwrap_or_default();
        let safe = |c: &char| c.is_ascii_alphanumeric() || "+#-_.".contains(*c);
        Some(Self {
            mark,
            length,
            indent: line.len() - rest.len(),
            language: word.chars().take_while(safe).collect(),
        })
    }

    fn is_closed(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }

    /// Without the blanks that its opening line had, too.
    fn undent<'a>(&self, line: &'a str) -> &'a str {
        let blank = line.len() - line.trim_start().len();
        line.get(blank.min(self.indent)..).unwrap_or(line)
    }
}

/// A line outside of fences: its code stays as it is, what would open a tag does not, and a
/// backtick without a partner in its line is only a backtick.
fn prose(line: &str) -> String {
    let line = visible(line);
    let mut out = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '`' => code_span(rest, &mut out),
            '\\' => {
                let pair: String = rest.chars().take(2).collect();
                let escape = pair
                    .chars()
                    .nth(1)
                    .is_some_and(|c| c.is_ascii_punctuation());
                let taken = if escape { pair.len() } else { 1 };
                out.push_str(rest.get(..taken).unwrap_or_default());
                taken
            }
            '<' => {
                let opens = |c: char| c.is_ascii_alphabetic() || "/!?".contains(c);
                if rest.chars().nth(1).is_none_or(opens) {
                    out.push('\\');
                }
                out.push('<');
                1
            }
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// At a run of backticks: copies the code up to its partner, or the run itself, escaped. Gives how
/// many bytes that were.
fn code_span(rest: &str, out: &mut String) -> usize {
    let run = leading_run(rest);
    let mut at = run;
    while let Some(next) = rest.get(at..).and_then(|rest| rest.find('`')) {
        at += next;
        let here = leading_run(rest.get(at..).unwrap_or_default());
        at += here;
        if here == run {
            out.push_str(rest.get(..at).unwrap_or_default());
            return at;
        }
    }
    out.push_str(&"\\`".repeat(run));
    run
}

fn leading_run(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}

/// A line without anything that a terminal obeys, but with its tabs.
fn visible(line: &str) -> String {
    let fields: Vec<String> = line.split('\t').map(clean).collect();
    fields.join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_its_text() {
        assert_eq!(fenced("a\n```\nb", "text"), "````text\na\n```\nb\n````\n");
        assert_eq!(fenced("", "text"), "```text\n```\n");
        assert_eq!(fenced("x\u{1b}[2J\ty\r\n", ""), "```\nx␛[2J\ty\n```\n");
    }

    #[test]
    fn names_mean_nothing() {
        assert_eq!(plain("# <b>*x*\n"), "\\# \\<b\\>\\*x\\*");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code(" "), "(none)");
    }

    #[test]
    fn prose_stays_inside_its_quote() {
        let cases = [
            (
                "a < b, Vec<u8>, `Vec<u8>`",
                "> a < b, Vec\\<u8>, `Vec<u8>`\n",
            ),
            ("<!-- x", "> \\<!-- x\n"),
            ("</details>", "> \\</details>\n"),
            ("\\<b \\\\<b", "> \\<b \\\\\\<b\n"),
            ("a ` b\nc ` <b> ` d", "> a \\` b\n> c ` <b> ` d\n"),
            ("# h\n\nt", "> # h\n>\n> t\n"),
            ("ends with <", "> ends with \\<\n"),
        ];
        for (text, quoted) in cases {
            assert_eq!(quote(text), quoted);
        }
    }

    #[test]
    fn code_blocks_are_written_anew_and_always_closed() {
        let text = "  ```rust x\n  <b>\n  ```\n<b>";
        assert_eq!(quote(text), "> ```rust\n> <b>\n> ```\n> \\<b>\n");
        assert_eq!(quote("~~~\n```\n<b>"), "> ````\n> ```\n> <b>\n> ````\n");
        let nested = quote("- ```\n<b>\n```\n<i>");
        assert_eq!(nested, "> - \\`\\`\\`\n> \\<b>\n> ```\n> <i>\n> ```\n");
    }
}
