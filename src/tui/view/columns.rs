//! The columns of a table with one line a session: widths follow from the screen's width and from
//! which columns are asked for, so they stand still while the texts change.
//!
//! What it does: choose what fits, and where it stands. What it does not: draw. Invariant: the level
//! mark stands first, and the sign of agreement is there at every width.

use super::names::Names;
use crate::core::present::{Column, Screen};
use crate::tui::theme::Theme;
use ratatui::layout::Rect;

/// Columns from which a server is shown by its name instead of a tag.
pub(super) const NAMES: u16 = 100;
/// Cells from which the model and the cost are shown, and those from which the directory is.
const WIDE: [u16; 2] = [150, 170];
/// Cells that session and why get before any other column gets more than its least.
const RESERVED: u16 = 26;
/// An age.
pub(super) const AGE: u16 = 4;

/// What falls away first where not all fit; what the table is sorted by goes last.
const FALLS: [Column; 17] = [
    Column::Id,
    Column::Created,
    Column::Updated,
    Column::Children,
    Column::Messages,
    Column::Agent,
    Column::Directory,
    Column::Model,
    Column::Tool,
    Column::Tokens,
    Column::Cost,
    Column::Why,
    Column::Server,
    Column::Age,
    Column::Reported,
    Column::Activity,
    Column::Session,
];

/// Where a column begins and how many cells it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cells {
    pub x: u16,
    pub width: u16,
}

/// All columns, left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub mark: Cells,
    pub agreement: Cells,
    pub shown: Vec<(Column, Cells)>,
    /// The server column holds tags.
    pub tags: bool,
}

impl Columns {
    /// Where this column stands, if it is shown.
    pub fn get(&self, column: Column) -> Option<Cells> {
        let mut shown = self.shown.iter();
        shown.find(|it| it.0 == column).map(|it| it.1)
    }
}

/// The columns of a table in `area`, at least 60 cells wide.
pub(super) fn columns(area: Rect, screen: &Screen, theme: &Theme) -> Columns {
    let tags = area.width < NAMES;
    let server = Names::new(screen, tags, theme).width(theme);
    let sign = if theme.ascii() { 2 } else { 1 };
    // Margins, the mark, the sign, and a gap before the sign and before each column.
    let fixed = |count: usize| 1 + 1 + 1 + sign + 1 + u16::try_from(count).unwrap_or(u16::MAX);
    let mut wanted = asked(area.width, screen);
    let least = |column: Column| least(column, server);
    let total = |wanted: &[Column]| wanted.iter().map(|it| least(*it)).sum::<u16>();
    let keep = screen.sort.column;
    for falls in FALLS.into_iter().filter(|it| Some(*it) != keep) {
        if fixed(wanted.len()).saturating_add(total(&wanted)) <= area.width {
            break;
        }
        wanted.retain(|it| *it != falls);
    }
    let spare = area
        .width
        .saturating_sub(fixed(wanted.len()) + total(&wanted));
    let widths: Vec<u16> = wanted.iter().map(|it| least(*it)).collect();
    let widths = grown(&wanted, widths, spare, area.width);
    placed(area.x + 1, &wanted, &widths, sign, tags)
}

fn asked(width: u16, screen: &Screen) -> Vec<Column> {
    let mut columns = screen.columns.clone();
    if columns.is_empty() {
        columns.extend(Column::USUAL);
        if width >= WIDE[0] {
            columns.push(Column::Model);
            columns.extend((width >= WIDE[1]).then_some(Column::Directory));
            columns.push(Column::Cost);
        }
    }
    // By what it is sorted is seen, whatever was asked for.
    if let Some(sorted) = screen.sort.column.filter(|it| !columns.contains(it)) {
        let why = columns.iter().position(|it| *it == Column::Why);
        columns.insert(why.unwrap_or(columns.len()), sorted);
    }
    columns.retain(|it| *it != Column::Server || screen.several_servers);
    columns
}

