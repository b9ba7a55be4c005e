//! By what the table is sorted, and the keys that change it.
//!
//! What it does: name the order, read it from text, go to the next. What it does not: put rows into
//! it; `order` does.

use crate::core::app::keymap::{Action, Key};
use crate::core::app::{App, Column, Effect};

/// The name of the default order.
pub const ATTENTION: &str = "attention";

/// What tells the largest and the newest: `o` comes to these on every screen.
const SIZES: [Column; 4] = [
    Column::Cost,
    Column::Tokens,
    Column::Messages,
    Column::Updated,
];

/// The order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sort {
    /// By this column; `None`: what needs attention first.
    pub column: Option<Column>,
    /// The other way round.
    pub reversed: bool,
}

impl Sort {
    /// Reads `attention`, the name of a column, or either with a `-` before it: reversed.
    pub fn parse(text: &str) -> Option<Self> {
        let (reversed, name) = match text.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, text),
        };
        let column = match name {
            ATTENTION => None,
            _ => Some(Column::named(name)?),
        };
        Some(Self { column, reversed })
    }

    /// `sorted by cost, largest first`.
    pub fn words(self) -> String {
        let at = usize::from(self.reversed);
        match self.column {
            None => ["what needs attention first", "what needs attention last"][at].to_owned(),
            Some(column) => {
                let about = column.about();
                format!("sorted by {}, {}", about.name, about.orders[at])
            }
        }
    }
}

impl App {
    /// `o`: by the next column that is shown, from left to right, then by what it costs and the like,
    /// shown or not; attention stands before the first.
    pub(super) fn sort_next(&mut self) -> Vec<Effect> {
        let shown = self.ui.columns.iter();
        let shown = shown.filter(|it| !SIZES.contains(it));
        let order: Vec<Column> = shown.chain(&SIZES).copied().collect();
        let here = self.ui.sort.column;
        let place = here.and_then(|it| order.iter().position(|other| *other == it));
        let next = match (here, place) {
            (None, _) => order.first(),
            (Some(_), Some(place)) => order.get(place + 1),
            // It went with a narrower screen.
            (Some(_), None) => None,
        };
        self.sort_by(next.copied())
    }

    /// `O`: the other way round.
    pub(super) fn sort_reverse(&mut self) -> Vec<Effect> {
        self.ui.sort.reversed = !self.ui.sort.reversed;
        self.sorted()
    }

    /// `1`-`9`: by the column of those that are shown that is the key's; again: the other way round.
    pub(super) fn sort_nth(&mut self, key: Key) -> Vec<Effect> {
        let mut keys = self.keymap.keys(Action::SortColumn).iter();
        match keys.position(|it| *it == key) {
            Some(place) => self.sort_at(place),
            None => self.sort_next(),
        }
    }

    /// By the column at this place, from 0; again: the other way round.
    pub(super) fn sort_at(&mut self, place: usize) -> Vec<Effect> {
        let shown = self.ui.columns.len();
        match self.ui.columns.get(place) {
            Some(column) => self.sort_by_or_reverse(Some(*column)),
            None => self.tell(&format!("only {shown} columns are shown")),
        }
    }

    /// In this order.
    pub(super) fn sort_so(&mut self, sort: Sort) -> Vec<Effect> {
        self.ui.sort = sort;
        self.sorted()
    }

    /// By this column (`None`: attention first), or, if it is so already, the other way round.
    pub(super) fn sort_by_or_reverse(&mut self, column: Option<Column>) -> Vec<Effect> {
        if self.ui.sort.column == column {
            return self.sort_reverse();
        }
        self.sort_by(column)
    }

    fn sort_by(&mut self, column: Option<Column>) -> Vec<Effect> {
        self.sort_so(Sort {
            column,
            reversed: false,
        })
    }

    /// Whoever sorts wants to see what comes first: the selection goes there.
    fn sorted(&mut self) -> Vec<Effect> {
        self.refresh_rows();
        self.select(isize::MIN);
        self.tell(&self.ui.sort.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_from_its_name() {
        let by = |text| Sort::parse(text).map(|it| (it.column, it.reversed));
        assert_eq!(by("attention"), Some((None, false)));
        assert_eq!(by("-attention"), Some((None, true)));
        assert_eq!(by("cost"), Some((Some(Column::Cost), false)));
        assert_eq!(by("-age"), Some((Some(Column::Age), true)));
        assert_eq!(by("kost"), None);
        assert_eq!(by("--age"), None);
    }
}
