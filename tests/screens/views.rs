//! Every view and every dialog, reached by keys, at the four sizes that people have.

use super::desk::Desk;
use super::picture::{lines, picture};
use ocwatch::core::present::ThemeName;
use ocwatch::tui::{Depth, Theme};
use ratatui::style::Color;

/// A small terminal, the usual one, a large one, a whole screen.
pub const SIZES: [(u16, u16); 4] = [(40, 15), (80, 24), (120, 40), (200, 50)];

/// A view, the keys that lead to it, and words that tell that it is this one.
pub const VIEWS: &[(&str, &str, &str)] = &[
    ("view_table", "", "TTS-Ebook"),
    ("view_attention", "!", "attention only"),
    ("view_marked", "space j space", "✖+ho"),
    ("view_folded", "j h", "Port the parser +"),
    ("view_result", "e", "export done"),
    ("view_detail", "Enter", "stale-busy since"),
    ("view_state_log", "Enter Tab", "stale-busy"),
    ("view_parts", "Enter Tab Tab", "user msg_t1"),
    ("view_part", "Enter Tab Tab Enter", "\"type\": \"text\""),
    ("view_todo", "Enter Tab Tab Tab", "1 of 3 done"),
    ("view_usage", "Enter Tab Tab Tab Tab", "this session"),
    ("view_live", "/ 'Remote Enter Enter Tab", "[live]"),
    ("view_history", "H", "->"),
    ("view_search", "Enter / 'index Enter", "/index 1 of"),
    ("view_filter", "/ 'busy", "8 of 14"),
    ("view_filtered", "/ 'parser Enter", "3 of 14"),
    ("view_no_hits", "/ 'nothing_like_it Enter", "nothing like"),
    ("view_help", "?", "Keys"),
    ("view_help_search", "? / 'mark Enter", "mark"),
    ("view_explain", "x", "Rules tried"),
    ("view_log", "e H", "export"),
    ("view_log_empty", "H", "History"),
    ("dialog_abort_one", "j a", "Abort"),
    ("dialog_abort_many", "space j space a", "Abort"),
    ("dialog_reset", "/ 'Local Enter R", "Reset"),
    ("dialog_load", "G L", "Load"),
    ("dialog_resend", "/ 'Translate Enter s", "Resend"),
    ("view_command", ": 'ex Tab", "export"),
    ("view_command_wrong", ": 'abrot Enter", "`abort`?"),
    ("dialog_load_all", ": 'load-all Enter", "Load"),
    ("form_question", "/ 'Web2 Enter r", "Which port"),
    ("form_permission", "/ 'clean Enter r", "rm -r build"),
    ("form_always", "/ 'clean Enter Y", "always"),
    ("form_deny", "/ 'clean Enter d", "Deny"),
];

/// The view at each of the sizes, with its styles where it is 80 columns wide.
pub fn view(keys: &str, words: &str) -> String {
    let shown = SIZES.map(|(width, height)| {
        let mut desk = Desk::new(width, height);
        desk.press(keys);
        let buffer = desk.draw(&super::picture::color());
        let text = lines(&buffer).join(" ");
        assert!(
            text.contains(words),
            "{keys} at {width}x{height}:\n{}",
            lines(&buffer).join("\n")
        );
        is_plain(&desk, keys);
        let picture = picture(&buffer);
        let (cells, _) = picture.split_once("styles\n").unwrap();
        let shown = if width == 80 { &picture } else { cells };
        format!("{width}x{height}\n{shown}")
    });
    shown.join("\n")
}

/// In ASCII and without colour it is drawn in nothing else, and says the same.
fn is_plain(desk: &Desk, keys: &str) {
    let buffer = desk.draw(&Theme::new(false, true));
    for cell in buffer.content() {
        let plain = cell.symbol().is_ascii() && cell.fg == Color::Reset && cell.bg == Color::Reset;
        assert!(plain, "{keys}: {cell:?}");
    }
}

/// The main view in a theme, at each of the sizes.
pub fn themed(name: ThemeName) -> String {
    let theme = Theme::named(name, false, Depth::Many);
    let shown = SIZES.map(|(width, height)| {
        let picture = picture(&Desk::new(width, height).draw(&theme));
        let (cells, styles) = picture.split_once("styles\n").unwrap();
        let cells = if width == 80 { cells } else { "" };
        format!("{width}x{height}\n{cells}{styles}")
    });
    shown.join("\n")
}
