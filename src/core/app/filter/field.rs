//! The fields that a filter can look at: THE table. Parsing, completion, help and README follow it.

use crate::core::judge::{ActivityState, FAMILY_FINDINGS, Level, RULES};

/// What a term of a filter looks at, if not at any word of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The level.
    Level,
    /// The findings.
    Finding,
    /// What is true.
    Is,
    /// What the server says.
    Reported,
    /// How long what is true has lasted.
    Age,
    /// US dollars so far.
    Cost,
    /// The server's name.
    Server,
    /// The directory.
    Dir,
    /// The tool that runs or is called.
    Tool,
    /// `provider/model`.
    Model,
    /// The agent.
    Agent,
    /// The title.
    Title,
    /// The session's id.
    Id,
}

/// How the values of a field are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One of the words that there are, or its beginning.
    Word,
    /// A text that is contained.
    Text,
    /// A span with `>` or `<`.
    Age,
    /// Dollars with `>` or `<`.
    Cost,
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub struct FieldRow {
    /// Which.
    pub field: Field,
    /// As it is typed, without the colon.
    pub name: &'static str,
    /// How its values are read.
    pub kind: Kind,
    /// What it looks at, for the README.
    pub meaning: &'static str,
    /// Something to type.
    pub example: &'static str,
}

const fn row(
    field: Field,
    name: &'static str,
    kind: Kind,
    meaning: &'static str,
    example: &'static str,
) -> FieldRow {
    FieldRow {
        field,
        name,
        kind,
        meaning,
        example,
    }
}

/// Every field, the most used first.
pub static FIELDS: [FieldRow; 13] = [
    row(
        Field::Level,
        "level",
        Kind::Word,
        "the level of the row: ok, watch, needs-you, stuck, unknown",
        "level:stuck|needs-you",
    ),
    row(
        Field::Finding,
        "finding",
        Kind::Word,
        "any of its findings, by name",
        "finding:hung-tool",
    ),
    row(
        Field::Is,
        "is",
        Kind::Word,
        "what is true (the words under ACTUALLY), or: settling, disagreeing, child, marked, snoozed",
        "is:running-tool",
    ),
    row(
        Field::Reported,
        "reported",
        Kind::Word,
        "what the server says: idle, busy, retry, unknown",
        "reported:busy",
    ),
    row(
        Field::Age,
        "age",
        Kind::Age,
        "how long it has been so (the column FOR)",
        "age:>5m",
    ),
    row(
        Field::Cost,
        "cost",
        Kind::Cost,
        "what it has cost so far, in dollars",
        "cost:>1",
    ),
    row(
        Field::Server,
        "server",
        Kind::Text,
        "the name of its server",
        "server:home",
    ),
    row(
        Field::Dir,
        "dir",
        Kind::Text,
        "its directory",
        "dir:/srv/tts",
    ),
    row(
        Field::Tool,
        "tool",
        Kind::Text,
        "the tool that runs or is being called",
        "tool:bash",
    ),
    row(
        Field::Model,
        "model",
        Kind::Text,
        "its model, with the provider",
        "model:deepseek",
    ),
    row(
        Field::Agent,
        "agent",
        Kind::Text,
        "its agent",
        "!agent:build",
    ),
    row(
        Field::Title,
        "title",
        Kind::Text,
        "its title only",
        "title:\"fix build\"",
    ),
    row(Field::Id, "id", Kind::Text, "its id", "id:ses_4f2a"),
];

/// Words of `is:` beside the activities.
pub(super) const STATES: [&str; 5] = ["settling", "disagreeing", "child", "marked", "snoozed"];

/// The levels as they are offered, the most urgent first.
const LEVELS: [Level; 5] = [
    Level::Stuck,
    Level::NeedsYou,
    Level::Watch,
    Level::Ok,
    Level::Unknown,
];

/// What is called so on servers only, and is a row here all the same.
pub(in crate::core::app) const ZOMBIE: &str = "zombie-run";

impl Field {
    /// Its line of the table.
    pub fn row(self) -> &'static FieldRow {
        let found = FIELDS.iter().find(|row| row.field == self);
        found.unwrap_or(&FIELDS[0])
    }

    /// The words that there are; empty where any text may stand.
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Field::Level => LEVELS.iter().map(|level| level.word()).collect(),
            Field::Finding => {
                let rules = RULES.iter().map(|rule| rule.id);
                let family = FAMILY_FINDINGS.iter().map(|(name, _)| *name);
                rules.chain(family).chain([ZOMBIE]).collect()
            }
            Field::Is => {
                let states = ActivityState::ALL.iter().map(|state| state.word());
                states.chain(STATES).collect()
            }
            Field::Reported => vec!["idle", "busy", "retry", "unknown"],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::app::filter::Query;

    #[test]
    fn every_field_stands_once_and_its_example_is_understood() {
        for row in &FIELDS {
            let same = FIELDS.iter().filter(|it| it.name == row.name).count();
            assert_eq!(same, 1, "{}", row.name);
            assert_eq!(row.field.row().name, row.name);
            let query = Query::parse(row.example);
            assert!(query.wrong.is_empty(), "{:?}", query.wrong);
            assert_eq!(query.terms.len(), 1, "{}", row.example);
            assert_eq!(row.kind == Kind::Word, !row.field.words().is_empty());
        }
    }
}
