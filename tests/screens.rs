//! What the dashboard draws: hand-made screens in, cells out, at the sizes people have.
//!
//! Each snapshot shows the text, then per line which spans have which style (`12-14 red+bold`).

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

#[path = "screens/desk.rs"]
mod desk;
#[path = "screens/fixture.rs"]
mod fixture;
#[path = "screens/hits.rs"]
mod hits;
#[path = "screens/picture.rs"]
mod picture;
#[path = "screens/reading.rs"]
mod reading;
#[path = "scenarios/spec.rs"]
#[expect(
    dead_code,
    reason = "what a scenario expects is of the scenarios' own test"
)]
mod spec;
#[path = "screens/views.rs"]
mod views;
#[path = "screens/wild.rs"]
mod wild;
#[path = "scenarios/world.rs"]
mod world;

use fixture::{
    chosen, dialog, empty, filtered, filtered_in_part, form, form_long, form_typing, frozen, help,
    hostile, many, one_server, ports, rich, with_result,
};
use insta::assert_snapshot;
use ocwatch::core::present::{Screen, ThemeName, screen};
use ocwatch::core::time::UnixMs;
use ocwatch::tui::{Theme, last_scroll, table_rows, view};
use picture::{color, draw, lines, picture};
use proptest::prelude::*;
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use std::collections::BTreeSet;
use views::VIEWS;
use wild::{texts, wild};

fn ascii_mono() -> Theme {
    Theme::new(false, true)
}

/// Every snapshot there is: name, screen, theme, width, height.
fn gallery() -> Vec<(&'static str, Screen, Theme, u16, u16)> {
    let opened = |mut screen: Screen| {
        screen.detail_open = true;
        screen
    };
    let mono = Theme::new(false, false);
    let ascii = Theme::new(false, true);
    vec![
        ("rich_40x12", rich(), color(), 40, 12),
        ("rich_40x15", rich(), color(), 40, 15),
        ("rich_80x24", rich(), color(), 80, 24),
        ("rich_120x40", rich(), color(), 120, 40),
        ("rich_200x50", rich(), color(), 200, 50),
        ("rich_mono_80x24", rich(), mono, 80, 24),
        ("rich_ascii_120x40", rich(), ascii.clone(), 120, 40),
        ("rich_ascii_40x15", rich(), ascii, 40, 15),
        ("one_server_80x24", one_server(), color(), 80, 24),
        ("result_100x24", with_result(), color(), 100, 24),
        ("result_80x12", with_result(), color(), 80, 12),
        ("result_40x12", with_result(), color(), 40, 12),
        ("chosen_60x24", chosen(), color(), 60, 24),
        ("chosen_80x24", chosen(), color(), 80, 24),
        ("chosen_120x40", chosen(), color(), 120, 40),
        ("chosen_ascii_200x50", chosen(), ascii_mono(), 200, 50),
        ("ports_80x24", ports(), color(), 80, 24),
        ("ports_120x24", ports(), color(), 120, 24),
        ("many_80x24", many(), color(), 80, 24),
        ("many_open_120x40", opened(many()), color(), 120, 40),
        ("open_80x24", opened(rich()), color(), 80, 24),
        ("open_40x15", opened(rich()), color(), 40, 15),
        ("filter_80x24", filtered(), color(), 80, 24),
        ("filter_40x12", filtered(), color(), 40, 12),
        ("filter_in_part_80x24", filtered_in_part(), color(), 80, 24),
        ("filter_in_part_40x12", filtered_in_part(), color(), 40, 12),
        ("frozen_80x24", frozen(), color(), 80, 24),
        ("frozen_40x12", frozen(), color(), 40, 12),
        ("dialog_80x24", dialog(), color(), 80, 24),
        ("dialog_40x12", dialog(), color(), 40, 12),
        ("form_80x24", form(), color(), 80, 24),
        ("form_40x12", form(), color(), 40, 12),
        ("form_ascii_mono_80x24", form(), ascii_mono(), 80, 24),
        ("form_typing_80x24", form_typing(), color(), 80, 24),
        ("form_typing_40x12", form_typing(), color(), 40, 12),
        ("form_long_80x24", form_long(), color(), 80, 24),
        ("help_80x24", help(), color(), 80, 24),
        ("help_40x12", help(), color(), 40, 12),
        ("empty_80x24", empty(), color(), 80, 24),
        ("hostile_120x40", hostile(), color(), 120, 40),
        ("hostile_40x15", hostile(), color(), 40, 15),
        ("tiny_18x4", rich(), color(), 18, 4),
    ]
}

