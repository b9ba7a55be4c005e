//! A text to read: its lines, how they flow, which of them is shown first, what is found in it.
//!
//! Plain data, as [`super::screen`]; the view measures and draws it.

use super::{Line, Mark};
use crate::core::app::App;

/// How long lines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Flow {
    /// Broken between words, each under the last of its pieces.
    #[default]
    Words,
    /// Broken where the line is full, as a terminal does.
    Cells,
    /// Cut.
    Cut,
}

/// How long lines are shown where a key chooses: `wrapped`, or cut.
pub(super) fn long(app: &App, wrapped: Flow) -> Flow {
    if app.ui.cut_lines { Flow::Cut } else { wrapped }
}

/// Which part of a text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// From this line on, counted as shown.
    From(usize),
    /// Its end.
    End,
    /// From `from` on as well, but so that this line of the text is seen.
    Seek {
        /// Counted as shown.
        from: usize,
        /// Counted in the text.
        line: usize,
    },
}

impl Default for Place {
    fn default() -> Self {
        Place::From(0)
    }
}

/// What is looked for, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// As typed, cleaned.
    pub text: String,
    /// Cursor, in characters, while it is typed.
    pub cursor: Option<usize>,
    /// The line of the text that is looked at.
    pub line: Option<usize>,
    /// Which of the lines with it that is, from 1; 0: there is none.
    pub number: usize,
    /// Lines with it.
    pub of: usize,
}

/// A text to read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sheet {
    /// From top to bottom.
    pub lines: Vec<Line>,
    /// How long ones are shown.
    pub flow: Flow,
    /// What is shown of it.
    pub place: Place,
    /// The line that is pointed at.
    pub pointed: Option<usize>,
    /// What is found in it.
    pub found: Option<Found>,
    /// A word about it for the rule above; may be empty.
    pub note: String,
}

/// One of the panes of the detail, as its name stands in the rule above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// `story`, `live`, `log`, `parts`, `todo`, `usage`.
    pub name: &'static str,
    /// It is the one that is shown.
    pub current: bool,
}

/// What tells of one session: one of its panes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Detail {
    /// Title, id, place, agent, model, size.
    pub head: Line,
    /// The panes that there are.
    pub tabs: Vec<Tab>,
    /// The pane, below the head; `None`: the story, which is what follows.
    pub sheet: Option<Sheet>,
    /// What is found in the story.
    pub found: Option<Found>,
    /// What is shown of the story while it is open.
    pub place: Place,
    /// What is wrong (or is not) with its evidence; wrapped by the view.
    pub story: Vec<Line>,
    /// Timeline of the last turns, newest last; each line stands for itself and is cut, not wrapped.
    pub timeline: Vec<Line>,
    /// The live tail of what streams now.
    pub tail: Vec<Line>,
    /// The worst of each minute of the last hour, oldest first; `None` where it was not watched.
    pub hour: Vec<Option<Mark>>,
    /// Every rule that was tried, with its answer; only while the pane is open.
    pub rules: Vec<Line>,
}

/// A text over the whole screen (help, explain).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Heading.
    pub title: String,
    /// Lines; wrapped by the view.
    pub lines: Vec<Line>,
    /// First line shown.
    pub scroll: usize,
    /// How long lines are shown.
    pub flow: Flow,
    /// A line that has to be seen.
    pub seek: Option<usize>,
    /// What is found in it.
    pub found: Option<Found>,
}
