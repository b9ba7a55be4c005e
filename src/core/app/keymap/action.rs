//! What a key can do.

/// What a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Select the next row.
    Down,
    /// Select the previous row.
    Up,
    /// First row.
    Top,
    /// Last row.
    Bottom,
    /// A screenful down.
    PageDown,
    /// A screenful up.
    PageUp,
    /// Half a screenful down.
    HalfDown,
    /// Half a screenful up.
    HalfUp,
    /// Fold the children of this row.
    Fold,
    /// Unfold them.
    Unfold,
    /// Show the detail over the table, or let the pane have the keys.
    Open,
    /// Leave what was opened; at the top: quit.
    Back,
    /// Leave the program.
    Quit,
    /// Type a filter.
    Filter,
    /// Only what needs attention.
    Attention,
    /// The selected session was seen; wake it.
    Snooze,
    /// Save what the screen shows.
    Save,
    /// Take the mouse, or leave it to the terminal.
    Mouse,
    /// The screen stands still, or goes on.
    Freeze,
    /// Sort by the next column.
    Sort,
    /// Sort the other way round.
    SortReverse,
    /// Sort by the column of this number.
    SortColumn,
    /// Abort the selected session.
    Abort,
    /// Send its prompt again, or tell it to go on.
    Resend,
    /// Reply to what the selected session asks.
    Reply,
    /// Grant the permission once.
    AllowOnce,
    /// Grant the permission from now on.
    AllowAlways,
    /// Reject what is asked, or dismiss it.
    Deny,
    /// Export the selected session.
    Export,
    /// Reset the selected session.
    Reset,
    /// Work on the selected session in OpenCode itself.
    Attach,
    /// Copy the id of the selected session.
    CopyId,
    /// Copy the command that attaches to it.
    CopyAttach,
    /// Copy the path of its last export.
    CopyExport,
    /// Mark the selected session for the next action.
    Mark,
    /// Every rule tried, for the selected session.
    Explain,
    /// Every change of a state, and what was done and how it ended.
    History,
    /// The next pane of the detail.
    NextPane,
    /// Wrap long lines, or cut them.
    Wrap,
    /// The next line with what is looked for.
    NextHit,
    /// The one before.
    PreviousHit,
    /// Load the asleep project of this row.
    Load,
    /// Try lost servers again now.
    Servers,
    /// Draw everything again.
    Redraw,
    /// Put the program in the background.
    Suspend,
    /// Load every asleep project.
    LoadAll,
    /// Choose a theme.
    Theme,
    /// Type a command.
    Command,
    /// Show the keys.
    Help,
}
