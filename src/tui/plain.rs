//! The screen as plain text: what is drawn, without styles.
//!
//! What it does: draw into cells of its own, as high as an open page or detail needs to be seen whole.
//! What it does not: touch a terminal or a file.

use super::theme::Theme;
use super::view;
use crate::core::present::Screen;
use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::Rect;

/// No text is higher, in lines.
const HIGHEST: u16 = 4000;

/// What the screen shows in `area`, a line each; of an open page or detail all of it.
pub fn as_text(area: Rect, screen: &Screen, theme: &Theme) -> String {
    let mut area = area;
    let is_open = screen.page.is_some() || screen.detail_open;
    // A detail under the table gets only its share of what is added.
    while is_open && area.height < HIGHEST {
        let hidden = view::last_scroll(area, screen, theme);
        if hidden == 0 {
            break;
        }
        let hidden = u16::try_from(hidden).unwrap_or(HIGHEST);
        area.height = area.height.saturating_add(hidden).min(HIGHEST);
    }
    let mut buffer = Buffer::empty(area);
    view::draw(screen, theme, area, &mut buffer);
    let lines = (area.top()..area.bottom()).map(|y| line(&buffer, y));
    let text: String = lines.map(|line| line + "\n").collect();
    text.trim_end().to_owned() + "\n"
}

fn line(buffer: &Buffer, y: u16) -> String {
    let mut text = String::new();
    let mut x = buffer.area.left();
    while x < buffer.area.right() {
        let cell = buffer.cell((x, y));
        text.push_str(cell.map_or(" ", |cell| cell.symbol()));
        x += cell.map_or(1, |cell| cell.symbol().cell_width()).max(1);
    }
    text.trim_end().to_owned()
}
