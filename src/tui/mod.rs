//! The dashboard's terminal side: a [`Screen`] in, cells out; key events in, core keys out.
//!
//! What it does: draws ([`draw`], [`view`]), owns the terminal ([`Terminal`]), translates keys
//! ([`key`]) and keeps the pace ([`Pacer`]). What it does not: decide what is shown or what a key
//! does, keep state of its own, or see the store.
//!
//! Invariants: drawing changes nothing but the buffer; no text draws outside the cells it was
//! given, whatever it contains; no size of terminal makes it panic.

mod canvas;
mod keys;
mod mouse;
mod output;
mod pacer;
mod paint;
mod plain;
mod table;
mod terminal;
mod text;
mod theme;
pub mod view;

pub use keys::key;
pub use mouse::{Press, press};
pub use pacer::Pacer;
pub use plain::as_text;
pub use table::first_row;
pub use terminal::{Terminal, TerminalError, install_panic_hook, restore};
pub use text::{cells, filled, safe};
pub use theme::{Depth, PARTS, Part, Theme, Unread, read_style, style_text, style_words};
pub use view::{detail_seen, first_line, hit, last_scroll, page_rows, shown_columns, table_rows};

use crate::core::present::Screen;
use ratatui::Frame;

/// Draws the whole screen into a frame and puts the cursor where the user types, if he does.
pub fn draw(frame: &mut Frame, screen: &Screen, theme: &Theme) {
    let area = frame.area();
    view::draw(screen, theme, area, frame.buffer_mut());
    if let Some(place) = view::cursor(screen, theme, area) {
        frame.set_cursor_position(place);
    }
}
