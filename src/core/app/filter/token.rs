//! A filter's text cut into tokens: blanks part them, quotes hold them together.
//!
//! What it does: cut and quote. What it does not: know any field. Every text can be cut.

/// A character and whether it was quoted: a quoted one is never a sign.
pub(super) type Mark = (char, bool);

/// A piece between blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Its characters, without quotes.
    pub marks: Vec<Mark>,
    /// Where it begins in the text, in characters.
    pub from: usize,
    /// Where it ends, in characters.
    pub to: usize,
}

/// All tokens of a text. A quote that is not closed goes on to the end: it is being typed.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let mut open: Option<Token> = None;
    let mut quoted = false;
    let mut escaped = false;
    let mut end = 0;
    for (at, c) in text.chars().enumerate() {
        end = at + 1;
        if c.is_whitespace() && !quoted {
            all.extend(open.take());
            continue;
        }
        let token = open.get_or_insert_with(|| Token {
            marks: Vec::new(),
            from: at,
            to: at,
        });
        token.to = end;
        match c {
            _ if escaped => {
                token.marks.push((c, true));
                escaped = false;
            }
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            c => token.marks.push((c, quoted)),
        }
    }
    if let Some(mut token) = open {
        token.to = end;
        all.push(token);
    }
    all
}

/// Cut at signs that are not quoted; without empty pieces.
pub(super) fn split(marks: &[Mark], signs: &[char]) -> Vec<String> {
    let is_sign = |(c, quoted): &Mark| !quoted && signs.contains(c);
    let pieces = marks.split(is_sign).filter(|piece| !piece.is_empty());
    pieces.map(text).collect()
}

/// The plain text.
pub(super) fn text(marks: &[Mark]) -> String {
    marks.iter().map(|(c, _)| *c).collect()
}

/// The text so that it is one token again, and no character of it a sign.
pub(super) fn quoted(text: &str) -> String {
    let is_sign = |c: char| c.is_whitespace() || matches!(c, '"' | '|' | ',' | ':' | '!' | '\\');
    let is_compared = text.starts_with(['<', '>']);
    if !text.is_empty() && !text.contains(is_sign) && !is_compared {
        return text.to_owned();
    }
    let mut all = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            all.push('\\');
        }
        all.push(c);
    }
    all.push('"');
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_part_and_quotes_hold() {
        let texts =
            |line: &str| -> Vec<String> { tokens(line).iter().map(|it| text(&it.marks)).collect() };
        assert_eq!(texts(" a  b:\"c d\" "), ["a", "b:c d"]);
        assert_eq!(texts("\"open to the end"), ["open to the end"]);
        assert_eq!(texts(r#""a \" b""#), ["a \" b"]);
        assert_eq!(texts(""), [""; 0]);
        let places: Vec<_> = tokens(" ä  bc").iter().map(|it| (it.from, it.to)).collect();
        assert_eq!(places, [(1, 2), (4, 6)]);
    }
}
