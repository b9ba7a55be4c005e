//! From app to plain rows with a tone; shared by the dashboard and the headless printers.
//!
//! What it does: choose words and order. What it does not: colours, widths, or judging.

mod ask;
mod build;
mod cells;
mod changes;
mod check;
mod clean;
mod command;
mod detail;
mod dialog;
mod explain;
mod filter;
mod find;
mod footer;
mod form;
mod header;
mod help;
mod json;
mod log;
mod notice;
mod over;
mod part;
mod quote;
mod resend;
mod rows;
mod screen;
mod servers;
mod sheet;
mod status;
mod table;
mod wait;
mod welcome;
mod words;
mod zombie;

pub use crate::core::app::{Column, Sort, Target, ThemeName};
pub use crate::core::changes::{Audience, ServerState, SessionState, State, Title};
pub use crate::core::judge::{Agreement, Level};
pub use ask::ask_lines;
pub use build::{CALM, screen};
pub use changes::{Change, Changes, change_json, change_line};
pub use check::{Check, Gravity, check};
pub use clean::clean;
pub use explain::{explain_json, explain_lines};
pub use find::folded;
pub use json::status_json;
pub use notice::{NoticeWords, notice_json, notice_words};
pub use over::{Command, Dialog, Form, FormLine, Hint, Offered};
pub use quote::quote;
pub use screen::{FilterLine, Greeting, Line, Mark, Piece, Screen, Tone, agreement_glyph};
pub use sheet::{Detail, Flow, Found, Page, Place, Sheet, Tab};
pub use status::status_rows;
pub use table::{Count, Row, ServerChip};
pub use wait::{wait_json, wait_line};
pub use welcome::{Welcome, welcome};
pub use words::clock;
