//! The Elm-style middle: a model, messages in, effects out.
//!
//! What it does: [`keymap`] is the one table of keys; [`update`] turns a message and a time into a
//! changed model and a list of effects. What it does not: any I/O, and it never shows as done what
//! the server's own answers have not proven.

mod act;
mod attach;
mod bulk;
mod closer;
mod columns;
mod command;
mod copy;
mod counts;
mod covered;
mod dialog;
pub mod filter;
mod freeze;
mod go;
mod history;
mod key;
pub mod keymap;
mod line;
pub mod live;
mod load;
mod look;
mod marks;
mod memory;
mod model;
mod mouse;
mod msg;
mod near;
pub mod notify;
mod order;
mod panes;
pub mod past;
pub mod reply;
mod resend;
mod reset;
mod rows;
mod search;
mod snooze;
mod sort;
mod tree;
mod update;
mod writes;

pub use attach::AttachRules;
pub use bulk::{Bulk, Summary};
pub use closer::{PartOf, PartPage, PartRead, PartText};
pub use columns::{About, COLUMNS, Column};
pub use command::{CommandLine, Completion};
pub use copy::Copied;
pub use counts::{Count, Counts};
pub use filter::Filter;
pub use freeze::Frozen;
pub use history::History;
pub use line::TextLine;
pub use live::Live;
pub use look::ThemeName;
pub use memory::Memory;
pub use model::{App, AppOptions, DialogState, LOGGED, Logged, PageKind, Running, Shown, Ui};
pub use mouse::Target;
pub use msg::{Done, Effect, Msg, Outcome, PromptRead};
pub use near::nearest;
pub use panes::Pane;
pub use past::Pasts;
pub use resend::{ResendField, ResendForm};
pub use reset::{InVain, ResetDialog, Stage};
pub use rows::{Tally, VisibleRow};
pub use search::{Search, Seek};
pub use snooze::{MOST_SEEN, Seen, SeenMark};
pub use sort::{ATTENTION, Sort};
pub use update::update;
