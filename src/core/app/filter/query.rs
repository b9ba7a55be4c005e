//! The filter language: what a typed filter means, and what of it means nothing.
//!
//! ```text
//! filter = term { blank term }              all of them must hold
//! term   = ["!"] ( text { "|" text } | field ":" value { ("|" | ",") value } )   one value must
//! value  = text | [">" | "<"] span | [">" | "<"] dollars
//! ```
//!
//! What it does: parse, and print so that the same is parsed again. What it does not: look at rows
//! ([`super::facts`] does). Invariant: what is not understood is told and left out; the rest holds.

use super::field::{FIELDS, Field, FieldRow, Kind};
use super::token::{Mark, quoted, split, text, tokens};
use crate::core::app::near::nearest;
use crate::core::time::Span;
use std::fmt;

/// A filter that was understood, as far as it was.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// All must hold.
    pub terms: Vec<Term>,
    /// What was not understood, each in a few words.
    pub wrong: Vec<String>,
    /// What was taken otherwise than it looks.
    pub notes: Vec<String>,
}

/// One term.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// It must not hold.
    pub inverted: bool,
    /// What it asks.
    pub test: Test,
}

/// What a term asks; one of several values is enough. Texts are in lower case.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Any word of the row contains it.
    Anything(Vec<String>),
    /// The field is called so, begins so or (where any text may stand) contains it.
    Named(Field, Vec<String>),
    /// It has been so for longer or for less.
    Age(Vec<(Than, Span)>),
    /// It has cost more or less, in dollars.
    Cost(Vec<(Than, f64)>),
}

/// Which side of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Than {
    /// `>`
    More,
    /// `<`
    Less,
}

impl Query {
    /// What a text means. Never fails: what means nothing is told in [`Query::wrong`].
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        for token in tokens(text) {
            match term(&token.marks, &mut query) {
                Ok(Some(term)) => query.terms.push(term),
                Ok(None) => {}
                Err(wrong) => query.wrong.push(wrong),
            }
        }
        query
    }

    /// Whether rows come and go by time alone.
    pub fn is_by_time(&self) -> bool {
        let by_age = |term: &Term| matches!(term.test, Test::Age(_));
        self.terms.iter().any(by_age)
    }
}

/// A term without signs is a text; `None`: nothing was typed yet.
fn term(marks: &[Mark], query: &mut Query) -> Result<Option<Term>, String> {
    let bangs = marks.iter().take_while(|it| **it == ('!', false)).count();
    let (inverted, marks) = (bangs % 2 == 1, &marks[bangs..]);
    let with = |test| Ok(Some(Term { inverted, test }));
    let colon = marks.iter().position(|it| *it == (':', false));
    let Some(colon) = colon.filter(|at| *at > 0) else {
        let texts = lower(split(marks, &['|']));
        return if texts.is_empty() {
            Ok(None)
        } else {
            with(Test::Anything(texts))
        };
    };
    let name = text(&marks[..colon]);
    let Some(row) = field(&name)? else {
        let note = format!("`{name}:` is no field: taken as text");
        query.notes.push(note);
        return with(Test::Anything(vec![text(marks).to_lowercase()]));
    };
    let values = split(&marks[colon + 1..], &['|', ',']);
    if values.is_empty() {
        return Err(format!("`{}:` has no value yet", row.name));
    }
    let test = test(row, values, &mut query.wrong);
    Ok(test.map(|test| Term { inverted, test }))
}

fn lower(texts: Vec<String>) -> Vec<String> {
    let lowered = texts.into_iter().map(|text| text.to_lowercase());
    lowered.collect()
}

