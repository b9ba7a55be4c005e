//! Reading with keys: a screenful is one, what is wrapped can be read, and the keys that are named are
//! the user's.

use super::desk::Desk;
use super::picture::{color, lines};
use ocwatch::core::app::keymap::{Action, Key, Keymap};

fn pressed(keys: &str, width: u16, height: u16) -> Vec<String> {
    let mut desk = Desk::new(width, height);
    desk.press(keys);
    lines(&desk.draw(&color()))
}

#[test]
fn a_page_key_moves_by_what_is_seen_of_the_text() {
    for (width, height) in [(40, 12), (80, 24), (120, 40)] {
        let mut desk = Desk::new(width, height);
        desk.press("? PgDn");
        let seen = usize::from(height) - 3;
        let scroll = desk.screen().page.map(|it| it.scroll);
        assert_eq!(scroll, Some(seen - 1), "help at {width}x{height}");
    }
    let mut desk = Desk::new(40, 12);
    desk.press("Enter");
    let before = lines(&desk.draw(&color()));
    desk.press("PgDn");
    let after = lines(&desk.draw(&color()));
    // The rows between the rule above and the footer; the last of them is now the first.
    assert_eq!(after[desk_top(&before)], before[10], "{before:?} {after:?}");
}

/// The first row of the open detail.
fn desk_top(lines: &[String]) -> usize {
    lines.iter().position(|it| it.contains("detail")).unwrap() + 1
}

#[test]
fn tab_takes_the_word_that_its_hint_names_and_no_hint_names_another() {
    let mut desk = Desk::new(80, 24);
    desk.press("/ 'le");
    let first = desk.app.offered().words[0].clone();
    let last = lines(&desk.draw(&color())).pop().unwrap();
    assert!(last.contains(&format!("Tab takes {first}")), "{last}");
    desk.press("Tab");
    assert!(desk.app.ui.filter.text.contains(&first));
    let mut desk = Desk::new(40, 12);
    desk.press("/ 'dir:");
    let last = lines(&desk.draw(&color())).pop().unwrap();
    let words = desk.app.offered().words;
    let named = format!("Tab takes {}", words[0]);
    assert!(
        !last.contains("Tab takes") || last.contains(&named),
        "{last}"
    );
}

#[test]
fn what_goes_on_in_the_next_line_begins_where_it_can_be_read() {
    let history = pressed("H", 40, 15);
    assert!(
        history[3].starts_with("   busy/running-tool"),
        "{history:?}"
    );
}

#[test]
fn long_lines_of_the_usage_are_cut_and_wrapped() {
    let pane = "Enter Tab Tab Tab Tab";
    let wrapped = pressed(pane, 40, 15);
    let cut = pressed(&format!("{pane} W"), 40, 15);
    assert!(
        wrapped.iter().any(|it| it == "   this session"),
        "{wrapped:?}"
    );
    assert!(!cut.iter().any(|it| it == "   this session"), "{cut:?}");
}

#[test]
fn texts_name_the_keys_that_were_chosen() {
    let mut desk = Desk::new(80, 24);
    let map = Keymap::with(&[
        (Action::Attention, vec![Key::F(2)]),
        (Action::Mark, vec![Key::F(3)]),
        (Action::History, vec![Key::F(4)]),
        (Action::Bottom, vec![Key::F(5)]),
    ]);
    desk.app.keymap = map.unwrap();
    let shown = |desk: &mut Desk, keys: &str, words: &str| {
        desk.press(keys);
        let text = lines(&desk.draw(&color())).join("\n");
        assert!(text.contains(words), "{words}: {text}");
    };
    shown(&mut desk, "e Enter Tab", "F4 shows them");
    shown(&mut desk, "Esc ? / 'marked_with Enter", "marked with F3");
    let live = "Esc Esc / 'Remote Enter Enter Tab Tab Tab Tab";
    shown(&mut desk, live, "[live]");
    desk.app.ui.scrolled_back = true;
    let sheet = desk.screen().detail.unwrap().sheet.unwrap();
    assert_eq!(sheet.note, "stands still, F5 follows");
    let calm = "Esc Esc : 'attention Enter / 'Rename Enter";
    shown(&mut desk, calm, "F2 shows all that pass it");
}