/// Without less of it, it says nothing.
fn least(column: Column, server: u16) -> u16 {
    match column {
        Column::Server => server,
        Column::Session | Column::Why => 10,
        Column::Activity => 13,
        Column::Age => AGE,
        // The longest of ours: `unknown`, `retry 12`; its heading is as long. Of a point in time its
        // heading with the arrow.
        Column::Reported | Column::Tool | Column::Agent | Column::Updated | Column::Created => 8,
        Column::Model | Column::Id => 12,
        Column::Directory => 14,
        // With the arrow, too.
        Column::Cost | Column::Tokens => 7,
        Column::Children => 6,
        Column::Messages => 5,
    }
}

/// With so much of it, it says all that is usual.
fn most(column: Column, width: u16) -> u16 {
    let by = |narrow: u16, usual: u16, wide: u16| match width {
        0..100 => narrow,
        100..150 => usual,
        _ => wide,
    };
    match column {
        Column::Activity => by(13, 17, 24),
        Column::Tool => by(8, 10, 12),
        Column::Agent => by(8, 8, 10),
        Column::Model => by(12, 14, 18),
        Column::Directory => by(14, 18, 24),
        Column::Id => by(12, 12, 30),
        _ => 0,
    }
}

/// What is spare goes to texts, then to the session and to why; without them it stays blank.
fn grown(columns: &[Column], mut widths: Vec<u16>, mut spare: u16, width: u16) -> Vec<u16> {
    for (column, cells) in columns.iter().zip(&mut widths) {
        let more = most(*column, width).saturating_sub(*cells);
        let more = more.min(spare.saturating_sub(RESERVED));
        *cells += more;
        spare -= more;
    }
    let place = |column: Column| columns.iter().position(|it| *it == column);
    let activity = place(Column::Activity).map_or(0, |it| widths[it]);
    match (place(Column::Session), place(Column::Why)) {
        (Some(session), Some(why)) => {
            let room = spare + widths[session] + widths[why];
            [widths[session], widths[why]] = shares(room, activity);
        }
        (Some(only), None) | (None, Some(only)) => widths[only] += spare,
        (None, None) => {}
    }
    widths
}

/// Session and why of this room, beside so much of the activity: why shrinks first, then the session.
fn shares(room: u16, activity: u16) -> [u16; 2] {
    let session = ((room + activity) * 3 / 10).clamp(20, 48);
    let why = room.saturating_sub(session).max(10);
    [room.saturating_sub(why), why]
}