/// The field of this name or of this beginning; `None`: nothing like it is a field.
pub(super) fn field(name: &str) -> Result<Option<&'static FieldRow>, String> {
    let name = name.to_lowercase();
    if let Some(row) = FIELDS.iter().find(|row| row.name == name) {
        return Ok(Some(row));
    }
    let meant: Vec<&FieldRow> = FIELDS
        .iter()
        .filter(|row| row.name.starts_with(&name))
        .collect();
    if let [row] = meant.as_slice() {
        return Ok(Some(row));
    }
    if !meant.is_empty() {
        let names: Vec<&str> = meant.iter().map(|row| row.name).collect();
        return Err(format!("`{name}:` may be {}", names.join(" or ")));
    }
    match nearest(&name, FIELDS.iter().map(|row| row.name)) {
        Some(near) => Err(format!("no field `{name}`, did you mean `{near}`?")),
        None => Ok(None),
    }
}

/// The test of a field with the values that mean something; the others are told.
fn test(row: &FieldRow, values: Vec<String>, wrong: &mut Vec<String>) -> Option<Test> {
    fn good<T>(
        values: Vec<String>,
        wrong: &mut Vec<String>,
        read: impl Fn(String) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let mut all = Vec::new();
        for value in values {
            match read(value.to_lowercase()) {
                Ok(value) => all.push(value),
                Err(why) => wrong.push(why),
            }
        }
        (!all.is_empty()).then_some(all)
    }
    Some(match row.kind {
        Kind::Text => Test::Named(row.field, lower(values)),
        Kind::Word => Test::Named(row.field, good(values, wrong, |it| word(row, &it))?),
        Kind::Age => Test::Age(good(values, wrong, |it| age(&it))?),
        Kind::Cost => Test::Cost(good(values, wrong, |it| cost(&it))?),
    })
}

/// A word as it was typed, if it is one or the beginning of one.
fn word(row: &FieldRow, value: &str) -> Result<String, String> {
    let value = value.replace(char::is_whitespace, "-");
    let words = row.field.words();
    if words.iter().any(|word| word.starts_with(&value)) {
        return Ok(value);
    }
    let near = nearest(&value, words.iter().copied());
    match (near, row.field) {
        (Some(near), _) => Err(format!(
            "{} is never `{value}`, did you mean `{near}`?",
            row.name
        )),
        // A newer server may say something that we do not know.
        (None, Field::Reported) => Ok(value),
        (None, _) => Err(format!("{} is never `{value}`", row.name)),
    }
}

/// The side and the rest; without a sign more is meant.
fn than(value: &str) -> (Than, &str) {
    let sides = [
        (">=", Than::More),
        (">", Than::More),
        ("<=", Than::Less),
        ("<", Than::Less),
    ];
    let mut sides = sides.iter();
    let found = sides.find_map(|(sign, side)| Some((*side, value.strip_prefix(sign)?)));
    found.unwrap_or((Than::More, value))
}

fn age(value: &str) -> Result<(Than, Span), String> {
    let (side, rest) = than(value);
    match Span::parse(rest) {
        Some(span) => Ok((side, span)),
        None => Err(format!("age `{value}` is no span: say age:>5m or age:<1h")),
    }
}

fn cost(value: &str) -> Result<(Than, f64), String> {
    let (side, rest) = than(value);
    let dollars: Option<f64> = rest.trim_start_matches('$').parse().ok();
    match dollars.filter(|it| it.is_finite() && *it >= 0.0) {
        // The negative zero is printed with a sign that is not read again.
        Some(dollars) => Ok((side, dollars + 0.0)),
        None => Err(format!("cost `{value}` is no number: say cost:>1")),
    }
}

impl fmt::Display for Query {
    /// The filter that means the same, without what means nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, term) in self.terms.iter().enumerate() {
            let blank = if place > 0 { " " } else { "" };
            write!(f, "{blank}{term}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |texts: &[String]| texts.iter().map(|it| quoted(it)).collect::<Vec<_>>();
        let (field, values) = match &self.test {
            Test::Anything(texts) => (None, all(texts)),
            Test::Named(field, texts) => (Some(*field), all(texts)),
            Test::Age(ages) => (Some(Field::Age), compared(ages, |it| it.exact())),
            Test::Cost(costs) => (Some(Field::Cost), compared(costs, f64::to_string)),
        };
        let bang = if self.inverted { "!" } else { "" };
        let field = field.map_or(String::new(), |field| format!("{}:", field.row().name));
        write!(f, "{bang}{field}{}", values.join("|"))
    }
}