#[test]
fn the_gallery_looks_as_reviewed() {
    for (name, screen, theme, width, height) in gallery() {
        let buffer = draw(&screen, &theme, width, height);
        assert_snapshot!(name, picture(&buffer));
    }
}

/// Keys in, screen out: a real app with an evening's sessions.
#[test]
fn every_view_looks_as_reviewed_at_every_size() {
    for (name, keys, words) in VIEWS {
        assert_snapshot!(*name, views::view(keys, words));
    }
}

fn theme_name(theme: ThemeName) -> String {
    format!("theme_{}", theme.word())
}

#[test]
fn the_main_view_looks_as_reviewed_in_every_theme() {
    for theme in ThemeName::ALL {
        assert_snapshot!(theme_name(theme), views::themed(theme));
    }
}

#[test]
fn every_stored_snapshot_is_in_the_gallery() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
    let stored: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("screens__"))
        .collect();
    let handmade = gallery().into_iter().map(|(name, ..)| name.to_owned());
    let views = VIEWS.iter().map(|(name, ..)| (*name).to_owned());
    let themes = ThemeName::ALL.map(theme_name);
    let known: BTreeSet<String> = handmade
        .chain(views)
        .chain(themes)
        .map(|name| format!("screens__{name}.snap"))
        .collect();
    pretty_assertions::assert_eq!(stored, known);
}

#[test]
fn with_reduced_motion_the_screen_stands_still_for_ten_seconds() {
    let mut desk = desk::Desk::new(120, 40);
    let at = |desk: &desk::Desk, ms: i64| screen(&desk.app, UnixMs(1_795_977_340_000 + ms));
    assert_ne!(at(&desk, 0), at(&desk, 1000), "ages and the clock move");
    desk.app.reduced_motion = true;
    assert_eq!(at(&desk, 0), at(&desk, 9_999));
    assert_ne!(at(&desk, 0), at(&desk, 10_000));
}

/// Every level and every disagreement is told apart by text alone, in ASCII alone.
#[test]
fn nothing_is_said_by_colour_or_by_utf8_alone() {
    for (width, height) in [(40, 30), (80, 24), (120, 40), (200, 50)] {
        let ascii = draw(&rich(), &Theme::new(false, true), width, height);
        let text = lines(&ascii).join("\n");
        assert!(text.is_ascii(), "{text}");
        assert!(ascii.content().iter().all(|cell| cell.fg == Color::Reset));
        let all: Vec<&str> = text.lines().collect();
        // What stands beside the table is none of its rows.
        let row = |line: &&str| line.split('|').next().map(str::to_owned);
        let rows: Vec<String> = all.iter().filter_map(row).collect();
        for (title, mark, disagrees) in [
            ("TTS-Ebook", "X", true),
            ("Web2Epub", "?", false),
            ("Refactor lexer", "!", false),
            ("OC Remote", "*", false),
            ("Fix build", "~", true),
            ("Rename things", ".", false),
            ("Custom Linux", "o", false),
        ] {
            let Some(at) = rows.iter().position(|line| line.contains(title)) else {
                assert!(width < 60, "{title} is missing at {width}x{height}");
                continue;
            };
            assert_eq!(rows[at].get(1..2), Some(mark), "{title} at {width}");
            let states = if width < 60 { &rows[at + 1] } else { &rows[at] };
            assert_eq!(states.contains("!="), disagrees, "{title} at {width}");
        }
    }
}