/// From left to right: the mark, the columns, and the sign behind what is reported, else before what is
/// true, else behind the first.
fn placed(x: u16, columns: &[Column], widths: &[u16], sign: u16, tags: bool) -> Columns {
    let mut x = x;
    let mut take = |width: u16| {
        let cells = Cells { x, width };
        x += width + 1;
        cells
    };
    let has = |column: Column| columns.contains(&column);
    let mark = take(1);
    let mut agreement = None;
    let mut shown = Vec::with_capacity(columns.len());
    for (column, width) in columns.iter().zip(widths) {
        if *column == Column::Activity && !has(Column::Reported) {
            agreement = agreement.or_else(|| Some(take(sign)));
        }
        shown.push((*column, take(*width)));
        let alone = !has(Column::Reported) && !has(Column::Activity);
        if *column == Column::Reported || alone {
            agreement = agreement.or_else(|| Some(take(sign)));
        }
    }
    Columns {
        mark,
        agreement: agreement.unwrap_or_else(|| take(sign)),
        shown,
        tags,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(width: u16, columns: &[Column], several: bool) -> Columns {
        let screen = Screen {
            columns: columns.to_vec(),
            several_servers: several,
            ..Screen::default()
        };
        let theme = Theme::new(true, false);
        super::columns(Rect::new(0, 0, width, 9), &screen, &theme)
    }

    #[test]
    fn why_shrinks_first_then_the_session() {
        for room in 20..=140 {
            let [session, why] = shares(room, 13);
            assert_eq!(session + why, room);
            assert!(session >= 10 && why >= 10, "at {room}");
            assert!(session >= 20 || why == 10, "at {room}");
        }
    }

    #[test]
    fn any_choice_fits_any_width_and_keeps_the_sign() {
        let mut all = FALLS.to_vec();
        for width in 60..=220 {
            for turn in 0..all.len() {
                all.rotate_left(1);
                let columns = table(width, &all[..=turn], true);
                let mut taken = vec![columns.mark, columns.agreement];
                taken.extend(columns.shown.iter().map(|it| it.1));
                taken.sort_by_key(|it| it.x);
                for pair in taken.windows(2) {
                    assert_eq!(pair[0].x + pair[0].width + 1, pair[1].x, "at {width}");
                }
                let end = taken.last().map_or(0, |it| it.x + it.width);
                assert!(end < width, "{end} at {width}: {columns:?}");
                assert!(columns.agreement.width > 0);
                assert!(!columns.shown.is_empty());
            }
        }
    }

    #[test]
    fn what_falls_away_is_what_matters_least() {
        let wide = [
            Column::Session,
            Column::Id,
            Column::Cost,
            Column::Reported,
            Column::Activity,
            Column::Age,
            Column::Why,
        ];
        let shown = |width| -> Vec<Column> {
            let columns = table(width, &wide, false);
            columns.shown.iter().map(|it| it.0).collect()
        };
        assert_eq!(shown(100), wide);
        let narrower: Vec<Column> = wide.into_iter().filter(|it| *it != Column::Id).collect();
        assert_eq!(shown(75), narrower);
        let least: Vec<Column> = narrower
            .into_iter()
            .filter(|it| *it != Column::Cost)
            .collect();
        assert_eq!(shown(60), least);
        let six = table(100, &[], true);
        assert_eq!(six.shown.len(), 6);
        assert_eq!(table(200, &[], true).shown.len(), 9);
        assert_eq!(
            table(200, &[], false).shown.len(),
            8,
            "one server has no column"
        );
    }

    #[test]
    fn what_the_table_is_sorted_by_stays() {
        let all = [
            Column::Session,
            Column::Id,
            Column::Reported,
            Column::Why,
            Column::Cost,
        ];
        let mut screen = Screen {
            columns: all.to_vec(),
            ..Screen::default()
        };
        let theme = Theme::new(true, false);
        let area = Rect::new(0, 0, 60, 9);
        // With what is true beside it, there is no room for the id.
        screen.columns.push(Column::Activity);
        let has_id = |screen: &Screen| columns(area, screen, &theme).get(Column::Id).is_some();
        assert!(!has_id(&screen));
        screen.sort.column = Some(Column::Id);
        assert!(has_id(&screen));
    }

    #[test]
    fn what_the_table_is_sorted_by_is_shown_even_if_nobody_asked_for_it() {
        let mut screen = Screen::default();
        screen.sort.column = Some(Column::Tokens);
        let theme = Theme::new(true, false);
        for width in [60, 80, 120, 200] {
            let columns = columns(Rect::new(0, 0, width, 9), &screen, &theme);
            assert!(columns.get(Column::Tokens).is_some(), "at {width}");
        }
    }

    #[test]
    fn the_sign_stands_between_what_it_compares() {
        let columns = table(
            80,
            &[Column::Activity, Column::Session, Column::Reported],
            false,
        );
        let reported = columns.get(Column::Reported).map(|it| it.x + it.width + 1);
        assert_eq!(Some(columns.agreement.x), reported);
        let columns = table(80, &[Column::Session, Column::Activity], false);
        let sign = columns.agreement;
        let activity = columns.get(Column::Activity).map(|it| it.x);
        assert_eq!(Some(sign.x + sign.width + 1), activity);
    }
}
