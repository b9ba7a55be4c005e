//! From app to plain rows with a tone; shared by the dashboard and the headless printers.
//!
//! What it does: choose words and order. What it does not: colours, widths, or judging.

mod clean;
mod screen;

pub use crate::core::judge::{Agreement, Level};
pub use clean::clean;
pub use screen::{
    Count, Detail, Dialog, FilterLine, Hint, Line, Mark, Page, Piece, Row, Screen, ServerChip,
    Tone, agreement_glyph,
};
