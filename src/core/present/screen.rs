//! The whole screen as plain data: what the dashboard draws and nothing else.
//!
//! Every text here came through [`crate::core::present::clean`]: no control or escape character
//! of a server reaches a terminal.

use super::{Command, Dialog, Form, Hint};
use crate::core::app::{Column, Sort, ThemeName};
use crate::core::judge::{Agreement, Level};
use crate::core::present::{Count, Detail, Page, Row, ServerChip};

/// What a text means; the theme turns it into a style. Nothing is said by tone alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tone {
    /// The terminal's own.
    Plain,
    /// Less important.
    Dim,
    /// A heading.
    Strong,
    /// Stuck.
    Stuck,
    /// Needs a person.
    NeedsYou,
    /// Watch.
    Watch,
    /// Working.
    Working,
    /// A key in the footer and help.
    Key,
    /// Report and activity contradict each other.
    Disagree,
    /// What is looked for stands here.
    Hit,
}

/// The mark before a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Stuck.
    Stuck,
    /// Needs you.
    NeedsYou,
    /// Watch.
    Watch,
    /// Would become this.
    Settling(Level),
    /// Ok and working.
    Working,
    /// Ok and at rest.
    Rest,
    /// Unknown.
    Unknown,
    /// It was seen as it is.
    Snoozed,
}

impl Mark {
    /// The glyph; `ascii` for terminals without UTF-8.
    pub fn glyph(self, ascii: bool) -> &'static str {
        let (utf8, plain) = match self {
            Mark::Stuck => ("✖", "X"),
            Mark::NeedsYou => ("◆", "?"),
            Mark::Watch => ("▲", "!"),
            Mark::Settling(_) => ("◌", "~"),
            Mark::Working => ("●", "*"),
            Mark::Rest => ("·", "."),
            Mark::Unknown => ("○", "o"),
            Mark::Snoozed => ("z", "z"),
        };
        if ascii { plain } else { utf8 }
    }
    /// How bad it is; higher is worse.
    pub fn rank(self) -> u8 {
        match self {
            Mark::Unknown => 0,
            Mark::Rest | Mark::Snoozed => 1,
            Mark::Working => 2,
            Mark::Settling(_) => 3,
            Mark::Watch => 4,
            Mark::NeedsYou => 5,
            Mark::Stuck => 6,
        }
    }
    /// Its tone.
    pub fn tone(self) -> Tone {
        match self {
            Mark::Stuck | Mark::Settling(Level::Stuck) => Tone::Stuck,
            Mark::NeedsYou | Mark::Settling(Level::NeedsYou) => Tone::NeedsYou,
            Mark::Watch | Mark::Settling(Level::Watch) => Tone::Watch,
            Mark::Working => Tone::Working,
            Mark::Rest | Mark::Settling(_) => Tone::Plain,
            Mark::Unknown | Mark::Snoozed => Tone::Dim,
        }
    }
}

/// The glyph between report and activity: `=`, `≠` (`!=`), or blank.
pub fn agreement_glyph(agreement: Agreement, ascii: bool) -> &'static str {
    match (agreement, ascii) {
        (Agreement::Agree, _) => "=",
        (Agreement::Disagree, false) => "≠",
        (Agreement::Disagree, true) => "!=",
        (Agreement::Unknown, _) => "",
    }
}

/// A piece of text with its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it says.
    pub text: String,
    /// What it means.
    pub tone: Tone,
}

impl Piece {
    /// Joins the two.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self {
            text: text.into(),
            tone,
        }
    }
}

/// A line of pieces.
pub type Line = Vec<Piece>;

/// The filter line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterLine {
    /// What was typed.
    pub text: String,
    /// Cursor, in characters; `None` when it is not being edited.
    pub cursor: Option<usize>,
    /// Rows that match.
    pub hits: usize,
    /// Rows in all.
    pub of: usize,
    /// What of it was not understood, and is left out; empty: all was, or it is being typed.
    pub wrong: String,
}

/// The first screen of a new user, in place of everything else but notice and footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// What is missing.
    pub title: String,
    /// What to do, a line each; wrapped by the view.
    pub steps: Vec<Line>,
    /// What happens meanwhile.
    pub waits: String,
}

/// Everything that is on the screen.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is told by itself")]
pub struct Screen {
    /// The servers.
    pub servers: Vec<ServerChip>,
    /// How many sessions per level; owners, not ancestors.
    pub counts: Vec<Count>,
    /// Projects that are not asked.
    pub asleep: usize,
    /// That the screen stands still, the fullest form first; empty: it does not.
    pub frozen: Vec<String>,
    /// The wall clock, `14:02`.
    pub clock: String,
    /// The rows after filter and folding, in their order: those that can be in sight.
    pub rows: Vec<Row>,
    /// How many more there are above and below them.
    pub beyond: [usize; 2],
    /// The selected row's place among all of them.
    pub selected: Option<usize>,
    /// The place of the first row shown; the view keeps the selected one visible.
    pub offset: usize,
    /// Said instead of rows when there are none.
    pub empty: Vec<String>,
    /// Of the selected row.
    pub detail: Option<Detail>,
    /// The detail is open over the table (narrow screens) or has the keys (wide ones).
    pub detail_open: bool,
    /// The filter, when set or being typed.
    pub filter: Option<FilterLine>,
    /// Only what needs attention is shown.
    pub attention_only: bool,
    /// How many sessions are not shown because they need no attention.
    pub calm: usize,
    /// A dialog over everything.
    pub dialog: Option<Dialog>,
    /// A form over everything.
    pub form: Option<Form>,
    /// A page over everything (help, explain).
    pub page: Option<Page>,
    /// The command line, while it is typed.
    pub command: Option<Command>,
    /// The first screen of a new user, in place of everything but notice and footer.
    pub greeting: Option<Greeting>,
    /// A word to the user, instead of the footer.
    pub notice: Option<Piece>,
    /// What the keys do for the selected row.
    pub footer: Vec<Hint>,
    /// Several servers: the server column is shown.
    pub several_servers: bool,
    /// The columns that were asked for, from left to right; none: what suits the width.
    pub columns: Vec<Column>,
    /// The order of the rows.
    pub sort: Sort,
    /// The servers are simulated.
    pub demo: bool,
    /// How many sessions are marked, whether their rows are shown or not.
    pub marked: usize,
    /// The theme that was chosen here; none: the one it was started with.
    pub theme: Option<ThemeName>,
}

impl Screen {
    /// How many rows there are, in sight or not.
    pub fn all_rows(&self) -> usize {
        let [above, below] = self.beyond;
        above + self.rows.len() + below
    }

    /// The rows from this place on, each with its place.
    pub fn rows_from(&self, first: usize) -> impl Iterator<Item = (usize, &Row)> {
        let [above, _] = self.beyond;
        let placed = (above..).zip(&self.rows);
        placed.skip(first.saturating_sub(above))
    }
}
