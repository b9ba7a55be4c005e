//! Finds what is looked for in a page or in the detail.
//!
//! What it does: which lines have it, without regard to case, and which of them is looked at. What
//! it does not: mark it on the screen; the view knows where a line is broken.

use super::{Found, Line, Place, clean};
use crate::core::app::{App, Seek};

/// What is found in these lines; `None` while nothing is looked for.
pub(super) fn found<'a>(app: &App, lines: impl Iterator<Item = &'a Line>) -> Option<Found> {
    let search = app.ui.search.as_ref()?;
    let text = clean(&search.line.text);
    let wanted = folded(&text);
    let mut hits = Vec::new();
    if !wanted.is_empty() {
        for (place, line) in lines.enumerate() {
            if folded(&joined(line)).contains(&wanted) {
                hits.push(place);
            }
        }
    }
    let at = place_of(search.hit, hits.len());
    Some(Found {
        cursor: search.typing.then_some(search.line.cursor),
        line: at.and_then(|at| hits.get(at)).copied(),
        number: at.map_or(0, |at| at + 1),
        of: hits.len(),
        text,
    })
}

/// A hit counted around, from either end.
fn place_of(hit: isize, of: usize) -> Option<usize> {
    let count = isize::try_from(of).ok().filter(|of| *of > 0)?;
    usize::try_from(hit.rem_euclid(count)).ok()
}

/// The line that has to come in sight.
pub(super) fn sought(app: &App, found: Option<&Found>, pointed: Option<usize>) -> Option<usize> {
    match app.ui.seek? {
        Seek::Hit => found?.line,
        Seek::Point => pointed,
    }
}

/// Where the open detail is shown from.
pub(super) fn place(app: &App, found: Option<&Found>, pointed: Option<usize>) -> Place {
    let from = app.ui.detail_scroll;
    match sought(app, found, pointed) {
        Some(line) => Place::Seek { from, line },
        None => Place::From(from),
    }
}

fn joined(line: &Line) -> String {
    line.iter().map(|piece| piece.text.as_str()).collect()
}

/// As it is compared: character by character in lower case, so that places stay the same.
pub fn folded(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) => one,
                _ => c,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_counted_around_from_either_end() {
        assert_eq!(place_of(0, 3), Some(0));
        assert_eq!(place_of(4, 3), Some(1));
        assert_eq!(place_of(-1, 3), Some(2));
        assert_eq!(place_of(-4, 3), Some(2));
        assert_eq!(place_of(0, 0), None);
    }

    #[test]
    fn case_does_not_matter_and_no_character_is_lost() {
        assert_eq!(folded("GRÖSSE İx"), "grösse İx");
    }
}
