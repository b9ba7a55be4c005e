//! The columns of a table with one line a session: widths follow from the screen's width alone,
//! so they stand still while the texts change.

use crate::core::present::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// Columns from which a server is shown by its name instead of a tag.
const NAMES: u16 = 100;
/// The longest of ours: `unknown`, `retry 12`; its heading is as long.
const REPORTED: u16 = 8;
/// An age.
pub(super) const AGE: u16 = 4;

/// One column: where it begins and how many cells it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub x: u16,
    pub width: u16,
}

/// All columns, left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub mark: Column,
    /// Of no width with a single server.
    pub server: Column,
    pub session: Column,
    pub reported: Column,
    pub agreement: Column,
    pub activity: Column,
    pub age: Column,
    pub why: Column,
    /// The server column holds tags.
    pub tags: bool,
}

/// The columns of a table in `area`, at least 60 cells wide.
pub(super) fn columns(area: Rect, screen: &Screen, theme: &Theme) -> Columns {
    let tags = area.width < NAMES;
    let server = server_width(screen, tags, theme);
    let agreement = if theme.ascii() { 2 } else { 1 };
    let gaps = if server == 0 { 6 } else { 7 };
    let fixed = 1 + 1 + 1 + server + REPORTED + agreement + AGE + gaps;
    let [session, activity, why] = shares(area.width.saturating_sub(fixed), area.width);
    let mut x = area.x + 1;
    let mut take = |width: u16| {
        let column = Column { x, width };
        x += if width == 0 { 0 } else { width + 1 };
        column
    };
    Columns {
        mark: take(1),
        server: take(server),
        session: take(session),
        reported: take(REPORTED),
        agreement: take(agreement),
        activity: take(activity),
        age: take(AGE),
        why: take(why),
        tags,
    }
}

fn server_width(screen: &Screen, tags: bool, theme: &Theme) -> u16 {
    let longest = || screen.servers.iter().map(|s| text::width(&s.name, theme));
    match (screen.several_servers, tags) {
        (false, _) => 0,
        (true, true) => 2,
        (true, false) => longest().max().unwrap_or(0).clamp(6, 12),
    }
}

/// Session, activity, why: why shrinks first, then the session.
fn shares(room: u16, width: u16) -> [u16; 3] {
    let activity = match width {
        0..100 => 13,
        100..150 => 17,
        _ => 24,
    };
    let rest = room.saturating_sub(activity);
    let session = (room * 3 / 10).clamp(20, 48);
    let why = rest.saturating_sub(session).max(10);
    [rest.saturating_sub(why), activity, why]
}

/// A tag of two cells for each server, in order; different where a name can be told apart.
pub(super) fn tags(names: &[&str]) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let letters: Vec<char> = name.chars().filter(|c| c.is_alphanumeric()).collect();
        let first = letters.first().copied().unwrap_or('s');
        let digit = char::from_digit(u32::try_from(place % 10).unwrap_or(0), 10);
        let seconds = letters.iter().skip(1).copied().chain(digit);
        let mut candidates = seconds.map(|second| format!("{first}{second}"));
        let fallback = format!("{first}{}", digit.unwrap_or('0'));
        let tag = candidates.find(|tag| !tags.contains(tag));
        tags.push(tag.unwrap_or(fallback));
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_servers_apart() {
        assert_eq!(tags(&["home", "build", "nas"]), ["ho", "bu", "na"]);
        assert_eq!(tags(&["build1", "build2"]), ["bu", "bi"]);
        assert_eq!(tags(&["a", "a", ""]), ["a0", "a1", "s2"]);
    }

    #[test]
    fn why_shrinks_first_then_the_session() {
        for width in 60..=200 {
            let [session, activity, why] = shares(width - 26, width);
            assert_eq!(session + activity + why, width - 26, "at {width}");
            assert!(session >= 10 && why >= 10, "at {width}");
            assert!(session >= 20 || why == 10, "at {width}");
        }
    }
}
