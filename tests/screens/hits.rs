//! What lies under the pointer: what is answered of a cell is what is drawn there.

use super::fixture::{dialog, filtered, form, help, many, rich};
use super::picture::{color, draw};
use super::wild::{texts, wild};
use ocwatch::core::present::{Screen, Tab, Target};
use ocwatch::tui::{Theme, hit};
use proptest::prelude::*;
use ratatui::layout::Rect;

/// Cells side by side with one target, as drawn, from top to bottom.
fn runs(screen: &Screen, theme: &Theme, width: u16, height: u16) -> Vec<(Target, String)> {
    let area = Rect::new(0, 0, width, height);
    let buffer = draw(screen, theme, width, height);
    let mut runs: Vec<(Target, String)> = Vec::new();
    for y in 0..height {
        let mut last = None;
        for x in 0..width {
            let target = hit(screen, theme, area, x, y);
            if let Some(target) = &target {
                if last.as_ref() != Some(target) {
                    runs.push((target.clone(), String::new()));
                }
                if let Some((_, text)) = runs.last_mut() {
                    text.push_str(buffer[(x, y)].symbol());
                }
            }
            last = target;
        }
    }
    runs
}

#[test]
fn a_cell_means_what_is_drawn_there() {
    let open = |mut screen: Screen| {
        screen.detail_open = true;
        let names = ["story", "live", "log", "parts"].into_iter();
        let tabs = names.map(|name| Tab {
            name,
            current: name == "log",
        });
        screen.detail.as_mut().unwrap().tabs = tabs.collect();
        screen
    };
    let screens = [open(rich()), rich(), many(), filtered()];
    let mut kinds = [0; 5];
    for screen in screens.map(|mut screen| {
        screen.notice = None;
        screen
    }) {
        for (width, height) in [(40, 12), (40, 15), (80, 24), (120, 40), (200, 50)] {
            for (target, text) in runs(&screen, &color(), width, height) {
                let told = text.trim();
                match &target {
                    Target::Row(key) => {
                        kinds[0] += 1;
                        assert!(screen.rows.iter().any(|row| row.key == *key));
                    }
                    Target::Heading(Some(column)) => {
                        kinds[1] += 1;
                        let heading = column.about().heading;
                        let is_tag = told.is_empty();
                        assert!(is_tag || told.starts_with(heading), "{target:?}: {text:?}");
                    }
                    Target::Hint(action)
                        if screen.footer.iter().any(|it| it.action == Some(*action)) =>
                    {
                        kinds[2] += 1;
                        let mut hints = screen.footer.iter();
                        let hint = hints.find(|it| it.action == Some(*action)).unwrap();
                        let is_rule = told.contains('/') && told.len() < 5;
                        let wanted = format!("{} {}", hint.key, hint.words);
                        assert!(is_rule || told == wanted.trim(), "{wanted:?}: {text:?}");
                    }
                    Target::Pane(name) => {
                        kinds[3] += 1;
                        assert_eq!(told.trim_matches(['[', ']', ' ']), *name);
                    }
                    Target::Detail => kinds[4] += 1,
                    _ => {}
                }
            }
        }
    }
    assert!(kinds.iter().all(|count| *count > 3), "{kinds:?}");
}

#[test]
fn the_first_cells_of_a_row_are_its_own() {
    let screen = many();
    for (width, height) in [(40, 12), (80, 24), (120, 40)] {
        let found = runs(&screen, &color(), width, height);
        let rows = found.iter().filter_map(|(target, text)| match target {
            Target::Row(key) => Some((key, text)),
            _ => None,
        });
        let mut seen = 0;
        for (key, text) in rows {
            let row = screen.rows.iter().find(|row| row.key == *key).unwrap();
            let title: String = row.title.chars().take(4).collect();
            // The second of two lines tells something else.
            let first = text.contains(&title);
            assert!(first || width < 60, "{title:?} is not in {text:?}");
            seen += usize::from(first);
        }
        assert!(seen > 2, "{seen} at {width}");
    }
}

#[test]
fn what_is_covered_is_not_reached() {
    for screen in [dialog(), form(), help()] {
        let found = runs(&screen, &color(), 100, 30);
        assert!(found.iter().any(|it| it.0 == Target::Over));
        for (target, text) in found {
            let is_hint = matches!(target, Target::Hint(_)) && screen.page.is_some();
            assert!(is_hint || target == Target::Over, "{target:?}: {text:?}");
        }
    }
    assert!(runs(&rich(), &color(), 19, 4).is_empty(), "too small");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any cell of any screen is something that is on it, or nothing; none makes it panic.
    #[test]
    fn any_cell_is_something_or_nothing(
        width in 0_u16..=200,
        height in 0_u16..=50,
        texts in prop::collection::vec(texts(), 1..8),
        seed: u64,
        cells in prop::collection::vec((0_u16..=210, 0_u16..=60), 40),
        ascii: bool,
    ) {
        let area = Rect::new(2, 3, width, height);
        let screen = wild(&texts, seed);
        let theme = Theme::new(true, ascii);
        for (x, y) in cells.into_iter().chain([(u16::MAX, u16::MAX), (0, 0)]) {
            let found = hit(&screen, &theme, area, x, y);
            prop_assert!(found.is_none() || area.contains((x, y).into()), "outside");
            if let Some(Target::Row(key)) = &found {
                prop_assert!(screen.rows.iter().any(|row| row.key == *key));
            }
        }
    }
}
