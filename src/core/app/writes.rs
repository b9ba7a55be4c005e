//! Which actions change something on a server.
//!
//! What it does: say so of each, so that a new one cannot be forgotten. What it does not: refuse
//! anything; `core::plan` says where that is.

use super::keymap::Action;

impl Action {
    /// Whether it changes something on a server: never offered where a server is only read.
    pub fn changes(self) -> bool {
        match self {
            Action::Abort
            | Action::Reset
            | Action::Resend
            | Action::Reply
            | Action::AllowOnce
            | Action::AllowAlways
            | Action::Deny => true,
            // A file here, or what is shown. Loading a project is no more than asking about it; to
            // attach starts another program, and is refused where nothing may be changed; what a
            // command does is asked of its own action.
            Action::Export
            | Action::LoadAll
            | Action::Theme
            | Action::Command
            | Action::Attach
            | Action::CopyId
            | Action::CopyAttach
            | Action::CopyExport
            | Action::Load
            | Action::Mark
            | Action::Servers
            | Action::Explain
            | Action::Open
            | Action::Back
            | Action::Quit
            | Action::Filter
            | Action::Attention
            | Action::Snooze
            | Action::Save
            | Action::Mouse
            | Action::Freeze
            | Action::Sort
            | Action::SortReverse
            | Action::SortColumn
            | Action::Fold
            | Action::Unfold
            | Action::Down
            | Action::Up
            | Action::Top
            | Action::Bottom
            | Action::PageDown
            | Action::PageUp
            | Action::HalfDown
            | Action::HalfUp
            | Action::Redraw
            | Action::Suspend
            | Action::History
            | Action::NextPane
            | Action::Wrap
            | Action::NextHit
            | Action::PreviousHit
            | Action::Help => false,
        }
    }
}
