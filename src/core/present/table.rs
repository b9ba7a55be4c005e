//! The header and the table as plain data: chips, counts and rows. Part of [`super::Screen`].

use super::{Mark, Piece, Tone};
use crate::core::app::Column;
use crate::core::id::SessionKey;
use crate::core::judge::Agreement;

/// One server in the header: `home ● 1.18.33`, `nas ○ unreachable 2m, next try in 8s`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerChip {
    /// Its name.
    pub name: String,
    /// Its mark: working when live, unknown when away.
    pub mark: Mark,
    /// The rest: version, or state with its age and the next try.
    pub text: String,
    /// Tone of the rest.
    pub tone: Tone,
}

/// One count in the header: `✖ 2 stuck`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Its mark.
    pub mark: Mark,
    /// How many.
    pub number: usize,
    /// With a filter: how many of them pass it.
    pub hits: Option<usize>,
    /// Further rows with this mark that only tell of them: those above, or cut off with their parent.
    pub echoes: usize,
    /// `stuck`, `need you`, `watch`, `working`, `at rest`, `unknown`.
    pub word: &'static str,
}

/// One session in the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Whose; identity is this, never the place.
    pub key: SessionKey,
    /// Its mark.
    pub mark: Mark,
    /// The server's name.
    pub server: String,
    /// Depth in the tree, from 0.
    pub depth: u16,
    /// Bit n: of its ancestor (or itself) at depth n, a sibling follows further down.
    pub trunk: u16,
    /// How many rows are folded away below it, at any depth.
    pub folded: usize,
    /// The mark of what needs attention most of them.
    pub inside: Option<Mark>,
    /// Marked for the next action.
    pub marked: bool,
    /// The title.
    pub title: String,
    /// `busy`, `idle`, `retry 3`, `unknown`.
    pub reported: String,
    /// Whether both can be true.
    pub agreement: Agreement,
    /// `running bash`, `done`; `was …` when unknown.
    pub activity: String,
    /// Age in it, at most four characters; blank when not known.
    pub age: String,
    /// A tool that runs for over 60 s: its age is emphasised.
    pub age_tone: Tone,
    /// The leading finding and its sentence, or what it is settling to; else blank.
    pub why: String,
    /// Short form for narrow screens: the finding's name.
    pub why_short: String,
    /// Tone of `why`.
    pub tone: Tone,
    /// Drawn dim: unknown, asleep, or shown only for what is below it.
    pub dim: bool,
    /// The result of the last action, shown in place of `why` until the next key.
    pub result: Option<Piece>,
    /// The texts of further columns, of those that this table may show.
    pub more: Vec<(Column, String)>,
}

impl Row {
    /// What stands in a column.
    pub fn text(&self, column: Column) -> &str {
        match column {
            Column::Server => &self.server,
            Column::Session => &self.title,
            Column::Reported => &self.reported,
            Column::Activity => &self.activity,
            Column::Age => &self.age,
            Column::Why => &self.why,
            _ => {
                let mut more = self.more.iter();
                let found = more.find(|(other, _)| *other == column);
                found.map_or("", |(_, text)| text.as_str())
            }
        }
    }
}