#[test]
fn mono_uses_no_colour_and_shows_the_selected_row() {
    let buffer = draw(&rich(), &Theme::new(false, false), 80, 24);
    let plain = |cell: &Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
    assert!(buffer.content().iter().all(plain));
    let reversed = |y| {
        let cells = (0..80).filter(|x| buffer[(*x, y)].modifier.contains(Modifier::REVERSED));
        cells.count()
    };
    assert_eq!(
        reversed(4),
        79,
        "all of the row but the sign of disagreement"
    );
    assert_eq!(reversed(5), 1, "only the sign of disagreement");
}

/// The columns stand where they stand with tame texts, whatever a server says.
#[test]
fn hostile_texts_stay_in_their_cells() {
    let tame = draw(&rich(), &color(), 120, 40);
    let column = |buffer: &Buffer, x: u16| -> Vec<String> {
        (4..16)
            .map(|y| buffer[(x, y)].symbol().to_owned())
            .collect()
    };
    let mut screen = hostile();
    screen.servers = rich().servers;
    let wild = draw(&screen, &color(), 120, 40);
    for gap in [2, 9, 37, 46, 48, 66, 71] {
        assert!(
            column(&wild, gap).iter().all(|cell| cell == " "),
            "column {gap}"
        );
    }
    assert_eq!(column(&tame, 47), column(&wild, 47));
    assert_eq!(column(&tame, 1), column(&wild, 1));
    for cell in draw(&hostile(), &color(), 120, 40).content() {
        let obeyed = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!cell.symbol().contains(obeyed), "{:?}", cell.symbol());
    }
}

#[test]
fn help_is_always_offered() {
    for width in 20..=130 {
        for height in [5, 12, 24, 40] {
            let last = lines(&draw(&rich(), &color(), width, height))
                .pop()
                .unwrap();
            assert!(last.contains("? help"), "{width}x{height}: {last}");
        }
    }
}

#[test]
fn the_selected_row_is_on_screen_at_every_size() {
    for (width, height) in [(40, 12), (40, 15), (60, 6), (80, 24), (120, 40)] {
        for selected in [0, 7, 29, 55] {
            let mut screen = many();
            screen.selected = Some(selected);
            let pointed = lines(&draw(&screen, &color(), width, height));
            let pointed = pointed.iter().find(|line| line.starts_with('▌')).unwrap();
            let title = screen.rows[selected]
                .title
                .get(..9.min(screen.rows[selected].title.len()));
            assert!(
                pointed.contains(title.unwrap()),
                "{selected} at {width}x{height}: {pointed}"
            );
        }
    }
}

#[test]
fn page_keys_move_by_what_is_seen() {
    let rows = |width, height| table_rows(Rect::new(0, 0, width, height), &many());
    assert_eq!(rows(40, 12), 5);
    assert_eq!(rows(80, 24), 18);
    assert_eq!(rows(120, 40), 20);
    assert_eq!(rows(10, 2), 0);
}

#[test]
fn the_cursor_of_a_form_stands_behind_what_is_typed_at_every_size() {
    for (width, height) in [(40, 12), (60, 14), (80, 24), (120, 40)] {
        let area = Rect::new(0, 0, width, height);
        let screen = form_typing();
        let at = view::cursor(&screen, &color(), area).unwrap();
        let buffer = draw(&screen, &color(), width, height);
        assert_eq!(buffer[(at.x - 1, at.y)].symbol(), "l", "{width}x{height}");
        assert_eq!(view::cursor(&form(), &color(), area), None);
    }
}

#[test]
fn what_is_pointed_at_is_seen_and_the_text_above_can_be_scrolled_to() {
    for (width, height) in [(40, 12), (80, 24), (120, 40)] {
        let area = Rect::new(0, 0, width, height);
        let mut screen = form_long();
        let shown = |screen: &Screen| lines(&draw(screen, &color(), width, height)).join("\n");
        assert!(shown(&screen).contains("> (*)"), "{width}x{height}");
        screen.form.as_mut().unwrap().scroll = last_scroll(area, &screen, &color());
        assert!(shown(&screen).contains("Port: 8080"), "{width}x{height}");
        assert!(
            !lines(&draw(&screen, &color(), width, height))
                .last()
                .unwrap()
                .contains("│")
        );
    }
}

