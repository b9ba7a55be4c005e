//! From a buffer to text that a person can review: the cells, then which spans have which style.

use ocwatch::core::present::Screen;
use ocwatch::tui::{Theme, view};
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

pub fn draw(screen: &Screen, theme: &Theme, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    view::draw(screen, theme, area, &mut buffer);
    buffer
}

pub fn lines(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let line = |y| {
        let mut text = String::new();
        let mut x = area.left();
        while x < area.right() {
            let symbol = buffer[(x, y)].symbol();
            text.push_str(symbol);
            x += symbol.cell_width().max(1);
        }
        text.trim_end().to_owned()
    };
    (area.top()..area.bottom()).map(line).collect()
}

fn style_of(cell: &Cell) -> String {
    let mut words = Vec::new();
    if cell.fg != Color::Reset {
        words.push(cell.fg.to_string().to_lowercase());
    }
    if cell.bg != Color::Reset {
        words.push(format!("on {}", cell.bg.to_string().to_lowercase()));
    }
    for (modifier, word) in [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::REVERSED, "reversed"),
    ] {
        if cell.modifier.contains(modifier) {
            words.push(word.to_owned());
        }
    }
    words.join("+")
}

fn styles(buffer: &Buffer, y: u16) -> Option<String> {
    let mut spans: Vec<(u16, u16, String)> = Vec::new();
    for x in buffer.area.left()..buffer.area.right() {
        let style = style_of(&buffer[(x, y)]);
        match spans.last_mut() {
            Some((_, end, last)) if *last == style => *end = x,
            _ => spans.push((x, x, style)),
        }
    }
    let named = spans.iter().filter(|(.., style)| !style.is_empty());
    let told: Vec<String> = named
        .map(|(from, to, style)| format!("{from}-{to} {style}"))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

pub fn picture(buffer: &Buffer) -> String {
    let area = buffer.area;
    let text = lines(buffer).into_iter().map(|line| format!("|{line}\n"));
    let told = (area.top()..area.bottom()).filter_map(|y| {
        let styles = styles(buffer, y)?;
        Some(format!("{y:>3}: {styles}\n"))
    });
    let heading = std::iter::once("styles\n".to_owned());
    text.chain(heading).chain(told).collect()
}

pub fn color() -> Theme {
    Theme::new(true, false)
}
