//! The columns that a table can have: names, headings, meaning. One table; the configuration, the
//! headings, sorting and the README come from it.
//!
//! What it does not: widths (the view's) or values (`sort` has them to sort by, `present` as text).

/// A column of the table. The level mark always stands first and the sign of agreement beside what
/// is reported; they are no columns to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// The server's name; shown with several servers.
    Server,
    /// The title, as a tree.
    Session,
    /// What the server reports.
    Reported,
    /// What is true.
    Activity,
    /// For how long.
    Age,
    /// The leading finding.
    Why,
    /// The tool that runs or ran last.
    Tool,
    /// The model's name.
    Model,
    /// The agent.
    Agent,
    /// The project's directory.
    Directory,
    /// Dollars so far.
    Cost,
    /// Tokens so far, in and out.
    Tokens,
    /// How many messages are known.
    Messages,
    /// The last prompt or end of a turn.
    Updated,
    /// Creation.
    Created,
    /// The id.
    Id,
    /// Sessions below it.
    Children,
}

/// What there is to say of a column.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Which.
    pub column: Column,
    /// Its name in the configuration and after `--sort`.
    pub name: &'static str,
    /// Its heading.
    pub heading: &'static str,
    /// What it shows, for the README.
    pub meaning: &'static str,
    /// The order of its rows, and the reverse: `largest first`.
    pub orders: [&'static str; 2],
}

const A_TO_Z: [&str; 2] = ["A to Z", "Z to A"];
const LARGEST: [&str; 2] = ["largest first", "smallest first"];
const NEWEST: [&str; 2] = ["newest first", "oldest first"];

const fn about(
    column: Column,
    name: &'static str,
    heading: &'static str,
    meaning: &'static str,
    orders: [&'static str; 2],
) -> About {
    About {
        column,
        name,
        heading,
        meaning,
        orders,
    }
}

/// Every column, in the order of the README.
pub static COLUMNS: [About; 17] = [
    about(
        Column::Server,
        "server",
        "SERVER",
        "the server; not shown while there is only one",
        A_TO_Z,
    ),
    about(
        Column::Session,
        "session",
        "SESSION",
        "the title, children below their parents",
        A_TO_Z,
    ),
    about(
        Column::Reported,
        "reported",
        "REPORTED",
        "what the server reports",
        ["running first", "running last"],
    ),
    about(
        Column::Activity,
        "activity",
        "ACTUALLY",
        "what its messages and tool calls show",
        A_TO_Z,
    ),
    about(
        Column::Age,
        "age",
        "FOR",
        "for how long it has been at that",
        ["longest first", "shortest first"],
    ),
    about(
        Column::Why,
        "why",
        "WHY",
        "the leading finding and its sentence",
        A_TO_Z,
    ),
    about(
        Column::Tool,
        "tool",
        "TOOL",
        "the tool that it is at",
        A_TO_Z,
    ),
    about(
        Column::Model,
        "model",
        "MODEL",
        "the model, without its provider",
        A_TO_Z,
    ),
    about(Column::Agent, "agent", "AGENT", "the agent", A_TO_Z),
    about(
        Column::Directory,
        "directory",
        "DIRECTORY",
        "the folder of its project; its end is what is seen",
        A_TO_Z,
    ),
    about(
        Column::Cost,
        "cost",
        "COST",
        "dollars so far, as the server counts them; without its children",
        LARGEST,
    ),
    about(
        Column::Tokens,
        "tokens",
        "TOKENS",
        "tokens so far, in and out, as the server counts them; without its children",
        LARGEST,
    ),
    about(
        Column::Messages,
        "messages",
        "MSGS",
        "how many messages it has; `40+` where only the newest 40 are known",
        LARGEST,
    ),
    about(
        Column::Updated,
        "updated",
        "UPDATED",
        "how long ago it last had a prompt or the end of a turn",
        NEWEST,
    ),
    about(
        Column::Created,
        "created",
        "CREATED",
        "how long ago it was created",
        NEWEST,
    ),
    about(Column::Id, "id", "ID", "its id", A_TO_Z),
    about(
        Column::Children,
        "children",
        "BELOW",
        "how many sessions stand below it, at any depth",
        LARGEST,
    ),
];

impl Column {
    /// The columns of a table of 60 to 149 cells, where none are configured.
    pub const USUAL: [Column; 6] = [
        Column::Server,
        Column::Session,
        Column::Reported,
        Column::Activity,
        Column::Age,
        Column::Why,
    ];

    /// What there is to say of it.
    pub fn about(self) -> &'static About {
        let place = COLUMNS.iter().position(|it| it.column == self);
        &COLUMNS[place.unwrap_or(0)]
    }

    /// The column of this name.
    pub fn named(name: &str) -> Option<Column> {
        let found = COLUMNS.iter().find(|it| it.name == name);
        found.map(|it| it.column)
    }

    /// A number or an age: it stands at the right of its column, the largest first.
    pub fn is_number(self) -> bool {
        matches!(
            self,
            Column::Age
                | Column::Cost
                | Column::Tokens
                | Column::Messages
                | Column::Updated
                | Column::Created
                | Column::Children
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_column_has_one_name_and_is_found_by_it() {
        let names: BTreeSet<&str> = COLUMNS.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), COLUMNS.len());
        for about in &COLUMNS {
            assert_eq!(Column::named(about.name), Some(about.column));
            assert_eq!(about.column.about().name, about.name);
        }
        assert_eq!(Column::named("attention"), None);
    }
}