fn compared<T>(values: &[(Than, T)], print: impl Fn(&T) -> String) -> Vec<String> {
    let one = |(side, value): &(Than, T)| {
        let sign = if *side == Than::More { ">" } else { "<" };
        format!("{sign}{}", print(value))
    };
    values.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrong(text: &str) -> String {
        Query::parse(text).wrong.join("; ")
    }

    #[test]
    fn what_is_typed_is_understood() {
        for (typed, printed) in [
            ("Stuck", "stuck"),
            ("level:st", "level:st"),
            ("lev:STUCK,needs", "level:stuck|needs"),
            ("!dir:\"my work\"", "!dir:\"my work\""),
            ("is:\"running tool\"", "is:running-tool"),
            ("age:5m", "age:>5m"),
            ("age:<=90s", "age:<1m30s"),
            ("cost:>$1.50", "cost:>1.5"),
            ("reported:paused", "reported:paused"),
            ("\"!a:b|c\"", "\"!a:b|c\""),
            ("a|b c", "a|b c"),
            ("!!a", "a"),
            (":x", "\":x\""),
            ("", ""),
            ("! | level:,", ""),
        ] {
            let query = Query::parse(typed);
            assert_eq!(query.to_string(), printed, "{typed}: {query:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_told_with_the_nearest_right_one_and_the_rest_holds() {
        assert_eq!(
            wrong("levle:stuck"),
            "no field `levle`, did you mean `level`?"
        );
        assert_eq!(
            wrong("level:stukc"),
            "level is never `stukc`, did you mean `stuck`?"
        );
        assert_eq!(wrong("level:"), "`level:` has no value yet");
        assert_eq!(wrong("t:bash"), "`t:` may be tool or title");
        assert_eq!(
            wrong("age:>5"),
            "age `>5` is no span: say age:>5m or age:<1h"
        );
        assert_eq!(wrong("cost:much"), "cost `much` is no number: say cost:>1");
        let query = Query::parse("level:stuck|xyz tool:bash levle:x");
        assert_eq!(query.to_string(), "level:stuck tool:bash");
        assert_eq!(query.wrong.len(), 2, "{:?}", query.wrong);
    }

    #[test]
    fn what_looks_like_a_field_and_is_none_is_text() {
        let query = Query::parse("http://nas");
        assert_eq!(query.to_string(), "\"http://nas\"");
        assert_eq!(query.notes, ["`http:` is no field: taken as text"]);
        assert!(query.wrong.is_empty());
    }

    /// Texts of the signs that mean something, and of any others.
    fn typed() -> impl Strategy<Value = String> {
        let fields = FIELDS.iter().map(|row| format!("{}:", row.name));
        let words = FIELDS.iter().flat_map(|row| row.field.words());
        let mut known: Vec<String> = fields.chain(words.map(str::to_owned)).collect();
        let signs = [
            "!", "|", ",", ":", "\"", "\\", " ", ">", "<", ">5m", "<1h", "0.5", "-0", "a", "Σ",
        ];
        known.extend(signs.map(str::to_owned));
        let piece = prop_oneof![
            8 => prop::sample::select(known),
            1 => any::<char>().prop_map(|c| c.to_string()),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn what_is_printed_means_the_same(text in typed()) {
            let query = Query::parse(&text);
            let again = Query::parse(&query.to_string());
            prop_assert_eq!(&again.terms, &query.terms);
            prop_assert!(again.wrong.is_empty(), "{:?}", again.wrong);
            prop_assert!(again.notes.is_empty(), "{:?}", again.notes);
        }
    }
}