#[test]
fn scrolling_ends_where_the_text_does() {
    let area = Rect::new(0, 0, 40, 12);
    let mut screen = help();
    let last = last_scroll(area, &screen, &color());
    screen.page.as_mut().unwrap().scroll = last;
    let at_end = lines(&draw(&screen, &color(), 40, 12));
    assert!(
        at_end[10].contains("becom") || at_end[10].contains("stays so"),
        "{at_end:?}"
    );
    screen.page.as_mut().unwrap().scroll = usize::MAX;
    assert_eq!(lines(&draw(&screen, &color(), 40, 12)), at_end);
}

#[test]
fn the_cursor_stands_behind_what_is_typed() {
    let area = Rect::new(0, 0, 40, 12);
    let mut screen = filtered();
    let cursor = |screen: &Screen| view::cursor(screen, &color(), area).map(|at| (at.x, at.y));
    assert_eq!(cursor(&screen), Some((15, 10)));
    let line = screen.filter.as_mut().unwrap();
    line.text = "日本語 ".repeat(20);
    line.cursor = Some(80);
    let (x, y) = cursor(&screen).unwrap();
    let buffer = draw(&screen, &color(), 40, 12);
    assert_eq!(buffer[(x - 1, y)].symbol(), " ", "the blank typed last");
    assert_eq!(
        buffer[(x - 3, y)].symbol(),
        "語",
        "and what stands before it"
    );
    screen.filter.as_mut().unwrap().cursor = None;
    assert_eq!(cursor(&screen), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever titles and words a server has, what stands beside them stands where it stood: no cell
    /// claims more than it has, and text from right to left ends before the next column.
    #[test]
    fn columns_stay_straight(texts in prop::collection::vec(texts(), 12), ascii: bool) {
        let theme = Theme::new(true, ascii);
        let mut screen = rich();
        for (row, text) in screen.rows.iter_mut().zip(&texts) {
            row.title.clone_from(text);
            row.activity.clone_from(text);
        }
        let [tame, wild] = [rich(), screen].map(|screen| draw(&screen, &theme, 120, 40));
        for y in 4..16 {
            for x in [0, 1, 2, 46, 47, 48] {
                let [tame, wild] = [&tame, &wild].map(|it| it[(x, y)].symbol().to_owned());
                prop_assert_eq!(tame, wild, "at {},{}", x, y);
            }
        }
        for cell in wild.content() {
            let sum: u16 = cell.symbol().chars().map(|c| c.encode_utf8(&mut [0; 4]).cell_width()).sum();
            prop_assert!(sum <= 2 && sum == cell.symbol().cell_width().max(1), "{:?}", cell.symbol());
        }
    }

    /// No size, no text and no state makes a view panic or draw outside its area.
    #[test]
    fn drawing_keeps_to_its_area(
        width in 0_u16..=130,
        height in 0_u16..=50,
        texts in prop::collection::vec(texts(), 1..8),
        seed: u64,
        colored: bool,
        ascii: bool,
    ) {
        let whole = Rect::new(0, 0, width + 5, height + 4);
        let area = Rect::new(2, 3, width, height);
        let mut buffer = Buffer::filled(whole, Cell::new("#"));
        let screen = wild(&texts, seed);
        let theme = Theme::new(colored, ascii);
        view::draw(&screen, &theme, area, &mut buffer);
        for position in whole.positions() {
            let symbol = buffer[position].symbol();
            if area.contains(position) {
                prop_assert!(!ascii || symbol.is_ascii(), "{:?}", symbol);
                let room = area.right() - position.x;
                prop_assert!(symbol.cell_width() <= room, "{:?} hangs over", symbol);
            } else {
                prop_assert_eq!(symbol, "#", "outside, at {}", position);
            }
        }
        if let Some(cursor) = view::cursor(&screen, &theme, area) {
            prop_assert!(area.contains(cursor), "cursor at {}", cursor);
        }
        prop_assert!(table_rows(area, &screen) <= height);
    }
}
